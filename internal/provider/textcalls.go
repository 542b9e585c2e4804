package provider

import (
	"slices"
	"strings"

	"overt/internal/llm"
)

// textCall is a tool call that stood in a text. name is as the model wrote it.
type textCall struct{ id, name, args string }

// scan looks for calls in the texts of an answer. They are taken for calls only where the answer has no calls of its own, and
// only if they are all that the text ends with, outside of code that it quotes; they must name tools that were offered, with
// an object for arguments. What may be a call is held back until that is known, so nothing that was shown turns out to be one.
type scan struct {
	forms         []textForm
	tools         []llm.ToolSpec
	text, thought hold
}

// newScan gives what looks for calls in the answer to a request; nil: nothing does.
func newScan(p *Profile, r *llm.Request) *scan {
	if len(r.Tools) == 0 || r.Params.ToolChoice == None {
		return nil
	}
	if p.Tools == InText {
		return &scan{tools: r.Tools, text: hold{all: true}}
	}
	forms := formsOf(p.TextCalls)
	if len(forms) == 0 {
		return nil
	}
	return &scan{forms: forms, tools: r.Tools, text: hold{forms: forms}, thought: hold{forms: forms}}
}

// hold holds a text back from where a call may begin.
type hold struct {
	forms []textForm
	all   bool // it is a call or an answer as a whole
	piece *piece
	held  []byte
	white int  // of held: white space that has been looked at; a mark may begin behind it
	found bool // held begins with a mark, behind white space
	code  quoting
}

// whiteMax bounds the white space that is held back before a call, where it would mean nothing.
const whiteMax = 64

// feed takes the next text of a piece, and gives what can be no part of a call.
func (h *hold) feed(s string) string {
	if h.all || h.found {
		h.held = append(h.held, s...)
		return ""
	}
	s = string(h.held) + s // white space and a part of a mark: both are bounded
	free := 0              // the end of what can be no part of a call
	for i := h.white; i < len(s); i++ {
		if !h.code.inside() {
			if found, maybe := h.begins(s[i:]); found || maybe {
				h.found = found
				h.keep(s[free:], i-free)
				return s[:free]
			}
		}
		if white := s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r'; !white || i-free >= whiteMax {
			free = i + 1
		}
		h.code.step(s[i])
	}
	h.keep(s[free:], len(s)-free)
	return s[:free]
}

// keep holds s, which begins with so much white space.
func (h *hold) keep(s string, white int) { h.held, h.white = append(h.held[:0], s...), white }

// begins tells whether s begins with a mark, or may once more of it has come.
func (h *hold) begins(s string) (found, maybe bool) {
	for _, f := range h.forms {
		if f.alone && h.code.some {
			continue
		}
		for _, mark := range f.marks {
			switch {
			case mark[0] != s[0]:
			case strings.HasPrefix(s, mark):
				return true, false
			case strings.HasPrefix(mark, s):
				maybe = true
			}
		}
	}
	return false, maybe
}

// release gives out what is held, as text.
func (h *hold) release() string {
	s := string(h.held)
	*h = hold{forms: h.forms, all: h.all}
	return s
}

// quoting knows where in a text of Markdown there is code: in fenced blocks, and between backticks within a line.
type quoting struct {
	fenced    bool
	head      string // of the line, as far as it may be a fence
	open, run int    // backticks that opened code in this line; that stand right before
	some      bool   // more than white space has come
}

func (q *quoting) step(c byte) {
	if c == '\n' {
		if q.head == "```" || q.head == "~~~" {
			q.fenced = !q.fenced
		}
		q.head, q.open, q.run = "", 0, 0
		return
	}
	if white := c == ' ' || c == '\t' || c == '\r'; !white {
		q.some = true
		if len(q.head) < 3 {
			q.head += string(rune(c))
		}
	}
	if c == '`' {
		q.run++
		return
	}
	q.open, q.run = q.opened(), 0
}

// opened gives what open is once the run is over.
func (q *quoting) opened() int {
	switch {
	case q.run == 0:
		return q.open
	case q.open == 0:
		return q.run
	case q.open == q.run:
		return 0
	}
	return q.open
}

func (q *quoting) inside() bool { return q.fenced || q.opened() > 0 || q.head == "~~~" }

// of gives what holds texts of a kind back; nil: nothing does.
func (s *scan) of(kind llm.BlockType) *hold {
	switch {
	case s == nil:
	case kind == llm.Text:
		return &s.text
	case kind == llm.Reasoning && !s.text.all:
		return &s.thought
	}
	return nil
}

