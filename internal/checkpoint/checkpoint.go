// Package checkpoint keeps the state of a workspace's files around every change, and takes changes back.
//
// A [Keeper] brackets effects: [Keeper.Before] makes sure that what is there is kept, [Keeper.After] finds what changed
// meanwhile. Both walk the workspace and compare what the system says of each file with what it said last; only files that
// moved are read. [Undo] takes changes back, three-way: a path that is no longer as the change left it is left alone.
// [List] says what can be taken back.
//
// Covered are files with their bytes and modes, folders with their modes, and links, ignored ones and the repository's own
// small files included. Not covered, and said: files over a size, what is over the total, other file systems, what can't be
// read, pipes, sockets and devices (they are never opened), and Git's objects, which are only ever added. Owners, times and
// extended attributes are not restored, and hard links come back as copies.
//
// No link is followed, neither in a walk nor when files are put back: every folder is opened from the one above it. A
// Keeper may be used by several goroutines; one bracket is open at a time. The caller has the lease of the workspace.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// Limits bound what is kept. The zero value of each is its default.
type Limits struct {
	File    int64 // bytes of one file: 64 MiB
	Total   int64 // bytes of all files as they are now: 512 MiB
	Entries int   // paths in the workspace, beyond which only what a file tool names is kept: 200,000
}

// Options of [Open].
type Options struct {
	Root  string                                      // the workspace: absolute, links resolved
	Home  string                                      // of the person; "": not known. Neither it nor what it lies in is kept whole
	Aside string                                      // folder for what PutBack takes away, absolute; "": it is not kept
	State []string                                    // folders that are ours, absolute: not looked into
	Files func(context.Context) (*store.Files, error) // opened when first needed
	Now   func() time.Time                            // nil: time.Now
	Jobs  func(context.Context) ([]event.Fact, error) // that are at work: where they began, see [event.JobStarted]; nil: there are none
	Watch Watch                                       // what is put back after a confined command; the zero Watch: nothing
	Limits
}

// Keeper keeps the states of one workspace.
type Keeper struct {
	o    Options
	root *os.Root
	skip map[string]bool // paths that are not looked into
	none bool            // the workspace is never kept whole

	token chan struct{} // held from Before to After; one token

	whole whole

	mu     sync.Mutex // over what follows
	files  *store.Files
	index  *index
	open   *bracket
	marked bool            // it is noted that a bracket may be open
	left   bool            // a bracket could not be closed, and is to be recovered
	slow   func(files int) // is told when many files are to be read; nil: nobody

	looking   bool                         // what is read is not kept
	unsettled map[string][]store.FileDelta // what [Keeper.Unsettled] found, by checkpoints
}

// whole is what was found of a workspace as a whole. It has a lock of its own, since who asks does not wait for a walk.
type whole struct {
	mu   sync.Mutex
	many bool // there are more paths than are kept
	last []uncovered
}

func (w *whole) tooMany() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.many
}

func (w *whole) setMany() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.many = true
}

func (w *whole) lacks() []event.Uncovered {
	w.mu.Lock()
	defer w.mu.Unlock()
	return told(w.last)
}

func (w *whole) setLacks(list []uncovered) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = list
}

// bracket is one that is not closed.
type bracket struct {
	id      string
	paths   []string
	nothing bool    // nothing is kept
	found   *survey // by [Keeper.PutBack], for [Keeper.After]; nil: it has not been looked
}

// Open opens a workspace. Nothing is read or made before the first bracket. Close it. The error is errors.ErrUnsupported where
// the system has no calls to work in an open folder.
func Open(o Options) (*Keeper, error) {
	if !supported {
		return nil, errors.ErrUnsupported
	}
	if o.File == 0 {
		o.File = 64 << 20
	}
	if o.Total == 0 {
		o.Total = 512 << 20
	}
	if o.Entries == 0 {
		o.Entries = 200_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", o.Root, err)
	}
	k := &Keeper{o: o, root: root, skip: map[string]bool{}, token: make(chan struct{}, 1)}
	home := o.Home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	_, above := below(o.Root, home)
	k.none = filepath.Dir(o.Root) == o.Root || home != "" && above
	for _, dir := range o.State {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, inside := below(o.Root, dir); inside {
			k.skip[rel] = true
		}
	}
	return k, nil
}

// below gives a path relative to a folder that it lies in, or is.
func below(dir, path string) (string, bool) {
	if path == "" {
		return "", false
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Close lets go of the workspace.
func (k *Keeper) Close() error { return k.root.Close() }

// take waits for the bracket of the workspace.
func (k *Keeper) take(ctx context.Context) error {
	select {
	case k.token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) free() { <-k.token }

// load opens the store and reads the index, unless it is at hand and nobody else has changed it.
func (k *Keeper) load(ctx context.Context) error {
	if k.files == nil {
		f, err := k.o.Files(ctx)
		if err != nil {
			return err
		}
		k.files = f
	}
	generation, complete, err := k.files.Scanned(ctx)
	if err != nil {
		return err
	}
	if k.index != nil && k.index.generation == generation {
		return nil
	}
	ix := newIndex()
	ix.generation, ix.complete = generation, complete
	if err := k.files.Entries(ctx, ix.load); err != nil {
		return err
	}
	k.index = ix
	return nil
}

// KeepError says that a state of files could not be kept, so that nothing may change it.
type KeepError struct {
	Full bool // for want of space
	Err  error
}

// Error implements error.
func (e *KeepError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// Code is storage_full or not_kept, as an outcome says it.
func (e *KeepError) Code() string {
	if e.Full {
		return "storage_full"
	}
	return "not_kept"
}

// errMany says that a workspace has more paths than are kept.
var errMany = errors.New("too many paths")
