// Package scripted is a model server that follows a script: the other side of the wire for tests and for the demo.
//
// Write a [Script], make a [Server] of it with [New], and use it as an [http.Handler] or call [Server.Start]. It speaks
// POST /v1/chat/completions, streaming and not, and GET /v1/models, and it is as strict as the real services: a request
// that one of them would refuse gets status 400 with the words of OpenAI's API, and takes no reply from the script.
// [Server.Log] gives every exchange as bytes.
//
// It has no opinion and no model: the same requests give the same replies, byte for byte. It shares no code with the
// client side. A Server may be used by several goroutines; replies are then taken in order of arrival.
package scripted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Script is what a server says.
type Script struct {
	Replies []Reply // one for each valid chat request, in order; after the last one a request gets status 500
	// Next, if not nil, is asked instead of Replies. Calls of it do not overlap.
	Next func(Request) Reply
	// Key, if not empty, must come as a bearer token, else the answer is 401.
	Key string
	// Alternate refuses histories that the chat templates of some models refuse: see alternate.
	Alternate bool
	Models    []string // what GET /v1/models lists; any model is served all the same. Default: "scripted"
}

// Reply is one answer. The zero value is an empty text that stopped.
type Reply struct {
	Text, Reasoning string
	Calls           []Call
	Finish          string // default: tool_calls if there are Calls, else stop
	Usage           *Usage // default: a quarter of the bytes of request and answer

	// Status and Body make the answer raw: Body is sent as it is. A Body without a Status has status 200.
	Status int
	Body   string
	Header http.Header // added to the answer's header

	// Cut, if above 0, drops the connection after so many chunks of a stream, or in the middle of any other answer.
	Cut int
	// Hold, if not nil, keeps the second half of the answer back until it is closed or the client is gone.
	Hold <-chan struct{}
}

// Call is a tool call. An empty ID is filled in: call_1 and so on, counted by the server.
type Call struct{ ID, Name, Args string }

// Usage is in tokens. Prompt includes Cached.
type Usage struct{ Prompt, Cached, Completion int }

// Exchange is one request and its answer as they were on the wire, without the header of the answer's transfer coding.
type Exchange struct {
	Method, Path string
	Header       http.Header
	Request      []byte
	Status       int
	Response     []byte
}

// Server follows a script. See [New].
type Server struct {
	script Script

	mu    sync.Mutex // guards what follows, and calls of Next
	next  int        // into script.Replies
	calls int        // ids given out
	chats int        // ids of completions given out
	log   []*Exchange
	http  *http.Server
	done  chan struct{}
}

// New makes a server that is ready to be used as a handler.
func New(s Script) *Server {
	if len(s.Models) == 0 {
		s.Models = []string{"scripted"}
	}
	return &Server{script: s}
}

// Start listens on a free port of 127.0.0.1 and returns the base URL, which ends in /v1. Call Close afterwards.
func (s *Server) Start() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		l.Close()
		return "", errors.New("the server was started before")
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.done = make(chan struct{})
	go func(h *http.Server, done chan struct{}) {
		defer close(done)
		h.Serve(l) // returns when Close is called
	}(s.http, s.done)
	return fmt.Sprintf("http://%s/v1", l.Addr()), nil
}

// Close ends a started server and drops its connections. It does nothing for one that was not started.
func (s *Server) Close() error {
	s.mu.Lock()
	h, done := s.http, s.done
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	err := h.Close()
	<-done
	return err
}

// Log gives all exchanges so far in order of arrival. An answer that is still being sent is given as far as it is.
func (s *Server) Log() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Exchange, len(s.log))
	for i, x := range s.log {
		out[i] = *x
		out[i].Response = bytes.Clone(x.Response)
	}
	return out
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	x := &Exchange{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Request: body}
	s.mu.Lock()
	s.log = append(s.log, x)
	s.mu.Unlock()
	out := &writer{s: s, x: x, w: w, ctx: r.Context()}
	if err != nil {
		out.fail(&problem{status: 413, message: "The request body is too large or was cut"})
		return
	}
	if s.script.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.script.Key {
		out.fail(&problem{status: 401, code: "invalid_api_key", message: "Incorrect API key provided"})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/chat/completions":
		s.chat(out, body)
	case "GET /v1/models":
		out.json(200, modelList(s.script.Models))
	default:
		out.fail(&problem{status: 404, message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)})
	}
}

