package provider

import (
	"fmt"
	"slices"

	"overt/internal/llm"
)

// head implements [writer]. Nothing is left with the server (store), so what it thought comes back sealed, to be sent again.
func (c *responses) head(r *llm.Request) ([]byte, error) {
	b := appendString([]byte(`{"model":`), c.model)
	if c.stream {
		b = append(b, `,"stream":true`...)
	}
	b = append(b, `,"store":false,"include":["reasoning.encrypted_content"]`...)
	b, err := appendTemperature(b, r.Params)
	if err != nil {
		return nil, err
	}
	if n := r.Params.MaxTokens; n > 0 && c.p.LimitField != None {
		b = fmt.Appendf(b, `,"max_output_tokens":%d`, max(n, 16)) // it takes no less
	}
	effort := c.p.effort(r.Params.Effort)
	if r.Params.Thinking == "off" {
		effort = None
	}
	switch {
	case effort != "":
		b = append(appendString(append(b, `,"reasoning":{"effort":`...), effort), `,"summary":"auto"}`...)
	case r.Params.Thinking == "on":
		b = append(b, `,"reasoning":{"summary":"auto"}`...)
	}
	if c.p.CacheKey && r.Lane != "" {
		b = appendString(append(b, `,"prompt_cache_key":`...), r.Lane)
	}
	b = appendMembers(b, c.p.Extra)
	if len(r.Tools) > 0 {
		return append(b, `,"tools":[`...), nil
	}
	return append(b, ','), nil
}

// tool implements [writer]. strict must be there for LM Studio; our schemas have members that may be left out, which a
// strict one may not.
func (c *responses) tool(t llm.ToolSpec) []byte {
	b := appendString([]byte(`{"type":"function","name":`), t.Name)
	if t.Description != "" {
		b = appendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"parameters":`...), t.Schema...)
	return append(b, `,"strict":false}`...)
}

// open implements [writer].
func (c *responses) open(r *llm.Request) []byte {
	b := []byte{}
	if len(r.Tools) > 0 {
		b = append(b, `],`...)
	}
	if len(r.System) == 0 {
		b = append(b, `"input":[`...)
	}
	return b
}

// system implements [writer].
func (c *responses) system(i int, last bool, text string) []byte {
	var b []byte
	if i == 0 {
		b = append(b, `"instructions":"`...)
	} else {
		b = append(b, `\n\n`...)
	}
	b = appendText(b, text)
	if last {
		b = append(b, `","input":[`...)
	}
	return b
}

// tail implements [writer].
func (c *responses) tail(r *llm.Request, _ *llm.Message) []byte {
	b := []byte{']'}
	if p := r.Params; p.ToolChoice != "" && len(r.Tools) > 0 {
		b = appendString(append(b, `,"tool_choice":`...), p.ToolChoice)
	}
	return append(b, '}')
}

// message implements [writer]. A message of the user is one item, of the model as many as it gave.
func (c *responses) message(w *partWriter, _ *llm.Request, before, m *llm.Message) {
	if before != nil {
		w.raw(`,`)
	}
	user := m.Role == llm.User
	if user {
		w.raw(`{"type":"message","role":"user","content":[`)
	}
	n := 0
	for i, b := range m.Blocks {
		if !c.sends(user, m.Blocks[i:]) {
			continue
		}
		if n > 0 {
			w.raw(`,`)
		}
		c.item(w, user, b)
		w.end(b.Owner)
		n++
	}
	switch {
	case n == 0 && user:
		w.raw(`{"type":"input_text","text":"` + nothing + `"}`)
	case n == 0:
		w.raw(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + nothing + `"}]}`)
	}
	if user {
		w.close(`]}`)
	}
}

// own tells whether what stands beside a block is of this model.
func (c *responses) own(b llm.Block) bool { return len(b.Opaque) > 0 && b.Origin == c.origin }

// sends tells whether the first of some blocks is sent. Reasoning is refused where nothing of the same answer follows it.
func (c *responses) sends(user bool, blocks []llm.Block) bool {
	switch b := blocks[0]; {
	case b.Call != nil || b.Result != nil:
		return true
	case b.Image != nil:
		return user
	case b.Type == llm.Reasoning:
		return c.own(b) && slices.ContainsFunc(blocks[1:], func(b llm.Block) bool { return b.Call != nil || b.Type == llm.Text && !blank(b) })
	default:
		return b.Type == llm.Text && !blank(b)
	}
}

// item writes what a block is: an item, or a part of a message of the user.
func (c *responses) item(w *partWriter, user bool, b llm.Block) {
	switch {
	case b.Call != nil:
		w.raw(`{"type":"function_call","call_id":`)
		w.quoted(b.Call.ID)
		w.raw(`,"name":`)
		w.quoted(b.Call.Name)
		w.raw(`,"arguments":`)
		w.quoted(arguments(b.Call.Arguments))
	case b.Result != nil:
		w.raw(`{"type":"function_call_output","call_id":`)
		w.quoted(b.Result.ID)
		w.raw(`,"output":`)
		w.quoted(b.Result.Content)
	case b.Image != nil:
		w.raw(`{"type":"input_image","image_url":"data:` + b.Image.Media + `;base64,`)
		w.base64(b.Image)
		w.raw(`"`)
	case b.Type == llm.Reasoning:
		w.json(b.Opaque) // the item, as it came
		return
	case user:
		w.raw(`{"type":"input_text","text":`)
		w.quoted(b.Text)
	default:
		w.raw(`{"type":"message","role":"assistant"`)
		if c.own(b) { // the phase, without which later models do worse
			w.raw(`,"phase":`)
			w.json(b.Opaque)
		}
		w.raw(`,"content":[{"type":"output_text","text":`)
		w.quoted(b.Text)
		w.raw(`}]`)
	}
	w.raw(`}`)
}
