package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	sqlite3 "modernc.org/sqlite/lib"

	"overt/internal/event"
)

const (
	filesFile     = "files.db"
	objectsFolder = "objects"
)

// fileMigrations is the history of files.db.
func fileMigrations() []migration {
	return []migration{{"0001-files", `
CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL);
CREATE TABLE object (           -- contents of files, targets of links
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB); -- NULL: objects/HASH
CREATE TABLE entry (            -- the last known state of each path
  path BLOB PRIMARY KEY, kind INTEGER NOT NULL, mode INTEGER NOT NULL, bytes INTEGER NOT NULL, mtime INTEGER NOT NULL,
  ctime INTEGER NOT NULL, inode INTEGER NOT NULL, hash BLOB, skipped TEXT NOT NULL, racy INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE scan (             -- one row: how often entries were changed, and whether they were of all paths once
  id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, complete INTEGER NOT NULL);
INSERT INTO scan VALUES (1, 0, 0);
CREATE TABLE checkpoint (
  id TEXT PRIMARY KEY, task TEXT NOT NULL, run TEXT NOT NULL, covers TEXT NOT NULL, time INTEGER NOT NULL, closed INTEGER,
  confined INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX checkpoint_time ON checkpoint (time);
CREATE TABLE delta (            -- what changed while a checkpoint was open; kind 0: nothing is there
  checkpoint TEXT NOT NULL, path BLOB NOT NULL, before_kind INTEGER NOT NULL, before_mode INTEGER NOT NULL, before BLOB,
  after_kind INTEGER NOT NULL, after_mode INTEGER NOT NULL, after BLOB, PRIMARY KEY (checkpoint, path)) WITHOUT ROWID;
`}}
}

// Files keeps states of the workspace's files, so that changes can be taken back. A Store has one.
type Files struct {
	db      *database
	dir     string // objects
	pack    *packer
	begun   event.Seq // see [database.begun]
	writers sync.Pool // of *flate.Writer
}

// FileEntry is the last known state of a path.
type FileEntry struct {
	Path         string // relative to the workspace, slashes; any bytes
	Kind         uint8
	Mode         uint32
	Bytes        int64
	MTime, CTime int64 // nanoseconds
	Inode        uint64
	Hash         []byte // SHA-256 of the content; nil: it has none, or it is not kept
	Skipped      string // why it is not kept
	Racy         bool   // it may change once more without a sign of it
}

// FileDelta is what a path was before a checkpoint was closed and what it was then.
type FileDelta struct {
	Path                  string
	BeforeKind, AfterKind uint8 // 0: nothing was there
	BeforeMode, AfterMode uint32
	Before, After         []byte // hashes; nil: no content, or not kept
}

// FileCheckpoint is one state of files. Covers is the caller's own text on what it covers.
type FileCheckpoint struct {
	ID, Task, Run, Covers string
	Time                  int64 // Unix milliseconds
	Closed                bool
	Confined              bool // it is of a confined command, after which something may have to be put back
}

// FileBatch is one change of what is kept. What it names must be kept already, or be among its objects.
type FileBatch struct {
	Entries  []FileEntry
	Gone     []string // paths whose entries go
	Complete bool     // the entries are of all paths from now on
	Open     *FileCheckpoint
	Close    string // the checkpoint that Deltas are of
	Deltas   []FileDelta
	Now      int64 // Unix milliseconds
}

// Files opens files.db, making it if need be.
func (s *Store) Files(ctx context.Context) (*Files, error) { return s.openFiles(ctx, false) }

// ExistingFiles opens files.db; nil: it is not there, or empty.
func (s *Store) ExistingFiles(ctx context.Context) (*Files, error) { return s.openFiles(ctx, true) }

