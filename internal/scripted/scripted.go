// Package scripted is a model server that follows a script: the other side of the wire for tests and for the demo.
//
// Write a [Script], make a [Server] of it with [New], and use it as an [http.Handler] or call [Server.Start]. It speaks
// OpenAI's Chat Completions (POST /v1/chat/completions) and Responses (/v1/responses) and Anthropic's Messages
// (/v1/messages), streaming and not, and GET /v1/models. One script serves all of them. It is as strict as the real
// services: a request that one of them would refuse gets status 400 with the words of that vendor, and takes no reply from
// the script. What a reply has signed or sealed must come back as it was, as far as the vendor insists on it.
// [Server.Log] gives every exchange as bytes.
//
// It has no opinion and no model: the same requests give the same replies, byte for byte. It shares no code with the
// client side. A Server may be used by several goroutines; replies are then taken in order of arrival.
package scripted

import (
	"bytes"
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
	// Seal is what must come back beside the reasoning: the signature of Messages, the encrypted content of Responses. Chat
	// Completions has none. Default: made up for each reply that has Reasoning.
	Seal    string
	Phase   string // of Responses: commentary or final_answer
	Refusal bool   // Text says why the model refuses
	Calls   []Call
	// Finish is in the words of Chat Completions, which are put into those of the protocol as far as it has one for them.
	// Default: tool_calls if there are Calls, refusal for a Refusal in Messages, else stop.
	Finish string
	Usage  *Usage // default: a quarter of the bytes of request and answer

	// Fault makes the answer an error in the vendor's form.
	Fault *Fault
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

// Usage is in tokens. Prompt includes Cached and Written, Completion includes Reasoning.
type Usage struct{ Prompt, Cached, Written, Completion, Reasoning int }

// Fault is an error. One without a Status comes inside an answer of status 200: in a stream after text and reasoning, in
// place of the end, and else as the whole document.
type Fault struct {
	Status              int
	Kind, Code, Message string // Kind: the vendor's type; default: what fits the status
}

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

	mu     sync.Mutex // guards what follows, and calls of Next
	next   int        // into script.Replies
	calls  int        // ids given out
	chats  int        // ids of answers given out
	sealed sealed
	log    []*Exchange
	http   *http.Server
	done   chan struct{}
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
	d := dialectOf(r)
	if err != nil {
		out.fail(d, &problem{status: 413, message: "The request body is too large or was cut"})
		return
	}
	if s.script.Key != "" && !d.authorized(r.Header, s.script.Key) {
		out.fail(d, &problem{status: 401, code: "invalid_api_key", message: "Incorrect API key provided"})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST " + d.path():
		s.serve(d, out, body, r.Header)
	case "GET /v1/models":
		out.json(200, d.models(s.script.Models))
	default:
		out.fail(d, &problem{status: 404, message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)})
	}
}

func (s *Server) serve(d dialect, out *writer, body []byte, header http.Header) {
	s.mu.Lock()
	known := s.sealed.clone()
	s.mu.Unlock()
	req, p := d.parse(body, header, known)
	if p == nil && s.script.Alternate {
		p = alternate(req.Messages)
	}
	if p != nil {
		out.fail(d, p)
		return
	}
	reply, id, ok := s.choose(d, req)
	if !ok {
		out.fail(d, &problem{status: 500, code: "script_used_up", message: "script is used up"})
		return
	}
	for k, v := range reply.Header {
		out.w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	fault := reply.Fault
	switch {
	case reply.Status != 0 || reply.Body != "":
		out.raw(reply)
	case fault != nil && (fault.Status != 0 || !req.Stream):
		p := &problem{status: fault.Status, kind: fault.Kind, code: fault.Code, message: fault.Message}
		if p.status == 0 {
			out.json(200, d.refusal(p))
			return
		}
		out.fail(d, p)
	case req.Stream:
		out.stream(d.events(reply, req, id), reply)
	default:
		out.whole(d.whole(reply, req, id), reply)
	}
}

// choose takes the next reply and completes it.
func (s *Server) choose(d dialect, req Request) (Reply, string, bool) {
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
	switch {
	case r.Finish != "":
	case len(r.Calls) > 0:
		r.Finish = "tool_calls"
	default:
		r.Finish = "stop"
	}
	if r.Usage == nil {
		r.Usage = &Usage{Prompt: req.Bytes/4 + 1, Completion: size(r)/4 + 1}
	}
	id := fmt.Sprintf("%s%d", d.prefix(), s.chats)
	if r.Reasoning != "" && r.Seal == "" {
		r.Seal = "c2VhbCBvZiA" + id // it looks like what vendors send, and nothing can be read from it
	}
	s.sealed.add(req.Model, id, r)
	return r, id, true
}

func size(r Reply) int {
	n := len(r.Text) + len(r.Reasoning)
	for _, c := range r.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}
