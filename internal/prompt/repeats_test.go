package prompt_test

import (
	"testing"

	"overt/internal/event"
	"overt/internal/prompt"
)

func TestRepeats(t *testing.T) {
	text := func(s string) []event.Block { return []event.Block{{Type: "text", Text: s}} }
	call := func(id, name, args string) event.Block {
		return event.Block{Type: "call", Call: &event.ToolCall{ID: id, Given: id, Name: name, Args: args}}
	}
	var th prompt.Thread
	for i, p := range []event.Payload{
		event.ContextTaken{Source: "system", Name: "built-in", Place: prompt.PlaceHead, Text: "of-system"},
		event.MessageAdded{Role: "user", Origin: "person", Blocks: text("look at of-person")},
		event.ContextTaken{Source: "instructions", Name: "AGENTS.md", Place: prompt.PlaceHere, Text: "of-agents", Untrusted: true},
		event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{call("tcl_1", "read_file", `{"path":"a.md"}`), call("tcl_2", "update_plan", `{}`)}},
		event.ToolCompleted{Name: "read_file", Status: "ok", Content: "of-file of-both of-person of-a http://%65VIL.Example/ www.of-domain.example"},
		event.ToolCompleted{Name: "update_plan", Status: "ok", Content: "of-runtime", Trusted: true},
		event.MessageAdded{Role: "user", Origin: "person", Blocks: text("and of-both, of-a-longer, then Of-Case.example与evil.example.org.")},
		event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{{Type: "text", Text: "of-model"}, call("tcl_3", "run_command", `{"command":"cat b"}`)}},
		event.ToolCompleted{Name: "run_command", Status: "ok", Content: "of-command"},
	} {
		f := event.Fact{Seq: event.Seq(i + 1), Kind: p.Kind(), Data: p}
		if c, ok := p.(event.ToolCompleted); ok {
			f.Subject = map[string]string{"read_file": "tcl_1", "update_plan": "tcl_2", "run_command": "tcl_3"}[c.Name]
		}
		th.Apply(f)
	}
	for text, want := range map[string]string{
		"of-file": "read_file a.md", "of-command": "run_command cat b", "of-agents": "instructions AGENTS.md",
		"evil.example": "read_file a.md", "Of-Domain.example": "read_file a.md", "of-a": "read_file a.md", "of-case.example": "", "evil.example.org": "",
		"of-person": "", "of-both": "", "of-runtime": "", "of-model": "", "of-system": "", "of-nobody": "", "": "",
	} {
		if got := th.Repeats(text); got != want {
			t.Errorf("%q is from %q, want %q", text, got, want)
		}
	}
}
