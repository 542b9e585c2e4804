package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errNotPlain is what every *[NotPlainError] is.
var errNotPlain = errors.New("no plain file")

// NotPlainError says that a pipe, a device or a folder stands where a file is expected: to open or read it might never end. Or it is a
// link that leads nowhere: what would be made by it would be made elsewhere.
type NotPlainError struct {
	Path string
	To   string // where the link leads; "": it is none
}

// Error implements error.
func (e *NotPlainError) Error() string {
	if e.To != "" {
		return fmt.Sprintf("%s is a link to %s, which is not there; put that back, or move the link away", e.Path, e.To)
	}
	return e.Path + " is no plain file; move it away"
}

// Unwrap gives the kind of the error.
func (e *NotPlainError) Unwrap() error { return errNotPlain }

// plain looks at a database, to which a link may lead, and at what SQLite would open beside it.
func plain(path string) (fs.FileInfo, error) { return regular(path, os.Stat) }

// plainHere looks at a database that is itself at its path: a link is none.
func plainHere(path string) (fs.FileInfo, error) { return regular(path, os.Lstat) }

func regular(path string, stat func(string) (fs.FileInfo, error)) (info fs.FileInfo, err error) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if beside, err := os.Lstat(path + suffix); err == nil && !beside.Mode().IsRegular() {
			return nil, &NotPlainError{Path: path + suffix}
		}
	}
	info, err = stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &NotPlainError{Path: path}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if to, link := os.Readlink(path); link == nil {
			return nil, &NotPlainError{path, to}
		}
	}
	return info, err
}

// openPlain opens a file for reading if it is a plain one, and itself at its path. The flag keeps what has taken its place meanwhile from
// blocking.
func openPlain(path string) (*os.File, error) {
	was, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !was.Mode().IsRegular() {
		return nil, &NotPlainError{Path: path}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if is, err := f.Stat(); err != nil || !os.SameFile(was, is) {
		return nil, errors.Join(&NotPlainError{Path: path}, f.Close())
	}
	return f, nil
}

// readPlain reads such a file, up to a number of bytes.
func readPlain(path string, most int64) ([]byte, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
