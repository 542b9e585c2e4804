package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/prompt"
	"overt/internal/session"
	"overt/internal/store"
)

// legal is what each move leads to from each state; "" is a refusal. It is written out a second time on purpose.
var legal = map[string]map[string]string{
	"active":    {"pause": "paused", "finish": "completed", "cancel": "cancelled", "archive": "archived"},
	"paused":    {"resume": "active", "finish": "completed", "cancel": "cancelled", "archive": "archived"},
	"completed": {"archive": "archived", "reopen": "active"},
	"cancelled": {"archive": "archived", "reopen": "active"},
	"archived":  {"reopen": "active"},
	"erased":    {},
}

// reach is how a task gets into a state.
var reach = map[string][]session.Op{
	"active": nil, "paused": {session.Move{Name: "pause"}}, "completed": {session.Move{Name: "finish"}},
	"cancelled": {session.Move{Name: "cancel", Reason: "r"}}, "archived": {session.Move{Name: "archive"}}, "erased": {session.Erase{}},
}

func stateOf(t testing.TB, st *store.Store, task string) store.Task {
	t.Helper()
	got, err := st.Task(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestMoves: every move from every state leads where the table says, or is refused with the state named and changes
// nothing. Only an active task takes an input, and each but an erased one can be forked.
//
// covers F053
// covers F055
// covers F056
func TestMoves(t *testing.T) {
	ctx := context.Background()
	for state, ops := range reach {
		t.Run(state, func(t *testing.T) {
			p := newPlace(t)
			s, st := p.open(false, slices.Repeat([]answers{says("ok")}, 40)...)
			make := func() string {
				r := submit(t, s, session.Input{Text: "x", Origin: "person"})
				if err := s.Wait(ctx, r.Run); err != nil {
					t.Fatal(err)
				}
				for _, op := range ops {
					if err := s.Do(ctx, "", r.Task, op); err != nil {
						t.Fatal(err)
					}
				}
				return r.Task
			}
			for _, name := range session.Moves("") {
				task := make()
				before := stateOf(t, st, task)
				err := s.Do(ctx, "", task, session.Move{Name: name, Reason: "because " + name})
				got, want := stateOf(t, st, task), legal[state][name]
				if want != "" {
					if err != nil || got.State != want || got.Reason == nil || *got.Reason != "because "+name {
						t.Errorf("%s: %+v, %v; want %s", name, got, err, want)
					}
					continue
				}
				var refused *session.StateError
				if !errors.As(err, &refused) || refused.State != state || !strings.Contains(err.Error(), state) || got.Last != before.Last {
					t.Errorf("%s: %v, now %+v", name, err, got)
				}
			}
			if got := session.Moves(state); len(got) != len(legal[state]) {
				t.Errorf("moves: %q", got)
			}
			task := make()
			before := stateOf(t, st, task)
			r, err := s.Submit(ctx, session.Input{Task: task, Text: "more"})
			var refused *session.StateError
			switch {
			case state == "active":
				if err != nil || s.Wait(ctx, r.Run) != nil {
					t.Errorf("an input: %v", err)
				}
			case !errors.As(err, &refused) || refused.State != state || stateOf(t, st, task).Last != before.Last:
				t.Errorf("an input: %v", err)
			}
			fork, err := s.Submit(ctx, session.Input{Fork: &session.Fork{Task: task}, Text: "another way", Origin: "person"})
			if state == "erased" {
				if !errors.As(err, &refused) || refused.State != state {
					t.Errorf("a fork: %v", err)
				}
				return
			}
			if err != nil || s.Wait(ctx, fork.Run) != nil {
				t.Fatalf("a fork: %v", err)
			}
			if got := said(t, st, fork.Task); !slices.Contains(got, "person: x") || got[len(got)-1] != "model: ok" {
				t.Errorf("the fork's thread: %q", got)
			}
			if got := stateOf(t, st, fork.Task); got.State != "active" || got.Parent == nil || *got.Parent != task {
				t.Errorf("the fork: %+v", got)
			}
		})
	}
}

func TestMoveIsWhole(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, says("ok"))
	ctx := context.Background()
	r := submit(t, s, session.Input{Text: "x", Origin: "person"})
	if err := s.Wait(ctx, r.Run); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(ctx, "", r.Task, session.Move{Name: "cancel", Reason: "  "}); !errors.Is(err, session.ErrNoReason) {
		t.Errorf("cancelled without a reason: %v", err)
	}
	if err := s.Do(ctx, "", r.Task, session.Rename{}); !errors.Is(err, session.ErrNoTitle) {
		t.Errorf("without a title: %v", err)
	}
	if err := s.Do(ctx, "", r.Task, session.Move{Name: "forget"}); err == nil {
		t.Error("a move that there is not")
	}
	if err := s.Do(ctx, "", "tsk_none", session.Move{Name: "pause"}); !errors.Is(err, store.ErrNoTask) {
		t.Errorf("no task: %v", err)
	}
	// By its key, an operation is done once.
	for range 2 {
		if err := s.Do(ctx, "k", r.Task, session.Move{Name: "pause"}); err != nil {
			t.Error(err)
		}
	}
	if err := s.Do(ctx, "k", r.Task, session.Move{Name: "finish"}); !errors.Is(err, event.ErrKeyReused) {
		t.Errorf("the key for another operation: %v", err)
	}
	if err := s.Do(ctx, "", r.Task, session.Rename{Title: "another\nline"}); err != nil {
		t.Error(err)
	}
	got := stateOf(t, st, r.Task)
	if got.State != "paused" || *got.Title != "another" || got.Reason != nil {
		t.Errorf("%+v", got)
	}
	runs, err := st.Runs(ctx, r.Task)
	if err != nil || len(runs) != 1 {
		t.Errorf("operations made runs: %+v, %v", runs, err)
	}
}

// TestMoveWhileARunIsUnderWay: the task of a run keeps its state until the run has ended, and it is said who is at work;
// other tasks can be changed meanwhile, and no task can be erased.
func TestMoveWhileARunIsUnderWay(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, says("ok"), hangs)
	other, _ := p.open(false)
	ctx := context.Background()
	idle := submit(t, s, session.Input{Text: "idle", Origin: "person"})
	if err := s.Wait(ctx, idle.Run); err != nil {
		t.Fatal(err)
	}
	r := submit(t, s, session.Input{Text: "x", Origin: "person"})
	await(t, st, func(f event.Fact) bool { return f.Kind == event.KindCallStarted && f.Scope.Run == r.Run })
	for name, by := range map[string]*session.Session{"itself": s, "another": other} {
		var active *session.ActiveError
		if err := by.Do(ctx, "", r.Task, session.Move{Name: "pause"}); !errors.As(err, &active) || active.Held.What != "turn" || active.Held.PID == 0 {
			t.Errorf("%s: %v", name, err)
		}
		var held *session.HeldError
		if err := by.Do(ctx, "", idle.Task, session.Erase{}); !errors.As(err, &held) {
			t.Errorf("%s erases: %v", name, err)
		}
	}
	if err := other.Do(ctx, "", r.Task, session.Rename{Title: "meanwhile"}); err != nil {
		t.Error(err)
	}
	if err := other.Do(ctx, "", idle.Task, session.Move{Name: "archive"}); err != nil {
		t.Error(err)
	}
	if err := s.Stop(r.Run); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(ctx, r.Run); err != nil {
		t.Fatal(err)
	}
	if err := other.Do(ctx, "", r.Task, session.Move{Name: "finish"}); err != nil {
		t.Error(err)
	}
}

