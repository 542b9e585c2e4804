package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

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
	key      string
	first    bool
	from, to int // its parts in the list
}

// is tells whether a message is the one that was kept.
func (k *keptMessage) is(msg *llm.Message, first bool) bool {
	return msg.Key != "" && k.key == msg.Key && k.first == first
}

// encode makes the body: parameters and tools, then messages, then what may change from call to call. Each part but the
// tail depends on nothing that follows it, so the parts of a longer history begin with those of a shorter one.
func (m *chat) encode(r *llm.Request) ([]wire.Part, error) {
	m.mu.Lock()
	old := m.kept
	m.mu.Unlock()
	now := encoded{}
	out := make([]wire.Part, 0, len(old.list)+len(old.tools)+len(old.system)+16) // what a step brings is less
	head, err := m.head(r)
	if err != nil {
		return nil, err
	}
	if now.head = head; bytes.Equal(old.head, head) {
		now.head = old.head
	}
	out = append(out, wire.Part{Bytes: now.head})
	for i, t := range r.Tools {
		k, err := encodeTool(i, t, old.tools)
		if err != nil {
			return nil, err
		}
		now.tools = append(now.tools, k)
		out = append(out, k.part)
	}
	open := `"messages":[`
	if len(r.Tools) > 0 {
		open = `],"messages":[`
	}
	if now.open = old.open; string(now.open) != open {
		now.open = []byte(open)
	}
	out = append(out, wire.Part{Bytes: now.open})
	for i, b := range r.System {
		k := encodeSystem(i, i == len(r.System)-1, b, old.system)
		now.system = append(now.system, k)
		out = append(out, k.part)
	}
	list := len(out)
	now.messages, out = m.encodeMessages(r, old, out)
	now.list = out[list:len(out):len(out)]
	out = append(out, wire.Part{Bytes: tail(r.Params)})
	m.mu.Lock()
	m.kept = now
	m.mu.Unlock()
	return out, nil
}

