package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// textForm is a form in which models write calls where a server has no parser for it. Sources: the chat templates of the
// models, and reports of what leaks.
type textForm struct {
	name  string
	marks []string // each of which begins a call
	alone bool     // only where nothing but white space stands before it
	shy   bool     // an example in prose looks the same: it must be asked for by name
	// take takes the calls that s begins with; rest is what follows them. Without any, rest is s.
	take func(s string, tools []llm.ToolSpec) (calls []textCall, rest string, ok bool)
}

// textForms are all of them.
func textForms() []textForm {
	return []textForm{
		{name: "hermes", marks: []string{"<tool_call>"}, take: takeTagged},                   // Hermes, Qwen; Qwen3-Coder and GLM share the tag
		{name: "glm", marks: []string{"<tool_call>"}, take: takeTagged},                      // GLM 4.5 and later
		{name: "function", marks: []string{"<function=", "<tool_call>"}, take: takeFunction}, // Qwen3-Coder, Nemotron, Llama
		{name: "deepseek", marks: []string{deepSeekCalls, deepSeekCall}, take: takeDeepSeek},
		{name: "dsml", marks: dsmlMarks(), take: takeDSML}, // DeepSeek V3.2 and later
		{name: "kimi", marks: []string{"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", kimiCall}, take: takeKimi},
		{name: "minimax", marks: []string{"<minimax:tool_call>"}, take: func(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
			return takeInvokes(s, "", "minimax:tool_call", tools)
		}},
		{name: "invoke", marks: []string{"<function_calls>", "<invoke name="}, take: func(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
			return takeInvokes(s, "", "function_calls", tools)
		}},
		{name: "llama", marks: []string{"<|python_tag|>"}, take: takeLlama},
		{name: "mistral", marks: []string{"[TOOL_CALLS]"}, take: takeMistral},
		{name: "harmony", marks: []string{"<|channel|>commentary", "<|start|>assistant<|channel|>commentary"}, take: takeHarmony},
		{name: "json", marks: []string{"```json"}, shy: true, take: takeFenced},
		{name: "json", marks: []string{"{"}, alone: true, shy: true, take: takeBare},
		{name: "python", marks: []string{"```tool_code"}, shy: true, take: takePython},
	}
}

// TextForms lists the forms of calls in text that a [Profile] may name. Auto stands for all but json and python.
func TextForms() (out []string) {
	for _, f := range textForms() {
		if !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

// formsOf gives the forms of the names.
func formsOf(names []string) (out []textForm) {
	if len(names) == 0 {
		return nil
	}
	for _, f := range textForms() {
		if slices.Contains(names, f.name) || !f.shy && slices.Contains(names, Auto) {
			out = append(out, f)
		}
	}
	return out
}

// skipMark cuts a mark, with white space before it, off the beginning; without one s stays as it is.
func skipMark(s, mark string) string {
	t := strings.TrimLeft(s, " \t\r\n")
	if rest, ok := strings.CutPrefix(t, mark); ok && mark != "" {
		return rest
	}
	return s
}

// after cuts white space and a mark that must be there off the beginning.
func after(s, mark string) (string, bool) {
	return strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), mark)
}

// takeJSON takes the JSON value that s begins with.
func takeJSON(s string) (v raw, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(s))
	var m json.RawMessage
	if d.Decode(&m) != nil {
		return nil, s, false
	}
	return raw(m), s[d.InputOffset():], true
}

// jsonCall reads a call that is an object with a name and arguments.
func jsonCall(v raw) (c textCall, ok bool) {
	if v.kind() != '{' {
		return c, false
	}
	if f := v.get("function"); f.kind() == '{' {
		v = f
	}
	c.id = v.get("id").text()
	for _, k := range []string{"name", "tool"} {
		c.name = orElse(c.name, v.get(k).text())
	}
	for _, k := range []string{"arguments", "parameters", "input"} {
		if m := v.get(k); !m.null() && c.args == "" {
			c.args = string(m)
			if m.kind() == '"' { // encoded twice
				c.args = m.text()
			}
		}
	}
	if ok = c.name != ""; c.args == "" {
		c.args = "{}"
	}
	return c, ok
}

