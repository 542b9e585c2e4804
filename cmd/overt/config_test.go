package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// everyHost is a proxy that answers for every host, also over TLS with certificates of its own authority, and keeps what
// came for which host. So keys can be watched on their way to vendors without a network.
type everyHost struct {
	addr string
	ca   string // file with the authority's certificate

	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	mu     sync.Mutex
	got    []hostRequest
	status int // of answers to prompts; 0 is 200
}

// hostRequest is what came: for which host, with which header and body.
type hostRequest struct {
	scheme, host, path string
	header             http.Header
	body               string
}

func startEveryHost(t *testing.T) *everyHost {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "everyHost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	h := &everyHost{key: key, cert: cert, ca: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(h.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.addr = "http://" + l.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(h.serve)}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return h
}

// serve takes a request for a plain host, or opens a tunnel and takes those in it.
func (h *everyHost) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		h.answer(w, r, "http", r.URL.Host)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
	name, _, _ := net.SplitHostPort(r.Host)
	tunnel := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{h.certificate(name)}})
	in := bufio.NewReader(tunnel)
	for {
		inner, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		b := &buffered{header: http.Header{}, status: 200}
		h.answer(b, inner, "https", r.Host)
		res := http.Response{StatusCode: b.status, ProtoMajor: 1, ProtoMinor: 1, Header: b.header, Body: io.NopCloser(&b.Buffer), ContentLength: int64(b.Len())}
		if res.Write(tunnel) != nil {
			return
		}
	}
}

type buffered struct {
	bytes.Buffer
	header http.Header
	status int
}

func (b *buffered) Header() http.Header { return b.header }
func (b *buffered) WriteHeader(s int)   { b.status = s }

func (h *everyHost) certificate(name string) tls.Certificate {
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, h.cert, h.key.Public(), h.key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: h.key}
}

// answer lists one model, and answers each prompt with a word.
func (h *everyHost) answer(w http.ResponseWriter, r *http.Request, scheme, host string) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.got = append(h.got, hostRequest{scheme, host, r.URL.Path, r.Header.Clone(), string(body)})
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if h.status != 0 {
		w.WriteHeader(h.status)
		io.WriteString(w, `{"error":{"message":"not today"}}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/models") {
		io.WriteString(w, `{"object":"list","data":[{"id":"only-one","object":"model"}]}`)
		return
	}
	io.WriteString(w, `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
}

// take gives what came, and forgets it.
func (h *everyHost) take() []hostRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.got
	h.got = nil
	return out
}

