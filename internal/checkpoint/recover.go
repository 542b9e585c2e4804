package checkpoint

import (
	"context"
	"encoding/json"
	"errors"

	"overt/internal/event"
	"overt/internal/store"
)

// Recover closes what a process left open that died: what changed under it is read from the disk, so that half of an effect
// can be taken back as well, and what a confined command may not make is put back. The caller has the lease, and has ended what of the effect was still running. The facts are of
// the task, not of the run, which has its end.
func (k *Keeper) Recover(ctx context.Context, log event.Log) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return err
	}
	list, err := k.files.Unsettled(ctx)
	if err != nil {
		return err
	}
	if err := k.removeTemps(ctx, list); err != nil {
		return err
	}
	for _, c := range list {
		if err := k.settle(ctx, log, c); err != nil {
			return err
		}
	}
	k.marked, k.left, k.unsettled = false, false, nil
	return k.files.Unmark()
}

// ending is how a checkpoint ends that was left open. The zero ending is that of one which is recorded to its end.
type ending struct {
	drop   bool          // nothing has happened under it
	found  *survey       // what it has come to; nil: it was closed already
	own    []difference  // what of that is its own
	drafts []event.Draft // what is to be recorded
}

// settle brings one checkpoint to its end.
func (k *Keeper) settle(ctx context.Context, log event.Log, c store.FileCheckpoint) error {
	e, err := k.ends(ctx, log, c, k.putBack)
	switch {
	case err != nil:
		return err
	case e.drop:
		return k.files.Drop(ctx, c.ID)
	case e.found != nil:
		if e.found.many {
			k.whole.setMany()
		}
		batch := store.FileBatch{Close: c.ID, Now: k.o.Now().UnixMilli(), Deltas: changed(e.own).deltas}
		if err := k.apply(ctx, e.found.list, batch, false); err != nil {
			return err
		}
	}
	if len(e.drafts) > 0 {
		_, err = log.Append(ctx, event.Batch{Scope: event.Scope{Task: c.Task}, Facts: e.drafts})
	}
	return err
}

// ends finds how a checkpoint ends. Of a confined command putBack puts back what it may not make.
func (k *Keeper) ends(ctx context.Context, log event.Log, c store.FileCheckpoint, putBack func(ctx context.Context, id string, paths []string) (back, left []string, found *survey, err error)) (e ending, err error) {
	var taken *event.CheckpointTaken
	var undo *event.UndoStarted
	for f, err := range log.Read(ctx, event.Path{Task: c.Task, Facts: true}) {
		if err != nil {
			return e, err
		}
		if f.Subject != c.ID {
			continue
		}
		switch p := f.Data.(type) {
		case event.CheckpointTaken:
			taken = &p
		case event.UndoStarted:
			undo = &p
		case event.CheckpointClosed:
			return e, nil
		}
	}
	if taken == nil {
		closed, ok, err := k.endOfJobs(ctx, c)
		e.drop, e.drafts = !ok, []event.Draft{{Subject: c.ID, Data: closed}}
		return e, err
	}
	var paths []string
	if err := json.Unmarshal([]byte(c.Covers), &paths); err != nil {
		return e, err
	}
	var closed event.CheckpointClosed
	var back, left []string
	var others []difference
	switch {
	case c.Closed:
		if closed, err = k.closedAs(ctx, c.ID, paths); err != nil {
			return e, err
		}
	case c.Confined:
		back, left, e.found, err = putBack(ctx, c.ID, paths)
	default:
		e.found, err = k.surveyAny(ctx, paths)
	}
	if err != nil {
		return e, err
	}
	if e.found != nil {
		if e.own, others, err = k.parted(ctx, e.found.list, paths, undo); err != nil {
			return e, err
		}
		closed = k.closedWith(paths, e.own, e.found.many)
		closed.Killed = undo == nil
	}
	var lost []uncovered
	for _, at := range left {
		lost = add(lost, event.UncoveredPlanted, at)
	}
	closed.LeftOut = append(closed.LeftOut, told(lost)...)
	closed.Call, closed.PutBack = taken.Call, recordedAll(back[:min(len(back), maxNoted)])
	if len(back) > 0 {
		closed.Aside = k.KeptAside(c.ID)
	}
	closed.Paths = few(closed.Paths)
	e.drafts = append(outsiders(c.ID, others), event.Draft{Subject: c.ID, Data: closed})
	if undo != nil {
		done := event.UndoCompleted{Targets: undo.Targets, Redo: undo.Redo, Interrupted: true, Left: len(others)}
		for _, n := range others[:min(len(others), maxListed)] {
			done.Conflicts = append(done.Conflicts, event.Conflict{Path: recorded(n.path), Why: whyChanged})
		}
		e.drafts = append(e.drafts, event.Draft{Subject: c.ID, Data: done})
	}
	return e, nil
}

// parted tells what an undo that died has done, of what changed since it began, from what others did: every state that it can have left
// at a path is known. All is taken for its own where it is a command (undo is nil), or what it was to take back is not kept any more.
func (k *Keeper) parted(ctx context.Context, list []difference, paths []string, undo *event.UndoStarted) (own, others []difference, err error) {
	if undo == nil {
		return list, nil, nil
	}
	chains, err := k.chains(ctx, undo.Targets)
	if errors.Is(err, ErrPruned) {
		return list, nil, nil
	}
	planned := make(map[string][]store.FileDelta, len(paths))
	for _, at := range paths {
		planned[at] = chains[at]
	}
	for _, n := range list {
		if !n.changed() || halfway(n.before(), n.after(), planned[n.path], undo.Force) {
			own = append(own, n)
		} else {
			others = append(others, n)
		}
	}
	return own, others, err
}

// halfway tells whether an undo can have left a state where another was, at any moment: see [Keeper.restore].
func halfway(was, now state, chain []store.FileDelta, force bool) bool {
	want, why := goBack(was, chain, force)
	folder := now.kind == kindFolder
	switch {
	case folder && was.kind == kindFolder && now.mode == was.mode|0o700: // opened to us
		return true
	case why != "":
		return false
	case want.kind != was.kind && now.kind == kindNone: // taken away, and what is to come is not there yet
		return true
	case folder && was.kind != kindFolder && want.kind == kindFolder: // made, and not filled yet
		return now.mode == want.mode|0o700 || now.mode&^0o700 == 0 || now.mode == want.mode
	}
	return same(now, want)
}

// closedAs says once more what a checkpoint was closed with.
func (k *Keeper) closedAs(ctx context.Context, id string, paths []string) (event.CheckpointClosed, error) {
	deltas, _, err := k.files.Deltas(ctx, id)
	if err != nil {
		return event.CheckpointClosed{}, err
	}
	out := event.CheckpointClosed{Paths: recordedAll(paths)}
	var changes []event.Change
	for _, d := range deltas {
		n := difference{path: d.Path}
		if d.BeforeKind != kindNone {
			n.old = &entry{state: stateOf(d.BeforeKind, d.BeforeMode, d.Before)}
		}
		if d.AfterKind != kindNone {
			n.now = &entry{state: stateOf(d.AfterKind, d.AfterMode, d.After)}
		}
		changes = append(changes, n.change())
	}
	out.Changes, out.More = listed(changes)
	return out, nil
}

// removeTemps removes what an undo or a file tool that died has written beside its place.
func (k *Keeper) removeTemps(ctx context.Context, list []store.FileCheckpoint) error {
	if len(list) == 0 || !k.Whole() {
		return nil
	}
	s, err := k.scan(ctx, nil)
	if errors.Is(err, errMany) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range s.temps {
		k.removeTemp(p)
	}
	return nil
}
