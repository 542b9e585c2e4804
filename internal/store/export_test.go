package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"time"

	"overt/internal/wire"
)

// Synchronous is what SQLite says of the last commit to overt.db: 1 NORMAL, 2 FULL.
func (s *Store) Synchronous() (n int, err error) {
	err = s.facts.conn.QueryRowContext(context.Background(), `PRAGMA synchronous`).Scan(&n)
	return n, err
}

// LimitFactPages makes overt.db believe that the disk is full above a number of pages.
func (s *Store) LimitFactPages(n int) error { return limitPages(s.facts, n) }

// LimitPages does the same to captures.db.
func (c *Captures) LimitPages(n int) error { return limitPages(c.db, n) }

func limitPages(d *database, n int) error {
	_, err := d.conn.ExecContext(context.Background(), fmt.Sprint(`PRAGMA max_page_count = `, n))
	return err
}

// Impatient makes writers wait for others a hundredth of a second only.
func (s *Store) Impatient() error {
	for _, d := range []*database{s.facts, s.captures.db} {
		if _, err := d.conn.ExecContext(context.Background(), `PRAGMA busy_timeout = 10`); err != nil {
			return err
		}
	}
	return nil
}

// PackRuns writes a part list.
func PackRuns(ids []int64) []byte { return appendRuns(nil, ids) }

// UnpackRuns reads one; it gives no ids of a list that names more than a million.
func UnpackRuns(list []byte) ([]int64, error) {
	runs, err := readRuns(list)
	var n int64
	for _, r := range runs {
		n += r.n
	}
	if err != nil || n > 1e6 {
		return nil, err
	}
	return idsOf(runs), nil
}

// PackTiming writes the times of a response.
func PackTiming(c []wire.Chunk) []byte { return appendTiming(nil, c) }

// UnpackTiming reads them.
func UnpackTiming(data []byte) ([]wire.Chunk, error) { return readTiming(data) }

// ShortSubject and LongSubject are the stored form of a subject, and back.
func ShortSubject(subject, run string) string { return shortSubject(subject, run) }
func LongSubject(stored, run string) string   { return longSubject(stored, run) }

// Dictionary1 is the SHA-256 of the dictionary.
func Dictionary1() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(dictionary1))) }

// Pack compresses and gives back.
func Pack(data []byte) (stored int, back []byte, err error) {
	p := &packer{seen: packWarm}
	enc, out := p.pack(data)
	back, err = p.unpack(enc, out)
	return len(out), back, err
}

// OpenWithSteps opens overt.db in a folder as a program does that knows one more migration.
func OpenWithSteps(ctx context.Context, dir, sql string) error {
	steps := append(factMigrations(), migration{"9998-test", sql})
	now := time.Now()
	d, err := openDatabase(ctx, filepath.Join(dir, factsFile), opening{steps: steps, now: now, before: func(d *database) (func(), error) {
		return beforeMigration(ctx, d, steps, "", now)
	}})
	if err == nil {
		err = d.close()
	}
	return err
}