// TestEndpoints: for each combination of file, variables and flags, `config show` says where the key is from, and the
// endpoint gets the request with that key; no other key goes anywhere.
//
// covers L038 L045 L058 L059 L060 L061
func TestEndpoints(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/config/testdata/endpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, File           string
		Env, Flags           map[string]string
		Provider, URL, Model string
		Key, From, Code      string
		Usage                bool
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 60 {
		t.Fatal(len(cases), err)
	}
	net := startEveryHost(t)
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "HTTP_PROXY="+net.addr, "HTTPS_PROXY="+net.addr, "SSL_CERT_FILE="+net.ca)
			keys := map[string]bool{}
			for name, value := range tt.Env {
				p.env = append(p.env, name+"="+value)
			}
			for _, text := range append([]string{tt.File, tt.Flags["api_key"]}, p.env...) {
				for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`"= ,{}`, r) }) {
					if strings.Contains(word, "key-") {
						keys[word] = true
					}
				}
			}
			args := []string{"--no-stream", "--max-tokens", "77"}
			if tt.File != "" {
				p.write("mine.json", tt.File)
				args = append(args, "-c", "mine.json")
			}
			for k, v := range tt.Flags {
				args = append(args, "--"+strings.ReplaceAll(k, "_", "-")+"="+v)
			}
			shown := p.run(append([]string{"config", "show", "--json"}, args...)...)
			for k := range keys {
				if strings.Contains(shown.out+shown.err, k) {
					t.Errorf("%s is shown", k)
				}
			}
			net.take()
			if tt.Code != "" {
				want := 3
				if tt.Usage {
					want = 2
				}
				r := p.run(append(args, "hi")...).want(t, want)
				if got := net.take(); len(got) > 0 || !strings.HasPrefix(r.err, "overt: ") {
					t.Errorf("%s\n%v", r.err, got)
				}
				return
			}
			var settings []struct {
				Key, Source string
				Set         bool
			}
			if err := json.Unmarshal([]byte(shown.want(t, 0).out), &settings); err != nil {
				t.Fatal(err)
			}
			for _, s := range settings {
				if from := strings.ReplaceAll(tt.From, "/c.json", filepath.Join(p.dir, "mine.json")); s.Key == "api_key" && (s.Set != (tt.Key != "") || tt.From != "" && s.Source != from) {
					t.Errorf("api_key: %+v, want %s", s, from)
				}
			}
			want, err := url.Parse(tt.URL)
			if err != nil {
				t.Fatal(err)
			}
			if want.Hostname() == "127.0.0.1" || want.Hostname() == "::1" {
				return // no proxy is asked for this machine
			}
			p.run(append(args, "hi")...).want(t, 0)
			got := net.take()
			own := slices.IndexFunc(got, func(r hostRequest) bool { return r.path == "/api/ps" }) // of Ollama, after the answer
			if own >= 0 && tt.Provider == "ollama" {
				got = slices.Delete(got, own, own+1)
			}
			if len(got) == 0 {
				t.Fatal("no request came")
			}
			port := map[string]string{"http": "80", "https": "443"}
			for _, r := range got {
				host := func(scheme, h string) string { return strings.ToLower(strings.TrimSuffix(h, ":"+port[scheme])) }
				if r.scheme != want.Scheme || host(r.scheme, r.host) != host(want.Scheme, want.Host) || !strings.HasPrefix(r.path, strings.TrimSuffix(want.Path, "/")) {
					t.Errorf("a request for %s://%s%s, want %s", r.scheme, r.host, r.path, tt.URL)
				}
				for k := range keys {
					sent := strings.Contains(fmt.Sprint(r.header, r.body, r.path), k)
					if sent != (k == tt.Key) {
						t.Errorf("%s: sent %t to %s", k, sent, r.host)
					}
				}
			}
			model := tt.Model
			if model == "" {
				model = "only-one"
			}
			if last := got[len(got)-1]; !strings.Contains(last.body, fmt.Sprintf(`"model":%q`, model)) {
				t.Errorf("model %s is not asked for: %.200s", model, last.body)
			} else if field := `"max_completion_tokens":77`; strings.Contains(last.body, field) != (tt.Provider == "openai" || tt.Provider == "moonshot" || tt.Provider == "xai") {
				t.Errorf("the limit of the answer: %.200s", last.body)
			}
		})
	}
}

// TestNoFailOver: an endpoint that refuses or is down is an error; nothing goes to another one whose key is at hand.
//
// covers F070 F135
func TestNoFailOver(t *testing.T) {
	t.Parallel()
	net := startEveryHost(t)
	for status, want := range map[int]int{401: 3, 404: 1, 429: 1, 500: 1} {
		net.status = status
		p := newPlace(t)
		p.env = append(p.env, "HTTPS_PROXY="+net.addr, "SSL_CERT_FILE="+net.ca, "DEEPSEEK_API_KEY=key-d-0123456789", "OPENAI_API_KEY=key-o-0123456789")
		p.write("mine.json", `{"providers": {"work": {"base_url": "https://w.example/v1", "api_key": "key-w-0123456789"}}}`)
		r := p.run("-c", "mine.json", "--retries", "0", "hi").want(t, want)
		if !strings.Contains(r.err, "overt: the run failed: ") {
			t.Errorf("%d: %s", status, r.err)
		}
		got := net.take()
		if len(got) != 1 || got[0].host != "api.deepseek.com:443" || got[0].header.Get("Authorization") != "Bearer key-d-0123456789" {
			t.Errorf("%d: %d requests: %+v", status, len(got), got)
		}
	}
}

