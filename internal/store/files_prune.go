package store

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// FilesPruned says what a pruning of file states took away.
type FilesPruned struct {
	Checkpoints int64 `json:"checkpoints"`
	Bytes       int64 `json:"file_bytes"` // as they were kept
}

// Prune forgets the closed checkpoints that are older than a time, and then the oldest until the contents that are left
// take at most maxBytes; 0 is no limit. The newest state of each file stays. With dry it says what it would do.
func (f *Files) Prune(ctx context.Context, olderThan time.Time, maxBytes int64, dry bool) (out FilesPruned, err error) {
	err = f.db.do(ctx, false, func() error {
		checkpoints, size, err := f.amount()
		if err != nil {
			return err
		}
		if err := f.forget(olderThan.UnixMilli()); err != nil {
			return err
		}
		if err := f.sweep(); err != nil {
			return err
		}
		for maxBytes > 0 {
			left, kept, err := f.amount()
			if err != nil {
				return err
			}
			if left == 0 || kept <= maxBytes {
				break
			}
			var until int64 // a tenth at once: a sweep reads every delta
			if _, err := f.db.get(`SELECT time FROM checkpoint WHERE closed IS NOT NULL AND pinned = 0 ORDER BY time LIMIT 1 OFFSET ?`, []any{left / 10}, &until); err != nil {
				return err
			}
			if err := f.forget(until + 1); err != nil {
				return err
			}
			if err := f.sweep(); err != nil {
				return err
			}
		}
		left, kept, err := f.amount()
		out = FilesPruned{checkpoints - left, size - kept}
		if err == nil && dry {
			err = errDry
		}
		return err
	})
	switch {
	case errors.Is(err, errDry):
		return out, nil
	case err != nil:
		return FilesPruned{}, err
	}
	if err := f.sweepObjects(ctx); err != nil {
		return out, err
	}
	f.db.mu.Lock()
	defer f.db.mu.Unlock()
	return out, f.db.explain(f.db.exec(`PRAGMA incremental_vacuum`))
}

// amount is how many checkpoints may go, and how many bytes contents take.
func (f *Files) amount() (checkpoints, size int64, err error) {
	_, err = f.db.get(`SELECT (SELECT count(*) FROM checkpoint WHERE closed IS NOT NULL AND pinned = 0),
		(SELECT coalesce(sum(coalesce(length(data), bytes)), 0) FROM object)`, nil, &checkpoints, &size)
	return checkpoints, size, err
}

// forget deletes closed checkpoints that are older than a time in milliseconds.
func (f *Files) forget(before int64) error {
	if err := f.db.exec(`DELETE FROM delta WHERE checkpoint IN (SELECT id FROM checkpoint WHERE closed IS NOT NULL AND pinned = 0 AND time < ?)`, before); err != nil {
		return err
	}
	return f.db.exec(`DELETE FROM checkpoint WHERE closed IS NOT NULL AND pinned = 0 AND time < ?`, before)
}

// sweep deletes the contents that nothing names any more; those that are files go with [Files.sweepObjects].
func (f *Files) sweep() error {
	return f.db.exec(`DELETE FROM object WHERE hash NOT IN (SELECT hash FROM entry WHERE hash IS NOT NULL
		UNION SELECT before FROM delta WHERE before IS NOT NULL UNION SELECT after FROM delta WHERE after IS NOT NULL)`)
}

// sweepObjects removes the files whose rows are gone. The caller has the lease, so that none is being made.
func (f *Files) sweepObjects(ctx context.Context) error {
	list, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	named, err := f.db.readTexts(ctx, `SELECT lower(hex(hash)) FROM object WHERE data IS NULL`)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, h := range named {
		keep[h] = true
	}
	var errs []error
	for _, d := range list {
		if raw, err := hex.DecodeString(d.Name()); (err == nil && len(raw) == 32 && !keep[d.Name()]) || strings.HasPrefix(d.Name(), ".new-") {
			errs = append(errs, os.Remove(f.dir+string(os.PathSeparator)+d.Name()))
		}
	}
	return errors.Join(errs...)
}

// erase forgets the checkpoints of a task, and every content that only they named. Files that have such a content still are
// read anew before the next change.
func (f *Files) erase(ctx context.Context, task string) error {
	err := f.db.do(ctx, true, func() error {
		if err := f.db.secure(); err != nil {
			return err
		}
		for _, q := range []string{
			`UPDATE entry SET hash = NULL, skipped = 'forgotten', racy = 1 WHERE hash IN (
				SELECT before FROM delta WHERE checkpoint IN (SELECT id FROM checkpoint WHERE task = ?1)
				UNION SELECT after FROM delta WHERE checkpoint IN (SELECT id FROM checkpoint WHERE task = ?1))`,
			`DELETE FROM delta WHERE checkpoint IN (SELECT id FROM checkpoint WHERE task = ?1)`,
			`DELETE FROM checkpoint WHERE task = ?1`,
		} {
			if err := f.db.exec(q, task); err != nil {
				return err
			}
		}
		if err := f.db.exec(`UPDATE scan SET generation = generation + 1`); err != nil {
			return err
		}
		return f.sweep()
	})
	if err != nil {
		return err
	}
	return f.sweepObjects(ctx)
}
