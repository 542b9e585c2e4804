package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// drainTime is how long Close waits for what is left of a body: the end of the last chunk usually comes with the last
// event, and reading it keeps the record whole and the connection usable.
const drainTime = 250 * time.Millisecond

// maxDrain is how many bytes that may be: a reply that does not end is not read to its limit for the record's sake.
const maxDrain = 256 << 10

// Response is the reply to a request. Body must be closed. Its reads fail with *[Error] only, or [io.EOF].
type Response struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
	x      *exchange
}

// Exchange tells what was stored of an exchange, and its times.
type Exchange struct {
	Request, Response Kept
	FirstByte         time.Duration // from sending to the first byte of the body; 0: none came
	Duration          time.Duration // from sending to the end
}

// Kept gives the figures of the exchange. They are complete once the body has ended or was closed.
func (r *Response) Kept() Exchange { return r.x.kept }

// Do sends one request and returns with the header of its reply.
//
// Before the first byte leaves, the sink has stored the request. Whatever happens then, the sink gets the end: when the
// body has been read to its end, when it is closed, or before Do returns with an error. A sink that fails fails the
// exchange, with Kind [Record].
//
// The Response is never nil. Beside an error, which is always an *[Error], it is closed and tells by Kept what was
// stored. Redirects are such errors: a POST that is sent on silently loses its body or its key. Any other status is a
// reply. The transport never sends a request twice.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{c: c, ctx: ctx, cancel: cancel, id: r.ID}
	resp := &Response{Header: http.Header{}, Body: x, x: x}
	req, err := c.request(ctx, r)
	if err == nil {
		err = x.begin(r, req)
	}
	if err != nil {
		x.ended, x.err = true, err
		cancel(nil)
		return resp, err
	}
	if d := c.o.Timeout; d > 0 {
		x.whole = time.AfterFunc(d, func() {
			cancel(&Error{Kind: Expired, Message: fmt.Sprintf("no whole answer came within %s", d)})
		})
	}
	addAuth(req, r.Auth)
	h, err := c.roundTrip(req)
	if err != nil {
		e := failure(ctx, err)
		return resp, x.end(e)
	}
	resp.Status, resp.Header = h.StatusCode, h.Header
	x.status, x.header, x.body, x.left = h.StatusCode, h.Header, h.Body, c.limit(h.StatusCode)
	if !succeeded(h.StatusCode) {
		x.g.computed()
	}
	if h.StatusCode >= 300 && h.StatusCode < 400 && h.Header.Get("Location") != "" {
		return resp, x.refuse(req.URL)
	}
	if h.StatusCode < 300 && h.ContentLength > x.left { // of an error the beginning is worth reading
		return resp, x.end(&Error{Kind: Limit, Message: fmt.Sprintf("the reply is announced with %d bytes, and at most %d are taken", h.ContentLength, x.left)})
	}
	return resp, nil
}

// request makes the HTTP request without what is secret.
func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return nil, &Error{Kind: Invalid, Message: "the URL or method of the request is not valid"} // err may quote a key in the URL
	}
	if req.URL.Hostname() == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, &Error{Kind: Invalid, Message: "the URL must begin with http:// or https:// and name a host"}
	}
	if port := req.URL.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, &Error{Kind: Invalid, Message: fmt.Sprintf("the URL's port is %s; ports are 1 to 65535", port)}
		}
	}
	for _, h := range []http.Header{r.Header, r.Auth} {
		if name, ok := unsendable(h); ok {
			return nil, &Error{Kind: Invalid, Message: "the header " + name + " can't be sent: its value holds a line end or another control character"}
		}
	}
	for k, v := range r.Header {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	if c.o.UserAgent != "" && req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.o.UserAgent)
	}
	for _, p := range r.Body {
		req.ContentLength += int64(len(p.Bytes))
	}
	// Here a connection costs nothing, and to keep one costs calls: llama.cpp's server ends its own after each stream
	// without having said so, and a request that is on its way then is lost.
	req.Close = Local(r.URL)
	if req.ContentLength > 0 {
		// GetBody stays nil: without it the transport can't send the body a second time on a new connection.
		req.Body = &partsBody{partsReader{parts: r.Body}, r.Lane}
	}
	return req, nil
}

// unsendable names a field whose value HTTP does not allow (RFC 9110, section 5.5).
func unsendable(h http.Header) (name string, ok bool) {
	for name, values := range h {
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return name, true
			}
		}
	}
	return "", false
}

