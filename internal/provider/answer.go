package provider

import (
	"strings"
	"unicode/utf8"

	"overt/internal/llm"
)

// answer is put together from deltas, or from one message.
type answer struct {
	show  func(llm.Delta)
	tools []llm.ToolSpec

	id     string
	blocks []*piece
	calls  calls
	open   *piece // text that still grows; nil after a call
	rest   []byte // end of a text that is not a whole character yet
	half   rune   // first half of a surrogate pair

	finish  string // as received
	size    int    // of what has come, as JSON
	begun   bool   // a choice has come
	done    bool   // the end mark or the end of a document has come
	refusal bool
	usage   llm.Usage
}

// piece is a block that still grows.
type piece struct {
	kind    llm.BlockType
	carrier string
	text    strings.Builder
	call    *call
}

func newAnswer(tools []llm.ToolSpec, show func(llm.Delta)) *answer {
	a := &answer{show: show, tools: tools}
	a.calls.opened = func(c *call) {
		a.settle()
		a.blocks = append(a.blocks, &piece{kind: llm.Call, call: c})
	}
	return a
}

// finished tells whether the server has said that the answer is whole: by a finish reason, or by the end mark alone.
// Some servers, and gateways that drop chunks without text, send no reason at all; one that breaks off sends no mark.
func (a *answer) finished() bool { return a.done || a.finish != "" }

// add appends the string v to the text of its kind, and shows it.
func (a *answer) add(kind llm.BlockType, carrier string, v raw) {
	if v.kind() != '"' || len(v) == 2 {
		return
	}
	if a.open == nil || a.open.kind != kind || a.open.carrier != carrier {
		a.settle()
		a.open = &piece{kind: kind, carrier: carrier}
		a.blocks = append(a.blocks, a.open)
	}
	b := unquote(a.rest, v, &a.half)
	n := whole(b)
	a.emit(string(b[:n]))
	a.rest = append(a.rest[:0], b[n:]...)
}

// emit keeps and shows a piece of the open text; what is shown, joined, is what is kept.
func (a *answer) emit(s string) {
	if s == "" {
		return
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	a.open.text.WriteString(s)
	part := llm.TextDelta
	if a.open.kind == llm.Reasoning {
		part = llm.ReasoningDelta
	}
	a.show(llm.Delta{Part: part, Text: s})
}

// settle ends the open text.
func (a *answer) settle() {
	if a.open == nil {
		return
	}
	if a.half != 0 {
		a.rest = append(a.rest, "\uFFFD"...)
	}
	a.emit(string(a.rest))
	a.open, a.rest, a.half = nil, a.rest[:0], 0
}

// whole gives the length of b without a last character whose bytes have not all come.
func whole(b []byte) int {
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
	out := &llm.Response{RawFinish: a.finish, Usage: a.usage}
	cut := failed || meaning(a.finish) == llm.Length
	for _, p := range a.blocks {
		if p.kind != llm.Call {
			out.Blocks = append(out.Blocks, llm.Block{Type: p.kind, Carrier: p.carrier, Text: p.text.String()})
			continue
		}
		done, dropped := p.call.finalise(a.tools, cut)
		out.Dropped += dropped
		for _, c := range done {
			out.Blocks = append(out.Blocks, llm.Block{Type: llm.Call, Call: &c})
		}
	}
	out.Finish = meaning(a.finish)
	if a.refusal {
		out.Finish = llm.ContentFilter
	}
	return out
}

// meaning maps a finish reason. Sources: openai-openapi 2.3.0 and the documents of Mistral, Anthropic and Z.ai.
func meaning(reason string) llm.Finish {
	switch strings.ToLower(reason) {
	case "stop", "end", "eos", "end_turn", "stop_sequence":
		return llm.Stop
	case "tool_calls", "tool_use", "function_call":
		return llm.ToolCalls
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		return llm.Length
	case "content_filter", "sensitive":
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
