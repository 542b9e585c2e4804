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
	k.marked, k.left = false, false
	return k.files.Unmark()
}

// settle brings one checkpoint to its end.
func (k *Keeper) settle(ctx context.Context, log event.Log, c store.FileCheckpoint) error {
	var taken *event.CheckpointTaken
	var undo *event.UndoStarted
	ended := false
	for f, err := range log.Read(ctx, event.Path{Task: c.Task, Facts: true}) {
		if err != nil {
			return err
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
			ended = true
		}
	}
	switch {
	case ended:
		return nil
	case taken == nil:
		if recorded, err := k.settleJobs(ctx, log, c); recorded {
			return err
		}
		return k.files.Drop(ctx, c.ID) // nothing has happened under it
	}
	var paths []string
	if err := json.Unmarshal([]byte(c.Covers), &paths); err != nil {
		return err
	}
	var back, left []string
	var found *survey
	var lost []uncovered
	if c.Confined && !c.Closed {
		var err error
		if back, left, found, err = k.putBack(ctx, c.ID, paths); err != nil {
			return err
		}
	}
	closed, err := k.closeLeft(ctx, c, paths, found)
	if err != nil {
		return err
	}
	for _, at := range left {
		lost = add(lost, event.UncoveredPlanted, at)
	}
	closed.LeftOut = append(closed.LeftOut, told(lost)...)
	closed.Call, closed.PutBack = taken.Call, recordedAll(back[:min(len(back), maxNoted)])
	if len(back) > 0 {
		closed.Aside = k.KeptAside(c.ID)
	}
	closed.Paths = few(closed.Paths)
	drafts := []event.Draft{{Subject: c.ID, Data: closed}}
	if undo != nil {
		drafts = append(drafts, event.Draft{Subject: c.ID, Data: event.UndoCompleted{Targets: undo.Targets, Redo: undo.Redo, Interrupted: true}})
	}
	_, err = log.Append(ctx, event.Batch{Scope: event.Scope{Task: c.Task}, Facts: drafts})
	return err
}

// closeLeft closes a checkpoint, or says once more what it was closed with.
func (k *Keeper) closeLeft(ctx context.Context, c store.FileCheckpoint, paths []string, found *survey) (event.CheckpointClosed, error) {
	if !c.Closed {
		return k.close(ctx, c.ID, paths, found)
	}
	deltas, _, err := k.files.Deltas(ctx, c.ID)
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
