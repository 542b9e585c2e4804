package llm

import (
	"fmt"
	"time"
)

// Class says what kind of failure a call had, and so what may be done about it.
type Class string

// Classes of failure.
const (
	Rate      Class = "rate"      // asked to slow down; may be retried after RetryAfter
	Quota     Class = "quota"     // balance or plan is used up; retrying does not help
	Overload  Class = "overload"  // the server is busy or failed (5xx); may be retried
	Auth      Class = "auth"      // key missing, wrong or not allowed
	Overflow  Class = "overflow"  // the request does not fit the window
	Pictures  Class = "image"     // the server does not take a picture that the request holds, or none at all
	Invalid   Class = "invalid"   // the server refuses this request as it is (other 4xx)
	Policy    Class = "policy"    // a content filter refused
	NoTools   Class = "tools"     // the model or its server takes no tools in the form in which they were offered
	Network   Class = "network"   // no connection, reset, TLS
	Timeout   Class = "timeout"   // the request took too long or went silent
	Cut       Class = "cut"       // the stream ended before the answer did
	Malformed Class = "malformed" // the reply is not what the protocol says (an HTML page, broken JSON, over a limit)
	Redirect  Class = "redirect"  // the server points elsewhere; never followed
	Storage   Class = "storage"   // the exchange could not be recorded: the request, which was not sent then, or the reply, which does not count
	Cancelled Class = "cancelled" // the caller's context ended
	Internal  Class = "internal"  // anything else: a fault of ours
)

// Error is the failure of a call. It is safe to show once masked: it holds the server's words, never the request.
type Error struct {
	Class      Class
	Code       string        // the server's own code, if any: one short line
	HTTP       int           // status, 0 if there was no response
	Message    string        // one line: the server's message or what went wrong
	RetryAfter time.Duration // 0: the server did not say
	Window     int64         // overflow: the window in tokens that the server named, 0 if it did not
	Tokens     int64         // overflow: what the request has by the server's count, 0 if it named none
	Mend       Mend          // how the request may be changed so that it is taken, "" if there is no way known
	MaxTokens  int           // with Shorten: the largest limit of an answer that the server takes
	Err        error         // the cause, may be nil
}

// Error implements error in one line.
func (e *Error) Error() string {
	if e.HTTP >= 400 { // any other status is no part of what went wrong
		return fmt.Sprintf("HTTP %d: %s", e.HTTP, e.Message)
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable tells whether the same request may succeed when it is sent again.
func (e *Error) Retryable() bool {
	switch e.Class {
	case Rate, Overload, Network, Cut:
		return true
	}
	return false
}
