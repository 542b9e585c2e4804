package scripted_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"overt/internal/scripted"
)

func start(t *testing.T, s scripted.Script) (*scripted.Server, string) {
	t.Helper()
	server := scripted.New(s)
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, url
}

// post sends a body as it is and gives status and answer.
func post(t *testing.T, url, key, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func TestWholeAnswer(t *testing.T) {
	server, url := start(t, scripted.Script{Replies: []scripted.Reply{
		{Text: "a <b>", Reasoning: "r", Calls: []scripted.Call{{Name: "f", Args: `{"x":1}`}, {ID: "own", Name: "g", Args: `{}`}}, Usage: &scripted.Usage{Prompt: 10, Cached: 4, Completion: 2}},
	}})
	status, got, err := post(t, url, "", hello)
	want := `{"id":"chatcmpl-scripted-1","object":"chat.completion","created":1767225600,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a <b>","reasoning_content":"r",` +
		`"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"own","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}`
	if status != 200 || got != want || err != nil {
		t.Errorf("%d %v %s\nwant %s", status, err, got, want)
	}
	status, got, _ = post(t, url, "", hello)
	if status != 500 || !strings.Contains(got, "script is used up") {
		t.Errorf("after the end: %d %s", status, got)
	}
	log := server.Log()
	if len(log) != 2 || string(log[0].Request) != hello || string(log[0].Response) != want || log[0].Status != 200 || log[1].Status != 500 || log[0].Path != "/v1/chat/completions" {
		t.Errorf("log %+v", log)
	}
}

func TestStream(t *testing.T) {
	text := "Zwölf 🥊 Boxkämpfer jagen Viktor"
	args := `{"path":"a very long file name.txt"}`
	server, url := start(t, scripted.Script{Replies: []scripted.Reply{{Text: text, Reasoning: "first think", Calls: []scripted.Call{{ID: "c", Name: "read", Args: args}}}}})
	_, got, err := post(t, url, "", strings.Replace(hello, `"model"`, `"stream":true,"stream_options":{"include_usage":true},"model"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	var sawText, sawArgs, sawThought, finish string
	events, usage := 0, false
	lines := bufio.NewScanner(strings.NewReader(got))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		events++
		var c struct {
			Choices []struct {
				Delta struct {
					Content   string
					Reasoning string `json:"reasoning_content"`
					Calls     []struct {
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
				Finish string `json:"finish_reason"`
			}
			Usage *struct{}
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		usage = usage || c.Usage != nil
		for _, ch := range c.Choices {
			sawText, sawThought, finish = sawText+ch.Delta.Content, sawThought+ch.Delta.Reasoning, finish+ch.Finish
			for _, call := range ch.Delta.Calls {
				sawArgs += call.Function.Arguments
			}
		}
	}
	if sawText != text || sawArgs != args || sawThought != "first think" || finish != "tool_calls" || !usage || events < 9 || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("text %q, arguments %q, reasoning %q, finish %q, usage %v, %d events", sawText, sawArgs, sawThought, finish, usage, events)
	}
	if string(server.Log()[0].Response) != got {
		t.Error("the log differs from what was received")
	}
}

// covers L235
func TestSameScriptSameBytes(t *testing.T) {
	var first string
	for range 2 {
		_, url := start(t, scripted.Script{Replies: []scripted.Reply{{Text: "x", Calls: []scripted.Call{{Name: "f", Args: "{}"}}}}})
		_, got, _ := post(t, url, "", hello)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%s\n%s", first, got)
		}
	}
}

func TestRawAndKeyAndModels(t *testing.T) {
	server, url := start(t, scripted.Script{Key: "k", Models: []string{"a", "b"}, Replies: []scripted.Reply{
		{Status: 429, Body: `{"error":"wait"}`, Header: http.Header{"Retry-After": {"3"}}}, {Body: "<html>", Header: http.Header{"Content-Type": {"text/html"}}},
	}})
	if status, got, _ := post(t, url, "wrong", hello); status != 401 || !strings.Contains(got, "invalid_api_key") {
		t.Errorf("%d %s", status, got)
	}
	if status, got, _ := post(t, url, "k", hello); status != 429 || got != `{"error":"wait"}` {
		t.Errorf("%d %s", status, got)
	}
	if status, got, _ := post(t, url, "k", hello); status != 200 || got != "<html>" {
		t.Errorf("%d %s", status, got)
	}
	req, _ := http.NewRequest("GET", url+"/models", nil)
	req.Header.Set("Authorization", "Bearer k")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	if !bytes.Contains(b, []byte(`"id":"b"`)) || len(server.Log()) != 4 {
		t.Errorf("%s", b)
	}
	other, err := http.Get(url + "/nothing")
	if err != nil {
		t.Fatal(err)
	}
	other.Body.Close()
	if other.StatusCode != 401 {
		t.Errorf("%d", other.StatusCode)
	}
}

func TestCutAndHold(t *testing.T) {
	hold := make(chan struct{})
	server, url := start(t, scripted.Script{Replies: []scripted.Reply{
		{Text: strings.Repeat("x", 100), Cut: 3}, {Text: strings.Repeat("x", 100), Cut: 1}, {Text: "held until now", Hold: hold},
	}})
	streaming := strings.Replace(hello, `"model"`, `"stream":true,"model"`, 1)
	_, got, err := post(t, url, "", streaming)
	if err == nil || strings.Count(got, "data:") != 3 {
		t.Errorf("%v %q", err, got)
	}
	if _, got, err := post(t, url, "", hello); err == nil || json.Valid([]byte(got)) {
		t.Errorf("%v %q", err, got)
	}
	close(hold)
	if _, got, err := post(t, url, "", streaming); err != nil || !strings.Contains(got, "[DONE]") {
		t.Errorf("%v %q", err, got)
	}
	if n := len(server.Log()); n != 3 {
		t.Errorf("%d exchanges", n)
	}
}

func TestNext(t *testing.T) {
	_, url := start(t, scripted.Script{Next: func(r scripted.Request) scripted.Reply {
		last := r.Last()
		return scripted.Reply{Text: fmt.Sprint(last.Role, " said ", last.Content, " to ", r.Model, " with ", len(r.Tools), " tools and ", r.ToolChoice)}
	}})
	_, got, _ := post(t, url, "", `{"model":"m","tool_choice":"none","tools":[`+goodTool+`],"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},`+
		`{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"res"}]}`)
	if !strings.Contains(got, "tool said res to m with 1 tools and none") {
		t.Error(got)
	}
}

const goodTool = `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"type":"integer"}}},"required":["a"]}}}`

// TestAlternate: the roles that strict templates take, and those that they don't.
func TestAlternate(t *testing.T) {
	const (
		sys = `{"role":"system","content":"s"},`
		u   = `{"role":"user","content":"u"},`
		a   = `{"role":"assistant","content":"a"},`
		c   = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},`
		r   = `{"role":"tool","tool_call_id":"1","content":"r"},`
	)
	for history, want := range map[string]int{
		u: 200, sys + u: 200, u + a + u: 200, u + c + r: 200, u + c + r + a + u: 200, u + a: 200,
		u + u: 400, sys + u + u: 400, u + a + a: 400, a + u: 400, u + c + r + u: 400,
	} {
		body := `{"model":"m","messages":[` + strings.TrimSuffix(history, ",") + "]}"
		for strict, status := range map[bool]int{true: want, false: 200} {
			_, url := start(t, scripted.Script{Alternate: strict, Replies: make([]scripted.Reply, 1)})
			got, text, err := post(t, url, "", body)
			if err != nil || got != status || got == 400 && !strings.Contains(text, "must alternate") {
				t.Errorf("strict %v: %s: %d %s %v", strict, history, got, text, err)
			}
		}
	}
}

// TestStrict has what the real services refuse, in their words.
// covers L246
func TestStrict(t *testing.T) {
	u := `{"role":"user","content":"hi"}`
	call := func(id, args string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":` + args + `}}`
	}
	asks := func(calls string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + calls + `]}`
	}
	res := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"r"}` }
	msgs := func(m ...string) string { return `{"model":"m","messages":[` + strings.Join(m, ",") + `]}` }
	withTools := func(tools string) string {
		return `{"model":"m","messages":[` + u + `],"tools":[` + tools + `]}`
	}
	schema := func(s string) string {
		return withTools(`{"type":"function","function":{"name":"f","parameters":` + s + `}}`)
	}
	_, url := start(t, scripted.Script{Next: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "fine"} }})
	for _, c := range []struct{ name, body, part string }{
		{"plain", hello, ""},
		{"pair", msgs(u, asks(call("1", `"{}"`)), res("1"), u), ""},
		{"two results in any order", msgs(u, asks(call("1", `"{}"`)+","+call("2", `"{}"`)), res("2"), res("1")), ""},
		{"empty content beside calls", msgs(u, `{"role":"assistant","content":"","tool_calls":[`+call("1", `"{}"`)+`]}`, res("1")), ""},
		{"tools", withTools(goodTool), ""},
		{"not JSON", `{"model"`, "could not parse"},
		{"invalid UTF-8", "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "UTF-8"},
		{"no model", `{"messages":[` + u + `]}`, "must provide a model"},
		{"no messages", `{"model":"m","messages":[]}`, "empty array"},
		{"unknown field", `{"model":"m","messages":[` + u + `],"foo":1}`, "Unrecognized request argument supplied: foo"},
		{"usage without stream", `{"model":"m","messages":[` + u + `],"stream_options":{"include_usage":true}}`, "only allowed when 'stream'"},
		{"max_tokens 0", `{"model":"m","messages":[` + u + `],"max_tokens":0}`, "below minimum"},
		{"role", msgs(`{"role":"banana","content":"x"}`), "Invalid value: 'banana'"},
		{"late system", msgs(u, `{"role":"system","content":"x"}`), "must be at the beginning"},
		{"orphan call", msgs(u, asks(call("1", `"{}"`))), "did not have response messages: 1"},
		{"call not answered at once", msgs(u, asks(call("1", `"{}"`)), u, res("1")), "must be followed by tool messages"},
		{"orphan result", msgs(u, res("1")), "must be a response to a preceeding message"},
		{"answered twice", msgs(u, asks(call("1", `"{}"`)), res("1"), res("1")), "must be a response"},
		{"same id twice", msgs(u, asks(call("1", `"{}"`)+","+call("1", `"{}"`)), res("1")), "Duplicate value"},
		{"no id", msgs(u, asks(call("", `"{}"`)), res("")), "Missing required parameter"},
		{"long id", msgs(u, asks(call(strings.Repeat("x", 41), `"{}"`)), res("1")), "string too long"},
		{"arguments cut", msgs(u, asks(call("1", `"{\"a\":"`)), res("1")), "must be in JSON format"},
		{"arguments no object", msgs(u, asks(call("1", `"[]"`)), res("1")), "must be in JSON format"},
		{"name of a call", msgs(u, asks(`{"id":"1","type":"function","function":{"name":"a b","arguments":"{}"}}`), res("1")), "does not match pattern"},
		{"type of a call", msgs(u, asks(`{"id":"1","type":"","function":{"name":"f","arguments":"{}"}}`), res("1")), "Invalid value: ''"},
		{"no calls", msgs(u, `{"role":"assistant","content":"x","tool_calls":[]}`), "empty array"},
		{"empty user", msgs(`{"role":"user","content":" "}`), "text content is empty"},
		{"empty assistant", msgs(u, `{"role":"assistant","content":""}`), "text content is empty"},
		{"null assistant", msgs(u, `{"role":"assistant","content":null}`), "got null"},
		{"empty result", msgs(u, asks(call("1", `"{}"`)), `{"role":"tool","tool_call_id":"1","content":""}`), "text content is empty"},
		{"NUL", msgs(`{"role":"user","content":"a\u0000"}`), "cannot be converted"},
		{"parts of the system", msgs(`{"role":"system","content":[{"type":"text","text":"x"}]}`), "expected a string"},
		{"picture", msgs(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`), ""},
		{"no picture", msgs(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`), "does not represent a valid image"},
		{"invented member", msgs(`{"role":"user","content":[{"type":"text","text":"x","media":"y"}]}`), "Unrecognized request argument supplied: media"},
		{"no tools in the list", `{"model":"m","messages":[` + u + `],"tools":[]}`, "empty array"},
		{"tool name", withTools(`{"type":"function","function":{"name":"a.b","parameters":{"type":"object"}}}`), "does not match pattern"},
		{"tool twice", withTools(goodTool + "," + goodTool), "must be unique"},
		{"too many tools", withTools(strings.Repeat(goodTool+",", 128) + goodTool), "maximum length 128"},
		{"no schema", withTools(`{"type":"function","function":{"name":"f"}}`), "got 'type: \\\"None\\\"'"},
		{"no object", schema(`{"type":"array","items":{}}`), "must be a JSON Schema of 'type"},
		{"unknown type", schema(`{"type":"object","properties":{"a":{"type":"objekt"}}}`), "'objekt' is not valid"},
		{"anyOf at the top", schema(`{"type":"object","anyOf":[{}]}`), "at the top level"},
		{"required of nothing", schema(`{"type":"object","required":["a"]}`), "not in 'properties'"},
		{"array without items", schema(`{"type":"object","properties":{"a":{"type":"array"}}}`), "missing items"},
		{"empty enum", schema(`{"type":"object","properties":{"a":{"type":"string","enum":[]}}}`), "must not be empty"},
		{"choice without tools", `{"model":"m","messages":[` + u + `],"tool_choice":"none"}`, "only allowed when 'tools'"},
		{"unknown choice", `{"model":"m","messages":[` + u + `],"tools":[` + goodTool + `],"tool_choice":"sometimes"}`, "Supported values are: 'none'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, got, err := post(t, url, "", c.body)
			if err != nil {
				t.Fatal(err)
			}
			want := 200
			if c.part != "" {
				want = 400
			}
			if status != want || !strings.Contains(got, c.part) {
				t.Errorf("%d %s, want %d with %q", status, got, want, c.part)
			}
			if status == 400 && !strings.Contains(got, `"type":"invalid_request_error","param":`) {
				t.Errorf("form of the error: %s", got)
			}
		})
	}
}

func TestStartTwice(t *testing.T) {
	server, _ := start(t, scripted.Script{})
	if _, err := server.Start(); err == nil {
		t.Error("a second start must fail")
	}
	if err := scripted.New(scripted.Script{}).Close(); err != nil {
		t.Error(err)
	}
}
