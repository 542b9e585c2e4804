package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"overt/internal/event"
)

// FileStatus is what can be said of a file without reading all of it. Null: not of this file, or not known.
type FileStatus struct {
	Name        string     `json:"file"`
	Path        string     `json:"path"`
	Present     bool       `json:"present"`
	Bytes       int64      `json:"bytes"`
	LogBytes    int64      `json:"log_bytes"`  // of the write-ahead log beside it
	FreeBytes   *int64     `json:"free_bytes"` // of pages in it that are free
	Form        string     `json:"form"`       // the newest migration in it
	Facts       *int64     `json:"facts"`
	Tasks       *int64     `json:"tasks"`
	Calls       *int64     `json:"calls"`
	Exchanges   *int64     `json:"exchanges"`
	Outputs     *int64     `json:"outputs"`
	Checkpoints *int64     `json:"checkpoints"` // of files.db, which is not listed where it is not there
	Contents    *int64     `json:"contents"`    // of files, that it keeps
	Missing     *int64     `json:"missing"`     // exchanges that the facts name and captures.db does not have: their bytes are gone
	Lost        *int64     `json:"lost"`        // of them, or of files.db the changes that can't be undone: those that were not pruned but went with the file, which is gone or empty, or was begun anew
	Oldest      *time.Time `json:"oldest"`      // fact, exchange or output
	Newest      *time.Time `json:"newest"`
	Damaged     bool       `json:"damaged"` // the problem is that SQLite finds it damaged, or no database
	Problem     string     `json:"problem"` // why it can't be read, or is not read with the other, or that it is lost; "": nothing is wrong

	id      int64                // of the record; 0: not known
	begun   event.Seq            // see [database.begun]
	root    string               // see [database.root]
	changes map[string]event.Seq // that it names; see [database.changes]
	calls   map[string]event.Seq // that it names, or has, the exchanges of; nil: not known
}

// Status is the state of a record.
type Status struct {
	Dir       string
	Files     []FileStatus
	Backups   []Saved    // the newest first
	Holder    *HeldError // who is at work; nil: nobody
	Root      string     // the workspace that last worked in it; "": not known
	Restoring string     // the backup whose restoring was interrupted
	Unread    error      // why it is not known how far a restore came, an *[UnreadJournalError]; nil: it is, or there was none
	Incoming  string     // the folder that a restore left which can't go on; "": none
}

// Inspect says how a record stands. It makes nothing, and a file that can't be read is said so. The error is
// fs.ErrNotExist where no folder is.
func Inspect(ctx context.Context, dir string) (*Status, error) {
	out := &Status{Dir: dir}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	for _, file := range recordFiles() {
		f := FileStatus{Name: file.name, Path: filepath.Join(dir, file.name)}
		if err := f.look(ctx, file); err != nil {
			return nil, err
		}
		out.Files = append(out.Files, f)
	}
	facts, captures := &out.Files[0], &out.Files[1]
	out.Root = facts.root
	record := facts.id
	switch {
	case !strangers(facts.id, captures.id):
	case elsewhere(filepath.Base(dir), facts.root):
		facts.Problem, captures.calls, facts.changes, record = "it "+strangeFacts(facts.root), nil, nil, 0
	case captures.Problem == "":
		captures.Problem, captures.calls = "it "+strangersText, nil
	}
	if facts.Form == "" && facts.Problem == "" {
		if lost, ok := errors.AsType[*LostError](Gone(ctx, dir)); ok {
			facts.Problem = lost.Error()
		}
	}
	if facts.calls != nil && (captures.calls != nil || captures.Form == "" && captures.Problem == "") {
		missing, lost := gone(facts.calls, func(call string) bool { _, ok := captures.calls[call]; return ok }, captures.Form != "", captures.begun)
		captures.Missing, captures.Lost = &missing, &lost
	}
	var err error
	if out.Backups, err = Backups(dir); err != nil {
		return nil, err
	}
	j, unread := readJournal(dir)
	if out.Unread = unread; j != nil {
		out.Restoring = j.From
	}
	files, err := inspectFiles(ctx, dir, facts.changes, record)
	if err != nil {
		return nil, err
	}
	if files != nil {
		out.Files = append(out.Files, *files)
	}
	out.Holder, err = leaseHolder(dir)
	if out.Holder == nil || out.Holder.What != "restore" {
		out.Incoming = leftover(dir)
	}
	return out, err
}

