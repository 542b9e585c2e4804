package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// quirk is something that a server does in its own way. Its id stands in docs/provider-quirks.md.
type quirk struct {
	id  string
	run func(t *testing.T)
}

func quirks() []quirk {
	return slices.Concat(serverQuirks(), hostedQuirks(), localQuirks(), shapeQuirks(), callQuirks(), reasoningQuirks(), historyQuirks(), errorQuirks())
}

// TestQuirks looks at every quirk that the page says is tested.
func TestQuirks(t *testing.T) {
	for _, q := range quirks() {
		t.Run(q.id, q.run)
	}
}

// TestQuirksPage: the page and the tests have the same quirks, and what is not tested has a reason.
func TestQuirksPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/provider-quirks.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, q := range quirks() {
		if tests[q.id] {
			t.Errorf("%s is there twice", q.id)
		}
		tests[q.id] = true
	}
	line := regexp.MustCompile(`(?m)^\| (Q-[0-9.]+-[a-z0-9-]+) \| ([^|\n]+) \| ([^|\n]+) \|$`)
	seen := map[string]bool{}
	for _, m := range line.FindAllStringSubmatch(string(page), -1) {
		id, what, state := m[1], m[2], strings.TrimSpace(m[3])
		switch {
		case seen[id]:
			t.Errorf("%s stands on the page twice", id)
		case strings.TrimSpace(what) == "":
			t.Errorf("%s is not described", id)
		case state == "tested" && !tests[id]:
			t.Errorf("%s has no test", id)
		case state != "tested" && tests[id]:
			t.Errorf("%s has a test, and the page says: %s", id, state)
		case state != "tested" && !strings.HasPrefix(state, "not "):
			t.Errorf("%s: %q is neither \"tested\" nor a reason that begins with \"not\"", id, state)
		}
		seen[id] = true
	}
	for id := range tests {
		if !seen[id] {
			t.Errorf("%s is not on the page", id)
		}
	}
	if n := strings.Count(string(page), "| Q-"); n != len(seen) {
		t.Errorf("%d lines begin a quirk, %d can be read", n, len(seen))
	}
}

// known gives what is known of a server and a model there.
func known(preset, model string) provider.Profile {
	return provider.ProfileFor(provider.Chat, preset, "", model)
}

// sentBy gives the body of a request and its header, as a model with these options sends it.
func sentBy(t *testing.T, o provider.Options, r *llm.Request) (body string, header http.Header) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, header = string(b), r.Header
		io.WriteString(w, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	o.Wire, o.Endpoint, o.Name = newWire(t, &sink{}), server.URL, "test"
	if o.Model == "" {
		o.Model = "m"
	}
	provider.New(o).Stream(ctxOf(t), r, nil) // other protocols than chat do not understand the answer
	return body, header
}

// sends tests what a request to a server has, and has not ("!" before it).
func sends(preset, model string, change func(*llm.Request), parts ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		r := pastCall()
		if change != nil {
			change(r)
		}
		body, _ := sentBy(t, provider.Options{Profile: known(preset, model), Model: model, Stream: true, Key: "k"}, r)
		checkParts(t, body, parts...)
	}
}

func checkParts(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		want, not := strings.CutPrefix(p, "!")
		if strings.Contains(body, want) == not {
			t.Errorf("%q: want %t in %s", want, !not, body)
		}
	}
}

// pastCall is a request with a call, its result and what the model thought, said by the same model under no name.
func pastCall() *llm.Request {
	r := ask()
	r.Messages = []llm.Message{
		user("go"),
		{Role: llm.Assistant, Blocks: []llm.Block{
			{Type: llm.Reasoning, Text: "hm", Carrier: "reasoning_content"},
			{Type: llm.Call, Call: &llm.ToolCall{ID: "functions.read:0", Name: "read", Arguments: `{"path":"a"}`}},
		}},
		{Role: llm.Tool, Blocks: []llm.Block{{Type: llm.Result, Result: &llm.ToolResult{ID: "functions.read:0", Name: "read", Content: "42"}}}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Type: llm.Text, Text: "It is 42."}}},
		user("why?"),
	}
	return r
}

func effort(level string) func(*llm.Request) { return func(r *llm.Request) { r.Params.Effort = level } }

func thinking(on string) func(*llm.Request) { return func(r *llm.Request) { r.Params.Thinking = on } }

func limit(n int) func(*llm.Request) { return func(r *llm.Request) { r.Params.MaxTokens = n } }

// reads tests what a reply of Chat Completions comes to.
func reads(p provider.Profile, body, blocks string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Name: "test", Stream: true, Profile: p}
		r, fail := provider.ReceiveText(o, askText(), strings.NewReader(body), func(llm.Delta) {})
		if fail != nil || flat(r.Blocks) != blocks {
			t.Errorf("%v %s\nwant %s", fail, flat(r.Blocks), blocks)
		}
	}
}

// finishes tests what a finish reason means.
func finishes(reason string, want llm.Finish) func(*testing.T) {
	return func(t *testing.T) {
		if o := chatPlay(t, stream(reason, `"content":"x"`)); o.Finish != want || o.Class != "" {
			t.Errorf("%+v", o)
		}
	}
}

func chatPlay(t *testing.T, pieces ...string) outcome {
	t.Helper()
	return world{provider.Chat, true}.play(t, pieces...)
}

// counts tests usage: fresh, cached, written, output, reasoning; -1: not reported.
func counts(usage string, want ...int64) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		u := chatPlay(t, stream("stop", `"content":"x"`)[:0]+"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],"+usage+"}\n\n").Usage
		for i, got := range []*int64{u.Fresh, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
			if got == nil && want[i] != -1 || got != nil && *got != want[i] {
				t.Errorf("bucket %d of %s is %v, want %d", i, usage, got, want[i])
			}
		}
	}
}

// breaks tests the class of a reply of status 200 that is an error.
func breaks(body string, class llm.Class, part string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		o := chatPlay(t, body)
		if o.Class != class || !strings.Contains(o.Message, part) {
			t.Errorf("%s %q, want %s with %q", o.Class, o.Message, class, part)
		}
	}
}

// refuses tests the class of an error, and what of its text is shown.
func refuses(status int, body string, class llm.Class, part string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if e := fail(t, status, nil, body); e.Class != class || !strings.Contains(e.Message, part) {
			t.Errorf("%+v, want %s with %q", e, class, part)
		}
	}
}

// mends tests how a refused request may be mended.
func mends(status int, body string, class llm.Class, way llm.Mend, most int) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if e := fail(t, status, nil, body); e.Class != class || e.Mend != way || e.MaxTokens != most {
			t.Errorf("%+v, want %s, %q %d", e, class, way, most)
		}
	}
}

// all runs several.
func all(list ...func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for _, f := range list {
			f(t)
		}
	}
}
