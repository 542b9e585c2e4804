package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overt/internal/agent"
	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/tool"
)

// notes gives what the runtime told the model.
func (s *scene) notes(t *testing.T) (out []string) {
	for _, f := range s.facts(t) {
		if m, ok := f.Data.(event.MessageAdded); ok && m.Origin == "runtime" {
			out = append(out, m.Blocks[0].Text)
		}
	}
	return out
}

// covers F003 F004
func TestNoProgress(t *testing.T) {
	look := func(path string) llm.ToolCall { return call("a", "look", fmt.Sprintf(`{"path":%q}`, path)) }
	change := func(n int) llm.ToolCall { return call("a", "change", fmt.Sprintf(`{"path":"f","n":%d}`, n)) }
	for _, c := range []struct {
		name  string
		step  func(n int) []llm.ToolCall
		at    int // steps until the turn ends; 0: it goes on
		notes int
	}{
		{"the same call", func(int) []llm.ToolCall { return []llm.ToolCall{look("x")} }, 5, 1},
		{"the same call, written in two ways", func(n int) []llm.ToolCall {
			return []llm.ToolCall{call("a", "change", []string{`{"path":"x","n":1}`, `{ "n": 1, "path": "x" }`}[n%2])}
		}, 5, 1},
		{"many times in a step", func(int) []llm.ToolCall {
			return []llm.ToolCall{look("x"), look("x"), look("x"), look("x"), look("x"), look("x")}
		}, 5, 1},
		{"two calls in turn", func(n int) []llm.ToolCall { return []llm.ToolCall{look(string(rune('x' + n%2)))} }, 10, 1},
		{"beside a call that can't be read", func(int) []llm.ToolCall { return []llm.ToolCall{look("x"), call("b", "look", `{`)} }, 5, 1},
		{"a new call each time", func(n int) []llm.ToolCall { return []llm.ToolCall{look(fmt.Sprint(n))} }, 0, 0},
		{"the same check after different edits", func(n int) []llm.ToolCall {
			if n%2 == 0 {
				return []llm.ToolCall{change(n)}
			}
			return []llm.ToolCall{look("x")}
		}, 0, 0},
		{"beside something new", func(n int) []llm.ToolCall { return []llm.ToolCall{look("x"), look(fmt.Sprint(n))} }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var script []reply
			for i := range 20 {
				script = append(script, calls(llm.ToolCalls, c.step(i)...))
			}
			s := &scene{model: &model{script: append(script, says("done"))}}
			s.during = func(context.Context) (*tool.Result, error) { return &tool.Result{Content: "changed"}, nil }
			out := s.turn(t, context.Background())
			switch p := out.Fact.Data.(type) {
			case event.RunFailed:
				if p.Code != "no-progress" || p.Steps != c.at || !strings.Contains(p.Detail, "same result") {
					t.Errorf("failed: %+v", p)
				}
			case event.RunCompleted:
				if c.at != 0 {
					t.Error("it went on")
				}
			}
			if got := s.notes(t); len(got) != c.notes {
				t.Errorf("the model was told %q", got)
			}
		})
	}
}

