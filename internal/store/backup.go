package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	backupsFolder = "backups"
	manifestFile  = "manifest.json"
	manifestForm  = 1
	partialPrefix = ".overt-partial-"
)

// Manifest is what a backup says of itself, in its manifest.json. Fields are added, never renamed.
type Manifest struct {
	Form      int            `json:"form"`      // 1
	Made      time.Time      `json:"made"`      // in UTC
	Version   string         `json:"version"`   // of the program; "": not known
	Record    string         `json:"record"`    // the name of the record's folder, which stands for the workspace
	Root      string         `json:"root"`      // the workspace; "": not known
	Why       string         `json:"why"`       // asked, rebuild, prune, or the migration that followed
	Automatic bool           `json:"automatic"` // nobody asked for it; the last three are kept
	Facts     int64          `json:"facts"`     // in overt.db
	Captures  *int64         `json:"captures"`  // exchanges and outputs in captures.db; null: left out
	Files     []ManifestFile `json:"files"`
}

// ManifestFile is a file of a backup: a SQLite database that stands alone.
type ManifestFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Form   string `json:"form"` // the newest migration in it
}

// BackupOptions are how a backup is made.
type BackupOptions struct {
	To         string // the folder to make; "": one in the record's folder, named after the time
	NoCaptures bool   // leave out what crossed the wire
	Version    string
	Root       string
	Why        string // default: asked
	Automatic  bool
	Now        time.Time // zero: now
}

// BackupError says that a record can't be backed up because it is damaged, or its files do not belong together, or only a newer program
// knows its form.
type BackupError struct{ Problem Problem }

// Error implements error.
func (e *BackupError) Error() string {
	switch e.Problem.Code {
	case ProblemStranger:
		return e.Problem.File + strings.TrimPrefix(e.Problem.Detail, "it")
	case ProblemNewer:
		return (&NewerError{e.Problem.File, e.Problem.Row}).Error()
	}
	return fmt.Sprintf("the copy of %s is damaged (%s), so it was not kept", e.Problem.File, e.Problem.what())
}

// Backup copies a record while others may write to it: overt.db as it is at one moment, then captures.db. The copy is
// checked, then gets its name; a name that is taken is an error, and so is a restore that has not come to its end. Files of a backup are never changed afterwards.
func Backup(ctx context.Context, dir string, o BackupOptions) (Saved, error) {
	out, err := backup(ctx, dir, o, checkContent)
	if err != nil {
		return Saved{}, fmt.Errorf("back up the record; nothing was kept: %w", err)
	}
	return out, nil
}

func backup(ctx context.Context, dir string, o BackupOptions, depth int) (out Saved, err error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	o.Why = cmp.Or(o.Why, "asked")
	dir, err = filepath.Abs(dir)
	if err != nil {
		return out, err
	}
	if err := unrestored(dir); err != nil { // its files may be of two moments
		return out, err
	}
	facts, captures, err := survey(dir)
	if err != nil {
		return out, err
	}
	if !facts.there {
		return out, &AbsentError{facts.path}
	}
	to, parent, err := o.place(dir)
	if err != nil {
		return out, err
	}
	if o.To == "" { // another folder is the person's: what stands there is not for us to judge
		sweep(parent, partialPrefix, true)
	}
	c, err := claim(parent, partialPrefix)
	if err != nil {
		return out, err
	}
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, c.drop())
		}
	}()
	if err := copyDatabase(ctx, facts.path, filepath.Join(c.dir, factsFile)); err != nil {
		return out, err
	}
	if _, err := os.Stat(captures.path); err == nil && !o.NoCaptures {
		if err := copyDatabase(ctx, captures.path, filepath.Join(c.dir, capturesFile)); err != nil {
			return out, err
		}
	}
	if err := unrestored(dir); err != nil {
		return out, err
	}
	m := Manifest{Form: manifestForm, Made: o.Now.UTC().Truncate(time.Second), Version: o.Version, Record: filepath.Base(dir), Root: o.Root, Why: o.Why, Automatic: o.Automatic}
	if err := m.fill(ctx, c.dir, depth); err != nil {
		return out, err
	}
	if err := writeManifest(c.dir, m); err != nil {
		return out, err
	}
	if o.To == "" { // others may make one in the same second
		for n := 2; ; n++ {
			if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
				break
			}
			to = fmt.Sprintf("%s-%d", strings.TrimSuffix(to, fmt.Sprintf("-%d", n-1)), n)
		}
	}
	if err := c.become(to); err != nil {
		return out, err
	}
	kept = true
	return loadBackup(to), nil
}

