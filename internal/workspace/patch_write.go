package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// FileWrite is one file of a change of several.
type FileWrite struct {
	Rel, Real string // as for [Tree.Read]
	Seen      string // SHA-256 that the file must have; "": there must be none
	Data      []byte // what it holds then
	Remove    bool   // it is to be gone instead
	// Executable says whether it is to be executable; nil: as it is.
	Executable *bool
	// Like is the path, links resolved, of a file whose mode a new one gets; "": that of new files.
	Like string
}

// done is a write that was made, and what takes it back.
type done struct {
	w      FileWrite
	before []byte
	mode   fs.FileMode
	made   []string // folders that it made, outermost first
}

// WriteAll makes all of the changes or none. Each file is replaced in one step, see [Tree.Write]; when one can't be, those before it
// are put back as they were, with their modes. The error is that of the file that could not be written, and says what could
// not be put back, if anything.
func (t *Tree) WriteAll(list []FileWrite) error {
	var all []done
	for _, w := range list {
		d, err := t.ready(w)
		if err == nil {
			err = t.perform(w, d.mode)
		}
		if err == nil {
			all = append(all, d)
			continue
		}
		for i := len(all) - 1; i >= 0; i-- {
			if back := t.putBack(all[i]); back != nil {
				err = &PathError{codeIO, w.Rel, fmt.Sprintf("%v; and %s could not be put back as it was: %v", err, all[i].w.Rel, back)}
			}
		}
		return err
	}
	return nil
}

// ready looks at what a write will change.
func (t *Tree) ready(w FileWrite) (done, error) {
	d := done{w: w}
	if w.Like != "" {
		info, err := t.Stat(w.Rel, w.Like)
		if err != nil {
			return d, err
		}
		d.mode = info.Mode.Perm()
	}
	if w.Seen == "" {
		for dir := path.Dir(w.Real); dir != "."; dir = path.Dir(dir) {
			if _, err := t.root.Lstat(dir); missing(err) {
				d.made = append([]string{dir}, d.made...)
			}
		}
		return d, nil
	}
	f, err := t.Read(w.Rel, w.Real, MaxFile)
	if p, ok := errors.AsType[*PathError](err); ok && p.Code == CodeMissing {
		return d, &Changed{w.Rel}
	}
	if err != nil {
		return d, err
	}
	if f.SHA256 != w.Seen {
		return d, &Changed{w.Rel}
	}
	d.before, d.mode = f.Bytes, f.Mode
	return d, nil
}

// perform makes one write. mode is that of the file before, or of the one that a new file is like; 0: that of new files.
func (t *Tree) perform(w FileWrite, mode fs.FileMode) error {
	if w.Remove {
		return t.remove(w)
	}
	if w.Seen == "" || Sum(w.Data) != w.Seen {
		if err := t.Write(w.Rel, w.Real, w.Data, w.Seen); err != nil {
			return err
		}
	}
	if w.Seen != "" {
		mode = 0 // kept
	}
	err := t.chmod(w, mode)
	if err != nil && w.Seen == "" {
		_ = t.remove(FileWrite{Rel: w.Rel, Real: w.Real, Seen: Sum(w.Data)})
	}
	return err
}

// chmod sets the mode of a file, 0 for the one that it has, and whether it is executable: for whoever may read it.
func (t *Tree) chmod(w FileWrite, mode fs.FileMode) error {
	if mode == 0 && w.Executable == nil {
		return nil
	}
	p, err := t.spot(w.Rel, w.Real, false)
	if err != nil {
		return err
	}
	defer p.close()
	f, info, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if mode == 0 {
		mode = info.Mode().Perm()
	}
	switch {
	case w.Executable == nil:
	case *w.Executable:
		mode |= mode & 0o444 >> 2
	default:
		mode &^= 0o111
	}
	if mode == info.Mode().Perm() {
		return nil
	}
	if err := f.Chmod(mode); err != nil {
		return failed(w.Rel, err)
	}
	return nil
}

// remove removes a file that is as it was seen.
func (t *Tree) remove(w FileWrite) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	p, err := t.spot(w.Rel, w.Real, false)
	if err != nil {
		return err
	}
	defer p.close()
	now, err := p.read(MaxFile)
	if err != nil {
		return err
	}
	if now.SHA256 != w.Seen {
		return &Changed{w.Rel}
	}
	if err := p.dir.Remove(p.base); err != nil {
		return failed(w.Rel, err)
	}
	return nil
}

// putBack takes a write back.
func (t *Tree) putBack(d done) error {
	w := d.w
	switch {
	case w.Seen == "":
		err := t.remove(FileWrite{Rel: w.Rel, Real: w.Real, Seen: Sum(w.Data)})
		for i := len(d.made) - 1; i >= 0; i-- {
			_ = t.root.Remove(d.made[i]) // if nothing has come into it
		}
		return err
	case w.Remove:
		if err := t.Write(w.Rel, w.Real, d.before, ""); err != nil {
			return err
		}
	case Sum(w.Data) != w.Seen:
		if err := t.Write(w.Rel, w.Real, d.before, Sum(w.Data)); err != nil {
			return err
		}
	}
	return t.chmod(FileWrite{Rel: w.Rel, Real: w.Real}, d.mode)
}
