package provider

import (
	"iter"
	"net/http"

	"overt/internal/llm"
	"overt/internal/wire"
)

// chatPath is where Chat Completions live below a base URL.
const chatPath = "/chat/completions"

// chat is OpenAI's Chat Completions.
type chat struct {
	model, origin string
	stream        bool
	p             Profile
}

func (c *chat) path() string { return chatPath }

func (c *chat) sign(key string, _, secret http.Header) { bearer(c.p, key, secret) }

func (c *chat) reply(m *model, h *wire.Response, a *answer) reader {
	r := &chatReader{m: m, h: h, a: a}
	if c.p.ThinkOpen {
		r.tags.state = tagOpened
	}
	return r
}

type chatReader struct {
	m       *model
	h       *wire.Response
	a       *answer
	in      characters // of the content
	tags    tags
	thought characters // of the reasoning
	inner   tags       // of it
	said    [2]repeats // of content and reasoning
	details entries
}

func (r *chatReader) event(_ string, doc raw) *llm.Error { return r.chunk(doc) }

func (r *chatReader) whole(doc raw) *llm.Error { return r.chunk(doc) }

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
func (r *chatReader) chunk(doc raw) *llm.Error {
	m, h, a := r.m, r.h, r.a
	if doc.kind() == '[' { // Google wraps errors in a list
		for v := range doc.elements() {
			return r.chunk(v)
		}
	}
	f := readMembers(doc)
	switch {
	case !f.err.null() && string(f.err) != "false", f.choices.null() && f.bare:
		return m.fault(doc, h)
	case !f.groq.get("error").null():
		return m.fault(f.groq, h)
	case f.choices.null() && f.data.kind() == '{':
		return r.chunk(f.data)
	}
	if a.id == "" {
		a.id = f.id.text()
	}
	var fail *llm.Error
	var nested raw
	for c := range f.choices.elements() {
		nested, fail = r.choice(c)
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
func (r *chatReader) choice(c raw) (nested raw, fail *llm.Error) {
	m, h, a := r.m, r.h, r.a
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
	if fail := a.grow(sizeOf(delta), m.o.Name); fail != nil {
		return nested, fail
	}
	r.delta(delta)
	if fail := a.few(len(a.calls.list), m.o.Name); fail != nil {
		return nested, fail
	}
	if s := reason.text(); s != "" && s != "null" {
		return nested, a.stop(s, m.o.Name)
	}
	return nested, nil
}

// sizeOf gives the size of what a delta says. What is about it does not count: some servers send every member with every word.
func sizeOf(delta raw) (n int) {
	for k, v := range delta.members() {
		switch {
		case v.null():
		case k == "tool_calls":
			for c := range v.elements() {
				d := readDelta(c)
				n += len(d.id) + len(d.name) + len(d.args) + len(d.extra)
			}
		case k != "role":
			n += len(v)
		}
	}
	return n
}

// delta takes what has come: reasoning, text, refusal, calls.
func (r *chatReader) delta(d raw) {
	a := r.a
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
		case carrierDetails:
			thought[4] = v
		}
	}
	r.think(thought)
	if r.m.o.Profile.Repeats && filled(content) && r.said[0].is(content) {
		content = nil
	}
	switch {
	case content.kind() == '[':
		r.inner.end(a, r.thought.end())
		a.parts(content)
	case filled(content):
		r.inner.end(a, r.thought.end())
		r.tags.add(a, r.in.decode(content))
	}
	if filled(refusal) {
		a.refusal = true
		a.add(llm.Text, "", refusal)
	}
	for c := range list.elements() {
		r.flush()
		if a.calls.add(readDelta(c)); len(a.calls.list) > maxParts {
			break // the caller says so
		}
	}
	if function.kind() == '{' {
		r.flush()
		a.calls.add(readDelta(function))
	}
}

// flush gives out the text that was held back: what follows is no text.
func (r *chatReader) flush() {
	r.inner.end(r.a, r.thought.end())
	r.tags.end(r.a, r.in.end())
}

// end implements [reader].
func (r *chatReader) end() {
	r.flush()
	if r.details.list != nil {
		r.details.keep(r.a)
	}
}

// think takes reasoning from the first field that has any: gateways send the same text under two names. Entries of
// reasoning_details are kept beside, to go back as they came.
func (r *chatReader) think(fields [5]raw) {
	carrier := ""
	if fields[4].kind() == '[' && len(fields[4]) > 2 {
		r.details.add(fields[4])
	}
	if r.details.list != nil {
		carrier = carrierDetails
	}
	for i, name := range [...]string{"reasoning_content", "reasoning", "reasoning_text", "thinking", carrierDetails} {
		some := false
		for t := range thoughts(fields[i]) {
			some = true
			if r.m.o.Profile.Repeats && r.said[1].is(t) {
				continue
			}
			if r.tags.state == tagOpened { // the server has taken the reasoning apart
				r.tags.state = tagStart
			}
			if r.inner.in != "" && r.inner.in != orElse(carrier, name) {
				r.inner.end(r.a, r.thought.end())
			}
			r.inner.in = orElse(carrier, name)
			r.inner.add(r.a, r.thought.decode(t))
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
