package event

// FileChanged records a change to a file: one that a file tool made where no checkpoint was taken, or one that was found
// when a checkpoint was, and that nobody had recorded. Before and After are SHA-256 in hexadecimal; empty: no file, or not
// known.
type FileChanged struct {
	Path   string `json:"path"` // relative to the workspace, slashes
	Op     string `json:"op"`   // create, edit, overwrite; outside also delete, mode
	By     string `json:"by"`   // agent, outside
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Diff   string `json:"diff,omitempty"` // unified; empty: too large to show
}

// CheckpointTaken says that what a call may change is kept as it is; it is committed before the effect. The subject is the
// checkpoint's id.
type CheckpointTaken struct {
	Call      string      `json:"call,omitempty"`    // the tool call; none: an undo
	Paths     []string    `json:"paths,omitempty"`   // what it covers; none: the whole workspace
	Outside   int         `json:"outside,omitempty"` // changes found that nobody had recorded
	Uncovered []Uncovered `json:"uncovered,omitempty"`
}

// Uncovered is something that undo can't take back: home (of the workspace nothing is kept, since it holds a home folder),
// many (nor here, since it has too many files), large, total (files that are too large, alone and in all), unreadable,
// special (pipes, sockets, devices), mount (other file systems), deep, git-objects, planted (paths that others run or obey, that a
// command in the sandbox has changed, and that could not be put back).
type Uncovered struct {
	What  string   `json:"what"`
	N     int      `json:"n,omitempty"`
	Paths []string `json:"paths,omitempty"` // some of them
}

// What an [Uncovered] is where nothing of the workspace is kept.
const (
	UncoveredHome = "home"
	UncoveredMany = "many"
)

// UncoveredPlanted is what an [Uncovered] is of a confined command that changed what it may not.
const UncoveredPlanted = "planted"

// Whole tells whether it says that nothing of the workspace is kept.
func (u Uncovered) Whole() bool { return u.What == UncoveredHome || u.What == UncoveredMany }

// CheckpointClosed says what changed while a checkpoint was open: this is what an undo takes back. One of jobs was never open.
type CheckpointClosed struct {
	Call    string      `json:"call,omitempty"`
	Paths   []string    `json:"paths,omitempty"`
	Changes []Change    `json:"changes,omitempty"`
	More    int         `json:"more,omitempty"`     // changes that are not listed, only kept
	LeftOut []Uncovered `json:"left_out,omitempty"` // of these changes: what can't be taken back
	PutBack []string    `json:"put_back,omitempty"` // paths that a command in the sandbox had changed and must not: they are as before, some of them
	Aside   string      `json:"aside,omitempty"`    // folder where what stood at these is kept
	Jobs    []string    `json:"jobs,omitempty"`     // that were at work while this changed, outside any call: theirs or others' changes. job_1, of another task TASK/job_1
	Killed  bool        `json:"killed,omitempty"`   // the process was, so this was found later: others may have changed it since
}

// Change is one path that changed. Hashes are SHA-256 in hexadecimal, of contents and of the targets of links; empty: none,
// or not kept.
type Change struct {
	Path   string `json:"path"`
	Op     string `json:"op"`             // create, edit, overwrite, delete, mode
	Type   string `json:"type,omitempty"` // folder, link, special; none: a file
	Mode   string `json:"mode,omitempty"` // octal, where it changed
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Diff   string `json:"diff,omitempty"` // unified; empty: not known, or too large to show
}

// Changes gives what a payload says that the agent changed.
func Changes(p Payload) []Change {
	switch p := p.(type) {
	case FileChanged:
		if p.By == "agent" {
			return []Change{{Path: p.Path, Op: p.Op, Before: p.Before, After: p.After, Diff: p.Diff}}
		}
	case CheckpointClosed:
		if p.Call != "" {
			return p.Changes
		}
	}
	return nil
}

// UndoStarted is the intent to take changes back; it is committed before a file is touched. Barrier. The subject is the id
// of the undo's own checkpoint.
type UndoStarted struct {
	Targets []string `json:"targets"` // checkpoints, the newest first
	Redo    bool     `json:"redo,omitempty"`
	Force   bool     `json:"force,omitempty"`
	Paths   int      `json:"paths"` // that are to change
	Plan    string   `json:"plan"`  // SHA-256 of what is to be done
}

// UndoCompleted says what an undo did. Where it left alone what can be asked for again, its targets count as undone in part.
type UndoCompleted struct {
	Targets     []string   `json:"targets"`
	Redo        bool       `json:"redo,omitempty"`
	Restored    int        `json:"restored"`
	Deleted     int        `json:"deleted"`
	Conflicts   []Conflict `json:"conflicts,omitempty"` // at most 100
	Left        int        `json:"left,omitempty"`      // paths that were left alone
	Interrupted bool       `json:"interrupted,omitempty"`
}

// Conflict is a path that an undo left alone.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"` // changed (since), not_kept, unsure (whether it was changed), not_empty, blocked, failed
}
