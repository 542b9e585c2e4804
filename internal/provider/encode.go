package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// writer writes the bodies of one protocol. All of them are, in this order: parameters, tools, system text, messages, and
// what may change from call to call; so the parts of a longer history begin with those of a shorter one.
//
// No method depends on what follows: where a text or list may go on in the next message, that message closes it.
type writer interface {
	// head gives what stands before the first tool; without tools, before the system text.
	head(r *llm.Request) ([]byte, error)
	// tool gives one definition, without a comma. The schema is valid JSON.
	tool(t llm.ToolSpec) []byte
	// open closes the tools and opens the system text; without one, the messages.
	open(r *llm.Request) []byte
	// system gives one text of the system prompt: number i, and whether it is the last, which opens the messages.
	system(i int, last bool, text string) []byte
	// message writes one message. before is the one that stands before it; nil: none.
	message(w *partWriter, r *llm.Request, before, m *llm.Message)
	// tail closes the messages, of which last is the last (nil: there is none), and the body.
	tail(r *llm.Request, last *llm.Message) []byte
}

// encoded keeps the parts of the last request. What is equal in the next one is not encoded again: the parts share
// their bytes, so whoever compares requests can compare pointers.
type encoded struct {
	head     []byte
	open     []byte // between the tools and the messages
	tools    []keptTool
	system   []keptBlock
	messages []keptMessage
	list     []wire.Part // of all messages
}

type keptTool struct {
	spec llm.ToolSpec
	part wire.Part
}

type keptBlock struct {
	block llm.Block
	last  bool
	part  wire.Part
}

type keptMessage struct {
	key, before string // of the message, and of the one before it
	from, to    int    // its parts in the list
}

// is tells whether a message is the one that was kept, in the same place.
func (k *keptMessage) is(msg *llm.Message, before string) bool {
	return msg.Key != "" && k.key == msg.Key && k.before == before && before != ""
}

// keyBefore identifies what stands before message i; "": that can't be told.
func keyBefore(r *llm.Request, i int) string {
	switch {
	case i > 0:
		return r.Messages[i-1].Key
	case len(r.System) > 0:
		return "\x00system"
	}
	return "\x00first"
}

// encode makes the body of a request.
func (m *model) encode(ctx context.Context, r *llm.Request) ([]wire.Part, error) {
	m.mu.Lock()
	old := m.kept
	m.mu.Unlock()
	if _, ok := m.d.(*chat); ok {
		r = inOne(r)
	}
	now := encoded{}
	out := make([]wire.Part, 0, len(old.list)+len(old.tools)+len(old.system)+16) // what a step brings is less
	head, err := m.d.head(r)
	if err != nil {
		return nil, err
	}
	if now.head = head; bytes.Equal(old.head, head) {
		now.head = old.head
	}
	out = append(out, wire.Part{Bytes: now.head})
	for i, t := range r.Tools {
		k, err := m.encodeTool(i, t, old.tools)
		if err != nil {
			return nil, err
		}
		now.tools = append(now.tools, k)
		out = append(out, k.part)
	}
	if now.open = m.d.open(r); bytes.Equal(old.open, now.open) {
		now.open = old.open
	}
	out = append(out, wire.Part{Bytes: now.open})
	for i, b := range r.System {
		k := m.encodeSystem(i, i == len(r.System)-1, b, old.system)
		now.system = append(now.system, k)
		out = append(out, k.part)
	}
	list := len(out)
	if now.messages, out, err = m.encodeMessages(ctx, r, old, out); err != nil {
		return nil, err
	}
	now.list = out[list:len(out):len(out)]
	var last *llm.Message
	if n := len(r.Messages); n > 0 {
		last = &r.Messages[n-1]
	}
	out = append(out, wire.Part{Bytes: m.d.tail(r, last)})
	m.mu.Lock()
	m.kept = now
	m.mu.Unlock()
	return out, nil
}

// noArguments is the schema of a tool that takes nothing.
const noArguments = `{"type":"object","properties":{}}`

func (m *model) encodeTool(i int, t llm.ToolSpec, old []keptTool) (keptTool, error) {
	if i < len(old) {
		o := old[i].spec
		if o.Name == t.Name && o.Description == t.Description && o.Owner == t.Owner && bytes.Equal(o.Schema, t.Schema) {
			return old[i], nil
		}
	}
	kept := t
	kept.Schema = slices.Clone(t.Schema)
	if len(t.Schema) == 0 {
		t.Schema = json.RawMessage(noArguments)
	}
	if !json.Valid(t.Schema) {
		return keptTool{}, fmt.Errorf("the schema of tool %s is not valid JSON", t.Name)
	}
	t.Schema = m.o.Profile.adapt(t.Schema)
	b := m.d.tool(t)
	if i > 0 {
		b = append([]byte{','}, b...)
	}
	return keptTool{kept, wire.Part{Owner: t.Owner, Bytes: b}}, nil
}

