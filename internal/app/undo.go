package app

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/shell"
	"overt/internal/store"
	"overt/internal/tool"
)

// keeper keeps the states of a workspace's files beside its record; nil where the system has not what it takes. max bounds
// what is kept, as the settings have it; 0 is no limit.
func keeper(o Options, root string, s *store.Store, max int64) (*checkpoint.Keeper, error) {
	home, _ := variables(o.Env)("HOME")
	k, err := checkpoint.Open(checkpoint.Options{
		Root: root, Home: home, State: []string{o.State}, Files: s.Files, Jobs: s.OpenJobs,
		Aside: filepath.Join(folder(o.State, o.Root), "aside"),
		Watch: checkpoint.Watch{May: tool.MayPlant, Planted: tool.Planted}, Limits: checkpoint.Limits{Total: room(max, o.Config != nil && o.Config.Ephemeral)},
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return k, err
}

// room is how many bytes of the files that are there are kept where max bounds all that is; 0 is no limit.
func room(max int64, ephemeral bool) int64 {
	switch {
	case ephemeral: // it may be in memory, and nothing of it is left for an undo
		return ephemeralFiles
	case max == 0:
		return math.MaxInt64
	}
	return max - max/2 // the other half is for what was
}

// ephemeralFiles bounds, in bytes, what a run that leaves nothing behind keeps of the files that are there.
const ephemeralFiles = 64 << 20

// checkpoints is nil where there is no keeper: a nil pointer in an interface is not.
func checkpoints(k *checkpoint.Keeper) session.Checkpoints {
	if k == nil {
		return nil
	}
	return k
}

// ErrNoUndo says that this system keeps no states of files.
var ErrNoUndo = errors.New("overt keeps no states of files on this system, so nothing can be undone")

// Changes lists the changes to files that a task made, the newest last.
func (t *Tasks) Changes(ctx context.Context, task string) ([]checkpoint.Entry, error) {
	if t.keeper == nil {
		return nil, ErrNoUndo
	}
	late, err := t.unsettled(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := t.keeper.Covered(ctx)
	if err != nil {
		return nil, err
	}
	return checkpoint.List(func(yield func(event.Fact, error) bool) {
		for f, err := range t.store.Read(ctx, event.Path{Task: task, Facts: true}) {
			if !yield(f, err) {
				return
			}
		}
		for _, f := range late {
			if f.Scope.Task == task && !yield(f, nil) {
				return
			}
		}
	}, kept)
}

// unsettled gives what is still to be recorded of changes by a program that died. While anybody is at work, nothing is known of that.
func (t *Tasks) unsettled(ctx context.Context) ([]event.Fact, error) {
	if !t.store.FilesMarked() {
		return nil, nil
	}
	free, err := t.store.Free()
	if err != nil || !free {
		return nil, err
	}
	return t.keeper.Unsettled(ctx, t.store)
}

// PreviewUndo says what an undo would do now.
func (t *Tasks) PreviewUndo(ctx context.Context, task string, w checkpoint.Wish, force bool) (*checkpoint.Plan, []string, error) {
	targets, killed, err := t.targets(ctx, task, w)
	if err != nil {
		return nil, nil, err
	}
	plan, err := t.keeper.Preview(ctx, targets, force)
	if err == nil {
		plan.Killed = killed
	}
	return plan, targets, t.went(ctx, err, targets)
}

// ErrFilesLost says that what a change was is not kept because files.db was lost.
var ErrFilesLost = errors.New("what this change was is lost with the files.db that was here, which was removed or emptied, so it can't be undone")

// went tells, of changes that are not kept, what was pruned from what was lost.
func (t *Tasks) went(ctx context.Context, err error, targets []string) error {
	if !errors.Is(err, checkpoint.ErrPruned) {
		return err
	}
	lost, look := t.store.FilesWent(ctx, targets)
	if look == nil && lost {
		return ErrFilesLost
	}
	return errors.Join(err, look)
}

// LostChanges is how many changes can't be undone because files.db was found gone or empty just now.
func (t *Tasks) LostChanges() int64 { return t.store.LostChanges() }

// Undo takes changes of a task back, under the lease.
func (t *Tasks) Undo(ctx context.Context, task string, w checkpoint.Wish, force bool) (done checkpoint.Result, err error) {
	op := &undo{t: t, task: task, wish: w, force: force, done: &done}
	return done, t.Session.Do(ctx, "", task, op)
}

// undo chooses what is meant once nobody is at work, and after what was left open is closed.
type undo struct {
	t     *Tasks
	task  string
	wish  checkpoint.Wish
	force bool
	done  *checkpoint.Result
}

// Alone implements what session.Op says.
func (*undo) Alone() string { return "undo" }

// Apply implements session.Op.
func (u *undo) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	targets, killed, err := u.t.targets(ctx, u.task, u.wish)
	if err != nil {
		return err
	}
	err = checkpoint.Undo{
		Keeper: u.t.keeper, ID: newID("chk_"), Targets: targets, Redo: u.wish.Redo, Force: u.force, Done: u.done,
	}.Apply(ctx, s, log)
	u.done.Killed = killed
	return u.t.went(ctx, err, targets)
}

// targets chooses what a wish means; killed tells whether a change is among it that was found after its process was killed.
func (t *Tasks) targets(ctx context.Context, task string, w checkpoint.Wish) (ids []string, killed bool, err error) {
	list, err := t.Changes(ctx, task)
	if err != nil {
		return nil, false, err
	}
	ids, err = checkpoint.Choose(list, w)
	return ids, slices.ContainsFunc(list, func(e checkpoint.Entry) bool { return e.Killed && slices.Contains(ids, e.ID) }), err
}

// endJobs ends the jobs of all shells, and has it recorded with what they have changed.
func (a *App) endJobs(ctx context.Context) error {
	a.mu.Lock()
	any := false
	for _, sh := range a.shell {
		any = any || len(sh.Jobs()) > 0
		sh.Close()
	}
	a.mu.Unlock()
	if !any {
		return nil
	}
	self := event.Group(shell.Self())
	return a.Session.EndJobs(ctx, func(g event.Group) bool { return g == self })
}

// retainFiles forgets states of files that are older, or take more, than the settings allow.
func (a *App) retainFiles(ctx context.Context) error {
	size, err := filesSize(folder(a.o.State, a.o.Root))
	if err != nil || size == 0 {
		return err
	}
	c := a.o.Config
	return a.prune(ctx, size, c.FilesMax, c.FilesAge, func(ctx context.Context, before time.Time, keep int64) error {
		files, err := a.store.Files(ctx)
		if err == nil {
			_, err = files.Prune(ctx, before, keep, false)
		}
		return err
	})
}

// filesSize is how much the states of files take in the folder of a record.
func filesSize(dir string) (n int64, err error) {
	info, err := os.Stat(filepath.Join(dir, "files.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n = info.Size()
	list, err := os.ReadDir(filepath.Join(dir, "objects"))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	for _, d := range list {
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
	}
	return n, err
}

// pruneFiles takes former states of files away.
func pruneFiles(ctx context.Context, s *store.Store, o DBPrune) (store.FilesPruned, error) {
	var before time.Time
	if o.FilesOlder != 0 {
		before = time.Now().Add(-o.FilesOlder)
	}
	files, err := s.ExistingFiles(ctx)
	if err != nil || files == nil {
		return store.FilesPruned{}, err
	}
	return files.Prune(ctx, before, o.FilesMax, o.DryRun)
}
