package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Both files of a record carry the same number in their headers (PRAGMA user_version), so that captures.db of another record
// is not taken for ours. It is chosen when the record is made, or first opened by a program that knows of it; 0 is none yet.

func (d *database) identity(ctx context.Context) (int64, error) {
	return d.one(ctx, `PRAGMA user_version`)
}

// identify gives a file a number, unless it has one, and returns which it has.
func (d *database) identify(ctx context.Context, id int64) (have int64, err error) {
	err = d.do(ctx, false, func() error {
		if have, err = d.identity(ctx); err != nil || have != 0 {
			return err
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

// pair makes sure that two files belong together.
func pair(ctx context.Context, facts, captures *database) error {
	f, err := facts.identity(ctx)
	if err != nil {
		return facts.explain(err)
	}
	c, err := captures.identity(ctx)
	if err != nil {
		return captures.explain(err)
	}
	if f == 0 { // a new overt.db beside an old captures.db takes it over: calls that it does not know are only pruned
		if f, err = facts.identify(ctx, c); err != nil {
			return err
		}
	}
	if c == 0 {
		if c, err = captures.identify(ctx, f); err != nil {
			return err
		}
	}
	if strangers(f, c) {
		return fmt.Errorf("%s %s", captures.path, strangersText)
	}
	return nil
}

// strangers tells whether the numbers of two files say that they are of different records.
func strangers(facts, captures int64) bool { return facts != 0 && captures != 0 && facts != captures }

// strangersText says so of captures.db.
const strangersText = "belongs to the record of another workspace; move it away (exchanges of before are then missing)"

// sameRecord tells whether a captures.db belongs to an overt.db, as far as can be read. One that is not there does.
func sameRecord(ctx context.Context, facts, captures string) bool {
	var ids [2]int64
	for i, path := range []string{facts, captures} {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return true
		}
		err := look(ctx, path, func(d *database) (err error) {
			ids[i], err = d.identity(ctx)
			return err
		})
		if err != nil {
			return false
		}
	}
	return ids[0] == ids[1] || ids[1] == 0
}

// Lost is what was found where a record was begun anew although there had been one.
type Lost struct {
	Captures int64    // exchanges that are kept of the lost record
	Backups  []string // paths, the one to restore first
}

// restorable lists the folders among the backups that have an overt.db, the best first.
func restorable(dir string) (paths []string, err error) {
	list, err := Backups(dir)
	for _, b := range list {
		if _, err := os.Stat(filepath.Join(b.Path, factsFile)); err == nil {
			paths = append(paths, b.Path)
		}
	}
	return paths, err
}

// absent looks, before overt.db is made, for signs that there was one. Logs without their file are moved aside: SQLite would
// remove them. nil: there was none, or it is there.
func absent(dir string) (*Lost, error) {
	var lost *Lost
	for _, name := range []string{factsFile, capturesFile} {
		_, logErr := os.Lstat(filepath.Join(dir, name+"-wal")) // first: a log is made after its file
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if logErr == nil {
			aside := freeName(filepath.Join(dir, asideFolder, time.Now().UTC().Format(stamp)+"-log"))
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := moveAside(filepath.Join(dir, name+suffix), aside); err != nil {
					return nil, err
				}
			}
		}
		if name != factsFile {
			continue
		}
		lost = &Lost{}
		var err error
		if lost.Backups, err = restorable(dir); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// judge tells, once the files are open, whether anything was lost.
func (l *Lost) judge(ctx context.Context, captures *database) (*Lost, error) {
	var err error
	if l.Captures, err = captures.one(ctx, `SELECT count(*) FROM capture`); err != nil {
		return nil, captures.explain(err)
	}
	if l.Captures == 0 && len(l.Backups) == 0 {
		return nil, nil
	}
	return l, nil
}

// LostError says that overt.db is gone although there was one.
type LostError struct {
	Path string
	Lost
}

// Error implements error.
func (e *LostError) Error() string {
	text := fmt.Sprintf("%s is gone, though %d exchanges of it are kept", e.Path, e.Captures)
	if len(e.Backups) == 0 {
		return text + "; there is no backup: the next task begins a new record"
	}
	return text + "; restore it with: overt db restore " + e.Backups[0]
}

// Gone says of a folder without overt.db whether it has lost it: a *[LostError], or a *[RestoringError]; nil if nothing
// was ever there.
func Gone(ctx context.Context, dir string) error {
	if err := unrestored(dir); err != nil {
		return err
	}
	lost := Lost{}
	var err error
	if lost.Backups, err = restorable(dir); err != nil {
		return err
	}
	captures := filepath.Join(dir, capturesFile)
	if _, err := os.Stat(captures); err == nil {
		look(ctx, captures, func(d *database) (err error) { // what can't be read can't be counted
			lost.Captures, err = d.one(ctx, `SELECT count(*) FROM main.capture`)
			return err
		})
	}
	if lost.Captures == 0 && len(lost.Backups) == 0 {
		return nil
	}
	return &LostError{filepath.Join(dir, factsFile), lost}
}
