package provider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// Carriers of thinking in Messages.
const (
	carrierSigned   = "thinking"          // Opaque is the signature
	carrierRedacted = "redacted_thinking" // Opaque is all there is
)

// messages is Anthropic's Messages. Source: anthropic-sdk-go v1.60.0 and the documents of the platform.
type messages struct {
	model, origin string
	stream        bool
	most          int64 // tokens of an answer; 0: not known
	p             Profile
}

func (c *messages) path() string { return "/messages" }

func (c *messages) sign(key string, open, secret http.Header) {
	open.Set("Anthropic-Version", "2023-06-01")
	switch {
	case key == "":
	case c.p.KeyHeader == "Authorization":
		secret.Set("Authorization", "Bearer "+key)
	default:
		secret.Set(orElse(c.p.KeyHeader, "X-Api-Key"), key)
	}
}

func (c *messages) reply(m *model, h *wire.Response, a *answer) reader {
	return &messagesReader{m: m, h: h, a: a, at: map[int64]*messageBlock{}}
}

// messagesReader reads a reply. Blocks of a stream may be interleaved; their index tells them apart.
type messagesReader struct {
	m    *model
	h    *wire.Response
	a    *answer
	all  []*messageBlock
	at   map[int64]*messageBlock // by index, the latest: some servers give one to all
	last *messageBlock           // that was begun
	used entry                   // the usage as far as it has come
}

// messageBlock is a block that still grows; one without piece and call is of a kind that is not kept.
type messageBlock struct {
	piece     *piece
	call      *call
	given     raw    // the input that came with the beginning of a call
	signature []byte // of thinking
	half      rune   // of the signature; it has none, but a hostile server may send one
}

// messageEvent has the members of an event, and of its delta.
type messageEvent struct {
	kind, index, message, block, delta, usage raw
	part, text, json, thinking, seal, reason  raw
}

// readEvent takes an event apart in one pass: there is one for every word.
func readEvent(doc raw) (e messageEvent) {
	for k, v := range doc.members() {
		switch k {
		case "type":
			e.kind = v
		case "index":
			e.index = v
		case "message":
			e.message = v
		case "content_block":
			e.block = v
		case "delta":
			e.delta = v
		case "usage":
			e.usage = v
		}
	}
	for k, v := range e.delta.members() {
		switch k {
		case "type":
			e.part = v
		case "text":
			e.text = v
		case "partial_json":
			e.json = v
		case "thinking":
			e.thinking = v
		case "signature":
			e.seal = v
		case "stop_reason":
			e.reason = v
		}
	}
	return e
}

// event implements [reader].
func (r *messagesReader) event(name string, doc raw) *llm.Error {
	e := readEvent(doc)
	switch orElse(e.kind.text(), name) {
	case "message_start":
		r.a.begun = true
		r.a.id = e.message.get("id").text()
		r.use(e.message.get("usage"))
		content := e.message.get("content")
		if fail := r.a.grow(len(content), r.m.o.Name); fail != nil {
			return fail
		}
		for b := range content.elements() { // some gateways put the whole there
			r.start(int64(len(r.all)), b)
		}
	case "content_block_start":
		r.a.begun = true
		if fail := r.a.grow(len(e.block), r.m.o.Name); fail != nil {
			return fail
		}
		n, ok := e.index.number()
		if !ok {
			n = int64(len(r.all))
		}
		r.start(n, e.block)
	case "content_block_delta":
		r.a.begun = true
		// What is about them does not count.
		if fail := r.a.grow(len(e.text)+len(e.json)+len(e.thinking)+len(e.seal), r.m.o.Name); fail != nil {
			return fail
		}
		r.delta(r.block(e.index), e)
	case "content_block_stop":
		if b := r.block(e.index); b != nil && b.piece != nil && b.call == nil {
			r.a.end(b.piece)
		}
	case "message_delta":
		r.a.begun = true
		r.use(e.usage)
		return r.stop(e.reason)
	case "message_stop":
		r.a.done = true
	case "error":
		return r.m.fault(doc, r.h)
	default:
		if m := readMembers(doc); !m.err.null() || m.bare {
			return r.m.fault(doc, r.h)
		}
	}
	return nil
}

