package checkpoint

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
)

// Entry is a change of a task that can be taken back, or could.
type Entry struct {
	ID        string            `json:"id"` // of its checkpoint
	Task      string            `json:"task"`
	Turn      string            `json:"turn"`  // "": of an undo
	Call      string            `json:"call"`  // the tool call; "": an undo
	Tool      string            `json:"tool"`  // its name; undo, redo
	About     string            `json:"about"` // the path or the command
	Time      time.Time         `json:"time"`
	Changes   int               `json:"changes"` // paths
	Paths     []string          `json:"paths"`   // some of them
	Uncovered []event.Uncovered `json:"uncovered"`
	State     string            `json:"state"` // done; undone; pruned: it is not kept, or not any more
	Undo      bool              `json:"undo"`
	Targets   []string          `json:"targets"` // of an undo

	cut    bool // an undo that did not come to its end
	unkept bool // nothing of the workspace was kept, so that nobody knows what was changed
}

// States of an [Entry].
const (
	StateDone   = "done"
	StateUndone = "undone"
	StatePruned = "pruned"
)

// List reads the facts of a task, in order, and gives its changes, the newest last. kept tells which checkpoints there are
// still.
func List(facts iter.Seq2[event.Fact, error], kept map[string]bool) ([]Entry, error) {
	type call struct{ tool, about string }
	calls := map[string]call{}
	taken := map[string]event.Fact{}
	undos := map[string]event.UndoStarted{}
	var out []Entry
	find := func(id string) *Entry {
		if i := slices.IndexFunc(out, func(e Entry) bool { return e.ID == id }); i >= 0 {
			return &out[i]
		}
		return &Entry{}
	}
	for f, err := range facts {
		if err != nil {
			return nil, err
		}
		switch p := f.Data.(type) {
		case event.ToolDecided:
			c := call{tool: p.Name, about: p.Preview}
			if len(p.Effects) > 0 {
				c.about = p.Effects[0].Target
			}
			calls[f.Subject] = c
		case event.CheckpointTaken:
			taken[f.Subject] = f
		case event.UndoStarted:
			undos[f.Subject] = p
		case event.CheckpointClosed:
			unkept := slices.ContainsFunc(p.LeftOut, event.Uncovered.Whole)
			if len(p.Changes) == 0 && !unkept {
				continue
			}
			was := taken[f.Subject]
			t, _ := was.Data.(event.CheckpointTaken)
			e := Entry{
				ID: f.Subject, Task: f.Scope.Task, Turn: was.Scope.Turn, Call: t.Call, Tool: calls[t.Call].tool, About: calls[t.Call].about,
				Time: f.Time, Changes: len(p.Changes) + p.More, Paths: []string{}, Uncovered: p.LeftOut, State: StateDone, Targets: []string{}, unkept: unkept,
			}
			if u, ok := undos[f.Subject]; ok {
				if e.Undo, e.Targets, e.Tool = true, u.Targets, "undo"; u.Redo {
					e.Tool = "redo"
				}
			}
			for _, c := range p.Changes[:min(len(p.Changes), maxNoted)] {
				e.Paths = append(e.Paths, c.Path)
			}
			if e.Uncovered == nil {
				e.Uncovered = []event.Uncovered{}
			}
			out = append(out, e)
		case event.UndoCompleted:
			find(f.Subject).cut = p.Interrupted
			if p.Left > 0 || p.Interrupted {
				continue // it can be asked for once more
			}
			for _, id := range p.Targets {
				t := find(id)
				t.State = StateUndone
				if t.Undo {
					for _, id := range t.Targets {
						find(id).State = StateDone
					}
				}
			}
		}
	}
	for i := range out {
		if out[i].unkept || !kept[out[i].ID] {
			out[i].State = StatePruned
		}
	}
	return out, nil
}

// What is wrong with a wish for an undo.
var (
	ErrNothing = errors.New("nothing is left to undo")
	ErrNoRedo  = errors.New("nothing was undone")
	// ErrUnkept is of a change that was made while nothing of the workspace could be kept.
	ErrUnkept = errors.New("nothing of the workspace could be kept before this change, so it can't be undone")
)

// NoChangeError says that no change has an id.
type NoChangeError struct{ ID string }

// Error implements error.
func (e *NoChangeError) Error() string {
	return fmt.Sprintf("no change that can be undone is %s", e.ID)
}

// Wish says what is to be undone. The zero Wish is the last change.
type Wish struct {
	To   string // back to before this change: its id, or closing characters of it
	Turn bool   // all changes of the last turn that has any
	Redo bool   // the last undo
}

// Choose gives the ids of what a wish means, the newest first. An undo of the same that was cut short is among them, with all
// that it was to take back: what it has half done is like neither before nor after.
//
// The error is [ErrUnkept] where that is, or has in it, a change of which nothing was kept. To go back to before an older one
// passes over these.
func Choose(list []Entry, w Wish) ([]string, error) {
	if w.Redo {
		for _, e := range slices.Backward(list) {
			if e.Tool == "undo" && e.State != StateUndone {
				return []string{e.ID}, nil
			}
			if !e.Undo { // a change after an undo leaves nothing to redo
				break
			}
		}
		return nil, ErrNoRedo
	}
	from := -1
	for i, e := range list {
		if !e.Undo && e.State != StateUndone {
			from = i
		}
	}
	switch {
	case w.To != "":
		from = -1
		for i, e := range list {
			if !e.Undo && e.State != StateUndone && (e.ID == w.To || len(w.To) >= 3 && strings.HasSuffix(e.ID, w.To)) {
				from = i
			}
		}
		switch {
		case from < 0:
			return nil, &NoChangeError{w.To}
		case list[from].unkept:
			return nil, ErrUnkept
		}
	case from < 0:
		return nil, ErrNothing
	case w.Turn:
		turn := list[from].Turn
		from = slices.IndexFunc(list, func(e Entry) bool { return !e.Undo && e.State != StateUndone && e.Turn == turn })
	case list[from].unkept:
		return nil, ErrUnkept
	default:
		return finish(list, map[string]bool{list[from].ID: true}), nil
	}
	chosen := map[string]bool{}
	for _, e := range list[from:] {
		switch {
		case e.Undo || e.State == StateUndone:
		case !e.unkept:
			chosen[e.ID] = true
		case w.To == "":
			return nil, ErrUnkept
		}
	}
	return finish(list, chosen), nil
}

// finish adds to what is chosen the undos of it that were cut short, and gives the ids in order.
func finish(list []Entry, chosen map[string]bool) (out []string) {
	for _, e := range slices.Backward(list) {
		if e.cut && e.State != StateUndone && slices.ContainsFunc(e.Targets, func(id string) bool { return chosen[id] }) {
			chosen[e.ID] = true
			for _, id := range e.Targets {
				chosen[id] = true
			}
		}
	}
	for _, e := range slices.Backward(list) {
		if chosen[e.ID] && e.State != StateUndone {
			out = append(out, e.ID)
		}
	}
	return out
}
