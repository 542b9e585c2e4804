package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"overt/internal/llm"
)

// answer is put together from deltas, or from one message.
type answer struct {
	show   func(llm.Delta)
	tools  []llm.ToolSpec
	origin string

	id     string
	blocks []*piece
	calls  calls
	open   *piece // text that still grows; nil after a call
	scan   *scan  // for calls in texts; nil: none are looked for

	finish  string // as received
	size    int    // of what has come, as JSON
	begun   bool   // a choice has come
	done    bool   // the end mark or the end of a document has come
	cut     bool   // the server has said that the answer is not whole, whatever the finish is
	refusal bool
	garbled bool // a text ends with calls that can't be read
	dropped int  // calls in texts that were cut
	usage   llm.Usage
}

// piece is a block that still grows.
type piece struct {
	kind    llm.BlockType
	carrier string
	opaque  json.RawMessage
	text    strings.Builder
	came    bool // some text has come, shown or held back
	in      characters
	call    *call
}

func newAnswer(tools []llm.ToolSpec, origin string, show func(llm.Delta)) *answer {
	a := &answer{show: show, tools: tools, origin: origin}
	a.calls.opened = func(c *call) {
		a.settle()
		a.blocks = append(a.blocks, &piece{kind: llm.Call, call: c})
	}
	return a
}

// finished tells whether the server has said that the answer is whole: by a finish reason, or by the end mark alone.
// Some servers, and gateways that drop chunks without text, send no reason at all; one that breaks off sends no mark.
func (a *answer) finished() bool { return a.done || a.finish != "" }

// grow checks that the answer stays within its bound when n more bytes of JSON have come.
func (a *answer) grow(n int, name string) *llm.Error {
	if a.size += n; a.size > maxAnswer {
		return &llm.Error{Class: llm.Malformed, Code: "size", Message: fmt.Sprintf("the answer of %s is larger than %d MB", name, maxAnswer>>20)}
	}
	return nil
}

// maxParts bounds the calls of an answer, and the items: each is compared with the others. It is many times what models give out.
const maxParts = 2000

// few checks that an answer has not more than maxParts calls, or items.
func (a *answer) few(n int, name string) *llm.Error {
	if n > maxParts {
		return &llm.Error{Class: llm.Malformed, Code: "size", Message: fmt.Sprintf("the answer of %s has more than %d parts", name, maxParts)}
	}
	return nil
}

// begin adds a block that holds text.
func (a *answer) begin(kind llm.BlockType, carrier string) *piece {
	p := &piece{kind: kind, carrier: carrier}
	a.blocks = append(a.blocks, p)
	return p
}

// add appends the string v to the text of its kind, and shows it.
func (a *answer) add(kind llm.BlockType, carrier string, v raw) {
	if v.kind() == '"' && len(v) > 2 {
		p := a.growing(kind, carrier)
		a.write(p, p.in.decode(v))
	}
}

// growing gives the block that a text of its kind goes on in.
func (a *answer) growing(kind llm.BlockType, carrier string) *piece {
	if a.open == nil || a.open.kind != kind || a.open.carrier != carrier {
		a.settle()
		a.open = a.begin(kind, carrier)
	}
	return a.open
}

// put adds a text of its kind, and shows it.
func (a *answer) put(kind llm.BlockType, carrier, s string) {
	if s != "" {
		a.write(a.growing(kind, carrier), s)
	}
}

// write takes a text of a block. What may be a call is held back.
func (a *answer) write(p *piece, s string) {
	if s == "" {
		return
	}
	p.came = true
	if h := a.scan.of(p.kind); h != nil {
		switch {
		case h.piece == nil, h.all && h.held == nil:
			h.piece = p
		case h.piece != p && !h.all:
			a.emit(h.piece, h.release())
			h.piece = p
		}
		s = h.feed(s)
	}
	a.emit(p, s)
}

// emit keeps and shows a text of a block; what is shown, joined, is what is kept.
func (a *answer) emit(p *piece, s string) {
	if s == "" {
		return
	}
	p.text.WriteString(s)
	part := llm.TextDelta
	if p.kind == llm.Reasoning {
		part = llm.ReasoningDelta
	}
	a.show(llm.Delta{Part: part, Text: s})
}

// settle ends the open text.
func (a *answer) settle() {
	if a.open != nil {
		a.end(a.open)
		a.open = nil
	}
}

// end ends the text of a block.
func (a *answer) end(p *piece) { a.write(p, p.in.end()) }

