package builtin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
)

// pipeline takes calls through the dispatcher, as a turn does.
type pipeline struct {
	*bench
	log        event.Memory
	dispatcher *tool.Dispatcher
	calls      int
}

// piped gives the core tools of a workspace behind a dispatcher with the rules.
func piped(t *testing.T, rules policy.Rules, files map[string]string) *pipeline {
	t.Helper()
	p := &pipeline{bench: setUp(t, files)}
	in := func() policy.Rules { return rules }
	set, err := tool.NewSet(builtin.Core(builtin.Options{Tree: p.tree, Shell: shell.NewSession(p.tree.Root(), shell.Environ(nil)), Rules: in})...)
	if err != nil {
		t.Fatal(err)
	}
	p.dispatcher = &tool.Dispatcher{Set: set, Rules: in}
	return p
}

// send dispatches a call whose arguments are JSON, and gives all facts of it and its outcome.
func (p *pipeline) send(name, arguments string) ([]event.Fact, event.ToolCompleted) {
	p.Helper()
	p.calls++
	id := fmt.Sprintf("tcl_1-%d", p.calls)
	if _, err := p.dispatcher.Dispatch(p.Context(), event.Scope{Task: "tsk_1", Run: "run_1"}, &p.log, []event.ToolCall{{ID: id, Name: name, Args: arguments}}); err != nil {
		p.Fatal(err)
	}
	var facts []event.Fact
	var out *event.ToolCompleted
	for f, err := range p.log.Read(p.Context(), event.Path{Task: "tsk_1", Facts: true}) {
		if err != nil {
			p.Fatal(err)
		}
		if f.Subject != id {
			continue
		}
		facts = append(facts, f)
		if c, ok := f.Data.(event.ToolCompleted); ok {
			out = &c
		}
	}
	if out == nil {
		p.Fatalf("no outcome among %+v", facts)
	}
	return facts, *out
}

func (p *pipeline) edit(path, old, with string, all bool) event.ToolCompleted {
	p.Helper()
	raw, err := json.Marshal(args{"path": path, "old_string": old, "new_string": with, "replace_all": all})
	if err != nil {
		p.Fatal(err)
	}
	_, out := p.send("edit_file", string(raw))
	return out
}

// TestLinesValues: every wrong value of lines has an answer of its own, and right ones are taken in each form.
func TestLinesValues(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprint(i + 1)
	}
	const text = "b\na\nb\n"
	for _, c := range []struct{ lines, status, code, says string }{
		{`[]`, "error", "bad_lines", "lines is an empty list"},
		{`"7"`, "error", "bad_arguments", "lines must be an array"},
		{`"all"`, "error", "bad_arguments", "lines must be an array"},
		{`true`, "error", "bad_arguments", "lines must be an array"},
		{`{"from": 1}`, "error", "bad_arguments", "lines must be an array"},
		{`1.5`, "error", "bad_arguments", "lines[0] must be an integer"},
		{`[1, 1.5]`, "error", "bad_arguments", "lines[1] must be an integer"},
		{`[1, "x"]`, "error", "bad_arguments", "lines[1] must be an integer"},
		{`0`, "error", "bad_lines", "element 1 of lines is 0"},
		{`-1`, "error", "bad_lines", "element 1 of lines is -1"},
		{`[3, 0]`, "error", "bad_lines", "element 2 of lines is 0"},
		{`4`, "error", "bad_lines", "the file has only 3 lines; 4 in lines is past the end"},
		{`[1, 99999999999999999999]`, "error", "bad_arguments", "lines"},
		{`[` + strings.Join(many, ",") + `]`, "error", "bad_lines", "65 lines; at most 64"},
		{`2`, "error", "other_lines", "does not start on line 2; it starts on lines 1, 3"},
		{`[1, 3]`, "error", "several", "starts 2 times on lines 1, 3"},
		{`3`, "ok", "", "at line 3"},
		{`[2, 3, 3]`, "ok", "", "at line 3"},
		{`"[3]"`, "ok", "", "at line 3"},
	} {
		p := piped(t, policy.Rules{Profile: policy.Auto}, map[string]string{"f": text})
		_, out := p.send("edit_file", `{"path": "f", "old_string": "b", "new_string": "x", "lines": `+c.lines+`}`)
		if out.Status != c.status || out.Code != c.code || !strings.Contains(out.Content, c.says) {
			t.Errorf("lines %s: %s %s %q, want %s %s %q", c.lines, out.Status, out.Code, out.Content, c.status, c.code, c.says)
		}
		if got, want := p.file("f"), map[string]string{"ok": "b\na\nx\n", "error": text}[c.status]; got != want {
			t.Errorf("lines %s: the file holds %q", c.lines, got)
		}
	}
}

