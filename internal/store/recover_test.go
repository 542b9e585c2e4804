package store_test

import (
	"reflect"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

func call(id, name string) event.Block {
	return event.Block{Type: "call", Call: &event.ToolCall{ID: id, Name: name, Args: "{}"}}
}

func put(t testing.TB, s *store.Store, sc event.Scope, facts ...event.Draft) []event.Fact {
	t.Helper()
	out, err := s.Append(t.Context(), event.Batch{Scope: sc, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func recoverAll(t testing.TB, s *store.Store, end func(event.Group) bool) []event.Fact {
	t.Helper()
	l, err := s.Lease(t.Context(), "recovery", "ses_B")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := l.Recover(t.Context(), end)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestRecover: a run that died with everything open is closed in one batch, and only once.
// covers F030
func TestRecover(t *testing.T) {
	s := open(t, t.TempDir())
	sc := event.Scope{Session: "ses_A", Task: "tsk_A", Turn: "trn_R", Run: "run_R"}
	put(t, s, sc, event.Draft{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn"}}, event.Draft{Data: text("do it")})
	sc.Step = 1
	put(t, s, sc, event.Draft{Subject: "cal_R-1.1", Data: event.CallStarted{Lane: "run_R", Attempt: 1}})
	put(t, s, sc, event.Draft{Subject: "cal_R-1.1", Data: event.CallCompleted{HTTP: 200}},
		event.Draft{Subject: "msg_R-1", Data: event.MessageAdded{Role: "assistant", Blocks: []event.Block{
			call("tcl_R-1.1", "read_file"), call("tcl_R-1.2", "run_command"), call("tcl_R-1.3", "edit_file"), call("tcl_R-1.4", "run_command"), call("tcl_R-1.5", "write_file"),
		}}})
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.1", Data: event.ToolStarted{Name: "read_file", ReadOnly: true}})
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.1", Data: event.ToolCompleted{Name: "read_file", Status: "ok"}})
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.2", Data: event.ToolStarted{Name: "run_command", Group: &event.Group{ID: 77, Start: 7}}})
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.3", Data: event.ToolStarted{Name: "edit_file"}})
	put(t, s, sc, event.Draft{Subject: "tcl_R-1.4", Data: event.ToolStarted{Name: "run_command", Group: &event.Group{ID: 78, Start: 8}}})
	put(t, s, sc, event.Draft{Subject: "qst_R-1.5", Data: event.QuestionAsked{About: "tool", ToolCall: "tcl_R-1.5"}})
	last := put(t, s, sc, event.Draft{Subject: "cal_R-1.2", Data: event.CallStarted{Lane: "other", Attempt: 2}})[0].Seq

	ended := event.Scope{Session: "ses_A", Task: "tsk_A", Run: "run_S"}
	put(t, s, ended, event.Draft{Data: event.RunAccepted{}})
	put(t, s, ended, event.Draft{Data: event.RunCompleted{}})

	var asked []event.Group
	facts := recoverAll(t, s, func(g event.Group) bool { asked = append(asked, g); return g.ID == 77 })
	if want := []event.Group{{ID: 77, Start: 7}, {ID: 78, Start: 8}}; !reflect.DeepEqual(asked, want) {
		t.Errorf("groups %v, want %v", asked, want)
	}
	type outcome struct {
		kind            event.Kind
		subject, status string
	}
	var got []outcome
	for _, f := range facts {
		o := outcome{kind: f.Kind, subject: f.Subject}
		switch p := f.Data.(type) {
		case event.ToolCompleted:
			o.status = p.Status
			if !p.Trusted || p.Content == "" || p.Bytes != int64(len(p.Content)) {
				t.Errorf("%s says %+v", f.Subject, p)
			}
		case event.CallFailed:
			o.status = p.Class
		case event.QuestionAnswered:
			o.status = p.Choice
		case event.RunInterrupted:
			o.status = p.Reason
			if want := []string{"tcl_R-1.2", "tcl_R-1.3", "tcl_R-1.4", "cal_R-1.2"}; !reflect.DeepEqual(p.Open, want) {
				t.Errorf("open %q, want %q", p.Open, want)
			}
			if want := []string{"tcl_R-1.2"}; !reflect.DeepEqual(p.Ended, want) {
				t.Errorf("ended %q, want %q", p.Ended, want)
			}
		}
		got = append(got, o)
		if f.Scope != sc {
			t.Errorf("%s has scope %+v", f.Kind, f.Scope)
		}
	}
	want := []outcome{
		{event.KindToolCompleted, "tcl_R-1.2", "interrupted"},
		{event.KindToolCompleted, "tcl_R-1.3", "interrupted"},
		{event.KindToolCompleted, "tcl_R-1.4", "interrupted"},
		{event.KindToolCompleted, "tcl_R-1.5", "skipped"},
		{event.KindCallFailed, "cal_R-1.2", "interrupted"},
		{event.KindQuestionAnswered, "qst_R-1.5", "void"},
		{event.KindRunInterrupted, "run_R", "process died"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if facts[0].Seq <= last || facts[0].Time != facts[6].Time {
		t.Error("the outcomes are not one batch after what was there")
	}
	if again := recoverAll(t, s, func(event.Group) bool { return false }); len(again) != 0 {
		t.Errorf("the second time: %+v", again)
	}
	runs, err := s.Runs(t.Context(), "tsk_A")
	if err != nil || len(runs) != 2 || runs[0].Status != store.RunInterrupted || *runs[0].Reason != "process died" || runs[0].Ended == nil {
		t.Errorf("runs %+v, %v", runs, err)
	}
	calls, err := s.Calls(t.Context(), "tsk_A")
	if err != nil || len(calls) != 2 || calls[1].Status != store.CallFailed || calls[1].HTTP != nil {
		t.Errorf("calls %+v, %v", calls, err)
	}
}
