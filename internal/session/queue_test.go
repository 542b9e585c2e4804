package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/session"
	"overt/internal/store"
	"overt/internal/tool"
)

type answers = func(context.Context, func(llm.Delta)) (*llm.Response, error)

// when waits for c before it answers.
func when(c <-chan struct{}, then answers) answers {
	return func(ctx context.Context, show func(llm.Delta)) (*llm.Response, error) {
		select {
		case <-c:
			return then(ctx, show)
		case <-ctx.Done():
			return &llm.Response{}, &llm.Error{Class: llm.Cancelled, Message: "cancelled"}
		}
	}
}

// said lists the texts of the task's thread, each with who said it.
func said(t *testing.T, st *store.Store, task string) (out []string) {
	t.Helper()
	for f, err := range st.Read(context.Background(), event.Path{Task: task}) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := f.Data.(event.MessageAdded); ok && len(m.Blocks) > 0 && m.Blocks[0].Type == "text" {
			out = append(out, m.Origin+": "+m.Blocks[0].Text)
		}
	}
	return out
}

func queue(t *testing.T, st *store.Store, task string) (out []string) {
	t.Helper()
	list, err := st.Queue(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		out = append(out, q.State+" "+q.Mode+": "+q.Text)
	}
	return out
}

// TestQueueFollows: what is queued becomes turns of its own, in the order in which it came.
func TestQueueFollows(t *testing.T) {
	p := newPlace(t)
	p.mask.Add("token", "hunter2-hunter2")
	gate := make(chan struct{})
	s, st := p.open(false, when(gate, says("one")), says("two"), says("three"))
	r := submit(t, s, session.Input{Text: "first", Origin: "person"})
	in := session.Input{Task: r.Task, Text: "second hunter2-hunter2", Mode: session.ModeQueue, Key: "k"}
	a := submit(t, s, in)
	again := submit(t, s, in)
	b := submit(t, s, session.Input{Task: r.Task, Text: "third", Mode: session.ModeQueue})
	if a.Queue == "" || a.Run != r.Run || again != a || b.Queue == a.Queue {
		t.Errorf("receipts %+v, %+v, %+v", a, again, b)
	}
	if got, want := queue(t, st, r.Task), []string{"queued follow: second [masked:token]", "queued follow: third"}; !slices.Equal(got, want) {
		t.Errorf("queue %q", got)
	}
	close(gate)
	runs := 1
	for run := r.Run; ; runs++ {
		if err := s.Wait(context.Background(), run); err != nil {
			t.Fatal(err)
		}
		next, ok := s.Next(run)
		if !ok {
			break
		}
		run = next.Run
	}
	want := []string{"person: first", "model: one", "person: second [masked:token]", "model: two", "person: third", "model: three"}
	if got := said(t, st, r.Task); !slices.Equal(got, want) || runs != 3 || len(queue(t, st, r.Task)) != 0 {
		t.Errorf("%d runs: %q, left %q", runs, got, queue(t, st, r.Task))
	}
	if lease, err := st.Lease(context.Background(), "test", "x"); err != nil {
		t.Errorf("the lease is not free: %v", err)
	} else {
		lease.Release()
	}
}

// TestSteerJoins: what steers a turn is said at its next step; what comes after the last one is the next turn's input.
func TestSteerJoins(t *testing.T) {
	p := newPlace(t)
	first, last := make(chan struct{}), make(chan struct{})
	s, st := p.open(true, when(first, callsTool), when(last, says("done")), says("and that"))
	r := submit(t, s, session.Input{Text: "go", Origin: "person"})
	await(t, st, kind(event.KindCallStarted))
	submit(t, s, session.Input{Task: r.Task, Text: "use tabs", Mode: session.ModeSteer})
	close(first)
	q := await(t, st, kind(event.KindQuestionAsked))
	if err := s.Answer(q.Subject, tool.Reply{Choice: "yes", By: "person"}); err != nil {
		t.Fatal(err)
	}
	await(t, st, func(f event.Fact) bool { return f.Kind == event.KindCallStarted && f.Scope.Step == 2 })
	submit(t, s, session.Input{Task: r.Task, Text: "too late", Mode: session.ModeSteer})
	close(last)
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	next, ok := s.Next(r.Run)
	if !ok {
		t.Fatal("nothing followed")
	}
	if err := s.Wait(context.Background(), next.Run); err != nil {
		t.Fatal(err)
	}
	want := []string{"person: go", "steer: use tabs", "model: done", "person: too late", "model: and that"}
	if got := said(t, st, r.Task); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestQueueIsHeld after a stop, after a failure, and after the program has died.
func TestQueueIsHeld(t *testing.T) {
	fails := func(context.Context, func(llm.Delta)) (*llm.Response, error) {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Message: "no"}
	}
	for _, c := range []struct {
		name string
		last answers
		end  func(s *session.Session, r session.Receipt)
	}{
		{"stopped", hangs, func(s *session.Session, r session.Receipt) { s.Stop(r.Run) }},
		{"failed", fails, func(*session.Session, session.Receipt) {}},
		{"closed", hangs, func(s *session.Session, _ session.Receipt) { s.Close(context.Background()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			gate := make(chan struct{})
			s, st := p.open(false, when(gate, c.last), says("go on"))
			r := submit(t, s, session.Input{Text: "x", Origin: "person"})
			await(t, st, kind(event.KindCallStarted))
			submit(t, s, session.Input{Task: r.Task, Text: "later", Mode: session.ModeQueue})
			submit(t, s, session.Input{Task: r.Task, Text: "now", Mode: session.ModeSteer})
			close(gate)
			c.end(s, r)
			if err := s.Wait(context.Background(), r.Run); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.Next(r.Run); ok {
				t.Error("a run followed")
			}
			if got := strings.Join(queue(t, st, r.Task), "\n"); got != "held follow: later\nheld steer: now" {
				t.Errorf("queue %q", got)
			}
		})
	}
}

func TestQueueOfADeadProgramIsHeld(t *testing.T) {
	p := newPlace(t)
	ctx := context.Background()
	st, err := store.Open(ctx, store.Options{Dir: p.dir})
	if err != nil {
		t.Fatal(err)
	}
	scope := event.Scope{Session: "ses_1", Task: "tsk_1", Turn: "trn_1", Run: "run_1"}
	_, err = st.Append(ctx, event.Batch{Scope: scope, Facts: []event.Draft{
		{Subject: "tsk_1", Data: event.TaskCreated{Title: "t", Origin: "person"}},
		{Subject: "run_1", Data: event.RunAccepted{RunKind: "turn", Client: "cli"}},
		{Subject: "que_1", Data: event.QueueAdded{Mode: event.QueueFollow, Text: "later"}},
	}})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	s, st := p.open(false, says("ok"))
	r := submit(t, s, session.Input{Task: "tsk_1", Text: "go on"})
	if err := s.Wait(ctx, r.Run); err != nil {
		t.Fatal(err)
	}
	if got := queue(t, st, "tsk_1"); !slices.Equal(got, []string{"held follow: later"}) {
		t.Errorf("queue %q", got)
	}
}

// TestQueueWithoutARun: with nothing to wait for, an input is a run like any other.
func TestQueueWithoutARun(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, says("one"))
	r := submit(t, s, session.Input{Text: "x", Origin: "person", Mode: session.ModeSteer})
	if r.Queue != "" {
		t.Errorf("queued: %+v", r)
	}
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	if got := said(t, st, r.Task); !slices.Equal(got, []string{"person: x", "model: one"}) {
		t.Errorf("%q", got)
	}
}