// TestHiddenFiles: a call that is denied, or on a file that may not be read, is told nothing of what is in it, and
// nothing of it is recorded.
func TestHiddenFiles(t *testing.T) {
	rule := func(v policy.Verdict, text string) policy.Rule {
		r, err := policy.ParseRule(v, text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const content = "first word\nsecond word\n"
	files := map[string]string{"private/f": content, "private/bin": "a\x00word", "f": content, ".env": "word\x00\n"}
	for name, rules := range map[string]policy.Rules{
		"edits denied":   {Profile: policy.Full, List: []policy.Rule{rule(policy.Deny, "edit_file(private/**)"), rule(policy.Deny, "write_file(private/**)")}},
		"reading denied": {Profile: policy.AskFirst, List: []policy.Rule{rule(policy.Deny, "read_file(private/**)")}},
		"plan":           {Profile: policy.Plan},
		"plan and rules": {Profile: policy.Plan, List: []policy.Rule{rule(policy.Deny, "read_file(private/**)"), rule(policy.Deny, "edit_file(private/**)")}},
		"secret":         {Profile: policy.Auto},
	} {
		paths := []string{"private/f", "private/bin"}
		if name == "secret" {
			paths = []string{".env"}
		}
		for _, path := range paths {
			p := piped(t, rules, files)
			for _, call := range [][2]string{
				{"edit_file", `{"path": "` + path + `", "old_string": "first word", "new_string": "x"}`},
				{"edit_file", `{"path": "` + path + `", "old_string": "word", "new_string": "x"}`},
				{"edit_file", `{"path": "` + path + `", "old_string": "first wird", "new_string": "x"}`},
				{"edit_file", `{"path": "` + path + `", "old_string": "word", "new_string": "x", "lines": [99]}`},
				{"write_file", `{"path": "` + path + `", "content": "x"}`},
			} {
				facts, out := p.send(call[0], call[1])
				if out.Status != event.StatusDenied {
					t.Errorf("%s: %s %s: %s %s", name, call[0], call[1], out.Status, out.Content)
				}
				for _, f := range facts {
					raw, err := json.Marshal(f.Data)
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(string(raw), "second") || strings.Contains(string(raw), "NUL") || strings.Contains(string(raw), "@@") {
						t.Errorf("%s: %s %s: %s tells of the file: %s", name, call[0], call[1], f.Kind, raw)
					}
				}
			}
		}
	}
	// Where writing is allowed and reading is not, the change is made and its diff not recorded.
	p := piped(t, policy.Rules{Profile: policy.Full, List: []policy.Rule{rule(policy.Deny, "read_file(private/**)")}}, files)
	facts, out := p.send("edit_file", `{"path": "private/f", "old_string": "first", "new_string": "1st"}`)
	if out.Status != event.StatusOK || p.file("private/f") != "1st word\nsecond word\n" {
		t.Errorf("%+v, file %q", out, p.file("private/f"))
	}
	for _, f := range facts {
		if c, ok := f.Data.(event.FileChanged); ok && c.Diff != "" {
			t.Errorf("recorded %q", c.Diff)
		}
	}
}
