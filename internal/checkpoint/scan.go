package checkpoint

import (
	"context"
	"path"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// maxDepth bounds how many folders deep a walk goes.
	maxDepth = 200
	// workers is how many goroutines walk: listing waits for the system.
	workers = 4
	// tempPrefix begins the names of files that an undo makes; what is left of them is removed.
	tempPrefix = ".overt-undo-"
)

// found is a path that is not as the index says.
type found struct {
	path string
	old  *entry // nil: it was not known
	now  stat   // kind 0: it is gone
}

// uncovered counts what is not kept for one reason, with some of the paths.
type uncovered struct {
	what  string
	n     int
	paths []string
}

// add counts one more.
func add(list []uncovered, what, p string) []uncovered {
	for i := range list {
		if list[i].what == what {
			list[i].n++
			if len(list[i].paths) < maxNamed {
				list[i].paths = append(list[i].paths, p)
			}
			return list
		}
	}
	return append(list, uncovered{what, 1, []string{p}})
}

// maxNamed is how many paths are named of what is not covered.
const maxNamed = 5

// scanner is one walk.
type scanner struct {
	ctx    context.Context
	k      *Keeper
	ix     *index
	scan   int
	device uint64
	count  atomic.Int64
	slots  chan struct{}
	wg     sync.WaitGroup
	stop   atomic.Bool

	only func(path string) bool // which paths are noted; nil: all are, and they are counted
	seen map[string]bool        // paths that were noted as gone, where one may be met twice; nil: none may

	mu    sync.Mutex
	found []found
	left  []uncovered
	temps []string
	err   error
}

// scan compares every path of the workspace with the index. With only, there may be any number of paths, of which those are
// noted that it takes.
func (k *Keeper) scan(ctx context.Context, only func(path string) bool) (*scanner, error) {
	k.index.scan++
	s := &scanner{ctx: ctx, k: k, ix: k.index, scan: k.index.scan, only: only, slots: make(chan struct{}, workers-1)}
	top, err := openTop(k.root)
	if err != nil {
		return nil, err
	}
	if s.device, err = top.device(); err != nil {
		top.close()
		return nil, err
	}
	s.folder(top, ".", 0, nil)
	s.wg.Wait()
	if s.err == nil {
		s.err = ctx.Err()
	}
	return s, s.err
}

// inObjects is what is looked at of a folder of Git's objects, and of "info" in it: the files by which it has others elsewhere.
func inObjects(name string) []string {
	if name == "objects" {
		return []string{"info"}
	}
	return []string{"alternates", "http-alternates"}
}

// folder looks at what is in an open folder, and closes it. With only a part it looks at nothing else there.
func (s *scanner) folder(d dir, at string, depth int, part []string) {
	defer d.close()
	names, err := part, error(nil)
	if part == nil {
		names, err = d.names()
	}
	if err != nil {
		s.note(func() { s.left = add(s.left, skippedRead, at) })
		s.assumeUnchanged(at)
		return
	}
	if s.only == nil && s.count.Add(int64(len(names))) > int64(s.k.o.Entries) {
		s.fail(errMany)
	}
	store := objectStore(names)
	known := s.ix.folders[at]
	met := 0
	if part != nil {
		s.assumeUnchanged(at)
	}
	for _, name := range names {
		if s.stopped() {
			return
		}
		p := name
		if at != "." {
			p = at + "/" + name
		}
		if strings.HasPrefix(name, tempPrefix) || written(name) {
			s.note(func() { s.temps = append(s.temps, p) })
			continue
		}
		if s.k.skip[p] {
			continue
		}
		now, err := d.stat(name)
		e := known[name]
		if gone(err) {
			if part != nil && e != nil {
				s.gone(p)
			}
			continue
		}
		if e != nil {
			e.scan = s.scan
			met++
		}
		if err != nil { // as where the folder may be listed and not entered
			s.note(func() { s.left = add(s.left, skippedRead, p) })
			s.assumeUnchanged(p)
			continue
		}
		if e == nil || !e.same(now) {
			s.noteFound(found{p, e, now})
		} else if e.skipped != "" {
			s.note(func() { s.left = add(s.left, e.skipped, p) })
		}
		if now.kind != kindFolder {
			if e != nil && e.stat.kind == kindFolder {
				s.emptied(p)
			}
			continue
		}
		switch {
		case now.device != s.device:
			s.note(func() { s.left = add(s.left, "mount", p) })
			s.assumeUnchanged(p)
		case depth >= maxDepth:
			s.note(func() { s.left = add(s.left, "deep", p) })
			s.assumeUnchanged(p)
		case store && name == "objects":
			s.note(func() { s.left = add(s.left, leftObjects, p) })
			s.enter(d, name, p, depth, inObjects(name))
		case part != nil:
			s.enter(d, name, p, depth, inObjects(name))
		default:
			s.enter(d, name, p, depth, nil)
		}
	}
	if met < len(known) {
		for name, e := range known {
			if e.scan != s.scan {
				s.gone(path.Join(at, name))
			}
		}
	}
}

