package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"overt/internal/llm"
	"overt/internal/wire"
)

// maxLine bounds a line of a stream: images and encrypted reasoning come in lines of megabytes.
const maxLine = 32 << 20

// maxAnswer bounds the text and calls of an answer, as JSON. It is many times what models give out, and is held several
// times over on its way into the record.
const maxAnswer = 8 << 20

// bodyKind is what a reply of status 200 turns out to be. Its content type is no witness.
type bodyKind int

const (
	bodyEvents bodyKind = iota
	bodyJSON
	bodyHTML
	bodyEmpty
)

// sniff looks at the first byte that is not blank.
func sniff(body io.Reader) (*bufio.Reader, bodyKind, error) {
	in := bufio.NewReaderSize(body, 32<<10)
	if b, err := in.Peek(3); err == nil && string(b) == "\ufeff" {
		in.Discard(3)
	}
	for {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return in, bodyEmpty, nil
		case err != nil:
			return in, bodyEmpty, err
		case b == ' ' || b == '\n' || b == '\r' || b == '\t':
			continue
		}
		in.UnreadByte()
		switch b {
		case '{', '[':
			return in, bodyJSON, nil
		case '<':
			return in, bodyHTML, nil
		}
		return in, bodyEvents, nil
	}
}

// events reads a stream.
func (m *chat) events(in io.Reader, h *wire.Response, a *answer) *llm.Error {
	events := wire.NewEvents(in, maxLine)
	for {
		e, err := events.Next()
		if err == io.EOF {
			if a.finished() {
				return nil
			}
			return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the stream before the answer was complete"}
		}
		if err != nil {
			return m.broken(err, h, a)
		}
		data := bytes.TrimSpace(e.Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) || bytes.HasPrefix(data, []byte(`"[DONE]`)) {
			a.done = true
			return nil
		}
		doc, ok := parse(data)
		if glued, found := bytes.CutSuffix(data, []byte("[DONE]")); !ok && found {
			doc, ok = parse(glued)
			a.done = ok
		}
		switch {
		case ok && string(e.Name) == "error":
			return m.fault(doc, h)
		case ok:
			if fail := m.chunk(doc, h, a); fail != nil || a.done {
				return fail
			}
		case len(data) > 0 && data[0] == '{':
			return m.brokenChunk(events, h)
		}
		// anything else is a ping or garbage of a gateway
	}
}

// brokenChunk tells a chunk that the end of the stream has cut from one that is not JSON.
func (m *chat) brokenChunk(events *wire.Events, h *wire.Response) *llm.Error {
	if _, err := events.Next(); err == io.EOF {
		return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the stream in the middle of a chunk"}
	}
	return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent a chunk that is not JSON"}
}

// whole reads a reply that is one document.
func (m *chat) whole(in io.Reader, h *wire.Response, a *answer) *llm.Error {
	data, err := io.ReadAll(in)
	if err != nil {
		return m.broken(err, h, a)
	}
	doc, ok := parse(data)
	if !ok {
		var v json.RawMessage
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(data, &v), &syntax) && syntax.Offset >= int64(len(data)) {
			return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the reply in the middle"}
		}
		return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent a reply that is not JSON"}
	}
	if fail := m.chunk(doc, h, a); fail != nil {
		return fail
	}
	if !a.begun {
		return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent JSON that is not a completion; check the base URL"}
	}
	a.done = true
	return nil
}

// members that a chunk or completion may have.
type members struct {
	id, choices, usage, groq, timings, err, data raw
	bare                                         bool // it looks like an error without the word
}

func readMembers(doc raw) (m members) {
	for k, v := range doc.members() {
		switch k {
		case "id":
			m.id = v
		case "choices":
			m.choices = v
		case "usage":
			m.usage = v
		case "x_groq":
			m.groq = v
		case "timings":
			m.timings = v
		case "error":
			m.err = v
		case "data":
			m.data = v
		case "message", "error_msg":
			m.bare = m.bare || v.kind() == '"'
		case "detail", "errors":
			m.bare = m.bare || !v.null()
		case "base_resp":
			n, ok := v.get("status_code").number()
			m.bare = m.bare || ok && n != 0
		}
	}
	return m
}

// chunk takes one chunk of a stream, or a whole completion: they differ in one name.
func (m *chat) chunk(doc raw, h *wire.Response, a *answer) *llm.Error {
	if doc.kind() == '[' { // Google wraps errors in a list
		for v := range doc.elements() {
			return m.chunk(v, h, a)
		}
	}
	f := readMembers(doc)
	switch {
	case !f.err.null() && string(f.err) != "false", f.choices.null() && f.bare:
		return m.fault(doc, h)
	case f.choices.null() && f.data.kind() == '{':
		return m.chunk(f.data, h, a)
	}
	if a.id == "" {
		a.id = f.id.text()
	}
	var fail *llm.Error
	var nested raw
	for c := range f.choices.elements() {
		nested, fail = m.choice(c, h, a)
		break
	}
	for _, u := range []raw{f.usage, nested, f.groq.get("usage")} {
		if u.kind() == '{' && len(u) > 2 {
			a.usage = usage(u, f.timings)
			break
		}
	}
	return fail
}

