package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"
)

// LinkTime bounds each link of a [Prober].
const LinkTime = 5 * time.Second

// maxProbe bounds, in bytes, how much of a reply a [Prober] reads.
const maxProbe = 4 << 20

// Link is one link on the way to a server. The zero value: it was not come to, or an open connection was used again.
type Link struct {
	Tried bool
	Err   *Error // nil: it holds
	Took  time.Duration
}

// Faults of a TLS connection that can be told apart.
const (
	FaultAuthority = "authority" // nobody that this machine trusts has signed the certificate
	FaultExpired   = "expired"   // by this machine's clock
	FaultEarly     = "early"     // not valid yet, by this machine's clock
	FaultName      = "name"      // the certificate is another host's
	FaultPlain     = "plain"     // the server speaks no TLS
)

// Seen is what a look at one URL found, link by link. Where there is a proxy, Host is the proxy's, Name and Connect are
// links to it, and Tunnel is what it said to a CONNECT.
type Seen struct {
	Proxy        *url.URL // nil: none is in force
	ProxyErr     error    // the setting of the proxy is no address; nothing else was tried
	Host         string   // that was to be reached, with its port
	Addresses    []string // that the name stands for
	Name         Link
	NoName       bool // name servers say that there is no such name
	Connect      Link
	Tunnel       Link
	TunnelStatus int // what the proxy answered; 0: nothing
	TLS          Link
	TLSFault     string
	Cert         *x509.Certificate // that the server showed, trusted or not; nil: none was seen
	HTTP         Link
	Status       int
	Header       http.Header
	Body         []byte // at most 4 MB
	At           time.Time
}

// Prober looks at URLs for those who explain why a server can't be reached. It goes the way that a [Client] with the same
// proxy goes, keeps nothing, and follows no redirect.
type Prober struct {
	transport *http.Transport
	agent     string

	mu   sync.Mutex
	seen *Seen // of the look that is under way
	tls  int   // handshakes that began
	from time.Time
}

// NewProber makes a prober. Close it.
func NewProber(t Transport, userAgent string) *Prober {
	p := &Prober{agent: userAgent}
	p.transport = &http.Transport{
		DialContext: p.dial, TLSHandshakeTimeout: LinkTime, ResponseHeaderTimeout: LinkTime,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			p.note(func(s *Seen) { s.TunnelStatus = r.StatusCode })
			return nil
		},
	}
	t.apply(p.transport)
	return p
}

// Close gives up idle connections.
func (p *Prober) Close() { p.transport.CloseIdleConnections() }

func (p *Prober) note(f func(*Seen)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen != nil {
		f(p.seen)
	}
}

// Look sends one request without a body. Only one look may be under way at a time.
func (p *Prober) Look(ctx context.Context, method, rawURL string, header http.Header) Seen {
	ctx, cancel := context.WithTimeout(ctx, 2*LinkTime+LinkTime/2) // a tunnel has no limit of its own
	defer cancel()
	s := &Seen{At: time.Now()}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, p.trace()), method, rawURL, nil)
	if err != nil {
		s.HTTP = Link{Tried: true, Err: &Error{Kind: Invalid, Message: "the URL is not valid"}}
		return *s
	}
	if s.Host = req.URL.Host; p.transport.Proxy != nil {
		if s.Proxy, s.ProxyErr = p.transport.Proxy(req); s.ProxyErr != nil {
			return *s
		}
	}
	if s.Proxy != nil {
		s.Host = s.Proxy.Host
	}
	req.Header.Set("User-Agent", p.agent)
	addAuth(req, header)
	p.mu.Lock()
	p.seen, p.tls, p.from = s, 0, time.Now()
	p.mu.Unlock()
	resp, err := p.transport.RoundTrip(req)
	if err == nil {
		s.Status, s.Header = resp.StatusCode, resp.Header
		s.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxProbe))
		resp.Body.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = nil // what is still under way is of no interest
	s.blame(ctx, req, err)
	s.At = s.At.Add(time.Since(s.At) / 2)
	return *s
}

