package store_test

import (
	"slices"
	"testing"

	"overt/internal/event"
)

// TestRecoverJobs: what a dead program had running is ended and closed, once; what another one watches over goes on.
func TestRecoverJobs(t *testing.T) {
	s := open(t, t.TempDir())
	sc := event.Scope{Session: "ses_A", Task: "tsk_A", Turn: "trn_R", Run: "run_R"}
	put(t, s, sc, event.Draft{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn"}}, event.Draft{Data: text("do it")})
	dead, live := &event.Group{ID: 5, Start: 1}, &event.Group{ID: 6, Start: 1}
	for i, owner := range []*event.Group{dead, dead, live} {
		put(t, s, sc, event.Draft{Subject: "tcl_R-1.1", Data: event.JobStarted{Job: []string{"job_1", "job_2", "job_3"}[i], Command: "sleep", Group: &event.Group{ID: 70 + i}, Owner: owner}})
	}
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.2", Data: event.JobEnded{Job: "job_1", State: "exit 0"}})
	other := event.Scope{Session: "ses_B", Task: "tsk_A", Run: "run_S"}
	put(t, s, other, event.Draft{Data: event.RunAccepted{}}, event.Draft{Subject: "tcl_S-1.1", Data: event.JobStarted{Job: "job_1", Group: &event.Group{ID: 80}, Owner: dead}}, event.Draft{Data: event.RunCompleted{}})

	l, err := s.Lease(t.Context(), "recovery", "ses_C")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	var ended []int
	looks := 0
	recover := func() []event.Fact {
		facts, err := l.RecoverJobs(t.Context(), func(g event.Group) bool { return g == *live }, func(g event.Group) bool {
			ended = append(ended, g.ID)
			return true
		}, func() error {
			looks++
			open, err := s.OpenJobs(t.Context())
			if len(open) != 3 || open[0].Data.(event.JobStarted).Job != "job_2" || len(ended) != 2 {
				t.Errorf("once all have ended and none is recorded: ended %v, open %+v", ended, open)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	facts := recover()
	if !slices.Equal(ended, []int{71, 80}) || len(facts) != 2 {
		t.Fatalf("ended %v, facts %+v", ended, facts)
	}
	if got, ok := facts[1].Data.(event.JobEnded); !ok || got.Job != "job_1" || got.State != event.WithProgram || facts[1].Scope.Session != "ses_B" {
		t.Errorf("%+v", facts[1])
	}
	if facts := recover(); len(facts) != 0 || looks != 1 {
		t.Errorf("again %+v, %d looks", facts, looks)
	}
}
