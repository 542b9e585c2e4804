package store

import (
	"context"
	"slices"

	"overt/internal/event"
)

// OpenJobs gives where the jobs began of which no end is on record, in that order. Programs that watched over them may be dead.
func (s *Store) OpenJobs(ctx context.Context) ([]event.Fact, error) {
	if any, err := s.ever(event.KindJobStarted); err != nil || !any {
		return nil, err
	}
	facts, err := s.page(ctx, s.facts.read, `f.kind IN (SELECT id FROM name WHERE text IN (?, ?)) ORDER BY f.seq`, string(event.KindJobStarted), string(event.KindJobEnded))
	if err != nil {
		return nil, s.facts.explain(err)
	}
	var open []event.Fact
	for _, f := range facts {
		switch p := f.Data.(type) {
		case event.JobStarted:
			open = append(open, f)
		case event.JobEnded:
			open = slices.DeleteFunc(open, func(o event.Fact) bool {
				return o.Data.(event.JobStarted).Job == p.Job && o.Scope.Session == f.Scope.Session && o.Scope.Task == f.Scope.Task
			})
		}
	}
	return open, nil
}

// RecoverJobs closes the jobs of programs that are not alive any more, by a fact for each, and returns these. First, end is
// called with the groups that they come from, and ends what is left of them, and then, where there are any, ended, unless it is nil.
func (l *Lease) RecoverJobs(ctx context.Context, alive, end func(event.Group) bool, ended func() error) ([]event.Fact, error) {
	open, err := l.s.OpenJobs(ctx)
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(f event.Fact) bool {
		owner := f.Data.(event.JobStarted).Owner
		return owner != nil && alive(*owner)
	})
	for _, f := range open {
		if g := f.Data.(event.JobStarted).Group; g != nil {
			end(*g)
		}
	}
	if len(open) > 0 && ended != nil {
		if err := ended(); err != nil {
			return nil, err
		}
	}
	var out []event.Fact
	for _, f := range open {
		got, err := l.s.Append(ctx, event.Batch{Scope: event.Scope{Session: f.Scope.Session, Task: f.Scope.Task}, Facts: []event.Draft{{
			Subject: f.Subject, Data: event.JobEnded{Job: f.Data.(event.JobStarted).Job, State: event.WithProgram},
		}}})
		if err != nil {
			return out, err
		}
		out = append(out, got...)
	}
	return out, nil
}
