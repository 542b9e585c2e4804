package wire_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"overt/internal/wire"
)

// TestProber: each link is told apart, and what is sent is what was asked for.
func TestProber(t *testing.T) {
	var got *http.Request
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	})
	open, sealed := httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(open.Close)
	t.Cleanup(sealed.Close)
	p := wire.NewProber(wire.Transport{}, "overt")
	t.Cleanup(p.Close)

	s := p.Look(t.Context(), http.MethodGet, "http://me:secret@"+strings.TrimPrefix(open.URL, "http://")+"/away", nil)
	if s.Name.Tried || !s.Connect.Tried || s.Connect.Err != nil || s.TLS.Tried || !s.HTTP.Tried || s.HTTP.Err != nil || s.Status != http.StatusFound {
		t.Errorf("an open server: %+v", s)
	}
	if user, password, _ := got.BasicAuth(); user != "me" || password != "secret" || got.UserAgent() != "overt" {
		t.Errorf("it was sent %v", got.Header)
	}
	s = p.Look(t.Context(), http.MethodGet, open.URL, http.Header{"Authorization": {"Bearer k"}})
	if s.Connect.Tried || s.Status != http.StatusOK || got.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("the same server again: %+v", s)
	}
	got = nil
	s = p.Look(t.Context(), http.MethodGet, sealed.URL, http.Header{"Authorization": {"Bearer k"}})
	if s.TLS.Err == nil || s.TLSFault != wire.FaultAuthority || s.Cert == nil || s.HTTP.Tried || got != nil {
		t.Errorf("a certificate of nobody: %+v", s)
	}
	if _, ok := p.Date(t.Context(), sealed.URL+"/v1?key=k"); !ok || got.Method != http.MethodHead || got.URL.String() != "/" || got.Header.Get("Authorization") != "" {
		t.Errorf("asked for the time: %+v", got)
	}
	s = p.Look(t.Context(), http.MethodGet, strings.Replace(open.URL, "http", "https", 1), nil)
	if s.TLSFault != wire.FaultPlain || s.HTTP.Tried {
		t.Errorf("no TLS: %+v", s)
	}
	s = p.Look(t.Context(), http.MethodGet, "http://nowhere.invalid", nil)
	if s.Name.Err == nil || s.Connect.Tried || s.HTTP.Tried {
		t.Errorf("no such name: %+v", s)
	}
	s = p.Look(t.Context(), http.MethodGet, "http://127.0.0.1:1", nil)
	if s.Connect.Err == nil || s.HTTP.Tried {
		t.Errorf("nobody listens: %+v", s)
	}

	there, err := url.Parse(open.URL)
	if err != nil {
		t.Fatal(err)
	}
	p = wire.NewProber(wire.Transport{Proxy: http.ProxyURL(there)}, "overt")
	t.Cleanup(p.Close)
	s = p.Look(t.Context(), http.MethodGet, "https://nowhere.invalid/v1", http.Header{"Authorization": {"Bearer k"}})
	if s.Proxy == nil || s.Host != there.Host || s.TunnelStatus != http.StatusOK || s.TLS.Err == nil || got.Header.Get("Authorization") != "" {
		t.Errorf("through a proxy that lets nobody through: %+v; it got %v", s, got.Header)
	}
}
