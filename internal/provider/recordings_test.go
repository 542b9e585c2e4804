package provider_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// capture reads what llama-server v0.4.0 sent: head and body.
func capture(t testing.TB, name string) (*http.Response, string) {
	t.Helper()
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
	return h, string(rest)
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
		w      world
	}
	for name, w := range map[string]want{
		"anthropic":             {finish: llm.Stop, part: "otech stopped", w: world{provider.Messages, false}},
		"anthropic_stream":      {finish: llm.Length, part: " cháu", w: world{provider.Messages, true}},
		"responses":             {finish: llm.Stop, part: "BLACK<tool_call>", w: world{provider.Responses, false}},
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
		"e_image":               {class: llm.Pictures, part: "image input is not supported"},
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
			if w.w.protocol == "" {
				w.w = world{provider.Chat, true}
			}
			h, body := capture(t, name)
			m, _ := w.w.against(t, raw(h.StatusCode, map[string]string{"Content-Type": h.Header.Get("Content-Type")}, body))
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

// recording is the body of a reply of status 200.
type recording struct {
	name string
	w    world
	body string
}

// recordings are replies of the scripted server in each world, and what llama-server sent.
func recordings(t testing.TB) (out []recording) {
	t.Helper()
	for _, w := range worlds() {
		for name, r := range map[string]scripted.Reply{
			"everything": everything(), "refusal": {Text: "I can't 🥊.", Refusal: true}, "cut call": {Text: "a", Calls: []scripted.Call{{ID: "x", Name: "read", Args: `{"path":"ü`}}, Finish: "length"},
			"error": {Text: "Pärt", Fault: &scripted.Fault{Kind: "overloaded_error", Message: "Überlastet"}},
		} {
			out = append(out, recording{name + " " + w.String(), w, w.record(t, r)})
		}
	}
	for name, w := range map[string]world{
		"anthropic": {provider.Messages, false}, "anthropic_stream": {provider.Messages, true}, "responses": {provider.Responses, false},
		"content_stream_200": {provider.Chat, true}, "toolauto_stream": {provider.Chat, true}, "toolreq_stream": {provider.Chat, true}, "tool_nostream": {provider.Chat, false},
	} {
		_, body := capture(t, name)
		out = append(out, recording{name, w, body})
	}
	return out
}

// pieces is a reader that gives a body in pieces that end at the borders, and at no other place.
type pieces struct {
	body    string
	at      int
	borders []int // in order
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.at == len(p.body) {
		return 0, io.EOF
	}
	for len(p.borders) > 0 && p.borders[0] <= p.at {
		p.borders = p.borders[1:]
	}
	end := len(p.body)
	if len(p.borders) > 0 {
		end = min(end, p.borders[0])
	}
	n := copy(b, p.body[p.at:end])
	p.at += n
	return n, nil
}

// parsed gives what a body comes to that is delivered in pieces, and what was shown meanwhile.
func (w world) parsed(t testing.TB, body string, borders []int) string {
	t.Helper()
	o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Name: "test"}
	w.set(&o)
	shown := map[llm.DeltaPart]string{}
	r, err := provider.Receive(o, toolSpecs(), &pieces{body: body, borders: borders}, func(d llm.Delta) { shown[d.Part] += d.Text })
	b, jsonErr := json.Marshal([]any{r, err, shown})
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	return string(b)
}

// sameHoweverCut: one border after every byte alone, all of them at once, and so many random ways to put them.
func sameHoweverCut(t testing.TB, w world, body string, random int) {
	t.Helper()
	want := w.parsed(t, body, nil)
	try := func(borders []int) {
		if got := w.parsed(t, body, borders); got != want {
			t.Fatalf("cut at %v gives %s, want %s", borders, got, want)
		}
	}
	all := make([]int, len(body))
	for i := range body {
		all[i] = i
		// The lines of a large body are all alike: there each border of its beginning and end alone, and of the rest some.
		if len(body) < 8<<10 || i < 2<<10 || i > len(body)-2<<10 || i%61 == 0 {
			try([]int{i})
		}
	}
	try(all)
	rng := rand.New(rand.NewPCG(1, uint64(len(body))))
	for range random {
		borders := make([]int, 1+rng.IntN(min(len(body)+1, 40)))
		for i := range borders {
			borders[i] = rng.IntN(len(body) + 1)
		}
		slices.Sort(borders)
		try(borders)
	}
}

// TestSameHoweverCut: how a reply was cut on the way does not matter.
// covers L259
func TestSameHoweverCut(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) { sameHoweverCut(t, r.w, r.body, 1000) })
	}
}
