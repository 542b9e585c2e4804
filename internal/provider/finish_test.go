package provider_test

import (
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
