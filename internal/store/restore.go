package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	stamp         = "20060102T150405Z" // names begin with the time in this form
	asideFolder   = "aside"
	journalFile   = "restoring.json"
	incomingSpace = ".incoming"
)

// RestoringError says that a restore is under way or was interrupted.
type RestoringError struct {
	From  string
	Alive bool // somebody is at it
}

// Error implements error.
func (e *RestoringError) Error() string {
	if e.Alive {
		return fmt.Sprintf("the record is being restored from %s; try again in a moment", e.From)
	}
	return fmt.Sprintf("restoring the record from %s was interrupted; finish it with: overt db restore", e.From)
}

// ForeignBackupError says that a backup is of another workspace, or that it can't be told which one it is of.
type ForeignBackupError struct{ Path, Root, Record string }

// Error implements error.
func (e *ForeignBackupError) Error() string {
	if e.Record == "" {
		return fmt.Sprintf("%s has no manifest that says which workspace it is of; --force restores it all the same", e.Path)
	}
	return fmt.Sprintf("%s is a backup of another workspace (%s); --force restores it all the same", e.Path, e.Root)
}

// BareBackupError says that a backup had a captures.db which is gone.
type BareBackupError struct{ Path string }

// Error implements error.
func (e *BareBackupError) Error() string {
	return fmt.Sprintf("captures.db of %s is gone, though it was made with one; --force restores the rest", e.Path)
}

// Restored is what a restore did.
type Restored struct {
	From     string `json:"from"`
	Aside    string `json:"aside"` // where the files of before are; "": there were none
	Facts    int64  `json:"facts"`
	Captures bool   `json:"captures"` // captures.db was restored too
	Kept     bool   `json:"kept"`     // the backup brings none, and the present captures.db, of the same record, stays
	Bare     bool   `json:"bare"`     // the backup was made with a captures.db, which is gone
	Finished bool   `json:"finished"` // an earlier restore was ended
}

