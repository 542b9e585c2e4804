// Package wire carries model requests over HTTP and hands every byte of both directions to a [Sink].
//
// Providers use [Client.Do]: it takes the body as parts with owners, gives the parts to the sink, sends them, and
// gives back a [Response] whose body is teed to the sink as it is read. It never retries, follows no redirect and
// knows nothing of models. [NewEvents] reads a body as server-sent events. [Client.HTTP] is a plain client with the
// same limits for everything else.
//
// Times are of this machine's clock, durations of its monotonic one.
//
// A Client may be used by several goroutines; a Response belongs to one.
package wire

import (
	"context"
	"net/http"
	"time"
)

// Part is a piece of a request body. The parts of a body, concatenated, are exactly the bytes that are sent.
// Owner names the record node that the bytes come from; "" is envelope. Punctuation goes with the content it belongs to.
// Bytes must never be changed after the part was handed out: equal leading parts of consecutive requests share them.
type Part struct {
	Owner string
	Bytes []byte
}

// Request is one exchange to make.
type Request struct {
	ID, Lane    string
	Method, URL string
	Header      http.Header // sent and recorded
	Auth        http.Header // sent, never handed to the sink
	Body        []Part
}

// Sent is what the sink gets before the first byte leaves. URL has no user info; values of its query are not masked yet.
type Sent struct {
	ID, Lane, Method, URL string
	Header                http.Header
	Body                  []Part
	At                    time.Time
}

// Chunk is what one read of the response body gave, and when, counted from Sent.At.
type Chunk struct {
	Bytes int
	After time.Duration
}

// Received is what the sink gets once an exchange has ended, in whatever way.
type Received struct {
	ID     string
	Status int // 0: no response
	Header http.Header
	Body   []byte  // as read by the client, content encoding removed
	Chunks []Chunk // their Bytes add up to len(Body)
	At     time.Time
	Err    error // why it ended early; nil: complete
}

// Kept says what the sink stored of one body.
type Kept struct {
	Bytes  int64
	SHA256 [32]byte
	Masked int
}

// Sink keeps exchanges.
//
// Sent is called before the first byte leaves, and its error stops the request: nothing goes out unrecorded.
// Received is called exactly once for each Sent that succeeded, whatever the end, with a context that cancellation of
// the request does not reach. Implementations are safe for concurrent use.
type Sink interface {
	Sent(ctx context.Context, s Sent) (Kept, error)
	Received(ctx context.Context, r Received) (Kept, error)
}
