package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/policy"
	"overt/internal/redact"
	"overt/internal/session"
	"overt/internal/store"
	"overt/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a script of functions, one a call.
type model struct {
	mu     sync.Mutex
	script []func(ctx context.Context, show func(llm.Delta)) (*llm.Response, error)
}

func (m *model) Stream(ctx context.Context, _ *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	m.mu.Lock()
	next := m.script[0]
	m.script = m.script[1:]
	m.mu.Unlock()
	return next(ctx, show)
}

func says(pieces ...string) func(context.Context, func(llm.Delta)) (*llm.Response, error) {
	return func(_ context.Context, show func(llm.Delta)) (*llm.Response, error) {
		for _, p := range pieces {
			show(llm.Delta{Part: llm.TextDelta, Text: p})
		}
		return &llm.Response{Finish: llm.Stop, Blocks: []llm.Block{{Type: llm.Text, Text: strings.Join(pieces, "")}}}, nil
	}
}

func callsTool(context.Context, func(llm.Delta)) (*llm.Response, error) {
	return &llm.Response{Finish: llm.ToolCalls, Blocks: []llm.Block{{Type: llm.Call, Call: &llm.ToolCall{ID: "a1", Name: "touch", Arguments: "{}"}}}}, nil
}

func hangs(ctx context.Context, show func(llm.Delta)) (*llm.Response, error) {
	show(llm.Delta{Part: llm.TextDelta, Text: "half"})
	<-ctx.Done()
	return &llm.Response{Blocks: []llm.Block{{Type: llm.Text, Text: "half"}}}, &llm.Error{Class: llm.Cancelled, Message: "cancelled"}
}

// touch is a tool with an effect.
type touch struct{ ran *atomic.Int32 }

func (touch) Spec() event.ToolSpec {
	return event.ToolSpec{Name: "touch", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (t touch) Prepare(context.Context, json.RawMessage) (*tool.Prepared, error) {
	return &tool.Prepared{
		Action: policy.Action{Tool: "touch", Effects: []policy.Effect{{Kind: policy.Write, Target: "x"}}}, Preview: "touch x",
		Run: func(context.Context, tool.Host) (*tool.Result, error) {
			t.ran.Add(1)
			return &tool.Result{Content: "done"}, nil
		},
	}, nil
}

// place is a workspace's record with sessions on it.
type place struct {
	t    *testing.T
	dir  string
	mask *redact.Masker
	ids  atomic.Int32
	ran  atomic.Int32
}

func newPlace(t *testing.T) *place { return &place{t: t, dir: t.TempDir(), mask: redact.New()} }

func (p *place) open(interactive bool, script ...func(context.Context, func(llm.Delta)) (*llm.Response, error)) (*session.Session, *store.Store) {
	p.t.Helper()
	s, st := p.start(interactive, script...)
	p.t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), st.Close()); err != nil {
			p.t.Error(err)
		}
	})
	return s, st
}

// start opens what the caller closes.
func (p *place) start(interactive bool, script ...func(context.Context, func(llm.Delta)) (*llm.Response, error)) (*session.Session, *store.Store) {
	p.t.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, store.Options{Dir: p.dir, Mask: p.mask})
	if err != nil {
		p.t.Fatal(err)
	}
	m := &model{script: script}
	s := session.Open(session.Options{
		Store: st, Mask: p.mask, Client: "cli", Version: "test", Dir: p.dir, PID: 1, Interactive: interactive,
		NewID:    func(prefix string) string { return fmt.Sprintf("%sid%04d", prefix, p.ids.Add(1)) },
		EndGroup: func(event.Group) bool { return false },
		Kit: func(context.Context, string) (*session.Kit, error) {
			set, err := tool.NewSet(touch{&p.ran})
			return &session.Kit{
				Model: m, Info: llm.Info{Provider: "p", Model: "m"}, Set: set, Rules: func() policy.Rules { return policy.Rules{Profile: policy.AskFirst} },
			}, err
		},
		Wait: func(context.Context, int, time.Duration) error { return nil }, Backoff: func(int, time.Duration) time.Duration { return 0 },
	})
	return s, st
}

