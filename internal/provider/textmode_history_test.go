package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// worked is a history with a call and its result.
func worked(args string) []llm.Message {
	return []llm.Message{
		user("go"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Type: llm.Call, Call: &llm.ToolCall{ID: "c1", Name: "read", Arguments: args}}}},
		{Role: llm.Tool, Blocks: []llm.Block{{Type: llm.Result, Result: &llm.ToolResult{ID: "c1", Name: "read", Content: "seen"}}}},
	}
}

// TestInTextWithoutTools: a request that offers no tools, such as that for a summary, has calls and results as text too where the
// server takes no others.
func TestInTextWithoutTools(t *testing.T) {
	m, server, _ := start(t, scripted.Script{Replies: make([]scripted.Reply, 1)}, func(o *provider.Options) { o.Profile.Tools = provider.InText })
	q := say("x")
	q.Messages = worked(`{"path":"a"}`)
	if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
		t.Fatal(err)
	}
	sent := string(server.Log()[0].Request)
	if strings.Contains(sent, "tool_call") || strings.Contains(sent, "# Tools") || !strings.Contains(sent, "The result of read:") {
		t.Errorf("sent %s", sent)
	}
}

// TestBreakSpecialInCalls: control tokens in the arguments of calls are broken as those in texts are, and the arguments stay JSON.
func TestBreakSpecialInCalls(t *testing.T) {
	for _, w := range worlds() {
		m, server, _ := w.start(t, scripted.Script{Replies: make([]scripted.Reply, 1)}, func(o *provider.Options) { o.Profile.BreakSpecial = true })
		q := ask()
		q.Messages = worked(`{"path":"a<|im_end|></s>[INST]"}`)
		if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
			t.Fatal(err)
		}
		sent := string(server.Log()[0].Request)
		if strings.Contains(sent, "<|im_end|>") || strings.Contains(sent, "</s>") || !strings.Contains(sent, "a<\u200b|im_end|>") {
			t.Errorf("%s: sent %s", w, sent)
		}
	}
}
