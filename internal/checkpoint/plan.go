package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/store"
)

// Why a path is left alone, as [event.Conflict] says it.
const (
	whyChanged  = "changed"   // it is not as the change left it
	whyNotKept  = "not_kept"  // its content was not kept
	whyUnsure   = "unsure"    // what the change left there was not kept, so that nobody can tell whether it was changed since
	whyNotEmpty = "not_empty" // something has come into the folder
	whyBlocked  = "blocked"   // something else than a folder stands above it
	whyFailed   = "failed"    // the system refused
)

// ErrPruned says that a change is not kept any more.
var ErrPruned = errors.New("what this change was is not kept any more, so it can't be undone")

// step is what is to become of a path.
type step struct {
	path string
	have state // what is there
	stat stat  // what the system says of it
	want state
}

// Plan is what an undo would do.
type Plan struct {
	Restore   []string         // paths that get a former content, mode or existence
	Delete    []string         // paths that go
	Conflicts []event.Conflict // paths that are left alone
	Same      int              // paths that are as they are to be already
	Killed    bool             // see [Result]

	steps []step
}

// Paths lists what would change, in order.
func (p *Plan) Paths() []string {
	out := slices.Concat(p.Restore, p.Delete)
	slices.Sort(out)
	return out
}

// within leaves alone what has come up since paths were chosen: of it nothing is kept.
func (p *Plan) within(paths []string) {
	in := map[string]bool{}
	for _, at := range paths {
		in[at] = true
	}
	out := func(at string) bool { return !in[at] }
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool {
		if out(s.path) {
			p.conflict(s.path, whyChanged)
		}
		return out(s.path)
	})
	p.Restore, p.Delete = slices.DeleteFunc(p.Restore, out), slices.DeleteFunc(p.Delete, out)
}

// digest names what is to be done.
func (p *Plan) digest() string {
	h := sha256.New()
	for _, s := range p.steps {
		fmt.Fprintf(h, "%q %d %o %x %d %o %x\n", s.path, s.have.kind, s.have.mode, s.have.hash, s.want.kind, s.want.mode, s.want.hash)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Preview says what an undo of checkpoints, the newest first, would do now. With force, what was changed since is
// overwritten. Nothing is changed or kept. The error is [ErrPruned] where one of them is not kept any more.
func (k *Keeper) Preview(ctx context.Context, targets []string, force bool) (*Plan, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plan(ctx, targets, force)
}

func (k *Keeper) plan(ctx context.Context, targets []string, force bool) (*Plan, error) {
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	chains, err := k.chains(ctx, targets)
	if err != nil {
		return nil, err
	}
	p, err := k.planAll(ctx, chains, force)
	if err == nil && slices.ContainsFunc(p.Conflicts, forcible) && !force {
		err = k.beyondForce(ctx, p, chains)
	}
	return p, err
}

// planAll plans for all paths.
func (k *Keeper) planAll(ctx context.Context, chains map[string][]store.FileDelta, force bool) (*Plan, error) {
	p := &Plan{}
	for _, at := range slices.Sorted(maps.Keys(chains)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := k.planOne(ctx, p, at, chains[at], force); err != nil {
			return nil, err
		}
	}
	k.foresee(p)
	for _, s := range p.steps {
		if s.want.kind == kindNone {
			p.Delete = append(p.Delete, s.path)
		} else {
			p.Restore = append(p.Restore, s.path)
		}
	}
	return p, nil
}

// beyondForce says of what force could not bring back either why that is, so that nobody is told to try.
func (k *Keeper) beyondForce(ctx context.Context, p *Plan, chains map[string][]store.FileDelta) error {
	forced, err := k.planAll(ctx, chains, true)
	if err != nil {
		return err
	}
	why := map[string]string{}
	for _, c := range forced.Conflicts {
		why[c.Path] = c.Why
	}
	for i, c := range p.Conflicts {
		if w := why[c.Path]; w != "" && forcible(c) {
			p.Conflicts[i].Why = w
		}
	}
	ranked(p.Conflicts)
	return nil
}

// forcible tells whether a path was left alone only because it is not known to be as the change left it.
func forcible(c event.Conflict) bool { return c.Why == whyChanged || c.Why == whyUnsure }

// chains gives what checkpoints, the newest first, have changed, by paths.
func (k *Keeper) chains(ctx context.Context, targets []string) (map[string][]store.FileDelta, error) {
	out := map[string][]store.FileDelta{}
	for _, id := range targets {
		deltas, known := k.unsettled[id]
		if !known {
			var err error
			if deltas, known, err = k.files.Deltas(ctx, id); err != nil {
				return nil, err
			}
		}
		if !known {
			return nil, ErrPruned
		}
		for _, d := range deltas {
			out[d.Path] = append(out[d.Path], d)
		}
	}
	return out, nil
}

// goBack goes back from a state, change by change, the newest first. why says what stands against it.
func goBack(from state, chain []store.FileDelta, force bool) (want state, why string) {
	want = from
	for _, d := range chain {
		before, after := stateOf(d.BeforeKind, d.BeforeMode, d.Before), stateOf(d.AfterKind, d.AfterMode, d.After)
		switch {
		case same(want, after):
			want = before
		case same(want, before):
		case force:
			want = before
		case after.hashed() && !after.kept && after.kind == want.kind && before.kept: // which force can bring back
			return want, whyUnsure
		case after.hashed() && !after.kept && after.kind == want.kind:
			return want, whyNotKept
		default:
			return want, whyChanged
		}
	}
	return want, ""
}

// foresee leaves alone what the steps, which are in order of paths, can't do to the workspace as it is: to remove a folder in which
// something stays, and to bring back what has no folder above it.
func (k *Keeper) foresee(p *Plan) {
	steps := make(map[string]step, len(p.steps))
	for _, s := range p.steps {
		steps[s.path] = s
	}
	leave := func(s step, why string) {
		p.conflict(s.path, why)
		delete(steps, s.path)
	}
	for _, s := range slices.Backward(p.steps) { // what is in a folder before it
		if s.have.kind == kindFolder && s.want.kind != kindFolder && k.stays(s.path, steps) {
			leave(s, whyNotEmpty)
		}
	}
	for _, s := range p.steps {
		if _, is := steps[s.path]; is && s.want.kind != kindNone && !k.roofed(path.Dir(s.path), steps) {
			leave(s, whyBlocked)
		}
	}
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool { _, is := steps[s.path]; return !is })
	ranked(p.Conflicts)
}

// stays tells whether something is in a folder that no step removes. One that can't be listed is opened to us only when it is to go.
func (k *Keeper) stays(at string, steps map[string]step) bool {
	d, err := k.folder(path.Join(at, "x"))
	if err != nil {
		return false
	}
	defer d.close()
	names, err := d.names()
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		s, is := steps[path.Join(at, name)]
		return !is || s.want.kind != kindNone
	})
}

