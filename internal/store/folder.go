package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// claimed is a folder that is being filled, or that lives as long as its process. Its name says who made it and when; who
// holds the lock in it is alive, so that [sweep] may remove every other one.
type claimed struct {
	dir  string
	lock *flock.Flock
}

// claimLock is the name of the lock in a claimed folder. It is one that nobody else gives a file.
const claimLock = ".overt-lock"

// claim makes such a folder in a folder that is there.
func claim(parent, prefix string) (*claimed, error) {
	for range 10 {
		dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-%d-", prefix, os.Getpid(), time.Now().Unix()))
		if err != nil {
			return nil, err
		}
		lock := flock.New(filepath.Join(dir, claimLock), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if err == nil && got {
			if _, err = os.Stat(lock.Path()); err == nil {
				return &claimed{dir, lock}, nil
			}
		}
		lock.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // else it was swept before it was locked
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	return nil, fmt.Errorf("a folder in %s was removed again and again", parent)
}

// drop removes the folder with what is in it.
func (c *claimed) drop() error { return errors.Join(os.RemoveAll(c.dir), c.lock.Close()) }

// become gives the folder its name, at which nothing is yet, and lets go of it.
func (c *claimed) become(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &ExistsError{path}
		}
		return err
	}
	if err := os.Rename(c.dir, path); err != nil {
		return err
	}
	c.dir = path
	return errors.Join(os.Remove(filepath.Join(path, claimLock)), c.lock.Close(), syncFolder(filepath.Dir(path)))
}

// abandoned is how old a claimed folder without a lock must be: its process died before it had made one.
const abandoned = time.Minute

// sweep removes the claimed folders of processes that died, as far as it can. A folder without our lock is somebody else's, whatever
// its name, unless parent is a folder of ours.
func sweep(parent, prefix string, ours bool) {
	f, err := os.Open(parent)
	if err != nil {
		return
	}
	names, _ := f.Readdirnames(-1) // in no order, and without a look at each: it is done at every start
	f.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		dir := filepath.Join(parent, name)
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !mine(info) {
			continue
		}
		lock := flock.New(filepath.Join(dir, claimLock), flock.SetFlag(os.O_RDWR), flock.SetPermissions(0o600))
		switch free, err := lock.TryLock(); {
		case err == nil && free, ours && errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > abandoned:
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}

// syncFolder puts on the disk which files a folder has, where the system can do that.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	f.Sync() // some file systems refuse it for folders
	return f.Close()
}

// syncFile puts a file on the disk. It is for files that no database of this process has open.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
