// Package workspace reads, lists, searches and changes the files of one folder, and never leaves it.
//
// Use [FindRoot] to choose the folder and [Open] to get its [Tree]. Paths come in as people and models write them,
// absolute or relative; [Tree.Rel] gives the one relative form with slashes that everything else speaks. Symbolic
// links are followed inside the tree, at the moment of use; what leads out of it is refused with a [PathError] whose
// text says so. Only regular files are opened: a pipe or a device never blocks a call. [Tree.Write] replaces a file
// whole or not at all, and only if it is still what the caller has seen.
//
// [Replace], [Decode] and [Diff] are pure: they work on bytes, of files in any of the encodings that Decode tells.
//
// The package does not decide what may be read or written, and remembers nothing between calls. A Tree may be used by
// several goroutines. Two writers of one file are serialised within a Tree; another process is noticed up to the
// moment before the file is put in place.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Codes of a [PathError].
const (
	CodeOutside  = "outside"     // the path, or a link on it, leads out of the workspace
	codeInvalid  = "invalid"     // no path at all
	CodeMissing  = "not_found"   // nothing is there
	CodeKind     = "not_regular" // a folder, pipe, device or socket stands where a file is needed, or the other way round
	codeLoop     = "loop"        // links lead in a circle
	CodeTooLarge = "too_large"   // more bytes than the caller takes
	codeReadOnly = "read_only"   // the file's mode forbids writing
	codeIO       = "io"          // the system refused: permission, full disk
)

// maxLinks is how many links one path may go through (Linux: 40).
const maxLinks = 40

// PathError says what is wrong with a path. Text is one sentence that holds the path.
type PathError struct{ Code, Path, Text string }

// Error implements error.
func (e *PathError) Error() string { return e.Text }

// Changed says that a file is not what the caller has seen.
type Changed struct{ Path string }

// Error implements error.
func (e *Changed) Error() string {
	return e.Path + " has changed on disk since it was read; nothing was written. Read it again"
}

// Tree is an open folder.
type Tree struct {
	given, real string // absolute: as opened, and with links resolved
	root        *os.Root
	writing     sync.Mutex
}

// FindRoot gives the folder to work in for a start folder: the nearest ancestor, itself included, that holds .git or
// .overt, but never home or the file system's root; else the start folder. An ancestor counts only if it and what marks
// it are ours or root's: a .git that somebody put into a shared folder would have us take their files for instructions.
// Both arguments are absolute; home may be "".
func FindRoot(start, home string) string {
	return findRoot(start, home, trusted)
}

func findRoot(start, home string, trusted func(fs.FileInfo) bool) string {
	start = filepath.Clean(start)
	for dir := start; ; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) || home != "" && sameFolder(dir, home) {
			return start
		}
		for _, mark := range []string{".git", ".overt"} {
			info, err := os.Lstat(filepath.Join(dir, mark))
			if err != nil {
				continue
			}
			if folder, err := os.Stat(dir); dir == start || err == nil && trusted(folder) && trusted(info) {
				return dir
			}
		}
	}
}

func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Open opens a folder. The error is one line that names it.
func Open(root string) (*Tree, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %v", root, err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %v", root, cause(err))
	}
	r, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %v", root, cause(err))
	}
	return &Tree{given: given, real: real, root: r}, nil
}

// Root is the folder's absolute path, with links resolved.
func (t *Tree) Root() string { return t.real }

// Close frees the folder.
func (t *Tree) Close() error { return t.root.Close() }

// Rel gives a path in its relative form: clean, with slashes, "." for the root. It takes relative paths and absolute
// ones that lie inside, also where links lead to the root. It looks at names only: a link in the path may still lead
// out, which [Tree.Resolve] finds. The error is a *PathError.
func (t *Tree) Rel(p string) (string, error) {
	if p == "" || strings.ContainsRune(p, 0) {
		return "", &PathError{codeInvalid, p, fmt.Sprintf("%q is no path", p)}
	}
	if filepath.IsAbs(p) {
		inside, ok := t.inside(filepath.Clean(p))
		if !ok {
			return "", outside(p)
		}
		p = inside
	}
	p = path.Clean(filepath.ToSlash(p))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", outside(p)
	}
	return p, nil
}

// inside makes an absolute path relative to the root, trying the root's names first and then what the path's existing
// part resolves to.
func (t *Tree) inside(abs string) (string, bool) {
	for _, root := range []string{t.given, t.real} {
		if rel, ok := below(root, abs); ok {
			return rel, true
		}
	}
	for dir, rest := filepath.Dir(abs), filepath.Base(abs); ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return below(t.real, filepath.Join(real, rest))
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func below(root, abs string) (string, bool) {
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// Resolve follows the links of a relative path and gives the path of what it stands for, which may not exist yet. The
// error is a *PathError: outside, loop, io.
func (t *Tree) Resolve(rel string) (string, error) {
	done, todo, links := ".", strings.Split(rel, "/"), 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", outside(rel)
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		info, err := t.root.Lstat(next)
		if err != nil && !missing(err) {
			return "", failed(rel, err)
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &PathError{codeLoop, rel, rel + " can't be followed: its links lead in a circle"}
		}
		target, err := t.root.Readlink(next)
		if err != nil {
			return "", failed(rel, err)
		}
		if filepath.IsAbs(target) {
			inside, ok := t.inside(filepath.Clean(target))
			if !ok {
				return "", outside(rel)
			}
			target, done = inside, "."
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return done, nil
}

func outside(p string) error {
	return &PathError{CodeOutside, p, p + " is outside the workspace"}
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// failed puts an error of the system in our words.
func failed(p string, err error) error {
	var known *PathError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &PathError{CodeMissing, p, p + " does not exist"}
	case errors.Is(err, syscall.ENOTDIR):
		return &PathError{CodeMissing, p, p + " does not exist: a part of the path is no folder"}
	}
	return &PathError{codeIO, p, fmt.Sprintf("%s: %v", p, cause(err))}
}

// cause leaves out the operation and the paths that the os package adds: one of them may be the name of a temporary file.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}
