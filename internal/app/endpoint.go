package app

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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
	path := c.CAFile.Value
	if !filepath.IsAbs(path) { // where it is said is where it is from
		path = filepath.Join(filepath.Dir(c.CAFile.Source.Name), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return t, (&config.Error{Code: "config.ca_file", Args: []any{path, err}}).In(c.CAFile.Source)
	}
	if t.Roots, err = x509.SystemCertPool(); err != nil {
		t.Roots = x509.NewCertPool()
	}
	if !t.Roots.AppendCertsFromPEM(text) {
		return t, (&config.Error{Code: "config.ca_file.empty", Args: []any{path}}).In(c.CAFile.Source)
	}
	return t, nil
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
	if err := applyQuirks(&p, []byte(c.Quirks.Value)); err != nil {
		text := strings.TrimPrefix(err.Error(), "json: ")
		return p, (&config.Error{Code: "config.quirks", Args: []any{c.Quirks.Key, text}}).In(c.Quirks.Source)
	}
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
