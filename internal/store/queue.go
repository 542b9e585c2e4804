package store

import (
	"context"
	"database/sql"

	"overt/internal/event"
)

// Queued is an input that waits, or waited, for its task.
type Queued struct {
	ID    string
	Mode  string // event.QueueSteer, event.QueueFollow
	State string // event.QueueQueued and the like
	Added event.Seq
	Text  string
}

// Queue lists what waits for a task, queued or held, in the order in which it came.
func (s *Store) Queue(ctx context.Context, task string) ([]Queued, error) {
	list, err := collect(ctx, s.facts, `SELECT q.id, q.mode, q.state, q.added FROM name n JOIN queue q ON q.task = n.id
		WHERE n.text = ? AND q.state IN (?, ?) ORDER BY q.added`, []any{task, event.QueueQueued, event.QueueHeld},
		func(rows *sql.Rows) (q Queued, err error) {
			err = rows.Scan(&q.ID, &q.Mode, &q.State, &q.Added)
			return q, err
		})
	if err != nil {
		return nil, err
	}
	for i := range list {
		facts, err := s.page(ctx, s.facts.read, `f.seq = ?`, list[i].Added)
		if err != nil {
			return nil, s.facts.explain(err)
		}
		for _, f := range facts {
			if added, ok := f.Data.(event.QueueAdded); ok {
				list[i].Text = added.Text
			}
		}
	}
	return list, nil
}
