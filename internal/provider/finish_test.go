package provider_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"overt/internal/llm"
)

// TestLengthStays: an answer that was cut stays one, whatever other reason some chunk gives.
func TestLengthStays(t *testing.T) {
	for _, c := range []struct {
		reasons []string
		want    llm.Finish
	}{
		{[]string{"length", "tool_calls"}, llm.Length},
		{[]string{"length", "stop"}, llm.Length},
		{[]string{"stop", "length"}, llm.Length},
		{[]string{"content_filter", "stop"}, llm.ContentFilter},
		{[]string{"stop", "tool_calls"}, llm.ToolCalls},
	} {
		var body strings.Builder
		body.WriteString(strings.TrimSuffix(stream("", `"content":"half"`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`)), "data: [DONE]\n\n"))
		for _, reason := range c.reasons {
			body.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + "\"}]}\n\n")
		}
		r, err := reply(t, body.String()+"data: [DONE]\n\n")
		if err != nil || r.Finish != c.want {
			t.Errorf("%v: %v, %v", c.reasons, r.Finish, err)
		}
	}
}

// TestHugeAnswer: an answer that never ends is given up long before the limit of the body, and is no answer.
// covers L240
func TestHugeAnswer(t *testing.T) {
	piece := `"content":"` + strings.Repeat("a", 64<<10) + `"`
	pieces := make([]string, 200)
	for i := range pieces {
		pieces[i] = piece
	}
	r, err := reply(t, stream("stop", pieces...))
	if err == nil || err.Class != llm.Malformed || err.Retryable() || !strings.Contains(err.Message, "larger than 8 MB") {
		t.Fatalf("%v", err)
	}
	if n := len(r.Blocks[0].Text); n < 7<<20 || n > 8<<20 {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestEndlessReply: of a reply that never ends no more is taken than its answer may have.
func TestEndlessReply(t *testing.T) {
	piece := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("a", 64<<10) + "\"},\"finish_reason\":null}]}\n\n"
	m, k := against(t, true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	})
	if _, err := m.Stream(ctxOf(t), say("go"), nil); err == nil {
		t.Fatal("an endless reply is no answer")
	}
	if n := len(k.received[0].Body); n > 10<<20 {
		t.Errorf("%d MB were taken", n>>20)
	}
}