// Marks of DeepSeek V3 and R1, and of Kimi.
const (
	deepSeekCalls = "<｜tool▁calls▁begin｜>"
	deepSeekCall  = "<｜tool▁call▁begin｜>"
	kimiCall      = "<|tool_call_begin|>"
)

func takeDeepSeek(s string, _ []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	rest = skipMark(s, deepSeekCalls)
	for {
		body, ok := after(rest, deepSeekCall)
		if !ok {
			break
		}
		head, tail, ok := strings.Cut(body, "<｜tool▁sep｜>")
		if !ok {
			return nil, s, false
		}
		c := textCall{name: strings.TrimSpace(head)}
		if c.name == "function" { // V3 and R1: the name stands in the next line
			c.name, tail, _ = strings.Cut(tail, "\n")
			c.name = strings.TrimSpace(c.name)
		}
		if t, fenced := after(tail, "```json"); fenced {
			tail = t
		}
		v, t, ok := takeJSON(tail)
		if !ok || c.name == "" {
			return nil, s, false
		}
		c.args = string(v)
		rest = skipMark(skipMark(t, "```"), "<｜tool▁call▁end｜>")
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, s, false
	}
	return out, skipMark(rest, "<｜tool▁calls▁end｜>"), true
}

// dsmlMarks begin with the bars that DSML was seen with.
func dsmlMarks() (out []string) {
	for _, bar := range []string{"｜", "｜｜", "‖", "|", "||"} {
		out = append(out, "<"+bar+"DSML"+bar)
	}
	return out
}

// takeDSML takes a section of invocations whose tags all begin with DSML between the same bars.
func takeDSML(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
	for _, mark := range dsmlMarks() {
		if !strings.HasPrefix(s, mark) {
			continue
		}
		prefix := mark[1:]
		for _, section := range []string{"tool_calls", "function_calls"} {
			calls, rest, ok := takeInvokes(s, prefix, prefix+section, tools)
			if ok && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "</"+prefix) {
				return calls, rest, true
			}
		}
	}
	return nil, s, false
}

// takeInvokes takes invocations with parameters between tags, within a section whose tags may both be missing.
// prefix is that of all tags.
func takeInvokes(s, prefix, section string, tools []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	end := "</" + section + ">"
	rest = skipMark(s, "<"+section+">")
	for {
		body, ok := after(rest, "<"+prefix+"invoke name=")
		if !ok {
			break
		}
		name, t, ok := strings.Cut(body, ">")
		if !ok {
			return nil, s, false
		}
		c, args := textCall{name: strings.Trim(strings.TrimSpace(name), `"'`)}, []arg(nil)
		for {
			p, ok := after(t, "<"+prefix+"parameter name=")
			if !ok {
				break
			}
			head, p, ok1 := strings.Cut(p, ">")
			value, p, ok2 := cutValue(p, "</"+prefix+"parameter>", "<"+prefix+"parameter name=", "</"+prefix+"invoke>", end)
			if !ok1 || !ok2 {
				return nil, s, false
			}
			a := arg{text: value}
			key, more, _ := strings.Cut(strings.TrimLeft(head, `"'`), `"`)
			a.key = strings.TrimSpace(strings.TrimRight(key, `'`))
			a.known = strings.Contains(more, "string=")
			a.isText = strings.Contains(more, `"true"`)
			if !a.known {
				a.text = strings.TrimSuffix(strings.TrimPrefix(a.text, "\n"), "\n")
			}
			args, t = append(args, a), p
		}
		closed, isClosed := after(t, "</"+prefix+"invoke>")
		if c.name == "" || len(args) == 0 && !isClosed {
			return nil, s, false
		}
		if rest = t; isClosed {
			rest = closed
		}
		c.args = argsOf(c.name, args, tools)
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, s, false
	}
	return out, skipMark(rest, end), true
}

