package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a writer waits for the writer of another process.
const busyTimeout = 5 * time.Second

// settings holds for every connection. Caches are small: a task's hot pages fit, and the system caches the file anyway.
const settings = "?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-384)"

// database is one SQLite file: the connection that writes and a pool of connections that only read.
type database struct {
	path string
	pool *sql.DB // of the writer: one connection
	read *sql.DB

	mu    sync.Mutex // held through a transaction
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	full  bool // synchronous=FULL is set
	ended bool // closed
}

// querier is what reading needs of a pool or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// migration is one step in the history of a file's form. Names never change, and steps are never edited.
type migration struct{ name, sql string }

// opening is how a file is opened.
type opening struct {
	steps    []migration // that it is brought to
	now      time.Time
	existing bool                              // one that is not there, or empty, is an *[AbsentError]
	before   func(d *database) (func(), error) // unless nil: called ahead of steps on a file that has seen others, and what it returns after them
}

// openDatabase opens a file, making it if need be and bringing it to its form.
func openDatabase(ctx context.Context, path string, o opening) (*database, error) {
	d := &database{path: path, stmts: map[string]*sql.Stmt{}}
	if !o.existing {
		if err := prepareFile(path); err != nil {
			return nil, err
		}
	}
	if err := untouched(ctx, path, o.steps); err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	var err error
	if d.pool, err = sql.Open("sqlite", u.String()+settings); err != nil {
		return nil, d.explain(err)
	}
	d.pool.SetMaxOpenConns(1)
	if d.conn, err = d.pool.Conn(ctx); err == nil {
		err = d.migrate(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	if d.read, err = sql.Open("sqlite", u.String()+settings+"&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	d.read.SetMaxIdleConns(2)
	return d, nil
}

// prepareFile makes an empty file that only its owner can read; SQLite gives its companions the same mode. A file that
// exists is not opened: closing it would drop the locks that SQLite holds on it in this process.
func prepareFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the record: %w", err)
	}
	return f.Close()
}

// untouched refuses a file that is not ours before there is a connection that could write to it: to close such a one folds the log
// that another program left beside a file into it, and to read by it ends a change that was interrupted. Without a log, to
// open a file changes nothing. What else is wrong is left to who opens it.
func untouched(ctx context.Context, path string, steps []migration) (refused error) {
	judge := func(d *database) error {
		form, err := d.formOf(ctx, steps)
		if err == nil {
			refused = form.refused(path)
		}
		return err
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := lookOnce(ctx, path, "mode=ro&"+lookSettings, judge); code(err) == sqlite3.SQLITE_READONLY { // the change was of a process that died
			lookOnce(ctx, path, "immutable=1&"+lookSettings, judge)
		}
	}
	return refused
}

// private closes a file of ours to others.
func (d *database) private() error {
	info, err := os.Stat(d.path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	for _, p := range []string{d.path, d.path + "-wal", d.path + "-shm"} {
		if err := os.Chmod(p, 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("close the record to others: %w", err)
		}
	}
	return nil
}

// migrate applies the steps that the file has not seen. It looks before it touches.
func (d *database) migrate(ctx context.Context, o opening) error {
	todo, err := d.todo(ctx, o.steps)
	if err == nil && o.existing && len(todo) == len(o.steps) {
		err = &AbsentError{d.path}
	}
	if err == nil {
		err = d.private()
	}
	if err != nil {
		return err
	}
	var mode string
	if err := d.conn.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" { // new, or a copy that was put in place
		if err := d.shape(ctx); err != nil {
			return err
		}
	}
	if len(todo) == 0 {
		return nil
	}
	if o.before != nil && len(todo) < len(o.steps) {
		done, err := o.before(d)
		if done != nil {
			defer done()
		}
		if err != nil {
			return err
		}
	}
	return d.do(ctx, false, func() error {
		todo, err := d.todo(ctx, o.steps) // another process may have been quicker
		if err != nil {
			return err
		}
		return d.apply(ctx, todo, o.now)
	})
}

// apply takes steps, inside do.
func (d *database) apply(ctx context.Context, steps []migration, now time.Time) error {
	for _, m := range steps {
		if _, err := d.conn.ExecContext(ctx, m.sql); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		if err := d.exec(`INSERT INTO migration (name, applied) VALUES (?, ?)`, m.name, now.UTC().Format(time.RFC3339)); err != nil {
			return err
		}
	}
	return nil
}

// todo gives the steps that the file has not seen, in order. A file that is not to be touched is an error.
func (d *database) todo(ctx context.Context, steps []migration) ([]migration, error) {
	form, err := d.formOf(ctx, steps)
	if err == nil {
		err = form.refused(d.path)
	}
	return form.missing, err
}

// form is what can be chosen only while a file is empty: space that is pruned can be given back. Pages stay at 4 KB; with
// 8 KB a task of 400 steps took two to three per cent more.
const form = `PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`

// shape gives an empty file its form. SQLite does not wait for a lock here, so this does.
func (d *database) shape(ctx context.Context) error {
	for deadline := time.Now().Add(busyTimeout); ; {
		_, err := d.conn.ExecContext(ctx, form)
		if err == nil || code(err) != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// do runs f in a transaction that no other writer can come between. With full, what f writes is on the disk when do
// returns. The context bounds the wait for the lock; once f has begun, nothing but an error of its own stops it, so that
// nobody is told of a failure that was none.
func (d *database) do(ctx context.Context, full bool, f func() error) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.ended {
		return d.explain(sql.ErrConnDone)
	}
	if full != d.full {
		if err := d.setFull(full); err != nil {
			return d.explain(err)
		}
	}
	committed := false
	defer func() {
		if !committed {
			d.exec(`ROLLBACK`) // fails if BEGIN did; then there is nothing to undo
		}
	}()
	begin, err := d.prepared(`BEGIN IMMEDIATE`)
	if err == nil {
		_, err = begin.ExecContext(ctx)
	}
	if err != nil {
		return d.explain(err)
	}
	if err := f(); err != nil {
		return d.explain(err)
	}
	if err := d.exec(`COMMIT`); err != nil {
		return d.explain(err)
	}
	committed = true
	return nil
}

// setFull sets whether a commit waits for the disk. SQLite ignores it inside a transaction, and takes it when it parses the
// statement, so that a prepared one would work only once.
func (d *database) setFull(full bool) error {
	mode := `PRAGMA synchronous = NORMAL`
	if full {
		mode = `PRAGMA synchronous = FULL`
	}
	_, err := d.conn.ExecContext(context.Background(), mode)
	if err == nil {
		d.full = full
	}
	return err
}

// prepared gives the statement for a query of the writer; there is a fixed number of them.
func (d *database) prepared(query string) (*sql.Stmt, error) {
	if st := d.stmts[query]; st != nil {
		return st, nil
	}
	st, err := d.conn.PrepareContext(context.Background(), query)
	if err == nil {
		d.stmts[query] = st
	}
	return st, err
}

// exec runs a statement on the writer, inside do.
func (d *database) exec(query string, args ...any) error {
	st, err := d.prepared(query)
	if err == nil {
		_, err = st.Exec(args...)
	}
	return err
}

// insert runs an INSERT on the writer, inside do, and gives the number of the new row.
func (d *database) insert(query string, args ...any) (int64, error) {
	st, err := d.prepared(query)
	if err != nil {
		return 0, err
	}
	r, err := st.Exec(args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// get reads one row on the writer, inside do. It tells whether there was one.
func (d *database) get(query string, args []any, dest ...any) (bool, error) {
	st, err := d.prepared(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRow(args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// any tells whether a query gives a row, on the connection that writes: one that only reads costs a millisecond to open.
func (d *database) any(query string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false, d.explain(sql.ErrConnDone)
	}
	var one int
	found, err := d.get(query, nil, &one)
	return found, d.explain(err)
}

func (d *database) close() error {
	var errs []error
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.read != nil {
		errs = append(errs, d.read.Close())
	}
	for _, st := range d.stmts {
		errs = append(errs, st.Close())
	}
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	errs = append(errs, d.pool.Close()) // last, so that the writer folds the write-ahead log into the file
	return errors.Join(errs...)
}

// fileError is a failure of SQLite with what it means for a person.
type fileError struct {
	text string
	next string // what to do; "": nothing but what the text says
	err  error
}

// Error implements error.
func (e *fileError) Error() string {
	if e.next != "" {
		return e.text + "; " + e.next + ": " + e.err.Error()
	}
	return e.what()
}

// what is the failure without what to do about it.
func (e *fileError) what() string { return e.text + ": " + e.err.Error() }

// Unwrap gives the failure.
func (e *fileError) Unwrap() error { return e.err }

// cause is what was said before it was explained.
func cause(err error) error {
	if e, ok := errors.AsType[*fileError](err); ok {
		return e.err
	}
	return err
}

// explain says in one line what a failure of SQLite means for a person, once. Other errors pass.
func (d *database) explain(err error) error {
	if _, told := errors.AsType[*fileError](err); err == nil || told {
		return err
	}
	if errors.Is(err, sql.ErrConnDone) || err.Error() == "sql: database is closed" {
		return fmt.Errorf("%s is closed", d.path)
	}
	text, next := d.path, ""
	switch code(err) {
	case 0:
		return err
	case sqlite3.SQLITE_FULL:
		text = fmt.Sprintf("the disk that holds %s is full; free some space and try again", d.path)
	case sqlite3.SQLITE_BUSY:
		text = fmt.Sprintf("another process has kept %s locked for %v; try again", d.path, busyTimeout)
	case sqlite3.SQLITE_NOTADB:
		text += " is no database"
		next = d.instead("restore a backup over it (overt db status lists them), or move it away")
	case sqlite3.SQLITE_CORRUPT:
		text += " is damaged"
		next = d.instead("see what is left (overt db check), and restore a backup over it (overt db status lists them)")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		text += " can't be written; check the rights of the folder"
	}
	return &fileError{text, next, err}
}

// instead is what to do about a file that can't be used. No backup has a files.db: to restore one would take facts back for nothing.
func (d *database) instead(facts string) string {
	switch filepath.Base(d.path) {
	case filesFile:
		return "move it away (" + filesLostText + ")"
	case capturesFile:
		return "restore a backup over it (overt db status lists them), or move it away (exchanges of before are then missing)"
	}
	return facts
}

// filesLostText is what it means to be without the files.db of before.
const filesLostText = "changes to files that were made before can't be undone then"

// code is the primary result code of SQLite in err, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
