//go:build realserver

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// startLlama starts llama.cpp's server, which scripts/llama-server has built, with a model of random weights, and gives its
// address.
func startLlama(t *testing.T) string {
	t.Helper()
	base, err := filepath.Abs("../../.cache/peers/llama")
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model.gguf")
	models := filepath.Join(base, "sources", "models")
	// A small vocabulary is quick. Of its tokens, the first ones of a call follow each other: the server's grammar begins
	// after them. The template is another model's, with its marks.
	gguf := exec.Command("go", "run", "overt/peers/gguf", "-out", model, "-scale", "0.02",
		"-vocab", filepath.Join(models, "ggml-vocab-phi-3.gguf"), "-template", filepath.Join(models, "templates", "Qwen-Qwen3-0.6B.jinja"),
		"-rename", "32001=<|im_start|> 32007=<|im_end|> 32002=<tool_call> 32003=</tool_call> 32004=<tool_response> 32005=</tool_response> 32008=<think> 32009=</think>",
		"-bigram", `<tool_call>~<0x0A>=14 </tool_call>~<|im_end|>=6 <0x0A>~{"=12 {"~name=12 name~":=12 ":~▁"=10`,
		"-bias", `<tool_call>=5 <|im_end|>=2.8 "=3.5 "}=3 }}=3 }=3`)
	if out, err := gguf.CombinedOutput(); err != nil {
		t.Fatalf("no model: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free now
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	c := exec.Command(filepath.Join(base, "server", "llama-server"), "-m", model, "--host", "127.0.0.1", "--port", port,
		"-c", "65536", "-np", "2", "-t", "2", "--offline", "--alias", "random", "--jinja")
	out := &lockedBuffer{}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }()
	t.Cleanup(func() {
		select {
		case <-ended:
			t.Errorf("the server ended by itself: %s", out)
		default:
		}
		c.Process.Kill()
		<-ended
	})
	url := "http://127.0.0.1:" + port
	eventually(t, "the server is ready", func() bool {
		r, err := http.Get(url + "/health")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == 200
	})
	return url
}

// watched is a request to a server that is watched, with the status of its answer.
type watched struct {
	path   string
	body   []byte
	status int
}

// watch passes requests on to a server and remembers them.
type watch struct {
	url  string
	mu   sync.Mutex
	list []watched
}

func watchServer(t *testing.T, server string) *watch {
	t.Helper()
	to, err := neturl.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		status := &statusWriter{ResponseWriter: out}
		proxy.ServeHTTP(status, r)
		if r.Method == http.MethodPost {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.list = append(w.list, watched{r.URL.Path, body, status.status})
		}
	}))
	t.Cleanup(front.Close)
	w.url = front.URL
	return w
}

func (w *watch) requests() []watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets [http.ResponseController] reach what is below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// pairs says what is wrong with the calls and results of a request, in whichever protocol; "": nothing.
func pairs(body []byte) string {
	type item struct {
		Type, ID, Role, Arguments string
		CallID                    string          `json:"call_id"`
		ToolCallID                string          `json:"tool_call_id"`
		ToolUseID                 string          `json:"tool_use_id"`
		Input, Content            json.RawMessage // of a block; of a message
		ToolCalls                 []struct {
			ID       string
			Function struct{ Arguments string }
		} `json:"tool_calls"`
	}
	var r struct{ Messages, Input []item }
	if err := json.Unmarshal(body, &r); err != nil {
		return err.Error()
	}
	var open []string
	problem := ""
	call := func(id, arguments string) {
		var v map[string]any
		if err := json.Unmarshal([]byte(arguments), &v); err != nil || id == "" {
			problem = fmt.Sprintf("call %q has the arguments %q", id, arguments)
		}
		open = append(open, id)
	}
	result := func(id string) {
		i := slices.Index(open, id)
		if i < 0 {
			problem = fmt.Sprintf("a result for %q; waiting are %q", id, open)
			return
		}
		open = slices.Delete(open, i, i+1)
	}
	for _, m := range append(r.Messages, r.Input...) {
		var blocks []item
		json.Unmarshal(m.Content, &blocks) // a text is none
		if m.Role == "user" && len(open) > 0 && !slices.ContainsFunc(blocks, func(b item) bool { return b.Type == "tool_result" }) {
			problem = fmt.Sprintf("%q have no result before the next input", open)
		}
		for _, c := range m.ToolCalls {
			call(c.ID, c.Function.Arguments)
		}
		for _, b := range append(blocks, m) {
			switch {
			case b.Type == "tool_use":
				call(b.ID, string(b.Input))
			case b.Type == "function_call":
				call(b.CallID, b.Arguments)
			case b.Type == "tool_result":
				result(b.ToolUseID)
			case b.Type == "function_call_output":
				result(b.CallID)
			case b.Role == "tool":
				result(b.ToolCallID)
			}
		}
	}
	if problem == "" && len(open) > 0 {
		problem = fmt.Sprintf("%q have no result", open)
	}
	return problem
}