// roofed tells whether there is a folder at a path once the steps are done.
func (k *Keeper) roofed(at string, steps map[string]step) bool {
	if s, is := steps[at]; is {
		return s.want.kind == kindFolder
	}
	if at == "." {
		return true
	}
	s, err := k.stat(at)
	return err != nil || s.kind == kindFolder
}

// planOne plans for one path.
func (k *Keeper) planOne(ctx context.Context, p *Plan, at string, chain []store.FileDelta, force bool) error {
	s := step{path: at}
	var err error
	hashed := slices.ContainsFunc(chain, func(d store.FileDelta) bool { return d.Before != nil || d.After != nil })
	if s.have, s.stat, err = k.present(ctx, at, hashed); err != nil {
		p.conflict(at, whyFailed)
		return ctx.Err()
	}
	var why string
	if s.want, why = goBack(s.have, chain, force); why != "" {
		p.conflict(at, why)
		return nil
	}
	switch {
	case same(s.want, s.have):
		p.Same++
		return nil
	case s.want.kind == kindOther || s.want.hashed() && !s.want.kept:
		p.conflict(at, whyNotKept)
		return nil
	case s.want.hashed():
		if has, err := k.files.Has(ctx, s.want.hash[:]); err != nil || !has {
			p.conflict(at, whyNotKept)
			return err
		}
	}
	p.steps = append(p.steps, s)
	return nil
}

func (p *Plan) conflict(at, why string) {
	p.Conflicts = append(p.Conflicts, event.Conflict{Path: recorded(at), Why: why})
}

// ranked puts what can be asked for again first, so that it is among those that a fact notes.
func ranked(list []event.Conflict) {
	slices.SortFunc(list, func(a, b event.Conflict) int {
		return cmp.Or(boolean(remains(b))-boolean(remains(a)), strings.Compare(a.Path, b.Path))
	})
}

func stateOf(kind uint8, mode uint32, hash []byte) state {
	s := state{kind: kind, mode: mode, kept: hash != nil}
	copy(s.hash[:], hash)
	return s
}

// hashed tells whether there is a content that matters.
func (s state) hashed() bool { return s.kind == kindFile || s.kind == kindLink }

// same tells whether two states are known to be equal.
func same(a, b state) bool {
	if a.kind != b.kind || a.mode != b.mode {
		return false
	}
	return !a.hashed() || a.kept && b.kept && a.hash == b.hash
}

// present says what stands at a path, without keeping it. A file is read, however large it is, with hashed alone; else its content
// is like no other.
func (k *Keeper) present(ctx context.Context, at string, hashed bool) (state, stat, error) {
	d, err := k.folder(at)
	if err != nil {
		if gone(err) {
			err = nil
		}
		return state{}, stat{}, err
	}
	defer d.close()
	name := path.Base(at)
	s, err := d.stat(name)
	if err != nil {
		if gone(err) {
			err = nil
		}
		return state{}, stat{}, err
	}
	out := state{kind: s.kind, mode: s.mode}
	switch s.kind {
	case kindLink:
		target, err := d.readlink(name)
		out.hash, out.kept = sha256.Sum256([]byte(target)), err == nil
		return out, s, err
	case kindFile:
		if !hashed {
			return out, s, nil
		}
		f, opened, err := d.openFile(name)
		if errors.Is(err, fs.ErrPermission) {
			if e := k.index.get(at); e != nil && e.kept && e.sameContent(s) {
				out.hash, out.kept = e.hash, true
			}
			return out, s, nil // else not comparable
		}
		if err != nil {
			return out, s, err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, &cancelled{ctx, f}); err != nil {
			return out, s, err
		}
		h.Sum(out.hash[:0])
		out.kept, out.mode = true, opened.mode
		return out, opened, nil
	}
	return out, s, nil
}

// cancelled reads until a context ends.
type cancelled struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// Covered tells which changes can still be taken back, by their checkpoints.
func (k *Keeper) Covered(ctx context.Context) (map[string]bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	kept, err := k.files.Kept(ctx)
	for id := range k.unsettled {
		kept[id] = true
	}
	return kept, err
}

// names lists a few paths as a model or a fact may be told them.
func names(paths []string, most int) string {
	var out []string
	for _, p := range paths[:min(len(paths), most)] {
		out = append(out, fmt.Sprintf("%q", recorded(p)))
	}
	text := strings.Join(out, ", ")
	if more := len(paths) - len(out); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