// TestPollGoesOn: a call whose result changes is a poll, however often it is made.
func TestPollGoesOn(t *testing.T) {
	var script []reply
	for range 20 {
		script = append(script, calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`)))
	}
	n := 0
	s := &scene{model: &model{script: append(script, says("done"))}, during: func(context.Context) (*tool.Result, error) {
		n++
		return &tool.Result{Content: fmt.Sprint(n)}, nil
	}}
	if out := s.turn(t, context.Background()); out.Text != "done" || len(s.notes(t)) != 0 {
		t.Errorf("%+v, told %q", out, s.notes(t))
	}
}

func TestTokenLimit(t *testing.T) {
	script := []reply{calls(llm.ToolCalls, call("a", "look", `{"path":"x"}`)), calls(llm.ToolCalls, call("b", "look", `{"path":"y"}`)), says("never")}
	s := &scene{limits: event.Limits{Tokens: 24}, model: &model{script: script}} // 12 a call
	out := s.turn(t, context.Background())
	p, ok := out.Fact.Data.(event.RunFailed)
	if !ok || p.Code != "limit.tokens" || len(s.model.requests) != 2 || !strings.HasSuffix(p.Detail, ": 24 were used") {
		t.Errorf("after %d calls: %+v", len(s.model.requests), out.Fact.Data)
	}
	script[0].silent = true
	s = &scene{limits: event.Limits{Tokens: 24}, model: &model{script: script}}
	out = s.turn(t, context.Background())
	p, ok = out.Fact.Data.(event.RunFailed)
	if !ok || p.Code != "limit.tokens" || len(s.model.requests) != 1 || !strings.Contains(p.Detail, ": about ") || p.Usage.Coverage != "unavailable" {
		t.Errorf("without figures, after %d calls: %+v", len(s.model.requests), out.Fact.Data)
	}
}

// TestFileLimit: the file beyond the limit is not touched; files that were changed before may be changed again.
func TestFileLimit(t *testing.T) {
	s := &scene{limits: event.Limits{Files: 1}, model: &model{script: []reply{
		calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`), call("b", "change", `{"path":"x","n":2}`), call("c", "change", `{"path":"y"}`), call("d", "look", `{"path":"y"}`)),
		says("never"),
	}}}
	out := s.turn(t, context.Background())
	p, ok := out.Fact.Data.(event.RunFailed)
	if !ok || p.Code != "limit.files" || s.write.Load() != 2 || s.read.Load() != 1 || !strings.Contains(p.Detail, "not changed: y") {
		t.Errorf("%d writes: %+v", s.write.Load(), out.Fact.Data)
	}
	if want := []string{"ok ", "ok ", "error limit.files", "ok "}; !slices.Equal(s.outcomes(t), want) {
		t.Errorf("outcomes %q", s.outcomes(t))
	}
}

// TestTimeLimit: when the time is up the running tool is ended and everything is recorded, as a limit and not as a stop.
func TestTimeLimit(t *testing.T) {
	ctx, end := context.WithCancelCause(context.Background())
	s := &scene{model: &model{script: []reply{calls(llm.ToolCalls, call("a", "change", `{"path":"x"}`)), says("never")}}}
	s.during = func(ctx context.Context) (*tool.Result, error) {
		end(agent.ErrTime)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := s.turn(t, ctx)
	if p, ok := out.Fact.Data.(event.RunFailed); !ok || p.Code != "limit.time" || !slices.Equal(s.outcomes(t), []string{"cancelled cancelled"}) {
		t.Errorf("%+v, outcomes %q", out.Fact.Data, s.outcomes(t))
	}
}

// TestRefusedCallsUseNothing: attempts that no server answered count neither as used nor as unreported.
func TestRefusedCallsUseNothing(t *testing.T) {
	refused := reply{err: &llm.Error{Class: llm.Network, Message: "connection refused"}, silent: true}
	s := &scene{limits: event.Limits{Tokens: 5}, model: &model{script: []reply{refused, refused, says("ok")}}}
	out := s.turn(t, context.Background())
	if p, ok := out.Fact.Data.(event.RunCompleted); !ok || p.Usage.Coverage != "complete" || *p.Usage.Fresh != 10 {
		t.Errorf("%+v", out.Fact.Data)
	}
}

// TestUnseenTextMayComeAgain: a stream that breaks is retried where nobody saw what had come.
func TestUnseenTextMayComeAgain(t *testing.T) {
	s := &scene{dark: true, model: &model{script: []reply{
		{show: "Let me ", blocks: says("Let me ").blocks, err: &llm.Error{Class: llm.Cut}}, says("whole"),
	}}}
	if out := s.turn(t, context.Background()); out.Text != "whole" {
		t.Errorf("%+v", out.Fact.Data)
	}
}

// TestSameLongOutput: the name under which an output is kept is new each time, and nothing new.
func TestSameLongOutput(t *testing.T) {
	var script []reply
	for range 20 {
		script = append(script, calls(llm.ToolCalls, call("a", "change", `{"path":"x","n":1}`)))
	}
	s := &scene{model: &model{script: append(script, says("done"))}}
	n := 0
	s.during = func(context.Context) (*tool.Result, error) {
		n++
		id := fmt.Sprint("out_1-", n)
		return &tool.Result{Content: "head\n[read_output " + id + " shows all]\ntail", Cut: true, Output: &event.Output{ID: id, Bytes: 9}}, nil
	}
	out := s.turn(t, context.Background())
	if p, ok := out.Fact.Data.(event.RunFailed); !ok || p.Code != "no-progress" || p.Steps != 5 {
		t.Errorf("ended with %+v", out.Fact.Data)
	}
}