// enter goes into a folder, on a goroutine of its own if one is free, and looks at a part of it, or with nil at all.
func (s *scanner) enter(d dir, name, p string, depth int, part []string) {
	next, err := d.enter(name)
	if err != nil {
		s.note(func() { s.left = add(s.left, skippedRead, p) })
		s.assumeUnchanged(p)
		return
	}
	select {
	case s.slots <- struct{}{}:
		s.wg.Go(func() {
			s.folder(next, p, depth+1, part)
			<-s.slots
		})
	default:
		s.folder(next, p, depth+1, part)
	}
}

// assumeUnchanged takes what is known below a folder that can't be looked into as it is.
func (s *scanner) assumeUnchanged(at string) {
	for name, e := range s.ix.folders[at] {
		e.scan = s.scan
		s.assumeUnchanged(path.Join(at, name))
	}
}

// gone notes a path that is not there any more, with all below it.
func (s *scanner) gone(p string) {
	s.note(func() {
		s.ix.all(p, func(p string, e *entry) {
			if s.seen != nil {
				if s.seen[p] {
					return
				}
				s.seen[p] = true
			}
			if s.only == nil || s.only(p) {
				s.found = append(s.found, found{path: p, old: e})
			}
		})
	})
}

// emptied notes all that was below a folder in whose place something else stands.
func (s *scanner) emptied(p string) {
	for name := range s.ix.folders[p] {
		s.gone(path.Join(p, name))
	}
}

func (s *scanner) noteFound(f found) {
	if s.only == nil || s.only(f.path) {
		s.note(func() { s.found = append(s.found, f) })
	}
}

func (s *scanner) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *scanner) fail(err error) {
	s.note(func() {
		if s.err == nil {
			s.err = err
		}
	})
	s.stop.Store(true)
}

func (s *scanner) stopped() bool { return s.stop.Load() || s.ctx.Err() != nil }

// written tells whether a name is that of a content on its way to its place, as package workspace gives it: .NAME.overt-PID-N.tmp.
// One that is still there when a workspace is looked at was left by a process that was killed.
func written(name string) bool {
	rest, ok := strings.CutSuffix(name, ".tmp")
	i := strings.LastIndex(rest, ".overt-")
	if !ok || i < 1 || name[0] != '.' {
		return false
	}
	pid, n, ok := strings.Cut(rest[i+len(".overt-"):], "-")
	return ok && pid != "" && n != "" && strings.Trim(pid+n, "0123456789") == ""
}

// objectStore tells whether a folder is one of Git's, whose objects lie in it.
func objectStore(names []string) bool {
	has := 0
	for _, n := range names {
		if n == "HEAD" || n == "objects" || n == "refs" {
			has++
		}
	}
	return has == 3
}

// look compares single paths and the folders above them with the index.
func (k *Keeper) look(paths []string) *scanner {
	s := &scanner{k: k, ix: k.index, seen: map[string]bool{}}
	seen := map[string]bool{}
	for _, p := range paths {
		for at := p; at != "."; at = path.Dir(at) {
			if seen[at] || s.k.skip[at] {
				continue
			}
			seen[at] = true
			now, err := k.stat(at)
			if err != nil { // what can't be seen is taken for unchanged, as in a walk
				s.left = add(s.left, skippedRead, at)
				continue
			}
			old := k.index.get(at)
			switch {
			case now.kind == kindNone && old != nil:
				s.gone(at)
			case now.kind != kindNone && (old == nil || !old.same(now)):
				s.found = append(s.found, found{at, old, now})
				if old != nil && old.stat.kind == kindFolder && now.kind != kindFolder {
					s.emptied(at)
				}
			case old != nil && old.skipped != "":
				s.left = add(s.left, old.skipped, at)
			}
		}
	}
	return s
}
