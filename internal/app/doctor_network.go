package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"overt/internal/provider"
	"overt/internal/wire"
)

// journey is the way to the endpoint.
type journey struct {
	*doctor
	f        *findings
	prober   *wire.Prober
	base     *url.URL // of the endpoint
	models   string   // URL of the list
	chat     string
	auth     http.Header
	keyed    bool // a key is sent
	withheld bool // there is a key, and it is not sent
}

// network goes the way to the endpoint, link by link. Without fits, a key is not sent.
func (d *doctor) network(ctx context.Context, f *findings, fits bool) {
	j := &journey{doctor: d, f: f}
	var err error
	j.chat, j.models, err = provider.Addresses(d.c.Protocol.Value, d.c.BaseURL.Value)
	if err == nil {
		j.base, err = url.Parse(d.c.BaseURL.Value)
	}
	if err != nil {
		f.problem("config.base_url", d.c.BaseURL.Source).next("doctor.setting.source", d.c.BaseURL.Source)
		return
	}
	key := d.c.APIKey.Value
	if !fits {
		key = ""
	}
	j.auth, j.keyed = requestHeader(d.c, key), key != ""
	j.withheld = !fits
	if file, ok := d.env("SSL_CERT_FILE"); ok && j.base.Scheme == "https" {
		if _, err := os.ReadFile(file); err != nil {
			f.problem("doctor.tls.file", file, err).next("doctor.tls.file.next")
		}
	}
	link, bad := transport(d.c)
	if bad != nil { // it was told with the settings
		f.skip("doctor.skipped", d.mask.URL(d.c.BaseURL.Value))
		return
	}
	if !j.proxy(link) {
		f.skip("doctor.skipped", d.mask.URL(d.c.BaseURL.Value))
		return
	}
	if d.o.Offline {
		f.skip("doctor.offline")
		return
	}
	j.prober = wire.NewProber(link, "overt")
	defer j.prober.Close()
	seen := j.prober.Look(ctx, http.MethodGet, provider.WholeList(d.c.Protocol.Value, j.models), j.auth)
	if ctx.Err() != nil {
		f.unknown("doctor.late")
		return
	}
	if j.links(ctx, seen) {
		j.answer(ctx, seen)
	}
}

// proxyVariable is the variable that a proxy for the endpoint stands in, or the place in a file; "": none.
func (j *journey) proxyVariable() string {
	if s := j.c.Proxy; s.Value != "" {
		return s.Source.String()
	}
	if j.base.Scheme == "https" {
		return j.first("HTTPS_PROXY", "https_proxy")
	}
	return j.first("HTTP_PROXY", "http_proxy")
}

// address tells whether a variable holds the address of a proxy, which may be without a scheme. Go passes over one that does
// not, and goes without a proxy.
func (j *journey) address(name string) bool {
	value, _ := j.env(name)
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	return err == nil && u.Host != ""
}

// proxy says which proxy is in force, and tells whether it can be one.
func (j *journey) proxy(link wire.Transport) bool {
	name := j.proxyVariable()
	if link.Proxy == nil {
		j.f.ok("doctor.proxy.off", name)
		return true
	}
	req, err := http.NewRequest(http.MethodGet, j.models, nil)
	if err != nil {
		return false
	}
	u, err := link.Proxy(req)
	switch {
	case err != nil: // its text may hold a password
		j.f.problem("doctor.proxy.malformed", name).next("doctor.proxy.malformed.next", name)
		return false
	case u == nil && name != "" && !j.address(name):
		j.f.problem("doctor.proxy.malformed", name).next("doctor.proxy.malformed.next", name)
		return false
	case u == nil && name != "":
		j.f.ok("doctor.proxy.exempt", name, j.base.Hostname())
	case u == nil:
		j.f.ok("doctor.proxy.none")
	case !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme), u.Hostname() == "", strings.Trim(u.Path, "/") != "":
		j.f.problem("doctor.proxy.malformed", name).next("doctor.proxy.malformed.next", name)
		return false
	case u.User != nil:
		j.f.ok("doctor.proxy.password", u.Scheme+"://"+u.Host, name)
	default:
		j.f.ok("doctor.proxy", u.Scheme+"://"+u.Host, name)
	}
	return true
}

// ms is a time in milliseconds.
func ms(d time.Duration) int { return int(d.Milliseconds()) }

