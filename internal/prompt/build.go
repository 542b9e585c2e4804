package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"overt/internal/llm"
)

// Manifest tells what a build had to do beyond the record.
type Manifest struct {
	Repairs  []Repair
	Estimate int // tokens of the whole request, estimated
}

// errNoHead: a thread without a context.head has no model to build for.
var errNoHead = errors.New("the thread has no context.head")

// Build gives the request that the thread stands for. It is pure: the same path gives the same request.
//
// Every call in it is followed by exactly one result and every result follows its call, whatever the record holds; what
// had to be mended is in the manifest. The request shares memory with the thread and must not be changed.
func Build(t *Thread) (*llm.Request, Manifest, error) {
	if t.head == nil {
		return nil, Manifest{}, errNoHead
	}
	r := &llm.Request{System: t.system, Tools: t.tools, Messages: t.messages}
	m := Manifest{Repairs: t.repairs}
	if len(t.head.Params) > 0 {
		if err := json.Unmarshal(t.head.Params, &r.Params); err != nil {
			return nil, m, err
		}
	}
	msgs, repairs := t.results()
	r.Messages = slices.Concat(t.messages, msgs)
	if t.left {
		leaveOut(r.Messages)
	}
	m.Repairs = append(slices.Clip(m.Repairs), repairs...)
	m.Estimate = t.count(msgs)
	return r, m, nil
}

// count estimates the tokens of the request. What a thread has counted once it does not count again.
func (t *Thread) count(open []llm.Message) int {
	for _, m := range t.messages[t.counted:] {
		t.tokens += tokens(m)
	}
	t.counted = len(t.messages)
	n := t.tokens
	for _, m := range open {
		n += tokens(m)
	}
	for _, b := range t.system {
		n += estimate(b.Text)
	}
	for _, s := range t.tools {
		n += estimate(s.Description) + estimate(string(s.Schema))
	}
	return n
}

func tokens(m llm.Message) int {
	n := 0
	for _, b := range m.Blocks {
		n += estimate(b.Text)
		if b.Call != nil {
			n += estimate(b.Call.Name) + estimate(b.Call.Arguments)
		}
		if b.Result != nil {
			n += estimate(b.Result.Content)
		}
		if b.Image != nil {
			n += pictureTokens
		}
	}
	return n
}

// wireArgs is the text of arguments that a request may hold: as received, or {} where that is not a JSON object, since
// several servers refuse every later request of a history with broken arguments in it. The record keeps the original.
func wireArgs(args string) string {
	raw := bytes.TrimSpace([]byte(args))
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return "{}"
	}
	return args
}
