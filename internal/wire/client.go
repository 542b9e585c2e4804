package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Limits that hold where [Options] say nothing.
const (
	defaultIdle         = 5 * time.Minute
	defaultIdleLocal    = 30 * time.Minute // a model on the same machine is silent for a whole prefill
	defaultMaxBody      = 64 << 20
	defaultMaxErrorBody = 256 << 10
)

// connectTime bounds the connection and the TLS handshake each.
const connectTime = 30 * time.Second

// Options configure a [Client]. The zero value of each field is its default.
type Options struct {
	Sink      Sink   // keeps every exchange of Do; nil: Do refuses, HTTP works
	UserAgent string // "": that of net/http
	// Idle bounds the silence before a body and between two bytes of it; any byte counts. Default: 5 minutes, 30 for
	// [Local] hosts. What comes before the first byte of a Local host is not bounded, unless its header has a status other
	// than 2xx.
	Idle         time.Duration
	Timeout      time.Duration // bounds an exchange of Do as a whole; 0: nothing does
	MaxBody      int64         // bytes of a body of status 2xx, decoded; default 64 MB
	MaxErrorBody int64         // bytes of any other body, decoded; default 256 KB
	Replay       *Replay       // answers everything instead of the network; nil: nothing does
	Transport
}

// Transport is how connections are made.
type Transport struct {
	Proxy func(*http.Request) (*url.URL, error) // nil: no proxy; [http.ProxyFromEnvironment] is the usual choice
	Roots *x509.CertPool                        // who may sign certificates; nil: whom this machine trusts
	HTTP1 bool                                  // HTTP/2 is not spoken
}

// apply sets up a transport.
func (t Transport) apply(to *http.Transport) {
	to.Proxy = t.Proxy
	if t.Roots != nil {
		to.TLSClientConfig = &tls.Config{RootCAs: t.Roots}
	}
	to.ForceAttemptHTTP2 = !t.HTTP1
	if t.HTTP1 {
		to.Protocols = new(http.Protocols)
		to.Protocols.SetHTTP1(true)
	}
}

// Client makes exchanges. See the package comment.
type Client struct {
	o         Options
	transport *http.Transport
}

// New makes a client. It opens no connection.
func New(o Options) *Client {
	orDefault(&o.MaxBody, defaultMaxBody)
	orDefault(&o.MaxErrorBody, defaultMaxErrorBody)
	c := &Client{o: o, transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   connectTime,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       32 << 10,
		ReadBufferSize:        32 << 10,
	}}
	o.Transport.apply(c.transport)
	return c
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// roundTrip asks whom the options name.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	if c.o.Replay != nil {
		return c.o.Replay.RoundTrip(r)
	}
	return c.transport.RoundTrip(r)
}

// Close gives up idle connections. Exchanges that are under way go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Local tells whether a URL names this machine or a private network by its address or by a name that can't be public
// (localhost, a name without a dot, *.local). A number is no such name: many programs read 134744072 as 8.8.8.8. There nobody's gateway cuts a silent stream, and a model may compute for
// minutes before its first byte.
func Local(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	if hex, found := strings.CutPrefix(host, "0x"); strings.Trim(host, "0123456789") == "" || found && strings.Trim(hex, "0123456789abcdef") == "" {
		return false
	}
	return host != "" && !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local")
}

// HTTP gives a plain client with the same proxy and limits on time and size, and without capture.
// It follows no redirect, but gives it as the answer: what goes with a request, such as a key in a field that net/http does
// not know, is for the address that was asked.
func (c *Client) HTTP() *http.Client {
	return &http.Client{
		Transport:     plain{c},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// plain puts the limits of a Client around the bodies of a round trip.
type plain struct{ c *Client }

// RoundTrip implements [http.RoundTripper].
func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	r = r.Clone(ctx)
	if p.c.o.UserAgent != "" && r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", p.c.o.UserAgent)
	}
	g := p.c.guard(time.Now(), r.URL.String(), cancel)
	resp, err := p.c.roundTrip(r)
	if err != nil {
		g.stop()
		defer cancel(nil)
		return nil, failure(ctx, err)
	}
	if !succeeded(resp.StatusCode) {
		g.computed()
	}
	resp.Body = &limited{ctx: ctx, cancel: cancel, body: resp.Body, g: g, left: p.c.limit(resp.StatusCode)}
	return resp, nil
}

// limited is a body under limits.
type limited struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	g      *guard
	left   int64
}

// Read implements [io.Reader]; its errors but [io.EOF] are of type *[Error].
func (l *limited) Read(p []byte) (int, error) {
	l.g.enter()
	n, err := l.body.Read(p)
	l.g.leave(n)
	if l.left -= int64(n); l.left < 0 {
		return 0, &Error{Kind: Limit, Message: "the reply is larger than the limit"}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = failure(l.ctx, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (l *limited) Close() error {
	l.g.stop()
	err := l.body.Close()
	l.cancel(nil)
	return err
}

func (c *Client) limit(status int) int64 {
	if succeeded(status) {
		return c.o.MaxBody
	}
	return c.o.MaxErrorBody
}

func succeeded(status int) bool { return status >= 200 && status < 300 }

// guard makes the guard of one exchange, already running.
func (c *Client) guard(start time.Time, rawURL string, cancel context.CancelCauseFunc) *guard {
	idle, local := c.o.Idle, Local(rawURL)
	switch {
	case idle != 0:
	case local:
		idle = defaultIdleLocal
	default:
		idle = defaultIdle
	}
	return newGuard(start, idle, !local, cancel)
}
