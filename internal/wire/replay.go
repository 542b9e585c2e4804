package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Replay answers requests with what a recording has, chunk by chunk as it came and without waiting, and compares each
// request with the recorded one. It is the transport of a Client whose [Options] name it, and an [http.RoundTripper].
//
// A request gets the first reply of its lane that nobody has had yet; where the recording does not know the lane, the first
// of all. A request that differs is answered all the same, so that one look finds every exchange that differs. One for
// which nothing is left fails, with Kind [Invalid]. A Replay may be used by several goroutines.
type Replay struct {
	mu          sync.Mutex
	list        []Recorded
	used        []bool
	differences []Difference
}

// NewReplay makes a replay of a recording, which must not be changed any more.
func NewReplay(list []Recorded) *Replay { return &Replay{list: list, used: make([]bool, len(list))} }

// Difference is the first place where a request is not what was recorded.
type Difference struct {
	Exchange int    // in the recording, from 0
	What     string // "method", "path", "header NAME", "body", or "owner": the bytes are the same and belong to another node
	At       int64  // of body and owner: the offset of the first byte that differs
	// Owner and WasOwner are the nodes that the byte belongs to, now and as recorded; "" is envelope, or the body's end.
	Owner, WasOwner string
	Now, Was        string // what stands there, up to 60 bytes of it
}

// String says it in a line.
func (d Difference) String() string {
	s := fmt.Sprintf("exchange %d: %s differs", d.Exchange+1, d.What)
	if d.What == "body" || d.What == "owner" {
		s += fmt.Sprintf(" at byte %d, which belongs to %q and belonged to %q", d.At, d.Owner, d.WasOwner)
	}
	return s + fmt.Sprintf(": now %q, recorded %q", d.Now, d.Was)
}

// Differences gives what was found so far, at most one for each exchange.
func (r *Replay) Differences() []Difference {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.differences)
}

// Left tells how many recorded exchanges nobody has asked for.
func (r *Replay) Left() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, used := range r.used {
		if !used {
			n++
		}
	}
	return n
}

// RoundTrip implements [http.RoundTripper].
func (r *Replay) RoundTrip(req *http.Request) (*http.Response, error) {
	now := Recorded{Method: req.Method, Path: publicPath(req.URL.String()), Header: public(req.Header)}
	if req.Body != nil {
		defer req.Body.Close()
		if b, ok := req.Body.(*partsBody); ok {
			now.Lane, now.Body = b.lane, b.parts
		} else {
			all, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			now.Body = []Part{{Bytes: all}}
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	was, err := r.take(now)
	if err != nil {
		return nil, err
	}
	if was.Status == 0 {
		return nil, was.Err
	}
	return &http.Response{
		Status: fmt.Sprint(was.Status, " ", http.StatusText(was.Status)), StatusCode: was.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: was.Answers.Clone(), ContentLength: -1, Request: req,
		Body: &replayBody{req: req, rest: was.Reply, chunks: was.Chunks, err: was.Err},
	}, nil
}

// take finds the exchange that answers a request, and compares the two.
func (r *Replay) take(now Recorded) (*Recorded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := slices.ContainsFunc(r.list, func(x Recorded) bool { return x.Lane == now.Lane })
	for i := range r.list {
		if r.used[i] || known && r.list[i].Lane != now.Lane {
			continue
		}
		r.used[i] = true
		if d, differs := compare(now, r.list[i]); differs {
			d.Exchange = i
			r.differences = append(r.differences, d)
		}
		return &r.list[i], nil
	}
	return nil, &Error{Kind: Invalid, Message: fmt.Sprintf("the recording has %d exchanges, and none of them is left for this request", len(r.list))}
}

// compare finds the first difference between two requests.
func compare(now, was Recorded) (Difference, bool) {
	if now.Method != was.Method {
		return Difference{What: "method", Now: now.Method, Was: was.Method}, true
	}
	if now.Path != was.Path {
		return Difference{What: "path", Now: now.Path, Was: was.Path}, true
	}
	var names []string
	for _, h := range []http.Header{now.Header, was.Header} {
		for name := range h {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Equal(now.Header[name], was.Header[name]) {
			return Difference{What: "header " + name, Now: fmt.Sprint(now.Header[name]), Was: fmt.Sprint(was.Header[name])}, true
		}
	}
	return compareBodies(now.Body, was.Body)
}

// compareBodies goes along the parts of two bodies, whose borders need not be the same.
func compareBodies(now, was []Part) (Difference, bool) {
	at := int64(0)
	owner := Difference{}
	a, b := cursor{parts: now}, cursor{parts: was}
	for {
		x, y := a.rest(), b.rest()
		if len(x) == 0 && len(y) == 0 {
			return owner, owner.What != ""
		}
		n := same(x, y)
		if n == 0 {
			return Difference{
				What: "body", At: at, Owner: a.owner(), WasOwner: b.owner(),
				Now: string(a.ahead()), Was: string(b.ahead()),
			}, true
		}
		if owner.What == "" && a.owner() != b.owner() {
			owner = Difference{What: "owner", At: at, Owner: a.owner(), WasOwner: b.owner(), Now: string(a.ahead()), Was: string(b.ahead())}
		}
		at += int64(n)
		a.off, b.off = a.off+n, b.off+n
	}
}

// same counts the bytes with which both begin.
func same(x, y []byte) int {
	most := min(len(x), len(y))
	if bytes.Equal(x[:most], y[:most]) {
		return most
	}
	n := 0
	for x[n] == y[n] {
		n++
	}
	return n
}

// cursor is a place in a body of parts.
type cursor struct {
	parts []Part
	off   int // into the first part
}

// rest gives what is left of the part in which the cursor stands; empty at the end of the body.
func (c *cursor) rest() []byte {
	for len(c.parts) > 0 && c.off == len(c.parts[0].Bytes) {
		c.parts, c.off = c.parts[1:], 0
	}
	if len(c.parts) == 0 {
		return nil
	}
	return c.parts[0].Bytes[c.off:]
}

func (c *cursor) owner() string {
	if len(c.parts) == 0 {
		return ""
	}
	return c.parts[0].Owner
}

// ahead gives what comes next, whoever it belongs to.
func (c *cursor) ahead() []byte {
	const most = 60
	p := make([]byte, most)
	n, _ := (&partsReader{parts: c.parts, off: c.off}).Read(p)
	return p[:n]
}

// replayBody gives a recorded body, in the pieces in which it came.
type replayBody struct {
	req    *http.Request
	rest   []byte
	chunks []Chunk
	given  int    // bytes of the first chunk
	err    *Error // comes after the body; nil: io.EOF does
}

// Read implements [io.Reader].
func (b *replayBody) Read(p []byte) (int, error) {
	if err := b.req.Context().Err(); err != nil {
		return 0, err
	}
	for len(b.chunks) > 0 && b.given == b.chunks[0].Bytes {
		b.chunks, b.given = b.chunks[1:], 0
	}
	if len(b.chunks) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		return 0, io.EOF
	}
	n := copy(p, b.rest[:b.chunks[0].Bytes-b.given])
	b.rest, b.given = b.rest[n:], b.given+n
	return n, nil
}

// Close implements [io.Closer].
func (b *replayBody) Close() error { return nil }
