package prompt_test

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"overt/internal/event"
	"overt/internal/prompt"
)

// TestAfter: a message is named by number, id or closing part, and has with it what belongs to it.
func TestAfter(t *testing.T) {
	say := func(id string) event.Fact { return event.Fact{Subject: id, Data: event.MessageAdded{}} }
	path := []event.Fact{
		say("msg_aaaa-0.1"),
		{Subject: "n", Data: event.ContextTaken{}},
		{Data: event.ContextHead{}},
		say("msg_aaaa-1.1"),
		{Subject: "tcl_aaaa-1.2", Data: event.ToolCompleted{}},
		{Subject: "tcl_aaaa-1.1", Data: event.ToolCompleted{}},
		say("msg_aaaa-2.1"),
		say("msg_bbbb-0.1"),
	}
	for i := range path {
		path[i].Seq = event.Seq(10 * (i + 1))
	}
	facts := func(list []event.Fact) iter.Seq2[event.Fact, error] {
		return func(yield func(event.Fact, error) bool) {
			for _, f := range list {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
	for ref, want := range map[string]event.Seq{
		"": 80, "10": 30, "msg_aaaa-0.1": 30, "40": 60, "aaaa-1.1": 60, "-2.1": 70, "bbbb-0.1": 80,
	} {
		if got, err := prompt.After(facts(path), ref); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", ref, got, err, want)
		}
	}
	for ref, fits := range map[string][]string{
		"-0.1": {"msg_aaaa-0.1", "msg_bbbb-0.1"}, "2.1": nil, "20": nil, "50": nil, "tcl_aaaa-1.1": nil, "0": nil, "-1": nil, "99": nil,
	} {
		_, err := prompt.After(facts(path), ref)
		var e *prompt.MessageError
		if !errors.As(err, &e) || !slices.Equal(e.Candidates, fits) || e.Error() == "" {
			t.Errorf("%q: %v", ref, err)
		}
	}
	var e *prompt.MessageError
	if _, err := prompt.After(facts(nil), ""); !errors.As(err, &e) {
		t.Errorf("of nothing: %v", err)
	}
	broken := errors.New("broken")
	if _, err := prompt.After(func(yield func(event.Fact, error) bool) { yield(event.Fact{}, broken) }, ""); !errors.Is(err, broken) {
		t.Errorf("of what can't be read: %v", err)
	}
}
