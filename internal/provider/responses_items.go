package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// responseItem is an item of the output that still grows.
type responseItem struct {
	index string   // as received; "": none came
	ids   []string // under which events spoke of it: the first ones, and the latest
	piece *piece   // of text or reasoning
	call  *call
	parts int  // summaries that were begun
	done  bool // the whole has come
	final bool // it stands in the whole response
}

// shown tells whether some of its text has come.
func (it *responseItem) shown() bool { return it.piece != nil && it.piece.came }

// is tells whether an item is of a kind, or may become it.
func (it *responseItem) is(kind llm.BlockType) bool {
	switch {
	case it.call != nil:
		return kind == llm.Call
	case it.piece != nil:
		return kind == it.piece.kind
	}
	return true
}

// label is how a document names the item that it is about. Servers leave out the index or the ids, change the ids from event to
// event, or give one index to all items.
type label struct {
	index string
	ids   []string
}

func labelOf(doc raw) (l label) {
	if v := doc.get("output_index"); !v.null() {
		l.index = string(v)
	}
	item := doc.get("item")
	for _, v := range []raw{doc.get("item_id"), item.get("id"), item.get("call_id")} {
		if id := v.text(); id != "" {
			l.ids = append(l.ids, id)
		}
	}
	return l
}

// names tells whether a label is one of the item's.
func (l label) names(it *responseItem) bool {
	if l.index != "" && it.index != "" {
		return l.index == it.index
	}
	return slices.ContainsFunc(l.ids, func(id string) bool { return slices.Contains(it.ids, id) })
}

// add makes an item.
func (r *responsesReader) add() *responseItem {
	it := &responseItem{}
	r.items = append(r.items, it)
	return it
}

// find gives the latest item that ok is true of; else a new one. It takes the label.
func (r *responsesReader) find(l label, ok func(*responseItem) bool) *responseItem {
	r.last = nil
	for _, it := range slices.Backward(r.items) {
		if ok(it) {
			r.last = it
			break
		}
	}
	if r.last == nil {
		r.last = r.add()
	}
	r.last.index = orElse(r.last.index, l.index)
	for _, id := range l.ids {
		r.last.called(id)
	}
	return r.last
}

// maxIDs bounds the ids of an item; some servers make a new one for each event.
const maxIDs = 8

// called takes another id of an item. The first two stay: those of the item and of the call.
func (it *responseItem) called(id string) {
	if slices.Contains(it.ids, id) {
		return
	}
	if len(it.ids) == maxIDs {
		it.ids = slices.Delete(it.ids, 2, 3)
	}
	it.ids = append(it.ids, id)
}

// item gives the item that a piece of a kind belongs to; a server may send pieces before it has told of the item.
func (r *responsesReader) item(doc raw, kind llm.BlockType) *responseItem {
	l := labelOf(doc)
	bare := l.index == "" && len(l.ids) == 0
	last := r.last
	it := r.find(l, func(it *responseItem) bool {
		return it.is(kind) && (l.names(it) || bare && it == last)
	})
	r.as(it, kind)
	return it
}

// told gives the item that is told of: its beginning, or the whole. An item that is whole already is not told of again.
func (r *responsesReader) told(doc raw, whole bool) *responseItem {
	l, v := labelOf(doc), doc.get("item")
	kind, known := itemKind(v)
	bare := l.index == "" && len(l.ids) == 0
	last := r.last
	return r.find(l, func(it *responseItem) bool {
		switch {
		case it.done || known && !it.is(kind) || it.other(v):
			return false
		case bare:
			return whole && it == last
		}
		return l.names(it)
	})
}

// other tells whether v is another call than the one that the item is.
func (it *responseItem) other(v raw) bool {
	id := v.get("call_id").text()
	return it.call != nil && it.call.id != "" && id != "" && id != it.call.id
}

