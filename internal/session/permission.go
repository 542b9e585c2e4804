package session

import (
	"context"
	"errors"
	"fmt"

	"overt/internal/event"
	"overt/internal/store"
)

// Grant keeps a rule for later, and gives its id. The scope of the permission says where: for ScopeTask the scope of the call
// names the task.
func (s *Session) Grant(ctx context.Context, scope event.Scope, g event.PermissionGranted) (string, error) {
	in, err := s.record(ctx, g.Scope)
	if err != nil {
		return "", err
	}
	if g.Scope != event.ScopeTask { // so that it outlives the task
		scope = event.Scope{Session: scope.Session}
	}
	id := s.o.NewID("prm_")
	_, err = in.Append(ctx, event.Batch{Scope: scope, Facts: []event.Draft{{Subject: id, Data: g}}})
	return id, err
}

// save is Grant as the dispatcher calls it.
func (s *Session) save(ctx context.Context, scope event.Scope, g event.PermissionGranted) error {
	_, err := s.Grant(context.WithoutCancel(ctx), scope, g)
	return err
}

// NoPermissionError says that no permission in force has an id.
type NoPermissionError struct{ ID string }

// Error implements error.
func (e *NoPermissionError) Error() string { return fmt.Sprintf("no permission %s is in force", e.ID) }

// Revoke ends a permission. The error is a *[NoPermissionError] if none in force has the id.
func (s *Session) Revoke(ctx context.Context, id, by string) error {
	for _, scope := range []string{event.ScopeWorkspace, event.ScopeUser} {
		in, err := s.record(ctx, scope)
		if err != nil {
			return err
		}
		if in == nil {
			continue
		}
		list, err := in.Permissions(ctx)
		if err != nil {
			return err
		}
		for _, f := range list {
			if f.Subject == id {
				_, err := in.Append(ctx, event.Batch{Scope: event.Scope{Task: f.Scope.Task}, Facts: []event.Draft{{Subject: id, Data: event.PermissionRevoked{By: by}}}})
				return err
			}
		}
	}
	return &NoPermissionError{id}
}

// record is where permissions of a scope are kept.
func (s *Session) record(ctx context.Context, scope string) (*store.Store, error) {
	switch {
	case scope != event.ScopeUser:
		return s.o.Store, nil
	case s.o.User == nil:
		return nil, errors.New("there is no record of the person's own")
	}
	return s.o.User(ctx)
}
