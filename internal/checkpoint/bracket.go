package checkpoint

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/store"
)

const (
	// maxListed bounds how many changes a fact lists, and how many are told that were found.
	maxListed = 100
	maxPaths  = 200
)

// leftObjects is what is not covered of a repository's own folder.
const leftObjects = "git-objects"

// Uncovered says what can't be taken back of a change to the paths, as far as it is known before; nil paths: anything in the
// workspace.
func (k *Keeper) Uncovered(paths []string) []event.Uncovered {
	switch {
	case len(paths) > 0:
		return nil
	case !k.Whole():
		return k.refused()
	}
	return slices.DeleteFunc(k.whole.lacks(), func(u event.Uncovered) bool { return u.What == leftObjects }) // they are only added
}

// Whole tells whether the whole workspace is kept, as far as is known: it is no home folder, and not too large.
func (k *Keeper) Whole() bool {
	return !k.none && !k.whole.tooMany()
}

// Before makes sure that what a call may change is kept as it is: the paths, relative to the workspace with links resolved,
// and the folders above them; nil: the whole workspace. It gives what is to be recorded before the call has an effect, and drafts of
// the changes that nobody had recorded: of others, or in a checkpoint of their own where jobs are at work, see [Keeper.Jobs]. Until [Keeper.After] or [Keeper.Drop] every other bracket waits. confined says that the
// call is of a confined command: [Keeper.PutBack] is to come before [Keeper.After], also if the process dies.
//
// Where many files are to be read, as the first time in a workspace, slow is called with their number, unless it is nil.
//
// An error says that the state could not be kept; the call must not run, and nothing is open.
func (k *Keeper) Before(ctx context.Context, s event.Scope, id string, paths []string, confined bool, slow func(files int)) (event.CheckpointTaken, []event.Draft, error) {
	if err := k.take(ctx); err != nil {
		return event.CheckpointTaken{}, nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slow = slow
	taken, outside, err := k.before(ctx, s, id, paths, confined)
	if err != nil {
		k.open, k.slow = nil, nil
		k.free()
		err = &KeepError{store.Full(err), err}
	}
	return taken, outside, err
}

func (k *Keeper) before(ctx context.Context, s event.Scope, id string, paths []string, confined bool) (taken event.CheckpointTaken, outside []event.Draft, err error) {
	taken.Paths = recordedAll(paths)
	k.open = &bracket{id: id, paths: paths}
	if paths == nil && !k.Whole() {
		k.open.nothing = true
		taken.Uncovered = k.refused()
		return taken, nil, nil
	}
	if err := k.load(ctx); err != nil {
		return taken, nil, err
	}
	if err := k.mark(); err != nil {
		return taken, nil, err
	}
	known := k.index.complete
	list, left, err := k.survey(ctx, paths)
	if errors.Is(err, errMany) {
		k.whole.setMany()
		k.open.nothing = true
		taken.Uncovered = k.refused()
		return taken, nil, nil
	}
	if err != nil {
		return taken, nil, err
	}
	covers, err := json.Marshal(paths)
	if err != nil {
		return taken, nil, err
	}
	taken.Uncovered = told(left)
	batch := store.FileBatch{
		Complete: paths == nil,
		Open:     &store.FileCheckpoint{ID: id, Task: s.Task, Run: s.Run, Covers: string(covers), Confined: confined, Time: k.o.Now().UnixMilli()},
	}
	var jobs []event.Fact
	met := slices.DeleteFunc(slices.Clone(list), func(n difference) bool { return !n.changed() || n.old == nil && !known })
	if len(met) > 0 {
		if jobs, err = k.running(ctx); err != nil {
			return taken, nil, err
		}
	}
	if len(jobs) > 0 {
		if outside, err = k.keepJobs(ctx, s, id+".job", jobs, met, batch.Open.Time); err != nil {
			return taken, nil, err
		}
	} else {
		taken.Outside, outside = len(met), outsiders(id, met)
	}
	return taken, outside, k.apply(ctx, list, batch, true)
}

// outsiders says, at the checkpoint that found it, what was changed by nobody on record.
func outsiders(id string, list []difference) (drafts []event.Draft) {
	for _, n := range list {
		if c := n.change(); len(drafts) < maxPaths/4 && !private(n.path) && c.Type == "" {
			drafts = append(drafts, event.Draft{Subject: id, Data: event.FileChanged{Path: c.Path, Op: c.Op, By: "outside", Before: c.Before, After: c.After}})
		}
	}
	return drafts
}

// After finds what changed since [Keeper.Before], keeps it, and gives what is to be recorded with the outcome of the call.
// The bracket is free in any case; after an error the checkpoint stays open until [Keeper.Recover].
func (k *Keeper) After(ctx context.Context, id string) (event.CheckpointClosed, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.open
	if o == nil || o.id != id {
		return event.CheckpointClosed{}, fmt.Errorf("checkpoint %s is not open", id)
	}
	defer k.free()
	k.open = nil
	if o.nothing {
		return event.CheckpointClosed{LeftOut: k.refused()}, nil
	}
	closed, err := k.close(ctx, id, o.paths, o.found)
	k.slow, k.left = nil, k.left || err != nil
	return closed, err
}

// close compares with the index what a checkpoint covers, unless that was done, and keeps the difference.
func (k *Keeper) close(ctx context.Context, id string, paths []string, found *survey) (out event.CheckpointClosed, err error) {
	if found == nil {
		if found, err = k.surveyAny(ctx, paths); err != nil {
			return event.CheckpointClosed{Paths: recordedAll(paths)}, err
		}
	}
	if found.many { // what was kept before is kept still, but nobody knows what changed
		k.whole.setMany()
	}
	out = k.closedWith(paths, found.list, found.many)
	batch := store.FileBatch{Close: id, Now: k.o.Now().UnixMilli(), Deltas: changed(found.list).deltas}
	return out, k.apply(ctx, found.list, batch, false)
}

// closedWith says what changed under a checkpoint that covers paths. many: there are too many.
func (k *Keeper) closedWith(paths []string, list []difference, many bool) event.CheckpointClosed {
	out := event.CheckpointClosed{Paths: recordedAll(paths)}
	if many {
		out.LeftOut = k.refused()
	}
	c := changed(list)
	out.Changes, out.More = listed(c.all)
	out.LeftOut = append(out.LeftOut, told(c.lost)...)
	return out
}

// changes is what became of the paths that a checkpoint covers.
type changes struct {
	deltas []store.FileDelta
	all    []event.Change // a repository's own last
	lost   []uncovered    // what can't be taken back of them
}

// changed puts differences together.
func changed(list []difference) (c changes) {
	for _, n := range list {
		if !n.changed() {
			continue
		}
		before, after := n.before(), n.after()
		c.deltas = append(c.deltas, store.FileDelta{
			Path: n.path, BeforeKind: before.kind, BeforeMode: before.mode, Before: before.content(),
			AfterKind: after.kind, AfterMode: after.mode, After: after.content(),
		})
		if before.kind != kindNone && before.kind != kindFolder && !before.kept {
			c.lost = add(c.lost, n.old.skipped, n.path)
		}
		c.all = append(c.all, n.change())
	}
	slices.SortFunc(c.all, func(a, b event.Change) int {
		return cmp.Or(boolean(private(a.Path))-boolean(private(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	return c
}

// Drop closes a bracket under which nothing happened, also when ctx has ended. After an error the checkpoint stays open until
// [Keeper.Recover].
func (k *Keeper) Drop(ctx context.Context, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.open
	if o == nil || o.id != id {
		return fmt.Errorf("checkpoint %s is not open", id)
	}
	defer k.free()
	k.open, k.slow = nil, nil
	if o.nothing {
		return nil
	}
	err := k.files.Drop(context.WithoutCancel(ctx), id)
	k.left = k.left || err != nil
	return err
}

// survey is what a bracket has come to.
type survey struct {
	list []difference
	many bool // there are too many paths: list has none
}

// surveyAny is [Keeper.survey] where too many paths are no error.
func (k *Keeper) surveyAny(ctx context.Context, paths []string) (*survey, error) {
	list, _, err := k.survey(ctx, paths)
	if errors.Is(err, errMany) {
		return &survey{many: true}, nil
	}
	return &survey{list: list}, err
}

// survey compares with the index, and reads and keeps what differs, which it gives in order of paths.
func (k *Keeper) survey(ctx context.Context, paths []string) ([]difference, []uncovered, error) {
	var s *scanner
	var err error
	if paths == nil {
		s, err = k.scan(ctx, nil)
	} else {
		s = k.look(paths)
	}
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(s.found, func(a, b found) int { return cmp.Compare(a.path, b.path) })
	list, err := k.read(ctx, s.found)
	if err != nil {
		return nil, nil, err
	}
	left := s.left
	for _, n := range list {
		if n.now != nil && n.now.skipped != "" {
			left = add(left, n.now.skipped, n.path)
		}
	}
	if paths == nil {
		k.whole.setLacks(left)
	}
	return list, left, nil
}

// apply writes what was found, and then lets the index have it.
func (k *Keeper) apply(ctx context.Context, list []difference, b store.FileBatch, full bool) error {
	for _, n := range list {
		if n.now == nil {
			b.Gone = append(b.Gone, n.path)
		} else {
			b.Entries = append(b.Entries, n.now.stored(n.path))
		}
	}
	generation, err := k.files.Apply(ctx, b, full)
	if err != nil {
		return err
	}
	for _, n := range list {
		if n.now == nil {
			k.index.drop(n.path)
		} else {
			k.index.put(n.path, n.now)
		}
	}
	k.index.generation, k.index.complete = generation, k.index.complete || b.Complete
	return nil
}

// refused says why nothing is kept of the workspace.
func (k *Keeper) refused() []event.Uncovered {
	if k.none {
		return []event.Uncovered{{What: event.UncoveredHome}}
	}
	return []event.Uncovered{{What: event.UncoveredMany, N: k.o.Entries}}
}

// change is what was found, in the words of facts.
func (n difference) change() event.Change {
	before, after := n.before(), n.after()
	c := event.Change{Path: recorded(n.path), Before: before.hex(), After: after.hex()}
	is := after
	switch {
	case before.kind == kindNone:
		c.Op = "create"
	case after.kind == kindNone:
		c.Op, is = "delete", before
	case before.kind != after.kind:
		c.Op = "overwrite"
	case before.hash == after.hash && before.kept == after.kept && before.mode != after.mode:
		c.Op = "mode"
	default:
		c.Op = "edit"
	}
	if after.kind != kindNone && before.kind != kindNone && before.mode != after.mode {
		c.Mode = fmt.Sprintf("%o", after.mode)
	}
	switch is.kind {
	case kindFolder:
		c.Type = "folder"
	case kindLink:
		c.Type = "link"
	case kindOther:
		c.Type = "special"
	}
	return c
}

// listed bounds what a fact lists, which stays under 16 KB.
func listed(all []event.Change) ([]event.Change, int) {
	size := 0
	for i, c := range all {
		if size += 160 + len(c.Path); i == maxListed || size > 12<<10 {
			return all[:i], len(all) - i
		}
	}
	return all, 0
}

func (s state) content() []byte {
	if !s.kept {
		return nil
	}
	return s.hash[:]
}

func (s state) hex() string { return hex.EncodeToString(s.content()) }

// recorded is a path as facts hold it, which are UTF-8.
func recorded(p string) string { return strings.ToValidUTF8(p, "\uFFFD") }

func recordedAll(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, recorded(p))
	}
	return out
}

func told(list []uncovered) (out []event.Uncovered) {
	for _, u := range list {
		paths := make([]string, len(u.paths))
		for i, p := range u.paths {
			paths[i] = recorded(p)
		}
		slices.Sort(paths)
		out = append(out, event.Uncovered{What: u.what, N: u.n, Paths: paths})
	}
	slices.SortFunc(out, func(a, b event.Uncovered) int { return cmp.Compare(a.What, b.What) })
	return out
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
