package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Sizes are the bytes of an exchange as it was kept.
type Sizes struct {
	Request, Shared int64  // Shared: leading bytes that the call before on the lane had sent too
	Response        *int64 // nil: nothing came
	Masked          int    // secrets replaced, in both bodies
}

// Sizes gives the sizes of a call's bodies without reading them, or [ErrNoCapture].
func (c *Captures) Sizes(ctx context.Context, call string) (Sizes, error) {
	var out Sizes
	var shared int64
	var enc int
	var list []byte
	var masked sql.NullInt64
	err := c.db.read.QueryRowContext(ctx, `SELECT q.bytes, q.masked, q.enc, q.parts, c.shared, r.bytes, r.masked
		FROM capture c JOIN body q ON q.id = c.request LEFT JOIN body r ON r.id = c.response WHERE c.call = ?`, call).
		Scan(&out.Request, &out.Masked, &enc, &list, &shared, &out.Response, &masked)
	if errors.Is(err, sql.ErrNoRows) {
		return out, fmt.Errorf("call %s: %w", call, ErrNoCapture)
	}
	if err != nil {
		return out, fmt.Errorf("call %s: %w", call, c.db.explain(err))
	}
	out.Masked += int(masked.Int64)
	runs, err := c.runs(enc, list)
	for _, r := range runs {
		n := min(r.n, shared)
		shared -= n
		if n == 0 || err != nil {
			break
		}
		var bytes int64
		err = c.db.read.QueryRowContext(ctx, `SELECT coalesce(sum(c.bytes), 0) FROM part p JOIN chunk c ON c.id = p.chunk
			WHERE p.id BETWEEN ? AND ?`, r.first, r.first+n-1).Scan(&bytes)
		out.Shared += bytes
	}
	if err != nil {
		return out, fmt.Errorf("call %s: %w", call, c.db.explain(err))
	}
	return out, nil
}
