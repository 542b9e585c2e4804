package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/store"
)

// Op changes a task outside a run. It is defined by the package that owns what it changes, and makes no turn.
//
// What it needs of the task it demands with the batch (event.If), so that nothing can come in between. One that must not
// have anybody at work beside it has a method Alone that says for people what the lease is for.
type Op interface {
	Apply(ctx context.Context, s event.Scope, log event.Log) error
}

// ActiveError says that something can't be done to a task because a run is under way on it, and whose.
type ActiveError struct {
	Task string
	Held *HeldError
}

// Error implements error.
func (e *ActiveError) Error() string {
	return fmt.Sprintf("a run is under way on task %s: %v", e.Task, e.Held)
}

// Unwrap gives who is at work.
func (e *ActiveError) Unwrap() error { return e.Held }

// Do applies an operation to a task. With a key that is known it has no effect: the operation was done. A run on the task
// makes it an *[ActiveError] where the operation does not go with one; if its process is gone, the run is closed first.
func (s *Session) Do(ctx context.Context, key, task string, op Op) error {
	if s.isClosed() {
		return ErrClosed
	}
	if _, err := s.o.Store.Task(ctx, task); err != nil {
		return err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%T\x00%+v", task, op, op))
	log := &opLog{Store: s.o.Store, key: key, fingerprint: string(sum[:])}
	if key != "" {
		done, err := s.o.Store.Append(ctx, event.Batch{Key: key, Fingerprint: log.fingerprint})
		if err != nil || len(done) > 0 {
			return err
		}
	}
	scope := event.Scope{Task: task}
	if s.isAnnounced() {
		scope.Session = s.id
	}
	if alone, ok := op.(interface{ Alone() string }); ok {
		return s.alone(ctx, alone.Alone(), func() error { return op.Apply(ctx, scope, log) })
	}
	err := op.Apply(ctx, scope, log)
	if !errors.Is(err, event.ErrActive) {
		return err
	}
	err = s.alone(ctx, "recovery", func() error { return op.Apply(ctx, scope, log) })
	var held *HeldError
	if errors.As(err, &held) {
		return &ActiveError{task, held}
	}
	return err
}

// alone does something under the lease, after what a dead process left open was closed.
func (s *Session) alone(ctx context.Context, what string, do func() error) error {
	lease, err := s.o.Store.Lease(ctx, what, s.id)
	if err != nil {
		return err
	}
	if _, err = s.restart(ctx, lease); err == nil {
		err = do()
	}
	if err == nil {
		err = s.settled()
	}
	return errors.Join(err, lease.Release())
}

// opLog is the record as an operation sees it: the first batch that is recorded carries the key. One that is refused leaves
// the key for the next, since an operation is applied once more after a dead run was closed.
type opLog struct {
	*store.Store
	key, fingerprint string
}

func (l *opLog) keyed(b event.Batch) event.Batch {
	b.Key, b.Fingerprint = l.key, l.fingerprint
	return b
}

// recorded takes note of the key's being in the record.
func (l *opLog) recorded() { l.key, l.fingerprint = "", "" }

// Append implements [event.Log].
func (l *opLog) Append(ctx context.Context, b event.Batch) ([]event.Fact, error) {
	facts, err := l.Store.Append(ctx, l.keyed(b))
	if err == nil {
		l.recorded()
	}
	return facts, err
}

// Erase erases the batch's task.
func (l *opLog) Erase(ctx context.Context, b event.Batch, by string) (event.TaskErased, error) {
	done, err := l.Store.Erase(ctx, l.keyed(b), by)
	var scrub *ScrubError
	if err == nil || errors.As(err, &scrub) {
		l.recorded()
	}
	return done, err
}

// person is who acts through a session.
const person = "person"

// move is a change of a task's state: where it leads, and which states it leaves.
type move struct {
	name, to string
	from     []string
	reason   bool // it is not made without one
}

// moves is the table of all changes of state. What is not in it is refused.
func moves() []move {
	open := []string{event.TaskActive, event.TaskPaused}
	ended := []string{event.TaskCompleted, event.TaskCancelled}
	return []move{
		{"pause", event.TaskPaused, []string{event.TaskActive}, false},
		{"resume", event.TaskActive, []string{event.TaskPaused}, false},
		{"finish", event.TaskCompleted, open, false},
		{"cancel", event.TaskCancelled, open, true},
		{"archive", event.TaskArchived, slices.Concat(open, ended), false},
		{"reopen", event.TaskActive, append(ended, event.TaskArchived), false},
	}
}

// Moves names the changes that a task in a state allows, in the order of the table; "": all that there are.
func Moves(state string) (names []string) {
	for _, m := range moves() {
		if state == "" || slices.Contains(m.from, state) {
			names = append(names, m.name)
		}
	}
	return names
}

// What is wrong with an operation on a task.
var (
	ErrNoReason = errors.New("a task is cancelled with a reason")
	ErrNoTitle  = errors.New("the title is empty")
)

// StateError says that a task is in a state that does not allow what was asked.
type StateError = event.StateError

// Move changes the state of a task. A state that does not allow it is a *[StateError], and nothing changes.
type Move struct {
	Name   string // one of [Moves]
	Reason string // is kept with the state
}

// Apply implements [Op].
func (m Move) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	all := moves()
	i := slices.IndexFunc(all, func(x move) bool { return x.name == m.Name })
	if i < 0 {
		return fmt.Errorf("no change of a task's state is named %q", m.Name)
	}
	reason := strings.ToValidUTF8(strings.TrimSpace(m.Reason), "\uFFFD")
	if all[i].reason && reason == "" {
		return ErrNoReason
	}
	_, err := log.Append(ctx, event.Batch{
		Scope: s, If: &event.If{States: all[i].from, Idle: true},
		Facts: []event.Draft{{Subject: s.Task, Data: event.TaskChanged{State: all[i].to, Reason: reason, By: person}}},
	})
	return err
}

// Rename gives a task another title: the first line of a text, at most 80 characters. It goes with a run.
type Rename struct{ Title string }

// Apply implements [Op].
func (r Rename) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	if strings.TrimSpace(r.Title) == "" {
		return ErrNoTitle
	}
	_, err := log.Append(ctx, event.Batch{
		Scope: s, If: &event.If{States: []string{event.TaskActive, event.TaskPaused, event.TaskCompleted, event.TaskCancelled, event.TaskArchived}},
		Facts: []event.Draft{{Subject: s.Task, Data: event.TaskChanged{Title: title(r.Title), By: person}}},
	})
	return err
}

// What can go wrong when a task is erased: forks go on from its messages, or its bytes are gone from the record but may
// still stand in the free space of a file.
type (
	ForkedError = store.ForkedError
	ScrubError  = store.ScrubError
)

// Erase takes away for good what is recorded of a task, see [store.Store.Erase].
type Erase struct{}

// Alone implements what [Op] says.
func (Erase) Alone() string { return "erase" }

// Apply implements [Op].
func (Erase) Apply(ctx context.Context, s event.Scope, log event.Log) error {
	l, ok := log.(interface {
		Erase(context.Context, event.Batch, string) (event.TaskErased, error)
	})
	if !ok {
		return errors.New("this record can't erase")
	}
	_, err := l.Erase(ctx, event.Batch{Scope: s}, person)
	return err
}
