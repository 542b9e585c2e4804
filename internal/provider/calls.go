package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"overt/internal/llm"
)

// calls merges the deltas of tool calls, in whatever of the known shapes a server cuts them.
//
// A delta belongs to the call with its id; else a new id begins a call, even under an index that is taken; else its
// index decides; else it continues the call that was touched last. No buffer is taken for finished because it parses:
// more may follow. That it is a whole object only helps to tell a repetition, or another call, from a continuation.
type calls struct {
	opened func(*call) // told of each new call
	list   []*call
	last   *call
	at     map[int64]*call // by index, the latest
}

// call is a tool call that still grows.
type call struct {
	id, name string
	index    int64
	indexed  bool
	args     []byte
	half     rune            // of args
	extra    json.RawMessage // extra_content: goes back with the call
}

// delta is one fragment as received.
type delta struct {
	id, name string
	index    int64
	indexed  bool
	args     raw
	extra    raw
}

// readDelta takes an element of tool_calls apart; also the older form function_call, which has no element.
func readDelta(v raw) delta {
	var d delta
	for k, m := range v.members() {
		switch k {
		case "id":
			d.id = m.text()
		case "index":
			if n, ok := m.number(); ok {
				d.index, d.indexed = max(n, 0), true
			}
		case "extra_content":
			d.extra = m
		case "function":
			for k, m := range m.members() {
				d.take(k, m)
			}
		default:
			d.take(k, m)
		}
	}
	return d
}

func (d *delta) take(k string, m raw) {
	switch k {
	case "name":
		if d.name = strings.TrimSpace(m.text()); d.name == "null" {
			d.name = ""
		}
	case "arguments":
		d.args = m
	}
}

// text gives the arguments as text where they are one fragment that can stand alone.
func (d *delta) text() string {
	switch d.args.kind() {
	case 'n':
		return ""
	case '"':
		return d.args.text()
	}
	return string(d.args)
}

// add merges one delta.
func (s *calls) add(d delta) {
	text := d.text()
	if d.id == "" && d.name == "" && text == "" {
		return
	}
	c := s.find(d, text)
	if c == nil {
		c = &call{index: d.index, indexed: d.indexed}
		s.list = append(s.list, c)
		s.opened(c)
	}
	s.last = c
	if d.indexed {
		if s.at == nil {
			s.at = map[int64]*call{}
		}
		s.at[d.index] = c
	}
	if c.id == "" {
		c.id = d.id
	}
	if c.name == "" {
		c.name = d.name
	}
	if d.extra.kind() == '{' {
		c.extra = slices.Clone(json.RawMessage(d.extra))
	}
	c.append(d, text)
}

// find gives the call that a delta belongs to; nil: it begins one.
func (s *calls) find(d delta, text string) *call {
	if d.id != "" {
		return s.findID(d, text)
	}
	if d.indexed {
		if c := s.at[d.index]; c != nil {
			if c.begins(d, text, true) {
				return nil
			}
			return c
		}
		if d.name != "" {
			return nil
		}
		return s.last // arguments under a wrong index
	}
	if s.last == nil || s.last.begins(d, text, false) {
		return nil
	}
	return s.last
}

func (s *calls) findID(d delta, text string) *call {
	for i := len(s.list) - 1; i >= 0; i-- {
		c := s.list[i]
		if c.id != d.id {
			continue
		}
		if d.indexed && c.indexed && d.index != c.index && d.name != "" && c.complete() {
			continue // the same id for every call
		}
		if c.begins(d, text, true) {
			return nil
		}
		return c
	}
	c := s.last
	if d.indexed {
		c = s.at[d.index]
	}
	if c != nil && c.id == "" && (d.name == "" || c.name == "" || c.name == d.name && d.indexed) && !c.begins(d, text, true) {
		return c // the id comes late
	}
	return nil
}

// begins tells whether a delta that could continue c is another call: it names a tool though c is whole, and is neither
// a repetition nor what an empty object stood for. named: an id or index points to c.
func (c *call) begins(d delta, text string, named bool) bool {
	if d.name == "" || c.name == "" || !c.complete() {
		return false
	}
	switch {
	case d.name != c.name:
		return true
	case strings.TrimSpace(text) == "":
		return false
	case same(text, c.args):
		return false
	case c.placeholder():
		return !named
	}
	return strings.HasPrefix(strings.TrimSpace(text), "{")
}

