//go:build unix

package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// supported says that this system has what it takes.
const supported = true

// dir is an open folder. What is in it is asked for by name, without following links: the folder is the one that was opened,
// whatever is done to its path meanwhile.
type dir struct{ f *os.File }

const openFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// openTop opens the workspace itself.
func openTop(root *os.Root) (dir, error) {
	opened, err := root.Open(".")
	if err != nil {
		return dir{}, err
	}
	defer opened.Close()
	return dir{opened}.enter(".") // one that is not of an os.Root lists without a question for each entry
}

func (d dir) close() { d.f.Close() }

func (d dir) fd() int { return int(d.f.Fd()) }

func (d dir) names() ([]string, error) { return d.f.Readdirnames(-1) }

func (d dir) device() (uint64, error) {
	var st unix.Stat_t
	err := unix.Fstat(d.fd(), &st)
	return uint64(st.Dev), err
}

// enter opens a folder that is in it.
func (d dir) enter(name string) (dir, error) {
	for {
		fd, err := unix.Openat(d.fd(), name, openFolder, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return dir{}, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return dir{os.NewFile(uintptr(fd), name)}, nil
	}
}

// stat says what stands at a name.
func (d dir) stat(name string) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stat{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return statOf(&st), nil
}

func statOf(st *unix.Stat_t) stat {
	s := stat{kind: kindOther, mode: uint32(st.Mode) & 0o7777, bytes: st.Size, inode: st.Ino, device: uint64(st.Dev)}
	s.mtime, s.ctime = st.Mtim.Nano(), st.Ctim.Nano()
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = kindFile
	case unix.S_IFDIR:
		s.kind = kindFolder
	case unix.S_IFLNK:
		s.kind, s.mode = kindLink, 0
	}
	return s
}

// openFile opens a regular file for reading, and says what it is.
func (d dir) openFile(name string) (*os.File, stat, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, stat{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := os.NewFile(uintptr(fd), name)
	s, err := statFile(f)
	if err == nil && s.kind != kindFile {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		f.Close()
		return nil, stat{}, err
	}
	return f, s, nil
}

func statFile(f *os.File) (stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

// readlink gives the target of a link.
func (d dir) readlink(name string) (string, error) {
	buf := make([]byte, 4096+1)
	n, err := unix.Readlinkat(d.fd(), name, buf)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

// folder opens the folder of a path, each from the one above it.
func (k *Keeper) folder(p string) (dir, error) {
	d, err := openTop(k.root)
	if err != nil {
		return d, err
	}
	if at := path.Dir(p); at != "." {
		for name := range strings.SplitSeq(at, "/") {
			next, err := d.enter(name)
			d.close()
			if err != nil {
				return dir{}, err
			}
			d = next
		}
	}
	return d, nil
}

// stat says what stands at a path; kind 0: nothing, also where something else than a folder stands above it.
func (k *Keeper) stat(p string) (stat, error) {
	d, err := k.folder(p)
	if err == nil {
		defer d.close()
		var s stat
		if s, err = d.stat(path.Base(p)); err == nil {
			return s, nil
		}
	}
	if gone(err) {
		return stat{}, nil
	}
	return stat{}, err
}

// create makes a file that is not there, which only its owner can read.
func (d dir) create(name string) (*os.File, error) {
	fd, err := unix.Openat(d.fd(), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d dir) mkdir(name string, mode uint32) error {
	if err := unix.Mkdirat(d.fd(), name, 0o700); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return d.chmod(name, mode|0o700) // whatever the umask is; the final mode comes once it is filled
}

func (d dir) symlink(target, name string) error {
	if err := unix.Symlinkat(target, d.fd(), name); err != nil {
		return &fs.PathError{Op: "symlink", Path: name, Err: err}
	}
	return nil
}

// chmod sets the mode of a folder or file, not that of what a link leads to.
func (d dir) chmod(name string, mode uint32) error {
	fd, err := unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		err = unix.Fchmod(fd, mode)
	} else if errors.Is(err, unix.EACCES) { // it can't be opened as it is, which is what is to be changed
		var st unix.Stat_t
		if err = unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
			if statOf(&st).kind == kindLink {
				err = unix.ELOOP
			} else if err = unix.Fchmodat(d.fd(), name, mode, unix.AT_SYMLINK_NOFOLLOW); errors.Is(err, unix.EOPNOTSUPP) {
				err = unix.Fchmodat(d.fd(), name, mode, 0) // a kernel before Linux 6.6
			}
		}
	}
	if err != nil {
		return &fs.PathError{Op: "chmod", Path: name, Err: err}
	}
	return nil
}

func (d dir) remove(name string, folder bool) error {
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	if err := unix.Unlinkat(d.fd(), name, flags); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func (d dir) rename(from string, to dir, name string) error {
	if err := unix.Renameat(d.fd(), from, to.fd(), name); err != nil {
		return &fs.PathError{Op: "rename", Path: name, Err: err}
	}
	return nil
}

// link gives what stands at a name another one, which must be free, and takes the old one away. Where the system has no
// second names, it is renamed once nothing stands there.
func (d dir) link(from string, to dir, name string) error {
	err := unix.Linkat(d.fd(), from, to.fd(), name, 0)
	if err == nil {
		return d.remove(from, false)
	}
	if errors.Is(err, unix.EEXIST) {
		return errMoved
	}
	if _, gone := to.stat(name); errors.Is(gone, fs.ErrNotExist) {
		return d.rename(from, to, name)
	}
	return &fs.PathError{Op: "link", Path: name, Err: err}
}

// gone tells whether an error says that nothing stands at a path, or that what stands above it is no folder.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

func notEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) }

func syncAll() { unix.Sync() }
