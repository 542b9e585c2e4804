package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/trace"
	"overt/internal/wire"
)

func open(t *testing.T) (*store.Store, *trace.Reader) {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, trace.New(s)
}

func add(t *testing.T, s *store.Store, run string, subject string, p event.Payload) event.Fact {
	t.Helper()
	f, err := s.Append(context.Background(), event.Batch{
		Scope: event.Scope{Session: "ses_1", Task: "tsk_1", Turn: "trn_" + run[4:], Run: run, Step: 1}, Facts: []event.Draft{{Subject: subject, Data: p}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f[0]
}

// TestRunChains: a run's events name the one before them, also while another run writes between them, and end with the
// run. What recovery wrote of another run stands outside the chain.
func TestRunChains(t *testing.T) {
	s, r := open(t)
	add(t, s, "run_a", "run_a", event.RunAccepted{RunKind: "turn"})
	after := add(t, s, "run_a", "run_a", event.RunStarted{}).Seq
	add(t, s, "run_a", "run_a", event.RunInterrupted{Reason: "process died"})
	add(t, s, "run_b", "run_b", event.RunAccepted{RunKind: "turn"})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	go func() {
		for i, p := range []event.Payload{event.RunStarted{}, event.MessageAdded{Role: "user"}, event.RunCompleted{Steps: 1}, event.RunStarted{}} {
			run := "run_b"
			if i == 1 {
				run = "run_c"
			}
			s.Append(context.Background(), event.Batch{Scope: event.Scope{Task: "tsk_1", Run: run}, Facts: []event.Draft{{Subject: run, Data: p}}})
		}
	}()
	var got []trace.Event
	for e, err := range r.Run(ctx, "run_b", after) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	want := []struct {
		kind event.Kind
		prev int64
	}{{event.KindRunInterrupted, -1}, {event.KindRunAccepted, 0}, {event.KindRunStarted, 4}, {event.KindRunCompleted, 5}}
	if len(got) != len(want) {
		t.Fatalf("%d events: %+v", len(got), got)
	}
	for i, w := range want {
		if got[i].Kind != w.kind || got[i].Prev != w.prev {
			t.Errorf("event %d: %s after %d, want %s after %d", i, got[i].Kind, got[i].Prev, w.kind, w.prev)
		}
	}
}

// covers F178
func TestPublicForm(t *testing.T) {
	s, r := open(t)
	add(t, s, "run_a", "run_a", event.RunAccepted{RunKind: "turn", Client: "cli"})
	for e, err := range r.Events(context.Background(), "tsk_1") {
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"seq", "prev", "time", "kind", "v", "session", "task", "turn", "run", "step", "subject", "data"} {
			if _, ok := m[name]; !ok {
				t.Errorf("no %s in %s", name, data)
			}
		}
		if len(m) != 12 {
			t.Errorf("%s", data)
		}
	}
}

// TestCalls: every attempt is listed with what is known of it, and nothing else.
// covers F043 F076
func TestCalls(t *testing.T) {
	s, r := open(t)
	ctx := context.Background()
	n := func(v int64) *int64 { return &v }
	part := wire.Part{Owner: "1", Bytes: []byte(`{"model":"m","messages":[`)}
	send := func(call string, tail string) {
		if _, err := s.Captures().Sent(ctx, wire.Sent{ID: call, Lane: "l", Method: "POST", URL: "http://h/", Body: []wire.Part{part, {Bytes: []byte(tail)}}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Captures().Received(ctx, wire.Received{ID: call, Status: 200, Body: []byte("body of " + call), Chunks: []wire.Chunk{{Bytes: 16, After: time.Millisecond}}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "run_a", "run_a", event.RunAccepted{RunKind: "turn"})
	add(t, s, "run_a", "cal_a-1.1", event.CallStarted{Lane: "l", Purpose: "chat", Attempt: 1, Provider: "p", Model: "m"})
	send("cal_a-1.1", "1]}")
	add(t, s, "run_a", "cal_a-1.1", event.CallFailed{Class: "rate", HTTP: 429, Message: "slow down"})
	add(t, s, "run_a", "cal_a-1.2", event.CallStarted{Lane: "l", Purpose: "chat", Attempt: 2, Provider: "p", Model: "m"})
	send("cal_a-1.2", "1]}")
	add(t, s, "run_a", "cal_a-1.2", event.CallCompleted{HTTP: 200, Usage: event.Usage{Fresh: n(0), Output: n(7), Coverage: "complete"}})
	add(t, s, "run_a", "cal_a-2.1", event.CallStarted{Lane: "l", Purpose: "chat", Attempt: 1, Provider: "p", Model: "m"})

	calls, err := r.Calls(ctx, "tsk_1")
	if err != nil || len(calls) != 3 {
		t.Fatalf("%+v, %v", calls, err)
	}
	if c := calls[0]; c.Status != "failed" || c.Error == nil || *c.Error != "rate: slow down" || *c.HTTPStatus != 429 || c.Turn != "trn_a" || *c.SharedBytes != 0 {
		t.Errorf("first: %+v", c)
	}
	if c := calls[1]; c.Status != "completed" || c.Error != nil || *c.Usage.Fresh != 0 || c.Usage.CacheRead != nil || *c.SharedBytes != *c.RequestBytes || *c.ResponseBytes != 17 {
		t.Errorf("second: %+v", c)
	}
	if c := calls[2]; c.Status != "interrupted" || c.RequestBytes != nil || c.HTTPStatus != nil || c.DurationMS != nil {
		t.Errorf("third, whose process is gone and which sent nothing: %+v", c)
	}
	for _, ref := range []string{"2", "cal_a-1.2"} {
		if c, err := trace.FindCall(calls, ref); err != nil || c.ID != "cal_a-1.2" {
			t.Errorf("call %s: %v, %v", ref, c.ID, err)
		}
	}
	for _, ref := range []string{"0", "4", "", "cal_b"} {
		var none *trace.NoCallError
		if _, err := trace.FindCall(calls, ref); !errors.As(err, &none) {
			t.Errorf("call %q: %v", ref, err)
		}
	}
	x, err := r.Exchange(ctx, "cal_a-1.2")
	if err != nil || string(x.Request) != `{"model":"m","messages":[1]}` || string(x.Response) != "body of cal_a-1.2" {
		t.Errorf("exchange: %+v, %v", x, err)
	}
	if _, err := r.Exchange(ctx, "cal_a-2.1"); !errors.Is(err, trace.ErrNoCapture) {
		t.Errorf("exchange of a call that sent nothing: %v", err)
	}
	runs, err := r.Runs(ctx, "tsk_1")
	if err != nil || len(runs) != 1 || runs[0].Status != "interrupted" {
		t.Errorf("runs: %+v, %v", runs, err)
	}
}

// TestCosts: what calls cost is summed up; calls that were answered without a known cost are counted beside it.
func TestCosts(t *testing.T) {
	s, r := open(t)
	ctx := context.Background()
	end := func(task string, i int, p event.Payload) {
		sc := event.Scope{Session: "ses_1", Task: task, Turn: "trn_" + task, Run: "run_" + task}
		call := fmt.Sprintf("cal_%s-%d.1", task, i)
		for _, data := range []event.Payload{event.CallStarted{Lane: "l", Attempt: 1, Provider: "p", Model: "m"}, p} {
			if _, err := s.Append(ctx, event.Batch{Scope: sc, Facts: []event.Draft{{Subject: call, Data: data}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	end("tsk_a", 1, event.CallCompleted{HTTP: 200, Cost: &event.Cost{Nano: 1_500_000_001}})
	end("tsk_a", 2, event.CallFailed{HTTP: 200, Cost: &event.Cost{Nano: 9, Reported: true}})
	end("tsk_a", 3, event.CallCompleted{HTTP: 200})
	end("tsk_a", 4, event.CallFailed{HTTP: 429})
	end("tsk_b", 1, event.CallCompleted{HTTP: 200, Cost: &event.Cost{Nano: 20, Reported: true}})
	end("tsk_c", 1, event.CallCompleted{HTTP: 200})
	calls, err := r.Calls(ctx, "tsk_a")
	if err != nil || len(calls) != 4 || *calls[0].Cost != (trace.Cost{USD: 1_500_000_001, Estimate: true}) || *calls[1].Cost != (trace.Cost{USD: 9}) || calls[2].Cost != nil {
		t.Errorf("%+v, %v", calls, err)
	}
	report, err := r.Usage(ctx, "", "task")
	if err != nil || len(report.Rows) != 3 {
		t.Fatal(report, err)
	}
	text, err := json.Marshal([]*trace.Cost{report.Rows[0].Cost, report.Rows[1].Cost, report.Rows[2].Cost, report.Total.Cost})
	if want := `[{"usd":1.50000001,"estimate":true,"unknown_calls":1},{"usd":0.00000002,"estimate":false,"unknown_calls":0},null,{"usd":1.50000003,"estimate":true,"unknown_calls":2}]`; string(text) != want || err != nil {
		t.Errorf("%s, want\n%s, %v", text, want, err)
	}
	for nano, want := range map[trace.USD]string{0: "0", 1: "0.000000001", 1e9: "1", 12_340_000_000: "12.34", -5: "-0.000000005"} {
		if nano.String() != want {
			t.Errorf("%s, want %s", nano, want)
		}
	}
}
