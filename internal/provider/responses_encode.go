package provider

import (
	"fmt"
	"strings"

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
		b = fmt.Appendf(b, `,"max_output_tokens":%d`, n)
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
	if p := r.Params; p.ToolChoice != "" {
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
	for _, b := range m.Blocks {
		comma := len(w.b)
		if n > 0 {
			w.raw(`,`)
		}
		if !c.item(w, user, b) {
			w.b = w.b[:comma]
			continue
		}
		w.end(b.Owner)
		n++
	}
	switch {
	case user:
		w.close(`]}`)
	case n == 0: // so that the comma stands between two items
		w.raw(`{"type":"message","role":"assistant","content":[]}`)
	}
}

// item writes what a block is: an item, or a part of a message of the user; false: it is not sent.
func (c *responses) item(w *partWriter, user bool, b llm.Block) bool {
	own := len(b.Opaque) > 0 && b.Origin == c.origin
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
	case b.Image != nil && user:
		w.raw(`{"type":"input_image","image_url":"data:` + b.Image.Media + `;base64,`)
		w.base64(b.Image)
		w.raw(`"`)
	case b.Type == llm.Reasoning && own:
		w.json(b.Opaque) // the item, as it came
		return true
	case b.Type == llm.Text && user:
		w.raw(`{"type":"input_text","text":`)
		w.quoted(b.Text)
	case b.Type == llm.Text && strings.TrimSpace(b.Text) != "":
		w.raw(`{"type":"message","role":"assistant"`)
		if own { // the phase, without which later models do worse
			w.raw(`,"phase":`)
			w.json(b.Opaque)
		}
		w.raw(`,"content":[{"type":"output_text","text":`)
		w.quoted(b.Text)
		w.raw(`}]`)
	default:
		return false
	}
	w.raw(`}`)
	return true
}
