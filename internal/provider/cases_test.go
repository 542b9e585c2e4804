package provider_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// replyCase is a line of testdata/cases.jsonl: a reply seen in public, and what it means.
type replyCase struct {
	ID    string
	Setup struct {
		Reply struct {
			Status  int
			Headers map[string]string
			Body    string
			Chunks  []string `json:"network_chunks"`
		} `json:"http_reply"`
	}
	Expected struct {
		Text   *string
		Finish string
		Calls  []struct {
			ID, Name  string
			Arguments map[string]any
		} `json:"tool_calls"`
		Usage *struct{ Input, Cached, Output int64 }
		Error string `json:"error_contains"`
	}
}

func cases(t *testing.T) map[string]replyCase {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]replyCase{}
	for line := range bytes.Lines(data) {
		var c replyCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		out[c.ID] = c
	}
	return out
}

// outcome is what of a reply must not depend on how it was cut on the way.
type outcome struct {
	Blocks  []llm.Block
	Finish  llm.Finish
	Raw, ID string
	Dropped int
	Usage   llm.Usage
	Class   llm.Class
	Code    string
	Message string
}

func play(t *testing.T, c replyCase, pieces []string) outcome {
	t.Helper()
	m, k := against(t, true, raw(c.Setup.Reply.Status, c.Setup.Reply.Headers, pieces...))
	q := say("go")
	q.Tools = toolSpecs()
	shown := ""
	r, err := m.Stream(ctxOf(t), q, func(d llm.Delta) {
		if d.Part == llm.TextDelta {
			shown += d.Text
		}
	})
	if got := text(r, llm.Text); got != shown {
		t.Errorf("shown %q, kept %q", shown, got)
	}
	if len(k.received) != 1 || string(k.received[0].Body) != strings.Join(pieces, "") {
		t.Errorf("recorded %q", k.received[0].Body)
	}
	for i := range r.Blocks {
		r.Blocks[i].Origin = "" // it names the port
	}
	o := outcome{Blocks: r.Blocks, Finish: r.Finish, Dropped: r.Dropped, Usage: r.Usage}
	if err != nil {
		e := asError(t, err)
		o.Class, o.Message = e.Class, strings.ReplaceAll(e.Message, hostOf(k), "HOST")
	}
	return o
}

