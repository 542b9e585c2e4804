package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"overt/internal/llm"
)

// inTextHead says how tools are called in text; the descriptions of the tools follow.
const inTextHead = `# Tools
To call a tool, reply with one JSON object and nothing else, with no word before or after it:
{"tool": "NAME", "arguments": {…}}
The next message then has its result. One reply calls one tool; go on call by call until the task is done. A reply that is not such an object is your final answer. The tools, each with the JSON Schema of its arguments:`

// prepare gives the request that is sent in place of r, but for its messages, of which only the roles change: [model.fit] does
// the rest for those that have not been sent before. Each message is changed by itself, always in the same way, so the parts of a
// longer history still begin with those of a shorter one.
func (m *model) prepare(r *llm.Request) (*llm.Request, error) {
	p := &m.o.Profile
	if err := p.check(); err != nil {
		return nil, err
	}
	switch n := len(r.Tools); {
	case p.Tools == InText:
		r = inText(r)
	case p.MaxTools > 0 && n > p.MaxTools:
		return nil, fmt.Errorf("%s takes at most %d tools, and these are %d: offer fewer", m.o.Name, p.MaxTools, n)
	}
	if p.BreakSpecial {
		out := *r
		out.System = slices.Clone(r.System)
		for i := range out.System {
			out.System[i].Text = broken(out.System[i].Text)
		}
		r = &out
	}
	return r, nil
}

// fit gives a message as the server is told it.
func (m *model) fit(msg *llm.Message) *llm.Message {
	out := *msg
	if m.o.Profile.Tools == InText {
		out = messageInText(out)
	}
	if m.o.Profile.BreakSpecial {
		out = brokenMessage(out)
	}
	return &out
}

// inText gives a request whose tools are text, and whose results the user tells.
func inText(r *llm.Request) *llm.Request {
	out := *r
	out.Tools = nil
	if len(r.Tools) > 0 {
		out.System = append(slices.Clip(r.System), llm.Block{Type: llm.Text, Text: inTextHead})
	}
	for _, t := range r.Tools {
		schema := string(t.Schema)
		if schema == "" {
			schema = noArguments
		}
		text := "## " + t.Name + "\n"
		if t.Description != "" {
			text += t.Description + "\n"
		}
		out.System = append(out.System, llm.Block{Type: llm.Text, Owner: t.Owner, Text: text + "arguments: " + schema})
	}
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages {
		if out.Messages[i].Role == llm.Tool {
			out.Messages[i].Role = llm.User
		}
	}
	return &out
}

// messageInText gives a message with its calls as the model should have written them, and with results as the user tells them:
// models imitate what looks like a tag.
func messageInText(msg llm.Message) llm.Message {
	blocks := make([]llm.Block, 0, len(msg.Blocks))
	said := false
	for _, b := range msg.Blocks {
		switch {
		case b.Call != nil:
			text := string(appendString([]byte(`{"tool": `), b.Call.Name)) + `, "arguments": ` + arguments(b.Call.Arguments) + `}`
			if said {
				text = "\n" + text
			}
			b = llm.Block{Type: llm.Text, Owner: b.Owner, Text: text}
			said = true
		case b.Result != nil:
			b = llm.Block{Type: llm.Text, Owner: b.Owner, Text: "The result of " + b.Result.Name + ":\n" + b.Result.Content}
		case b.Type == llm.Text:
			said = said || b.Text != ""
		}
		blocks = append(blocks, b)
	}
	msg.Blocks = blocks
	return msg
}

// resolveText decides what an answer in the text form is: a call, or an answer, never both. What can be nothing but a call
// and can't be read stays a call, so that the model is told. Text that goes before a call comments it.
func (a *answer) resolveText(s *scan, native, cut bool) {
	held := string(s.text.held)
	if held == "" {
		return
	}
	if !native {
		before, c, is := callInText(held, s.tools)
		switch {
		case is && cut && !object([]byte(c.args)):
			a.dropped++
			return
		case is:
			a.emit(s.text.piece, before)
			a.take([]textCall{c})
			return
		}
	}
	a.emit(s.text.piece, held)
}

// callBegin is how a call begins that has no end.
var callBegin = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\{\s*"tool"\s*:\s*"([^"\\\n]*)"`) })

// callInText finds the call that a reply is, or that it ends with.
func callInText(s string, tools []llm.ToolSpec) (before string, c textCall, ok bool) {
	if c, ok = wholeCall(s); ok && (c.args != "" || offered(toolName(c.name, tools), tools)) {
		c.args = orElse(c.args, "{}")
		return "", c, true
	}
	body := strings.TrimLeft(s, " \t\r\n")
	for _, fence := range []string{"```json", "```"} {
		body = skipMark(body, fence)
	}
	if m := callBegin().FindStringSubmatch(body); m != nil && offered(toolName(m[1], tools), tools) {
		_, args, found := strings.Cut(body, `"arguments"`)
		if !found {
			args = body
		}
		return "", textCall{name: m[1], args: strings.TrimLeft(args, ": \t\r\n")}, true
	}
	if len(s) > heldMax {
		return s, textCall{}, false
	}
	var q quoting
	var places []int
	for i := range len(s) {
		if (s[i] == '{' || s[i] == '`') && q.head == "" && !q.inside() {
			places = append(places, i)
		}
		q.step(s[i])
	}
	for _, i := range few(places) {
		if c, ok := wholeCall(s[i:]); ok && offered(toolName(c.name, tools), tools) && object([]byte(c.args)) {
			return s[:i], c, true
		}
	}
	return s, textCall{}, false
}

// wholeCall reads a text that is one call and nothing else, but for a fence around it and tokens that end a turn. The arguments
// are empty if there are none.
func wholeCall(s string) (c textCall, ok bool) {
	s = strings.TrimSpace(s)
	if t, fenced := strings.CutPrefix(s, "```"); fenced {
		s = strings.TrimPrefix(t, "json")
	}
	v, rest, ok := takeJSON(s)
	if !ok || skipEnds(skipMark(rest, "```")) != "" || v.get("tool").kind() != '"' {
		return c, false
	}
	for k := range v.members() {
		if k != "tool" && k != "arguments" {
			return c, false // JSON that was asked for
		}
	}
	c.name = v.get("tool").text()
	switch args := v.get("arguments"); {
	case args.kind() == '"': // encoded twice
		c.args = args.text()
	case !args.null():
		c.args = string(args)
	}
	return c, c.name != ""
}

// special are the control tokens of models that servers trip over when they stand in a text.
var special = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<\|[a-zA-Z_]+\|>|</?s>|\[/?INST\]|<｜[^｜<>]{1,40}｜>|<(?:start|end)_of_turn>`)
})

// broken gives a text with a zero-width space in each control token. JSON stays JSON: such a token stands within a string.
func broken(s string) string {
	return special().ReplaceAllStringFunc(s, func(t string) string { return t[:1] + "\u200b" + t[1:] })
}

// brokenMessage breaks the control tokens of a message: of its texts, results, and the arguments of its calls.
func brokenMessage(msg llm.Message) llm.Message {
	msg.Blocks = slices.Clone(msg.Blocks)
	for i, b := range msg.Blocks {
		switch {
		case b.Type == llm.Text:
			msg.Blocks[i].Text = broken(b.Text)
		case b.Call != nil:
			c := *b.Call
			c.Arguments = broken(c.Arguments)
			msg.Blocks[i].Call = &c
		case b.Result != nil:
			result := *b.Result
			result.Content = broken(result.Content)
			msg.Blocks[i].Result = &result
		}
	}
	return msg
}
