package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// tagged is the carrier of reasoning that stood between tags in the text.
const tagged = "tags"

// tags takes reasoning out of a text that begins with it, between tags. Only at the very start of an answer do they mean
// anything; later they are text, as in an answer about them. Sources: DeepSeek-R1, QwQ and Qwen3 (think), MiniMax, Seed-OSS,
// Magistral and others by report.
type tags struct {
	state tagState
	held  string // what may be the beginning of a tag
	close string
}

type tagState int

const (
	tagStart  tagState = iota // nothing but blanks has come
	tagInside                 // of reasoning
	tagAfter                  // of text
)

func openingTags() [7]string {
	return [...]string{"<think>", "<thinking>", "<thought>", "<reasoning>", "<seed:think>", "[THINK]", "<|begin_of_thought|>"}
}

func closingTag(open string) string {
	switch open {
	case "[THINK]":
		return "[/THINK]"
	case "<|begin_of_thought|>":
		return "<|end_of_thought|>"
	}
	return "</" + open[1:]
}

// add takes the next piece of text.
func (t *tags) add(a *answer, s string) {
	s = t.held + s
	t.held = ""
	for s != "" {
		switch t.state {
		case tagStart:
			if s = t.start(a, s); t.state == tagStart {
				return
			}
		case tagInside:
			if i := strings.Index(s, t.close); i >= 0 {
				a.put(llm.Reasoning, tagged, s[:i])
				t.state, s = tagAfter, strings.TrimLeft(s[i+len(t.close):], "\n")
				continue
			}
			n := len(s) - partial(s, t.close)
			a.put(llm.Reasoning, tagged, s[:n])
			t.held = s[n:]
			return
		default:
			a.put(llm.Text, "", s)
			return
		}
	}
}

// start looks for a tag at the beginning; it returns what is behind it, or the whole once there can be none.
func (t *tags) start(a *answer, s string) string {
	body := strings.TrimLeft(s, " \t\r\n")
	for _, open := range openingTags() {
		if rest, ok := strings.CutPrefix(body, open); ok {
			t.state, t.close = tagInside, closingTag(open)
			return rest
		}
		if strings.HasPrefix(open, body) {
			t.held = s
			return ""
		}
	}
	t.state = tagAfter
	return s
}

// end gives out what was held back, and rest.
func (t *tags) end(a *answer, rest string) {
	t.add(a, rest)
	s := t.held
	t.held = ""
	switch {
	case s == "":
	case t.state == tagInside:
		a.put(llm.Reasoning, tagged, s)
	default:
		t.state = tagAfter
		a.put(llm.Text, "", s)
	}
}

// partial gives the length of the longest end of s that mark begins with.
func partial(s, mark string) int {
	for n := min(len(mark)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}

// entries collects reasoning_details of OpenRouter: a stream cuts an entry into several under one index, which are put
// together again, since upstream servers refuse entries that are there twice. Source: openrouter.ai/docs, reasoning tokens.
type entries struct{ list []*entry }

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

func (e *entry) add(v raw) {
	for k, m := range v.members() {
		if _, known := e.values[k]; !known {
			e.names = append(e.names, k)
		}
		switch {
		case m.kind() == '"' && (k == "text" || k == "summary" || k == "data"):
			if e.text[k] == nil {
				e.text[k] = &strings.Builder{}
			}
			e.text[k].WriteString(m.text())
			e.values[k] = raw{}
		case !m.null() || e.values[k] == nil:
			e.values[k] = slices.Clone(m)
		}
	}
}

// keep puts the entries beside the reasoning of an answer; where that had no text, it is a block without.
func (e *entries) keep(a *answer) {
	b := []byte{'['}
	for i, x := range e.list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, k := range x.names {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, k), ':')
			if t := x.text[k]; t != nil {
				b = appendString(b, t.String())
			} else {
				b = append(b, x.values[k]...)
			}
		}
		b = append(b, '}')
	}
	b = append(b, ']')
	i := slices.IndexFunc(a.blocks, func(p *piece) bool { return p.carrier == details })
	if i < 0 {
		i = 0
		a.blocks = slices.Insert(a.blocks, 0, &piece{kind: llm.Reasoning, carrier: details})
	}
	a.blocks[i].opaque = json.RawMessage(b)
}
