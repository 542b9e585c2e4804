package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// State is the condition of a file of a record, as far as a glance can tell.
type State string

// States of a file.
const (
	Absent    State = "absent" // or empty, as a process leaves it that dies while it makes the file
	Fine      State = "fine"
	Older     State = "older"     // fine; the next program that works here brings it to the present form
	Newer     State = "newer"     // only a newer program can read it
	Foreign   State = "foreign"   // it is no file of ours, or, with an error, of another record than overt.db
	Damaged   State = "damaged"   // SQLite says so
	Locked    State = "locked"    // another process has kept it locked for as long as was waited
	Unread    State = "unread"    // the system does not let it be read
	Undecided State = "undecided" // the look did not end in time
)

// lockedPoll is how often a lock that another process has is looked at.
const lockedPoll = 20 * time.Millisecond

// Glimpse is what a glance at a record found.
type Glimpse struct {
	Files     []Glanced
	Holder    *HeldError // who has the lease; nil: nobody
	Changes   int64      // that the facts name and that can't be undone, because files.db is gone or empty
	Restoring error      // a *[RestoringError], or why it can't be told; nil: no restore was begun that has not come to its end
}

// Glanced is what a glance at one file found.
type Glanced struct {
	File, Path string
	State      State
	Form       string // the newest migration that we know; "": not known
	Newer      string // the migration that we do not know
	PID        int    // of the process that keeps the file locked; 0: not known
	Err        error  // what SQLite or the system said

	id   int64  // of the record; 0: not known
	root string // of overt.db, see [database.root]
}

// Glance looks at the files of a record without reading all of them and without changing anything: their form, whether
// SQLite finds the structure sound (quick_check), whether they belong together, and whether another process keeps one locked for
// longer than wait. Where no record is, both files are absent; files.db is listed only where it is there. The end of ctx leaves a file undecided; while a restore has not
// come to its end, files may be of two records. The error is that of looking at the lease; the rest is told all the same.
// It is not for a process that has the record open: the look at locks would drop its own.
func Glance(ctx context.Context, dir string, wait time.Duration) (Glimpse, error) {
	out := Glimpse{Restoring: unrestored(dir)}
	for _, f := range recordFiles() {
		g := Glanced{File: f.name, Path: filepath.Join(dir, f.name)}
		g.look(ctx, f, wait)
		out.Files = append(out.Files, g)
	}
	sound := func(g Glanced) bool { return g.State == Fine || g.State == Older }
	switch facts, captures := &out.Files[0], &out.Files[1]; {
	case !strangers(facts.id, captures.id):
	case sound(*facts) && elsewhere(filepath.Base(dir), facts.root):
		facts.State, facts.Err = Foreign, errors.New(strangeFacts(facts.root))
	case sound(*captures):
		captures.State, captures.Err = Foreign, errors.New(strangersText)
	}
	states := Glanced{File: filesFile, Path: filepath.Join(dir, filesFile)}
	states.look(ctx, recordFile{filesFile, fileMigrations()}, wait)
	switch facts := out.Files[0]; {
	case sound(facts) && sound(states) && strangers(facts.id, states.id):
		states.State, states.Err = Foreign, errors.New(strangeFilesText)
		out.Files = append(out.Files, states)
	case states.State != Absent:
		out.Files = append(out.Files, states)
	case sound(facts):
		look(ctx, facts.Path, func(d *database) error { // what can't be read can't be counted
			named, err := d.changes(ctx)
			out.Changes = int64(len(named))
			return err
		})
	}
	var err error
	out.Holder, err = leaseHolder(dir)
	return out, err
}

func (g *Glanced) look(ctx context.Context, f recordFile, wait time.Duration) {
	_, err := plain(g.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.State = Absent
		return
	case err != nil:
		g.State, g.Err = Unread, err
		return
	}
	err = look(ctx, g.Path, func(d *database) error { return g.read(ctx, d, f) })
	switch {
	case ctx.Err() != nil:
		g.State, g.Err = Undecided, ctx.Err()
	case code(err) == sqlite3.SQLITE_BUSY:
		g.State, g.Err = Locked, cause(err)
		g.PID, _ = locker(g.Path)
	case damaged(err):
		g.State, g.Err = Damaged, cause(err)
	case err != nil:
		g.State, g.Err = Unread, cause(err)
	}
	if g.State == Fine || g.State == Older {
		g.awaitLock(ctx, wait)
	}
}

func (g *Glanced) read(ctx context.Context, d *database, f recordFile) error {
	g.State = Fine
	form, err := d.formOf(ctx, f.steps)
	if err != nil {
		return err
	}
	g.Form, g.Newer = form.last, form.newer
	switch {
	case form.empty:
		g.State = Absent
		return nil
	case form.foreign:
		g.State = Foreign
		return nil
	case form.newer != "":
		g.State = Newer
		return nil
	case len(form.missing) > 0:
		g.State = Older
	}
	if g.id, err = d.identity(ctx); err != nil {
		return err
	}
	if err := d.rehearse(ctx, form.missing); err != nil {
		return err
	}
	if f.name == factsFile {
		if g.root, err = d.root(ctx); err != nil {
			return err
		}
	}
	lines, err := d.texts(ctx, `PRAGMA main.quick_check(1)`)
	if err == nil && (len(lines) != 1 || lines[0] != "ok") {
		g.State, g.Err = Damaged, fmt.Errorf("quick_check: %v", lines)
	}
	return err
}

// awaitLock waits until nobody writes to the file. A writer has the lock for moments only, unless it hangs.
func (g *Glanced) awaitLock(ctx context.Context, wait time.Duration) {
	for deadline := time.Now().Add(wait); ; {
		pid, held := locker(g.Path)
		switch {
		case !held:
			return
		case time.Now().After(deadline):
			g.State, g.PID = Locked, pid
			return
		}
		select {
		case <-ctx.Done():
			g.State, g.Err = Undecided, ctx.Err()
			return
		case <-time.After(lockedPoll):
		}
	}
}
