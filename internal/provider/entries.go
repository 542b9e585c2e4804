package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// entries collects reasoning_details of OpenRouter: a stream cuts an entry into several under one index, which are put
// together again, since upstream servers refuse entries that are there twice. Source: openrouter.ai/docs, reasoning tokens.
type entries struct{ list []*entry }

// entry is an object that comes in pieces.
type entry struct {
	kind, index string
	names       []string
	values      map[string]raw
	text        map[string]*strings.Builder // of text, summary and data, joined
}

// add takes the entries of a delta.
func (e *entries) add(list raw) {
	for v := range list.elements() {
		if v.kind() != '{' {
			continue
		}
		kind, index := v.get("type").text(), string(v.get("index"))
		i := slices.IndexFunc(e.list, func(o *entry) bool { return index != "" && o.index == index && o.kind == kind })
		if i < 0 {
			i = len(e.list)
			e.list = append(e.list, &entry{kind: kind, index: index, values: map[string]raw{}, text: map[string]*strings.Builder{}})
		}
		e.list[i].add(v)
	}
}

// add takes a piece: the texts are joined, of other members the last counts.
func (e *entry) add(v raw) {
	e.set(v)
	for _, k := range []string{"text", "summary", "data"} {
		if m := v.get(k); m.kind() == '"' {
			if e.text[k] == nil {
				e.text[k] = &strings.Builder{}
			}
			e.text[k].WriteString(m.text())
		}
	}
}

// set takes the members of an object in place of what there was; null takes nothing away.
func (e *entry) set(v raw) {
	for k, m := range v.members() {
		old, known := e.values[k]
		if !known {
			e.names = append(e.names, k)
		}
		if !m.null() || old == nil {
			e.values[k] = slices.Clone(m)
		}
	}
}

// object gives the whole.
func (e *entry) object() raw {
	b := []byte{'{'}
	for i, k := range e.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		if t := e.text[k]; t != nil {
			b = appendString(b, t.String())
		} else {
			b = append(b, e.values[k]...)
		}
	}
	return append(b, '}')
}

// keep puts the entries beside the reasoning of an answer; where that had no text, it is a block without.
func (e *entries) keep(a *answer) {
	b := []byte{'['}
	for i, x := range e.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, x.object()...)
	}
	b = append(b, ']')
	i := slices.IndexFunc(a.blocks, func(p *piece) bool { return p.carrier == details })
	if i < 0 {
		i = 0
		a.blocks = slices.Insert(a.blocks, 0, &piece{kind: llm.Reasoning, carrier: details})
	}
	a.blocks[i].opaque = json.RawMessage(b)
}
