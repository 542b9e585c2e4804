package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// Kind says how an exchange failed.
type Kind string

// Kinds of failure.
const (
	Timeout   Kind = "timeout"   // no connection in time
	Idle      Kind = "idle"      // no reply came, or it went silent
	Expired   Kind = "expired"   // the exchange took longer than allowed as a whole
	Limit     Kind = "limit"     // the reply is larger than allowed
	Redirect  Kind = "redirect"  // the server points elsewhere
	Network   Kind = "network"   // no connection, reset, TLS, cut
	Record    Kind = "record"    // the sink refused
	Cancelled Kind = "cancelled" // the caller's context ended
	Invalid   Kind = "invalid"   // the request can't be made: its URL or method is wrong
)

// Error is the failure of an exchange. Message is one line without queries, user info or header values.
type Error struct {
	Kind    Kind
	Message string
	Err     error // the cause, may be nil
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// failure makes an *Error of whatever a transport or a body returned under ctx.
func failure(ctx context.Context, err error) *Error {
	if e, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return e // a limit of ours ended it
	}
	if ctx.Err() != nil {
		return &Error{Kind: Cancelled, Message: "cancelled", Err: ctx.Err()}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its text holds the whole URL
	}
	if a, ok := errors.AsType[*net.AddrError](err); ok { // of a proxy, say: it will never be an address
		return &Error{Kind: Invalid, Message: a.Error(), Err: err}
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		message := "no connection in time"
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" {
			message = "the connection timed out"
		}
		return &Error{Kind: Timeout, Message: message, Err: err}
	}
	return &Error{Kind: Network, Message: explain(err), Err: err}
}

// explain says in a line why there is no connection, or why it ended.
func explain(err error) string {
	if d, ok := errors.AsType[*net.DNSError](err); ok {
		return "host " + d.Name + " not found"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
			return "connection refused by " + op.Addr.String()
		}
		return "connection refused"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the server closed the connection early"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
			return "the server's certificate is signed by an unknown authority; if you trust it, name a file with its certificate in SSL_CERT_FILE, or as ca_file in the settings"
		}
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
