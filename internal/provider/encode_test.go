package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

func assistant(key string, blocks ...llm.Block) llm.Message {
	return llm.Message{Role: llm.Assistant, Key: key, Blocks: blocks}
}

func callBlock(id, name, args string) llm.Block {
	return llm.Block{Type: llm.Call, Owner: "c" + id, Call: &llm.ToolCall{ID: id, Name: name, Arguments: args}}
}

func TestRequestBytes(t *testing.T) {
	temperature := 0.5
	q := &llm.Request{
		ID: "cal_1", Lane: "lane", Tools: toolSpecs()[:2],
		System: []llm.Block{{Type: llm.Text, Text: "You are <b> & \"c\".", Owner: "s1"}, {Type: llm.Text, Text: "Rules", Owner: "s2"}},
		Messages: []llm.Message{
			{Role: llm.User, Blocks: []llm.Block{{Type: llm.Text, Text: "note", Owner: "n"}, {Type: llm.Text, Text: "do\nit", Owner: "u"}}},
			assistant("", llm.Block{Type: llm.Reasoning, Text: "secret thought"}, llm.Block{Type: llm.Text, Text: "ok", Owner: "a"},
				callBlock("1", "read", `{"path": "x"}`), callBlock("2", "bash", "not json")),
			{Role: llm.Tool, Blocks: []llm.Block{
				{Type: llm.Result, Owner: "r1", Result: &llm.ToolResult{ID: "1", Name: "read", Content: "a\x00b\xffc\u2028"}},
				{Type: llm.Result, Owner: "r2", Result: &llm.ToolResult{ID: "2", Name: "bash", Content: "\x1b[0m"}},
			}},
			user("more"),
		},
		Params: llm.Params{Temperature: &temperature, MaxTokens: 99, ToolChoice: "none"},
	}
	m, server, k := start(t, scripted.Script{Replies: []scripted.Reply{{Text: "ok"}}}, nil)
	if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"max_tokens":99,"tools":[` +
		`{"type":"function","function":{"name":"read","description":"reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"bash","description":"runs","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}],` +
		`"messages":[{"role":"system","content":"You are <b> & \"c\".\n\nRules"},{"role":"user","content":"note\n\ndo\nit"},` +
		`{"role":"assistant","content":"ok","tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\": \"x\"}"}},{"id":"2","type":"function","function":{"name":"bash","arguments":"{}"}}]},` +
		"{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"a\uFFFDb\uFFFDc\u2028\"},{\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"\\u001b[0m\"}," +
		`{"role":"user","content":"more"}],"tool_choice":"none"}`
	if got := string(server.Log()[0].Request); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
	var owners []string
	for _, p := range k.sent[0].Body {
		owners = append(owners, p.Owner)
	}
	if got := strings.Join(owners, ","); got != ",t,t,,s1,s2,n,u,a,c1,c2,r1,r2,u," {
		t.Errorf("owners %s", got)
	}
	h := k.sent[0].Header
	if h.Get("Accept") != "text/event-stream" || h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "overt/test" {
		t.Errorf("header %v", h)
	}
}

func TestProfileInRequests(t *testing.T) {
	q := &llm.Request{Messages: []llm.Message{
		user("x"), assistant("", llm.Block{Type: llm.Reasoning, Text: "r", Carrier: "reasoning"}, callBlock("1", "now", "{}")), result("1", "now", "12:00"),
		assistant("", llm.Block{Type: llm.Reasoning, Text: "r2", Carrier: "reasoning"}, llm.Block{Type: llm.Text, Text: "noon"}), user("y"),
	}}
	for _, c := range []struct {
		quirks provider.Profile
		want   string
	}{
		{provider.Profile{}, `{"role":"assistant","content":null,"tool_calls"`},
		{provider.Profile{EmptyContent: true}, `{"role":"assistant","content":"","tool_calls"`},
		{provider.Profile{Reasoning: provider.WithCalls}, `{"role":"assistant","content":null,"reasoning":"r","tool_calls"`},
		{provider.ProfileFor("", "", "https://api.moonshot.cn/v1", ""), `{"role":"assistant","content":null,"reasoning_content":"r","tool_calls"`},
		{provider.Profile{NoStreamUsage: true}, `"stream":true,"messages"`},
	} {
		m, k := against(t, true, raw(200, sse(), stream("stop", `"content":"ok"`)))
		o := provider.Options{Wire: newWire(t, k), Model: "m", Stream: true, Profile: c.quirks}
		o.Endpoint = serverOf(t, m, k)
		if _, err := provider.New(o).Stream(ctxOf(t), q, nil); err != nil {
			t.Fatal(err)
		}
		got := string(join(k.sent[len(k.sent)-1].Body))
		if !strings.Contains(got, c.want) || !strings.Contains(got, `{"role":"assistant","content":"noon"}`) {
			t.Errorf("%+v sent %s", c.quirks, got)
		}
	}
}

// serverOf learns a raw server's address by one call.
func serverOf(t *testing.T, m llm.Model, k *sink) string {
	t.Helper()
	if _, err := m.Stream(ctxOf(t), say("x"), nil); err != nil {
		t.Fatal(err)
	}
	return "http://" + hostOf(k)
}

func TestProfileFor(t *testing.T) {
	for _, c := range []struct {
		preset, url string
		want        bool
	}{
		{"deepseek", "", true},
		{"", "https://api.deepseek.com/v1", true},
		{"", "https://DEEPSEEK.com.", true},
		{"", "https://api.deepseek.com.evil.example", false},
		{"", "https://notdeepseek.com", false},
		{"", "https://token-plan-cn.xiaomimimo.com/v1", true},
		{"", "https://api.moonshot.ai/v1", true},
		{"openai", "https://api.openai.com/v1", false},
		{"", "://", false},
	} {
		if got := provider.ProfileFor("", c.preset, c.url, "").Reasoning != ""; got != c.want {
			t.Errorf("%q %q: %v", c.preset, c.url, got)
		}
	}
}

// TestAnswerLimit: the limit of an answer has the name that the vendor documents.
func TestAnswerLimit(t *testing.T) {
	for url, want := range map[string]bool{
		"https://api.openai.com/v1": true, "https://api.x.ai/v1": true, "https://api.minimaxi.com/v1": true, "https://api.moonshot.cn/v1": true,
		"https://api.deepseek.com": false, "https://api.mistral.ai/v1": false, "http://127.0.0.1:11434/v1": false, "https://notx.ai": false, "https://x.ai.evil.example": false,
	} {
		if got := provider.ProfileFor("", "", url, "").LimitField == "max_completion_tokens"; got != want {
			t.Errorf("%s: %t", url, got)
		}
	}
}

func TestChatURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.deepseek.com":                          "https://api.deepseek.com/v1/chat/completions",
		"https://api.deepseek.com/":                         "https://api.deepseek.com/v1/chat/completions",
		"http://localhost:8080":                             "http://localhost:8080/v1/chat/completions",
		"http://localhost:11434/v1/":                        "http://localhost:11434/v1/chat/completions",
		"https://api.z.ai/api/coding/paas/v4":               "https://api.z.ai/api/coding/paas/v4/chat/completions",
		"https://x.example/v1beta/openai/":                  "https://x.example/v1beta/openai/chat/completions",
		"https://dashscope.aliyuncs.com/compatible-mode/v1": "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
		"https://x.example/v1/chat/completions":             "https://x.example/v1/chat/completions",
		" https://x.example/v1?api-version=2 ":              "https://x.example/v1/chat/completions?api-version=2",
		"https://x.example/vault":                           "https://x.example/vault/v1/chat/completions",
		"localhost:8080":                                    "",
		"/v1":                                               "",
		"ftp://x.example":                                   "",
		"":                                                  "",
	} {
		got, err := provider.ChatURL(base)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", base, got, err)
		}
	}
	_, err := provider.New(provider.Options{Endpoint: "nowhere"}).Stream(ctxOf(t), say("x"), nil)
	if e := asError(t, err); e.Class != llm.Invalid || !strings.Contains(e.Message, "http://") {
		t.Errorf("%+v", e)
	}
}
