package wire_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"overt/internal/wire"
)

type sink struct {
	mu               sync.Mutex
	sent             []wire.Sent
	received         []wire.Received
	failSent, failed error
	alive            []bool // whether the context of each Received was still good
}

func (s *sink) Sent(_ context.Context, x wire.Sent) (wire.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, x)
	var b []byte
	for _, p := range x.Body {
		b = append(b, p.Bytes...)
	}
	return wire.Kept{Bytes: int64(len(b)), SHA256: sha256.Sum256(b)}, s.failSent
}

func (s *sink) Received(ctx context.Context, x wire.Received) (wire.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, x)
	s.alive = append(s.alive, ctx.Err() == nil)
	return wire.Kept{Bytes: int64(len(x.Body)), SHA256: sha256.Sum256(x.Body)}, s.failed
}

// serve gives a client with its sink, and a request to a server that answers with h.
func serve(t testing.TB, o wire.Options, h http.HandlerFunc) (*wire.Client, *sink, wire.Request) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // net/http notices a client that leaves only once the body is read
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}))
	t.Cleanup(server.Close)
	k := &sink{}
	o.Sink = k
	return client(t, o), k, wire.Request{
		ID: "id", Lane: "lane", Method: "POST", URL: server.URL + "/v1/x",
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []wire.Part{{Owner: "a", Bytes: []byte(`{"a":`)}, {Bytes: nil}, {Owner: "b", Bytes: []byte(`1}`)}},
	}
}

func client(t testing.TB, o wire.Options) *wire.Client {
	t.Helper()
	c := wire.New(o)
	t.Cleanup(c.Close)
	return c
}

func kindOf(t testing.TB, err error) wire.Kind {
	t.Helper()
	e, ok := err.(*wire.Error)
	if !ok {
		t.Fatalf("error is %T (%v), want *wire.Error", err, err)
	}
	if strings.ContainsAny(e.Message, "\r\n") || e.Message == "" {
		t.Errorf("message %q", e.Message)
	}
	return e.Kind
}

func flush(w http.ResponseWriter, s string) {
	io.WriteString(w, s)
	w.(http.Flusher).Flush()
}

func TestExchange(t *testing.T) {
	var got struct {
		body   string
		length int64
		header http.Header
	}
	c, k, r := serve(t, wire.Options{UserAgent: "ua/1"}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got.body, got.length, got.header = string(b), r.ContentLength, r.Header
		w.Header().Set("X-Request-Id", "req-1")
		flush(w, "one ")
		flush(w, "two")
	})
	r.Auth = http.Header{"Authorization": {"Bearer secret"}}
	r.URL += "?q=1"
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "one two" || resp.Status != 200 || resp.Header.Get("X-Request-Id") != "req-1" {
		t.Errorf("%q %v %+v", body, err, resp)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if got.body != `{"a":1}` || got.length != 7 || got.header.Get("Authorization") != "Bearer secret" || got.header.Get("User-Agent") != "ua/1" {
		t.Errorf("the server got %+v", got)
	}
	s := k.sent[0]
	if s.ID != "id" || s.Lane != "lane" || s.Method != "POST" || !strings.HasSuffix(s.URL, "/v1/x?q=1") || len(s.Body) != 3 || s.Header.Get("User-Agent") != "ua/1" {
		t.Errorf("sent %+v", s)
	}
	if s.Header.Get("Authorization") != "" {
		t.Error("the sink got the key")
	}
	if len(k.received) != 1 {
		t.Fatalf("%d ends", len(k.received))
	}
	x := k.received[0]
	total := 0
	for i, ch := range x.Chunks {
		total += ch.Bytes
		if ch.After <= 0 || i > 0 && ch.After < x.Chunks[i-1].After {
			t.Errorf("times %v", x.Chunks)
		}
	}
	if x.ID != "id" || x.Status != 200 || string(x.Body) != "one two" || total != 7 || x.Err != nil || x.At.Before(s.At) {
		t.Errorf("received %+v", x)
	}
	kept := resp.Kept()
	if kept.Request.Bytes != 7 || kept.Response.SHA256 != sha256.Sum256(body) || kept.FirstByte <= 0 || kept.Duration < kept.FirstByte {
		t.Errorf("kept %+v", kept)
	}
}