func hostOf(k *sink) string {
	_, rest, _ := strings.Cut(k.sent[0].URL, "//")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// cuts gives ways to deliver a body.
func cuts(body string) [][]string {
	out := [][]string{{body}}
	bytewise := make([]string, len(body))
	for i := range len(body) {
		bytewise[i] = body[i : i+1]
	}
	out = append(out, bytewise)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var pieces []string
		for rest := body; rest != ""; {
			n := 1 + rng.IntN(min(len(rest), 90))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		out = append(out, pieces)
	}
	return out
}

// covers F081 L259
func TestCases(t *testing.T) {
	all := cases(t)
	if len(all) < 18 {
		t.Fatalf("%d cases", len(all))
	}
	for id, c := range all {
		t.Run(id, func(t *testing.T) {
			pieces := c.Setup.Reply.Chunks
			if pieces == nil {
				pieces = []string{c.Setup.Reply.Body}
			}
			first := play(t, c, pieces)
			check(t, c, first)
			for i, p := range cuts(strings.Join(pieces, "")) {
				if got := play(t, c, p); asJSON(t, got) != asJSON(t, first) {
					t.Fatalf("cut %d gives %s, want %s", i, asJSON(t, got), asJSON(t, first))
				}
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// check compares with what the line itself expects.
func check(t *testing.T, c replyCase, o outcome) {
	t.Helper()
	r := &llm.Response{Blocks: o.Blocks}
	e := c.Expected
	if e.Text != nil && text(r, llm.Text) != *e.Text {
		t.Errorf("text %q, want %q", text(r, llm.Text), *e.Text)
	}
	if e.Calls != nil {
		var got []string
		for _, x := range callsOf(r) {
			var args map[string]any
			if err := json.Unmarshal([]byte(x.Arguments), &args); err != nil {
				t.Errorf("arguments %q: %v", x.Arguments, err)
			}
			got = append(got, fmt.Sprint(x.ID, x.Name, args))
		}
		var want []string
		for _, x := range e.Calls {
			want = append(want, fmt.Sprint(x.ID, x.Name, x.Arguments))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("calls %v, want %v", got, want)
		}
	}
	if u := e.Usage; u != nil && (*o.Usage.Fresh != u.Input-u.Cached || *o.Usage.CacheRead != u.Cached || *o.Usage.Output != u.Output) {
		t.Errorf("usage %+v", o.Usage)
	}
	switch e.Finish {
	case "stop":
		if o.Finish != llm.Stop {
			t.Errorf("finish %q", o.Finish)
		}
	case "error":
		if o.Class == "" || !strings.Contains(o.Message, e.Error) {
			t.Errorf("class %q, message %q", o.Class, o.Message)
		}
	case "incomplete":
		if o.Class != llm.Cut {
			t.Errorf("class %q, want cut", o.Class)
		}
	}
	if e.Finish != "error" && e.Finish != "incomplete" && o.Class != "" {
		t.Errorf("failed: %s %s", o.Class, o.Message)
	}
	checkFurther(t, c.ID, o)
}

// checkFurther asserts what the lines demand in words.
func checkFurther(t *testing.T, id string, o outcome) {
	t.Helper()
	r := &llm.Response{Blocks: o.Blocks}
	calls := fmt.Sprint(callsOf(r))
	want := map[string]string{
		"D-truncated-by-length": `[{a1 bash {"command":"rm -rf build"}}]`, // kept for the history; the finish forbids running it
		"D-unknown-tool":        `[{a1 search_files {}} {a2 read {"path":"x"}} {a3 bash {"command":"ls"}} {a4  {}}]`,
		"D-duplicate-ids":       `[{call_0 read {"path":"x"}} {call_0 read {"path":"y"}}]`,
	}
	if w, ok := want[id]; ok && calls != w {
		t.Errorf("calls %s, want %s", calls, w)
	}
	switch id {
	case "D-truncated-by-length":
		if o.Finish != llm.Length {
			t.Errorf("finish %q", o.Finish)
		}
	case "D-error-mid-stream":
		if o.Class != llm.Overload {
			t.Errorf("class %q can't be retried", o.Class)
		}
	case "D-json-error-with-200":
		if o.Class != llm.Invalid {
			t.Errorf("class %q", o.Class)
		}
	case "D-html-with-200":
		if o.Class != llm.Malformed || !strings.Contains(o.Message, "text/html") || !strings.Contains(o.Message, "HOST") || strings.Contains(o.Message, "<") {
			t.Errorf("class %q, message %q", o.Class, o.Message)
		}
	}
}

// TestReasoningReturns is the second half of D-reasoning-passed-back: what the next request carries, to its origin alone.
// covers L056
func TestReasoningReturns(t *testing.T) {
	c := cases(t)["D-reasoning-passed-back"]
	server := httptest.NewServer(raw(200, sse(), c.Setup.Reply.Body))
	defer server.Close()
	ask := func(model string, p provider.Profile, history []llm.Message) (*llm.Response, string) {
		k := &sink{}
		m := provider.New(provider.Options{Wire: newWire(t, k), Endpoint: server.URL, Model: model, Stream: true, Profile: p})
		r, err := m.Stream(ctxOf(t), &llm.Request{ID: "c", Messages: history, Tools: toolSpecs()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r, string(join(k.sent[0].Body))
	}
	deepseek := provider.ProfileFor("", "deepseek", "", "")
	first, _ := ask("m", deepseek, []llm.Message{user("go")})
	history := []llm.Message{user("go"), {Role: llm.Assistant, Blocks: first.Blocks}, result("a1", "read", "content of x"), user("and?")}
	const rest = `"tool_calls":[{"id":"a1","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]}`
	if _, got := ask("m", deepseek, history); !strings.Contains(got, `{"role":"assistant","content":null,"reasoning_content":"need file",`+rest) {
		t.Errorf("sent %s", got)
	}
	if _, got := ask("m", provider.Profile{}, history); !strings.Contains(got, `{"role":"assistant","content":null,`+rest) {
		t.Errorf("reasoning went to a server that does not ask for it: %s", got)
	}
	if _, got := ask("other", deepseek, history); !strings.Contains(got, `{"role":"assistant","content":null,"reasoning_content":"",`+rest) {
		t.Errorf("reasoning went to another model: %s", got)
	}
	history[1].Blocks = history[1].Blocks[1:] // a message of a model that gave none
	if _, got := ask("m", deepseek, history); !strings.Contains(got, `"content":null,"reasoning_content":"",`+rest) {
		t.Errorf("sent %s", got)
	}
}

func result(id, name, content string) llm.Message {
	return llm.Message{Role: llm.Tool, Blocks: []llm.Block{{Type: llm.Result, Owner: "r" + id, Result: &llm.ToolResult{ID: id, Name: name, Content: content}}}}
}

// TestLlamaServer decodes what llama-server v0.4.0 sent.
// covers L259
func TestLlamaServer(t *testing.T) {
	type want struct {
		class  llm.Class
		finish llm.Finish
		calls  int
		part   string // of the text or of the message
		window int64
	}
	for name, w := range map[string]want{
		"content_stream_200":    {finish: llm.Length, part: "Vladimir"},
		"e_401":                 {class: llm.Auth, part: "Invalid API Key"},
		"e_404":                 {class: llm.Invalid, part: "File Not Found"},
		"e_args_not_json":       {class: llm.Invalid, part: "Failed to parse tool call arguments"},
		"e_assistant_null":      {finish: llm.Stop},
		"e_badjson":             {class: llm.Invalid, part: "parse error"},
		"e_badrole":             {finish: llm.Length, part: "<tool_call>"},
		"e_badschema":           {class: llm.Invalid, part: "JSON schema conversion failed"},
		"e_badtoolchoice":       {class: llm.Invalid, part: "Invalid tool_choice"},
		"e_ctx_overflow":        {class: llm.Overflow, part: "exceeds the available context", window: 4096},
		"e_ctx_overflow_stream": {class: llm.Overflow, part: "12009", window: 4096},
		"e_empty_messages":      {finish: llm.Stop, part: "村民"},
		"e_image":               {class: llm.Invalid, part: "image input is not supported"},
		"e_loading_chat":        {class: llm.Overload, part: "Loading model"},
		"e_missing_tool_result": {finish: llm.Length},
		"e_no_messages":         {class: llm.Invalid, part: "'messages' is required"},
		"e_orphan_tool":         {finish: llm.Length, part: "PRETTY"},
		"e_unknown_model":       {finish: llm.Length, part: "🐍"},
		"json_schema":           {finish: llm.Stop, part: `"ok"`},
		"tool_nostream":         {finish: llm.ToolCalls, calls: 1, part: "\uf9f4"},
		"toolauto_stream":       {finish: llm.ToolCalls, calls: 1},
		"toolreq_stream":        {class: llm.Cut, part: "ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("testdata/llama", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			head, rest, _ := bytes.Cut(file, []byte("\r\n\r\n"))
			head = append(bytes.Clone(head), "\r\n\r\n"...)
			h, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), nil)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := against(t, true, raw(h.StatusCode, map[string]string{"Content-Type": h.Header.Get("Content-Type")}, string(rest)))
			r, err := m.Stream(ctxOf(t), say("x"), nil)
			if w.class != "" {
				e := asError(t, err)
				if e.Class != w.class || !strings.Contains(e.Message, w.part) || e.Window != w.window {
					t.Errorf("%+v", e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Finish != w.finish || len(callsOf(r)) != w.calls || !strings.Contains(text(r, llm.Text), w.part) {
				t.Errorf("%+v", r)
			}
			for _, c := range callsOf(r) {
				if !json.Valid([]byte(c.Arguments)) || c.ID == "" {
					t.Errorf("call %+v", c)
				}
			}
		})
	}
}
