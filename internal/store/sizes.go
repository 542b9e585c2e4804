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
	var masked sql.NullInt64
	err := c.db.read.QueryRowContext(ctx, `SELECT q.bytes, q.masked, c.shared_bytes, r.bytes, r.masked
		FROM capture c JOIN body q ON q.id = c.request LEFT JOIN body r ON r.id = c.response WHERE c.call = ?`, call).
		Scan(&out.Request, &out.Masked, &out.Shared, &out.Response, &masked)
	if errors.Is(err, sql.ErrNoRows) {
		return out, fmt.Errorf("call %s: %w", call, ErrNoCapture)
	}
	if err != nil {
		return out, fmt.Errorf("call %s: %w", call, c.db.explain(err))
	}
	out.Masked += int(masked.Int64)
	return out, nil
}
