package checkpoint

import (
	"context"
	"slices"

	"overt/internal/event"
	"overt/internal/store"
)

// Unsettled gives the facts that [Keeper.Recover] would record now, as drafts with their tasks, and changes nothing, in the
// workspace or in the record. From then on [Keeper.Preview] and [Keeper.Covered] know these checkpoints. The caller has made sure that
// nobody is at work.
func (k *Keeper) Unsettled(ctx context.Context, log event.Log) ([]event.Fact, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	list, err := k.files.Unsettled(ctx)
	if err != nil {
		return nil, err
	}
	k.looking, k.unsettled = true, map[string][]store.FileDelta{}
	defer func() { k.looking = false }()
	var out []event.Fact
	for _, c := range list {
		e, err := k.ends(ctx, log, c, k.wouldPutBack)
		if err != nil {
			return nil, err
		}
		if e.drop {
			continue
		}
		if e.found != nil {
			k.unsettled[c.ID] = changed(e.own).deltas
		}
		for _, d := range e.drafts {
			out = append(out, event.Fact{Scope: event.Scope{Task: c.Task}, Subject: d.Subject, Time: k.o.Now(), Data: d.Data})
		}
	}
	return out, nil
}

// wouldPutBack is [Keeper.putBack] that does nothing: what it gives is as if that had gone well.
func (k *Keeper) wouldPutBack(ctx context.Context, _ string, paths []string) (back, left []string, found *survey, err error) {
	if found, err = k.surveyAny(ctx, paths); err != nil {
		return nil, nil, nil, err
	}
	gone := map[string]bool{}
	for _, n := range k.planted(found.list) {
		back, gone[n.path] = append(back, n.path), true
	}
	found.list = slices.DeleteFunc(found.list, func(n difference) bool { return gone[n.path] })
	return back, nil, found, nil
}
