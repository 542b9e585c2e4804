package session

import (
	"context"

	"overt/internal/event"
	"overt/internal/tool"
)

// question is one that waits for its answer.
type question struct {
	reply   chan tool.Reply
	options []string
}

// asker puts the dispatcher's questions where Answer finds them.
type asker struct{ s *Session }

// Ask implements [tool.Asker].
func (a asker) Ask(ctx context.Context, _ event.Scope, id string, q event.QuestionAsked, record func() error) (tool.Reply, error) {
	c := make(chan tool.Reply, 1)
	a.s.mu.Lock()
	a.s.questions[id] = question{c, q.Options}
	a.s.mu.Unlock()
	defer func() {
		a.s.mu.Lock()
		delete(a.s.questions, id)
		a.s.mu.Unlock()
	}()
	if err := record(); err != nil {
		return tool.Reply{}, err
	}
	select {
	case r := <-c:
		return r, nil
	case <-ctx.Done():
		return tool.Reply{}, ctx.Err()
	}
}

// granted is where the answers of a task that last are kept.
func (s *Session) granted(task string) *tool.Grants {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.grants[task]
	if g == nil {
		g = &tool.Grants{}
		s.grants[task] = g
	}
	return g
}