// links says how each link is up to the answer, and tells whether there is one.
func (j *journey) links(ctx context.Context, s wire.Seen) bool {
	held := true
	rest := func(code string) { // a link behind one that failed
		j.f.skip(code)
		held = false
	}
	through := j.proxyVariable()
	if s.Proxy == nil {
		through = ""
	}
	switch {
	case s.Name.Err != nil:
		j.name(s, through)
		held = false
	case s.Name.Tried:
		j.f.ok("doctor.name", hostOf(s.Host), strings.Join(s.Addresses[:min(len(s.Addresses), 3)], ", "))
	}
	switch {
	case !held:
		rest("doctor.connect.skipped")
	case s.Connect.Err != nil:
		j.connect(s, through)
		held = false
	case s.Connect.Tried:
		j.f.ok("doctor.connect", s.Host, ms(s.Connect.Took))
	}
	if held && s.Tunnel.Err != nil {
		j.tunnel(s, through)
		held = false
	} else if held && s.Tunnel.Tried {
		j.f.ok("doctor.tunnel", s.Host)
	}
	if j.base.Scheme == "https" {
		switch {
		case !held:
			rest("doctor.tls.skipped")
		case s.TLS.Err != nil:
			j.tls(ctx, s)
			held = false
		case s.Cert != nil:
			j.f.ok("doctor.tls", s.Cert.Issuer.CommonName, s.Cert.NotAfter.Format(time.DateOnly))
		}
	}
	switch {
	case !held:
		rest("doctor.answer.skipped")
	case s.HTTP.Err != nil:
		j.f.problem("doctor.answer.none", s.HTTP.Err.Message).next("doctor.answer.none.next")
		held = false
	}
	return held
}

// hostOf is a host without its port.
func hostOf(address string) string { return (&url.URL{Host: address}).Hostname() }

func (j *journey) name(s wire.Seen, through string) {
	host := hostOf(s.Host)
	var c *Check
	if s.NoName {
		c = j.f.problem("doctor.name.unknown", host)
		c.next("doctor.name.unknown.next", j.c.BaseURL.Source)
	} else {
		c = j.f.problem("doctor.name.silent", host)
		c.next("doctor.name.silent.next")
	}
	if through != "" {
		c.next("doctor.proxy.next", through, j.base.Hostname())
	}
}

func (j *journey) connect(s wire.Seen, through string) {
	switch c := j.f.problem("doctor.connect.failed", s.Host, s.Connect.Err.Message); {
	case through != "":
		c.next("doctor.proxy.next", through, j.base.Hostname())
	case wire.Local(j.base.String()):
		c.next("doctor.connect.local", j.c.BaseURL.Source)
	default:
		c.next("doctor.connect.next")
	}
}

func (j *journey) tunnel(s wire.Seen, through string) {
	switch s.TunnelStatus {
	case 0, http.StatusOK:
		j.f.problem("doctor.tunnel.broken", s.Host, s.Tunnel.Err.Message).next("doctor.proxy.next", through, j.base.Hostname())
	case http.StatusProxyAuthRequired:
		j.f.problem("doctor.tunnel.refused", s.Host, j.base.Hostname(), s.TunnelStatus).next("doctor.proxy.password.next", through)
	default:
		j.f.problem("doctor.tunnel.refused", s.Host, j.base.Hostname(), s.TunnelStatus).next("doctor.proxy.next", through, j.base.Hostname())
	}
}

func (j *journey) tls(ctx context.Context, s wire.Seen) {
	host := j.base.Hostname()
	switch s.TLSFault {
	case wire.FaultAuthority:
		issuer := ""
		if s.Cert != nil {
			issuer = s.Cert.Issuer.String()
		}
		j.f.problem("doctor.tls.authority", host, issuer).next("doctor.tls.authority.next")
	case wire.FaultName:
		names := ""
		if s.Cert != nil {
			names = strings.Join(s.Cert.DNSNames[:min(len(s.Cert.DNSNames), 5)], ", ")
		}
		j.f.problem("doctor.tls.name", host, names).next("doctor.tls.name.next", j.c.BaseURL.Source)
	case wire.FaultPlain:
		j.f.problem("doctor.tls.plain", host).next("doctor.tls.plain.next", j.mask.URL("http"+strings.TrimPrefix(j.base.String(), "https")))
	case wire.FaultExpired, wire.FaultEarly:
		until := s.Cert.NotAfter
		code := "doctor.tls.expired"
		if s.TLSFault == wire.FaultEarly {
			until, code = s.Cert.NotBefore, "doctor.tls.early"
		}
		c := j.f.problem(code, host, until.Format(time.DateOnly))
		c.next("doctor.tls.expired.next")
		if at, ok := j.prober.Date(ctx, j.models); ok && apart(time.Now(), at) > maxSkew {
			c.next("doctor.clock.next")
			j.clock(time.Now(), at)
		}
	default:
		j.f.problem("doctor.tls.failed", host, s.TLS.Err.Message).next("doctor.answer.none.next")
	}
}

// maxSkew is how far this clock may be from a server's.
const maxSkew = 5 * time.Minute

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

// clock compares this machine's clock with a server's.
func (j *journey) clock(here, there time.Time) {
	far := fmt.Sprint(apart(here, there).Round(time.Minute))
	if here.Before(there) {
		j.f.warn("doctor.clock.behind", far, there.UTC().Format(time.RFC3339)).next("doctor.clock.next")
	} else {
		j.f.warn("doctor.clock.ahead", far, there.UTC().Format(time.RFC3339)).next("doctor.clock.next")
	}
}
