package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"overt/internal/llm"
)

// head implements [writer].
func (c *chat) head(r *llm.Request) ([]byte, error) {
	b := appendString([]byte(`{"model":`), c.model)
	if c.stream {
		b = append(b, `,"stream":true`...)
		if !c.p.NoStreamUsage && !r.Uncounted {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	b, err := appendTemperature(b, r.Params)
	if err != nil {
		return nil, err
	}
	if n := r.Params.MaxTokens; n > 0 && c.p.LimitField != None {
		b = fmt.Appendf(appendString(append(b, ','), orElse(c.p.LimitField, "max_tokens")), `:%d`, n)
	}
	params := r.Params
	if c.p.Thinking == ThinkingEnable && !c.stream { // thinking needs a stream there, and may be on by default
		if r.Params.Thinking == "on" {
			return nil, errors.New("thinking needs a stream at this server: leave out --no-stream, or set thinking to off")
		}
		params.Thinking = "off"
	}
	b = appendThinking(b, c.p, params)
	if c.p.CacheKey && r.Lane != "" {
		b = appendString(append(b, `,"prompt_cache_key":`...), r.Lane)
	}
	b = appendMembers(b, c.p.Extra)
	if len(r.Tools) > 0 {
		return append(b, `,"tools":[`...), nil
	}
	return append(b, ','), nil
}

// appendTemperature writes the member "temperature", if there is one.
func appendTemperature(b []byte, p llm.Params) ([]byte, error) {
	if p.Temperature == nil {
		return b, nil
	}
	n, err := json.Marshal(*p.Temperature)
	if err != nil {
		return nil, fmt.Errorf("temperature: %v", err)
	}
	return append(append(b, `,"temperature":`...), n...), nil
}

// appendMembers writes the members of an object behind others.
func appendMembers(b []byte, object json.RawMessage) []byte {
	for k, v := range raw(object).members() {
		b = append(append(appendString(append(b, ','), k), ':'), v...)
	}
	return b
}

// tool implements [writer].
func (c *chat) tool(t llm.ToolSpec) []byte {
	b := appendString([]byte(`{"type":"function","function":{"name":`), t.Name)
	if t.Description != "" {
		b = appendString(append(b, `,"description":`...), t.Description)
	}
	if !c.p.NoParameters || !bare(t.Schema) {
		b = append(append(b, `,"parameters":`...), t.Schema...)
	}
	return append(b, `}}`...)
}

// open implements [writer].
func (c *chat) open(r *llm.Request) []byte {
	if len(r.Tools) > 0 {
		return []byte(`],"messages":[`)
	}
	return []byte(`"messages":[`)
}

// system implements [writer].
func (c *chat) system(i int, last bool, text string) []byte {
	var b []byte
	if i == 0 {
		b = append(b, `{"role":"system","content":"`...)
	} else {
		b = append(b, `\n\n`...)
	}
	b = appendText(b, text)
	if last {
		b = append(b, `"}`...)
	}
	return b
}

// tail implements [writer]. The choice of tools stands here, so that a call without tools keeps the prefix.
func (c *chat) tail(r *llm.Request, last *llm.Message) []byte {
	var b []byte
	if c.unclosed(last) {
		b = append(b, `"}`...)
	}
	b = append(b, ']')
	if p := r.Params; p.ToolChoice != "" && len(r.Tools) > 0 {
		b = appendString(append(b, `,"tool_choice":`...), p.ToolChoice)
	}
	if c.p.CacheControl {
		b = append(b, `,"cache_control":{"type":"ephemeral"}`...)
	}
	return append(b, '}')
}

// unclosed tells whether the text of a message may go on in the next one: texts of the user that follow each other are one
// message, since the templates of many models insist on alternating roles.
func (c *chat) unclosed(m *llm.Message) bool {
	return m != nil && m.Role == llm.User && !slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Image != nil })
}

// message implements [writer].
func (c *chat) message(w *partWriter, r *llm.Request, before, m *llm.Message) {
	switch {
	case c.unclosed(before) && c.unclosed(m):
		w.raw(`\n\n`)
		encodeTexts(w, m.Blocks, `\n\n`)
		return
	case c.unclosed(before):
		w.raw(`"},`)
	case before != nil || len(r.System) > 0:
		w.raw(`,`)
	}
	switch {
	case m.Role == llm.Tool:
		c.results(w, m.Blocks)
	case m.Role == llm.Assistant:
		c.assistant(w, m.Blocks)
	case c.unclosed(m):
		w.raw(`{"role":"user","content":"`)
		encodeTexts(w, m.Blocks, `\n\n`)
	default:
		c.pictures(w, m.Blocks)
	}
}