// listed gives the item that is number n of the whole response: the one of its id, else the one that was told of in that
// place, if it can be that.
func (r *responsesReader) listed(n int, v raw) *responseItem {
	l := labelOf(raw(slices.Concat([]byte(`{"item":`), v, []byte(`}`))))
	kind, known := itemKind(v)
	may := func(it *responseItem) bool { return !it.final && !it.other(v) && (!known || it.is(kind)) }
	i := slices.IndexFunc(r.items, func(it *responseItem) bool { return l.names(it) && may(it) })
	if i < 0 && n < len(r.items) && may(r.items[n]) {
		i = n
	}
	if i < 0 && known { // it was told of in another place, under another id
		i = slices.IndexFunc(r.items, func(it *responseItem) bool { return (it.piece != nil || it.call != nil) && may(it) })
	}
	if i < 0 {
		i = len(r.items)
		r.add()
	}
	r.items[i].final = true
	return r.items[i]
}

// itemKind gives what of an answer an item is; false: nothing.
func itemKind(v raw) (llm.BlockType, bool) {
	switch v.get("type").text() {
	case "message":
		return llm.Text, true
	case "reasoning":
		return llm.Reasoning, true
	case "function_call":
		return llm.Call, true
	}
	return "", false
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
		it.piece = r.a.begin(llm.Reasoning, carrierItem)
	case llm.Text:
		it.piece = r.a.begin(llm.Text, "")
	}
}

// describe takes what an item says of itself before it is whole.
func (r *responsesReader) describe(it *responseItem, v raw) {
	if kind, ok := itemKind(v); ok {
		r.as(it, kind)
	}
	if it.call != nil {
		it.call.id = orElse(v.get("call_id").text(), orElse(it.call.id, v.get("id").text()))
		it.call.name = orElse(strings.TrimSpace(v.get("name").text()), it.call.name)
	}
}

// settle takes the whole of an item, which counts over what came in pieces; text that was shown stays.
func (r *responsesReader) settle(it *responseItem, v raw) {
	if p := it.piece; p != nil {
		r.a.end(p)
	}
	r.seal(it, v)
	if it.done {
		return
	}
	it.done = true
	r.arguments(it, v.get("arguments"))
	if it.piece == nil {
		return
	}
	shown := it.shown()
	for _, name := range []string{"summary", "content"} {
		if !shown && it.shown() {
			break // the summary
		}
		for part := range v.get(name).elements() {
			r.a.refusal = r.a.refusal || filled(part.get("refusal"))
			switch {
			case shown:
			case name == "summary":
				r.paragraph(it)
				fallthrough
			default:
				r.text(it, orNull(part.get("text"), part.get("refusal")))
			}
		}
	}
	r.a.end(it.piece)
}

// seal keeps what goes back beside a text: of reasoning the item, without whose encrypted content the server could make nothing
// of it, and the phase of a message.
func (r *responsesReader) seal(it *responseItem, v raw) {
	p, phase := it.piece, v.get("phase")
	switch {
	case p == nil || len(p.opaque) > 0:
	case p.kind == llm.Text && filled(phase):
		p.opaque = slices.Clone(json.RawMessage(phase))
	case p.kind == llm.Reasoning && filled(v.get("encrypted_content")):
		p.opaque = slices.Clone(json.RawMessage(v))
	}
}

// paragraph begins another summary.
func (r *responsesReader) paragraph(it *responseItem) {
	if it.parts++; it.parts > 1 && it.shown() {
		r.a.write(it.piece, "\n\n")
	}
}

// arguments takes the whole arguments of a call: a text, or an object by servers that know no better.
func (r *responsesReader) arguments(it *responseItem, v raw) {
	switch {
	case it.call == nil:
	case filled(v):
		it.call.half = 0
		it.call.args = unquote(nil, v, &it.call.half)
	case v.kind() == '{' && len(it.call.args) == 0:
		it.call.args = slices.Clone(v)
	}
}

func (r *responsesReader) text(it *responseItem, v raw) {
	if it.piece != nil && filled(v) {
		r.a.write(it.piece, it.piece.in.decode(v))
	}
}

// orNull gives v, or another value where that is no text.
func orNull(v, other raw) raw {
	if filled(v) {
		return v
	}
	return other
}
