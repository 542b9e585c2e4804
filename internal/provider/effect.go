package provider

import (
	"bytes"

	"overt/internal/llm"
)

// Effect says which parameters a request would hold. One that a server has no word for is left out of it.
type Effect struct {
	Thinking, Temperature bool
	Effort                string // the level that is sent; "": none is
}

// EffectOf compares the requests to a model with and without each parameter.
func EffectOf(protocol, model string, p Profile, q llm.Params) Effect {
	d := newDialect(Options{Protocol: protocol, Model: model, Profile: p})
	if d == nil {
		return Effect{}
	}
	head := func(q llm.Params) []byte {
		b, err := d.head(&llm.Request{Params: q})
		if err != nil {
			return nil
		}
		return b
	}
	with := head(q)
	differs := func(change func(*llm.Params)) bool {
		other := q
		change(&other)
		return !bytes.Equal(with, head(other))
	}
	e := Effect{
		Thinking:    q.Thinking != "" && differs(func(q *llm.Params) { q.Thinking = "" }),
		Temperature: q.Temperature != nil && differs(func(q *llm.Params) { q.Temperature = nil }),
	}
	if q.Effort != "" && (differs(func(q *llm.Params) { q.Effort = "" }) || differs(func(q *llm.Params) { q.Effort = "minimal" })) { // as a budget, one is what none is
		e.Effort = p.effort(q.Effort)
	}
	return e
}