// encodeTexts writes the text blocks as the inside of one string, which says something.
func encodeTexts(w *partWriter, blocks []llm.Block, between string) {
	if !says(blocks) {
		w.raw(nothing)
		return
	}
	n := 0
	for _, b := range blocks {
		if b.Type != llm.Text {
			continue
		}
		if n > 0 {
			w.raw(between)
		}
		w.text(b.Text)
		w.end(b.Owner)
		n++
	}
}

// pictures writes a message of the user that holds pictures, as a list of parts.
func (c *chat) pictures(w *partWriter, blocks []llm.Block) {
	w.raw(`{"role":"user","content":[`)
	n := 0
	for _, b := range blocks {
		if b.Image == nil && (b.Type != llm.Text || blank(b)) {
			continue
		}
		if n > 0 {
			w.raw(`,`)
		}
		switch {
		case b.Image != nil:
			w.raw(`{"type":"image_url","image_url":{"url":"data:` + b.Image.Media + `;base64,`)
			w.base64(b.Image)
			w.raw(`"}}`)
		default:
			w.raw(`{"type":"text","text":`)
			w.quoted(b.Text)
			w.raw(`}`)
		}
		w.end(b.Owner)
		n++
	}
	w.close(`]}`)
}

// results writes one message for each result.
func (c *chat) results(w *partWriter, blocks []llm.Block) {
	n := 0
	for _, b := range blocks {
		if b.Result == nil {
			continue
		}
		if n > 0 {
			w.raw(",")
		}
		w.raw(`{"role":"tool","tool_call_id":`)
		w.quoted(c.p.id(b.Result.ID))
		if c.p.ToolName {
			w.raw(`,"name":`)
			w.quoted(b.Result.Name)
		}
		w.raw(`,"content":`)
		w.quoted(b.Result.Content)
		w.raw(`}`)
		w.end(b.Owner)
		n++
	}
}

func (c *chat) assistant(w *partWriter, blocks []llm.Block) {
	calls := slices.ContainsFunc(blocks, func(b llm.Block) bool { return b.Call != nil })
	switch {
	case says(blocks) || !calls:
		w.raw(`{"role":"assistant","content":"`)
		encodeTexts(w, blocks, "")
		w.close(`"`)
	case !c.p.EmptyContent:
		w.raw(`{"role":"assistant","content":null`)
	default:
		w.raw(`{"role":"assistant","content":""`)
	}
	if c.p.Reasoning == Always || c.p.Reasoning == WithCalls && calls {
		c.reasoning(w, blocks)
	}
	if !calls {
		w.close(`}`)
		return
	}
	w.raw(`,"tool_calls":[`)
	n := 0
	for _, b := range blocks {
		if b.Call == nil {
			continue
		}
		if n > 0 {
			w.raw(",")
		}
		w.raw(`{"id":`)
		w.quoted(c.p.id(b.Call.ID))
		w.raw(`,"type":"function","function":{"name":`)
		w.quoted(b.Call.Name)
		w.raw(`,"arguments":`)
		w.quoted(arguments(b.Call.Arguments))
		w.raw(`}`)
		switch {
		case len(b.Opaque) > 0 && b.Origin == c.origin:
			w.raw(`,"extra_content":`)
			w.json(b.Opaque)
		case c.p.CallSentinel != "" && n == 0 && b.Origin != c.origin:
			w.raw(`,"extra_content":`)
			w.raw(c.p.CallSentinel)
		}
		w.raw(`}`)
		w.end(b.Owner)
		n++
	}
	w.close(`]}`)
}

// carrierDetails is the carrier of OpenRouter, whose entries go back as they came.
const carrierDetails = "reasoning_details"

// reasoning writes what may go back of the reasoning; where the profile has a field for it, that is there even if there was
// none, since its servers insist. Texts of another model are none.
func (c *chat) reasoning(w *partWriter, blocks []llm.Block) {
	mine := func(b llm.Block) bool { return b.Type == llm.Reasoning && (b.Origin == "" || b.Origin == c.origin) }
	field := c.p.ReasoningField
	for _, b := range blocks {
		if !mine(b) {
			continue
		}
		if b.Carrier == carrierDetails {
			if len(b.Opaque) > 0 {
				w.raw(`,"` + carrierDetails + `":`)
				w.json(b.Opaque)
				w.end(b.Owner)
			}
			return
		}
		if field == "" && (b.Carrier == "reasoning" || b.Carrier == "reasoning_content") {
			field = b.Carrier
		}
	}
	if field == carrierDetails {
		return
	}
	w.raw(`,`)
	w.quoted(orElse(field, "reasoning_content"))
	w.raw(`:"`)
	for _, b := range blocks {
		if mine(b) {
			w.text(b.Text)
			w.end(b.Owner)
		}
	}
	w.close(`"`)
}
