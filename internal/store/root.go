package store

import (
	"context"

	"overt/internal/event"
)

// Root is the workspace that last worked in the record, as its facts say; "": not known. It is another one than the caller's where the
// folder of the record was copied or moved, or a backup of another workspace restored.
func (s *Store) Root(ctx context.Context) (string, error) {
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	root, err := s.facts.root(ctx)
	if damaged(err) {
		return "", nil // that is for a check to tell
	}
	return root, s.facts.explain(err)
}

// root reads it. The caller has the lock of d, or d to itself.
func (d *database) root(ctx context.Context) (string, error) {
	s := &Store{pack: &packer{}}
	facts, err := s.page(ctx, d.conn, `f.kind = (SELECT id FROM name WHERE text = ?) AND f.data IS NOT NULL ORDER BY f.seq DESC LIMIT 1`, string(event.KindSessionStarted))
	for _, f := range facts {
		if e, ok := f.Data.(event.SessionStarted); ok {
			return e.Dir, err
		}
	}
	return "", err
}
