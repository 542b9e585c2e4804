package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"overt/internal/event"
)

// restoring carries out a plan.
type restoring struct {
	k     *Keeper
	id    string
	done  event.UndoCompleted
	left  map[string]bool   // paths that are left alone
	temps map[string]temp   // by path that they are for
	modes map[string]uint32 // of folders that were opened to us meanwhile
}

// temp is a content that waits for its place.
type temp struct{ folder, name string }

// restore does what a plan says. First every content is written beside its place, so that a full disk changes nothing.
// What has become different since the plan was made is left alone. The error says that nothing was done.
func (k *Keeper) restore(ctx context.Context, id string, p *Plan) (event.UndoCompleted, error) {
	r := &restoring{k: k, id: strings.TrimPrefix(id, "chk_"), left: map[string]bool{}, temps: map[string]temp{}, modes: map[string]uint32{}}
	steps := p.steps
	r.relax(steps)
	defer r.tighten()
	if err := r.stage(ctx, steps); err != nil {
		r.sweep()
		return r.done, err
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(b.path, a.path) }) // what is in a folder before it
	for _, s := range steps {
		if s.have.kind != kindNone && s.want.kind != s.have.kind {
			r.try(s, s.want.kind == kindNone, r.remove)
		}
	}
	slices.Reverse(steps)
	for _, s := range steps {
		if s.want.kind == kindFolder && s.have.kind != kindFolder {
			r.try(s, true, r.mkdir)
		}
	}
	for _, s := range steps {
		if s.want.hashed() {
			r.try(s, true, r.put)
		}
	}
	slices.Reverse(steps)
	for _, s := range steps {
		if s.want.kind == kindFolder {
			delete(r.modes, s.path)
			r.try(s, s.have.kind == kindFolder, r.chmod)
		}
	}
	r.sweep()
	return r.done, nil
}

// errMoved says that a path is not as it was planned.
var errMoved = errors.New("it has changed")

// try does one thing to a path, unless something before has failed for it. last: it is what the path is counted by.
func (r *restoring) try(s step, last bool, f func(d dir, name string, s step) error) {
	if r.left[s.path] {
		return
	}
	d, err := r.k.folder(s.path)
	if err == nil {
		err = f(d, path.Base(s.path), s)
		d.close()
	}
	switch {
	case err == nil && last && s.want.kind == kindNone:
		r.done.Deleted++
	case err == nil && last:
		r.done.Restored++
	case err == nil:
	case errors.Is(err, errMoved):
		r.conflict(s, whyChanged)
	case notEmpty(err):
		r.conflict(s, whyNotEmpty)
	case gone(err):
		r.conflict(s, whyBlocked)
	default:
		r.conflict(s, whyFailed)
	}
}

func (r *restoring) conflict(s step, why string) {
	r.left[s.path] = true
	r.done.Conflicts = append(r.done.Conflicts, event.Conflict{Path: recorded(s.path), Why: why})
}

// still makes sure that what stands at a name is what the plan was made for.
func (s step) still(d dir, name string) error {
	now, err := d.stat(name)
	switch {
	case err != nil && gone(err):
		now = stat{}
	case err != nil:
		return err
	}
	if now.kind != s.stat.kind || now.kind == kindNone {
		if now.kind != s.stat.kind {
			return errMoved
		}
		return nil
	}
	if now.inode != s.stat.inode || now.kind != kindFolder && (now.bytes != s.stat.bytes || now.mtime != s.stat.mtime || now.mode != s.stat.mode) {
		return errMoved
	}
	return nil
}

func (r *restoring) remove(d dir, name string, s step) error {
	if err := s.still(d, name); err != nil {
		return err
	}
	return d.remove(name, s.have.kind == kindFolder)
}

func (r *restoring) mkdir(d dir, name string, s step) error { return d.mkdir(name, s.want.mode) }

// put moves a content to its place, or sets its mode where that is all that differs.
func (r *restoring) put(d dir, name string, s step) error {
	if s.have.kind == s.want.kind {
		if err := s.still(d, name); err != nil {
			return err
		}
		if s.want.kind == kindFile && s.have.kept && s.have.hash == s.want.hash {
			return d.chmod(name, s.want.mode)
		}
	}
	t := r.temps[s.path]
	from, err := r.k.folder(path.Join(t.folder, "x"))
	if err != nil {
		return err
	}
	defer from.close()
	if s.have.kind == s.want.kind {
		return from.rename(t.name, d, name)
	}
	return from.link(t.name, d, name) // fails where a name has come up meanwhile
}

