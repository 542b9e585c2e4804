package session

import (
	"context"
	"errors"
	"strings"

	"overt/internal/agent"
	"overt/internal/event"
	"overt/internal/prompt"
)

// Modes of an [Input], for the case that a run is under way on its task.
const (
	ModeStart = ""      // the input is refused
	ModeSteer = "steer" // it joins the turn at its next step; after the last one it is the next turn's input
	ModeQueue = "queue" // it is the input of a turn of its own, after this one and what waits before it
)

// item is an input that waits in this process.
type item struct {
	id, task, mode, text string
	limits               event.Limits
	late                 bool // it came after a stop of the run before it
}

// enqueue keeps an input for a task on which a run is under way; queued false: there is none.
func (s *Session) enqueue(ctx context.Context, in Input) (r Receipt, queued bool, err error) {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	active := s.active(in.Task)
	if active == nil {
		return Receipt{}, false, nil
	}
	if len(in.Images) > 0 {
		return Receipt{}, false, ErrPictures
	}
	added := event.QueueAdded{Mode: event.QueueFollow, Text: strings.ToValidUTF8(in.Text, "\uFFFD")}
	if in.Mode == ModeSteer {
		added.Mode = event.QueueSteer
	}
	id := s.o.NewID("que_")
	facts, err := s.o.Store.Append(ctx, event.Batch{
		Scope: active.scope, Key: in.Key, Fingerprint: fingerprint(in), Facts: []event.Draft{{Subject: id, Data: added}},
	})
	if err != nil {
		return Receipt{}, false, err
	}
	if kept, ok := facts[0].Data.(event.QueueAdded); ok && facts[0].Subject == id { // else the key is known
		s.waiting = append(s.waiting, item{id, in.Task, kept.Mode, kept.Text, in.Limits, active.stopped})
	}
	return receipt(facts), true, nil
}

// active is the run that is under way on a task and still takes what is queued.
func (s *Session) active(task string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		if r.scope.Task == task && !r.closing && !s.closed {
			return r
		}
	}
	return nil
}

// settle waits for runs that have ended and take nothing more, but have not let go of the lease yet.
func (s *Session) settle(ctx context.Context) error {
	s.queueing.Lock()
	s.mu.Lock()
	var ending []*run
	for _, r := range s.runs {
		if r.closing && r.next == nil {
			ending = append(ending, r)
		}
	}
	s.mu.Unlock()
	s.queueing.Unlock()
	for _, r := range ending {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// steer takes what waits to join the turn on a task.
func (s *Session) steer(task string) (out []agent.Steer) {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	var rest []item
	for _, i := range s.waiting {
		if i.task == task && i.mode == event.QueueSteer {
			out = append(out, agent.Steer{ID: i.id, Text: i.text})
		} else {
			rest = append(rest, i)
		}
	}
	s.waiting = rest
	return out
}

// follow ends a run for the queue. If it completed and something waits for its task, that becomes the input of the next
// run, which gets what the run had. Else what waits is held, but for what was said after the stop: a person who stopped a
// run, or sees it fail, may want to say something else. thread is nil where the task could not be read; nothing follows.
func (s *Session) follow(r *run, thread *prompt.Thread, completed bool) (*run, error) {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	var next *item
	var held []event.Draft
	var rest, others []item // of this task after next, and of others
	hold := func(id string) {
		held = append(held, event.Draft{Subject: id, Data: event.QueueChanged{State: event.QueueHeld, By: "runtime"}})
	}
	for _, i := range s.waiting {
		switch {
		case i.task != r.scope.Task:
			others = append(others, i)
		case next != nil:
			rest = append(rest, i)
		case (completed || i.late) && thread != nil && !s.isClosed():
			next = &i
		default:
			hold(i.id)
		}
	}
	s.waiting, r.closing = others, true
	ctx := context.Background()
	keep := func() error {
		if len(held) == 0 {
			return nil
		}
		_, err := s.o.Store.Append(ctx, event.Batch{Scope: event.Scope{Session: s.id, Task: r.scope.Task}, Facts: held})
		return err
	}
	if next == nil {
		return nil, keep()
	}
	n := s.newRun(r.scope.Task, next.limits)
	facts, err := s.o.Store.Append(ctx, event.Batch{Scope: n.scope, If: &event.If{States: []string{event.TaskActive}}, Facts: []event.Draft{
		{Subject: n.scope.Run, Data: event.RunAccepted{RunKind: "turn", Client: s.o.Client, Limits: n.limits, DryRun: s.o.DryRun}},
		n.message(next.text, nil, next.id),
	}})
	if err != nil {
		n.cancel()
		var state *StateError
		if !errors.As(err, &state) {
			return nil, err
		}
		for _, i := range append([]item{*next}, rest...) { // the task was paused, say, between the two runs
			hold(i.id)
		}
		return nil, keep()
	}
	s.waiting = append(s.waiting, rest...)
	for _, f := range facts {
		thread.Apply(f)
	}
	follows := receipt(facts)
	r.next = &follows
	s.mu.Lock()
	s.runs[n.scope.Run] = n
	if s.closed { // meanwhile; it ends at once, with a fact
		n.cancel()
	}
	s.mu.Unlock()
	return n, nil
}

// Next gives the run that took up the queue when a run ended; ok false: none did. It is known once [Session.Wait] has
// returned.
func (s *Session) Next(run string) (r Receipt, ok bool) {
	s.queueing.Lock()
	defer s.queueing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.runs[run]; of != nil && of.next != nil {
		return *of.next, true
	}
	return Receipt{}, false
}

// Waiting tells how many inputs wait for a task or are held for it.
func (s *Session) Waiting(ctx context.Context, task string) (int, error) {
	list, err := s.o.Store.Queue(ctx, task)
	return len(list), err
}