// look says how a file stands. The error is of the system.
func (f *FileStatus) look(ctx context.Context, file recordFile) error {
	info, err := plain(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNotPlain):
		f.Present, f.Problem = true, err.Error()
		return nil
	case err != nil:
		return err
	}
	f.Present, f.Bytes = true, info.Size()
	if log, err := os.Stat(f.Path + "-wal"); err == nil {
		f.LogBytes = log.Size()
	}
	if err := f.read(ctx, file); err != nil {
		f.Problem, f.Damaged = problem(err)
	}
	return nil
}

// problem is a failure in words, without what to do where the file is damaged: that depends on what else there is.
func problem(err error) (text string, damaged bool) {
	if e, ok := errors.AsType[*fileError](err); ok && e.next != "" {
		return e.what(), true
	}
	return err.Error(), false
}

func (f *FileStatus) read(ctx context.Context, file recordFile) error {
	return look(ctx, f.Path, func(d *database) error {
		form, err := d.formOf(ctx, file.steps)
		if err == nil {
			err = form.refused(d.path)
		}
		if err != nil || form.empty {
			return err
		}
		f.Form = form.last
		if f.id, err = d.identity(ctx); err != nil {
			return err
		}
		if f.begun, err = d.begun(ctx); err != nil {
			return err
		}
		if err := d.rehearse(ctx, form.missing); err != nil {
			return err
		}
		if err := d.still(ctx); err != nil {
			return err
		}
		free, err := d.one(ctx, `SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`)
		if err != nil {
			return err
		}
		f.FreeBytes = &free
		if err := f.count(ctx, d, file.name); err != nil {
			return err
		}
		if file.name == factsFile {
			if f.root, err = d.root(ctx); err != nil && !damaged(err) {
				return err
			}
			if f.changes, err = d.changes(ctx); err != nil && !damaged(err) {
				return err
			}
		}
		f.calls, err = d.calls(ctx, file.name)
		if damaged(err) {
			return nil // that is for a check to tell
		}
		return err
	})
}

// count counts the rows of a file.
func (f *FileStatus) count(ctx context.Context, d *database, name string) error {
	times := `SELECT min(time), max(time) FROM main.fact`
	counts := map[string]**int64{"fact": &f.Facts, "task": &f.Tasks, "call": &f.Calls}
	if name == capturesFile {
		counts = map[string]**int64{"capture": &f.Exchanges, "output": &f.Outputs}
		times = `SELECT min(sent), max(sent) FROM main.capture`
	}
	for table, to := range counts {
		var n int64
		if there, err := d.one(ctx, `SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = '`+table+`'`); err != nil {
			return err
		} else if there > 0 { // an older form may not have it
			var err error
			if n, err = d.one(ctx, `SELECT count(*) FROM main.`+table); err != nil {
				return err
			}
		}
		*to = &n
	}
	var oldest, newest sql.NullInt64
	if err := d.conn.QueryRowContext(ctx, times).Scan(&oldest, &newest); err != nil {
		return err
	}
	if oldest.Valid {
		a, b := time.UnixMilli(oldest.Int64).UTC(), time.UnixMilli(newest.Int64).UTC()
		f.Oldest, f.Newest = &a, &b
	}
	return nil
}

// rows is how many facts, or exchanges and outputs, were counted.
func (f *FileStatus) rows() (n int64) {
	for _, x := range []*int64{f.Facts, f.Exchanges, f.Outputs} {
		if x != nil {
			n += *x
		}
	}
	return n
}
