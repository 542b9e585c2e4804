package store

import (
	"context"
	"database/sql"
	"errors"
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

// form is what a file says of its own form.
type fileForm struct {
	last    string   // the newest migration that we know; "": none
	missing []string // migrations that it has not seen
	newer   string   // a migration that we do not know
	foreign bool     // it is no file of ours
}

// formOf reads the form of a file.
func (d *database) formOf(ctx context.Context, steps []migration) (fileForm, error) {
	var out fileForm
	var ours int
	err := d.conn.QueryRowContext(ctx, `SELECT count(*) FROM main.sqlite_schema WHERE name = 'migration' AND type = 'table'`).Scan(&ours)
	if err != nil || ours == 0 {
		out.foreign = err == nil
		return out, err
	}
	seen := map[string]bool{}
	rows, err := d.conn.QueryContext(ctx, `SELECT name FROM main.migration ORDER BY name`)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return out, err
		}
		seen[name] = true
	}
	if err := rows.Err(); err != nil {
		return out, err
	}
	for _, m := range steps {
		if seen[m.name] {
			out.last = m.name
		} else {
			out.missing = append(out.missing, m.name)
		}
		delete(seen, m.name)
	}
	for name := range seen {
		out.newer = max(out.newer, name)
	}
	out.foreign = out.last == "" // a table of this name alone does not make it ours
	return out, nil
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