// addAuth gives the request a header with the secret fields added; the old header stays as the sink has it.
func addAuth(req *http.Request, auth http.Header) {
	req.Header = req.Header.Clone()
	for k, v := range auth {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	if u := req.URL.User; u != nil && req.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
}

// partsBody is the body of a request of Do.
type partsBody struct {
	partsReader
	lane string
}

// Close implements [io.Closer].
func (p *partsBody) Close() error { return nil }

// partsReader reads parts as one body.
type partsReader struct {
	parts []Part
	off   int // into the first part
}

// Read implements [io.Reader].
func (p *partsReader) Read(b []byte) (n int, err error) {
	for n < len(b) && len(p.parts) > 0 {
		m := copy(b[n:], p.parts[0].Bytes[p.off:])
		n, p.off = n+m, p.off+m
		if p.off == len(p.parts[0].Bytes) {
			p.parts, p.off = p.parts[1:], 0
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// exchange is the body of a reply, and what the sink gets in the end.
type exchange struct {
	c      *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	g      *guard
	whole  *time.Timer // of the exchange as a whole; nil: not bounded

	id     string
	sent   time.Time
	status int
	header http.Header
	body   io.ReadCloser
	left   int64 // bytes that may still come

	pieces [][]byte // of the body; one that grew would be copied again and again
	size   int64    // of them all
	chunks []Chunk
	kept   Exchange
	ended  bool
	err    error // what further reads return once it has ended
}

// begin hands the request to the sink and starts the clock.
func (x *exchange) begin(r Request, req *http.Request) error {
	if x.c.o.Sink == nil {
		return &Error{Kind: Record, Message: "nothing is sent without a record, and this client has none"}
	}
	shown := *req.URL
	shown.User = nil
	x.sent = time.Now()
	kept, err := x.c.o.Sink.Sent(x.ctx, Sent{
		ID: r.ID, Lane: r.Lane, Method: r.Method, URL: shown.String(), Header: req.Header, Body: r.Body, At: x.sent,
	})
	if err != nil {
		if x.ctx.Err() != nil {
			return failure(x.ctx, err)
		}
		return &Error{Kind: Record, Message: fmt.Sprintf("the request could not be recorded, so it was not sent: %v", err), Err: err}
	}
	x.kept.Request = kept
	x.g = x.c.guard(x.sent, req.URL.String(), x.cancel)
	return nil
}

// Read implements [io.Reader].
func (x *exchange) Read(p []byte) (int, error) {
	if x.ended {
		return 0, x.err
	}
	x.g.enter()
	n, err := x.body.Read(p)
	at := x.g.leave(n)
	if n > 0 {
		n, err = x.keep(p[:n], at, err)
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		if err := x.end(nil); err != nil {
			return n, err
		}
		return n, io.EOF
	}
	return n, x.end(failure(x.ctx, err))
}

// keep tees what was read, up to the limit.
func (x *exchange) keep(p []byte, at time.Duration, err error) (int, error) {
	if int64(len(p)) > x.left {
		p = p[:x.left]
		err = &Error{Kind: Limit, Message: fmt.Sprintf("the reply is larger than %d bytes", x.size+x.left)}
	}
	x.left -= int64(len(p))
	if len(p) == 0 {
		return 0, err
	}
	if len(x.chunks) == 0 {
		x.kept.FirstByte = at
	}
	x.tee(p)
	x.chunks = append(x.chunks, Chunk{Bytes: len(p), After: at})
	return len(p), err
}

// Pieces of a body are made twice as large each time, within bounds.
const (
	minPiece = 4 << 10
	maxPiece = 1 << 20
)

func (x *exchange) tee(p []byte) {
	for len(p) > 0 {
		last := len(x.pieces) - 1
		if last < 0 || len(x.pieces[last]) == cap(x.pieces[last]) {
			x.pieces = append(x.pieces, make([]byte, 0, min(max(x.size, minPiece), maxPiece)))
			continue
		}
		n := min(len(p), cap(x.pieces[last])-len(x.pieces[last]))
		x.pieces[last] = append(x.pieces[last], p[:n]...)
		x.size += int64(n)
		p = p[n:]
	}
}

// Close implements [io.Closer]. It reads on for a moment, so that a body whose end has been sent is recorded whole.
// Its error is that of the sink; closing a second time returns the same.
func (x *exchange) Close() error {
	if !x.ended && x.body != nil {
		x.drain()
	}
	if !x.ended {
		x.end(&Error{Kind: Cancelled, Message: "closed before the end of the reply"})
	}
	if e, ok := errors.AsType[*Error](x.err); ok && e.Kind == Record {
		return e
	}
	return nil
}

// errClosed stops a drain that takes too long.
var errClosed = errors.New("closed")

func (x *exchange) drain() {
	t := time.AfterFunc(drainTime, func() {
		x.cancel(&Error{Kind: Cancelled, Message: "closed before the end of the reply", Err: errClosed})
	})
	defer t.Stop()
	p := make([]byte, 4096)
	for most := x.size + maxDrain; !x.ended && x.size < most; {
		x.Read(p) // its end is recorded by Read
	}
}

// refuse ends an exchange that was answered with a redirect. Whatever becomes of its page, it was one, unless the sink fails.
func (x *exchange) refuse(from *url.URL) error {
	message := "the server redirects to somewhere else"
	if to, err := from.Parse(x.header.Get("Location")); err == nil {
		message = "the server redirects to " + to.Scheme + "://" + to.Host + to.Path
		if path.Base(to.Path) == path.Base(from.Path) {
			message += "; set that as the base URL if you trust it"
		} else {
			message += ", a page to sign in at, perhaps, and no model server"
		}
	}
	if err := x.Close(); err != nil {
		return err
	}
	return &Error{Kind: Redirect, Message: message}
}

// end frees everything and hands the reply to the sink, once. It returns why the exchange failed, nil if it did not.
func (x *exchange) end(cause *Error) error {
	x.ended, x.err = true, io.EOF
	if cause != nil {
		x.err = cause
	}
	x.g.stop()
	if x.whole != nil {
		x.whole.Stop()
	}
	if x.body != nil {
		x.body.Close()
	}
	x.cancel(nil)
	now := time.Now()
	x.kept.Duration = now.Sub(x.sent)
	r := Received{ID: x.id, Status: x.status, Header: x.header, Body: bytes.Join(x.pieces, nil), Chunks: x.chunks, At: now}
	x.pieces = nil
	if cause != nil {
		r.Err = cause
	}
	kept, err := x.c.o.Sink.Received(context.WithoutCancel(x.ctx), r)
	if err != nil {
		x.err = &Error{Kind: Record, Message: fmt.Sprintf("the reply could not be recorded: %v", err), Err: err}
	}
	x.kept.Response = kept
	x.chunks = nil
	if x.err == io.EOF {
		return nil
	}
	return x.err
}
