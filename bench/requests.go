//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"overt/internal/event"
	"overt/internal/prompt"
	"overt/internal/provider"
	"overt/internal/store"
	"overt/internal/wire"
)

// requests is the second half of block 2: in this process, the way of a request from the thread to the server, as the
// task grows. Each step brings as much that is new, so times of steps compare as times per new byte.
func (b *bench) requests() error {
	text, err := sourceText()
	if err != nil {
		return err
	}
	var built, sent [2][]time.Duration // around step 20, around step 400
	for range max(2, b.rounds/5) {
		seen, err := b.grow(text)
		if err != nil {
			return err
		}
		for i, n := range []int{20, longSteps} {
			for _, s := range seen[n-10 : n+10] {
				built[i], sent[i] = append(built[i], s.built), append(sent[i], s.sent)
			}
		}
	}
	early, late := median(built[0]), median(built[1])
	b.most("2 loop", "build, encode and keep request 400, to request 20", ratio(late, early), 1.5, "×")
	b.note("2 loop", "… absolute", fmt.Sprintf("%.2f ms, %.2f ms", ms(late), ms(early)))
	early, late = median(sent[0]), median(sent[1])
	b.note("2 loop", "… until the server has read its last byte", fmt.Sprintf("%.2f×, %.2f ms, %.2f ms", ratio(late, early), ms(late), ms(early)))
	return nil
}

// step is the way of one request: until it was built, encoded and kept, and until it had arrived.
type step struct{ built, sent time.Duration }

// grow sends the requests of a task that grows by a message and a result each time.
func (b *bench) grow(text func(n int) string) (steps []step, err error) {
	p, err := b.place(b.fast, "grow")
	if err != nil {
		return nil, err
	}
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(p.state, time.Now().Format("150405.000000"))})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	sink := &stampingSink{Sink: s.Captures()}
	client := wire.New(wire.Options{Sink: sink})
	defer client.Close()
	url := b.server.serve("grow", script{answer: answer("done", 16)})
	model := provider.New(provider.Options{Wire: client, Endpoint: url, Name: "bench", Model: "m", Stream: true})
	thread := &prompt.Thread{}
	var seq event.Seq
	add := func(subject string, data event.Payload) {
		seq++
		thread.Apply(event.Fact{Seq: seq, Kind: data.Kind(), Subject: subject, Data: data})
	}
	add("", event.ContextTaken{Source: "system", Name: "built-in", Place: prompt.PlaceHead, Text: text(6000)})
	add("", event.ContextHead{Cause: "first", Model: "m", Fragments: []string{"system/built-in"}})
	add("msg", event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{{Type: "text", Text: "go on"}}})
	for n := 1; n < longSteps+10; n++ {
		call := event.ToolCall{ID: fmt.Sprintf("tcl_R-%d.1", n), Given: fmt.Sprintf("call_%d", n), Name: "run_command", Args: `{"command":"cat"}`}
		add("msg", event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{{Type: "text", Text: text(answerBytes)}, {Type: "call", Call: &call}}})
		add(call.ID, event.ToolCompleted{Name: call.Name, Status: event.StatusOK, Content: text(resultBytes)})
		start := time.Now()
		r, _, err := prompt.Build(thread)
		if err != nil {
			return nil, err
		}
		r.ID, r.Lane = fmt.Sprintf("cal_R-%d.1", n), "tsk_R"
		if _, err := model.Stream(context.Background(), r, nil); err != nil {
			return nil, err
		}
		seen := b.server.take("grow")
		steps = append(steps, step{sink.kept.Sub(start), seen[0].arrived.Sub(start)})
	}
	return steps, nil
}

// stampingSink notes when a request was kept.
type stampingSink struct {
	wire.Sink
	kept time.Time
}

// Sent implements [wire.Sink].
func (s *stampingSink) Sent(ctx context.Context, r wire.Sent) (wire.Kept, error) {
	k, err := s.Sink.Sent(ctx, r)
	s.kept = time.Now()
	return k, err
}
