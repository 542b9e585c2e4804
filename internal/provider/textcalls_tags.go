package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"overt/internal/llm"
)

// arg is an argument as it stood between tags.
type arg struct {
	key, text string
	known     bool // whether it is a string is said
	isText    bool
}

// argsOf makes an object of arguments. What the schema has for a string is one; else the text is the value, if it is JSON.
func argsOf(name string, args []arg, tools []llm.ToolSpec) string {
	var props raw
	for _, t := range tools {
		if t.Name == toolName(name, tools) && json.Valid(t.Schema) {
			props = raw(t.Schema).get("properties")
		}
	}
	var out []member
	for _, a := range args {
		isText := a.isText
		if kind := props.get(a.key).get("type"); !a.known {
			isText = kind.text() == "string" || kind.null() && !strings.HasPrefix(strings.TrimSpace(a.text), "{") && !strings.HasPrefix(strings.TrimSpace(a.text), "[")
		}
		v, ok := parse([]byte(a.text))
		if isText || !ok || len(v) == 0 {
			v = raw(appendString(nil, a.text))
		}
		out = append(out, member{a.key, v})
	}
	return string(objectOf(out))
}

// takeTagged takes <tool_call> with JSON, with a function between tags, or with GLM's keys and values.
func takeTagged(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
	body, ok := after(s, "<tool_call>")
	if !ok {
		return nil, s, false
	}
	body = strings.TrimLeft(body, " \t\r\n")
	const end = "</tool_call>"
	switch {
	case strings.HasPrefix(body, "{"):
		v, rest, ok := takeJSON(body)
		c, is := jsonCall(v)
		if !ok || !is {
			return nil, s, false
		}
		return []textCall{c}, skipMark(rest, end), true
	case strings.HasPrefix(body, "<function="):
		calls, rest, ok := takeFunction(body, tools)
		if !ok {
			return nil, s, false
		}
		return calls, skipMark(rest, end), true
	}
	n := strings.IndexAny(body, "\n<")
	if n < 0 {
		n = len(body)
	}
	c, rest := textCall{name: strings.TrimSpace(body[:n])}, body[n:]
	var args []arg
	for {
		t, ok := after(rest, "<arg_key>")
		if !ok {
			break
		}
		key, t, ok1 := strings.Cut(t, "</arg_key>")
		t, ok2 := after(t, "<arg_value>")
		value, t, ok3 := cutValue(t, "</arg_value>", "<arg_key>", end)
		if !ok1 || !ok2 || !ok3 {
			return nil, s, false
		}
		args, rest = append(args, arg{key: strings.TrimSpace(key), text: value}), t
	}
	t, closed := after(rest, end)
	if c.name == "" || strings.ContainsAny(c.name, " \t`") || len(args) == 0 && !closed {
		return nil, s, false
	}
	if closed {
		rest = t
	}
	c.args = argsOf(c.name, args, tools)
	return []textCall{c}, rest, true
}

// cutValue cuts a value at the first end that is followed by one of what may follow, or by nothing: the value may be a file
// that holds such tags.
func cutValue(s, end string, next ...string) (value, rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], end)
		if i < 0 {
			return "", s, false
		}
		i += from
		rest = s[i+len(end):]
		t := strings.TrimLeft(rest, " \t\r\n")
		if t == "" || slices.ContainsFunc(next, func(n string) bool { return strings.HasPrefix(t, n) }) {
			return s[:i], rest, true
		}
		from = i + len(end)
	}
}

// takeFunction takes <function=name>, with JSON or with parameters between tags.
func takeFunction(s string, tools []llm.ToolSpec) ([]textCall, string, bool) {
	body, ok := after(skipMark(s, "<tool_call>"), "<function=")
	name, rest, cut := strings.Cut(body, ">")
	if !ok || !cut {
		return nil, s, false
	}
	c := textCall{name: strings.Trim(strings.TrimSpace(name), `"'`)}
	if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "{") {
		v, rest, ok := takeJSON(rest)
		c.args = string(v)
		return []textCall{c}, skipMark(rest, "</function>"), ok && c.name != ""
	}
	var args []arg
	for {
		t, ok := after(rest, "<parameter=")
		if !ok {
			break
		}
		key, t, ok1 := strings.Cut(t, ">")
		value, t, ok2 := cutValue(t, "</parameter>", "<parameter=", "</function>", "</tool_call>")
		if !ok1 || !ok2 {
			return nil, s, false
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		args, rest = append(args, arg{key: strings.TrimSpace(key), text: value}), t
	}
	t, closed := after(rest, "</function>")
	if c.name == "" || len(args) == 0 && !closed {
		return nil, s, false
	}
	if closed {
		rest = skipMark(t, "</tool_call>") // whose beginning is often lost
	}
	c.args = argsOf(c.name, args, tools)
	return []textCall{c}, rest, true
}
