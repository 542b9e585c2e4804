package store

import (
	"context"
	"slices"

	"overt/internal/event"
)

// Permissions gives the permissions that were granted and not revoked, the oldest first: facts with an
// [event.PermissionGranted]. Those of a task name it.
func (s *Store) Permissions(ctx context.Context) ([]event.Fact, error) {
	if any, err := s.ever(event.KindGranted); err != nil || !any {
		return nil, err
	}
	facts, err := s.page(ctx, s.facts.read, `f.kind IN (SELECT id FROM name WHERE text IN (?, ?)) ORDER BY f.seq`,
		event.KindGranted, event.KindRevoked)
	if err != nil {
		return nil, s.facts.explain(err)
	}
	revoked := map[string]bool{}
	for _, f := range facts {
		if _, ok := f.Data.(event.PermissionRevoked); ok {
			revoked[f.Subject] = true
		}
	}
	return slices.DeleteFunc(facts, func(f event.Fact) bool {
		_, granted := f.Data.(event.PermissionGranted) // of an erased task nothing is left of it
		return !granted || revoked[f.Subject]
	}), nil
}

// Trusted gives what the person said last of a workspace; false: nothing.
func (s *Store) Trusted(ctx context.Context, root string) (event.Fact, bool, error) {
	facts, err := s.page(ctx, s.facts.read, `f.kind IN (SELECT id FROM name WHERE text = ?) AND f.subject = ? ORDER BY f.seq DESC LIMIT 1`, event.KindTrusted, root)
	if err != nil {
		return event.Fact{}, false, s.facts.explain(err)
	}
	if len(facts) == 0 {
		return event.Fact{}, false, nil
	}
	return facts[0], true, nil
}
