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

// ErrNoHead is returned by Build for a thread that has no context.head: there is no model to build for.
var ErrNoHead = errors.New("the thread has no context.head")

// Build gives the request that the thread stands for. It is pure: the same path gives the same request.
//
// Every call in it is followed by exactly one result and every result follows its call, whatever the record holds; what
// had to be mended is in the manifest. The request shares memory with the thread and must not be changed.
func Build(t *Thread) (*llm.Request, Manifest, error) {
	if t.head == nil {
		return nil, Manifest{}, ErrNoHead
	}
	r := &llm.Request{System: t.system, Tools: t.tools, Messages: t.messages}
	m := Manifest{Repairs: t.repairs}
	if len(t.head.Params) > 0 {
		if err := json.Unmarshal(t.head.Params, &r.Params); err != nil {
			return nil, m, err
		}
	}
	msgs, repairs := t.results()
	r.Messages = append(slices.Clip(t.messages), msgs...)
	m.Repairs = append(slices.Clip(m.Repairs), repairs...)
	m.Estimate = estimate(r)
	return r, m, nil
}

func estimate(r *llm.Request) int {
	bytes := 0
	for _, b := range r.System {
		bytes += len(b.Text)
	}
	for _, s := range r.Tools {
		bytes += len(s.Description) + len(s.Schema)
	}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			bytes += len(b.Text)
			if b.Call != nil {
				bytes += len(b.Call.Name) + len(b.Call.Arguments)
			}
			if b.Result != nil {
				bytes += len(b.Result.Content)
			}
		}
	}
	return (bytes + 3) / 4
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
