package provider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// sealed is the carrier of reasoning that is an item of Responses; Opaque is the item.
const sealed = "item"

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
	return &responsesReader{m: m, h: h, a: a, at: map[string]*responseItem{}, chat: &chatReader{m: m, h: h, a: a}}
}

// responsesReader reads a reply.
type responsesReader struct {
	m    *model
	h    *wire.Response
	a    *answer
	at   map[string]*responseItem
	chat *chatReader // for servers that send chunks of Chat Completions here
}

// responseItem is an item of the output that still grows.
type responseItem struct {
	piece *piece // of text or reasoning
	call  *call
	parts int  // summaries that were begun
	done  bool // the whole has come
}

// event implements [reader].
func (r *responsesReader) event(_ string, doc raw) *llm.Error {
	if fail := r.a.grow(len(doc.get("delta")), r.m.o.Name); fail != nil {
		return fail
	}
	kind, _ := strings.CutPrefix(doc.get("type").text(), "response.")
	switch kind {
	case "error":
		return r.m.fault(doc, r.h)
	case "":
		if doc.get("object").text() == "chat.completion.chunk" {
			return r.chat.chunk(doc)
		}
		if m := readMembers(doc); !m.err.null() || m.bare {
			return r.m.fault(doc, r.h)
		}
		return nil
	case "created", "in_progress", "queued":
		r.a.id = orElse(r.a.id, doc.get("response").get("id").text())
	case "completed", "incomplete", "failed", "done":
		return r.finish(doc.get("response"))
	case "output_item.added":
		r.begin(doc)
	case "output_item.done":
		r.settle(r.begin(doc), doc.get("item"))
	case "output_text.delta", "refusal.delta":
		r.a.refusal = r.a.refusal || kind == "refusal.delta"
		r.text(r.item(doc, llm.Text), doc.get("delta"))
	case "reasoning_summary_part.added":
		if it := r.item(doc, llm.Reasoning); it.piece != nil {
			if it.parts++; it.parts > 1 {
				r.a.write(it.piece, "\n\n")
			}
		}
	case "reasoning_summary_text.delta", "reasoning_text.delta":
		r.text(r.item(doc, llm.Reasoning), doc.get("delta"))
	case "function_call_arguments.delta":
		if it, v := r.item(doc, llm.Call), doc.get("delta"); it.call != nil && v.kind() == '"' {
			it.call.args = unquote(it.call.args, v, &it.call.half)
		}
	case "function_call_arguments.done":
		r.arguments(r.item(doc, llm.Call), doc.get("arguments"))
	}
	return nil
}

// whole implements [reader].
func (r *responsesReader) whole(doc raw) *llm.Error {
	if doc.get("output").kind() != '[' && !doc.get("choices").null() {
		return r.chat.chunk(doc)
	}
	if m := readMembers(doc); !m.err.null() || m.bare && doc.get("output").null() {
		return r.m.fault(doc, r.h)
	}
	if doc.get("output").kind() != '[' {
		return nil // none of Responses; the caller says so
	}
	return r.finish(doc)
}

// end implements [reader].
func (r *responsesReader) end() { r.chat.end() }

// key tells items apart: by their index, since some servers change the ids between events, else by their id.
func (r *responsesReader) key(doc raw) string {
	if v := doc.get("output_index"); !v.null() {
		return string(v)
	}
	if id := doc.get("item_id").text(); id != "" {
		return "id " + id
	}
	return "id " + doc.get("item").get("id").text()
}

// item gives the item that a document is about; a server may send deltas before it has told of the item, and then kind is
// what it is.
func (r *responsesReader) item(doc raw, kind llm.BlockType) *responseItem {
	k := r.key(doc)
	it := r.at[k]
	if it == nil {
		it = &responseItem{}
		r.at[k] = it
	}
	r.as(it, kind)
	return it
}

// as makes an item what it is, once.
func (r *responsesReader) as(it *responseItem, kind llm.BlockType) {
	r.a.begun = true
	if it.piece != nil || it.call != nil {
		return
	}
	switch kind {
	case llm.Call:
		it.call = &call{}
		r.a.blocks = append(r.a.blocks, &piece{kind: llm.Call, call: it.call})
	case llm.Reasoning:
		it.piece = r.a.begin(llm.Reasoning, sealed)
	case llm.Text:
		it.piece = r.a.begin(llm.Text, "")
	}
}