// Restore puts a backup in the place of a record, under the lease. The backup is copied and the copy checked first; then
// the present files are moved to a folder below aside/, which [PruneAside] alone removes, and the copy is moved in. A process that dies
// before that leaves the record as it was; one that dies within it leaves it to the next restore to move what is left, and
// [Open] says so. States of files are in no backup: those of another record than the backup's are moved there too. force takes a backup of another workspace or one that has lost its captures.db, and replaces a record of a newer program. With an empty backup an interrupted restore is finished.
func Restore(ctx context.Context, dir, backup string, force bool) (*Restored, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if backup != "" {
		if backup, err = findBackup(dir, backup); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRestoring
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := takeLease(ctx, dir, holder{os.Getpid(), "restore", time.Now().UTC(), ""})
	if err != nil {
		return nil, err
	}
	out, err := restore(ctx, dir, backup, force)
	return out, errors.Join(err, releaseLease(lock))
}

// ErrNotRestoring says that no restore was interrupted.
var ErrNotRestoring = errors.New("no restore was interrupted; name the backup to restore")

func restore(ctx context.Context, dir, backup string, force bool) (*Restored, error) {
	j, err := readJournal(dir)
	switch {
	case err != nil:
		return nil, err
	case j != nil && backup != "":
		return nil, &RestoringError{From: j.From}
	case j == nil && backup == "":
		return nil, ErrNotRestoring
	case j == nil:
		if j, err = bringIn(ctx, dir, backup, force); err != nil {
			return nil, err
		}
	}
	if err := alone(ctx, dir); err != nil {
		if backup != "" { // nothing was moved yet
			err = errors.Join(err, os.Remove(filepath.Join(dir, journalFile)), os.RemoveAll(filepath.Join(dir, incomingSpace)))
		}
		return nil, err
	}
	if err := j.whole(dir); err != nil {
		if undo := j.undo(dir); undo != nil {
			if gone, is := errors.AsType[*BeforeGoneError](undo); is {
				return nil, fmt.Errorf("the copy that was to come in is damaged (%w), and the record can't be made what it was before: %w", err, gone)
			}
			return nil, fmt.Errorf("the copy that was to come in is damaged (%w), and the record could not be made what it was before; try again with overt db restore: %w", err, undo)
		}
		next := "restore it again with: overt db restore " + j.From
		if _, gone := os.Lstat(filepath.Join(j.From, factsFile)); gone != nil {
			next = j.From + " is not there any more; overt db status lists the backups that are"
		}
		return nil, fmt.Errorf("the copy that was to come in was damaged (%w), so the record was made what it was before; %s", err, next)
	}
	if err := j.finish(dir); err != nil {
		return nil, fmt.Errorf("restore the record; it is not complete, finish it with overt db restore: %w", err)
	}
	out := &Restored{From: j.From, Captures: slices.Contains(j.In, capturesFile), Bare: j.Bare, Finished: backup == ""}
	if _, err := os.Stat(j.Aside); err == nil {
		out.Aside = j.Aside
	}
	if !slices.Contains(j.Out, capturesFile) {
		_, err := os.Stat(filepath.Join(dir, capturesFile))
		out.Kept = err == nil
	}
	out.Facts, err = countRows(ctx, filepath.Join(dir, factsFile), factsFile)
	return out, err
}

// bringIn copies a backup beside the record, checks the copy, and writes down what is to be moved.
func bringIn(ctx context.Context, dir, path string, force bool) (*journal, error) {
	b := loadBackup(path)
	switch {
	case b.Form > manifestForm:
		return nil, fmt.Errorf("%s: %s; use that one or a newer one", path, b.Problem)
	case b.Record != filepath.Base(dir) && !force:
		return nil, &ForeignBackupError{path, b.Root, b.Record}
	}
	bare := b.bare()
	if bare && !force {
		return nil, &BareBackupError{path}
	}
	if !force {
		if err := noNewer(ctx, dir); err != nil {
			return nil, fmt.Errorf("%w, or set it aside with --force", err)
		}
	}
	in := filepath.Join(dir, incomingSpace)
	if err := os.RemoveAll(in); err != nil { // of a restore that died before it moved anything
		return nil, err
	}
	if err := os.Mkdir(in, 0o700); err != nil {
		return nil, err
	}
	j := &journal{From: path, Bare: bare, Aside: freeName(filepath.Join(dir, asideFolder, time.Now().UTC().Format(stamp)))}
	err := j.copy(ctx, dir, in, b)
	if err == nil {
		err = j.write(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("restore %s; nothing was changed: %w", path, errors.Join(err, os.RemoveAll(in)))
	}
	return j, nil
}

// noNewer makes sure that a record is not of a newer program, which could still read it. What can't be read is not.
func noNewer(ctx context.Context, dir string) error {
	for _, file := range recordFiles() {
		var newer *NewerError
		path := filepath.Join(dir, file.name)
		if _, err := plain(path); err != nil {
			continue
		}
		look(ctx, path, func(d *database) error {
			form, err := d.formOf(ctx, file.steps)
			errors.As(form.refused(path), &newer)
			return err
		})
		if newer != nil {
			return newer
		}
	}
	return nil
}

// findBackup finds a backup by its path, or by the name of its folder among the record's.
func findBackup(dir, backup string) (string, error) {
	path, err := filepath.Abs(backup)
	if err != nil {
		return "", err
	}
	for _, p := range []string{path, filepath.Join(dir, backupsFolder, backup)} {
		if _, err := os.Stat(filepath.Join(p, factsFile)); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s is no backup: a backup is a folder with %s in it; overt db status lists them", backup, factsFile)
}

// copy copies the files of a backup, checks them, and says which are to be moved.
func (j *journal) copy(ctx context.Context, dir, in string, b Saved) error {
	for _, file := range recordFiles() {
		from := filepath.Join(b.Path, file.name)
		_, err := plainHere(from)
		if errors.Is(err, fs.ErrNotExist) && file.name == capturesFile {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := os.Lstat(from + "-wal"); err == nil { // no backup of ours: a folder of files that were in use
			if err := copyDatabase(ctx, from, filepath.Join(in, file.name)); err != nil {
				return err
			}
		} else if err := copyFile(from, filepath.Join(in, file.name)); err != nil {
			return err
		}
		for _, f := range b.Files {
			if f.Name != file.name {
				continue
			}
			if err := f.same(filepath.Join(in, file.name)); err != nil {
				return fmt.Errorf("%s of the backup is not as it was made: %w", file.name, err)
			}
		}
		j.In = append(j.In, file.name)
	}
	report, err := check(ctx, in, cmp.Or(b.Record, filepath.Base(dir)), checkContent)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s of the backup is damaged: it is empty", factsFile)
	}
	if err != nil {
		return err
	}
	if !report.OK() {
		p := report.Problems[0]
		switch p.Code {
		case ProblemStranger:
			return errors.New("its files belong to the records of different workspaces; take those of one record")
		case ProblemNewer:
			return &NewerError{p.File + " of the backup", p.Row}
		}
		return fmt.Errorf("%s of the backup is damaged: %s", p.File, p.what())
	}
	j.In = slices.DeleteFunc(j.In, func(name string) bool { // what has nothing in it is not put in the place of what has
		return slices.ContainsFunc(report.Files, func(f CheckedFile) bool { return f.Name == name && !f.Present })
	})
	for _, name := range j.In {
		sum, size, err := sumFile(filepath.Join(in, name))
		if err != nil {
			return err
		}
		j.Files = append(j.Files, ManifestFile{Name: name, Bytes: size, SHA256: sum})
	}
	for _, file := range recordFiles() {
		if _, err := os.Lstat(filepath.Join(dir, file.name)); err == nil {
			j.Before = append(j.Before, file.name)
		}
	}
	j.Out = slices.Clone(j.In)
	if !slices.Contains(j.In, capturesFile) && !sameRecord(ctx, filepath.Join(in, factsFile), filepath.Join(dir, capturesFile), b.Record == filepath.Base(dir)) {
		j.Out = append(j.Out, capturesFile)
	}
	if !sameRecord(ctx, filepath.Join(in, factsFile), filepath.Join(dir, filesFile), b.Record == filepath.Base(dir)) {
		for _, name := range statesOfFiles() {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				j.Out, j.Before = append(j.Out, name), append(j.Before, name)
			}
		}
	}
	return nil
}

// same is an error unless a file is the one that is described.
func (f *ManifestFile) same(path string) error {
	sum, size, err := sumFile(path)
	if err == nil && (sum != f.SHA256 || size != f.Bytes) {
		err = errors.New("its size or SHA-256 is another one")
	}
	return reason(err)
}

func copyFile(from, to string) (err error) {
	r, err := openPlain(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Sync(), w.Close())
}

// alone makes sure that no other process has a file of the record open, and folds its log into it. What is damaged is not in
// use, or by somebody who will find it damaged.
func alone(ctx context.Context, dir string) error {
	for _, file := range recordFiles() {
		path := filepath.Join(dir, file.name)
		switch info, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
			continue
		case err == nil && info.Size() == 0:
			if _, err := os.Lstat(path + "-wal"); err == nil {
				continue // of a file that was emptied: SQLite would remove it
			}
		}
		if _, err := plain(path); err != nil {
			return err
		}
		// In this mode SQLite takes a lock that no other connection may share, and writes nothing.
		err := lookOnce(ctx, path, "mode=rw&_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)", func(d *database) error {
			_, err := d.one(ctx, `SELECT count(*) FROM sqlite_schema`)
			return err
		})
		if c := code(err); c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED {
			return fmt.Errorf("another process has %s open; end it and try again", path)
		}
		if err != nil && !damaged(err) {
			return err
		}
	}
	return nil
}
