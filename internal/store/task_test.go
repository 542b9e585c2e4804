package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

func ptr[T any](v T) *T { return &v }

func TestProjections(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sc := event.Scope{Session: "ses_A", Task: "tsk_A", Turn: "trn_R", Run: "run_R"}
	start := now
	put(t, s, sc, event.Draft{Data: event.TaskCreated{Title: "fix it", Origin: "person"}}, event.Draft{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn"}},
		event.Draft{Data: text("fix it")})
	put(t, s, sc, event.Draft{Data: event.ContextHead{Model: "m1"}})
	put(t, s, sc, event.Draft{Data: event.RunStarted{}})
	sc.Step = 1
	put(t, s, sc, event.Draft{Subject: "cal_R-1.1", Data: event.CallStarted{Lane: "run_R", Purpose: "chat", Attempt: 1, Provider: "p", Protocol: "openai-chat", Model: "m1"}})
	put(t, s, sc, event.Draft{Subject: "cal_R-1.1", Data: event.CallFailed{Class: "rate", HTTP: 429, Usage: event.Usage{Coverage: "unavailable"}, Exchange: event.Exchange{DurationMS: 5}}})
	put(t, s, sc, event.Draft{Subject: "cal_R-1.2", Data: event.CallStarted{Lane: "run_R", Purpose: "chat", Attempt: 2, Provider: "p", Protocol: "openai-chat", Model: "m1"}})

	want := store.Task{ID: "tsk_A", Origin: "person", Title: ptr("fix it"), State: "active", Head: 4, Model: ptr("m1"), Created: start, Changed: start, Last: 8}
	if got, err := s.Task(t.Context(), "tsk_A"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("task %+v, %v", got, err)
	}
	run := store.Run{ID: "run_R", Task: "tsk_A", Turn: ptr("trn_R"), Kind: "turn", Status: store.RunRunning, Accepted: start}
	if got, err := s.Runs(t.Context(), "tsk_A"); err != nil || !reflect.DeepEqual(got, []store.Run{run}) {
		t.Errorf("runs %+v, %v", got, err)
	}
	now = now.Add(time.Second)
	usage := event.Usage{Fresh: ptr(int64(0)), Output: ptr(int64(7)), Coverage: "complete"}
	put(t, s, sc, event.Draft{Subject: "cal_R-1.2", Data: event.CallCompleted{HTTP: 200, Usage: usage, Exchange: event.Exchange{FirstByteMS: 3, DurationMS: 9}}})
	put(t, s, sc, event.Draft{Subject: sc.Run, Data: event.RunFailed{Code: "limit.steps"}})

	calls := []store.Call{
		{
			Seq: 6, ID: "cal_R-1.1", Task: "tsk_A", Run: "run_R", Step: 1, Attempt: 1, Lane: "run_R", Purpose: "chat", Provider: "p", Protocol: "openai-chat",
			Model: "m1", Status: store.CallFailed, HTTP: ptr(429), Usage: event.Usage{Coverage: "unavailable"}, DurationMS: ptr(int64(5)),
		},
		{
			Seq: 8, ID: "cal_R-1.2", Task: "tsk_A", Run: "run_R", Step: 1, Attempt: 2, Lane: "run_R", Purpose: "chat", Provider: "p", Protocol: "openai-chat",
			Model: "m1", Status: store.CallCompleted, HTTP: ptr(200), Usage: usage, FirstByteMS: ptr(int64(3)), DurationMS: ptr(int64(9)),
		},
	}
	if got, err := s.Calls(t.Context(), "tsk_A"); err != nil || !reflect.DeepEqual(got, calls) {
		t.Errorf("calls\n%+v, %v\nwant\n%+v", got, err, calls)
	}
	run.Status, run.Reason, run.Ended = store.RunFailed, ptr("limit.steps"), &now
	if got, err := s.Runs(t.Context(), ""); err != nil || !reflect.DeepEqual(got, []store.Run{run}) {
		t.Errorf("runs %+v, %v", got, err)
	}
	want.Changed, want.Last = now, 10
	if got, err := s.Tasks(t.Context(), 1); err != nil || !reflect.DeepEqual(got, []store.Task{want}) {
		t.Errorf("tasks %+v, %v", got, err)
	}
}

func TestFindTask(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.FindTask(t.Context(), "last"); !errors.Is(err, store.ErrNoTask) {
		t.Errorf("without tasks: %v", err)
	}
	for _, id := range []string{"tsk_01AAXYZW", "tsk_01BBXYZW", "tsk_01CC1234", "tsk_01DD_%34"} {
		appendFacts(t, s, event.Scope{Task: id}, text("x"))
	}
	appendFacts(t, s, event.Scope{Task: "tsk_01CC1234"}, text("y"))
	for ref, want := range map[string]string{
		"tsk_01AAXYZW": "tsk_01AAXYZW", "1234": "tsk_01CC1234", "CC1234": "tsk_01CC1234",
		"BBXYZW": "tsk_01BBXYZW", "_%34": "tsk_01DD_%34", "last": "tsk_01CC1234",
	} {
		if got, err := s.FindTask(t.Context(), ref); err != nil || got.ID != want {
			t.Errorf("%q is %q, %v; want %q", ref, got.ID, err, want)
		}
	}
	for ref, msg := range map[string]string{"": "at least 4", "234": "at least 4", "__34": `no such task: "__34"`, "%%%%": "no such task", "tsk_9": "no such task"} {
		if got, err := s.FindTask(t.Context(), ref); !errors.Is(err, store.ErrNoTask) || !strings.Contains(err.Error(), msg) {
			t.Errorf("%q is %q, %v", ref, got.ID, err)
		}
	}
	_, err := s.FindTask(t.Context(), "XYZW")
	var several *store.AmbiguousError
	if !errors.As(err, &several) || len(several.Candidates) != 2 || several.Candidates[0].ID != "tsk_01BBXYZW" {
		t.Fatalf("got %v", err)
	}
	if want := `"XYZW" fits 2 tasks: tsk_01BBXYZW, tsk_01AAXYZW; give more of the id`; err.Error() != want {
		t.Errorf("it says %q", err)
	}
}

func TestTasksLimit(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 5 {
		appendFacts(t, s, event.Scope{Task: fmt.Sprint("tsk_", i)}, text("x"))
	}
	for limit, want := range map[int]int{0: 5, 2: 2, 9: 5} {
		if got, err := s.Tasks(t.Context(), limit); err != nil || len(got) != want || got[0].ID != "tsk_4" {
			t.Errorf("limit %d: %d tasks, %v", limit, len(got), err)
		}
	}
}
