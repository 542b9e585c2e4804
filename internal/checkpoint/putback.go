package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/event"
)

// Watch knows the changes that a confined command may not make, since others run or obey later what it has made. Paths are
// relative to the workspace.
type Watch struct {
	// May tells by a path alone whether a change of it may be such.
	May func(path string) bool
	// Planted tells which of the changes that may be such are. A folder comes before what is in it; there tells whether
	// something stands at a path now.
	Planted func(changes []event.Change, there func(path string) bool) []bool
}

// PutBack puts back, where [Options].Watch says so, what has changed since [Keeper.Before], and gives these paths. left are such
// paths that could not be put back. It is called before [Keeper.After], which then looks again only at these: what else changes
// after PutBack is found by the next [Keeper.Before].
func (k *Keeper) PutBack(ctx context.Context, id string) (back, left []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.open
	switch {
	case o == nil || o.id != id:
		return nil, nil, fmt.Errorf("checkpoint %s is not open", id)
	case o.nothing:
		return nil, nil, nil
	}
	back, left, o.found, err = k.putBack(ctx, id, o.paths)
	return back, left, err
}

// putBack also gives what a bracket has come to, if there is no error.
func (k *Keeper) putBack(ctx context.Context, id string, paths []string) (back, left []string, found *survey, err error) {
	if found, err = k.surveyAny(ctx, paths); err != nil {
		return nil, nil, nil, err
	}
	list := found.list
	if found.many {
		if list, err = k.surveyWatched(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	p := &Plan{}
	for _, n := range k.planted(list) {
		s := step{path: n.path, want: n.before()}
		if s.have, s.stat, err = k.present(ctx, n.path, s.want.hashed()); err != nil || s.want.kind == kindOther || s.want.hashed() && !s.want.kept {
			left = append(left, n.path)
			continue
		}
		if err := k.setAside(id, s); err != nil { // a person may have made it, meanwhile
			left = append(left, n.path)
			continue
		}
		p.steps = append(p.steps, s)
		back = append(back, n.path)
	}
	if len(p.steps) == 0 {
		return nil, left, found, nil
	}
	tried := slices.Clone(back)
	done, err := k.restore(ctx, id, p)
	if err != nil {
		return nil, append(left, back...), nil, err
	}
	for _, c := range done.Conflicts {
		if i := slices.IndexFunc(back, func(b string) bool { return recorded(b) == c.Path }); i >= 0 {
			left, back = append(left, back[i]), slices.Delete(back, i, i+1)
		}
	}
	slices.Sort(left)
	if !found.many {
		err = k.again(ctx, found, tried)
	}
	return back, left, found, err
}

// KeptAside is where what PutBack took away under a checkpoint is kept; "": nowhere.
func (k *Keeper) KeptAside(id string) string {
	if k.o.Aside == "" {
		return ""
	}
	return filepath.Join(k.o.Aside, "put-back-"+strings.TrimPrefix(id, "chk_"))
}

// maxAside bounds, in bytes, a file that is set aside; a larger one is not put back.
const maxAside = 64 << 20

// setAside keeps what stands at a path. What a process that died has kept before stays: what is equal to it is kept already, and else
// gets a place of its own.
func (k *Keeper) setAside(id string, s step) error {
	to := k.KeptAside(id)
	if to == "" || s.have.kind != kindFile && s.have.kind != kindLink {
		return nil
	}
	d, err := k.folder(s.path)
	if err != nil {
		return err
	}
	defer d.close()
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to) // links that were set aside lead nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	if s.have.kind == kindLink {
		target, err := d.readlink(path.Base(s.path))
		if err != nil {
			return err
		}
		return aside(root, s.path, func(at string) error {
			err := root.Symlink(target, at)
			if had, readErr := root.Readlink(at); err != nil && readErr == nil && had == target {
				return nil
			}
			return err
		})
	}
	from, st, err := d.openFile(path.Base(s.path))
	if err != nil {
		return err
	}
	defer from.Close()
	if st.bytes > maxAside {
		return errors.New("it is too large to be set aside")
	}
	return aside(root, s.path, func(at string) error {
		if _, err := from.Seek(0, io.SeekStart); err != nil {
			return err
		}
		f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			if had, openErr := root.Open(at); openErr == nil {
				defer had.Close()
				if equal(had, from) {
					return nil
				}
			}
			return err
		}
		_, err = io.Copy(f, io.LimitReader(from, maxAside+1))
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// equal tells whether two files could be read and have the same bytes.
func equal(a, b io.Reader) bool {
	x, y := sha256.New(), sha256.New()
	_, errA := io.Copy(x, a)
	_, errB := io.Copy(y, b)
	return errA == nil && errB == nil && bytes.Equal(x.Sum(nil), y.Sum(nil))
}

// maxAgain is how many places are tried for what is set aside.
const maxAgain = 5

// aside finds a place for what stood at a path: the same path, or where something stands in the way below a folder again-N.
func aside(root *os.Root, p string, put func(at string) error) (err error) {
	for n := range maxAgain {
		at := filepath.FromSlash(p)
		if n > 0 {
			at = filepath.Join(fmt.Sprintf("again-%d", n+1), at)
		}
		if err = root.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			err = put(at)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// again looks at some paths, and the folders above them, once more.
func (k *Keeper) again(ctx context.Context, s *survey, paths []string) error {
	now, err := k.read(ctx, k.look(paths).found)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, p := range paths {
		for at := p; at != "." && !seen[at]; at = path.Dir(at) {
			seen[at] = true
		}
	}
	for _, n := range now { // among them what was in a folder that is gone
		seen[n.path] = true
	}
	s.list = append(slices.DeleteFunc(s.list, func(n difference) bool { return seen[n.path] }), now...)
	return nil
}

// surveyWatched finds in a workspace that has too many paths what may be planted. It takes no more room for many than for few,
// and less time than it took to make them.
func (k *Keeper) surveyWatched(ctx context.Context) ([]difference, error) {
	if k.o.Watch.May == nil {
		return nil, nil
	}
	s, err := k.scan(ctx, k.o.Watch.May)
	if err != nil {
		return nil, err
	}
	return k.read(ctx, s.found)
}

// planted chooses from what was found what a confined command may not make.
func (k *Keeper) planted(list []difference) []difference {
	if k.o.Watch.May == nil {
		return nil
	}
	var may []difference
	for _, n := range list {
		if n.changed() && k.o.Watch.May(n.path) {
			may = append(may, n)
		}
	}
	slices.SortFunc(may, func(a, b difference) int { return strings.Compare(a.path, b.path) }) // a folder before what is in it
	changes := make([]event.Change, len(may))
	for i, n := range may {
		changes[i] = n.change()
		changes[i].Path = n.path
	}
	is := k.o.Watch.Planted(changes, func(at string) bool {
		s, err := k.stat(at)
		return err != nil || s.kind != kindNone
	})
	var out []difference
	for i, n := range may {
		if is[i] {
			out = append(out, n)
		}
	}
	return out
}
