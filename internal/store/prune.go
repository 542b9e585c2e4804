package store

import (
	"context"
	"errors"
	"time"
)

// Pruned says what a pruning took away.
type Pruned struct {
	Exchanges int64 `json:"exchanges"`
	Outputs   int64 `json:"outputs"`
	Bytes     int64 `json:"bytes"` // as they were kept
}

// Prune forgets exchanges and outputs that are older than a time, and then the oldest until what is left takes at most
// maxBytes; 0 is no limit. One that is under way counts from when it began. No other changes, and the space is given back to
// the system.
func (c *Captures) Prune(ctx context.Context, olderThan time.Time, maxBytes int64) error {
	_, err := c.PruneCounted(ctx, olderThan, maxBytes, false)
	return err
}

// PruneCounted is [Captures.Prune] and says what it took away. With dry it says what it would, and does nothing.
func (c *Captures) PruneCounted(ctx context.Context, olderThan time.Time, maxBytes int64, dry bool) (Pruned, error) {
	var out Pruned
	err := c.db.do(ctx, false, func() error {
		before, err := c.amount()
		if err != nil {
			return err
		}
		if err := c.prune(olderThan, maxBytes); err != nil {
			return err
		}
		after, err := c.amount()
		out = Pruned{before.Exchanges - after.Exchanges, before.Outputs - after.Outputs, before.Bytes - after.Bytes}
		if err == nil && dry {
			err = errDry
		}
		return err
	})
	switch {
	case errors.Is(err, errDry):
		return out, nil
	case err != nil:
		return Pruned{}, err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	return out, c.db.explain(c.db.exec(`PRAGMA incremental_vacuum`))
}

// errDry takes back what was done to see what it would be.
var errDry = errors.New("dry run")

// amount is what is kept.
func (c *Captures) amount() (out Pruned, err error) {
	_, err = c.db.get(`SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM output),
		(SELECT coalesce(sum(length(data)), 0) FROM chunk) + (SELECT coalesce(sum(length(parts)), 0) FROM body)`,
		nil, &out.Exchanges, &out.Outputs, &out.Bytes)
	return out, err
}

// prune does it, inside a transaction.
func (c *Captures) prune(olderThan time.Time, maxBytes int64) error {
	if err := c.forget(olderThan.UnixMilli()); err != nil {
		return err
	}
	if err := c.sweep(); err != nil || maxBytes == 0 {
		return err
	}
	for {
		kept, err := c.amount()
		if err != nil {
			return err
		}
		var oldest, newest int64
		found, err := c.db.get(`SELECT coalesce(min(t), 0), coalesce(max(t), 0) FROM (SELECT sent AS t FROM capture UNION ALL SELECT time FROM output)`,
			nil, &oldest, &newest)
		if err != nil || !found || newest == 0 || kept.Bytes <= maxBytes {
			return err
		}
		// A tenth of the time span at once: a sweep reads every list.
		if err := c.forget(oldest + (newest-oldest)/10 + 1); err != nil {
			return err
		}
		if err := c.sweep(); err != nil {
			return err
		}
	}
}

// forget deletes the rows that are older than a time in milliseconds.
func (c *Captures) forget(before int64) error {
	if err := c.db.exec(`DELETE FROM output WHERE time < ?`, before); err != nil {
		return err
	}
	return c.db.exec(`DELETE FROM capture WHERE sent < ?`, before)
}

// sweep deletes the bodies, parts and chunks that nothing names any more.
func (c *Captures) sweep() error {
	if err := c.db.exec(`DELETE FROM body WHERE id NOT IN (SELECT request FROM capture
		UNION SELECT response FROM capture WHERE response IS NOT NULL UNION SELECT body FROM output)`); err != nil {
		return err
	}
	named, err := c.named()
	if err != nil {
		return err
	}
	var parts []int64
	rows, err := c.db.conn.QueryContext(context.Background(), `SELECT id FROM part ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if !named[id] {
			parts = append(parts, id)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows.Close()
	for _, id := range parts {
		if err := c.db.exec(`DELETE FROM part WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return c.db.exec(`DELETE FROM chunk WHERE id NOT IN (SELECT chunk FROM part)`)
}

// named gives the parts that something names.
func (c *Captures) named() (map[int64]bool, error) {
	out := map[int64]bool{}
	rows, err := c.db.conn.QueryContext(context.Background(), `SELECT url, request_headers, coalesce(response_headers, 0) FROM capture`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var url, request, response int64
		if err := rows.Scan(&url, &request, &response); err != nil {
			return nil, err
		}
		out[url], out[request], out[response] = true, true, true
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close()
	lists, err := c.db.conn.QueryContext(context.Background(), `SELECT enc, parts FROM body`)
	if err != nil {
		return nil, err
	}
	defer lists.Close()
	for lists.Next() {
		var enc int
		var list []byte
		if err := lists.Scan(&enc, &list); err != nil {
			return nil, err
		}
		runs, err := c.runs(enc, list)
		if err != nil {
			return nil, err
		}
		for _, id := range idsOf(runs) {
			out[id] = true
		}
	}
	return out, lists.Err()
}