// choice takes the first choice; it returns the usage that may stand in it.
func (m *chat) choice(c raw, h *wire.Response, a *answer) (nested raw, fail *llm.Error) {
	a.begun = true
	var reason, delta raw
	for k, v := range c.members() {
		switch k {
		case "delta", "message":
			if v.kind() == '{' {
				delta = v
			}
		case "finish_reason":
			reason = v
		case "usage":
			nested = v
		case "error":
			if !v.null() {
				fail = m.fault(c, h)
			}
		}
	}
	if fail != nil {
		return nested, fail
	}
	if a.size += len(delta); a.size > maxAnswer {
		return nested, &llm.Error{Class: llm.Malformed, Code: "size", HTTP: h.Status, Message: fmt.Sprintf("the answer of %s is larger than %d MB", m.o.Name, maxAnswer>>20)}
	}
	a.delta(delta)
	if s := reason.text(); s != "" && s != "null" {
		if f := meaning(a.finish); f != llm.Length && f != llm.ContentFilter { // these two make the answer useless, whatever follows
			a.finish = s
		}
		if class, ok := failing(s); ok {
			return nested, &llm.Error{Class: class, Code: s, HTTP: h.Status, Message: fmt.Sprintf("%s broke the answer off: %s", m.o.Name, oneLine(s))}
		}
	}
	return nested, nil
}

// delta takes what has come: reasoning, text, refusal, calls.
func (a *answer) delta(d raw) {
	var content, refusal, list, function raw
	var thought [5]raw // by rank
	for k, v := range d.members() {
		switch k {
		case "content":
			content = v
		case "refusal":
			refusal = v
		case "tool_calls":
			list = v
		case "function_call":
			function = v
		case "reasoning_content":
			thought[0] = v
		case "reasoning":
			thought[1] = v
		case "reasoning_text":
			thought[2] = v
		case "thinking":
			thought[3] = v
		case "reasoning_details":
			thought[4] = v
		}
	}
	a.think(thought)
	if content.kind() == '[' {
		a.parts(content)
	} else {
		a.add(llm.Text, "", content)
	}
	if refusal.kind() == '"' && len(refusal) > 2 {
		a.refusal = true
		a.add(llm.Text, "", refusal)
	}
	for c := range list.elements() {
		a.calls.add(readDelta(c))
	}
	if function.kind() == '{' {
		a.calls.add(readDelta(function))
	}
}

// think takes reasoning from the first field that has any: gateways send the same text under two names.
func (a *answer) think(fields [5]raw) {
	for i, carrier := range [...]string{"reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details"} {
		some := false
		for t := range thoughts(fields[i]) {
			a.add(llm.Reasoning, carrier, t)
			some = true
		}
		if some {
			return
		}
	}
}

// thoughts gives the texts of a field of reasoning: a text, an object with one, or a list of such objects.
func thoughts(v raw) iter.Seq[raw] {
	return func(yield func(raw) bool) {
		if v.kind() == '{' {
			v = firstText(v, "text", "content")
		}
		if v.kind() != '[' {
			if filled(v) {
				yield(v)
			}
			return
		}
		for part := range v.elements() {
			if t := firstText(part, "text", "summary"); filled(t) && !yield(t) {
				return
			}
		}
	}
}

// firstText gives the first of the members that is a text which is not empty; else the last.
func firstText(v raw, names ...string) (t raw) {
	for _, name := range names {
		if t = v.get(name); filled(t) {
			break
		}
	}
	return t
}

// filled tells whether a value is a text that is not empty.
func filled(v raw) bool { return v.kind() == '"' && len(v) > 2 }

// parts takes content that came as a list: texts, and Mistral's thinking parts.
func (a *answer) parts(list raw) {
	for p := range list.elements() {
		switch {
		case p.kind() == '"':
			a.add(llm.Text, "", p)
		case p.get("type").text() == "thinking", p.get("type").text() == "reasoning":
			for _, name := range [...]string{"thinking", "reasoning", "text"} {
				a.part(p.get(name))
			}
		default:
			a.add(llm.Text, "", p.get("text"))
		}
	}
}

// part takes one member of a thinking part: a text, or a list of objects with one.
func (a *answer) part(v raw) {
	if v.kind() != '[' {
		a.add(llm.Reasoning, "content", v)
		return
	}
	for t := range v.elements() {
		a.add(llm.Reasoning, "content", t.get("text"))
	}
}