func TestCloseReadsTheEnd(t *testing.T) {
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) { flush(w, "data: [DONE]\n\n"); flush(w, "rest") })
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(k.received) != 1 || string(k.received[0].Body) != "data: [DONE]\n\nrest" || k.received[0].Err != nil {
		t.Errorf("received %+v", k.received)
	}
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read after the end: %d %v", n, err)
	}
}

func TestCloseDoesNotWaitForever(t *testing.T) {
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) { flush(w, "x"); <-r.Context().Done() })
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("close took %s", d)
	}
	if len(k.received) != 1 || kindOf(t, k.received[0].Err) != wire.Cancelled || string(k.received[0].Body) != "x" {
		t.Errorf("received %+v", k.received)
	}
}

// covers L240
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		status int
		size   int
		over   bool
	}{{200, 1000, false}, {200, 1001, true}, {500, 100, false}, {500, 101, true}} {
		cl, k, r := serve(t, wire.Options{MaxBody: 1000, MaxErrorBody: 100}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			flush(w, string(make([]byte, c.size))) // so that its length is not announced
		})
		resp, err := cl.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if c.over != (err != nil) || c.over && (kindOf(t, err) != wire.Limit || len(b) != c.size-1) {
			t.Errorf("%+v: %d bytes, %v", c, len(b), err)
		}
		if len(k.received) != 1 || len(k.received[0].Body) != len(b) || (k.received[0].Err != nil) != c.over {
			t.Errorf("%+v: received %d", c, len(k.received))
		}
	}
}

// TestAnnouncedLength: of a reply that is announced as too large nothing is read, and of an error what is allowed.
//
// covers L240
func TestAnnouncedLength(t *testing.T) {
	for status, want := range map[int]int{200: 0, 500: 100} {
		cl, k, r := serve(t, wire.Options{MaxBody: 1000, MaxErrorBody: 100}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1001")
			w.WriteHeader(status)
			w.Write(make([]byte, 1001))
		})
		resp, err := cl.Do(t.Context(), r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
		}
		if kindOf(t, err) != wire.Limit || resp.Status != status || len(k.received) != 1 || len(k.received[0].Body) != want || k.received[0].Err == nil {
			t.Errorf("%d: %v, received %+v", status, err, k.received)
		}
	}
}

// covers L262
func TestIdle(t *testing.T) {
	c, k, r := serve(t, wire.Options{Idle: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		flush(w, "x")
		<-r.Context().Done()
	})
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if kindOf(t, err) != wire.Idle || string(b) != "x" || kindOf(t, k.received[0].Err) != wire.Idle {
		t.Errorf("%q %v", b, err)
	}
}

