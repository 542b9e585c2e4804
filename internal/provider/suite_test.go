package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// The suite runs each behaviour streaming and not.
func both(t *testing.T, f func(t *testing.T, set func(*provider.Options))) {
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			f(t, func(o *provider.Options) { o.Stream = stream })
		})
	}
}

func TestAnswer(t *testing.T) {
	both(t, func(t *testing.T, set func(*provider.Options)) {
		long := strings.Repeat("Zwölf Boxkämpfer 🥊 jagen 永. ", 20)
		m, server, k := start(t, scripted.Script{Key: "sk-secret", Replies: []scripted.Reply{{
			Text: long, Reasoning: "hmm … 思", Usage: &scripted.Usage{Prompt: 100, Cached: 64, Completion: 5},
		}}}, set)
		shown := map[llm.DeltaPart]string{}
		r, err := m.Stream(ctxOf(t), say("hi"), func(d llm.Delta) { shown[d.Part] += d.Text })
		if err != nil {
			t.Fatal(err)
		}
		if text(r, llm.Text) != long || text(r, llm.Reasoning) != "hmm … 思" || r.Blocks[0].Carrier != "reasoning_content" {
			t.Errorf("blocks %+v", r.Blocks)
		}
		if shown[llm.TextDelta] != long || shown[llm.ReasoningDelta] != "hmm … 思" {
			t.Errorf("shown %q", shown)
		}
		if r.Finish != llm.Stop || r.RawFinish != "stop" || r.Dropped != 0 {
			t.Errorf("finish %q %q, dropped %d", r.Finish, r.RawFinish, r.Dropped)
		}
		if *r.Usage.Fresh != 36 || *r.Usage.CacheRead != 64 || *r.Usage.Output != 5 || r.Usage.CacheWrite != nil || r.Usage.Reasoning != nil {
			t.Errorf("usage %+v", r.Usage)
		}
		log := server.Log()
		if len(log) != 1 || !bytes.Equal(log[0].Request, join(k.sent[0].Body)) || !bytes.Equal(log[0].Response, k.received[0].Body) {
			t.Error("what was recorded is not what the server received and sent")
		}
		if log[0].Header.Get("Authorization") != "Bearer sk-secret" || strings.Contains(fmt.Sprint(k.sent[0].Header), "secret") {
			t.Error("the key must be sent and not recorded")
		}
		x := r.Exchange
		if x.HTTP != 200 || x.ProviderID != "chatcmpl-scripted-1" || x.Request.Bytes != int64(len(log[0].Request)) || len(x.Response.SHA256) != 64 || x.FirstByte <= 0 || x.Duration < x.FirstByte {
			t.Errorf("exchange %+v", x)
		}
	})
}

func TestCalls(t *testing.T) {
	both(t, func(t *testing.T, set func(*provider.Options)) {
		args := `{"path": "a \"b\"\n 🥊",  "n": 1.50}`
		m, _, _ := start(t, scripted.Script{Replies: []scripted.Reply{{Text: "Look.", Calls: []scripted.Call{
			{ID: "a", Name: "read", Args: args}, {ID: "b", Name: "now", Args: "{}"},
		}}}}, set)
		q := say("hi")
		q.Tools = toolSpecs()
		r, err := m.Stream(ctxOf(t), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []llm.ToolCall{{ID: "a", Name: "read", Arguments: args}, {ID: "b", Name: "now", Arguments: "{}"}}
		if got := callsOf(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("calls %q, want %q", got, want)
		}
		if r.Finish != llm.ToolCalls || r.Blocks[0].Text != "Look." {
			t.Errorf("%+v", r)
		}
	})
}

// covers L241
func TestCutConnection(t *testing.T) {
	both(t, func(t *testing.T, set func(*provider.Options)) {
		m, server, k := start(t, scripted.Script{Replies: []scripted.Reply{{
			Text: strings.Repeat("x", 40), Calls: []scripted.Call{{Name: "read", Args: `{"path":"` + strings.Repeat("y", 99) + `"}`}}, Cut: 7,
		}}}, set)
		q := say("hi")
		q.Tools = toolSpecs()
		r, err := m.Stream(ctxOf(t), q, nil)
		e := asError(t, err)
		if e.Class != llm.Cut || !e.Retryable() || len(callsOf(r)) != 0 {
			t.Errorf("error %+v, response %+v", e, r)
		}
		if r.Exchange.HTTP == 200 && len(k.received) == 1 && !bytes.Equal(k.received[0].Body, server.Log()[0].Response) {
			t.Error("the record of a cut reply differs from what was sent")
		}
		if k.received[0].Err == nil {
			t.Error("the record does not say that the reply was cut")
		}
	})
}

func TestCancel(t *testing.T) {
	both(t, func(t *testing.T, set func(*provider.Options)) {
		hold := make(chan struct{})
		defer close(hold)
		m, _, k := start(t, scripted.Script{Replies: []scripted.Reply{{Text: strings.Repeat("word ", 100), Hold: hold}}}, set)
		ctx, cancel := context.WithCancel(ctxOf(t))
		go func() {
			for {
				k.mu.Lock()
				n := len(k.sent)
				k.mu.Unlock()
				if n > 0 {
					cancel()
					return
				}
			}
		}()
		_, err := m.Stream(ctx, say("hi"), nil)
		if e := asError(t, err); e.Class != llm.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("error %+v", e)
		}
		if len(k.received) != 1 {
			t.Errorf("%d ends recorded, want 1", len(k.received))
		}
	})
}

func TestNothingIsSentUnrecorded(t *testing.T) {
	both(t, func(t *testing.T, set func(*provider.Options)) {
		m, server, k := start(t, scripted.Script{Replies: []scripted.Reply{{Text: "x"}}}, set)
		k.fail = errors.New("disk full")
		_, err := m.Stream(ctxOf(t), say("hi"), nil)
		if e := asError(t, err); e.Class != llm.Storage || !strings.Contains(e.Message, "disk full") || e.Retryable() {
			t.Errorf("error %+v", e)
		}
		if len(server.Log()) != 0 || len(k.received) != 0 {
			t.Error("something was sent")
		}
	})
}

// covers L238
func TestNoServer(t *testing.T) {
	m, server, _ := start(t, scripted.Script{}, nil)
	server.Close()
	r, err := m.Stream(ctxOf(t), say("hi"), nil)
	if e := asError(t, err); e.Class != llm.Network || !e.Retryable() || !strings.Contains(e.Message, "refused") {
		t.Errorf("error %+v", e)
	}
	if r.Exchange.Request.Bytes == 0 {
		t.Error("the recorded request is not in the exchange")
	}
}