func takeKimi(s string, _ []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	rest = skipMark(skipMark(s, "<|tool_calls_section_begin|>"), "<|tool_call_section_begin|>")
	for {
		body, ok := after(rest, kimiCall)
		if !ok {
			break
		}
		id, tail, ok := strings.Cut(body, "<|tool_call_argument_begin|>")
		v, t, isJSON := takeJSON(tail)
		if !ok || !isJSON {
			return nil, s, false
		}
		c := textCall{id: strings.TrimSpace(id), args: string(v)}
		c.name, _, _ = strings.Cut(strings.TrimPrefix(c.id, "functions."), ":")
		rest = skipMark(t, "<|tool_call_end|>")
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, s, false
	}
	return out, skipMark(skipMark(rest, "<|tool_calls_section_end|>"), "<|tool_call_section_end|>"), true
}

func takeLlama(s string, _ []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	rest, ok = after(s, "<|python_tag|>")
	for ok {
		v, t, isJSON := takeJSON(rest)
		c, is := jsonCall(v)
		if !isJSON || !is {
			break
		}
		out, rest = append(out, c), t
		rest, ok = after(rest, ";")
	}
	if len(out) == 0 {
		return nil, s, false
	}
	return out, rest, true
}

func takeMistral(s string, _ []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	body, ok := after(s, "[TOOL_CALLS]")
	if !ok {
		return nil, s, false
	}
	if t := strings.TrimLeft(body, " \t\r\n"); strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{") {
		v, rest, ok := takeJSON(t)
		if v.kind() == '{' {
			v = listOf([]raw{v})
		}
		for e := range v.elements() {
			c, is := jsonCall(e)
			ok = ok && is
			out = append(out, c)
		}
		if !ok || len(out) == 0 {
			return nil, s, false
		}
		return out, rest, true
	}
	name, tail, ok := strings.Cut(body, "[ARGS]")
	v, rest, isJSON := takeJSON(tail)
	name, id, _ := strings.Cut(name, "[CALL_ID]")
	if !ok || !isJSON || strings.TrimSpace(name) == "" {
		return nil, s, false
	}
	return []textCall{{id: strings.TrimSpace(id), name: strings.TrimSpace(name), args: string(v)}}, rest, true
}

// takeHarmony takes a call of gpt-oss, whose recipient stands behind the channel.
func takeHarmony(s string, _ []llm.ToolSpec) ([]textCall, string, bool) {
	body, ok := after(skipMark(s, "<|start|>assistant"), "<|channel|>commentary")
	head, tail, cut := strings.Cut(body, "<|message|>")
	_, to, named := strings.Cut(head, "to=")
	v, rest, isJSON := takeJSON(tail)
	if fields := strings.FieldsFunc(to, func(r rune) bool { return r == ' ' || r == '<' }); ok && cut && named && isJSON && len(fields) > 0 {
		return []textCall{{name: strings.TrimPrefix(fields[0], "functions."), args: string(v)}}, skipMark(rest, "<|call|>"), true
	}
	return nil, s, false
}

// takeFenced takes a call in a fenced block of JSON.
func takeFenced(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
	body, ok := after(s, "```json")
	calls, rest, is := takeBare(body, tools)
	rest, closed := after(rest, "```")
	if !ok || !is || !closed {
		return nil, s, false
	}
	return calls, rest, true
}

// takeBare takes an object with the name and the arguments of a call, and nothing else.
func takeBare(s string, _ []llm.ToolSpec) ([]textCall, string, bool) {
	v, rest, ok := takeJSON(s)
	c, is := jsonCall(v)
	n := 0
	for range v.members() {
		n++
	}
	if !ok || !is || n != 2 || v.get("arguments").null() && v.get("parameters").null() && v.get("input").null() {
		return nil, s, false
	}
	return []textCall{c}, rest, true
}
