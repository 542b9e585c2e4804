//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
	"overt/internal/wire"
)

const (
	protocolSteps = 20
	decodeBytes   = 1 << 20 // of text in a reply, or a little less
)

// providers is what each protocol costs in this process: a request encoded, a reply decoded, and how much of a request the
// server has seen before.
func (b *bench) providers() error {
	text, err := sourceText()
	if err != nil {
		return err
	}
	for _, p := range []struct{ protocol, preset string }{{provider.Chat, "deepseek"}, {provider.Responses, "openai"}, {provider.Messages, "anthropic"}} {
		profile := provider.ProfileFor(p.protocol, p.preset, "", "m")
		var all []time.Duration
		share, size := 1.0, 0
		for range b.rounds {
			k, err := protocolTask(p.protocol, profile, text)
			if err != nil {
				return fmt.Errorf("%s: %w", p.protocol, err)
			}
			last := len(k.bodies) - 1
			all, size = append(all, k.encoded[last]), len(k.bodies[last])
			for i := range last {
				share = min(share, prefixShare(k.bodies[i], k.bodies[i+1]))
			}
		}
		b.least("7 protocols", p.protocol+": bytes of a request that begin the next one, marks apart, in 20 steps", 100*share, 99, "%")
		b.note("7 protocols", "… request 20, from blocks to bytes", fmt.Sprintf("%.3f ms (%d kB)", ms(median(all)), size>>10))
		whole, err := encodeWhole(p.protocol, profile, text, b.rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", p.protocol, err)
		}
		b.note("7 protocols", "… the same without the requests before it", fmt.Sprintf("%.3f ms", ms(whole)))
		speed, err := decodeSpeed(p.protocol, profile, text, max(3, b.rounds/3))
		if err != nil {
			return fmt.Errorf("%s: %w", p.protocol, err)
		}
		b.note("7 protocols", "… decoding a stream", fmt.Sprintf("%.0f MB/s", speed))
	}
	return nil
}

// least adds a line whose value must be at least so much.
func (b *bench) least(block, line string, value, limit float64, unit string) {
	ok := "yes"
	if !(value >= limit) {
		ok = "NO"
	}
	b.rows = append(b.rows, row{block, line, fmt.Sprintf("%.2f%s", value, unit), "≥ " + figure(limit) + unit, ok})
}

// bodies is a sink that keeps requests, and how long after begun each was encoded.
type bodies struct {
	begun   time.Time
	encoded []time.Duration
	bodies  [][]byte
}

// Sent implements [wire.Sink].
func (k *bodies) Sent(_ context.Context, s wire.Sent) (wire.Kept, error) {
	k.encoded = append(k.encoded, time.Since(k.begun))
	var all []byte
	for _, p := range s.Body {
		all = append(all, p.Bytes...)
	}
	k.bodies = append(k.bodies, all)
	return wire.Kept{Bytes: int64(len(all)), SHA256: sha256.Sum256(all)}, nil
}

// Received implements [wire.Sink].
func (k *bodies) Received(context.Context, wire.Received) (wire.Kept, error) {
	return wire.Kept{}, nil
}

// protocolRequest is a request of a task after so many steps; each brought an answer with reasoning and a call, and a result.
func protocolRequest(text func(n int) string) *llm.Request {
	return &llm.Request{
		Lane:   "lane",
		System: []llm.Block{{Type: llm.Text, Text: text(6000), Owner: "s"}},
		Tools: []llm.ToolSpec{{
			Name: "run_command", Description: text(500), Owner: "t",
			Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		}},
		Messages: []llm.Message{{Role: llm.User, Key: "u", Blocks: []llm.Block{{Type: llm.Text, Text: "go on", Owner: "u"}}}},
	}
}

// protocolTask does a task of steps with a server as strict as the real ones.
func protocolTask(protocol string, profile provider.Profile, text func(n int) string) (*bodies, error) {
	n := 0
	server := scripted.New(scripted.Script{Next: func(scripted.Request) scripted.Reply {
		n++
		return scripted.Reply{Text: text(answerBytes), Reasoning: text(200), Calls: []scripted.Call{{ID: fmt.Sprint("call_", n), Name: "run_command", Args: `{"command":"cat"}`}}}
	}})
	url, err := server.Start()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	k := &bodies{}
	c := wire.New(wire.Options{Sink: k})
	defer c.Close()
	m := provider.New(provider.Options{Wire: c, Protocol: protocol, Endpoint: url, Name: "bench", Model: "m", Stream: true, Profile: profile})
	q := protocolRequest(text)
	for step := range protocolSteps {
		q.ID = fmt.Sprint(step)
		k.begun = time.Now()
		r, err := m.Stream(context.Background(), q, nil)
		if err != nil {
			return nil, err
		}
		grow(q, step, r.Blocks, text)
	}
	return k, nil
}

