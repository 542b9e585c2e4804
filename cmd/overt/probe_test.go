package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"overt/internal/scripted"
)

// pupil answers the questions of a probe as a good model does.
func pupil(q scripted.Request) scripted.Reply {
	last := q.Last()
	text := last.Content
	switch {
	case strings.Contains(text, "4086"): // the result of a call
		return scripted.Reply{Text: "alpha has the number 4086."}
	case strings.Contains(text, `"beta"`):
		return scripted.Reply{Calls: []scripted.Call{{Name: "lookup_number", Args: `{"name":"alpha"}`}, {Name: "lookup_number", Args: `{"name":"beta"}`}}}
	case strings.Contains(text, "lookup_number") && len(q.Tools) > 0:
		return scripted.Reply{Calls: []scripted.Call{{Name: "lookup_number", Args: `{"name":"alpha"}`}}}
	case strings.Contains(text, "lookup_number"):
		return scripted.Reply{Text: `{"tool": "lookup_number", "arguments": {"name": "alpha"}}`}
	case strings.Contains(text, "colour"):
		return scripted.Reply{Text: "Red."}
	case strings.Contains(text, "Count from"):
		return scripted.Reply{Text: "1\n2\n3", Finish: "length"}
	}
	return scripted.Reply{Text: "7391"}
}

// school serves a strict server whose model is a pupil. refuse may answer a request in its place, with a status and an error in OpenAI's form; status
// 0 leaves it to the server.
func school(t *testing.T, next func(scripted.Request) scripted.Reply, refuse func(body string, q map[string]any) (int, string)) *shop {
	t.Helper()
	s := scripted.New(scripted.Script{Next: next, Key: "sk-probe-secret-0001"})
	return openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var q map[string]any
		if refuse != nil && json.Unmarshal(body, &q) == nil {
			if status, words := refuse(string(body), q); status != 0 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, words)
				return
			}
		}
		// It takes a tool that has no schema at all.
		body = bytes.ReplaceAll(body, []byte(`"description":"Gives the current time."}`), []byte(`"description":"Gives the current time.","parameters":{"type":"object","properties":{}}}`))
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	})
}

// bodies are those of the requests that came.
type bodies struct {
	mu   sync.Mutex
	list []string
}

func (b *bodies) add(body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, body)
}

// take gives what came since it was asked last.
func (b *bodies) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.list
	b.list = nil
	return out
}

// probedAs is what overt probe --json says.
type probedAs struct {
	Requests int
	Kept     bool
	Error    *string
	Quirks   map[string]any
	Images   *bool
	Checks   []struct {
		Check, Result, Text string
		Calls               []string
	}
}

func (g probedAs) result(check string) string {
	for _, c := range g.Checks {
		if c.Check == check {
			return c.Result
		}
	}
	return ""
}

func (p *place) probe(args ...string) (probedAs, ran) {
	p.t.Helper()
	r := p.run(append([]string{"probe", "--json"}, args...)...)
	var got probedAs
	if r.out != "" {
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			p.t.Fatal(err, r.out)
		}
	}
	return got, r
}

