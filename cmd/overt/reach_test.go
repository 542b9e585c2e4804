package main

import (
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// config writes the person's file.
func (p *place) config(text string) {
	p.t.Helper()
	for _, kv := range p.env {
		if dir, ok := strings.CutPrefix(kv, "XDG_CONFIG_HOME="); ok {
			if err := os.MkdirAll(filepath.Join(dir, "overt"), 0o755); err != nil {
				p.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "overt", "config.json"), []byte(text), 0o600); err != nil {
				p.t.Fatal(err)
			}
			return
		}
	}
	p.t.Fatal("no folder for settings")
}

// TestOwnAuthority: a certificate that nobody known has signed is refused, and taken once its signer is trusted; what the
// doctor says is what a task does.
//
// covers L023
func TestOwnAuthority(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "over TLS"}, strictReply{Text: "over TLS"})
	var mu sync.Mutex
	var spoken []string
	tls := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		spoken = append(spoken, r.Proto)
		mu.Unlock()
		s.ServeHTTP(w, r)
	}))
	tls.EnableHTTP2 = true
	tls.StartTLS()
	defer tls.Close()

	p := newPlace(t)
	refused := p.run("-u", tls.URL+"/v1", "-m", "strict", "--retries", "0", "x").want(t, 1)
	if !strings.Contains(refused.err, "certificate") {
		t.Errorf("said %s", refused.err)
	}
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})
	p.config(fmt.Sprintf(`{"providers": {"here": {"base_url": %q, "ca_file": "own.pem"}}}`, tls.URL+"/v1"))
	missing := p.run("-m", "here/strict", "x").want(t, 3)
	if !strings.Contains(missing.err, "own.pem") || !strings.Contains(missing.err, "config.json:1:") {
		t.Errorf("said %s", missing.err)
	}
	for _, kv := range p.env {
		if dir, ok := strings.CutPrefix(kv, "XDG_CONFIG_HOME="); ok {
			if err := os.WriteFile(filepath.Join(dir, "overt", "own.pem"), own, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out := p.run("-m", "here/strict", "x").want(t, 0).out; !strings.Contains(out, "over TLS") {
		t.Errorf("said %s", out)
	}
	p.config(fmt.Sprintf(`{"providers": {"here": {"base_url": %q, "ca_file": "own.pem", "http1": true}}}`, tls.URL+"/v1"))
	p.run("-m", "here/strict", "x").want(t, 0)
	if got := strings.Join(spoken, " "); got != "HTTP/2.0 HTTP/1.1" {
		t.Errorf("spoken: %s", got)
	}
}

// TestHeadersGoUnrecorded: fields that the person has sent go to their server, and no file of the record or output has them;
// nor the password of a proxy.
func TestHeadersGoUnrecorded(t *testing.T) {
	const planted, password = "planted-header-4711", "planted-proxy-4711"
	s := startStrict(t, "", strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "env; echo " + planted}}}}, strictReply{Text: "you sent " + planted + " " + password})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pw, ok := proxyAuth(r); !ok || pw != password {
			http.Error(w, "who are you", http.StatusProxyAuthRequired)
			return
		}
		s.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	p := newPlace(t)
	p.config(fmt.Sprintf(`{"permission": "full", "providers": {"here": {"base_url": "http://model.example/v1", "headers": {"X-Team": "Token %s"}, "proxy": %q}}}`,
		planted, strings.Replace(proxy.URL, "://", "://me:"+password+"@", 1)))
	out := p.run("-v", "-m", "here/strict", "x").want(t, 0)
	if got := s.exchanges()[0].Header.Get("X-Team"); got != "Token "+planted {
		t.Errorf("sent %q", got)
	}
	all := out.out + out.err
	filepath.WalkDir(filepath.Dir(p.dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "config.json" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			all += string(text)
		}
		return nil
	})
	for _, secret := range []string{planted, password} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is in the record or the output", secret)
		}
	}
}

func proxyAuth(r *http.Request) (user, password string, ok bool) {
	other := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	return other.BasicAuth()
}
