package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// journal says that a restore has begun to move files. While it is there, nobody opens the record; whoever restores again
// ends it first. What is to come in lies complete in .incoming before it is written.
type journal struct {
	From  string   `json:"from"`  // the backup
	Aside string   `json:"aside"` // the folder that the files of before are moved to
	In    []string `json:"in"`    // files that come in
	Out   []string `json:"out"`   // files that are moved away
	Bare  bool     `json:"bare"`  // the backup has lost its captures.db

	Files  []ManifestFile `json:"files"`  // what comes in, as it was checked
	Before []string       `json:"before"` // files that were there
	Placed []string       `json:"placed"` // files that took their place, or are just about to
}

// UnreadJournalError says that it can't be known how far a restore came.
type UnreadJournalError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *UnreadJournalError) Error() string {
	return fmt.Sprintf("how far a restore came can't be read from %s (%v); move that file away, then restore a backup: overt db restore BACKUP (overt db status lists them)", e.Path, e.Err)
}

// Unwrap gives the reason.
func (e *UnreadJournalError) Unwrap() error { return e.Err }

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

// readJournal reads what an interrupted restore left; nil: none was. The error is an *[UnreadJournalError].
func readJournal(dir string) (*journal, error) {
	path := filepath.Join(dir, journalFile)
	text, err := readPlain(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j := &journal{}
	switch {
	case err != nil:
		err = reason(err)
	case len(text) == 0:
		err = errors.New("it is empty")
	case json.Unmarshal(text, j) != nil || !j.sound():
		err = errors.New("it is not as a restore writes it")
	}
	if err != nil {
		return nil, &UnreadJournalError{path, err}
	}
	j.Aside = filepath.Join(dir, asideFolder, filepath.Base(j.Aside)) // the folder of the record may have been moved
	return j, nil
}

// reason is what the system says of a file, without the file.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// sound tells whether a journal names nothing but what a restore moves.
func (j *journal) sound() bool {
	names := []string{factsFile, capturesFile}
	ours := func(list, names []string) bool {
		return !slices.ContainsFunc(list, func(name string) bool { return !slices.Contains(names, name) })
	}
	described := func(name string) bool {
		return slices.ContainsFunc(j.Files, func(f ManifestFile) bool { return f.Name == name })
	}
	return j.From != "" && filepath.Base(filepath.Dir(j.Aside)) == asideFolder && slices.Contains(j.In, factsFile) &&
		ours(j.In, names) && ours(j.Out, append(names, statesOfFiles()...)) && !slices.ContainsFunc(j.In, func(name string) bool { return !described(name) })
}

// statesOfFiles are the parts of a record that no backup has: they go with the record that they are of.
func statesOfFiles() []string { return []string{filesFile, objectsFolder, markFile} }

// whole is an error unless what comes in is as it was checked, whether it is in place already or not.
func (j *journal) whole(dir string) error {
	for _, f := range j.Files {
		path := filepath.Join(dir, incomingSpace, f.Name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			path = filepath.Join(dir, f.Name)
		}
		if err := f.same(path); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// BeforeGoneError says that a record can't be made what it was before a restore, because files of it are gone. Nothing was moved.
type BeforeGoneError struct {
	Names   []string
	Aside   string // where they were
	Journal string
	From    string // the backup
}

// Error implements error.
func (e *BeforeGoneError) Error() string {
	return fmt.Sprintf("%s of before is gone from %s; put it back there and try again with overt db restore, or move %s away and restore a backup: overt db restore BACKUP (it was %s)",
		strings.Join(e.Names, ", "), e.Aside, e.Journal, e.From)
}

// undo makes the record what it was before; each step may have been done before. Nothing is moved, and the error is a
// *[BeforeGoneError], where a file of before is neither in place nor set aside.
func (j *journal) undo(dir string) error {
	in := filepath.Join(dir, incomingSpace)
	if err := os.MkdirAll(in, 0o700); err != nil {
		return err
	}
	there := func(parts ...string) bool {
		_, err := os.Lstat(filepath.Join(parts...))
		return !errors.Is(err, fs.ErrNotExist)
	}
	// What has left its space without taking its place is only gone.
	placed := func(name string) bool {
		return slices.Contains(j.In, name) && !there(in, name) && (slices.Contains(j.Placed, name) || !slices.Contains(j.Before, name))
	}
	lost := &BeforeGoneError{Aside: j.Aside, Journal: filepath.Join(dir, journalFile), From: j.From}
	for _, name := range j.Out {
		if slices.Contains(j.Before, name) && !there(j.Aside, name) && (placed(name) || !there(dir, name)) {
			lost.Names = append(lost.Names, name)
		}
	}
	if len(lost.Names) > 0 {
		return lost
	}
	for _, name := range j.Out {
		if placed(name) { // back to its space first: so a file that is in place afterwards is one of before
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(in, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := moveBack(filepath.Join(j.Aside, name+suffix), filepath.Join(dir, name+suffix)); err != nil {
				return err
			}
		}
	}
	// The note goes before the space: by what is in it, it is known what is in place.
	if err := errors.Join(syncFolder(dir), os.Remove(filepath.Join(dir, journalFile))); err != nil {
		return err
	}
	os.Remove(j.Aside) // nothing is in it, as a rule
	os.Remove(filepath.Join(dir, asideFolder))
	return errors.Join(os.RemoveAll(in), syncFolder(dir))
}

// moveBack moves a file, if it is there, to where it was; of two names of one file, the other one goes.
func moveBack(from, to string) error {
	is, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if was, err := os.Lstat(to); err == nil && os.SameFile(is, was) {
		return os.Remove(from)
	}
	return os.Rename(from, to)
}

// leftover is what a restore was bringing in of which no note is left, so that it can't go on and nobody needs it; "": there is none.
// What it changed before is not known. Only who has the lease may remove it.
func leftover(dir string) string {
	in := filepath.Join(dir, incomingSpace)
	if _, err := os.Lstat(in); err != nil {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(dir, journalFile)); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return in
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
		for _, suffix := range []string{"-wal", "-shm", "-journal"} {
			if err := moveAside(filepath.Join(dir, name+suffix), j.Aside); err != nil {
				return err
			}
		}
		var err error
		if comes {
			if !slices.Contains(j.Placed, name) {
				j.Placed = append(j.Placed, name)
				err = j.write(dir)
			}
			if err == nil {
				err = os.Rename(filepath.Join(in, name), filepath.Join(dir, name))
			}
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
	// The note goes last: what is left without one is not of a restore that came to its end.
	if err := errors.Join(os.RemoveAll(in), syncFolder(dir), os.Remove(filepath.Join(dir, journalFile))); err != nil {
		return err
	}
	os.Remove(filepath.Join(dir, asideFolder)) // where nothing was moved to it
	return syncFolder(dir)
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
