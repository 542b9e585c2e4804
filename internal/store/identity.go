package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"overt/internal/event"
)

// The files of a record carry the same number in their headers (PRAGMA user_version), so that captures.db or files.db of another
// record is not taken for ours. It is chosen when the record is made, or first opened by a program that knows of it; 0 is none yet.
// captures.db carries another one (PRAGMA application_id): the last fact that there was when the file was begun, 0 for one that was
// begun with its record. What facts up to there name and it does not have was not pruned from it: it went with an earlier file.
// So does files.db, which is begun with the first change to a file.

// begun reads that number.
func (d *database) begun(ctx context.Context) (event.Seq, error) {
	n, err := d.one(ctx, `PRAGMA main.application_id`)
	return event.Seq(n), err
}

func (d *database) identity(ctx context.Context) (int64, error) {
	return d.one(ctx, `PRAGMA user_version`)
}

// identify gives a file a number, unless it has one, and returns which it has. first, unless nil, is called before it gets one: nobody
// has come before.
func (d *database) identify(ctx context.Context, id int64, first func() error) (have int64, err error) {
	err = d.do(ctx, false, func() error {
		if have, err = d.identity(ctx); err != nil || have != 0 {
			return err
		}
		if first != nil {
			if err := first(); err != nil {
				return err
			}
		}
		if have = id; id == 0 {
			if have, err = d.one(ctx, `SELECT abs(random() % 2147483646) + 1`); err != nil {
				return err
			}
		}
		_, err := d.conn.ExecContext(ctx, fmt.Sprint(`PRAGMA user_version = `, have))
		return err
	})
	return have, err
}

// pair makes sure that the two files belong together, and gives numbers to those that have none. Whoever gives a file its number is
// the one to say that it was begun anew though there had been one.
func (s *Store) pair(ctx context.Context, captures *database, existing bool) error {
	f, err := s.facts.identity(ctx)
	if err != nil {
		return s.facts.explain(err)
	}
	c, err := captures.identity(ctx)
	if err != nil {
		return captures.explain(err)
	}
	if f == 0 && !existing { // a new overt.db beside an old captures.db takes it over: calls that it does not know are only pruned
		left := c
		if left == 0 { // nor is an old files.db that is all that is left another record's
			left = headerNumber(filepath.Join(s.dir, filesFile))
		}
		if f, err = s.facts.identify(ctx, left, func() error { return s.missFacts(ctx, captures) }); err != nil {
			return err
		}
	}
	if c == 0 && !existing {
		if c, err = captures.identify(ctx, f, func() error { return s.missCaptures(ctx, captures) }); err != nil {
			return err
		}
	}
	if strangers(f, c) {
		root, err := s.facts.root(ctx)
		if err == nil && elsewhere(filepath.Base(s.dir), root) {
			return fmt.Errorf("%s %s", s.facts.path, strangeFacts(root))
		}
		return fmt.Errorf("%s %s", captures.path, strangersText)
	}
	return nil
}

// headerNumber reads the number of a file that nobody in this process has open, as SQLite's format has it in bytes 60 to 63
// (sqlite.org/fileformat2.html#user_version_number); 0: it has none, or can't be read.
func headerNumber(path string) int64 {
	f, err := openPlain(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var head [64]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return 0
	}
	return int64(int32(binary.BigEndian.Uint32(head[60:])))
}

// strangers tells whether the numbers of two files say that they are of different records.
func strangers(facts, captures int64) bool { return facts != 0 && captures != 0 && facts != captures }

// strangersText says so of captures.db.
const strangersText = "belongs to the record of another workspace; move it away (exchanges of before are then missing)"

// strangeFilesText says it of files.db.
const strangeFilesText = "belongs to the record of another workspace; move it away (" + filesLostText + ")"

// strangeFacts says it of overt.db, where that one is of another workspace and captures.db is not.
func strangeFacts(root string) string {
	return "belongs to the record of another workspace, " + root + "; move it away, or restore a backup over it (overt db status lists them)"
}

// sameRecord tells whether a captures.db or files.db belongs to an overt.db, as far as can be read. One that is not there does. Where neither has
// a number, they do if they are of the same workspace.
func sameRecord(ctx context.Context, facts, captures string, sameWorkspace bool) bool {
	var ids [2]int64
	for i, path := range []string{facts, captures} {
		_, err := plain(path)
		if errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if err == nil {
			err = look(ctx, path, func(d *database) (err error) {
				ids[i], err = d.identity(ctx)
				return err
			})
		}
		if err != nil {
			return false
		}
	}
	return ids[0] == ids[1] && (ids[0] != 0 || sameWorkspace)
}
