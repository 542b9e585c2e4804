package provider

import (
	"fmt"

	"overt/internal/llm"
)

// Limits of an answer, which Messages wants in every request: at most largestAnswer is asked for without being told to, and
// unknownAnswer where the model's own limit is not known.
const (
	largestAnswer = 32_000
	unknownAnswer = 8_192
)

// mark asks the server to cache the prompt up to the block that it stands in. Two are sent, of the four that Anthropic
// allows: behind the system text, and behind the last block. The server finds older entries by itself, 20 blocks back.
const mark = `,"cache_control":{"type":"ephemeral"}`

// head implements [writer].
func (c *messages) head(r *llm.Request) ([]byte, error) {
	most := r.Params.MaxTokens
	if most == 0 {
		most = unknownAnswer
		if c.most > 0 {
			most = int(min(c.most, largestAnswer))
		}
	}
	b := fmt.Appendf(appendString([]byte(`{"model":`), c.model), `,"max_tokens":%d`, most)
	if c.stream {
		b = append(b, `,"stream":true`...)
	}
	b, thinks := c.thinking(b, r.Params, most)
	if !thinks { // else the server refuses a temperature
		var err error
		if b, err = appendTemperature(b, r.Params); err != nil {
			return nil, err
		}
	}
	b = appendMembers(b, c.p.Extra)
	if len(r.Tools) > 0 {
		return append(b, `,"tools":[`...), nil
	}
	return append(b, ','), nil
}

// leastBudget is the least that Anthropic takes as a budget, which must be below the limit of the answer.
const leastBudget = 1024

// thinking writes what switches thinking, and tells whether that is on.
func (c *messages) thinking(b []byte, q llm.Params, most int) ([]byte, bool) {
	effort := c.p.effort(q.Effort)
	switch {
	case c.p.Thinking == "" || q.Thinking == "":
	case q.Thinking == "off":
		return append(b, `,"thinking":{"type":"disabled"}`...), false
	case c.p.Thinking == ThinkingBudget && most <= leastBudget:
		return b, false // there is no room to think
	case c.p.Thinking == ThinkingBudget:
		// The budget is a part of the limit and must be smaller; half of it is for the answer at least.
		budget := max(leastBudget, min(most/2, thinkingBudget(q.Effort)))
		return fmt.Appendf(b, `,"thinking":{"type":"enabled","budget_tokens":%d}`, budget), true
	case c.p.Thinking == ThinkingAdaptive:
		b = append(b, `,"thinking":{"type":"adaptive"}`...)
	default:
		b = append(b, `,"thinking":{"type":"enabled"}`...)
	}
	if effort != "" && c.p.Thinking != ThinkingBudget {
		b = append(appendString(append(b, `,"output_config":{"effort":`...), effort), '}')
	}
	return b, q.Thinking == "on" && c.p.Thinking != ""
}

// thinkingBudget is what an effort stands for where a server wants tokens. There is no vendor's table; the steps double.
func thinkingBudget(effort string) int {
	switch effort {
	case "minimal":
		return 1024
	case "low":
		return 4096
	case "high":
		return 16_384
	case "xhigh", "max", "ultra":
		return 32_768
	}
	return 8192
}

// tool implements [writer].
func (c *messages) tool(t llm.ToolSpec) []byte {
	b := appendString([]byte(`{"name":`), t.Name)
	if t.Description != "" {
		b = appendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"input_schema":`...), t.Schema...)
	return append(b, '}')
}

// open implements [writer].
func (c *messages) open(r *llm.Request) []byte {
	b := []byte{}
	if len(r.Tools) > 0 {
		b = append(b, `],`...)
	}
	if len(r.System) > 0 {
		return append(b, `"system":[`...)
	}
	return append(b, `"messages":[`...)
}

// system implements [writer].
func (c *messages) system(i int, last bool, text string) []byte {
	var b []byte
	if i > 0 {
		b = append(b, ',')
	}
	b = appendString(append(b, `{"type":"text","text":`...), text)
	if !last {
		return append(b, '}')
	}
	if c.p.CacheControl {
		b = append(b, mark...)
	}
	return append(b, `}],"messages":[`...)
}

// tail implements [writer].
func (c *messages) tail(r *llm.Request, last *llm.Message) []byte {
	var b []byte
	if last != nil {
		if c.p.CacheControl && last.Role != llm.Assistant { // its last block may be thinking, which takes no mark
			b = append(b, mark...)
		}
		b = append(b, `}]}`...)
	}
	b = append(b, ']')
	if choice := r.Params.ToolChoice; choice != "" && len(r.Tools) > 0 {
		if choice == "required" {
			choice = "any"
		}
		b = append(appendString(append(b, `,"tool_choice":{"type":`...), choice), '}')
	}
	return append(b, '}')
}

// message implements [writer]. It leaves its last block open, so that a mark can be put there.
func (c *messages) message(w *partWriter, _ *llm.Request, before, m *llm.Message) {
	role := anthropicRole(m)
	first := false // of the message
	switch {
	case before == nil:
		w.raw(`{"role":"` + role + `","content":[`)
		first = true
	case anthropicRole(before) != role:
		w.raw(`}]},{"role":"` + role + `","content":[`)
		first = true
	default: // the roles must alternate
		w.raw(`}`)
	}
	n := 0
	for _, b := range m.Blocks {
		block := c.block(b)
		if block == nil {
			continue
		}
		switch {
		case n > 0:
			w.raw(`},`)
		case !first:
			w.raw(`,`)
		}
		w.b = append(w.b, block...)
		if b.Image != nil {
			w.base64(b.Image)
			w.raw(`"}`)
		}
		w.end(b.Owner)
		n++
	}
	if n == 0 { // a message must hold something
		if !first {
			w.raw(`,`)
		}
		w.raw(`{"type":"text","text":"` + nothing + `"`)
	}
}

func anthropicRole(m *llm.Message) string {
	if m.Role == llm.Assistant {
		return "assistant"
	}
	return "user" // results too
}

// block gives a block, without its closing brace, and of a picture what stands before its bytes; nil: it is not sent. Text
// must not be blank, and thinking is taken back by the model that signed it alone.
func (c *messages) block(b llm.Block) []byte {
	own := len(b.Opaque) > 0 && b.Origin == c.origin
	switch {
	case b.Call != nil:
		out := appendString([]byte(`{"type":"tool_use","id":`), b.Call.ID)
		out = appendString(append(out, `,"name":`...), b.Call.Name)
		return append(append(out, `,"input":`...), arguments(b.Call.Arguments)...)
	case b.Result != nil:
		out := appendString([]byte(`{"type":"tool_result","tool_use_id":`), b.Result.ID)
		return appendString(append(out, `,"content":`...), b.Result.Content)
	case b.Image != nil:
		return append(appendString([]byte(`{"type":"image","source":{"type":"base64","media_type":`), b.Image.Media), `,"data":"`...)
	case b.Type == llm.Reasoning && own && b.Carrier == carrierRedacted:
		return append([]byte(`{"type":"redacted_thinking","data":`), b.Opaque...)
	case b.Type == llm.Reasoning && own:
		return append(append(appendString([]byte(`{"type":"thinking","thinking":`), b.Text), `,"signature":`...), b.Opaque...)
	case b.Type == llm.Text && !blank(b):
		return appendString([]byte(`{"type":"text","text":`), b.Text)
	}
	return nil
}