// blame puts the end of a look where it belongs: at the first link that does not hold.
func (s *Seen) blame(ctx context.Context, req *http.Request, err error) {
	tunnel := s.Proxy != nil && req.URL.Scheme == "https"
	if tunnel && s.TunnelStatus != 0 {
		s.Tunnel.Tried = true
	}
	if err == nil {
		s.Tunnel.Tried = s.Tunnel.Tried || tunnel && s.Connect.Tried
		s.HTTP.Tried = true
		return
	}
	for _, l := range []Link{s.Name, s.Connect, s.TLS} {
		if l.Err != nil {
			return
		}
	}
	link := &s.HTTP
	if tunnel && !s.TLS.Tried {
		link = &s.Tunnel
	}
	*link = Link{Tried: true, Err: late(ctx, err)}
}

// late is failure, for links on which a time-out is no matter of the connection.
func late(ctx context.Context, err error) *Error {
	e := failure(ctx, err)
	if e.Kind == Timeout || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Kind: Timeout, Message: "nothing came in time", Err: e}
	}
	return e
}

// dial resolves the name and connects, each within its time.
func (p *Prober) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) == nil {
		began := time.Now()
		short, cancel := context.WithTimeout(ctx, LinkTime)
		list, err := net.DefaultResolver.LookupHost(short, host)
		cancel()
		l := Link{Tried: true, Took: time.Since(began)}
		if err != nil {
			l.Err = failure(ctx, err)
		}
		dns, known := errors.AsType[*net.DNSError](err)
		p.note(func(s *Seen) { s.Name, s.Addresses, s.NoName = l, list, known && dns.IsNotFound })
		if err != nil {
			return nil, err
		}
	}
	began := time.Now()
	conn, err := (&net.Dialer{Timeout: LinkTime}).DialContext(ctx, network, address)
	l := Link{Tried: true, Took: time.Since(began)}
	if err != nil {
		l.Err = failure(ctx, err)
	}
	p.note(func(s *Seen) { s.Connect = l })
	return conn, err
}

// trace watches the TLS handshakes: where the proxy itself speaks TLS, the first one is with it.
func (p *Prober) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeStart: func() { p.note(func(*Seen) { p.tls++; p.from = time.Now() }) },
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			p.note(func(s *Seen) {
				l := Link{Tried: true, Took: time.Since(p.from)}
				if err != nil {
					l.Err = late(context.Background(), err)
				}
				if p.tls == 1 && s.Proxy != nil && s.Proxy.Scheme == "https" {
					if err != nil {
						s.Connect = l
					}
					return
				}
				s.TLS = l
				s.TLSFault, s.Cert = fault(err)
				if err == nil && len(state.PeerCertificates) > 0 {
					s.Cert = state.PeerCertificates[0]
				}
			})
		},
	}
}

// fault says what is wrong with a handshake, and with which certificate.
func fault(err error) (string, *x509.Certificate) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return FaultPlain, nil
	}
	var cert *x509.Certificate
	if v, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(v.UnverifiedCertificates) > 0 {
		cert = v.UnverifiedCertificates[0]
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return FaultAuthority, cert
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return FaultName, cert
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		if time.Now().Before(bad.Cert.NotBefore) {
			return FaultEarly, bad.Cert
		}
		return FaultExpired, bad.Cert
	}
	return "", cert
}

// Date asks a server whose certificate does not hold what time it is: the header Date of its answer to a HEAD of "/". The
// request carries nothing of anybody's, and the answer proves nothing; it is a hint at a wrong clock. false: not known.
func (p *Prober) Date(ctx context.Context, rawURL string) (time.Time, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return time.Time{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, LinkTime)
	defer cancel()
	blind := p.transport.Clone()
	blind.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // see above: nothing is sent, nothing is believed
	defer blind.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.Scheme+"://"+u.Host+"/", nil)
	if err != nil {
		return time.Time{}, false
	}
	req.Header.Set("User-Agent", p.agent)
	resp, err := blind.RoundTrip(req)
	if err != nil {
		return time.Time{}, false
	}
	resp.Body.Close()
	at, err := http.ParseTime(resp.Header.Get("Date"))
	return at, err == nil
}