// TestMoveAfterADeath: a run whose process is gone does not keep its task from anything; it is closed first.
func TestMoveAfterADeath(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false)
	ctx := context.Background()
	_, err := st.Append(ctx, event.Batch{Scope: event.Scope{Task: "tsk_1", Run: "run_1"}, Facts: []event.Draft{
		{Subject: "tsk_1", Data: event.TaskCreated{Title: "t", Origin: "person"}},
		{Subject: "run_1", Data: event.RunAccepted{RunKind: "turn"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(ctx, "", "tsk_1", session.Move{Name: "cancel", Reason: "it died"}); err != nil {
		t.Fatal(err)
	}
	runs, err := st.Runs(ctx, "tsk_1")
	if err != nil || len(runs) != 1 || runs[0].Status != store.RunInterrupted {
		t.Errorf("%+v, %v", runs, err)
	}
	if l, err := st.Lease(ctx, "x", ""); err != nil {
		t.Errorf("the lease is not free: %v", err)
	} else {
		l.Release()
	}
}

// TestKeyAfterADeath: the key of an operation that had to wait until a dead run was closed is kept with it, so that the operation
// is done once all the same.
func TestKeyAfterADeath(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false)
	ctx := context.Background()
	for i, op := range []session.Op{session.Move{Name: "pause"}, session.Move{Name: "archive"}, session.Erase{}} {
		task, run, key := fmt.Sprint("tsk_", i), fmt.Sprint("run_", i), fmt.Sprint("key", i)
		_, err := st.Append(ctx, event.Batch{Scope: event.Scope{Task: task, Run: run}, Facts: []event.Draft{
			{Subject: task, Data: event.TaskCreated{Title: "t", Origin: "person"}},
			{Subject: run, Data: event.RunAccepted{RunKind: "turn"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Do(ctx, key, task, op); err != nil {
			t.Fatal(err)
		}
		before := stateOf(t, st, task)
		if err := s.Do(ctx, key, task, op); err != nil || stateOf(t, st, task).Last != before.Last {
			t.Errorf("%T once more: %v", op, err)
		}
		if err := s.Do(ctx, key, task, session.Rename{Title: "x"}); !errors.Is(err, event.ErrKeyReused) {
			t.Errorf("the key of %T for another operation: %v", op, err)
		}
	}
}

// TestForkAtAMessage: a fork goes on after a message with all that belongs to it, from any thread that holds it; two
// forks of one place do not know of each other, and the original never changes.
func TestForkAtAMessage(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(true, says("one"), says("two"), says("three"), says("four"), says("five"))
	ctx := context.Background()
	run := func(in session.Input) session.Receipt {
		t.Helper()
		in.Origin = "person"
		r := submit(t, s, in)
		if err := s.Wait(ctx, r.Run); err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := run(session.Input{Text: "first"})
	run(session.Input{Task: a.Task, Text: "second"})
	whole := said(t, st, a.Task)
	messages := map[string]event.Fact{}
	for f, err := range st.Read(ctx, event.Path{Task: a.Task}) {
		if m, ok := f.Data.(event.MessageAdded); ok && err == nil {
			messages[m.Blocks[0].Text] = f
		}
	}
	one := messages["one"]
	closing := one.Subject[len(one.Subject)-8:]
	b := run(session.Input{Text: "b", Fork: &session.Fork{Task: a.Task, Message: closing}})
	c := run(session.Input{Text: "c", Fork: &session.Fork{Task: b.Task, Message: fmt.Sprint(one.Seq)}})
	d := run(session.Input{Text: "d", Fork: &session.Fork{Task: c.Task}})
	for task, want := range map[string][]string{
		a.Task: whole,
		b.Task: {"person: first", "model: one", "person: b", "model: three"},
		c.Task: {"person: first", "model: one", "person: c", "model: four"},
		d.Task: {"person: first", "model: one", "person: c", "model: four", "person: d", "model: five"},
	} {
		if got := said(t, st, task); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := *stateOf(t, st, c.Task).Parent; got != b.Task {
		t.Errorf("the parent of a fork of a fork is %s", got)
	}
	for _, ref := range []string{"nosuch", "0", "999", "ne", "two"} {
		var none *prompt.MessageError
		if _, err := s.Submit(ctx, session.Input{Text: "x", Fork: &session.Fork{Task: a.Task, Message: ref}}); !errors.As(err, &none) {
			t.Errorf("message %q: %v", ref, err)
		}
	}
	// b is the parent of c, whose thread has nothing of it.
	if err := s.Do(ctx, "", b.Task, session.Erase{}); err != nil {
		t.Error(err)
	}
	var forked *session.ForkedError
	if err := s.Do(ctx, "", a.Task, session.Erase{}); !errors.As(err, &forked) || !slices.Equal(forked.Forks, []string{c.Task}) {
		t.Errorf("%v", err)
	}
	if got := said(t, st, d.Task); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// TestMovesAtRandom: whatever is asked of tasks in whatever order, they are in the states that the table gives, a refusal
// leaves the record as it was, and so does a new start of the program.
func TestMovesAtRandom(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlace(t)
		s, st := p.start(false, slices.Repeat([]answers{says("ok")}, 64)...)
		end := func() {
			if err := errors.Join(s.Close(ctx), st.Close()); err != nil {
				rt.Fatal(err)
			}
		}
		defer func() { end() }()
		states := map[string]string{}
		forks := map[string]int{} // that are alive, of each task
		parent := map[string]string{}
		last := func() event.Seq {
			facts, err := st.Append(ctx, event.Batch{Facts: []event.Draft{{Data: event.SessionEnded{Reason: "mark"}}}})
			if err != nil {
				rt.Fatal(err)
			}
			return facts[0].Seq
		}
		begin := func(in session.Input) error {
			r, err := s.Submit(ctx, in)
			if err != nil {
				return err
			}
			if err := s.Wait(ctx, r.Run); err != nil {
				rt.Fatal(err)
			}
			if in.Task == "" {
				states[r.Task] = "active"
				if in.Fork != nil {
					parent[r.Task] = in.Fork.Task
					forks[in.Fork.Task]++
				}
			}
			return nil
		}
		for range rapid.IntRange(1, 25).Draw(rt, "commands") {
			command := rapid.SampledFrom(append(session.Moves(""), "new", "input", "fork", "erase", "restart")).Draw(rt, "command")
			if command == "new" || len(states) == 0 {
				if err := begin(session.Input{Text: "x", Origin: "person"}); err != nil {
					rt.Fatal(err)
				}
				continue
			}
			if command == "restart" {
				end()
				s, st = p.start(false, slices.Repeat([]answers{says("ok")}, 64)...)
				continue
			}
			task := rapid.SampledFrom(slices.Sorted(maps.Keys(states))).Draw(rt, "task")
			var err error
			want := ""
			before := last()
			switch command {
			case "input":
				err = begin(session.Input{Task: task, Text: "x"})
				if states[task] == "active" {
					want = "active"
				}
			case "fork":
				err = begin(session.Input{Fork: &session.Fork{Task: task}, Text: "x", Origin: "person"})
				if states[task] != "erased" {
					want = states[task]
				}
			case "erase":
				err = s.Do(ctx, "", task, session.Erase{})
				switch {
				case states[task] == "erased":
					if err != nil || last() != before+1 {
						rt.Fatalf("erased again: %v", err)
					}
					continue
				case forks[task] == 0:
					want = "erased"
					forks[parent[task]]--
				}
			default:
				err = s.Do(ctx, "", task, session.Move{Name: command, Reason: "r"})
				want = legal[states[task]][command]
			}
			if (err == nil) != (want != "") {
				rt.Fatalf("%s of a task that is %s: %v", command, states[task], err)
			}
			if want != "" {
				states[task] = want
			} else if after := last(); after != before+1 {
				rt.Fatalf("%s was refused and left %d facts", command, after-before-1)
			}
			for id, state := range states {
				if got, err := st.Task(ctx, id); err != nil || got.State != state {
					rt.Fatalf("after %s: %+v, %v; want %s", command, got, err, state)
				}
			}
		}
	})
}
