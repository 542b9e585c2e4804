package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// strictServer is a model server for the tests of the whole program. It shares no code with it: what it checks was
// written from the published rules of the large services, and it keeps what it received and sent, to the byte.
type strictServer struct {
	URL string // base URL, ending in /v1

	key  string // bearer key that it wants; "": none
	next func(r strictRequest, n int) (strictReply, bool)
	http *http.Server

	mu  sync.Mutex
	log []*strictExchange
}

// strictReply is one answer of the script, as scripts write it in JSON.
type strictReply struct {
	Text      string       `json:"text"`
	Reasoning string       `json:"reasoning"`
	Calls     []strictCall `json:"calls"`
	Finish    string       `json:"finish"` // default: what fits

	Status int               `json:"status"` // not 0: a raw answer, of this status, header and body
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`

	CutAfter int  `json:"cut_after"` // drop the connection after so many bytes of the body
	Hang     bool `json:"hang"`      // after the text, send nothing more until the client leaves
	Piece    int  `json:"piece"`     // bytes that are written at once; 0 is 37
	Repeat   int  `json:"repeat"`    // give this answer so many times; 0 is once
}

type strictCall struct {
	ID   string `json:"id"` // default: drawn by the server
	Name string `json:"name"`
	Args any    `json:"args"` // an object, or a text that is sent as it stands
}

// strictExchange is one request and its answer, as far as it has been sent.
type strictExchange struct {
	Header   http.Header
	Request  []byte
	Status   int
	Response []byte
	Problem  string // why the request was refused; "": it was valid
	Done     bool   // the answer is complete, or the client has left
	Hung     bool   // the answer was never to be complete
}

// startStrict starts a server that gives the replies one after another.
func startStrict(t testing.TB, key string, replies ...strictReply) *strictServer {
	t.Helper()
	var all []strictReply
	for _, r := range replies {
		for range max(r.Repeat, 1) {
			all = append(all, r)
		}
	}
	var mu sync.Mutex
	return serveStrict(t, key, func(strictRequest, int) (strictReply, bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 {
			return strictReply{}, false
		}
		r := all[0]
		all = all[1:]
		return r, true
	})
}

// startStrictFunc starts a server whose replies are made from the requests; n is the number of the request from 1.
func startStrictFunc(t testing.TB, next func(r strictRequest, n int) (strictReply, bool)) *strictServer {
	t.Helper()
	return serveStrict(t, "", next)
}

func serveStrict(t testing.TB, key string, next func(strictRequest, int) (strictReply, bool)) *strictServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &strictServer{URL: "http://" + l.Addr().String() + "/v1", key: key, next: next}
	s.http = &http.Server{Handler: s}
	go s.http.Serve(l)
	t.Cleanup(func() { s.http.Close() })
	return s
}

// exchanges gives what happened so far, in the order in which the requests came.
func (s *strictServer) exchanges() []strictExchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]strictExchange, len(s.log))
	for i, x := range s.log {
		out[i] = *x
	}
	return out
}

// valid fails the test for every request that was refused.
func (s *strictServer) valid(t testing.TB) {
	t.Helper()
	for i, x := range s.exchanges() {
		if x.Problem != "" {
			t.Errorf("request %d was refused: %s\n%s", i+1, x.Problem, x.Request)
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *strictServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		http.Error(w, `{"error":{"message":"Not found","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	x := &strictExchange{Header: r.Header.Clone(), Request: body}
	var req strictRequest
	status, problem := s.check(r, body, &req)
	x.Problem = problem
	s.mu.Lock()
	s.log = append(s.log, x)
	n := len(s.log)
	s.mu.Unlock()
	defer s.note(func() { x.Done = true })

	if problem != "" {
		s.send(w, r, x, strictReply{Status: status, Body: mustJSON(map[string]any{"error": map[string]any{
			"message": problem, "type": "invalid_request_error", "param": nil, "code": nil,
		}})})
		return
	}
	reply, ok := s.next(req, n)
	if !ok {
		s.note(func() { x.Problem = "the script is used up" })
		reply = strictReply{Status: 400, Body: `{"error":{"message":"the script is used up","type":"invalid_request_error"}}`}
	}
	if reply.Status == 0 {
		reply.Status = http.StatusOK
		if req.Stream {
			reply.Header = map[string]string{"Content-Type": "text/event-stream"}
			reply.Body = stream(n, reply, req.StreamOptions != nil && req.StreamOptions.IncludeUsage)
		} else {
			reply.Body = whole(n, reply)
		}
	}
	s.send(w, r, x, reply)
}

func (s *strictServer) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// send writes an answer in small pieces and keeps what was written.
func (s *strictServer) send(w http.ResponseWriter, r *http.Request, x *strictExchange, reply strictReply) {
	w.Header().Set("Content-Type", "application/json")
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	s.note(func() { x.Status, x.Hung = reply.Status, reply.Hang })
	w.WriteHeader(reply.Status)
	body := []byte(reply.Body)
	if reply.CutAfter > 0 {
		body = body[:min(reply.CutAfter, len(body))]
	}
	piece := reply.Piece
	if piece == 0 {
		piece = 37
	}
	for len(body) > 0 {
		n := min(piece, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		s.note(func() { x.Response = append(x.Response, body[:n]...) })
		w.(http.Flusher).Flush()
		body = body[n:]
	}
	if reply.Hang {
		<-r.Context().Done()
	}
	if reply.CutAfter > 0 {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close() // without the last chunk of the transfer coding
		}
	}
}

// stream is an answer as server-sent events, cut into small deltas.
func stream(n int, r strictReply, usage bool) string {
	var b strings.Builder
	chunk := func(delta map[string]any, finish any) {
		fmt.Fprintf(&b, "data: %s\n\n", mustJSON(map[string]any{
			"id": fmt.Sprintf("c%d", n), "object": "chat.completion.chunk", "created": 1, "model": "strict",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(r.Reasoning, 7) {
		chunk(map[string]any{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(r.Text, 5) {
		chunk(map[string]any{"content": p}, nil)
	}
	if r.Hang {
		return b.String()
	}
	for i, c := range r.Calls {
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": callID(n, i, c), "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""},
		}}}, nil)
		for _, p := range pieces(argsText(c.Args), 11) {
			chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p}}}}, nil)
		}
	}
	chunk(map[string]any{}, finish(r))
	if usage {
		fmt.Fprintf(&b, "data: %s\n\n", mustJSON(map[string]any{"id": fmt.Sprintf("c%d", n), "choices": []any{}, "usage": usageOf(r)}))
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// whole is an answer in one JSON document.
func whole(n int, r strictReply) string {
	m := map[string]any{"role": "assistant", "content": r.Text}
	if r.Reasoning != "" {
		m["reasoning_content"] = r.Reasoning
	}
	var calls []any
	for i, c := range r.Calls {
		calls = append(calls, map[string]any{
			"id": callID(n, i, c), "type": "function", "function": map[string]any{"name": c.Name, "arguments": argsText(c.Args)},
		})
	}
	if calls != nil {
		m["tool_calls"] = calls
		if r.Text == "" {
			m["content"] = nil
		}
	}
	return mustJSON(map[string]any{
		"id": fmt.Sprintf("c%d", n), "object": "chat.completion", "created": 1, "model": "strict", "usage": usageOf(r),
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish(r)}},
	})
}

func usageOf(r strictReply) map[string]any {
	out := len(r.Text)/4 + 1
	return map[string]any{
		"prompt_tokens": 100, "completion_tokens": out, "total_tokens": 100 + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": 64},
	}
}

func finish(r strictReply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func callID(n, i int, c strictCall) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d_%d", n, i)
}

func argsText(args any) string {
	if s, ok := args.(string); ok {
		return s
	}
	if args == nil {
		return "{}"
	}
	return mustJSON(args)
}

// pieces cuts a text into pieces of n bytes, at borders of characters.
func pieces(s string, n int) (out []string) {
	for s != "" {
		k := min(n, len(s))
		for k < len(s) && !utf8.RuneStart(s[k]) {
			k++
		}
		out, s = append(out, s[:k]), s[k:]
	}
	return out
}

func mustJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