// characters decodes JSON strings that together are one text: servers cut them within characters, and within pairs of
// escaped surrogates. The zero value is ready.
type characters struct {
	rest []byte // end of a string that is not a whole character yet
	half rune   // first half of a surrogate pair
}

// decode gives the whole characters that have come with the string v.
func (c *characters) decode(v raw) string {
	b := unquote(c.rest, v, &c.half)
	n := wholeCharacters(b)
	s := strings.ToValidUTF8(string(b[:n]), "\uFFFD")
	c.rest = append(c.rest[:0], b[n:]...)
	return s
}

// end gives what is left.
func (c *characters) end() string {
	s := strings.ToValidUTF8(string(c.rest), "\uFFFD")
	if c.half != 0 {
		s += "\uFFFD"
	}
	c.rest, c.half = nil, 0
	return s
}

// wholeCharacters gives the length of b without a last character whose bytes have not all come.
func wholeCharacters(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// response ends the answer. failed: it did not come to its end.
func (a *answer) response(failed bool) *llm.Response {
	a.settle()
	for _, p := range a.blocks {
		a.end(p)
	}
	cut := failed || a.ended() == llm.Length
	a.resolve(a.ended() == llm.Length)
	out := &llm.Response{RawFinish: a.finish, Usage: a.usage, Garbled: a.garbled, Dropped: a.dropped}
	for _, p := range a.blocks {
		if p.kind != llm.Call && p.text.Len() == 0 && (p.kind == llm.Text || len(p.opaque) == 0) {
			continue // begun, and nothing came
		}
		if p.kind != llm.Call {
			b := llm.Block{Type: p.kind, Carrier: p.carrier, Opaque: valid(p.opaque), Text: p.text.String()}
			if b.Carrier != "" || len(b.Opaque) > 0 {
				b.Origin = a.origin
			}
			out.Blocks = append(out.Blocks, b)
			continue
		}
		done, dropped := p.call.finalise(a.tools, cut)
		out.Dropped += dropped
		for i, c := range done {
			c.Arguments = pairedEscapes(c.Arguments)
			b := llm.Block{Type: llm.Call, Call: &c}
			if i == 0 && len(p.call.extra) > 0 {
				b.Opaque, b.Origin = valid(p.call.extra), a.origin
			}
			out.Blocks = append(out.Blocks, b)
		}
	}
	out.Finish = a.ended()
	return out
}

// valid gives what goes back without bytes that no server would take back.
func valid(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return nil
	}
	return bytes.ToValidUTF8(v, []byte("\uFFFD"))
}

// ended gives the meaning of the finish.
func (a *answer) ended() llm.Finish {
	f := meaning(a.finish)
	switch {
	case a.refusal:
		return llm.ContentFilter
	case a.cut && f != llm.ContentFilter:
		return llm.Length
	}
	return f
}

// stop takes a finish reason. name is the server's. The reasons that make an answer useless stay, whatever follows.
func (a *answer) stop(reason, name string) *llm.Error {
	if f := meaning(a.finish); f != llm.Length && f != llm.ContentFilter {
		a.finish = short(reason)
	}
	if class, ok := failing(reason); ok {
		return &llm.Error{Class: class, Code: short(reason), Message: fmt.Sprintf("%s broke the answer off: %s", name, oneLine(reason))}
	}
	return nil
}

// meaning maps a finish reason. Sources: openai-openapi 2.3.0 and the documents of Mistral, Anthropic and Z.ai.
func meaning(reason string) llm.Finish {
	switch strings.ToLower(reason) {
	case "stop", "end", "eos", "end_turn", "stop_sequence", "completed":
		return llm.Stop
	case "tool_calls", "tool_use", "function_call":
		return llm.ToolCalls
	case "length", "max_tokens", "model_length", "model_context_window_exceeded", "max_output_tokens":
		return llm.Length
	case "content_filter", "sensitive", "refusal":
		return llm.ContentFilter
	}
	return llm.Other
}

// failing tells whether a finish reason says that there is no answer, and how it failed: the server broke off by itself,
// or somebody stopped it. Sources: OpenRouter, Z.ai and DeepSeek (errors), vLLM and SGLang (abort). A reason that is
// not known is none of these: servers invent them for answers too.
func failing(reason string) (class llm.Class, ok bool) {
	switch strings.ToLower(reason) {
	case "error", "failed", "failure", "network_error", "server_error", "internal_error", "internal_server_error",
		"insufficient_system_resource", "overloaded", "overload":
		return llm.Overload, true
	case "abort", "aborted", "cancel", "cancelled", "canceled", "interrupted", "incomplete", "timeout":
		return llm.Cut, true
	}
	return "", false
}