// TestStopFollows: a stop reaches the run that took up the queue, and what is said after it is not held.
func TestStopFollows(t *testing.T) {
	p := newPlace(t)
	gate := make(chan struct{})
	s, st := p.open(false, when(gate, says("one")), hangs, says("three"))
	first := submit(t, s, session.Input{Text: "a", Origin: "person"})
	second := submit(t, s, session.Input{Task: first.Task, Text: "b", Mode: session.ModeQueue, Limits: event.Limits{Steps: 7}})
	close(gate)
	f := await(t, st, func(f event.Fact) bool { return f.Kind == event.KindCallStarted && f.Scope.Run != first.Run })
	if second.Queue == "" || f.Scope.Run == second.Run {
		t.Fatalf("%+v was not queued", second)
	}
	if err := s.Stop(first.Run); err != nil {
		t.Fatal(err)
	}
	third := submit(t, s, session.Input{Task: first.Task, Text: "c", Mode: session.ModeQueue})
	for _, last := range []string{first.Run, third.Run} { // it was queued, or the stopped run had ended by then
		for ok := true; ok; {
			if err := s.Wait(context.Background(), last); err != nil {
				t.Fatal(err)
			}
			var next session.Receipt
			if next, ok = s.Next(last); ok {
				last = next.Run
			}
		}
	}
	runs, err := st.Runs(context.Background(), first.Task)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.Status)
	}
	if want := []string{store.RunCompleted, store.RunCancelled, store.RunCompleted}; !slices.Equal(got, want) {
		t.Errorf("runs ended %q, want %q; waiting %q", got, want, queue(t, st, first.Task))
	}
	accepted := await(t, st, func(x event.Fact) bool { return x.Kind == event.KindRunAccepted && x.Scope.Run == f.Scope.Run })
	if l := accepted.Data.(event.RunAccepted).Limits; l.Steps != 7 {
		t.Errorf("the limits of the input became %+v", l)
	}
}

// TestWrongAnswer: what was not offered is no answer, and leaves the question open.
func TestWrongAnswer(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(true, callsTool, says("done"))
	r := submit(t, s, session.Input{Text: "go", Origin: "person"})
	q := await(t, st, kind(event.KindQuestionAsked))
	var wrong *session.OptionError
	for _, choice := range []string{"Yes", "sure", "", event.AnswerNone, event.AnswerVoid} {
		if err := s.Answer(q.Subject, tool.Reply{Choice: choice, By: "person"}); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", choice, err)
		}
	}
	if err := s.Answer(q.Subject, tool.Reply{Choice: event.AnswerYes, By: "person"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(context.Background(), r.Run); err != nil || p.ran.Load() != 1 {
		t.Errorf("%v, ran %d times", err, p.ran.Load())
	}
}

// TestQueueOfAPausedTask: what waits is held where the task takes nothing any more when the run has ended.
func TestQueueOfAPausedTask(t *testing.T) {
	p := newPlace(t)
	gate := make(chan struct{})
	s, st := p.open(false, when(gate, says("one")))
	r := submit(t, s, session.Input{Text: "first", Origin: "person"})
	await(t, st, kind(event.KindCallStarted))
	submit(t, s, session.Input{Task: r.Task, Text: "second", Mode: session.ModeQueue})
	submit(t, s, session.Input{Task: r.Task, Text: "third", Mode: session.ModeQueue})
	// As another process may do it in the moment between the two runs.
	if _, err := st.Append(context.Background(), event.Batch{Scope: event.Scope{Task: r.Task}, Facts: []event.Draft{
		{Subject: r.Task, Data: event.TaskChanged{State: event.TaskPaused, By: "person"}},
	}}); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	if next, ok := s.Next(r.Run); ok {
		t.Errorf("%+v followed", next)
	}
	if got, want := queue(t, st, r.Task), []string{"held follow: second", "held follow: third"}; !slices.Equal(got, want) {
		t.Errorf("queue %q", got)
	}
}
