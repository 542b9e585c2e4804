package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// journal says that a restore has begun to move files. While it is there, nobody opens the record; whoever restores again
// ends it first. What is to come in lies complete in .incoming before it is written.
type journal struct {
	From  string   `json:"from"`  // the backup
	Aside string   `json:"aside"` // the folder that the files of before are moved to
	In    []string `json:"in"`    // files that come in
	Out   []string `json:"out"`   // files that are moved away
	Bare  bool     `json:"bare"`  // the backup has lost its captures.db
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
	text, err := readPlain(filepath.Join(dir, journalFile), 1<<20)
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