// readable tells whether all calls are of tools that were offered, with an object for arguments.
func (s *scan) readable(calls []textCall) bool {
	for _, c := range calls {
		if !offered(toolName(c.name, s.tools), s.tools) || !object([]byte(c.args)) {
			return false
		}
	}
	return len(calls) > 0
}

// offered tells whether a tool has exactly this name.
func offered(name string, tools []llm.ToolSpec) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == name })
}

// Bounds of the search for calls in a text that is held: reading from each place where one may begin costs as much as the text is
// long. In a longer text no calls are found; more than twice what models give out at once.
const (
	heldMax   = 2 << 20 // bytes
	placesMax = 32
)

// few gives of the places where calls may begin the first, which it is as a rule, and the last ones.
func few(places []int) []int {
	if len(places) <= placesMax {
		return places
	}
	return append(places[:1:1], places[len(places)-placesMax+1:]...)
}

// last gives the calls that a held text ends with, and what stands before them. ok: it ends with what has the form of calls,
// whether they are readable or not.
func (s *scan) last(held string) (before string, calls []textCall, ok bool) {
	if len(held) > heldMax {
		return held, nil, false
	}
	h := hold{forms: s.forms}
	var places []int
	for i := range len(held) {
		if !h.code.inside() {
			if found, _ := h.begins(held[i:]); found {
				places = append(places, i)
			}
		}
		h.code.step(held[i])
	}
	for _, i := range few(places) {
		if calls, ok := s.readAll(held[i:]); ok {
			return held[:i], calls, true
		}
	}
	return held, nil, false
}

// readAll takes a text that is nothing but calls apart.
func (s *scan) readAll(text string) (out []textCall, ok bool) {
	for {
		if text = skipEnds(text); text == "" {
			return out, len(out) > 0
		}
		read := false
		for _, f := range s.forms {
			if !slices.ContainsFunc(f.marks, func(mark string) bool { return strings.HasPrefix(text, mark) }) {
				continue
			}
			var calls []textCall
			if calls, text, read = f.take(text, s.tools); read {
				out = append(out, calls...)
				break
			}
		}
		if !read {
			return nil, false
		}
	}
}

// skipEnds cuts white space and the tokens that end a turn off the beginning.
func skipEnds(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		cut := false
		for _, end := range []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|end|>"} {
			if rest, ok := strings.CutPrefix(s, end); ok {
				s, cut = rest, true
			}
		}
		if !cut {
			return s
		}
	}
}

// resolve decides what the held texts are, once all has come. cut: the answer ended early.
func (a *answer) resolve(cut bool) {
	s := a.scan
	if s == nil {
		return
	}
	a.scan = nil
	native, said := false, false
	for _, p := range a.blocks {
		native = native || p.kind == llm.Call
		said = said || p.kind == llm.Text && strings.TrimSpace(p.text.String()) != ""
	}
	if s.text.all {
		a.resolveText(s, native, cut)
		return
	}
	said = a.resolveHold(s, &s.text, native, cut) || said
	native = native || len(a.calls.list) > 0
	a.resolveHold(s, &s.thought, native || said, cut) // parsers of servers leave calls within reasoning
}

// resolveHold decides on one text, and tells whether it said something. A mark that the answer ended in the midst of is
// dropped with what follows it.
func (a *answer) resolveHold(s *scan, h *hold, native, cut bool) (said bool) {
	held := string(h.held)
	if held == "" {
		return false
	}
	before, calls, ok := s.last(held)
	before = strings.TrimRight(before, " \t\r\n")
	switch {
	case ok && native && h.piece.kind == llm.Text: // what is left over of them
		a.emit(h.piece, before)
	case ok && !native && s.readable(calls):
		a.emit(h.piece, before)
		a.take(calls)
		return true
	case h.found && !ok && cut && !native && h.piece.kind == llm.Text:
		a.dropped++
	default:
		a.emit(h.piece, held)
		a.garbled = a.garbled || ok && !native
		return strings.TrimSpace(held) != ""
	}
	return strings.TrimSpace(before) != ""
}

// take adds calls that stood in a text.
func (a *answer) take(calls []textCall) {
	a.settle()
	for _, c := range calls {
		made := &call{id: c.id, name: c.name, args: []byte(c.args)}
		a.calls.list = append(a.calls.list, made)
		a.blocks = append(a.blocks, &piece{kind: llm.Call, call: made})
	}
}
