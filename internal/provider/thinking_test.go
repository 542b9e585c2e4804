package provider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// sent gives the members, as they are written, of the request that a server of a host's profile gets.
func sent(t *testing.T, preset, model string, q llm.Params) map[string]json.RawMessage {
	t.Helper()
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(chatReply, "%s", "null"))
	}))
	defer server.Close()
	m := provider.New(provider.Options{
		Wire: newWire(t, &sink{}), Endpoint: server.URL, Model: model, Profile: provider.ProfileFor(provider.Chat, preset, "", model),
	})
	r := say("hi")
	r.Params = q
	if _, err := m.Stream(ctxOf(t), r, nil); err != nil {
		t.Fatal(err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return out
}

// TestThinkingOfDeepSeek: the switch in its own form, the levels as its own three, and nothing where nothing was said.
//
// covers L050 L051 L052 L053
func TestThinkingOfDeepSeek(t *testing.T) {
	for _, c := range []struct {
		q                llm.Params
		thinking, effort string
	}{
		{llm.Params{}, "", ""},
		{llm.Params{Thinking: "on"}, `{"type":"enabled"}`, ""},
		{llm.Params{Thinking: "off", Effort: "high"}, `{"type":"disabled"}`, ""},
		{llm.Params{Effort: "minimal"}, "", `"low"`},
		{llm.Params{Effort: "low"}, "", `"low"`},
		{llm.Params{Thinking: "on", Effort: "medium"}, `{"type":"enabled"}`, `"high"`},
		{llm.Params{Effort: "high"}, "", `"high"`},
		{llm.Params{Effort: "xhigh"}, "", `"max"`},
		{llm.Params{Effort: "max"}, "", `"max"`},
		{llm.Params{Effort: "ultra"}, "", `"max"`},
	} {
		got := sent(t, "deepseek", "deepseek-flash", c.q)
		if string(got["thinking"]) != c.thinking || string(got["reasoning_effort"]) != c.effort {
			t.Errorf("%+v: thinking %s, effort %s", c.q, got["thinking"], got["reasoning_effort"])
		}
	}
	for _, level := range llm.Efforts() { // a server with the whole ladder
		if got := sent(t, "openai", "m", llm.Params{Effort: level})["reasoning_effort"]; string(got) != `"`+level+`"` {
			t.Errorf("%s: %s", level, got)
		}
	}
}

// TestLimitFieldSent: the limit of an answer goes by the name of the profile, and by no other.
//
// covers F137
func TestLimitFieldSent(t *testing.T) {
	for preset, want := range map[string]string{"": "max_tokens", "deepseek": "max_tokens", "openai": "max_completion_tokens", "xai": "max_completion_tokens"} {
		got := sent(t, preset, "m", llm.Params{MaxTokens: 77})
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			if is := string(got[name]) == "77"; is != (name == want) {
				t.Errorf("%q: %s is %s", preset, name, got[name])
			}
		}
	}
}
