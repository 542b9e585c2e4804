package provider

import (
	"net/http"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// carrierItem is the carrier of reasoning that is an item of Responses; Opaque is the item.
const carrierItem = "item"

// responses is OpenAI's Responses, without state on the server. Source: openai/openai-openapi 2.3.0.
type responses struct {
	model, origin string
	stream        bool
	p             Profile
}

func (c *responses) path() string { return "/responses" }

func (c *responses) sign(key string, _, secret http.Header) { bearer(c.p, key, secret) }

// bearer adds the key, in the field that most servers want it in.
func bearer(p Profile, key string, secret http.Header) {
	switch {
	case key == "":
	case p.KeyHeader != "":
		secret.Set(p.KeyHeader, key)
	default:
		secret.Set("Authorization", "Bearer "+key)
	}
}

func (c *responses) reply(m *model, h *wire.Response, a *answer) reader {
	return &responsesReader{m: m, h: h, a: a, chat: &chatReader{m: m, h: h, a: a}}
}

// responsesReader reads a reply.
type responsesReader struct {
	m     *model
	h     *wire.Response
	a     *answer
	items []*responseItem // in the order in which they were told of
	last  *responseItem   // that an event was about
	chat  *chatReader     // for servers that send chunks of Chat Completions here
	twice int             // bytes of deltas that the whole of an item has not said again yet
}

// event implements [reader].
func (r *responsesReader) event(name string, doc raw) *llm.Error {
	if fail := r.take(name, doc); fail != nil {
		return fail
	}
	return r.a.few(len(r.items), r.m.o.Name)
}

func (r *responsesReader) take(name string, doc raw) *llm.Error {
	kind, _ := strings.CutPrefix(orElse(doc.get("type").text(), name), "response.")
	size := len(doc.get("delta"))
	r.twice += size
	if strings.HasPrefix(kind, "output_item.") { // it may be all that comes of an item, or what came in pieces before
		said := min(r.twice, len(doc))
		size, r.twice = len(doc)-said, r.twice-said
	}
	if fail := r.a.grow(size, r.m.o.Name); fail != nil {
		return fail
	}
	switch kind {
	case "error":
		return r.m.fault(doc, r.h)
	case "created", "in_progress", "queued":
		r.a.id = orElse(r.a.id, doc.get("response").get("id").text())
	case "completed", "incomplete", "failed", "cancelled", "done":
		return r.finish(kind, doc, doc.get("response"))
	case "output_item.added":
		r.describe(r.told(doc, false), doc.get("item"))
	case "output_item.done":
		it := r.told(doc, true)
		r.describe(it, doc.get("item"))
		r.settle(it, doc.get("item"))
	case "output_text.delta", "refusal.delta":
		r.a.refusal = r.a.refusal || kind == "refusal.delta"
		r.text(r.item(doc, llm.Text), doc.get("delta"))
	case "output_text.done", "refusal.done":
		r.a.refusal = r.a.refusal || kind == "refusal.done"
		if it := r.item(doc, llm.Text); !it.shown() {
			r.text(it, orNull(doc.get("text"), doc.get("refusal")))
		}
	case "reasoning_summary_part.added":
		r.paragraph(r.item(doc, llm.Reasoning))
	case "reasoning_summary_text.delta", "reasoning_text.delta":
		r.text(r.item(doc, llm.Reasoning), doc.get("delta"))
	case "function_call_arguments.delta":
		if it, v := r.item(doc, llm.Call), doc.get("delta"); v.kind() == '"' {
			it.call.args = unquote(it.call.args, v, &it.call.half)
		}
	case "function_call_arguments.done":
		r.arguments(r.item(doc, llm.Call), doc.get("arguments"))
	default:
		return r.foreign(doc)
	}
	return nil
}

// foreign takes an event that is none of Responses: a chunk of Chat Completions, an error without a type, or what is new.
func (r *responsesReader) foreign(doc raw) *llm.Error {
	if doc.get("object").text() == "chat.completion.chunk" {
		return r.chat.chunk(doc)
	}
	if m := readMembers(doc); !m.err.null() || m.bare {
		return r.m.fault(doc, r.h)
	}
	return nil
}

// whole implements [reader].
func (r *responsesReader) whole(doc raw) *llm.Error {
	if doc.get("output").kind() != '[' && doc.get("choices").kind() == '[' {
		return r.chat.chunk(doc)
	}
	if m := readMembers(doc); !m.err.null() || m.bare && doc.get("output").null() {
		return r.m.fault(doc, r.h)
	}
	if doc.get("output").kind() != '[' {
		return nil // none of Responses; the caller says so
	}
	if fail := r.a.grow(len(doc.get("output")), r.m.o.Name); fail != nil {
		return fail
	}
	return r.finish("", doc, doc)
}

// end implements [reader].
func (r *responsesReader) end() { r.chat.end() }

// finish takes the whole response v, at the end of a stream or alone. kind is the event's that it came in, doc all of that: servers
// leave out the response, its status, or what of it went wrong.
func (r *responsesReader) finish(kind string, doc, v raw) *llm.Error {
	r.a.begun = true
	r.a.id = orElse(r.a.id, v.get("id").text())
	n := 0
	for item := range v.get("output").elements() {
		it := r.listed(n, item)
		r.describe(it, item)
		r.settle(it, item)
		if fail := r.a.few(len(r.items), r.m.o.Name); fail != nil {
			return fail
		}
		n++
	}
	if u := v.get("usage"); u.kind() == '{' {
		r.a.usage = usage(u, nil)
	}
	for _, at := range []raw{v, doc} {
		if !at.get("error").null() {
			return r.m.fault(at, r.h)
		}
	}
	switch ending(kind, v.get("status").text()) {
	case "failed":
		if m := readMembers(doc); m.bare {
			return r.m.fault(doc, r.h)
		}
		return r.a.stop("failed", r.m.o.Name)
	case "cancelled":
		return r.a.stop("cancelled", r.m.o.Name)
	case "incomplete":
		r.a.cut = true // whatever the reason is
		reason := orElse(v.get("incomplete_details").get("reason").text(), doc.get("incomplete_details").get("reason").text())
		r.a.stop(orElse(reason, "max_output_tokens"), r.m.o.Name)
	default:
		r.a.stop("completed", r.m.o.Name)
	}
	r.a.done = true
	return nil
}

// ending gives how a response ended: as its status says, or, where that is missing or of the time before, the event.
func ending(kind, status string) string {
	for _, s := range []string{status, kind} {
		switch s {
		case "failed", "cancelled", "incomplete":
			return s
		}
	}
	return ""
}