func (r *restoring) chmod(d dir, name string, s step) error {
	now, err := d.stat(name)
	if err != nil {
		return err
	}
	if now.kind != kindFolder {
		return errMoved
	}
	return d.chmod(name, s.want.mode)
}

// relax lets us work in the folders of the steps, where their modes forbid it. [restoring.tighten] takes that back.
func (r *restoring) relax(steps []step) {
	seen := map[string]bool{}
	for _, s := range steps {
		var above []string
		for at := s.path; at != "."; at = path.Dir(at) {
			above = append(above, at)
		}
		for _, at := range slices.Backward(above) {
			if seen[at] {
				continue
			}
			seen[at] = true
			d, err := r.k.folder(at)
			if err != nil {
				continue
			}
			now, err := d.stat(path.Base(at))
			if err == nil && now.kind == kindFolder && now.mode&0o700 != 0o700 && d.chmod(path.Base(at), now.mode|0o700) == nil {
				r.modes[at] = now.mode
			}
			d.close()
		}
	}
}

func (r *restoring) tighten() {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(r.modes))) { // what is in a folder before it is closed
		if d, err := r.k.folder(at); err == nil {
			if now, err := d.stat(path.Base(at)); err == nil && now.kind == kindFolder {
				_ = d.chmod(path.Base(at), r.modes[at])
			}
			d.close()
		}
	}
}

// stage writes every content into the nearest folder above its place that is there.
func (r *restoring) stage(ctx context.Context, steps []step) error {
	n := 0
	for _, s := range steps {
		if !s.want.hashed() || s.want.kind == kindFile && s.have.kind == kindFile && s.have.kept && s.have.hash == s.want.hash {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n++
		at := path.Dir(s.path)
		d, err := r.k.folder(path.Join(at, "x"))
		for ; err != nil && gone(err) && at != "."; d, err = r.k.folder(path.Join(at, "x")) {
			at = path.Dir(at)
		}
		if err != nil {
			return err
		}
		t := temp{at, fmt.Sprintf("%s%s-%d", tempPrefix, r.id, n)}
		r.temps[s.path] = t
		err = r.write(ctx, d, t.name, s.want, n <= maxSynced)
		d.close()
		if err != nil {
			return fmt.Errorf("nothing was undone: %s can't be written: %w", recorded(s.path), err)
		}
	}
	if n > maxSynced {
		syncAll()
	}
	return nil
}

// maxSynced is how many files are put on the disk one by one; of more, the whole system is asked to.
const maxSynced = 64

func (r *restoring) write(ctx context.Context, d dir, name string, want state, sync bool) error {
	content, err := r.k.files.Object(ctx, want.hash[:])
	if err != nil {
		return err
	}
	defer content.Close()
	if want.kind == kindLink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return anew(d, name, func() error { return d.symlink(string(target), name) })
	}
	var f *os.File
	err = anew(d, name, func() (err error) {
		f, err = d.create(name)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = chmodFile(f, want.mode)
	}
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// anew makes a file of a name that nobody else gives, once more where one is left by a process that died.
func anew(d dir, name string, create func() error) error {
	err := create()
	if errors.Is(err, fs.ErrExist) && d.remove(name, false) == nil {
		return create()
	}
	return err
}

// sweep removes the contents that did not get to their places.
func (r *restoring) sweep() {
	for _, t := range r.temps {
		r.k.removeTemp(path.Join(t.folder, t.name))
	}
}

func (k *Keeper) removeTemp(p string) {
	if d, err := k.folder(p); err == nil {
		_ = d.remove(path.Base(p), false) // most are gone
		d.close()
	}
}

// chmodFile sets all of a mode, set-id bits too.
func chmodFile(f *os.File, mode uint32) error {
	m := os.FileMode(mode & 0o777)
	for bit, is := range map[uint32]os.FileMode{0o4000: os.ModeSetuid, 0o2000: os.ModeSetgid, 0o1000: os.ModeSticky} {
		if mode&bit != 0 {
			m |= is
		}
	}
	return f.Chmod(m)
}
