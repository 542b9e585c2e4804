package provider_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
	"overt/internal/wire"
)

// sink keeps exchanges in memory, as a store does.
type sink struct {
	mu       sync.Mutex
	sent     []wire.Sent
	received []wire.Received
	fail     error
}

func (s *sink) Sent(_ context.Context, x wire.Sent) (wire.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, x)
	return kept(join(x.Body)), s.fail
}

func (s *sink) Received(_ context.Context, x wire.Received) (wire.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, x)
	return kept(x.Body), nil
}

func kept(b []byte) wire.Kept { return wire.Kept{Bytes: int64(len(b)), SHA256: sha256.Sum256(b)} }

func join(parts []wire.Part) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		b.Write(p.Bytes)
	}
	return b.Bytes()
}

func newWire(t testing.TB, s wire.Sink) *wire.Client {
	t.Helper()
	c := wire.New(wire.Options{Sink: s, UserAgent: "overt/test"})
	t.Cleanup(c.Close)
	return c
}

// start serves a script and gives a model on it.
func start(t testing.TB, s scripted.Script, change func(*provider.Options)) (llm.Model, *scripted.Server, *sink) {
	t.Helper()
	server := scripted.New(s)
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	k := &sink{}
	o := provider.Options{Wire: newWire(t, k), Endpoint: url, Key: s.Key, Name: "test", Model: "m", Stream: true}
	if change != nil {
		change(&o)
	}
	return provider.New(o), server, k
}

// against gives a model on a server that answers with raw bytes, cut as given.
func against(t testing.TB, stream bool, h http.HandlerFunc) (llm.Model, *sink) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	k := &sink{}
	return provider.New(provider.Options{Wire: newWire(t, k), Endpoint: server.URL, Name: "test", Model: "m", Stream: stream}), k
}

// raw answers with pieces, each flushed by itself.
func raw(status int, header map[string]string, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the connection is reset at its end, with what was not read of the answer
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		for _, p := range pieces {
			w.Write([]byte(p))
			w.(http.Flusher).Flush()
		}
	}
}

func sse() map[string]string { return map[string]string{"Content-Type": "text/event-stream"} }

func say(text string) *llm.Request {
	return &llm.Request{ID: "cal_1", Lane: "lane", Messages: []llm.Message{user(text)}}
}

func user(text string) llm.Message {
	return llm.Message{Role: llm.User, Blocks: []llm.Block{{Type: llm.Text, Text: text, Owner: "u"}}}
}

func toolSpecs() []llm.ToolSpec {
	object := func(fields string) []byte { return []byte(`{"type":"object","properties":{` + fields + `}}`) }
	return []llm.ToolSpec{
		{Name: "read", Description: "reads", Schema: object(`"path":{"type":"string"}`), Owner: "t"},
		{Name: "bash", Description: "runs", Schema: object(`"command":{"type":"string"}`), Owner: "t"},
		{Name: "now", Schema: object(""), Owner: "t"},
	}
}

func ctxOf(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func text(r *llm.Response, kind llm.BlockType) string {
	var b strings.Builder
	for _, x := range r.Blocks {
		if x.Type == kind {
			b.WriteString(x.Text)
		}
	}
	return b.String()
}

func callsOf(r *llm.Response) (out []llm.ToolCall) {
	for _, x := range r.Blocks {
		if x.Type == llm.Call {
			out = append(out, *x.Call)
		}
	}
	return out
}

func asError(t testing.TB, err error) *llm.Error {
	t.Helper()
	e, ok := err.(*llm.Error)
	if !ok {
		t.Fatalf("error is %T (%v), want *llm.Error", err, err)
	}
	return e
}
