package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// codeMoved says that a path leads elsewhere than when it was resolved.
const codeMoved = "changed"

func moved(rel string) error {
	return &PathError{codeMoved, rel, rel + " leads elsewhere now than when it was checked; nothing was done"}
}

// spot is a name in an open folder. The folder is the one that the path led to when it was resolved, whatever is done to
// the path meanwhile.
type spot struct {
	dir  *os.Root
	rel  string // for messages
	base string
	made []string // folders that were made on the way, innermost last
	tree *Tree
}

// spot opens the folder of a resolved path, without following a link on the way: a program that swaps a folder for a
// link between the check and the use is found out. With build, folders that are missing are made.
func (t *Tree) spot(rel, real string, build bool) (p *spot, err error) {
	p = &spot{rel: rel, base: path.Base(real), tree: t}
	if p.dir, err = t.root.OpenRoot("."); err != nil {
		return nil, failed(rel, err)
	}
	at := ""
	for name := range strings.SplitSeq(path.Dir(real), "/") {
		if name == "." {
			continue
		}
		at = path.Join(at, name)
		if err = p.enter(name, at, build); err != nil {
			p.unmake()
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// enter goes into a folder of the present one, at is its path.
func (p *spot) enter(name, at string, build bool) error {
	info, err := p.dir.Lstat(name)
	if build && errors.Is(err, fs.ErrNotExist) {
		if err = p.dir.Mkdir(name, 0o777); err == nil {
			p.made = append(p.made, at)
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			info, err = p.dir.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return failed(p.rel, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return moved(p.rel)
	case !info.IsDir():
		return &PathError{CodeMissing, p.rel, p.rel + " does not exist: a part of the path is no folder"}
	}
	next, err := p.dir.OpenRoot(name)
	if err != nil {
		return failed(p.rel, err)
	}
	is, err := next.Stat(".")
	if err == nil && !os.SameFile(info, is) {
		err = moved(p.rel)
	}
	if err != nil {
		next.Close()
		return failed(p.rel, err)
	}
	p.dir.Close()
	p.dir = next
	return nil
}

func (p *spot) close() { p.dir.Close() }

// unmake removes the folders that were made, if nothing has come into them.
func (p *spot) unmake() {
	for i := len(p.made) - 1; i >= 0; i-- {
		_ = p.tree.root.Remove(p.made[i])
	}
}