// TestRealServer: a task of ten turns and more against llama.cpp's server, in each of its dialects. Its model is random: it
// calls tools with absurd arguments, breaks off in the midst of a call, and says nothing of sense. The program must not
// crash, must send histories in which every call has its result, and must not go on for ever. This says nothing about
// whether a real model finishes a task.
func TestRealServer(t *testing.T) {
	url := startLlama(t)
	for protocol, path := range map[string]string{"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic-messages": "/v1/messages"} {
		t.Run(protocol, func(t *testing.T) {
			seen := watchServer(t, url)
			p := newPlace(t)
			p.write("notes.txt", strings.Repeat("a line of notes\n", 30))
			began := time.Now()
			const turns, inputs, steps, retries = 10, 20, 6, 2
			completed, ran, input := 0, 0, 0
			for ; input < inputs && completed < turns; input++ {
				args := []string{
					"-u", seen.url + "/v1", "--protocol", protocol, "-m", "random", "--permission", "plan", "--deny", "run_command",
					"--max-tokens", "250", "--max-steps", fmt.Sprint(steps), "--retries", fmt.Sprint(retries),
				}
				if input > 0 {
					args = append(args, "--continue")
				}
				// The server may compute for minutes where the machine has much else to do, so nothing but go test bounds this.
				c := p.command(append(args, "Read the notes and say what they are about.")...)
				out, err := c.CombinedOutput()
				if status := c.ProcessState.ExitCode(); !slices.Contains([]int{0, 1, 6}, status) || strings.Contains(string(out), "goroutine ") {
					t.Fatalf("status %d, %v: %s", status, err, out)
				}
				completed, ran = 0, 0
				for _, e := range p.show().Events {
					switch e.Kind {
					case "call.completed":
						completed++
					case "tool.completed":
						ran++
					}
				}
			}
			requests := seen.requests()
			if completed < turns {
				t.Errorf("%d answers in %d inputs; want %d", completed, input, turns)
			}
			if ran < turns {
				t.Errorf("%d calls of tools, want %d", ran, turns)
			}
			if most := input * steps * (retries + 1); len(requests) > most {
				t.Errorf("%d requests, want %d at most", len(requests), most)
			}
			for i, r := range requests {
				if r.path != path {
					t.Errorf("request %d went to %s", i, r.path)
				}
				if problem := pairs(r.body); problem != "" {
					t.Errorf("request %d: %s\n%s", i, problem, r.body)
				}
				if r.status != 200 {
					t.Errorf("request %d was answered with %d", i, r.status)
				}
			}
			p.run("db", "check").want(t, 0)
			t.Logf("%s: %d inputs, %d requests, %d answers, %d calls of tools, %d s", protocol, input, len(requests), completed, ran, int(time.Since(began).Seconds()))
		})
	}
}