func (s *Server) chat(out *writer, body []byte) {
	req, p := parse(body)
	if p == nil && s.script.Alternate {
		p = alternate(req.Messages)
	}
	if p != nil {
		out.fail(p)
		return
	}
	reply, id, ok := s.choose(req)
	if !ok {
		out.fail(&problem{status: 500, kind: "server_error", code: "script_used_up", message: "script is used up"})
		return
	}
	for k, v := range reply.Header {
		out.w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	switch {
	case reply.Status != 0 || reply.Body != "":
		out.raw(reply)
	case req.Stream:
		out.stream(chunks(reply, req, id), reply)
	default:
		out.whole(completion(reply, req, id), reply)
	}
}

// choose takes the next reply and completes it.
func (s *Server) choose(req Request) (Reply, string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r Reply
	switch {
	case s.script.Next != nil:
		r = s.script.Next(req)
	case s.next < len(s.script.Replies):
		r = s.script.Replies[s.next]
		s.next++
	default:
		return Reply{}, "", false
	}
	s.chats++
	r.Calls = append([]Call(nil), r.Calls...)
	for i := range r.Calls {
		if r.Calls[i].ID == "" {
			s.calls++
			r.Calls[i].ID = fmt.Sprintf("call_%d", s.calls)
		}
	}
	if r.Finish == "" {
		r.Finish = "stop"
		if len(r.Calls) > 0 {
			r.Finish = "tool_calls"
		}
	}
	if r.Usage == nil {
		r.Usage = &Usage{Prompt: req.Bytes/4 + 1, Completion: size(r)/4 + 1}
	}
	return r, fmt.Sprintf("chatcmpl-scripted-%d", s.chats), true
}

func size(r Reply) int {
	n := len(r.Text) + len(r.Reasoning)
	for _, c := range r.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}

// writer sends an answer and logs it.
type writer struct {
	s   *Server
	x   *Exchange
	w   http.ResponseWriter
	ctx context.Context
}

func (o *writer) head(status int, contentType string) {
	if o.w.Header().Get("Content-Type") == "" {
		o.w.Header().Set("Content-Type", contentType)
	}
	o.s.mu.Lock()
	o.x.Status = status
	o.s.mu.Unlock()
	o.w.WriteHeader(status)
}

// send writes and flushes. It logs first: what the client has read is then always in the log.
func (o *writer) send(b []byte) {
	o.s.mu.Lock()
	o.x.Response = append(o.x.Response, b...)
	o.s.mu.Unlock()
	o.w.Write(b)
	http.NewResponseController(o.w).Flush()
}

func (o *writer) json(status int, body []byte) {
	o.head(status, "application/json")
	o.send(body)
}

func (o *writer) fail(p *problem) { o.json(p.status, p.body()) }

func (o *writer) raw(r Reply) {
	status := r.Status
	if status == 0 {
		status = 200
	}
	contentType := "application/json"
	if bytes.HasPrefix([]byte(r.Body), []byte("data:")) {
		contentType = "text/event-stream"
	}
	o.head(status, contentType)
	o.halves([]byte(r.Body), r)
}

// whole sends an answer that is not a stream.
func (o *writer) whole(body []byte, r Reply) {
	if r.Cut > 0 {
		o.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	o.head(200, "application/json")
	o.halves(body, r)
}

func (o *writer) halves(body []byte, r Reply) {
	half := len(body) / 2
	if r.Cut > 0 || r.Hold != nil {
		o.send(body[:half])
		o.wait(r)
		body = body[half:]
	}
	o.send(body)
}

// stream sends events, then the end mark.
func (o *writer) stream(events [][]byte, r Reply) {
	o.w.Header().Set("Cache-Control", "no-cache")
	o.head(200, "text/event-stream")
	for i, e := range events {
		if r.Cut > 0 && i == r.Cut {
			o.wait(r)
		}
		if r.Cut == 0 && r.Hold != nil && i == len(events)/2 {
			o.wait(r)
		}
		o.send(e)
	}
	if r.Cut > 0 && r.Cut >= len(events) {
		o.wait(r)
	}
}

// wait holds the answer as its reply says, and drops the connection if that says so.
func (o *writer) wait(r Reply) {
	if r.Hold != nil {
		select {
		case <-r.Hold:
		case <-o.ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}
	if r.Cut > 0 {
		panic(http.ErrAbortHandler) // the way to break a connection that net/http documents
	}
}