func (p *place) probes() []string {
	p.t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state", "overt", "user", "probes", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// TestProbe: a good server of each protocol differs in nothing, and nothing that is secret is kept or shown.
func TestProbe(t *testing.T) {
	for _, protocol := range []string{"openai-chat", "openai-responses", "anthropic-messages"} {
		t.Run(protocol, func(t *testing.T) {
			s := school(t, pupil, nil)
			p := newPlace(t)
			args := []string{"-u", s.URL + "/v1", "-m", "scripted", "--protocol", protocol}
			p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
			got, r := p.probe(args...)
			r.want(t, 0)
			for _, check := range []string{
				"answer", "system", "limit_field", "usage", "stream", "stream_usage", "tools", "arguments", "call_ids", "tool_result", "parallel_calls",
				"no_parameters", "images", "length", "stop_reasons", "models",
			} {
				if got.result(check) != "supported" {
					t.Errorf("%s: %q", check, got.result(check))
				}
			}
			if got.result("effort") != "taken" { // a level that is ignored is answered, too
				t.Errorf("effort: %q", got.result("effort"))
			}
			if !got.Kept || got.Requests > 12 || len(got.Quirks) != 0 || got.Images == nil || !*got.Images || got.result("window") != "unknown" {
				t.Errorf("%s", r.out)
			}
			list := p.probes()
			if len(list) != 1 {
				t.Fatalf("%q", list)
			}
			if info, err := os.Stat(list[0]); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			r = p.run(append([]string{"probe"}, args...)...)
			r.want(t, 0)
			for _, want := range []string{"[ok] tools                    supported  called in the protocol's own form", "[? ] window", "nothing measured differs"} {
				if !strings.Contains(r.out, want) {
					t.Errorf("no %q in\n%s", want, r.out)
				}
			}
			if strings.Contains(r.out, "probe.") || strings.Contains(r.out, "%!") {
				t.Errorf("a code without its sentence: %s", r.out)
			}
			if !strings.HasPrefix(r.err, "probing scripted at "+s.URL+"/v1 ("+protocol+"): at most 28 requests, 2,048 tokens") {
				t.Errorf("%s", r.err)
			}
			if r = p.run("models", "-u", s.URL+"/v1", "-m", "scripted", "--protocol", protocol); !strings.Contains(r.out, "probe: images") {
				t.Errorf("%s", r.out)
			}
			if out := p.run("task", "list").out; strings.Contains(out, "tsk_") {
				t.Errorf("a task: %s", out)
			}
			p.secretFree(t, "sk-probe-secret-0001")
		})
	}
}

// secretFree looks for a secret in every file of the state folder.
func (p *place) secretFree(t *testing.T, secret string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(filepath.Dir(p.dir), "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestProbeRefusals: of a server that refuses one thing, this is found and nothing else; it is obeyed by the next task, and the person's word counts more.
//
// covers L225 L226
func TestProbeRefusals(t *testing.T) {
	has := func(name string) func(string, map[string]any) bool {
		return func(_ string, q map[string]any) bool { return q[name] != nil }
	}
	for name, c := range map[string]struct {
		refuse func(body string, q map[string]any) bool
		words  string
		check  string
		result string
		quirks string
		images string
	}{
		"usage in streams": {has("stream_options"), "Unrecognized request argument supplied: stream_options", "stream_usage", "not", `{"no_stream_usage":true}`, "true"},
		"max_tokens":       {has("max_tokens"), "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "limit_field", "supported", `{"limit_field":"max_completion_tokens"}`, "true"},
		"any limit": {
			func(_ string, q map[string]any) bool {
				return q["max_tokens"] != nil || q["max_completion_tokens"] != nil
			},
			"unknown field", "limit_field", "not", `{"limit_field":"none"}`, "true",
		},
		"tools":  {has("tools"), "m does not support tools", "tools", "not", `{"tools":"text"}`, "true"},
		"images": {func(body string, _ map[string]any) bool { return strings.Contains(body, "image_url") }, "image input is not supported", "images", "not", `{}`, "false"},
		"effort": {has("reasoning_effort"), "Unrecognized request argument supplied: reasoning_effort", "effort", "not", `{"no_effort":true}`, "true"},
		"a level": {
			func(_ string, q map[string]any) bool { return q["reasoning_effort"] == "low" },
			"Invalid value: 'low'. Supported values are: 'medium', 'high', and 'max'.", "effort", "supported", `{"efforts":["medium","high","max"]}`, "true",
		},
		"null content": {
			func(body string, _ map[string]any) bool { return strings.Contains(body, `"content":null`) },
			"content must be a string", "tool_result", "supported", `{"empty_content":true}`, "true",
		},
		"no name of the tool": {func(body string, _ map[string]any) bool {
			return !toolNamed(body)
		}, "tool messages need a name", "tool_result", "supported", `{"tool_name":true}`, "true"},
		"ids": {
			func(body string, _ map[string]any) bool { return strings.Contains(body, `"call_1"`) },
			"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "tool_result", "supported", `{"ids":"alnum9"}`, "true",
		},
		"a schema of nothing": {
			func(body string, _ map[string]any) bool { return strings.Contains(body, `"properties":{}`) },
			"properties must be an object", "no_parameters", "not", `{"no_parameters":true}`, "true",
		},
		"whole answers": {func(_ string, q map[string]any) bool { return q["stream"] != true }, "only streaming is supported", "answer", "not", `{}`, "true"},
		"streams":       {func(_ string, q map[string]any) bool { return q["stream"] == true }, "streaming is not supported", "stream", "not", `{}`, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := school(t, pupil, func(body string, q map[string]any) (int, string) {
				if c.refuse(body, q) {
					return 400, c.words
				}
				return 0, ""
			})
			p := newPlace(t)
			p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
			got, r := p.probe("-u", s.URL+"/v1", "-m", "scripted")
			r.want(t, 0)
			if got.result(c.check) != c.result {
				t.Errorf("%s is %q", c.check, got.result(c.check))
			}
			quirks, err := json.Marshal(got.Quirks)
			if err != nil || string(quirks) != c.quirks {
				t.Errorf("%s, %v; want %s", quirks, err, c.quirks)
			}
			if got.Images == nil || fmt.Sprint(*got.Images) != c.images {
				t.Errorf("images: %s", r.out)
			}
			for _, f := range got.Checks {
				if f.Check != c.check && f.Result == "not" && !(c.check == "answer" && f.Check == "usage") {
					t.Errorf("%+v", f)
				}
			}
			if got.Requests > 28 {
				t.Errorf("%d requests", got.Requests)
			}
			// What was found is obeyed.
			if name == "whole answers" || name == "streams" {
				return // for the person to set
			}
			r = p.run("-u", s.URL+"/v1", "-m", "scripted", "--max-tokens", "100", "what is the number?")
			r.want(t, 0)
			if r.out != "7391\n" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// toolNamed tells whether the results of tools in a request name them.
func toolNamed(body string) bool {
	var q struct {
		Messages []struct{ Role, Name string }
	}
	if json.Unmarshal([]byte(body), &q) != nil {
		return false
	}
	for _, m := range q.Messages {
		if m.Role == "tool" && m.Name == "" {
			return false
		}
	}
	return true
}

// TestProbeUnsure: what is no refusal is none: a server that is busy, or a model that does something else. Without an answer to a plain question nothing is
// found, and nothing kept.
//
// covers L225
func TestProbeUnsure(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		if_    string // what the request has in it
		check  string
	}{
		"busy with pictures": {503, "image_url", "images"},
		"busy with tools":    {529, `"tools"`, "tools"},
		"too often":          {429, "reasoning_effort", "effort"},
	} {
		t.Run(name, func(t *testing.T) {
			s := school(t, pupil, func(body string, _ map[string]any) (int, string) {
				if strings.Contains(body, c.if_) {
					return c.status, "try again later"
				}
				return 0, ""
			})
			p := newPlace(t)
			p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
			got, r := p.probe("-u", s.URL+"/v1", "-m", "scripted")
			r.want(t, 0)
			if got.result(c.check) != "unknown" || len(got.Quirks) != 0 || got.Images != nil && !*got.Images {
				t.Errorf("%s", r.out)
			}
		})
	}
	silent := func(q scripted.Request) scripted.Reply { return scripted.Reply{Text: "I would rather not."} }
	p := newPlace(t)
	p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
	got, r := p.probe("-u", school(t, silent, nil).URL+"/v1", "-m", "scripted")
	r.want(t, 0)
	for _, check := range []string{"system", "tools", "images", "reasoning", "thinking"} {
		if got.result(check) != "unknown" {
			t.Errorf("%s: %q", check, got.result(check))
		}
	}
	if len(got.Quirks) != 0 || got.Images != nil {
		t.Errorf("%s", r.out)
	}
}

// TestProbeFails: without an answer there is one sentence, and the status says whose fault it is.
func TestProbeFails(t *testing.T) {
	closed := openShop(t, nil, nil)
	closed.Close()
	all := func(status int, words string) *shop {
		return school(t, pupil, func(string, map[string]any) (int, string) { return status, words })
	}
	for name, c := range map[string]struct {
		url, key string
		want     string
		requests int
	}{
		"a wrong key":      {school(t, pupil, nil).URL, "sk-probe-secret-0002", "HTTP 401: Incorrect API key provided", 1},
		"nobody":           {closed.URL, "", "connection refused", 1},
		"no such model":    {all(404, "The model `scripted` does not exist").URL, "", "HTTP 404: The model `scripted` does not exist", 1},
		"nothing is taken": {all(400, "no").URL, "", "HTTP 400: no", 4},
		"an empty account": {all(402, "Insufficient Balance").URL, "", "HTTP 402: Insufficient Balance", 1},
		"another address": {openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v2"+r.URL.Path, http.StatusTemporaryRedirect)
		}).URL, "", "redirects to", 1},
		"nothing in the answer": {openShop(t, nil, answers(200, "application/json", `{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}`)).URL, "", "was empty", 1},
		"a page to sign in at":  {openShop(t, nil, answers(200, "text/html", "<html>sign in</html>")).URL, "", "a page", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "OVERT_API_KEY="+c.key)
			got, r := p.probe("-u", c.url+"/v1", "-m", "scripted")
			r.want(t, 1)
			lines := strings.Split(strings.TrimSuffix(r.err, "\n"), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[1], "overt: the probe of 127.0.0.1 ended early, and nothing of it is kept: ") || !strings.Contains(lines[1], c.want) {
				t.Errorf("%q", lines)
			}
			if got.Kept || got.Requests != c.requests || got.Error == nil || len(p.probes()) != 0 || c.key != "" && strings.Contains(r.out+r.err, c.key) {
				t.Errorf("%s", r.out)
			}
		})
	}
	p := newPlace(t)
	if r := p.run("probe"); r.status != 3 || !strings.Contains(r.err, "OPENAI_API_KEY") && !strings.Contains(r.err, "_API_KEY") {
		t.Errorf("%+v", r)
	}
	if r := p.run("probe", "me"); r.status != 2 {
		t.Errorf("%+v", r)
	}
}

// TestProbeThinking: a switch counts if it has an effect, and reasoning goes back where a history without it is refused.
func TestProbeThinking(t *testing.T) {
	thinks := func(q scripted.Request) scripted.Reply {
		r := pupil(q)
		r.Reasoning = "Let me see."
		return r
	}
	var off atomic.Bool
	s := scripted.New(scripted.Script{Next: func(q scripted.Request) scripted.Reply {
		if off.Load() {
			return pupil(q)
		}
		return thinks(q)
	}})
	server := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var q map[string]any
		if json.Unmarshal(body, &q) == nil {
			if strings.Contains(string(body), `"tool_call_id"`) && !strings.Contains(string(body), "Let me see.") {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(400)
				fmt.Fprint(w, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`)
				return
			}
			kind, _ := q["thinking"].(map[string]any)
			off.Store(kind["type"] == "disabled")
			delete(q, "thinking") // other servers leave out of account what they don't know
			delete(q, "chat_template_kwargs")
			if body, err = json.Marshal(q); err != nil {
				t.Error(err)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	})
	p := newPlace(t)
	got, r := p.probe("-u", server.URL+"/v1", "-m", "scripted")
	r.want(t, 0)
	quirks, err := json.Marshal(got.Quirks)
	if want := `{"reasoning":"calls","reasoning_field":"reasoning_content","thinking":"type"}`; err != nil || string(quirks) != want {
		t.Errorf("%s, %v; want %s", quirks, err, want)
	}
	for check, want := range map[string]string{"reasoning": "supported", "reasoning_back": "supported", "thinking": "supported", "tool_result": "supported"} {
		if got.result(check) != want {
			t.Errorf("%s: %q", check, got.result(check))
		}
	}
	if r = p.run("-u", server.URL+"/v1", "-m", "scripted", "--thinking", "off", "what is the number?"); r.status != 0 || !off.Load() {
		t.Errorf("%+v", r)
	}
	// The person's word counts more.
	p.settings(`{"providers": {"here": {"base_url": "` + server.URL + `/v1", "model": "scripted", "quirks": {"thinking": "template"}}}}`)
	if r = p.run("-m", "here/scripted", "--thinking", "off", "what is the number?"); r.status != 0 || off.Load() {
		t.Errorf("%+v", r)
	}
	if r = p.run("probe", "-m", "here/scripted"); r.status != 0 || !strings.Contains(r.out, "off is taken, and the model thinks all the same") {
		t.Errorf("%+v", r)
	}
}

// TestProbeStopped: a signal ends a probe at once, and nothing is kept.
func TestProbeStopped(t *testing.T) {
	came := make(chan struct{}, 8)
	s := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // before that, the server does not see that nobody waits
		came <- struct{}{}
		<-r.Context().Done()
	})
	p := newPlace(t)
	x := p.start("probe", "-u", s.URL+"/v1", "-m", "m")
	<-came
	if err := x.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if r := x.wait(); r.status != 130 || len(p.probes()) != 0 || r.out != "" {
		t.Errorf("%+v", r)
	}
}

// png is a picture in a file.
func (p *place) png(name string) {
	p.t.Helper()
	m := image.NewGray(image.Rect(0, 0, 8, 8))
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		p.t.Fatal(err)
	}
	p.write(name, b.String())
}

// sentTo counts the requests for an answer.
func sentTo(s *shop) int {
	asked, _ := s.seen()
	n := 0
	for _, a := range asked {
		if strings.HasPrefix(a, "POST ") {
			n++
		}
	}
	return n
}

// TestProbeAlways: before the first request it is measured what model and server take, together and then apart, once for a base URL and model; a line says
// what came out and what is done about it. None of it is in the history.
//
// covers L224 L225 L226 L227
func TestProbeAlways(t *testing.T) {
	tools := func(body string, q map[string]any) bool { return q["tools"] != nil }
	pictures := func(body string, q map[string]any) bool { return strings.Contains(body, "image_url") }
	both := func(body string, q map[string]any) bool { return tools(body, q) || pictures(body, q) }
	together := func(body string, q map[string]any) bool { return tools(body, q) && pictures(body, q) }
	all := func(string, map[string]any) bool { return true }
	for name, c := range map[string]struct {
		refuse func(string, map[string]any) bool
		status int
		want   string
		first  int  // requests of the probe
		second int  // of that of the next run
		hidden bool // read_image
		inText bool
		last   int // status of the run
	}{
		"all":         {nil, 0, "tools taken; pictures supported", 2, 0, false, false, 0},
		"no tools":    {tools, 400, "tools not supported, so they are described and called in text; pictures supported", 4, 0, false, true, 0},
		"no pictures": {pictures, 400, "tools taken; pictures not supported, so none are sent and read_image is not offered", 4, 0, true, false, 0},
		"neither":     {both, 400, "tools not supported, so they are described and called in text; pictures not supported, so none", 4, 0, true, true, 0},
		"not both":    {together, 400, "tools taken; pictures supported", 4, 0, false, false, 0},
		"busy":        {both, 503, "tools not measured, and taken for supported; pictures not measured, and taken for supported", 4, 4, false, false, 1},
		"nothing":     {all, 500, "not measured, and taken for supported: HTTP 500: no", 1, 1, false, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var came bodies
			s := school(t, pupil, func(body string, q map[string]any) (int, string) {
				came.add(body)
				if c.refuse != nil && c.refuse(body, q) {
					return c.status, "no"
				}
				return 0, ""
			})
			p := newPlace(t)
			p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
			args := []string{"-u", s.URL + "/v1", "-m", "scripted", "--retries", "0", "--probe", "always", "what is the number?"}
			r := p.run(args...)
			r.want(t, c.last)
			line, _, _ := strings.Cut(r.err, "\n")
			if !strings.HasPrefix(line, "overt: probe of scripted: "+c.want) {
				t.Errorf("%q", line)
			}
			if n := sentTo(s); n != c.first+1 {
				t.Errorf("%d requests before that of the task, want %d", n-1, c.first)
			}
			all := came.take()
			last := all[len(all)-1]
			if strings.Contains(last, "read_image") == c.hidden {
				t.Errorf("read_image: %v in %.600s", !c.hidden, last)
			}
			if strings.Contains(last, `"tools":[`) == c.inText {
				t.Errorf("%.600s", last)
			}
			if strings.Contains(last, "7391") || strings.Contains(last, "colour") {
				t.Errorf("the probe is in the history: %s", last)
			}
			before := sentTo(s)
			r = p.run(args...)
			if n := sentTo(s) - before - 1; n != c.second || (c.second == 0) == strings.Contains(r.err, "probe of") {
				t.Errorf("%d requests of a probe: %s", n, r.err)
			}
			p.secretFree(t, "sk-probe-secret-0001")
		})
	}
}

// TestProbeOff: without a probe, and with auto where no picture is sent, the first request is that of the task.
//
// covers L078
func TestProbeOff(t *testing.T) {
	for name, args := range map[string][]string{
		"off": {"--no-probe"}, "off by its name": {"--probe", "off"}, "auto": nil, "switched on again": {"--no-probe=false"},
	} {
		var came bodies
		s := school(t, pupil, func(body string, _ map[string]any) (int, string) { came.add(body); return 0, "" })
		p := newPlace(t)
		p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
		p.settings(`{"probe": "auto"}`)
		p.run(append(args, "-u", s.URL+"/v1", "-m", "scripted", "what is the number?")...).want(t, 0)
		sent := came.take()
		if len(sent) != 1 || !strings.Contains(sent[0], "what is the number?") || len(p.probes()) != 0 {
			t.Errorf("%s: %q", name, sent)
		}
		p.png("a.png")
		p.run(append(args, "-u", s.URL+"/v1", "-m", "scripted", "--image", "a.png", "what is the number?")...).want(t, 0)
		if want := map[bool]int{true: 1, false: 3}[strings.HasPrefix(name, "off")]; len(came.take()) != want {
			t.Errorf("%s: other than %d requests", name, want)
		}
	}
	if r := newPlace(t).run("--probe", "never", "x"); r.status != 2 || !strings.Contains(r.err, "auto, always") {
		t.Errorf("%+v", r)
	}
}

// TestProbePictures: under auto it is looked whether pictures are taken when one is about to be sent and nobody knows.
//
// covers L104
func TestProbePictures(t *testing.T) {
	var came bodies
	type refusal struct {
		of, words string
		status    int
	}
	var refused atomic.Pointer[refusal]
	s := school(t, func(q scripted.Request) scripted.Reply {
		if strings.Contains(q.Last().Content, "look at it") {
			return scripted.Reply{Calls: []scripted.Call{{Name: "read_image", Args: `{"path":"a.png"}`}}}
		}
		return pupil(q)
	}, func(body string, _ map[string]any) (int, string) {
		came.add(body)
		if no := refused.Load(); no != nil && strings.Contains(body, no.of) {
			return no.status, no.words
		}
		return 0, ""
	})
	start := func() (*place, []string) {
		came.take()
		p := newPlace(t)
		p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
		p.png("a.png")
		return p, []string{"-u", s.URL + "/v1", "-m", "scripted", "--retries", "0"}
	}

	// They are: said once, and not asked again.
	p, args := start()
	r := p.run(append(args, "--image", "a.png", "what is the number?")...)
	r.want(t, 0)
	sent := came.take()
	if !strings.Contains(r.err, "overt: probe of scripted: pictures supported\n") || len(sent) != 3 {
		t.Errorf("%s, %d", r.err, len(sent))
	}
	r = p.run(append(args, "--image", "a.png", "what is the number?")...)
	if sent = came.take(); r.status != 0 || strings.Contains(r.err, "probe of") || len(sent) != 1 {
		t.Errorf("%s, %d", r.err, len(sent))
	}

	// They are not: the person's picture is not sent, and neither is one that the model reads.
	refused.Store(&refusal{"image_url", "this model is missing data required for image input", 400})
	p, args = start()
	r = p.run(append(args, "--image", "a.png", "what is the number?")...)
	if sent = came.take(); r.status != 2 || !strings.Contains(r.err, "pictures not supported") || !strings.Contains(r.err, "--image: the model scripted takes no pictures (probe)") || len(sent) != 2 {
		t.Errorf("%+v, %d", r, len(sent))
	}
	p, args = start()
	r = p.run(append(args, "look at it")...)
	r.want(t, 0)
	for _, body := range came.take() {
		if strings.Contains(body, "image_url") && !strings.Contains(body, "Which colour") {
			t.Errorf("a picture was sent: %.300s", body)
		}
	}
	if !strings.Contains(r.err, "a small picture was refused") {
		t.Errorf("%s", r.err)
	}
	p.run(append(args, "what is the number?")...).want(t, 0)
	if sent = came.take(); len(sent) != 1 || strings.Contains(sent[0], "read_image") {
		t.Errorf("%.300q", sent)
	}

	// What can't be told is taken for supported.
	refused.Store(&refusal{"Which colour", "try again later", 503})
	p, args = start()
	r = p.run(append(args, "--image", "a.png", "what is the number?")...)
	if sent = came.take(); r.status != 0 || !strings.Contains(r.err, "pictures not measured, and taken for supported") || !strings.Contains(sent[len(sent)-1], "image_url") {
		t.Errorf("%+v", r)
	}

	// A result that can't be kept is no success.
	refused.Store(nil)
	p, args = start()
	probes := filepath.Join(filepath.Dir(p.dir), "state", "overt", "user", "probes")
	if err := errors.Join(os.MkdirAll(filepath.Dir(probes), 0o700), os.WriteFile(probes, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r = p.run(append(args, "look at it")...)
	if r.status == 0 || !strings.Contains(r.err, "could not be measured and kept") {
		t.Errorf("%+v", r)
	}

	// Who knows better is not asked.
	p, args = start()
	p.settings(`{"providers": {"here": {"base_url": "` + s.URL + `/v1", "models": {"scripted": {"images": true}}}}}`)
	r = p.run(append(args, "--image", "a.png", "what is the number?")...)
	if sent = came.take(); r.status != 0 || strings.Contains(r.err, "probe") || len(sent) != 1 {
		t.Errorf("%+v, %d", r, len(sent))
	}
}

// TestToolsRefusedOnce: a server that refuses tools teaches the program: the next run calls them in text.
func TestToolsRefusedOnce(t *testing.T) {
	var came bodies
	s := school(t, pupil, func(body string, q map[string]any) (int, string) {
		came.add(body)
		if q["tools"] != nil {
			return 400, "registry.ollama.ai/library/scripted:latest does not support tools"
		}
		return 0, ""
	})
	for _, off := range []bool{false, true} {
		came.take()
		p := newPlace(t)
		p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
		args := []string{"-u", s.URL + "/v1", "-m", "scripted", "what is the number?"}
		want, status := "kept: from the next input on", 0
		if off {
			args = append(args, "--no-probe")
			want, status = `"quirks": {"tools": "text"}`, 1
		}
		r := p.run(args...)
		if r.status != 1 || strings.Count(r.err, want) != 1 || len(came.take()) != 1 {
			t.Errorf("%+v", r)
		}
		if r = p.run(args...); r.status != status || !off && r.out != "7391\n" {
			t.Errorf("%+v", r)
		}
	}
}

// TestProbeKept: what was measured can be looked at and forgotten, of one model or of all there, without a request.
func TestProbeKept(t *testing.T) {
	s := school(t, pupil, func(_ string, q map[string]any) (int, string) {
		if q["reasoning_effort"] != nil {
			return 400, "Unrecognized request argument supplied: reasoning_effort"
		}
		return 0, ""
	})
	p := newPlace(t)
	p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
	at := []string{"probe", "-u", s.URL + "/v1"}
	run := func(args ...string) ran { t.Helper(); r := p.run(append(at, args...)...); r.want(t, 0); return r }
	for _, flag := range []string{"--show", "--forget"} {
		if r := run(flag); r.out != "" || !strings.Contains(r.err, "nothing is kept of 127.0.0.1") {
			t.Errorf("%+v", r)
		}
	}
	run("-m", "a")
	run("-m", "b")
	before := sentTo(s)
	r := run("--show")
	for _, want := range []string{"a at " + s.URL + "/v1 (openai-chat), 2", "b at ", "by overt probe: no_effort true, images true\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in %s", want, r.out)
		}
	}
	if r = run("--show", "-m", "b"); strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.out, "b at ") {
		t.Errorf("%s", r.out)
	}
	if r = run("--show", "--protocol", "anthropic-messages"); r.out != "" {
		t.Errorf("%s", r.out)
	}
	var got []struct {
		Model, By string
		Quirks    map[string]any
		Images    *bool
	}
	if r = run("--show", "--json"); json.Unmarshal([]byte(r.out), &got) != nil || len(got) != 2 || got[0].Quirks["no_effort"] != true || got[1].By != "probe" {
		t.Errorf("%s", r.out)
	}
	if r = run("--forget", "-m", "a"); !strings.HasPrefix(r.out, "forgotten: a at ") || len(p.probes()) != 1 {
		t.Errorf("%s", r.out)
	}
	if r = run("--forget"); !strings.HasPrefix(r.out, "forgotten: b at ") || len(p.probes()) != 0 {
		t.Errorf("%s", r.out)
	}
	if r = p.run(append(at, "--show", "--forget")...); r.status != 2 {
		t.Errorf("%+v", r)
	}
	if n := sentTo(s); n != before {
		t.Errorf("%d requests", n-before)
	}
	if r = newPlace(t).run("probe", "--show", "-m", "anthropic/x"); r.status != 0 { // there is no key, and none is needed
		t.Errorf("%+v", r)
	}
}

// TestStreamUsageRefusedOnce: a server that refuses to be asked for the usage of a stream gets the request without, and is not asked again;
// a probe of pictures comes through, too. What else it refuses by name is told with the way to measure it.
func TestStreamUsageRefusedOnce(t *testing.T) {
	var came bodies
	s := school(t, pupil, func(body string, q map[string]any) (int, string) {
		came.add(body)
		switch {
		case q["stream_options"] != nil:
			return 400, "Unrecognized request argument supplied: stream_options"
		case q["reasoning_effort"] != nil:
			return 400, "Unrecognized request argument supplied: reasoning_effort"
		}
		return 0, ""
	})
	for _, c := range []struct {
		args []string
		sent []int // by the first run and the second
	}{{nil, []int{2, 1}}, {[]string{"--no-probe"}, []int{2, 2}}, {[]string{"--image", "a.png"}, []int{4, 1}}} {
		p := newPlace(t)
		p.env = append(p.env, "OVERT_API_KEY=sk-probe-secret-0001")
		p.png("a.png")
		args := append([]string{"-u", s.URL + "/v1", "-m", "scripted", "what is the number?"}, c.args...)
		for _, sent := range c.sent {
			r := p.run(args...)
			r.want(t, 0)
			if n := len(came.take()); n != sent || strings.Contains(r.err, "not measured") {
				t.Errorf("%q: %d requests; %s", c.args, n, r.err)
			}
		}
		r := p.run(append(args, "--effort", "low")...)
		if r.status != 1 || !strings.Contains(r.err, "`overt probe` measures what this server takes") {
			t.Errorf("%+v", r)
		}
		came.take()
	}
}

// TestProbeForms: calls in odd shapes are calls all the same, and it is said in which shape they came.
func TestProbeForms(t *testing.T) {
	for name, c := range map[string]struct {
		next   func(scripted.Request) scripted.Reply
		change func(string) string
		check  string
		result string
		text   string
		quirks string
	}{
		"every call has the index 0": {
			pupil, func(s string) string {
				return strings.ReplaceAll(s, `"tool_calls":[{"index":1,`, `"tool_calls":[{"index":0,`)
			},
			"parallel_calls", "supported", "without an index each", `{}`,
		},
		"calls in the text": {func(q scripted.Request) scripted.Reply {
			if text := q.Last().Content; strings.Contains(text, "lookup_number") && !strings.Contains(text, "4086") {
				return scripted.Reply{Text: "<tool_call>\n{\"name\": \"lookup_number\", \"arguments\": {\"name\": \"alpha\"}}\n</tool_call>"}
			}
			return pupil(q)
		}, nil, "tools", "supported", "in the text of the answer", `{"text_calls":["auto"]}`},
		"no usage": {pupil, func(s string) string { return strings.ReplaceAll(s, `"usage":{`, `"used":{`) }, "stream_usage", "not", "counts no tokens", `{}`},
		"no limit is obeyed": {func(q scripted.Request) scripted.Reply {
			if strings.Contains(q.Last().Content, "Count from") {
				return scripted.Reply{Text: "1\n2\n3", Usage: &scripted.Usage{Prompt: 40, Completion: 600}}
			}
			return pupil(q)
		}, nil, "length", "not", "the limit was 16 tokens, and the answer has 600", `{}`},
		"an odd end": {func(q scripted.Request) scripted.Reply {
			r := pupil(q)
			if r.Finish == "" && len(r.Calls) == 0 {
				r.Finish = "enough_said"
			}
			return r
		}, nil, "stop_reasons", "not", "enough_said", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted.New(scripted.Script{Next: c.next})
			server := openShop(t, nil, func(w http.ResponseWriter, r *http.Request) {
				if c.change == nil {
					s.ServeHTTP(w, r)
					return
				}
				seen := httptest.NewRecorder()
				s.ServeHTTP(seen, r)
				w.Header().Set("Content-Type", seen.Header().Get("Content-Type"))
				w.WriteHeader(seen.Code)
				io.WriteString(w, c.change(seen.Body.String()))
			})
			p := newPlace(t)
			p.settings(`{"providers": {"here": {"base_url": "` + server.URL + `/v1", "quirks": {"text_calls": []}}}}`)
			got, r := p.probe("-m", "here/scripted")
			r.want(t, 0)
			quirks, err := json.Marshal(got.Quirks)
			if err != nil || got.result(c.check) != c.result || string(quirks) != c.quirks || !strings.Contains(r.out, c.text) {
				t.Errorf("%s %s %v\n%s", got.result(c.check), quirks, err, r.out)
			}
		})
	}
}