// grow adds an answer and the results of its calls.
func grow(q *llm.Request, step int, blocks []llm.Block, text func(n int) string) {
	owner := fmt.Sprint(step)
	for i := range blocks {
		blocks[i].Owner = owner
	}
	q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Key: "a" + owner, Blocks: blocks})
	for _, x := range blocks {
		if x.Type == llm.Call {
			q.Messages = append(q.Messages, llm.Message{Role: llm.Tool, Key: "r" + owner, Blocks: []llm.Block{{
				Type: llm.Result, Owner: "r" + owner, Result: &llm.ToolResult{ID: x.Call.ID, Name: x.Call.Name, Content: text(resultBytes)},
			}}})
		}
	}
}

// prefixShare is the share of a request's bytes that begin the next one, without the marks of what is to be cached: they
// stand at the end of each, and servers do not count them in.
func prefixShare(one, next []byte) float64 {
	mark := []byte(`,"cache_control":{"type":"ephemeral"}`)
	one, next = bytes.ReplaceAll(one, mark, nil), bytes.ReplaceAll(next, mark, nil)
	n := 0
	for n < min(len(one), len(next)) && one[n] == next[n] {
		n++
	}
	return float64(n) / float64(len(one))
}

// encodeWhole times a request of 20 steps by a model that has sent none yet.
func encodeWhole(protocol string, profile provider.Profile, text func(n int) string, rounds int) (time.Duration, error) {
	q := protocolRequest(text)
	for step := range protocolSteps {
		id := fmt.Sprint("call_", step)
		grow(q, step, []llm.Block{{Type: llm.Text, Text: text(answerBytes)}, {Type: llm.Call, Call: &llm.ToolCall{ID: id, Name: "run_command", Arguments: `{"command":"cat"}`}}}, text)
	}
	var all []time.Duration
	for range rounds {
		k := &bodies{}
		// Nothing is recorded, so the call fails once the request is encoded and kept.
		c := wire.New(wire.Options{Sink: k, Replay: wire.NewReplay(nil)})
		m := provider.New(provider.Options{Wire: c, Protocol: protocol, Endpoint: "http://model.example/v1", Name: "bench", Model: "m", Stream: true, Profile: profile})
		k.begun = time.Now()
		m.Stream(context.Background(), q, nil)
		if len(k.encoded) != 1 {
			return 0, fmt.Errorf("%d requests were encoded", len(k.encoded))
		}
		all = append(all, k.encoded[0])
	}
	return median(all), nil
}

// decodeSpeed is how many megabytes of a stream a second are read into an answer, without a network.
func decodeSpeed(protocol string, profile provider.Profile, text func(n int) string, rounds int) (float64, error) {
	server := scripted.New(scripted.Script{Replies: []scripted.Reply{{Text: strings.Repeat(text(1024), decodeBytes>>10)}}})
	url, err := server.Start()
	if err != nil {
		return 0, err
	}
	defer server.Close()
	rec := &wire.Recorder{}
	ask := func(o wire.Options) error {
		c := wire.New(o)
		defer c.Close()
		m := provider.New(provider.Options{Wire: c, Protocol: protocol, Endpoint: url, Name: "bench", Model: "m", Stream: true, Profile: profile})
		r, err := m.Stream(context.Background(), protocolRequest(text), func(llm.Delta) {})
		if err == nil && !slices.ContainsFunc(r.Blocks, func(b llm.Block) bool { return len(b.Text) > decodeBytes/2 }) {
			err = fmt.Errorf("the answer has not come whole")
		}
		return err
	}
	if err := ask(wire.Options{Sink: rec}); err != nil {
		return 0, err
	}
	list := rec.Recording()
	var all []time.Duration
	for range rounds {
		begun := time.Now()
		if err := ask(wire.Options{Sink: &bodies{}, Replay: wire.NewReplay(list)}); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begun))
	}
	return float64(len(list[0].Reply)) / 1e6 / median(all).Seconds(), nil
}
