package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// lookSettings hold for a connection that only looks: it trusts nothing that a damaged or foreign file says of itself, and
// keeps tables of its own in memory.
const lookSettings = "_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=cache_size(-8192)&_pragma=temp_store(2)"

// look lets f read a database file, whatever condition it is in. Nothing in the file is changed, no migration runs, and
// beside a file that nobody has open nothing is made: it is read as if it could not change, and f is called once more if
// it did. Otherwise f reads as one of several readers. Tables that f makes with TEMP go with it.
func look(ctx context.Context, path string, f func(d *database) error) error {
	if info, err := os.Stat(path); err == nil && info.Size() == 0 { // SQLite would remove a log that lies beside it
		return lookOnce(ctx, path, "mode=memory&"+lookSettings, f)
	}
	before, still := atRest(path)
	if !still {
		return lookOnce(ctx, path, "mode=ro&"+lookSettings, f)
	}
	err := lookOnce(ctx, path, "immutable=1&"+lookSettings, f)
	if after, still := atRest(path); still && after == before || ctx.Err() != nil {
		return err
	}
	return lookOnce(ctx, path, "mode=ro&"+lookSettings, f)
}

// version is what tells two states of a file that nobody has open apart.
type version struct {
	size    int64
	changed time.Time
}

// atRest tells whether a file has no write-ahead log, which stands beside it while anybody has it open.
func atRest(path string) (version, bool) {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return version{}, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return version{}, false
	}
	return version{info.Size(), info.ModTime()}, true
}

func lookOnce(ctx context.Context, path, settings string, f func(d *database) error) error {
	d := &database{path: path, stmts: map[string]*sql.Stmt{}}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	var err error
	if d.pool, err = sql.Open("sqlite", u.String()+"?"+settings); err != nil {
		return d.explain(err)
	}
	d.pool.SetMaxOpenConns(1)
	if d.conn, err = d.pool.Conn(ctx); err == nil {
		err = f(d)
	}
	return errors.Join(d.explain(err), d.close())
}

// still makes all that is read from now on be of one moment.
func (d *database) still(ctx context.Context) error {
	_, err := d.conn.ExecContext(ctx, `BEGIN`)
	return err
}

// fileForm is what a file says of its own form.
type fileForm struct {
	empty   bool        // nothing was ever written to it
	foreign bool        // it is no file of ours
	newer   string      // a migration that we do not know; "": none
	last    string      // the newest migration that we know; "": none
	missing []migration // migrations that it has not seen, in order
}

// refused is the error for a file that is not to be touched; nil: it is ours, or empty.
func (f *fileForm) refused(path string) error {
	switch {
	case f.foreign:
		return fmt.Errorf("%s is a database of another program; move it away", path)
	case f.newer != "":
		return &NewerError{path, f.newer}
	}
	return nil
}

// NewerError says that a file was written by a newer program. It is whole, as far as this one can tell.
type NewerError struct{ Path, Has string }

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer program (it has %q); use that one or a newer one", e.Path, e.Has)
}

// formOf reads the form of a file. Ours is one whose table of migrations begins with our first; a table of this name alone does not
// make it so.
func (d *database) formOf(ctx context.Context, steps []migration) (fileForm, error) {
	// Another program may have made its mark before its first table. Both are asked at one moment: whoever begins a record at the same
	// time makes the tables, then the number.
	var tables, marked int64
	if err := d.conn.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM main.sqlite_schema),
		(SELECT application_id <> 0 OR user_version <> 0 FROM pragma_application_id, pragma_user_version)`).Scan(&tables, &marked); err != nil {
		return fileForm{}, err
	}
	if tables == 0 {
		return fileForm{empty: marked == 0, foreign: marked != 0, missing: steps}, nil
	}
	seen, err := d.seen(ctx)
	if err != nil || !seen[steps[0].name] {
		return fileForm{foreign: err == nil}, err
	}
	var out fileForm
	for _, m := range steps {
		if seen[m.name] {
			out.last = m.name
		} else {
			out.missing = append(out.missing, m)
		}
		delete(seen, m.name)
	}
	for name := range seen {
		out.newer = max(out.newer, name)
	}
	return out, nil
}

// stepError says that a file can't be brought to its form, since it does not have what the steps that it is said to have seen made.
type stepError struct {
	step string
	err  error
}

// Error implements error.
func (e *stepError) Error() string {
	return "the next step to the present form can't be taken: " + e.err.Error()
}

// rehearse takes steps that a file has not seen on its tables, without what is in them, in memory.
func (d *database) rehearse(ctx context.Context, steps []migration) error {
	if len(steps) == 0 {
		return nil
	}
	made, err := d.texts(ctx, `SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY type <> 'table', rowid`)
	if err != nil {
		return err
	}
	return lookOnce(ctx, d.path, "mode=memory&"+lookSettings, func(m *database) error {
		for _, sql := range made {
			if _, err := m.conn.ExecContext(ctx, sql); err != nil {
				return err
			}
		}
		for _, step := range steps {
			if _, err := m.conn.ExecContext(ctx, step.sql); err != nil {
				return &stepError{step.name, err}
			}
		}
		return nil
	})
}

// seen reads the migrations that a file has seen; of a table that has only the name of ours, there are none.
func (d *database) seen(ctx context.Context) (map[string]bool, error) {
	ours, err := d.one(ctx, `SELECT count(*) FROM main.sqlite_schema WHERE name = 'migration' AND type = 'table'`)
	if err != nil || ours == 0 {
		return nil, err
	}
	rows, err := d.conn.QueryContext(ctx, `SELECT CAST(name AS TEXT) FROM main.migration WHERE name IS NOT NULL ORDER BY 1`)
	if code(err) == sqlite3.SQLITE_ERROR { // it has no such column, say
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		seen[name] = true
	}
	return seen, rows.Err()
}

// one reads a number.
func (d *database) one(ctx context.Context, query string) (n int64, err error) {
	err = d.conn.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// damaged tells whether an error says that a file is not as it was written: SQLite's of its form, and ours of a value that
// is not of its kind. Others are of the system, or of who asks.
func damaged(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_AUTH:
		return false
	case sqlite3.SQLITE_IOERR:
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ // the file ends before it should
	}
	return true
}

// The two files of a record.
const (
	factsFile    = "overt.db"
	capturesFile = "captures.db"
)

// recordFile is one of the files of a record.
type recordFile struct {
	name  string
	steps []migration
}

func recordFiles() []recordFile {
	return []recordFile{{factsFile, factMigrations()}, {capturesFile, captureMigrations()}}
}
