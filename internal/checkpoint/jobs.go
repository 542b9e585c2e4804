package checkpoint

import (
	"context"
	"encoding/json"

	"overt/internal/event"
	"overt/internal/store"
)

// Jobs keeps what has changed outside any bracket while jobs were at work, as [Options].Jobs has them, in a closed checkpoint of its own,
// and gives what is to be recorded: no facts where there is no job or nothing has changed. It is called before it is recorded that a
// job has ended; while one is at work, [Keeper.Before] does the same. Of others' changes nobody can tell them.
//
// The batch is of the task in s, or of that of the first job where s has none.
func (k *Keeper) Jobs(ctx context.Context, s event.Scope, id string) (event.Batch, error) {
	none := event.Batch{Scope: s}
	if err := k.take(ctx); err != nil {
		return none, err
	}
	defer k.free()
	k.mu.Lock()
	defer k.mu.Unlock()
	jobs, err := k.running(ctx)
	if err != nil || len(jobs) == 0 || !k.Whole() {
		return none, err
	}
	if err := k.load(ctx); err != nil || !k.index.complete { // a job that changes files begins with a look
		return none, err
	}
	if err := k.mark(); err != nil {
		return none, err
	}
	found, err := k.surveyAny(ctx, nil)
	if err != nil || found.many {
		return none, err
	}
	if s.Task == "" {
		s.Task = jobs[0].Scope.Task
	}
	drafts, err := k.keepJobs(ctx, s, id, jobs, found.list, k.o.Now().UnixMilli())
	return event.Batch{Scope: s, Facts: drafts}, err
}

// running gives the beginnings of the jobs that are at work.
func (k *Keeper) running(ctx context.Context) ([]event.Fact, error) {
	if k.o.Jobs == nil {
		return nil, nil
	}
	return k.o.Jobs(ctx)
}

// covered is what the row of a checkpoint says that it is of, where jobs were at work.
type covered struct {
	Jobs []string `json:"jobs"`
}

// keepJobs keeps the differences, and gives the drafts that say what changed.
func (k *Keeper) keepJobs(ctx context.Context, s event.Scope, id string, jobs []event.Fact, list []difference, now int64) ([]event.Draft, error) {
	names := jobNames(s.Task, jobs)
	c := changed(list)
	if len(c.all) == 0 {
		return nil, k.apply(ctx, list, store.FileBatch{}, false)
	}
	covers, err := json.Marshal(covered{names})
	if err != nil {
		return nil, err
	}
	err = k.apply(ctx, list, store.FileBatch{
		Open:  &store.FileCheckpoint{ID: id, Task: s.Task, Run: s.Run, Covers: string(covers), Time: now},
		Close: id, Deltas: c.deltas, Now: now,
	}, false)
	out := event.CheckpointClosed{Jobs: names, LeftOut: told(c.lost)}
	out.Changes, out.More = listed(c.all)
	return []event.Draft{{Subject: id, Data: out}}, err
}

// maxJobNames is how many jobs a fact names.
const maxJobNames = 10

// jobNames names jobs as facts of a task do: those of another task with its id before.
func jobNames(task string, jobs []event.Fact) (names []string) {
	for _, f := range jobs[:min(len(jobs), maxJobNames)] {
		j, ok := f.Data.(event.JobStarted)
		switch {
		case !ok:
		case f.Scope.Task == task:
			names = append(names, j.Job)
		default:
			names = append(names, f.Scope.Task+"/"+j.Job)
		}
	}
	return names
}

// endOfJobs says what was kept of jobs by a process that died before it could; ok is false where the checkpoint is none of these.
func (k *Keeper) endOfJobs(ctx context.Context, c store.FileCheckpoint) (closed event.CheckpointClosed, ok bool, err error) {
	var of covered
	if json.Unmarshal([]byte(c.Covers), &of) != nil || len(of.Jobs) == 0 {
		return closed, false, nil
	}
	closed, err = k.closedAs(ctx, c.ID, nil)
	closed.Jobs = of.Jobs
	return closed, true, err
}

// mark notes that a bracket may be open from now on.
func (k *Keeper) mark() error {
	if k.marked {
		return nil
	}
	if err := k.files.Mark(); err != nil {
		return err
	}
	k.marked = true
	return nil
}
