package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// MaxFile is the size in bytes up to which files are edited and searched.
const MaxFile = 32 << 20

// maxTemps is how many temporary files may lie beside one file.
const maxTemps = 100

// File is what a file held at one moment.
type File struct {
	Path   string // relative, links not resolved
	Bytes  []byte
	Mode   fs.FileMode
	SHA256 string // of Bytes, hexadecimal
}

// Sum is the hash by which file contents are compared: SHA-256 in hexadecimal.
func Sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Read reads a regular file of at most max bytes whole. rel names it in messages, and real is what [Tree.Resolve] gave for
// it: no link is followed, so that what is read is what was checked. Anything else is refused before a byte is read; a
// pipe or device is never opened. The error is a *PathError.
func (t *Tree) Read(rel, real string, max int64) (File, error) {
	p, err := t.spot(rel, real, false)
	if err != nil {
		return File{}, err
	}
	defer p.close()
	return p.read(max)
}

func (p *spot) read(max int64) (File, error) {
	f, info, err := p.open()
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	data, err := readAll(nil, p.rel, f, info.Size(), max)
	if err != nil {
		return File{}, err
	}
	return File{Path: p.rel, Bytes: data, Mode: info.Mode().Perm(), SHA256: Sum(data)}, nil
}

// Head reads the first bytes of a file like [Tree.Read], at most max, and says how large it is.
func (t *Tree) Head(rel, real string, max int64) (data []byte, size int64, err error) {
	p, err := t.spot(rel, real, false)
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	f, info, err := p.open()
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, max)); err != nil {
		return nil, 0, failed(rel, err)
	}
	return data, info.Size(), nil
}

