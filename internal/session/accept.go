package session

import (
	"context"
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/prompt"
	"overt/internal/store"
)

// Submit commits an input and starts work on it. The context bounds the acceptance, not the run.
func (s *Session) Submit(ctx context.Context, in Input) (Receipt, error) {
	if strings.TrimSpace(in.Text) == "" {
		return Receipt{}, ErrEmpty
	}
	if s.isClosed() {
		return Receipt{}, ErrClosed
	}
	if r, known, err := s.accepted(ctx, in); known || err != nil {
		return r, err
	}
	if in.Mode != ModeStart {
		if r, queued, err := s.enqueue(ctx, in); queued || err != nil {
			return r, err
		}
		if err := s.settle(ctx); err != nil {
			return Receipt{}, err
		}
	}
	lease, err := s.o.Store.Lease(ctx, "turn", s.id)
	if err != nil {
		return Receipt{}, err
	}
	r, accepted, err := s.accept(ctx, lease, in)
	if err != nil || !accepted {
		lease.Release()
		return r, err
	}
	return r, nil
}

// accept works under the lease; accepted: a run was started, and it owns the lease now.
func (s *Session) accept(ctx context.Context, lease *store.Lease, in Input) (Receipt, bool, error) {
	recovered, err := s.restart(ctx, lease)
	if err != nil {
		return Receipt{}, false, err
	}
	task := in.Task
	cond := &event.If{States: []string{event.TaskActive}}
	var facts []event.Draft
	if !s.isAnnounced() { // a session that runs nothing leaves no fact
		facts = append(facts, event.Draft{Subject: s.id, Data: event.SessionStarted{
			Version: s.o.Version, Client: s.o.Client, Dir: s.o.Dir, PID: s.o.PID,
		}})
	}
	if task == "" {
		task, cond = s.o.NewID("tsk_"), nil
		created, err := s.create(ctx, task, in)
		if err != nil {
			return Receipt{}, false, err
		}
		facts = append(facts, created...)
	}
	kit, err := s.o.Kit(ctx, task)
	if err != nil {
		return Receipt{}, false, err
	}
	r := s.newRun(task, in.Limits)
	facts = append(facts,
		event.Draft{Subject: r.scope.Run, Data: event.RunAccepted{RunKind: "turn", Client: s.o.Client, Limits: in.Limits, DryRun: s.o.DryRun}},
		r.message(in.Text, in.Images, ""))
	got, err := s.o.Store.Append(ctx, event.Batch{Scope: r.scope, Key: in.Key, Fingerprint: fingerprint(in), If: cond, Facts: facts})
	if err != nil || got[0].Scope.Run != r.scope.Run { // the same key came in between: the first acceptance stands
		r.cancel()
		if err != nil {
			return Receipt{}, false, err
		}
		return receipt(got), false, nil
	}
	s.setAnnounced()
	accepted := receipt(got)
	accepted.Before = append(recovered, got...)[0].Seq - 1
	var thread *prompt.Thread
	if in.Task == "" && in.Fork == nil { // all that there is of a new task is at hand
		thread = &prompt.Thread{}
		for _, f := range got {
			thread.Apply(f)
		}
	}
	if !s.start(lease, kit, r, thread) {
		return Receipt{}, false, ErrClosed
	}
	return accepted, true, nil
}

// create gives what makes a task for an input.
func (s *Session) create(ctx context.Context, task string, in Input) ([]event.Draft, error) {
	created := event.TaskCreated{Title: title(in.Text), Origin: in.Origin}
	if in.Fork == nil {
		return []event.Draft{{Subject: task, Data: created}}, nil
	}
	parent, err := s.o.Store.Task(ctx, in.Fork.Task)
	if err != nil {
		return nil, err
	}
	if parent.State == event.TaskGone {
		return nil, &StateError{Task: parent.ID, State: parent.State}
	}
	from, err := prompt.After(s.o.Store.Read(ctx, event.Path{Task: parent.ID}), in.Fork.Message)
	if err != nil {
		return nil, err
	}
	created.Parent, created.From = parent.ID, from
	return append([]event.Draft{{Subject: task, Data: created}}, prompt.Branch(task, from)...), nil
}

// accepted finds what an input with the same key became before.
func (s *Session) accepted(ctx context.Context, in Input) (Receipt, bool, error) {
	if in.Key == "" {
		return Receipt{}, false, nil
	}
	facts, err := s.o.Store.Append(ctx, event.Batch{Key: in.Key, Fingerprint: fingerprint(in)})
	if err != nil || len(facts) == 0 {
		return Receipt{}, false, err
	}
	return receipt(facts), true, nil
}

func receipt(accepted []event.Fact) Receipt {
	f := accepted[0]
	r := Receipt{Task: f.Scope.Task, Turn: f.Scope.Turn, Run: f.Scope.Run, Before: f.Seq - 1}
	if f.Kind == event.KindQueueAdded {
		r.Queue = f.Subject
	}
	return r
}

// fingerprint tells inputs apart without keeping them.
func fingerprint(in Input) string {
	what := in.Task + "\x00" + in.Mode + "\x00" + in.Text
	if in.Fork != nil {
		what += "\x00" + in.Fork.Task + "\x00" + in.Fork.Message
	}
	for _, i := range in.Images {
		what += "\x00" + i.Hash
	}
	sum := sha256.Sum256([]byte(what))
	return string(sum[:])
}

// title is the first line of the first input, at most 80 characters.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\uFFFD")
	if utf8.RuneCountInString(line) > 80 {
		line = string([]rune(line)[:79]) + "…"
	}
	return line
}