// TestPortable: a file beside the program, as it is called, makes that folder hold everything.
//
// covers L040 L041 L042
func TestPortable(t *testing.T) {
	s := startStrict(t, "", strictReply{Text: "one"}, strictReply{Text: "two"})
	p := newPlace(t)
	program, err := exec.LookPath("overt")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"stick", "bin"} {
		p.make(dir)
	}
	if err := os.Symlink(program, filepath.Join(p.dir, "stick", "overt")); err != nil {
		t.Fatal(err)
	}
	p.write("stick/overt.json", fmt.Sprintf(`{"base_url": %q, "model": "strict"} // on the stick`, s.URL))
	run := func(path string, args ...string) ran {
		t.Helper()
		c := exec.Command(path, args...)
		var out, errs bytes.Buffer
		c.Dir, c.Env, c.Stdout, c.Stderr = p.dir, p.env, &out, &errs
		c.Args[0] = path
		c.Run()
		return ran{out.String(), errs.String(), c.ProcessState.ExitCode()}
	}
	if r := run("./stick/overt", "hello").want(t, 0); r.out != "one\n" {
		t.Errorf("%+v", r)
	}
	if !p.exists("stick/overt-state/workspaces") {
		t.Error("the record is not on the stick")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(p.dir), "state")); err == nil {
		t.Error("something is in the usual place")
	}
	if r := run(filepath.Join(p.dir, "stick", "overt"), "config", "path").want(t, 0); r.out != filepath.Join(p.dir, "stick", "overt.json")+"\n" {
		t.Errorf("%+v", r)
	}
	// the same program under a link elsewhere has a home of its own: the usual one
	if err := os.Symlink(filepath.Join(p.dir, "stick", "overt"), filepath.Join(p.dir, "bin", "overt")); err != nil {
		t.Fatal(err)
	}
	if r := run("./bin/overt", "config", "path").want(t, 0); strings.Contains(r.out, "stick") {
		t.Errorf("%+v", r)
	}
}

// TestRequestTimeout: a request that takes too long fails, and is not made again.
//
// covers L076
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	s := startStrict(t, "", strictReply{Text: "slow", Hang: true}, strictReply{Text: "never asked for"})
	p := newPlace(t)
	r := p.run("-u", s.URL, "-m", "strict", "--request-timeout", "1s", "--retries", "5", "x").want(t, 1)
	if !strings.Contains(r.err, "no whole answer came within 1s") || len(s.exchanges()) != 1 {
		t.Errorf("%d requests: %s", len(s.exchanges()), r.err)
	}
}

// TestLocalServerIsNamed: without a model configured, servers on this machine are named and not used.
//
// covers L060
func TestLocalServerIsNamed(t *testing.T) {
	net := startEveryHost(t)
	p := newPlace(t)
	p.env = append(p.env, "OLLAMA_HOST="+net.addr, "OVERT_MODEL=some-model")
	r := p.run("hi").want(t, 3)
	if !strings.Contains(r.err, "a model server answers on this machine: ollama at "+net.addr+"/v1; use it with: overt -m ollama/only-one") {
		t.Error(r.err)
	}
	for _, q := range net.take() {
		if q.path != "/v1/models" || q.body != "" {
			t.Errorf("%+v", q)
		}
	}
	p.run("-m", "ollama/only-one", "hi").want(t, 0)
	if got := net.take(); len(got) != 2 || got[0].path != "/v1/chat/completions" || got[1].path != "/api/ps" {
		t.Errorf("%+v", got)
	}
}

// TestMistypedProvider: what is meant for a server of one's own goes nowhere when its name is mistyped, and check and doctor say so.
func TestMistypedProvider(t *testing.T) {
	net := startEveryHost(t)
	p := newPlace(t)
	p.env = append(p.env, "HTTPS_PROXY="+net.addr, "SSL_CERT_FILE="+net.ca, "DEEPSEEK_API_KEY=key-d-0123456789")
	p.write("mine.json", `{"model": "work/big-model", "providers": {"wrok": {"base_url": "https://w.example/v1"}}}`)
	for _, args := range [][]string{{"hello"}, {"config", "check"}, {"doctor"}} {
		want := 3
		if args[0] == "doctor" {
			want = 1
		}
		r := p.run(append([]string{"-c", "mine.json"}, args...)...).want(t, want)
		if !strings.Contains(r.out+r.err, `there is no provider "work"; there are wrok, deepseek, `) {
			t.Errorf("%v: %s%s", args, r.out, r.err)
		}
	}
	for _, q := range net.take() {
		t.Errorf("%s %s", q.host, q.path)
	}
}