// complete tells whether the arguments so far are a whole object.
func (c *call) complete() bool { return object(c.args) }

// placeholder tells whether the arguments are an object that real ones may still replace.
func (c *call) placeholder() bool {
	s := bytes.TrimSpace(c.args)
	return len(s) > 1 && s[0] == '{' && s[len(s)-1] == '}' && len(bytes.TrimSpace(s[1:len(s)-1])) == 0
}

// append adds a fragment of arguments.
func (c *call) append(d delta, text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case text == "":
		return
	case string(bytes.TrimSpace(c.args)) == "null", c.placeholder() && strings.HasPrefix(trimmed, "{"):
		c.args, c.half = c.args[:0], 0
	case object([]byte(trimmed)) && same(trimmed, c.args):
		return // sent a second time
	}
	if d.args.kind() == '"' {
		c.args = unquote(c.args, d.args, &c.half)
		return
	}
	c.args = append(c.args, d.args...)
}

// same tells whether two texts are the same JSON object up to blanks.
func same(a string, b []byte) bool {
	if strings.TrimSpace(a) == string(bytes.TrimSpace(b)) {
		return true
	}
	if !object([]byte(a)) || !object(b) {
		return false
	}
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// object tells whether b is exactly one JSON object.
func object(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}' && json.Valid(b)
}

// finalise gives what a call came to: itself, or several where objects were sent under one head. cut: the answer ended
// early, so arguments that are not whole are not kept. dropped counts what is lost.
func (c *call) finalise(tools []llm.ToolSpec, cut bool) (out []llm.ToolCall, dropped int) {
	if c.half != 0 {
		c.args = append(c.args, "\uFFFD"...)
	}
	args := strings.ToValidUTF8(string(c.args), "\uFFFD")
	if c.name == "" && strings.TrimSpace(args) == "" {
		return nil, 0 // some servers send a call of nothing
	}
	name := toolName(c.name, tools) // "" stays: the model is told that no tool has that name
	if object(c.args) {
		return []llm.ToolCall{{ID: c.id, Name: name, Arguments: args}}, 0
	}
	if cut {
		return nil, 1
	}
	switch strings.TrimSpace(args) {
	case "", "null", `"null"`:
		return []llm.ToolCall{{ID: c.id, Name: name, Arguments: "{}"}}, 0
	}
	docs := split(args)
	if len(docs) == 0 {
		docs = []string{args}
	}
	for i, doc := range docs {
		if i > 0 && same(doc, []byte(docs[i-1])) {
			continue // the whole once more, in fragments
		}
		id := c.id
		if len(out) > 0 {
			id = ""
		}
		out = append(out, llm.ToolCall{ID: id, Name: name, Arguments: doc})
	}
	return out, 0
}

// split cuts a text into the JSON objects that it consists of; none if it is not just that.
func split(s string) []string {
	var out []string
	d := json.NewDecoder(strings.NewReader(s))
	for {
		var v json.RawMessage
		err := d.Decode(&v)
		if err == io.EOF {
			return out
		}
		if err != nil || !object(v) {
			return nil
		}
		out = append(out, string(v))
	}
}

// toolName gives the offered name that a model meant: without the marks of its own format, in another case if only one
// tool can be meant. A name of no tool stays as it came, so that the model can be told.
func toolName(name string, tools []llm.ToolSpec) string {
	if offered(name, tools) {
		return name
	}
	s, _, _ := strings.Cut(name, "<|")
	for _, prefix := range []string{"functions.", "default_api."} {
		s = strings.TrimPrefix(strings.TrimSpace(s), prefix)
	}
	if offered(s, tools) {
		return s
	}
	found, n := "", 0
	for _, t := range tools {
		if strings.EqualFold(t.Name, s) {
			found, n = t.Name, n+1
		}
	}
	if n == 1 {
		return found
	}
	return name
}
