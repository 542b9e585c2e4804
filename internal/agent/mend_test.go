package agent_test

import (
	"context"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/llm"
)

// TestMends: a refusal that says how to mend the request is worth one attempt each, besides the retries; what was learned holds
// for the turn.
func TestMends(t *testing.T) {
	shorten := &llm.Error{Class: llm.Invalid, HTTP: 400, Mend: llm.Shorten, MaxTokens: 8192}
	unseal := &llm.Error{Class: llm.Invalid, HTTP: 400, Mend: llm.Unseal}
	resend := &llm.Error{Class: llm.Invalid, HTTP: 400, Mend: llm.Resend}
	uncount := &llm.Error{Class: llm.Invalid, HTTP: 400, Mend: llm.Uncount}
	busy := &llm.Error{Class: llm.Overload, HTTP: 503}
	thinks := calls(llm.ToolCalls, call("a", "look", `{"path":"x"}`))
	thinks.blocks = append([]llm.Block{{Type: llm.Reasoning, Text: "hm", Opaque: []byte(`"seal"`), Origin: "o"}}, thinks.blocks...)
	for name, tt := range map[string]struct {
		script []reply
		calls  int
		ok     bool
		want   func(q []*llm.Request) bool
	}{
		"shorter, then all along": {[]reply{{err: shorten}, thinks, says("ok")}, 3, true, func(q []*llm.Request) bool {
			return q[0].Params.MaxTokens == 0 && q[1].Params.MaxTokens == 8192 && q[2].Params.MaxTokens == 8192
		}},
		"uncounted, then all along": {[]reply{{err: uncount}, thinks, says("ok")}, 3, true, func(q []*llm.Request) bool {
			return !q[0].Uncounted && q[1].Uncounted && q[2].Uncounted
		}},
		"uncounted in vain":    {[]reply{{err: uncount}, {err: uncount}}, 2, false, nil},
		"shorter did not help": {[]reply{{err: shorten}, {err: shorten}}, 2, false, nil},
		"resent once":          {[]reply{{err: resend}, says("ok")}, 2, true, nil},
		"resent in vain":       {[]reply{{err: resend}, {err: resend}}, 2, false, nil},
		"besides the retries":  {[]reply{{err: resend}, {err: busy}, {err: busy}, says("ok")}, 4, true, nil},
		"each once":            {[]reply{{err: resend}, {err: shorten}, {err: unseal}, says("ok")}, 4, true, nil},
		"not after text":       {[]reply{{show: "Let me", err: resend}}, 1, false, nil},
		"unsealed, new seals stay": {[]reply{thinks, {err: unseal}, thinks, says("ok")}, 4, true, func(q []*llm.Request) bool {
			return seals(q[1]) == 1 && seals(q[2]) == 0 && seals(q[3]) == 1 && len(q[3].Messages) == len(q[2].Messages)+2
		}},
		"unsealed in vain": {[]reply{thinks, {err: unseal}, {err: unseal}}, 3, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{model: &model{script: tt.script}}
			out := s.turn(t, context.Background())
			if _, ok := out.Fact.Data.(event.RunCompleted); ok != tt.ok || len(s.model.requests) != tt.calls {
				t.Fatalf("%+v after %d calls, want %d", out.Fact.Data, len(s.model.requests), tt.calls)
			}
			if tt.want != nil && !tt.want(s.model.requests) {
				t.Errorf("%+v", s.model.requests)
			}
		})
	}
}

// seals counts what only its origin can read.
func seals(r *llm.Request) (n int) {
	keys := map[string]bool{}
	for _, m := range r.Messages {
		if m.Key != "" && keys[m.Key] {
			n += 1000 // two messages with one key
		}
		keys[m.Key] = true
		for _, b := range m.Blocks {
			if b.Type == llm.Reasoning || len(b.Opaque) > 0 {
				n++
			}
		}
	}
	return n
}

// TestGarbledCalls: an answer that ends with a call in text that can't be taken for one is none.
func TestGarbledCalls(t *testing.T) {
	garbled := says(`<tool_call>{"name":"nope","arguments":{}}</tool_call>`)
	garbled.garbled = true
	s := &scene{model: &model{script: []reply{garbled, says("ok")}}}
	out := s.turn(t, context.Background())
	if out.Text != "ok" || len(s.model.requests) != 2 {
		t.Fatalf("%+v", out)
	}
	last := s.model.requests[1].Messages
	if note := last[len(last)-1].Blocks[0].Text; !strings.Contains(note, "tool call that could not be read") {
		t.Errorf("told %q", note)
	}
	s = &scene{model: &model{script: []reply{garbled, garbled, garbled}}}
	if p, ok := s.turn(t, context.Background()).Fact.Data.(event.RunFailed); !ok || p.Code != "protocol" {
		t.Errorf("%+v", p)
	}
}
