//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// script is what the model says: step n of 1 to steps asks for a command, the request after the last one gets the answer.
type script struct {
	steps   int
	text    func(n int) string // said beside the call of step n; nil: nothing
	command func(n int) string
	answer  []byte // the last reply, rendered
	live    bool   // each event leaves by itself, as from a real model; else a reply is one write
}

// request is one request as the server saw it.
type request struct {
	bytes    int
	arrived  time.Time // its last byte was read
	answered time.Time // the last byte of the reply was written
}

// server is the model of the benchmark. It does as little as it can: what it says is rendered beforehand or cheap, and
// it finds out where a task stands by counting the results in a request.
type server struct {
	http *httptest.Server

	mu      sync.Mutex
	scripts map[string]script
	seen    map[string][]request
	buffers sync.Pool
}

func newServer() *server {
	s := &server{scripts: map[string]script{}, seen: map[string][]request{}}
	s.buffers.New = func() any { return new(bytes.Buffer) }
	s.http = httptest.NewServer(s)
	return s
}

// serve gives the base URL under which a script is told.
func (s *server) serve(name string, sc script) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[name] = sc
	return s.http.URL + "/" + name + "/v1"
}

// take gives the requests for a script since the last time.
func (s *server) take(name string) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen[name]
	delete(s.seen, name)
	return out
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	sc, ok := s.scripts[name]
	s.mu.Unlock()
	body := s.buffers.Get().(*bytes.Buffer)
	defer s.buffers.Put(body)
	body.Reset()
	if _, err := io.Copy(body, r.Body); err != nil || !ok {
		http.Error(w, "no such script", http.StatusNotFound)
		return
	}
	q := request{bytes: body.Len(), arrived: time.Now()}
	reply := sc.reply(bytes.Count(body.Bytes(), []byte(`"role":"tool"`)))
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	if sc.live {
		for len(reply) > 0 {
			n := bytes.Index(reply, []byte("\n\n")) + 2
			w.Write(reply[:n]) // a client that went away is seen by what it measured
			out.Flush()
			reply = reply[n:]
		}
	} else {
		w.Write(reply)
		out.Flush()
	}
	q.answered = time.Now()
	s.mu.Lock()
	s.seen[name] = append(s.seen[name], q)
	s.mu.Unlock()
}

func (sc script) reply(results int) []byte {
	if results >= sc.steps {
		return sc.answer
	}
	n := results + 1
	var b bytes.Buffer
	if sc.text != nil {
		deltas(&b, sc.text(n), 4)
	}
	args := quote(`{"command":` + quote(sc.command(n)) + `}`)
	chunk(&b, `{"tool_calls":[{"index":0,"id":"call_`+strconv.Itoa(n)+`","type":"function","function":{"name":"run_command","arguments":`+args+`}}]}`, "null")
	chunk(&b, `{}`, `"tool_calls"`)
	end(&b)
	return b.Bytes()
}

// answer renders a final answer in deltas of so many bytes of ASCII text.
func answer(text string, size int) []byte {
	var b bytes.Buffer
	deltas(&b, text, size)
	chunk(&b, `{}`, `"stop"`)
	end(&b)
	return b.Bytes()
}

func deltas(b *bytes.Buffer, text string, size int) {
	for text != "" {
		n := min(size, len(text))
		chunk(b, `{"content":`+quote(text[:n])+`}`, "null")
		text = text[n:]
	}
}

func chunk(b *bytes.Buffer, delta, finish string) {
	fmt.Fprintf(b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
}

func end(b *bytes.Buffer) {
	b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}` + "\n\ndata: [DONE]\n\n")
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}