// head gives the fields before the tools, and the opening of these.
func (m *chat) head(r *llm.Request) ([]byte, error) {
	b := appendString([]byte(`{"model":`), m.o.Model)
	if m.o.Stream {
		b = append(b, `,"stream":true`...)
		if !m.o.Quirks.NoStreamUsage {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	if t := r.Params.Temperature; t != nil {
		n, err := json.Marshal(*t)
		if err != nil {
			return nil, fmt.Errorf("temperature: %v", err)
		}
		b = append(append(b, `,"temperature":`...), n...)
	}
	if n := r.Params.MaxTokens; n > 0 {
		field := "max_tokens"
		if m.o.Quirks.CompletionTokens {
			field = "max_completion_tokens"
		}
		b = fmt.Appendf(b, `,%q:%d`, field, n)
	}
	if len(r.Tools) > 0 {
		return append(b, `,"tools":[`...), nil
	}
	return append(b, ','), nil
}

// tail closes the body. The choice of tools stands here, so that a call without tools keeps the prefix.
func tail(p llm.Params) []byte {
	b := []byte{']'}
	if p.ToolChoice != "" {
		b = appendString(append(b, `,"tool_choice":`...), p.ToolChoice)
	}
	return append(b, '}')
}

func encodeTool(i int, t llm.ToolSpec, old []keptTool) (keptTool, error) {
	if i < len(old) {
		o := old[i].spec
		if o.Name == t.Name && o.Description == t.Description && o.Owner == t.Owner && bytes.Equal(o.Schema, t.Schema) {
			return old[i], nil
		}
	}
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !json.Valid(schema) {
		return keptTool{}, fmt.Errorf("the schema of tool %s is not valid JSON", t.Name)
	}
	var b []byte
	if i > 0 {
		b = append(b, ',')
	}
	b = appendString(append(b, `{"type":"function","function":{"name":`...), t.Name)
	if t.Description != "" {
		b = appendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"parameters":`...), schema...)
	b = append(b, `}}`...)
	t.Schema = slices.Clone(t.Schema)
	return keptTool{t, wire.Part{Owner: t.Owner, Bytes: b}}, nil
}

// encodeSystem gives one text of the system message.
func encodeSystem(i int, last bool, block llm.Block, old []keptBlock) keptBlock {
	if i < len(old) && old[i].last == last && old[i].block.Text == block.Text && old[i].block.Owner == block.Owner {
		return old[i]
	}
	var b []byte
	if i == 0 {
		b = append(b, `{"role":"system","content":"`...)
	} else {
		b = append(b, `\n\n`...)
	}
	b = appendText(b, block.Text)
	if last {
		b = append(b, `"}`...)
	}
	return keptBlock{block, last, wire.Part{Owner: block.Owner, Bytes: b}}
}

// encodeMessages appends the parts of the messages to out.
func (m *chat) encodeMessages(r *llm.Request, old encoded, out []wire.Part) ([]keptMessage, []wire.Part) {
	first := func(i int) bool { return i == 0 && len(r.System) == 0 }
	same := 0
	for same < min(len(r.Messages), len(old.messages)) && old.messages[same].is(&r.Messages[same], first(same)) {
		same++
	}
	start := len(out)
	kept := append(make([]keptMessage, 0, len(r.Messages)), old.messages[:same]...)
	if same > 0 {
		out = append(out, old.list[:kept[same-1].to]...)
	}
	for i := same; i < len(r.Messages); i++ {
		msg, from := &r.Messages[i], len(out)-start
		if i < len(old.messages) && old.messages[i].is(msg, first(i)) {
			out = append(out, old.list[old.messages[i].from:old.messages[i].to]...)
		} else {
			out = append(out, m.encodeMessage(first(i), *msg)...)
		}
		kept = append(kept, keptMessage{msg.Key, first(i), from, len(out) - start})
	}
	return kept, out
}

// encodeMessage gives the parts of a message, one for each block. first: nothing stands before it in the list.
func (m *chat) encodeMessage(first bool, msg llm.Message) []wire.Part {
	w := &partWriter{}
	if !first {
		w.b = append(w.b, ',')
	}
	switch msg.Role {
	case llm.Tool:
		encodeResults(w, msg.Blocks)
	case llm.Assistant:
		m.encodeAssistant(w, msg.Blocks)
	default:
		w.raw(`{"role":"user","content":"`)
		encodeTexts(w, msg.Blocks, `\n\n`)
		w.close(`"}`)
	}
	return w.all()
}

// encodeTexts writes the text blocks as the inside of one string.
func encodeTexts(w *partWriter, blocks []llm.Block, between string) {
	n := 0
	for _, b := range blocks {
		if b.Type != llm.Text {
			continue
		}
		if n > 0 {
			w.raw(between)
		}
		w.b = appendText(w.b, b.Text)
		w.end(b.Owner)
		n++
	}
}

// encodeResults writes one message for each result.
func encodeResults(w *partWriter, blocks []llm.Block) {
	n := 0
	for _, b := range blocks {
		if b.Result == nil {
			continue
		}
		if n > 0 {
			w.raw(",")
		}
		w.raw(`{"role":"tool","tool_call_id":`)
		w.b = appendString(w.b, b.Result.ID)
		w.raw(`,"content":`)
		w.b = appendString(w.b, b.Result.Content)
		w.raw(`}`)
		w.end(b.Owner)
		n++
	}
}

func (m *chat) encodeAssistant(w *partWriter, blocks []llm.Block) {
	texts := slices.ContainsFunc(blocks, func(b llm.Block) bool { return b.Type == llm.Text && b.Text != "" })
	calls := slices.ContainsFunc(blocks, func(b llm.Block) bool { return b.Call != nil })
	switch {
	case texts:
		w.raw(`{"role":"assistant","content":"`)
		encodeTexts(w, blocks, "")
		w.close(`"`)
	case calls && !m.o.Quirks.EmptyContent:
		w.raw(`{"role":"assistant","content":null`)
	default:
		w.raw(`{"role":"assistant","content":""`)
	}
	if !calls {
		w.close(`}`)
		return
	}
	if m.o.Quirks.Reasoning {
		m.encodeReasoning(w, blocks)
	}
	w.raw(`,"tool_calls":[`)
	n := 0
	for _, b := range blocks {
		if b.Call == nil {
			continue
		}
		if n > 0 {
			w.raw(",")
		}
		w.raw(`{"id":`)
		w.b = appendString(w.b, b.Call.ID)
		w.raw(`,"type":"function","function":{"name":`)
		w.b = appendString(w.b, b.Call.Name)
		w.raw(`,"arguments":`)
		w.b = appendString(w.b, arguments(b.Call.Arguments))
		w.raw(`}}`)
		w.end(b.Owner)
		n++
	}
	w.close(`]}`)
}

// encodeReasoning writes all reasoning under one name; the field must be there even if there was none.
func (m *chat) encodeReasoning(w *partWriter, blocks []llm.Block) {
	carrier := m.o.Quirks.Carrier
	for _, b := range blocks {
		if carrier == "" && b.Type == llm.Reasoning && (b.Carrier == "reasoning" || b.Carrier == "reasoning_content") {
			carrier = b.Carrier
		}
	}
	if carrier == "" {
		carrier = "reasoning_content"
	}
	w.raw(`,`)
	w.b = appendString(w.b, carrier)
	w.raw(`:"`)
	for _, b := range blocks {
		if b.Type == llm.Reasoning {
			w.b = appendText(w.b, b.Text)
			w.end(b.Owner)
		}
	}
	w.close(`"`)
}

// arguments gives the text of arguments if it is a JSON object, and an empty object else: a server that parses the
// history would refuse every later request of the session.
func arguments(s string) string {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(s), &o) != nil || o == nil {
		return "{}"
	}
	return s
}

// partWriter collects the parts of a message.
type partWriter struct {
	parts []wire.Part
	b     []byte // begun
}

func (w *partWriter) raw(s string) { w.b = append(w.b, s...) }

// end closes the part that was begun.
func (w *partWriter) end(owner string) {
	w.parts = append(w.parts, wire.Part{Owner: owner, Bytes: w.b})
	w.b = nil
}

// close adds punctuation to what it closes: the part that was begun, or else the last one.
func (w *partWriter) close(s string) {
	if w.b != nil {
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
