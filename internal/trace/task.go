package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	LastRun *string   `json:"last_run"` // how it ended, or running; null: there is none, or it was not asked for
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

// Tasks lists the tasks, the last changed first, each with how its last run ended.
func (r *Reader) Tasks(ctx context.Context) ([]Task, error) {
	list, err := r.s.Tasks(ctx, 0)
	if err != nil {
		return nil, err
	}
	runs, err := r.runs(ctx, "")
	if err != nil {
		return nil, err
	}
	last := map[string]*string{}
	for _, x := range runs { // in the order in which they were accepted
		last[x.Task] = &x.Status
	}
	out := make([]Task, 0, len(list))
	for _, t := range list {
		out = append(out, task(t))
		out[len(out)-1].LastRun = last[t.ID]
	}
	return out, nil
}

// ErrNoTask says that no task fits a reference.
var ErrNoTask = store.ErrNoTask

// AmbiguousError says that several tasks fit a reference, and which.
type AmbiguousError struct {
	Ref        string
	Candidates []Task // the last changed first
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d tasks", e.Ref, len(e.Candidates))
}

// Find gives the task that a person means: a whole id, at least 4 closing characters that are unique, or "last". Its
// errors are [ErrNoTask] and *[AmbiguousError].
func (r *Reader) Find(ctx context.Context, ref string) (Task, error) {
	t, err := r.s.FindTask(ctx, ref)
	var several *store.AmbiguousError
	if errors.As(err, &several) {
		out := &AmbiguousError{Ref: ref}
		for _, c := range several.Candidates {
			out.Candidates = append(out.Candidates, task(c))
		}
		return Task{}, out
	}
	return task(t), err
}

// Runs lists the runs of a task in order. One without an end whose process is gone is interrupted, also before recovery
// has recorded that.
func (r *Reader) Runs(ctx context.Context, id string) ([]Run, error) {
	list, err := r.runs(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]Run, 0, len(list))
	for _, x := range list {
		out = append(out, Run{ID: x.ID, Kind: x.Kind, Status: x.Status, Reason: x.Reason, Accepted: x.Accepted, Ended: x.Ended})
	}
	return out, nil
}

// runs reads the runs of a task, or of all, with the truth about those whose process is gone.
func (r *Reader) runs(ctx context.Context, task string) (list []store.Run, err error) {
	dead, err := r.dead(func() (open []string, err error) {
		list, err = r.s.Runs(ctx, task)
		for _, x := range list {
			if x.Ended == nil {
				open = append(open, x.ID)
			}
		}
		return open, err
	})
	for i := range list {
		if dead[list[i].ID] {
			list[i].Status = store.RunInterrupted
		}
	}
	return list, err
}

// dead gives what has no end and will get none by itself, because nobody is at work. open reads what has no end; it is
// asked twice, before and after the look at the lease, so that what ends or begins meanwhile is not taken for dead.
func (r *Reader) dead(open func() ([]string, error)) (map[string]bool, error) {
	before, err := open()
	if err != nil || len(before) == 0 {
		return nil, err
	}
	free, err := r.s.Free()
	if err != nil || !free {
		return nil, err
	}
	after, err := open()
	out := map[string]bool{}
	for _, id := range after {
		out[id] = slices.Contains(before, id)
	}
	return out, err
}

func task(t store.Task) Task {
	return Task{ID: t.ID, Title: t.Title, State: t.State, Origin: t.Origin, Model: t.Model, Created: t.Created, Changed: t.Changed}
}