// await returns the first fact from after on that fits.
func await(t *testing.T, st *store.Store, fits func(event.Fact) bool) event.Fact {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for f, err := range st.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if fits(f) {
			return f
		}
	}
	t.Fatal("the fact did not come")
	return event.Fact{}
}

func kind(k event.Kind) func(event.Fact) bool {
	return func(f event.Fact) bool { return f.Kind == k }
}

func submit(t *testing.T, s *session.Session, in session.Input) session.Receipt {
	t.Helper()
	r, err := s.Submit(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// covers F059
func TestSubmitRunsAndGoesOn(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, says("one"), says("two"))
	r := submit(t, s, session.Input{Text: "  first line\nsecond", Origin: "person"})
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	again := submit(t, s, session.Input{Task: r.Task, Text: "more"})
	if err := s.Wait(context.Background(), again.Run); err != nil {
		t.Fatal(err)
	}
	tasks, err := st.Tasks(context.Background(), 0)
	if err != nil || len(tasks) != 1 || *tasks[0].Title != "first line" {
		t.Fatalf("tasks = %+v, %v", tasks, err)
	}
	runs, err := st.Runs(context.Background(), r.Task)
	if err != nil || len(runs) != 2 || runs[1].Status != store.RunCompleted {
		t.Errorf("runs = %+v, %v", runs, err)
	}
}

// covers F051
func TestEmptyInputLeavesNothing(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false)
	if _, err := s.Submit(context.Background(), session.Input{Text: " \n\t"}); !errors.Is(err, session.ErrEmpty) {
		t.Errorf("err = %v", err)
	}
	if tasks, err := st.Tasks(context.Background(), 0); err != nil || len(tasks) != 0 {
		t.Errorf("tasks = %v, %v", tasks, err)
	}
}

// covers F046 F205
func TestSameKeyRunsOnce(t *testing.T) {
	p := newPlace(t)
	s, _ := p.open(false, says("one"))
	in := session.Input{Text: "x", Key: "k1", Origin: "person"}
	a := submit(t, s, in)
	if err := s.Wait(context.Background(), a.Run); err != nil {
		t.Fatal(err)
	}
	if b := submit(t, s, in); b.Run != a.Run || b.Task != a.Task {
		t.Errorf("%+v, then %+v", a, b)
	}
	in.Text = "y"
	if _, err := s.Submit(context.Background(), in); !errors.Is(err, event.ErrKeyReused) {
		t.Errorf("another text under the key: %v", err)
	}
}

func TestOneRunAtATime(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, hangs)
	other, _ := p.open(false, says("later"))
	r := submit(t, s, session.Input{Text: "x", Origin: "person"})
	await(t, st, kind(event.KindCallStarted))
	var held *store.HeldError
	if _, err := other.Submit(context.Background(), session.Input{Text: "y", Origin: "person"}); !errors.As(err, &held) {
		t.Fatalf("err = %v", err)
	}
	if err := s.Stop(r.Run); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	f := await(t, st, func(f event.Fact) bool { return f.Kind.Ends() })
	if f.Kind != event.KindRunCancelled {
		t.Errorf("ended as %s", f.Kind)
	}
	free := submit(t, other, session.Input{Text: "y", Origin: "person"})
	if err := other.Wait(context.Background(), free.Run); err != nil {
		t.Error(err)
	}
}

