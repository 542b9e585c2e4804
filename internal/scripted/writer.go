package scripted

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

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

func (o *writer) fail(d dialect, p *problem) { o.json(p.status, d.refusal(p)) }

func (o *writer) raw(r Reply) {
	status := r.Status
	if status == 0 {
		status = 200
	}
	contentType := "application/json"
	if strings.HasPrefix(r.Body, "data:") || strings.HasPrefix(r.Body, "event:") {
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
