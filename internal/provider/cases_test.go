package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// replyCase is a line of testdata/cases.jsonl: a reply seen in public, and what it means; or the same situation in another
// protocol, with an id that ends in /chat, /responses or /messages.
type replyCase struct {
	ID    string
	Setup struct {
		API   string
		Reply struct {
			Status  int
			Headers map[string]string
			Body    string
			Chunks  []string `json:"network_chunks"`
		} `json:"http_reply"`
	}
	Expected struct {
		Text, Reasoning *string
		Finish          string
		Calls           []struct {
			ID, Name  string
			Arguments map[string]any
		} `json:"tool_calls"`
		Usage *struct{ Input, Cached, Output int64 }
		Error string `json:"error_contains"`
	}
}

// base is the id of the line that a case is of.
func (c replyCase) base() string {
	id, _, _ := strings.Cut(c.ID, "/")
	return id
}

func (c replyCase) world() world {
	for prefix, protocol := range map[string]string{"openai responses": provider.Responses, "anthropic": provider.Messages} {
		if strings.HasPrefix(c.Setup.API, prefix) {
			return world{protocol, true}
		}
	}
	return world{provider.Chat, true}
}

// nowhere has the lines whose situation can't be in a protocol.
func nowhere() map[string]string {
	return map[string]string{
		"D-finish-stop-with-calls responses": "it has no reason of its own for calls",
		"D-no-done-line responses":           "its last event is all that ends it",
		"D-think-tag-split responses":        "reasoning has items of its own",
		"D-think-tag-split messages":         "reasoning has blocks of its own",
	}
}

// TestEveryCaseEverywhere: each line is there in each protocol in which its situation can be.
func TestEveryCaseEverywhere(t *testing.T) {
	has := map[string]bool{}
	for _, c := range cases(t) {
		protocol, _, _ := strings.Cut(c.world().String(), " ")
		has[c.base()+" "+protocol] = true
	}
	for _, c := range cases(t) {
		for _, protocol := range []string{"chat", "responses", "messages"} {
			if key := c.base() + " " + protocol; has[key] == (nowhere()[key] != "") {
				t.Errorf("%s: there %v, not there because %q", key, has[key], nowhere()[key])
			}
		}
	}
}

func cases(t testing.TB) map[string]replyCase {
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
	m, k := c.world().against(t, raw(c.Setup.Reply.Status, c.Setup.Reply.Headers, pieces...))
	o := outcomeOf(t, m, k)
	if len(k.received) != 1 || string(k.received[0].Body) != strings.Join(pieces, "") {
		t.Errorf("recorded %q", k.received[0].Body)
	}
	return o
}

func hostOf(k *sink) string {
	_, rest, _ := strings.Cut(k.sent[0].URL, "//")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// covers F081 L259
func TestCases(t *testing.T) {
	all := cases(t)
	if len(all) < 59 {
		t.Fatalf("%d cases", len(all))
	}
	for id, c := range all {
		t.Run(id, func(t *testing.T) {
			pieces := c.Setup.Reply.Chunks
			if pieces == nil {
				pieces = []string{c.Setup.Reply.Body}
			}
			o := play(t, c, pieces)
			check(t, c, o)
			sameHoweverCut(t, c.world(), strings.Join(pieces, ""), 100)
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
	if e.Reasoning != nil && text(r, llm.Reasoning) != *e.Reasoning {
		t.Errorf("reasoning %q, want %q", text(r, llm.Reasoning), *e.Reasoning)
	}
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
	if u := e.Usage; u != nil && c.world().protocol != provider.Messages {
		u.Input -= u.Cached // there it is what was not cached
	}
	if u := e.Usage; u != nil && (*o.Usage.Fresh != u.Input || *o.Usage.CacheRead != u.Cached || *o.Usage.Output != u.Output) {
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
	checkFurther(t, c, o)
}

// checkFurther asserts what the lines demand in words.
func checkFurther(t *testing.T, c replyCase, o outcome) {
	t.Helper()
	r := &llm.Response{Blocks: o.Blocks}
	calls := fmt.Sprint(callsOf(r))
	want := map[string]string{
		"D-truncated-by-length": `[{a1 bash {"command":"rm -rf build"}}]`, // kept for the history; the finish forbids running it
		"D-unknown-tool":        `[{a1 search_files {}} {a2 read {"path":"x"}} {a3 bash {"command":"ls"}} {a4  {}}]`,
		"D-duplicate-ids":       `[{call_0 read {"path":"x"}} {call_0 read {"path":"y"}}]`,
	}
	if w, ok := want[c.base()]; ok && calls != w {
		t.Errorf("calls %s, want %s", calls, w)
	}
	switch c.base() {
	case "D-truncated-by-length":
		if o.Finish != llm.Length {
			t.Errorf("finish %q", o.Finish)
		}
	case "D-error-mid-stream", "D-anthropic-error-event":
		if o.Class != llm.Overload {
			t.Errorf("class %q can't be retried", o.Class)
		}
	case "D-reasoning-passed-back", "D-anthropic-tool-stream":
		if c.world().protocol != provider.Chat {
			comesBack(t, c)
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

// comesBack: what a reply has sealed is in the next request as it was, before the calls.
func comesBack(t *testing.T, c replyCase) {
	t.Helper()
	w := c.world()
	m, k := w.against(t, raw(200, sse(), c.Setup.Reply.Body))
	q := ask()
	first, err := m.Stream(ctxOf(t), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks})
	for _, x := range callsOf(first) {
		q.Messages = append(q.Messages, result(x.ID, x.Name, "r"))
	}
	m.Stream(ctxOf(t), q, nil)
	thought := text(first, llm.Reasoning)
	want := w.pick("", `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"`+thought+`"}],"encrypted_content":`+string(seal(first))+`},{"type":"function_call"`,
		`"content":[{"type":"thinking","thinking":"`+thought+`","signature":`+string(seal(first))+`},{"type":"tool_use"`)
	if got := string(join(k.sent[1].Body)); !strings.Contains(got, want) {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// seal gives the signature or encrypted content that an answer came with.
func seal(r *llm.Response) json.RawMessage {
	var item struct {
		Encrypted json.RawMessage `json:"encrypted_content"`
	}
	if json.Unmarshal(r.Blocks[0].Opaque, &item) == nil {
		return item.Encrypted
	}
	return r.Blocks[0].Opaque
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
