package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// names knows the numbers of names: kinds, ids, models. It holds what is committed and nothing else, since the number of
// a name that was rolled back is given to another one.
type names struct {
	mu    sync.RWMutex
	ids   map[string]int64
	texts map[int64]string
}

func (n *names) id(text string) (int64, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	id, ok := n.ids[text]
	return id, ok
}

func (n *names) learn(text string, id int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil {
		n.ids, n.texts = map[string]int64{}, map[int64]string{}
	}
	n.ids[text], n.texts[id] = id, text
}

// find gives the number of a committed name; there may be none.
func (n *names) find(ctx context.Context, q querier, text string) (int64, bool, error) {
	if id, ok := n.id(text); ok {
		return id, true, nil
	}
	var id int64
	err := q.QueryRowContext(ctx, `SELECT id FROM name WHERE text = ?`, text).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err == nil {
		n.learn(text, id)
	}
	return id, err == nil, err
}

// text gives the name of a committed number; NULL is "".
func (n *names) text(ctx context.Context, q querier, id sql.NullInt64) (string, error) {
	if !id.Valid {
		return "", nil
	}
	n.mu.RLock()
	text, ok := n.texts[id.Int64]
	n.mu.RUnlock()
	if ok {
		return text, nil
	}
	if err := q.QueryRowContext(ctx, `SELECT text FROM name WHERE id = ?`, id.Int64).Scan(&text); err != nil {
		return "", fmt.Errorf("name %d: %w", id.Int64, err)
	}
	n.learn(text, id.Int64)
	return text, nil
}