// begin takes the beginning of an item.
func (r *responsesReader) begin(doc raw) *responseItem {
	k, v := r.key(doc), doc.get("item")
	it := r.at[k]
	if it == nil {
		it = &responseItem{}
		r.at[k] = it
	}
	r.describe(it, v)
	return it
}

// describe takes what an item says of itself before it is whole.
func (r *responsesReader) describe(it *responseItem, v raw) {
	switch v.get("type").text() {
	case "message":
		r.as(it, llm.Text)
	case "reasoning":
		r.as(it, llm.Reasoning)
	case "function_call":
		r.as(it, llm.Call)
	}
	if it.call != nil {
		it.call.id = orElse(v.get("call_id").text(), orElse(it.call.id, v.get("id").text()))
		it.call.name = orElse(strings.TrimSpace(v.get("name").text()), it.call.name)
	}
}

// settle takes the whole of an item, which counts over what came in pieces; text that was shown stays.
func (r *responsesReader) settle(it *responseItem, v raw) {
	if it.done {
		return
	}
	it.done = true
	r.arguments(it, v.get("arguments"))
	p := it.piece
	if p == nil {
		return
	}
	r.a.end(p)
	shown := p.text.Len() > 0
	switch {
	case p.kind == llm.Text:
		if phase := v.get("phase"); phase.kind() == '"' {
			p.opaque = slices.Clone(json.RawMessage(phase))
		}
		for part := range v.get("content").elements() {
			if refusal := part.get("refusal"); filled(refusal) {
				r.a.refusal = true
				if !shown {
					r.text(it, refusal)
				}
			}
			if !shown {
				r.text(it, part.get("text"))
			}
		}
	case p.kind == llm.Reasoning:
		if filled(v.get("encrypted_content")) { // without it the server could make nothing of the item
			p.opaque = slices.Clone(json.RawMessage(v))
		}
		for _, name := range []string{"summary", "content"} {
			for part := range v.get(name).elements() {
				if !shown {
					r.text(it, part.get("text"))
				}
			}
			shown = shown || p.text.Len() > 0
		}
	}
	r.a.end(p)
}

// arguments takes the whole arguments of a call.
func (r *responsesReader) arguments(it *responseItem, v raw) {
	if it.call == nil || !filled(v) {
		return
	}
	it.call.half = 0
	it.call.args = unquote(nil, v, &it.call.half)
}

func (r *responsesReader) text(it *responseItem, v raw) {
	if it.piece != nil && filled(v) {
		r.a.write(it.piece, it.piece.in.decode(v))
	}
}

// finish takes the whole response, at the end of a stream or alone.
func (r *responsesReader) finish(v raw) *llm.Error {
	if v.kind() != '{' {
		r.a.finish, r.a.begun = "completed", true
		return nil
	}
	r.a.begun = true
	r.a.id = orElse(r.a.id, v.get("id").text())
	n := 0
	for item := range v.get("output").elements() { // what no event has told
		k := strconv.Itoa(n)
		n++
		it := r.at[k]
		if it == nil && len(r.at) > 0 && n <= len(r.at) {
			continue // told under another key
		}
		if it == nil {
			it = &responseItem{}
			r.at[k] = it
		}
		r.describe(it, item)
		r.settle(it, item)
	}
	if u := v.get("usage"); u.kind() == '{' {
		r.a.usage = usage(u, nil)
	}
	if !v.get("error").null() {
		return r.m.fault(v, r.h)
	}
	switch status := v.get("status").text(); status {
	case "failed", "cancelled":
		class, _ := failing(status)
		return &llm.Error{Class: class, Code: status, Message: r.m.o.Name + " broke the answer off: " + status}
	case "incomplete":
		r.a.finish = orElse(v.get("incomplete_details").get("reason").text(), "max_output_tokens")
	default:
		r.a.finish = "completed"
	}
	r.a.done = true
	return nil
}