// TestAnyByteResetsIdle sends comments more often than the limit, for longer than it.
func TestAnyByteResetsIdle(t *testing.T) {
	c, _, r := serve(t, wire.Options{Idle: 400 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for range 40 {
			flush(w, ":\n")
			<-tick.C
		}
	})
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err != nil || len(b) != 80 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestSilentFromTheStart needs an address that does not count as local: a proxy on loopback stands for it.
// covers L262
func TestSilentFromTheStart(t *testing.T) {
	for _, early := range []bool{false, true} { // whether the header comes at once
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if early {
				w.WriteHeader(200)
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}))
		defer proxy.Close()
		k := &sink{}
		c := client(t, wire.Options{Sink: k, Idle: 50 * time.Millisecond, Transport: wire.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }}})
		resp, err := c.Do(t.Context(), wire.Request{Method: "POST", URL: "http://model.example/v1"})
		if err == nil {
			_, err = io.ReadAll(resp.Body)
		}
		if kindOf(t, err) != wire.Idle || len(k.received) != 1 {
			t.Errorf("early header %v: %v", early, err)
		}
		if _, err := c.HTTP().Get("http://model.example/v1"); !early {
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.Idle {
				t.Errorf("the plain client: %v", err)
			}
		}
	}
	// the same silence from a local server is borne
	release := make(chan struct{})
	c, _, r := serve(t, wire.Options{Idle: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) { <-release; io.WriteString(w, "x") })
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var hits atomic.Int32
		c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			w.Header().Set("Location", "https://user:pw@other.example/v1/chat?key=abc")
			w.WriteHeader(status)
		})
		resp, err := c.Do(t.Context(), r)
		if kindOf(t, err) != wire.Redirect || !strings.Contains(err.Error(), "https://other.example/v1/chat") || strings.Contains(err.Error(), "abc") || strings.Contains(err.Error(), "pw") {
			t.Errorf("%d: %v", status, err)
		}
		if hits.Load() != 1 || len(k.received) != 1 || k.received[0].Status != status || resp.Status != status {
			t.Errorf("%d: %d requests, received %+v", status, hits.Load(), k.received)
		}
	}
}

// TestRedirectsWithoutAnEnd: whatever the page of a redirect is, nobody waits for it, and it stays a redirect.
func TestRedirectsWithoutAnEnd(t *testing.T) {
	for name, page := range map[string]func(http.ResponseWriter, *http.Request){
		"open":   func(w http.ResponseWriter, r *http.Request) { flush(w, ""); <-r.Context().Done() },
		"begun":  func(w http.ResponseWriter, r *http.Request) { flush(w, "x"); <-r.Context().Done() },
		"large":  func(w http.ResponseWriter, _ *http.Request) { flush(w, strings.Repeat("x", 2000)) },
		"broken": func(w http.ResponseWriter, _ *http.Request) { flush(w, "x"); panic(http.ErrAbortHandler) },
	} {
		c, k, r := serve(t, wire.Options{MaxErrorBody: 1000}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/sign-in")
			w.WriteHeader(http.StatusFound)
			page(w, r)
		})
		resp, err := c.Do(t.Context(), r)
		if kindOf(t, err) != wire.Redirect || resp.Status != http.StatusFound || len(k.received) != 1 || k.received[0].Err == nil {
			t.Errorf("%s: %v, received %+v", name, err, k.received)
		}
		k.failed = errors.New("disk full")
		if _, err := c.Do(t.Context(), r); kindOf(t, err) != wire.Record {
			t.Errorf("%s, without a record: %v", name, err)
		}
	}
}

// TestErrorWithoutABody: a local server may compute for long before the first byte of an answer, but not before that of an error.
func TestErrorWithoutABody(t *testing.T) {
	for status, want := range map[int]wire.Kind{500: wire.Idle, 401: wire.Idle, 200: ""} {
		release := make(chan struct{})
		c, k, r := serve(t, wire.Options{Idle: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			flush(w, "")
			select {
			case <-r.Context().Done():
			case <-release:
			}
		})
		resp, err := c.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			time.AfterFunc(150*time.Millisecond, func() { close(release) })
		}
		_, err = io.ReadAll(resp.Body)
		if want == "" && err != nil || want != "" && kindOf(t, err) != want || len(k.received) != 1 {
			t.Errorf("%d: %v, received %+v", status, err, k.received)
		}
	}
}

func TestCancel(t *testing.T) {
	started := make(chan struct{})
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) { close(started); <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := c.Do(ctx, r)
	if kindOf(t, err) != wire.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if len(k.received) != 1 || !k.alive[0] {
		t.Errorf("received %+v, context good: %v", k.received, k.alive)
	}
}

