package trace

import (
	"context"
	"time"

	"overt/internal/store"
)

// Task is a task as front ends see it.
type Task struct {
	ID      string    `json:"task"`
	Title   *string   `json:"title"`
	State   string    `json:"state"`
	Origin  string    `json:"origin"`
	Model   *string   `json:"model"`
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed"`
}

// Run is a run as front ends see it.
type Run struct {
	ID       string     `json:"run"`
	Kind     string     `json:"kind"`
	Status   string     `json:"status"`
	Reason   *string    `json:"reason"`
	Accepted time.Time  `json:"accepted"`
	Ended    *time.Time `json:"ended"`
}

// Tasks lists the tasks, the last changed first.
func (r *Reader) Tasks(ctx context.Context) ([]Task, error) {
	list, err := r.s.Tasks(ctx, 0)
	out := make([]Task, 0, len(list))
	for _, t := range list {
		out = append(out, task(t))
	}
	return out, err
}

// Find gives the task that a person means: a whole id, at least 4 closing characters that are unique, or "last". Its
// errors are [store.ErrNoTask] and *[store.AmbiguousError].
func (r *Reader) Find(ctx context.Context, ref string) (Task, error) {
	t, err := r.s.FindTask(ctx, ref)
	return task(t), err
}

// Runs lists the runs of a task in order. One without an end whose process is gone is interrupted, also before recovery
// has recorded that.
func (r *Reader) Runs(ctx context.Context, id string) ([]Run, error) {
	list, err := r.s.Runs(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]Run, 0, len(list))
	for _, x := range list {
		if x.Ended == nil {
			free, err := r.s.Free()
			if err != nil {
				return nil, err
			}
			if free {
				x.Status = store.RunInterrupted
			}
		}
		out = append(out, Run{ID: x.ID, Kind: x.Kind, Status: x.Status, Reason: x.Reason, Accepted: x.Accepted, Ended: x.Ended})
	}
	return out, nil
}

func task(t store.Task) Task {
	return Task{ID: t.ID, Title: t.Title, State: t.State, Origin: t.Origin, Model: t.Model, Created: t.Created, Changed: t.Changed}
}
