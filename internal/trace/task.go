package trace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// Task is a task as front ends see it. What is null is not there.
type Task struct {
	ID      string    `json:"task"`
	Title   *string   `json:"title"`  // the first line of its first input, or what it was renamed to
	State   string    `json:"state"`  // active, paused, completed, cancelled, archived; erased: it is in no list
	Reason  *string   `json:"reason"` // of the state, in the person's words
	Origin  string    `json:"origin"` // person, demo
	Parent  *string   `json:"parent"` // the task that it was forked from
	From    *int64    `json:"from"`   // the last node of the parent's thread that is in its own too
	Model   *string   `json:"model"`
	LastRun *string   `json:"last_run"` // how its last run ended, or running; null: there is none
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed"` // of an erased one: when it was erased
}

// Erased tells whether nothing is left of the task.
func (t *Task) Erased() bool { return t.State == event.TaskGone }

// Run is a run as front ends see it.
type Run struct {
	ID       string     `json:"run"`
	Kind     string     `json:"kind"`
	Status   string     `json:"status"`
	Reason   *string    `json:"reason"`
	Accepted time.Time  `json:"accepted"`
	Ended    *time.Time `json:"ended"`
}

// TaskQuery selects tasks. The zero value is all that are not archived.
type TaskQuery struct {
	State  string // the only state
	All    bool   // archived ones too
	Search string // is in the title, in upper or lower case
	Limit  int    // the most tasks; 0 is no limit
}

// TaskList is what a query gives.
type TaskList struct {
	Tasks    []Task // the last changed first, each with how its last run ended
	Matching int    // tasks that fit, also beyond the limit
	Total    int    // tasks that there are, erased ones left out
}

// Tasks lists tasks.
func (r *Reader) Tasks(ctx context.Context, q TaskQuery) (*TaskList, error) {
	list, err := r.s.Tasks(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := &TaskList{Tasks: []Task{}, Total: len(list)}
	for _, t := range list {
		if !q.fits(t) {
			continue
		}
		if out.Matching++; q.Limit == 0 || out.Matching <= q.Limit {
			out.Tasks = append(out.Tasks, task(t))
		}
	}
	runs, err := r.runs(ctx, "")
	if err != nil {
		return nil, err
	}
	last := map[string]*string{}
	for _, x := range runs { // in the order in which they were accepted
		last[x.Task] = &x.Status
	}
	for i := range out.Tasks {
		out.Tasks[i].LastRun = last[out.Tasks[i].ID]
	}
	return out, nil
}

func (q *TaskQuery) fits(t store.Task) bool {
	switch {
	case q.State != "":
		if t.State != q.State {
			return false
		}
	case t.State == event.TaskArchived && !q.All:
		return false
	}
	return q.Search == "" || t.Title != nil && strings.Contains(strings.ToLower(*t.Title), strings.ToLower(q.Search))
}

// NoActiveError says that there are tasks, and none of them is active.
type NoActiveError struct{ Last Task } // the last changed

// Error implements error.
func (e *NoActiveError) Error() string {
	return fmt.Sprintf("no task is active; the last, %s, is %s", e.Last.ID, e.Last.State)
}

// Active gives the active task that was changed last. The error is [ErrNoTask] or a *[NoActiveError].
func (r *Reader) Active(ctx context.Context) (Task, error) {
	list, err := r.s.Tasks(ctx, 0)
	if err != nil {
		return Task{}, err
	}
	for _, t := range list {
		if t.State == event.TaskActive {
			return task(t), nil
		}
	}
	if len(list) == 0 {
		return Task{}, ErrNoTask
	}
	return Task{}, &NoActiveError{task(list[0])}
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
	return Task{
		ID: t.ID, Title: t.Title, State: t.State, Reason: t.Reason, Origin: t.Origin, Parent: t.Parent, From: (*int64)(t.Forked), Model: t.Model,
		Created: t.Created, Changed: t.Changed,
	}
}
