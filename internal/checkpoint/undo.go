package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
)

// Undo takes changes back, as what an operation of package session does once it has the workspace. It is bracketed like any other change, so that it can be
// undone itself, and tells the task's model which files are no longer as it left them.
type Undo struct {
	Keeper  *Keeper
	ID      string   // of its own checkpoint: chk_ and letters that nothing else has
	Targets []string // checkpoints, the newest first; see [Choose]
	Redo    bool     // the targets are undos
	Force   bool     // what was changed since is overwritten; the undo's own checkpoint keeps it
	Done    *Result  // is set to what was done
}

// Result is what an undo did.
type Result struct {
	event.UndoCompleted
	PutBack []string // paths
	Removed []string
	Killed  bool // what was taken back was changed while or after a process was killed, by it or by others
}

// Apply does it. Where nothing is to be done, nothing is recorded.
func (u Undo) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	k := u.Keeper
	p, err := k.Preview(ctx, u.Targets, u.Force)
	if err != nil {
		return err
	}
	*u.Done = Result{UndoCompleted: event.UndoCompleted{Targets: u.Targets, Redo: u.Redo, Conflicts: p.Conflicts, Left: len(p.Conflicts)}}
	if len(p.steps) == 0 && slices.ContainsFunc(p.Conflicts, remains) {
		return nil
	}
	covers := append([]string{}, p.Paths()...) // none is not all
	taken, outside, err := k.Before(ctx, s, u.ID, covers, false, nil)
	if err != nil {
		return err
	}
	if p, err = k.Preview(ctx, u.Targets, u.Force); err != nil { // what is there is kept now, and is this
		return errors.Join(err, k.Drop(ctx, u.ID))
	}
	p.within(covers)
	taken.Paths = few(taken.Paths)
	drafts := []event.Draft{{Subject: u.ID, Data: taken}}
	drafts = append(append(drafts, outside...), event.Draft{Subject: u.ID, Data: event.UndoStarted{
		Targets: u.Targets, Redo: u.Redo, Force: u.Force, Paths: len(p.steps), Plan: p.digest(),
	}})
	if _, err := log.Append(ctx, event.Batch{Scope: s, If: &event.If{Idle: true}, Facts: drafts}); err != nil {
		return errors.Join(err, k.Drop(ctx, u.ID))
	}
	done, failed := k.restoreNow(ctx, u.ID, p)
	ctx = context.WithoutCancel(ctx)
	closed, err := k.After(ctx, u.ID)
	if err != nil {
		return errors.Join(failed, err)
	}
	done.Targets, done.Redo, done.Conflicts = u.Targets, u.Redo, append(p.Conflicts, done.Conflicts...)
	if done.Left = len(done.Conflicts); failed != nil {
		done.Left += len(p.steps)
	}
	ranked(done.Conflicts)
	u.result(p, done)
	done.Conflicts = done.Conflicts[:min(len(done.Conflicts), maxListed)]
	closed.Paths = few(closed.Paths)
	drafts = []event.Draft{{Subject: u.ID, Data: closed}, {Subject: u.ID, Data: done}}
	if n := done.Restored + done.Deleted; n > 0 && s.Task != "" {
		drafts = append(drafts, event.Draft{Subject: "msg_" + strings.TrimPrefix(u.ID, "chk_"), Data: u.note()})
	}
	if _, err := log.Append(ctx, event.Batch{Scope: s, Facts: drafts}); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// restoreNow carries out a plan.
func (k *Keeper) restoreNow(ctx context.Context, id string, p *Plan) (event.UndoCompleted, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.restore(ctx, id, p)
}

// result says what became of the paths of a plan.
func (u Undo) result(p *Plan, done event.UndoCompleted) {
	left := map[string]bool{}
	for _, c := range done.Conflicts {
		left[c.Path] = true
	}
	keep := func(paths []string) (out []string) {
		for _, at := range paths {
			if !left[recorded(at)] {
				out = append(out, recorded(at))
			}
		}
		return out
	}
	u.Done.UndoCompleted = done
	if done.Restored+done.Deleted > 0 {
		u.Done.PutBack, u.Done.Removed = keep(p.Restore), keep(p.Delete)
	}
}

// maxNoted is how many paths the model is told of.
const maxNoted = 20

// note tells the model, with the next request, what it can't know otherwise.
func (u Undo) note() event.MessageAdded {
	var b strings.Builder
	verb := "undid"
	if u.Redo {
		verb = "redid"
	}
	fmt.Fprintf(&b, "Note from the runtime: the person %s changes of this task.", verb)
	if len(u.Done.PutBack) > 0 {
		fmt.Fprintf(&b, " Put back as they were: %s.", names(u.Done.PutBack, maxNoted))
	}
	if len(u.Done.Removed) > 0 {
		fmt.Fprintf(&b, " Removed: %s.", names(u.Done.Removed, maxNoted))
	}
	b.WriteString(" Read a file again before you rely on it, and do not make these changes anew unless asked.")
	return event.MessageAdded{Role: "user", Origin: "runtime", Blocks: []event.Block{{Type: "text", Text: b.String()}}}
}

// few keeps a payload small where it covers many paths.
func few(paths []string) []string { return paths[:min(len(paths), maxPaths/4)] }

// Settle notes that what was bracketed is recorded to the end, so that the next start has nothing to look for.
func (k *Keeper) Settle() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.marked || k.left {
		return nil
	}
	k.marked = false
	return k.files.Unmark()
}