func TestQuestions(t *testing.T) {
	for _, choice := range []string{"yes", "no"} {
		t.Run(choice, func(t *testing.T) {
			p := newPlace(t)
			s, st := p.open(true, callsTool, says("done"))
			r := submit(t, s, session.Input{Text: "x", Origin: "person"})
			q := await(t, st, kind(event.KindQuestionAsked))
			if p.ran.Load() != 0 {
				t.Error("the tool ran before the answer")
			}
			if err := s.Answer(q.Subject, tool.Reply{Choice: choice, By: "person"}); err != nil {
				t.Fatal(err) // the question is on record, so it can be answered
			}
			if err := s.Wait(context.Background(), r.Run); err != nil {
				t.Fatal(err)
			}
			want := int32(0)
			if choice == "yes" {
				want = 1
			}
			if p.ran.Load() != want {
				t.Errorf("ran %d times, want %d", p.ran.Load(), want)
			}
			if err := s.Answer(q.Subject, tool.Reply{Choice: "yes"}); !errors.Is(err, session.ErrAnswered) {
				t.Errorf("second answer: %v", err)
			}
		})
	}
}

func TestStopWhileAsking(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(true, callsTool)
	r := submit(t, s, session.Input{Text: "x", Origin: "person"})
	await(t, st, kind(event.KindQuestionAsked))
	s.Stop(r.Run)
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	a := await(t, st, kind(event.KindQuestionAnswered))
	if got := a.Data.(event.QuestionAnswered); got.Choice != "void" || p.ran.Load() != 0 {
		t.Errorf("answer %+v, ran %d", got, p.ran.Load())
	}
}

func TestDeltasAreMaskedAcrossPieces(t *testing.T) {
	p := newPlace(t)
	p.mask.Add("token", "hunter2-hunter2")
	s, st := p.open(false, says("the token is hunt", "er2-hun", "ter2, keep it"))
	ctx, cancel := context.WithCancel(context.Background())
	deltas := s.Watch(ctx)
	var shown strings.Builder
	first, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for d := range deltas {
			if shown.WriteString(d.Text); shown.Len() == len(d.Text) {
				close(first)
			}
		}
	}()
	submit(t, s, session.Input{Text: "x", Origin: "person"})
	<-first
	cancel()
	<-done
	m := await(t, st, func(f event.Fact) bool {
		d, ok := f.Data.(event.MessageAdded)
		return ok && d.Role == "assistant"
	})
	whole := m.Data.(event.MessageAdded).Blocks[0].Text
	if want := "the token is [masked:token], keep it"; whole != want {
		t.Errorf("on record: %q, want %q", whole, want)
	}
	if got := shown.String(); got == "" || !strings.HasPrefix(whole, got) {
		t.Errorf("shown %q, on record %q", got, whole)
	}
}

// TestStopAtOnce: a run that is stopped before it began ends like any other.
func TestStopAtOnce(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, hangs)
	r := submit(t, s, session.Input{Text: "x", Origin: "person"})
	if err := s.Stop(r.Run); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(context.Background(), r.Run); err != nil {
		t.Fatal(err)
	}
	if f := await(t, st, func(f event.Fact) bool { return f.Kind.Ends() }); f.Kind != event.KindRunCancelled {
		t.Errorf("ended as %s", f.Kind)
	}
	if err := s.Stop(r.Run); !errors.Is(err, session.ErrNoRun) {
		t.Errorf("stop of an ended run: %v", err)
	}
}

// TestSameKeyWhileItRuns: a repeated input finds its run, and is not told that the workspace is busy.
func TestSameKeyWhileItRuns(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, hangs)
	in := session.Input{Text: "x", Key: "k", Origin: "person"}
	a := submit(t, s, in)
	await(t, st, kind(event.KindCallStarted))
	if b := submit(t, s, in); b.Run != a.Run {
		t.Errorf("%+v, then %+v", a, b)
	}
	s.Stop(a.Run)
	if err := s.Wait(context.Background(), a.Run); err != nil {
		t.Fatal(err)
	}
}

func TestClosedAcceptsNothing(t *testing.T) {
	p := newPlace(t)
	s, st := p.open(false, hangs)
	submit(t, s, session.Input{Text: "x", Origin: "person"})
	await(t, st, kind(event.KindCallStarted))
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	await(t, st, kind(event.KindRunCancelled))
	if _, err := s.Submit(context.Background(), session.Input{Text: "y", Origin: "person"}); !errors.Is(err, session.ErrClosed) {
		t.Errorf("err = %v", err)
	}
}
