package store

import (
	"context"

	"overt/internal/event"
)

// RecoverJobs closes the jobs of programs that are not alive any more, by a fact for each, and returns these. Before it, end is
// called with the group that the job comes from, and ends what is left of it.
func (l *Lease) RecoverJobs(ctx context.Context, alive, end func(event.Group) bool) ([]event.Fact, error) {
	if any, err := l.s.ever(event.KindJobStarted); err != nil || !any {
		return nil, err
	}
	facts, err := l.s.page(ctx, l.s.facts.read, `f.kind IN (SELECT id FROM name WHERE text IN (?, ?)) ORDER BY f.seq`, string(event.KindJobStarted), string(event.KindJobEnded))
	if err != nil {
		return nil, l.s.facts.explain(err)
	}
	type name struct{ session, task, job string }
	open := map[name]event.Fact{}
	var order []name
	for _, f := range facts {
		switch p := f.Data.(type) {
		case event.JobStarted:
			n := name{f.Scope.Session, f.Scope.Task, p.Job}
			open[n] = f
			order = append(order, n)
		case event.JobEnded:
			delete(open, name{f.Scope.Session, f.Scope.Task, p.Job})
		}
	}
	var out []event.Fact
	for _, n := range order {
		f, ok := open[n]
		if !ok {
			continue
		}
		delete(open, n)
		p, ok := f.Data.(event.JobStarted)
		if !ok || p.Owner != nil && alive(*p.Owner) {
			continue
		}
		if p.Group != nil {
			end(*p.Group)
		}
		got, err := l.s.Append(ctx, event.Batch{Scope: event.Scope{Session: n.session, Task: n.task}, Facts: []event.Draft{{
			Subject: f.Subject, Data: event.JobEnded{Job: p.Job, State: event.WithProgram},
		}}})
		if err != nil {
			return out, err
		}
		out = append(out, got...)
	}
	return out, nil
}
