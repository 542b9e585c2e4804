package app

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/config"
	"overt/internal/provider"
	"overt/internal/wire"
)

// transport is how connections to the endpoint are made. The error is of a file of certificates that can't be used.
func transport(c *config.Config) (wire.Transport, *config.Error) {
	t := wire.Transport{Proxy: http.ProxyFromEnvironment, HTTP1: c.HTTP1}
	switch c.Proxy.Value {
	case "":
	case config.Off:
		t.Proxy = nil
	default:
		if u, err := url.Parse(c.Proxy.Value); err == nil { // it was checked
			t.Proxy = http.ProxyURL(u)
		}
	}
	if c.CAFile.Value == "" {
		return t, nil
	}
	text, bad := certificates(c.CAFile)
	if bad != nil {
		return t, bad
	}
	var err error
	if t.Roots, err = x509.SystemCertPool(); err != nil {
		t.Roots = x509.NewCertPool()
	}
	t.Roots.AppendCertsFromPEM(text)
	return t, nil
}

// certificates reads a file of certificates in PEM form, of which there must be one.
func certificates(s config.Setting) ([]byte, *config.Error) {
	path := s.Value
	if !filepath.IsAbs(path) { // where it is said is where it is from
		path = filepath.Join(filepath.Dir(s.Source.Name), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok { // the path is said beside it
			err = pe.Err
		}
		return nil, (&config.Error{Code: "config.ca_file", Args: []any{path, err}}).In(s.Source)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return nil, (&config.Error{Code: "config.ca_file.empty", Args: []any{path}}).In(s.Source)
	}
	return text, nil
}

// CheckEntries gives what package config can't know of: quirks that are none, and files of certificates that are none, in every entry of
// providers that is turned on. A run is refused over those of its own endpoint.
func CheckEntries(c *config.Config) (bad []*config.Error) {
	seen := map[config.Source]bool{}
	look := func(s config.Setting) {
		if s.Value == "" || seen[s.Source] {
			return
		}
		seen[s.Source] = true
		if _, e := certificates(s); e != nil {
			bad = append(bad, e)
		}
	}
	look(c.CAFile)
	for _, e := range c.Providers {
		if !e.Disabled {
			bad = append(bad, badQuirks(e.Quirks)...)
			look(e.Setting(config.CAFile))
		}
	}
	return bad
}

// badQuirks says what is wrong with the quirks of an entry, each at its place.
func badQuirks(s config.Setting) (bad []*config.Error) {
	if s.Value == "" {
		return nil
	}
	for _, m := range provider.CheckMembers([]byte(s.Value)) {
		name := s.Key + "." + m.Name
		e := &config.Error{Code: "config.file.type", Args: []any{name, m.Takes}}
		switch {
		case m.Unknown:
			var names []string
			for _, known := range provider.Members() {
				names = append(names, known.Name)
			}
			e.Code, e.Args = "config.quirk", []any{s.Key, m.Name, strings.Join(names, ", ")}
			if like := config.Nearest(m.Name, names, 1); len(like) > 0 {
				e.Code, e.Args = "config.quirk.like", []any{s.Key, m.Name, like[0]}
			}
		case m.Value != "":
			e.Code, e.Args = "config.value", []any{name, m.Value, m.Takes}
		}
		bad = append(bad, e.In(s.Member(m.Name)))
	}
	slices.SortStableFunc(bad, func(a, b *config.Error) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return bad
}

// profileOf is how the endpoint differs from its protocol: what is known of it, over that what was measured and is kept below state ("": nothing
// is), and over that what the person's file says.
func profileOf(c *config.Config, state, model string) (provider.Profile, *config.Error) {
	p := provider.ProfileFor(c.Protocol.Value, c.Provider, c.BaseURL.Value, model)
	if state != "" {
		if m, ok := readProbed(state, c, model); ok && len(m.Quirks) > 0 {
			_ = applyQuirks(&p, m.Quirks) // it was tried when it was read
		}
	}
	if c.Quirks.Value == "" {
		return p, nil
	}
	if bad := badQuirks(c.Quirks); bad != nil {
		return p, bad[0]
	}
	_ = applyQuirks(&p, []byte(c.Quirks.Value)) // each member is of its type
	return p, nil
}

// memberNames gives the names of the members of an object.
func memberNames(object string) (out []string) {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &m) == nil {
		for name := range m {
			out = append(out, name)
		}
	}
	return out
}

// extraHeader is what the person's file has sent with each request.
func extraHeader(c *config.Config) http.Header {
	h := http.Header{}
	for _, s := range c.Headers {
		h.Set(s.Key[strings.LastIndexByte(s.Key, '.')+1:], s.Value)
	}
	return h
}

// requestHeader is the header of a request without a body to the endpoint, with a key ("": none), and with what the person
// has sent to it.
func requestHeader(c *config.Config, key string) http.Header {
	profile, _ := profileOf(c, "", c.Model.Value) // no measured difference is in the header; what is wrong with it is told elsewhere
	h, secret := provider.Header(c.Protocol.Value, profile, key)
	for _, more := range []http.Header{secret, extraHeader(c)} {
		for name, values := range more {
			h[name] = values
		}
	}
	return h
}
