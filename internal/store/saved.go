package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// keepAutomatic is how many backups are kept that were made without being asked for.
const keepAutomatic = 3

// Saved is a folder among the backups.
type Saved struct {
	Path     string
	Name     string // of its folder
	Manifest        // zero where it can't be read
	Bytes    int64
	Problem  string // why it is no backup to rely on: it has no manifest, or not the files that this names
}

// loadBackup reads what a backup says of itself, and looks whether its files are there.
func loadBackup(path string) Saved {
	out := Saved{Path: path, Name: filepath.Base(path)}
	text, err := readPlain(filepath.Join(path, manifestFile), 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Problem = "it has no " + manifestFile
	case err != nil:
		out.Problem = fmt.Sprintf("its %s can't be read: %v", manifestFile, reason(err))
	case json.Unmarshal(text, &out.Manifest) != nil:
		out.Manifest, out.Problem = Manifest{}, "its "+manifestFile+" is damaged"
	case out.Form != manifestForm:
		out.Problem = fmt.Sprintf("its manifest has the form %d, which only a newer program knows", out.Form)
	case !slices.ContainsFunc(out.Files, func(f ManifestFile) bool { return f.Name == factsFile }):
		out.Problem = "its manifest names no " + factsFile
	}
	for _, f := range out.Files {
		out.Bytes += f.Bytes
		if info, err := plainHere(filepath.Join(path, filepath.Base(f.Name))); out.Problem == "" && (err != nil || info.Size() != f.Bytes) {
			out.Problem = f.Name + " is not there as it was made"
		}
	}
	return out
}

// bare tells whether a backup was made with a captures.db that is gone.
func (s *Saved) bare() bool {
	_, err := os.Lstat(filepath.Join(s.Path, capturesFile))
	return errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(s.Files, func(f ManifestFile) bool { return f.Name == capturesFile })
}

// Backups lists the folders among a record's backups, the newest first. Those with a problem come last.
func Backups(dir string) ([]Saved, error) {
	dir = filepath.Join(dir, backupsFolder)
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Saved
	for _, e := range list {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, loadBackup(filepath.Join(dir, e.Name())))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// Copies lists the folders beside a record that hold it, or a part of it, as it was: its backups and what a process left that died
// while it made one, what was set aside, and what a restore was bringing in. What is erased from the record may stand there.
func Copies(dir string) ([]string, error) {
	var out []string
	for _, parent := range []string{backupsFolder, asideFolder} {
		list, err := os.ReadDir(filepath.Join(dir, parent))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range list {
			if e.IsDir() {
				out = append(out, filepath.Join(dir, parent, e.Name()))
			}
		}
	}
	incoming := filepath.Join(dir, incomingSpace)
	if _, err := os.Lstat(incoming); err == nil {
		out = append(out, incoming)
	}
	return out, nil
}

// newestFirst orders backups by what they say of when they were made; of one second, by the number that ends their names.
func newestFirst(a, b Saved) int {
	if bad := a.Problem != ""; bad != (b.Problem != "") {
		if bad {
			return 1
		}
		return -1
	}
	nameA, nA := numbered(a.Name)
	nameB, nB := numbered(b.Name)
	return cmp.Or(b.Made.Compare(a.Made), strings.Compare(nameB, nameA), cmp.Compare(nB, nA), strings.Compare(b.Name, a.Name))
}

// numbered takes the number from the end of a name that was taken already; 1: it has none.
func numbered(name string) (string, int) {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], n
		}
	}
	return name, 1
}

// usable lists the backups that can be relied on, the newest first. Only they count, and only they are ever removed.
func usable(dir string) ([]Saved, error) {
	list, err := Backups(dir)
	return slices.DeleteFunc(list, func(b Saved) bool { return b.Problem != "" }), err
}

// removeBackup removes a backup, at once as far as its name goes.
func removeBackup(b Saved) error {
	gone := filepath.Join(filepath.Dir(b.Path), partialPrefix+"removed-"+b.Name)
	if err := os.Rename(b.Path, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// pruneAutomatic removes all but the last backups that nobody asked for.
func pruneAutomatic(dir string) error {
	list, err := usable(dir)
	if err != nil {
		return err
	}
	kept := 0
	for _, b := range list {
		if !b.Automatic {
			continue
		}
		if kept++; kept > keepAutomatic {
			if err := removeBackup(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// PruneBackups removes all but the newest backups in a record's folder and says which. With dry it only says so. What is no
// backup to rely on neither counts nor goes. The caller holds the lease.
func PruneBackups(dir string, keep int, dry bool) ([]Saved, error) {
	list, err := usable(dir)
	if err != nil || len(list) <= keep {
		return nil, err
	}
	gone := list[keep:]
	if dry {
		return gone, nil
	}
	for i, b := range gone {
		if err := removeBackup(b); err != nil {
			return gone[:i], err
		}
	}
	return gone, nil
}

// PruneAside removes what restores and new beginnings have set aside in a record's folder, and what a restore left that can't go
// on, and says which folders. With dry it only says
// so. The caller holds the lease.
func PruneAside(dir string, dry bool) (gone []string, err error) {
	parent := filepath.Join(dir, asideFolder)
	list, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range list {
		if e.IsDir() {
			paths = append(paths, filepath.Join(parent, e.Name()))
		}
	}
	if path := leftover(dir); path != "" {
		paths = append(paths, path)
	}
	for _, path := range paths {
		if !dry {
			if err := os.RemoveAll(path); err != nil {
				return gone, err
			}
		}
		gone = append(gone, path)
	}
	if !dry {
		os.Remove(parent) // if nothing is left
	}
	return gone, nil
}