// encodeSystem gives one text of the system prompt.
func (m *model) encodeSystem(i int, last bool, block llm.Block, old []keptBlock) keptBlock {
	if i < len(old) && old[i].last == last && old[i].block.Text == block.Text && old[i].block.Owner == block.Owner {
		return old[i]
	}
	return keptBlock{block, last, wire.Part{Owner: block.Owner, Bytes: m.d.system(i, last, block.Text)}}
}

// encodeMessages appends the parts of the messages to out.
func (m *model) encodeMessages(ctx context.Context, r *llm.Request, old encoded, out []wire.Part) ([]keptMessage, []wire.Part, error) {
	same := 0
	for same < min(len(r.Messages), len(old.messages)) && old.messages[same].is(&r.Messages[same], keyBefore(r, same)) {
		same++
	}
	start := len(out)
	kept := append(make([]keptMessage, 0, len(r.Messages)), old.messages[:same]...)
	if same > 0 {
		out = append(out, old.list[:kept[same-1].to]...)
	}
	for i := same; i < len(r.Messages); i++ {
		msg, before, from := &r.Messages[i], keyBefore(r, i), len(out)-start
		if i < len(old.messages) && old.messages[i].is(msg, before) {
			out = append(out, old.list[old.messages[i].from:old.messages[i].to]...)
		} else {
			w := &partWriter{ctx: ctx, images: m.o.Images}
			var prev *llm.Message
			if i > 0 {
				prev = &r.Messages[i-1]
			}
			m.d.message(w, r, prev, m.fit(msg))
			if w.err != nil {
				return nil, nil, w.err
			}
			out = append(out, w.all()...)
		}
		kept = append(kept, keptMessage{msg.Key, before, from, len(out) - start})
	}
	return kept, out, nil
}

// arguments gives the text of arguments if it is a JSON object, and an empty object else: a server that parses the
// history would refuse every later request of the session.
func arguments(s string) string {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(s), &o) != nil || o == nil {
		return "{}"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// nothing stands for a message that holds nothing that may be sent: it must hold something, since servers refuse empty
// texts, and one that is left out would change who speaks after whom.
const nothing = "(empty)"

// blank tells whether a block is a text that says nothing.
func blank(b llm.Block) bool { return b.Type == llm.Text && strings.TrimSpace(b.Text) == "" }

// says tells whether a message has a text that says something.
func says(blocks []llm.Block) bool {
	return slices.ContainsFunc(blocks, func(b llm.Block) bool { return b.Type == llm.Text && !blank(b) })
}

// partWriter collects the parts of a message.
type partWriter struct {
	ctx    context.Context
	images llm.Images
	parts  []wire.Part
	b      []byte // begun
	err    error  // the first
}

func (w *partWriter) raw(s string) { w.b = append(w.b, s...) }

// text writes s as the inside of a JSON string, quoted as one.
func (w *partWriter) text(s string)   { w.b = appendText(w.b, s) }
func (w *partWriter) quoted(s string) { w.b = appendString(w.b, s) }

// json writes a value as it is.
func (w *partWriter) json(v json.RawMessage) { w.b = append(w.b, v...) }

// base64 writes the bytes of a picture, as the inside of a JSON string.
func (w *partWriter) base64(i *llm.Image) {
	if w.images == nil {
		w.fail(fmt.Errorf("the picture %s can't be looked up here", i.Hash))
		return
	}
	data, err := w.images(w.ctx, i.Hash)
	if err != nil {
		w.fail(fmt.Errorf("a picture can't be sent: %w", err))
		return
	}
	w.b = base64.StdEncoding.AppendEncode(w.b, data)
}

func (w *partWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// end closes the part that was begun.
func (w *partWriter) end(owner string) {
	w.parts = append(w.parts, wire.Part{Owner: owner, Bytes: w.b})
	w.b = nil
}

// close adds punctuation to what it closes: the part that was begun, or else the last one.
func (w *partWriter) close(s string) {
	if w.b != nil || len(w.parts) == 0 {
		w.raw(s)
		return
	}
	last := &w.parts[len(w.parts)-1]
	last.Bytes = append(last.Bytes, s...)
}

// all gives the parts; what no block has claimed is envelope. They are kept as long as the task runs, so each gives back
// the room that it was written in.
func (w *partWriter) all() []wire.Part {
	if w.b != nil {
		w.end("")
	}
	for i := range w.parts {
		w.parts[i].Bytes = bytes.Clone(w.parts[i].Bytes)
	}
	return w.parts
}

func appendString(b []byte, s string) []byte { return append(appendText(append(b, '"'), s), '"') }

// appendText writes s as the inside of a JSON string. Invalid UTF-8 and NUL become U+FFFD: servers refuse or cut at
// them. Nothing is escaped that need not be.
func appendText(b []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "\uFFFD")
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		case 0:
			b = append(b, "\uFFFD"...)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, s[from:]...)
}