// readAll reads a file of about size and at most max bytes into buf, if that is large enough.
func readAll(buf []byte, rel string, f *os.File, size, max int64) ([]byte, error) {
	if size > max {
		return nil, tooLarge(rel, size, max)
	}
	data := buf[:0]
	if int64(cap(data)) <= size {
		data = make([]byte, 0, size+1)
	}
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, failed(rel, err)
		}
		if int64(len(data)) > max { // it grew, or its size was not told (/proc)
			return nil, tooLarge(rel, int64(len(data)), max)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// open opens a regular file for reading. It looks before it opens, and again after: what stands there may change in
// between, and O_NONBLOCK keeps even then a pipe from blocking.
func (p *spot) open() (*os.File, fs.FileInfo, error) {
	before, err := p.dir.Lstat(p.base)
	if err != nil {
		return nil, nil, failed(p.rel, err)
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, nil, moved(p.rel)
	}
	if err := regular(p.rel, before); err != nil {
		return nil, nil, err
	}
	f, err := p.dir.OpenFile(p.base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, failed(p.rel, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(p.rel, info)
	}
	if err == nil && !os.SameFile(before, info) {
		err = moved(p.rel)
	}
	if err != nil {
		f.Close()
		return nil, nil, failed(p.rel, err)
	}
	return f, info, nil
}

func regular(rel string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &PathError{CodeKind, rel, fmt.Sprintf("%s is a %s, not a file", rel, kind(info.Mode()))}
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

func tooLarge(rel string, size, max int64) error {
	return &PathError{CodeTooLarge, rel, fmt.Sprintf("%s has %s; more than %s are not read whole", rel, bytesText(size), bytesText(max))}
}

func bytesText(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Write puts data in place of a file, or makes the file with its parent folders. rel and real are as for [Tree.Read]: no
// link is followed. seen is the SHA-256 that the file must have, "" if there must be none; else nothing is written and
// the error is *[Changed].
//
// The file is replaced in one step and keeps its mode, but no set-id bits, and, where we may set it, its owner. Other names of the same file
// (hard links) keep the old content. A file whose mode lets nobody write is refused. Every other error is a *PathError;
// folders that were made for it are gone again.
func (t *Tree) Write(rel, real string, data []byte, seen string) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	if real == "." {
		return &PathError{CodeKind, rel, rel + " is a folder, not a file"}
	}
	p, err := t.spot(rel, real, seen == "")
	if err != nil {
		return err
	}
	defer p.close()
	if seen != "" {
		return p.replace(data, seen)
	}
	if err := p.create(data); err != nil {
		p.unmake()
		return err
	}
	return nil
}

func (p *spot) replace(data []byte, seen string) error {
	info, err := p.dir.Lstat(p.base)
	if err != nil {
		if missing(err) {
			return &Changed{p.rel}
		}
		return failed(p.rel, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return moved(p.rel)
	}
	if err := regular(p.rel, info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return &PathError{codeReadOnly, p.rel, p.rel + " is read-only; change its mode first if it is to be written"}
	}
	temp, err := p.temp(data, info)
	if err != nil {
		return failed(p.rel, err)
	}
	defer p.dir.Remove(temp) // gone once renamed
	now, err := p.read(MaxFile)
	if err != nil {
		return err
	}
	if now.SHA256 != seen {
		return &Changed{p.rel}
	}
	if err := p.dir.Rename(temp, p.base); err != nil {
		return failed(p.rel, err)
	}
	return nil
}

func (p *spot) create(data []byte) error {
	switch info, err := p.dir.Lstat(p.base); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return moved(p.rel)
	case err == nil:
		if err := regular(p.rel, info); err != nil {
			return err
		}
		return &Changed{p.rel}
	case !errors.Is(err, fs.ErrNotExist):
		return failed(p.rel, err)
	}
	temp, err := p.temp(data, nil)
	if err != nil {
		return failed(p.rel, err)
	}
	defer p.dir.Remove(temp)
	// A link fails where a name exists, a rename doesn't. Some file systems have no links.
	err = p.dir.Link(temp, p.base)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if _, gone := p.dir.Lstat(p.base); missing(gone) {
			err = p.dir.Rename(temp, p.base)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return &Changed{p.rel}
	}
	if err != nil {
		return failed(p.rel, err)
	}
	return nil
}

// temp writes data to a new file beside it and to the disk. like gives mode and owner; nil: those of a new file. The rights of its
// owner or group, which a file may give to whoever runs it, were given to another content.
func (p *spot) temp(data []byte, like fs.FileInfo) (name string, err error) {
	perm := fs.FileMode(0o666)
	if like != nil {
		perm = 0o600
	}
	f, name, err := p.createTemp(perm)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && like != nil {
		keepOwner(f, like)
		err = f.Chmod(like.Mode() & (fs.ModePerm | fs.ModeSticky))
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		p.dir.Remove(name)
		return "", err
	}
	return name, nil
}

// createTemp makes a file under the first free name, after those that writers of the same file left behind.
func (p *spot) createTemp(perm fs.FileMode) (f *os.File, name string, err error) {
	p.sweep()
	for n := range maxTemps {
		name = fmt.Sprintf("%s%d-%d%s", tempPrefix(p.base), os.Getpid(), n, tempSuffix)
		f, err = p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, name, err
}

// The name of a temporary file tells whose it is: .NAME.overt-PID-N.tmp.
const tempSuffix = ".tmp"

func tempPrefix(base string) string { return "." + clip(base) + ".overt-" }

// began is when this process did.
var began = time.Now()

// sweep removes the temporary files beside it that processes left which were killed: those older than this process
// whose own is gone. A number may be ours by now.
func (p *spot) sweep() {
	dir, err := p.dir.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, ok := tempPID(name, tempPrefix(p.base))
		if !ok || pid != os.Getpid() && running(pid) {
			continue
		}
		if info, err := p.dir.Lstat(name); err == nil && info.Mode().IsRegular() && info.ModTime().Before(began) {
			_ = p.dir.Remove(name)
		}
	}
}

// tempPID reads the number of the process that made a temporary file.
func tempPID(name, prefix string) (pid int, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	if rest, ok = strings.CutSuffix(rest, tempSuffix); !ok {
		return 0, false
	}
	first, second, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	return pid, err == nil && err2 == nil && rest == fmt.Sprintf("%d-%d", pid, n) && pid > 0
}

// clip keeps the temporary name within what file systems take (255 bytes).
func clip(name string) string {
	if len(name) > 200 {
		return name[:200]
	}
	return name
}