// ExistsError says that something stands where a backup is to be. It is fs.ErrExist.
type ExistsError struct{ Path string }

// Error implements error.
func (e *ExistsError) Error() string {
	return e.Path + " is there already, and nothing is overwritten; name a folder that does not exist yet"
}

// Unwrap gives the kind of the error.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// place is where the backup is to be, and the folder that it will be in, which is made where it is ours.
func (o *BackupOptions) place(dir string) (to, parent string, err error) {
	if o.To == "" {
		parent = filepath.Join(dir, backupsFolder)
		name := o.Now.UTC().Format(stamp)
		if o.Automatic {
			name += "-before-" + o.Why
		}
		return filepath.Join(parent, name), parent, os.MkdirAll(parent, 0o700)
	}
	if to, err = filepath.Abs(o.To); err != nil {
		return "", "", err
	}
	if _, err := os.Lstat(to); err == nil {
		return "", "", &ExistsError{to}
	}
	return to, filepath.Dir(to), nil
}

// copyDatabase makes a copy of a database that stands alone.
func copyDatabase(ctx context.Context, from, to string) error {
	err := look(ctx, from, func(d *database) error {
		f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600) // truncated for a second look
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		_, err = d.conn.ExecContext(ctx, `VACUUM main INTO ?`, to)
		return err
	})
	if err != nil {
		return err
	}
	return syncFile(to)
}

// fill checks the files of a backup that is being made, and describes them.
func (m *Manifest) fill(ctx context.Context, dir string, depth int) error {
	report, err := check(ctx, dir, m.Record, depth)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !report.Files[0].Present:
		return &AbsentError{filepath.Join(dir, factsFile)}
	case err != nil:
		return err
	case !report.OK():
		return &BackupError{report.Problems[0]}
	}
	for _, f := range report.Files {
		path := filepath.Join(dir, f.Name)
		if !f.Present { // nothing was ever kept in it
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		}
		sum, size, err := sumFile(path)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, ManifestFile{f.Name, size, sum, f.Form})
		rows, err := countRows(ctx, path, f.Name)
		if err != nil {
			return err
		}
		if f.Name == factsFile {
			m.Facts = rows
		} else {
			m.Captures = &rows
		}
	}
	return nil
}

// countRows counts the facts, or the exchanges and outputs, of a file.
func countRows(ctx context.Context, path, name string) (n int64, err error) {
	err = look(ctx, path, func(d *database) (err error) {
		s := FileStatus{}
		err = s.count(ctx, d, name)
		n = s.rows()
		return err
	})
	return n, err
}

// sumFile gives the SHA-256 and the size of a file.
func sumFile(path string) (string, int64, error) {
	f, err := openPlain(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

func writeManifest(dir string, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manifestFile)
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return errors.Join(syncFile(path), syncFolder(dir))
}

// beforeMigration keeps a backup of a record that has facts, unless another process did and has brought the file to its
// form meanwhile. Until done is called, no other process does the same.
func beforeMigration(ctx context.Context, d *database, steps []migration, version string, now time.Time) (done func(), err error) {
	dir := filepath.Dir(d.path)
	if err := os.MkdirAll(filepath.Join(dir, backupsFolder), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, backupsFolder, ".lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	done = func() { lock.Close() }
	todo, err := d.todo(ctx, steps)
	if err != nil || len(todo) == 0 {
		return done, err
	}
	if n, err := d.one(ctx, `SELECT count(*) FROM fact`); err != nil || n == 0 {
		return done, err
	}
	if _, err := backup(ctx, dir, BackupOptions{NoCaptures: true, Version: version, Why: todo[0].name, Automatic: true, Now: now}, checkSQLite); err != nil {
		return done, fmt.Errorf("%s is to be brought to a new form, and can't be backed up before; nothing was changed: %w", d.path, err)
	}
	return done, pruneAutomatic(dir)
}
