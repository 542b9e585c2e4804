package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"overt/internal/wire"
)

// Output is the whole output of a tool call, of which the record holds a part. Capped: it was longer than what was kept.
type Output struct {
	Body
	Capped bool
}

// KeepOutput keeps a tool's output under the id of its call, masked. An id is used once.
func (c *Captures) KeepOutput(ctx context.Context, id string, data []byte, capped bool) (wire.Kept, error) {
	data, masked := c.mask.Bytes(data)
	kept := wire.Kept{Bytes: int64(len(data)), SHA256: sha256.Sum256(data), Masked: masked}
	err := c.db.do(ctx, false, func() error {
		ids, err := c.putChunks(data)
		if err != nil {
			return err
		}
		body, err := c.putBody(kept, ids)
		if err != nil {
			return err
		}
		return c.db.exec(`INSERT INTO output (id, body, capped, time) VALUES (?, ?, ?, ?)`, id, body, capped, c.now().UnixMilli())
	})
	if err != nil {
		return wire.Kept{}, fmt.Errorf("keep the output of %s: %w", id, err)
	}
	return kept, nil
}

// Output gives what was kept of a tool call, or [ErrNoCapture].
func (c *Captures) Output(ctx context.Context, id string) (*Output, error) {
	var body int64
	out := &Output{}
	err := c.db.read.QueryRowContext(ctx, `SELECT body, capped FROM output WHERE id = ?`, id).Scan(&body, &out.Capped)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoCapture
	}
	if err == nil {
		var b *Body
		if b, err = c.body(ctx, body); err == nil {
			out.Body = *b
			return out, nil
		}
	}
	return nil, fmt.Errorf("output of %s: %w", id, c.db.explain(err))
}
