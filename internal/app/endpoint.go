package app

import (
	"bytes"
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

// profileOf is how the endpoint differs from its protocol: what is known of it, and over that what the person's file says.
func profileOf(c *config.Config, model string) (provider.Profile, *config.Error) {
	p := provider.ProfileFor(c.Protocol.Value, c.Provider, c.BaseURL.Value, model)
	if c.Quirks.Value == "" {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(c.Quirks.Value)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		text := strings.TrimPrefix(err.Error(), "json: ")
		return p, (&config.Error{Code: "config.quirks", Args: []any{c.Quirks.Key, text}}).In(c.Quirks.Source)
	}
	return p, nil
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
	profile, _ := profileOf(c, c.Model.Value) // what is wrong with it is told elsewhere
	h, secret := provider.Header(c.Protocol.Value, profile, key)
	for _, more := range []http.Header{secret, extraHeader(c)} {
		for name, values := range more {
			h[name] = values
		}
	}
	return h
}
