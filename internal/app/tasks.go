package app

import (
	"context"
	"errors"
	"os"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/redact"
	"overt/internal/session"
	"overt/internal/shell"
	"overt/internal/store"
	"overt/internal/trace"
)

// Tasks is a workspace's record, open for changes to its tasks. Nothing is run: its session takes no input.
type Tasks struct {
	Session *session.Session
	Trace   *trace.Reader
	store   *store.Store
	keeper  *checkpoint.Keeper // nil: this system keeps no states of files
}

// OpenTasks opens a workspace's record for changes to its tasks, with nothing of a model. Without a record it makes none,
// and the error is [ErrNoRecord]. Of the options it takes Root, State, Env, Version and Client, and
// of Config, which may be nil, the keys.
func OpenTasks(ctx context.Context, o Options) (*Tasks, error) {
	mask := redact.New() // a reason or title may hold a secret, too
	learnSecrets(mask, o.Config, o.Env)
	s, err := existing(ctx, store.Options{Dir: folder(o.State, o.Root), Mask: mask}, variables(o.Env))
	if err != nil {
		return nil, err
	}
	k, err := keeper(o, o.Root, s, 0)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Tasks{
		Trace: trace.New(s), store: s, keeper: k,
		Session: session.Open(session.Options{
			Store: s, Mask: mask, NewID: newID, Client: o.Client, Version: o.Version, Dir: o.Root, PID: os.Getpid(),
			EndGroup: func(g event.Group) bool { return shell.EndGroup(shell.Group(g)) }, Checkpoints: checkpoints(k),
			Alive: func(g event.Group) bool { return shell.Alive(shell.Group(g)) },
		}),
	}, nil
}

// Dismiss takes inputs out of what waits for a task, of which whoever goes on with it was told. While somebody else is at work on the
// task, or where it takes no input, they stay.
func (a *App) Dismiss(ctx context.Context, task string, ids []string) error {
	err := a.Session.Do(ctx, "", task, dismissal{ids})
	var state *session.StateError
	var active *session.ActiveError
	if errors.As(err, &state) || errors.As(err, &active) {
		return nil
	}
	return err
}

// dismissal implements [session.Op].
type dismissal struct{ ids []string }

// Apply implements what session.Op says.
func (d dismissal) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	b := event.Batch{Scope: s, If: &event.If{Idle: true, States: []string{event.TaskActive}}}
	for _, id := range d.ids {
		b.Facts = append(b.Facts, event.Draft{Subject: id, Data: event.QueueChanged{State: event.QueueRemoved, By: "person"}})
	}
	_, err := log.Append(ctx, b)
	return err
}

// Close closes the record.
func (t *Tasks) Close(ctx context.Context) error {
	err := t.Session.Close(ctx)
	if t.keeper != nil {
		err = errors.Join(err, t.keeper.Close())
	}
	return errors.Join(err, t.store.Close())
}