// whole implements [reader].
func (r *messagesReader) whole(doc raw) *llm.Error {
	if m := readMembers(doc); !m.err.null() || m.bare && doc.get("content").null() {
		return r.m.fault(doc, r.h)
	}
	list := doc.get("content")
	if list.kind() != '[' {
		return nil // none of Messages; the caller says so
	}
	r.a.begun = true
	r.a.id = doc.get("id").text()
	if fail := r.a.grow(len(list), r.m.o.Name); fail != nil {
		return fail
	}
	n := int64(0)
	for b := range list.elements() {
		r.start(n, b)
		n++
	}
	r.use(doc.get("usage"))
	return r.stop(doc.get("stop_reason"))
}

// end implements [reader].
func (r *messagesReader) end() {
	for _, b := range r.all {
		switch {
		case b.call != nil && len(b.call.args) == 0 && b.given.kind() == '"': // of servers that know no better
			b.call.args = unquote(nil, b.given, &b.call.half)
		case b.call != nil && len(b.call.args) == 0:
			b.call.args = b.given
		case b.piece != nil && b.piece.carrier == carrierSigned && len(b.signature) > 0:
			b.piece.opaque = appendString(nil, string(b.signature))
		}
	}
	if r.used.names != nil {
		r.a.usage = messagesUsage(r.used.object())
	}
}

// block gives the block that an event is about: the last one where it says nothing.
func (r *messagesReader) block(index raw) *messageBlock {
	if n, ok := index.number(); ok {
		return r.at[n]
	}
	return r.last
}

// start begins a block with what came with its beginning.
func (r *messagesReader) start(index int64, v raw) {
	b := &messageBlock{}
	r.at[index], r.last = b, b
	r.all = append(r.all, b)
	switch v.get("type").text() {
	case "text":
		b.piece = r.a.begin(llm.Text, "")
		r.text(b, v.get("text"))
	case "thinking":
		b.piece = r.a.begin(llm.Reasoning, carrierSigned)
		r.text(b, v.get("thinking"))
		r.sign(b, v.get("signature"))
	case "redacted_thinking":
		b.piece = r.a.begin(llm.Reasoning, carrierRedacted)
		if data := v.get("data"); data.kind() == '"' {
			b.piece.opaque = slices.Clone(json.RawMessage(data))
		}
	case "tool_use":
		b.call = &call{id: v.get("id").text(), name: strings.TrimSpace(v.get("name").text())}
		b.given = slices.Clone(v.get("input"))
		r.a.blocks = append(r.a.blocks, &piece{kind: llm.Call, call: b.call})
	}
}

func (r *messagesReader) delta(b *messageBlock, e messageEvent) {
	if b == nil {
		return
	}
	switch e.part.text() {
	case "text_delta":
		r.text(b, e.text)
	case "thinking_delta":
		r.text(b, e.thinking)
	case "signature_delta":
		r.sign(b, e.seal)
	case "input_json_delta":
		if b.call != nil && e.json.kind() == '"' {
			b.call.args = unquote(b.call.args, e.json, &b.call.half)
		}
	}
}

func (r *messagesReader) text(b *messageBlock, v raw) {
	if b.piece != nil && filled(v) {
		r.a.write(b.piece, b.piece.in.decode(v))
	}
}

func (r *messagesReader) sign(b *messageBlock, v raw) {
	if filled(v) {
		b.signature = unquote(b.signature, v, &b.half)
	}
}

// stop takes the reason why the answer ended.
func (r *messagesReader) stop(reason raw) *llm.Error {
	if s := reason.text(); s != "" {
		return r.a.stop(s, r.m.o.Name)
	}
	return nil
}

// use takes usage. It is cumulative: what came last counts, and what is missing stays. A server that sends ever new members has
// no use for them.
func (r *messagesReader) use(v raw) {
	if v.kind() != '{' || len(v) > maxUsage || len(r.used.names) > usageNames {
		return
	}
	if r.used.values == nil {
		r.used.values = map[string]raw{}
	}
	r.used.set(v)
}

// usageNames bounds the members of a usage, of which Anthropic has a dozen.
const usageNames = 100

// messagesUsage puts a usage object into disjoint buckets: what was cached is not in input_tokens.
func messagesUsage(u raw) llm.Usage {
	return llm.Usage{
		Fresh: count(u, "input_tokens"), CacheRead: count(u, "cache_read_input_tokens"), CacheWrite: count(u, "cache_creation_input_tokens"),
		Output: count(u, "output_tokens"), Reasoning: count(u.get("output_tokens_details"), "thinking_tokens", "reasoning_tokens"),
		Raw: received(u),
	}
}
