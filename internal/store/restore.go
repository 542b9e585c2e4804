package store

import (
	"context"
	"encoding/json"
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

// journal says that a restore has begun to move files. While it is there, nobody opens the record; whoever restores again
// ends it first. What is to come in lies complete in .incoming before it is written.
type journal struct {
	From  string   `json:"from"`  // the backup
	Aside string   `json:"aside"` // the folder that the files of before are moved to
	In    []string `json:"in"`    // files that come in
	Out   []string `json:"out"`   // files that are moved away
}

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

// Restored is what a restore did.
type Restored struct {
	From     string `json:"from"`
	Aside    string `json:"aside"` // where the files of before are; "": there were none
	Facts    int64  `json:"facts"`
	Captures bool   `json:"captures"` // captures.db was restored too
	Finished bool   `json:"finished"` // an earlier restore was ended
}

// Restore puts a backup in the place of a record, under the lease. The backup is copied and the copy checked first; then
// the present files are moved to a folder below aside/, which is never removed, and the copy is moved in. A process that dies
// before that leaves the record as it was; one that dies within it leaves it to the next restore to move what is left, and
// [Open] says so. force takes a backup of another workspace, and replaces a record of a newer program. With an empty backup an interrupted restore is finished.
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
	if err := j.finish(dir); err != nil {
		return nil, fmt.Errorf("restore the record; it is not complete, finish it with overt db restore: %w", err)
	}
	out := &Restored{From: j.From, Captures: slices.Contains(j.In, capturesFile), Finished: backup == ""}
	if _, err := os.Stat(j.Aside); err == nil {
		out.Aside = j.Aside
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
	j := &journal{From: path, Aside: freeName(filepath.Join(dir, asideFolder, time.Now().UTC().Format(stamp)))}
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
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) && file.name == capturesFile {
			continue
		}
		if _, err := os.Stat(from + "-wal"); err == nil { // no backup of ours: a folder of files that were in use
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
			sum, size, err := sumFile(filepath.Join(in, file.name))
			if err == nil && (sum != f.SHA256 || size != f.Bytes) {
				err = fmt.Errorf("%s of the backup is not as it was made: its size or SHA-256 is another one", file.name)
			}
			if err != nil {
				return err
			}
		}
		j.In = append(j.In, file.name)
	}
	report, err := check(ctx, in, checkContent)
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
	j.Out = slices.Clone(j.In)
	if !slices.Contains(j.In, capturesFile) && !sameRecord(ctx, filepath.Join(in, factsFile), filepath.Join(dir, capturesFile)) {
		j.Out = append(j.Out, capturesFile)
	}
	return nil
}

func copyFile(from, to string) (err error) {
	r, err := os.Open(from)
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

func (j *journal) write(dir string) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, asideFolder), 0o700); err != nil {
		return err
	}
	if err := syncFolder(filepath.Join(dir, incomingSpace)); err != nil {
		return err
	}
	tmp := filepath.Join(dir, incomingSpace, journalFile)
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return err
	}
	return errors.Join(syncFile(tmp), os.Rename(tmp, filepath.Join(dir, journalFile)), syncFolder(dir))
}

// readJournal reads what an interrupted restore left; nil: none was.
func readJournal(dir string) (*journal, error) {
	text, err := os.ReadFile(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &journal{}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", filepath.Join(dir, journalFile), err)
	}
	return j, nil
}

// unrestored is an error while a restore has not come to its end.
func unrestored(dir string) error {
	j, err := readJournal(dir)
	if j == nil || err != nil {
		return err
	}
	who, err := leaseHolder(dir)
	return errors.Join(err, &RestoringError{From: j.From, Alive: who != nil && who.What == "restore"})
}

// alone makes sure that no other process has a file of the record open, and folds its log into it. What is damaged is not in
// use, or by somebody who will find it damaged.
func alone(ctx context.Context, dir string) error {
	for _, file := range recordFiles() {
		path := filepath.Join(dir, file.name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
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

// finish moves files; each step may have been done before.
func (j *journal) finish(dir string) error {
	in := filepath.Join(dir, incomingSpace)
	for _, name := range j.Out {
		comes := slices.Contains(j.In, name)
		if _, err := os.Stat(filepath.Join(in, name)); comes && errors.Is(err, fs.ErrNotExist) {
			continue // it is in place
		}
		// What comes in takes the name of what was there, so that a file is there at any time.
		if comes {
			if err := linkAside(filepath.Join(dir, name), j.Aside); err != nil {
				return err
			}
		}
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := moveAside(filepath.Join(dir, name+suffix), j.Aside); err != nil {
				return err
			}
		}
		var err error
		if comes {
			err = os.Rename(filepath.Join(in, name), filepath.Join(dir, name))
		} else {
			err = moveAside(filepath.Join(dir, name), j.Aside)
		}
		if err != nil {
			return err
		}
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, journalFile)); err != nil {
		return err
	}
	os.Remove(filepath.Join(dir, asideFolder)) // where nothing was moved to it
	return errors.Join(os.RemoveAll(in), syncFolder(dir))
}

// linkAside gives a file, if it is there, a second name in a folder, or moves it where a file can't have two.
func linkAside(path, to string) error {
	is, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if was, err := os.Lstat(filepath.Join(to, filepath.Base(path))); err == nil && os.SameFile(is, was) {
		return nil // before the process died
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if os.Link(path, filepath.Join(to, filepath.Base(path))) == nil {
		return syncFolder(to)
	}
	return moveAside(path, to)
}

// moveAside moves a file, if it is there, into a folder.
func moveAside(path, to string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	target := filepath.Join(to, filepath.Base(path))
	if _, err := os.Lstat(target); err == nil {
		return &fs.PathError{Op: "move to", Path: target, Err: fs.ErrExist}
	}
	return errors.Join(os.Rename(path, target), syncFolder(to))
}

// freeName gives a path at which nothing is.
func freeName(path string) string {
	out := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = fmt.Sprintf("%s-%d", path, n)
	}
}