// openFiles opens it once. With existing, one that is not there is none and no error.
func (s *Store) openFiles(ctx context.Context, existing bool) (*Files, error) {
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	if s.files != nil {
		return s.files, nil
	}
	path := filepath.Join(s.dir, filesFile)
	info, err := plain(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if existing && (err != nil || info.Size() == 0) {
		return nil, nil
	}
	db, err := openDatabase(ctx, path, opening{steps: fileMigrations(), now: s.now()})
	if err != nil {
		return nil, err
	}
	files := &Files{db: db, dir: filepath.Join(s.dir, objectsFolder), pack: s.pack}
	if files.begun, err = s.begin(ctx, db); err != nil {
		return nil, errors.Join(db.explain(err), db.close())
	}
	s.files = files
	return files, nil
}

// Apply makes a change, and gives the generation that entries have then. With full it is on the disk when it returns, with
// all that was kept before.
func (f *Files) Apply(ctx context.Context, b FileBatch, full bool) (generation int64, err error) {
	err = f.db.do(ctx, full, func() error {
		for _, e := range b.Entries {
			if err := f.db.exec(`INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				[]byte(e.Path), e.Kind, e.Mode, e.Bytes, e.MTime, e.CTime, int64(e.Inode), e.Hash, e.Skipped, e.Racy); err != nil {
				return err
			}
		}
		for _, p := range b.Gone {
			if err := f.db.exec(`DELETE FROM entry WHERE path = ?`, []byte(p)); err != nil {
				return err
			}
		}
		if c := b.Open; c != nil {
			if err := f.db.exec(`INSERT INTO checkpoint (id, task, run, covers, time, confined) VALUES (?, ?, ?, ?, ?, ?)`, c.ID, c.Task, c.Run, c.Covers, c.Time, c.Confined); err != nil {
				return err
			}
		}
		if b.Close != "" {
			if err := f.close(b); err != nil {
				return err
			}
		}
		if err := f.db.exec(`UPDATE scan SET generation = generation + 1, complete = complete OR ?`, b.Complete); err != nil {
			return err
		}
		_, err := f.db.get(`SELECT generation FROM scan`, nil, &generation)
		return err
	})
	return generation, err
}

// close closes a checkpoint, inside a transaction.
func (f *Files) close(b FileBatch) error {
	for _, d := range b.Deltas {
		if err := f.db.exec(`INSERT OR REPLACE INTO delta VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			b.Close, []byte(d.Path), d.BeforeKind, d.BeforeMode, d.Before, d.AfterKind, d.AfterMode, d.After); err != nil {
			return err
		}
	}
	return f.db.exec(`UPDATE checkpoint SET closed = ? WHERE id = ?`, b.Now, b.Close)
}

// Scanned gives the generation of the entries, and whether they were ever of all paths.
func (f *Files) Scanned(ctx context.Context) (generation int64, complete bool, err error) {
	err = f.db.read.QueryRowContext(ctx, `SELECT generation, complete FROM scan`).Scan(&generation, &complete)
	return generation, complete, f.db.explain(err)
}

// Entries gives the last known state of every path.
func (f *Files) Entries(ctx context.Context, give func(FileEntry)) error {
	rows, err := f.db.read.QueryContext(ctx, `SELECT path, kind, mode, bytes, mtime, ctime, inode, hash, skipped, racy FROM entry`)
	if err != nil {
		return f.db.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e FileEntry
		var path []byte
		var inode int64
		if err := rows.Scan(&path, &e.Kind, &e.Mode, &e.Bytes, &e.MTime, &e.CTime, &inode, &e.Hash, &e.Skipped, &e.Racy); err != nil {
			return err
		}
		e.Path, e.Inode = string(path), uint64(inode)
		give(e)
	}
	return f.db.explain(rows.Err())
}

// Unsettled lists the checkpoints that were not closed, and the last ones, of which no fact may say that they were; the oldest
// first.
func (f *Files) Unsettled(ctx context.Context) (out []FileCheckpoint, err error) {
	rows, err := f.db.read.QueryContext(ctx, `SELECT id, task, run, covers, time, closed IS NOT NULL, confined FROM checkpoint
		WHERE closed IS NULL OR time = (SELECT max(time) FROM checkpoint) ORDER BY time, id`)
	if err != nil {
		return nil, f.db.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c FileCheckpoint
		if err := rows.Scan(&c.ID, &c.Task, &c.Run, &c.Covers, &c.Time, &c.Closed, &c.Confined); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, f.db.explain(rows.Err())
}

// Drop forgets a checkpoint that nothing happened under.
func (f *Files) Drop(ctx context.Context, id string) error {
	return f.db.do(ctx, false, func() error { return f.drop(id) })
}

func (f *Files) drop(id string) error {
	if err := f.db.exec(`DELETE FROM delta WHERE checkpoint = ?`, id); err != nil {
		return err
	}
	return f.db.exec(`DELETE FROM checkpoint WHERE id = ?`, id)
}

// Deltas gives what changed under a checkpoint, in order of paths. known: it is there, and was not pruned.
func (f *Files) Deltas(ctx context.Context, id string) (out []FileDelta, known bool, err error) {
	err = f.db.read.QueryRowContext(ctx, `SELECT closed IS NOT NULL FROM checkpoint WHERE id = ?`, id).Scan(&known)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !known {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, f.db.explain(err)
	}
	rows, err := f.db.read.QueryContext(ctx, `SELECT path, before_kind, before_mode, before, after_kind, after_mode, after FROM delta WHERE checkpoint = ? ORDER BY path`, id)
	if err != nil {
		return nil, false, f.db.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var d FileDelta
		var path []byte
		if err := rows.Scan(&path, &d.BeforeKind, &d.BeforeMode, &d.Before, &d.AfterKind, &d.AfterMode, &d.After); err != nil {
			return nil, false, err
		}
		d.Path = string(path)
		out = append(out, d)
	}
	return out, true, f.db.explain(rows.Err())
}

// Kept tells which checkpoints there are still.
func (f *Files) Kept(ctx context.Context) (map[string]bool, error) {
	list, err := f.db.readTexts(ctx, `SELECT id FROM checkpoint WHERE closed IS NOT NULL`)
	out := make(map[string]bool, len(list))
	for _, id := range list {
		out[id] = true
	}
	return out, err
}

func (d *database) readTexts(ctx context.Context, query string) (out []string, err error) {
	rows, err := d.read.QueryContext(ctx, query)
	if err != nil {
		return nil, d.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, d.explain(rows.Err())
}

// markFile stands in the record's folder while a checkpoint may be open, or be closed without a fact that says so.
const markFile = "files.open"

// Mark notes, on the disk, that a checkpoint may be open from now on.
func (f *Files) Mark() error {
	m, err := os.OpenFile(f.mark(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(m.Close(), syncFolder(filepath.Dir(f.mark())))
}

// Unmark takes the note back.
func (f *Files) Unmark() error {
	if err := os.Remove(f.mark()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *Files) mark() string { return filepath.Join(filepath.Dir(f.db.path), markFile) }

// FilesMarked tells whether a checkpoint may be open. It opens nothing.
func (s *Store) FilesMarked() bool {
	_, err := os.Lstat(filepath.Join(s.dir, markFile))
	return err == nil
}

// Full tells whether something failed for want of space.
func Full(err error) bool { return code(err) == sqlite3.SQLITE_FULL || noSpace(err) }