func TestSinkRefuses(t *testing.T) {
	var hits atomic.Int32
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) { hits.Add(1); flush(w, "x") })
	k.failSent = errors.New("disk full")
	resp, err := c.Do(t.Context(), r)
	if kindOf(t, err) != wire.Record || !errors.Is(err, k.failSent) || hits.Load() != 0 || len(k.received) != 0 {
		t.Errorf("%v, %d requests", err, hits.Load())
	}
	for range 2 {
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || kindOf(t, err) != wire.Record {
			t.Errorf("read beside an error: %d, %v", n, err)
		}
		if kindOf(t, resp.Body.Close()) != wire.Record {
			t.Error("close does not tell that nothing was recorded")
		}
	}
	k.failSent, k.failed = nil, errors.New("disk full")
	resp, err = c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(resp.Body)
	if kindOf(t, err) != wire.Record || kindOf(t, resp.Body.Close()) != wire.Record || len(k.received) != 1 {
		t.Errorf("%v", err)
	}
	_, err = client(t, wire.Options{}).Do(t.Context(), r)
	if kindOf(t, err) != wire.Record {
		t.Errorf("without a sink: %v", err)
	}
}

func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	k := &sink{}
	c := client(t, wire.Options{Sink: k})
	_, err = c.Do(t.Context(), wire.Request{Method: "POST", URL: "http://user:pw@" + addr + "/v1?key=abc", Body: []wire.Part{{Bytes: []byte("x")}}})
	if kindOf(t, err) != wire.Network || !strings.Contains(err.Error(), "refused by "+addr) || strings.Contains(err.Error(), "abc") {
		t.Errorf("%v", err)
	}
	if strings.Contains(k.sent[0].URL, "pw") {
		t.Errorf("sent %s", k.sent[0].URL)
	}
	for _, bad := range []string{"", "nowhere", "ftp://x/", "http://", "http://a b/?key=abc", "http://h:99999/?key=abc", "http://h:0/", "http://:80/"} {
		resp, err := c.Do(t.Context(), wire.Request{Method: "POST", URL: bad})
		if kindOf(t, err) != wire.Invalid || strings.Contains(err.Error(), "abc") {
			t.Errorf("%q: %v", bad, err)
		}
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || kindOf(t, err) != wire.Invalid || resp.Body.Close() != nil {
			t.Errorf("%q: read %d, %v", bad, n, err)
		}
	}
	_, err = c.Do(t.Context(), wire.Request{Method: "POST", URL: "http://h/", Auth: http.Header{"Authorization": {"abc\nx: y"}}})
	if kindOf(t, err) != wire.Invalid || !strings.Contains(err.Error(), "Authorization") || strings.Contains(err.Error(), "abc") {
		t.Errorf("header: %v", err)
	}
	if len(k.sent) != 1 {
		t.Error("an impossible request was recorded")
	}
}

// TestNeverTwice breaks a kept connection: the transport must not send the body again by itself.
func TestNeverTwice(t *testing.T) {
	var hits atomic.Int32
	_, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if hits.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		flush(w, "x")
	})
	proxy, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	// Connections to a host elsewhere are kept.
	c := wire.New(wire.Options{Sink: k, Transport: wire.Transport{Proxy: http.ProxyURL(proxy)}})
	defer c.Close()
	r.URL = "http://model.example/v1"
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	if _, err := c.Do(t.Context(), r); kindOf(t, err) != wire.Network {
		t.Errorf("%v", err)
	}
	if hits.Load() != 2 || len(k.sent) != 2 || len(k.received) != 2 {
		t.Errorf("%d requests reached the server, %d were recorded", hits.Load(), len(k.sent))
	}
}

func TestUserInfoIsSentNotRecorded(t *testing.T) {
	var got string
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) { u, p, _ := r.BasicAuth(); got = u + ":" + p })
	r.URL = strings.Replace(r.URL, "http://", "http://me:pw@", 1)
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got != "me:pw" || strings.Contains(k.sent[0].URL, "pw") || k.sent[0].Header.Get("Authorization") != "" {
		t.Errorf("sent %q, recorded %+v", got, k.sent[0])
	}
}

func TestUnknownAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused handshake is meant
	server.StartTLS()
	defer server.Close()
	c := client(t, wire.Options{Sink: &sink{}})
	if _, err := c.Do(t.Context(), wire.Request{Method: "POST", URL: server.URL}); kindOf(t, err) != wire.Network || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("%v", err)
	}
}

func TestHTTP(t *testing.T) {
	c, k, r := serve(t, wire.Options{MaxBody: 10, MaxErrorBody: 100, Idle: 50 * time.Millisecond, UserAgent: "ua/1"}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/go":
			http.Redirect(w, r, "/small", http.StatusFound)
		case "/open":
			w.WriteHeader(http.StatusInternalServerError)
			flush(w, "")
			<-r.Context().Done()
		case "/small":
			io.WriteString(w, r.UserAgent())
		case "/large":
			w.Write(make([]byte, 11))
		case "/slow":
			flush(w, "x")
			<-r.Context().Done()
		}
	})
	base := strings.TrimSuffix(r.URL, "/v1/x")
	get := func(path string) (string, error) {
		resp, err := c.HTTP().Get(base + path)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	if s, err := get("/small"); s != "ua/1" || err != nil {
		t.Errorf("%q %v", s, err)
	}
	if s, err := get("/go"); !strings.Contains(s, "Found") || err != nil { // the page itself, and no other
		t.Errorf("%q %v", s, err)
	}
	if _, err := get("/open"); kindOf(t, err) != wire.Idle {
		t.Errorf("%v", err)
	}
	if _, err := get("/large"); kindOf(t, err) != wire.Limit {
		t.Errorf("%v", err)
	}
	if _, err := get("/slow"); kindOf(t, err) != wire.Idle {
		t.Errorf("%v", err)
	}
	if len(k.sent) != 0 {
		t.Error("the plain client records")
	}
}

func TestLocal(t *testing.T) {
	for u, want := range map[string]bool{
		"http://localhost:8080/v1": true, "http://127.0.0.1": true, "http://[::1]:1": true, "http://10.1.2.3": true, "http://192.168.0.9:1234": true,
		"http://172.20.0.1": true, "http://169.254.1.1": true, "http://ollama:11434": true, "http://box.local": true, "http://[fd00::1]": true, "http://0.0.0.0:1": true,
		"https://api.deepseek.com": false, "http://8.8.8.8": false, "http://172.32.0.1": false, "http://localhost.example.com": false, "": false, "://": false,
		"http://134744072": false, "http://134744072.:80/v1": false, "http://0x8080808": false, "http://0X8080808": false, "http://99999999999999999999999": false,
		"http://2gpu": true, "http://0xbox": true,
	} {
		if got := wire.Local(u); got != want {
			t.Errorf("%q: %v", u, got)
		}
	}
}

func TestGzip(t *testing.T) {
	// gzip of "hello", made by a known encoder
	packed := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0}
	c, k, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed)
	})
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "hello" || !bytes.Equal(k.received[0].Body, b) {
		t.Errorf("%q %v", b, err)
	}
}

// TestLocalConnectionsEnd: a server on this machine gets each request on a connection of its own. Some end theirs after a
// stream without a word (llama.cpp's does), and a request that is sent meanwhile would fail.
func TestLocalConnectionsEnd(t *testing.T) {
	var mu sync.Mutex
	from := map[string]bool{}
	c, _, r := serve(t, wire.Options{}, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		from[r.RemoteAddr] = true
		io.WriteString(w, "x")
	})
	for range 3 {
		resp, err := c.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if len(from) != 3 {
		t.Errorf("3 requests came on %d connections", len(from))
	}
}
