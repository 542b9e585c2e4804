package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// entries collects reasoning_details of OpenRouter: a stream cuts an entry into several under one index, which are put
// together again, since upstream servers refuse entries that are there twice. Source: openrouter.ai/docs, reasoning tokens.
type entries struct {
	list []*entry
	at   map[string]*entry // by kind and index, the first
}

// entry is an object that comes in pieces.
type entry struct {
	names  []string
	values map[string]raw
	text   map[string]*strings.Builder // of text, summary and data, joined
}

// add takes the entries of a delta.
func (e *entries) add(list raw) {
	for v := range list.elements() {
		if v.kind() != '{' {
			continue
		}
		index := string(v.get("index"))
		name := v.get("type").text() + " " + index
		x := e.at[name]
		if x == nil || index == "" {
			x = &entry{values: map[string]raw{}, text: map[string]*strings.Builder{}}
			e.list = append(e.list, x)
			if e.at == nil {
				e.at = map[string]*entry{}
			}
			e.at[name] = x
		}
		x.add(v)
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
	var list []member
	for _, k := range e.names {
		v := e.values[k]
		if t := e.text[k]; t != nil {
			v = appendString(nil, t.String())
		}
		list = append(list, member{k, v})
	}
	return objectOf(list)
}

// keep puts the entries beside the reasoning of an answer; where that had no text, it is a block without.
func (e *entries) keep(a *answer) {
	var list []raw
	for _, x := range e.list {
		list = append(list, x.object())
	}
	i := slices.IndexFunc(a.blocks, func(p *piece) bool { return p.carrier == carrierDetails })
	if i < 0 {
		i = 0
		a.blocks = slices.Insert(a.blocks, 0, &piece{kind: llm.Reasoning, carrier: carrierDetails})
	}
	a.blocks[i].opaque = json.RawMessage(listOf(list))
}
