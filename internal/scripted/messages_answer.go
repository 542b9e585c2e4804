package scripted

import "encoding/json"

// The JSON of answers. Source: anthropic-sdk-go v1.60.0, Message and MessageStreamEventUnion.

// stop puts a finish into the words of Messages.
func (anthropic) stop(r Reply) string {
	switch {
	case r.Refusal && r.Finish == "stop":
		return "refusal"
	case r.Finish == "stop":
		return "end_turn"
	case r.Finish == "tool_calls":
		return "tool_use"
	case r.Finish == "length":
		return "max_tokens"
	case r.Finish == "content_filter":
		return "refusal"
	}
	return r.Finish
}

// usage gives the usage: what was read from the cache or written to it is not in the input.
func (anthropic) usage(u *Usage, output int) obj {
	out := obj{
		"input_tokens": u.Prompt - u.Cached - u.Written, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.Written,
		"output_tokens": output,
	}
	if u.Reasoning > 0 && output == u.Completion {
		out["output_tokens_details"] = obj{"thinking_tokens": u.Reasoning}
	}
	return out
}

func (c anthropic) message(req Request, id string, stop any, content []obj, usage obj) obj {
	return obj{
		"id": id, "type": "message", "role": "assistant", "model": req.Model, "content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
}

func (anthropic) blocks(r Reply) []obj {
	out := []obj{}
	if r.Reasoning != "" {
		out = append(out, obj{"type": "thinking", "thinking": r.Reasoning, "signature": r.Seal})
	}
	if r.Text != "" {
		out = append(out, obj{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		out = append(out, obj{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input(c.Args)})
	}
	return out
}

// input gives arguments as a value: a text where they are none.
func input(args string) json.RawMessage {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return encode(args)
}

// whole implements [dialect].
func (c anthropic) whole(r Reply, req Request, id string) []byte {
	return encode(c.message(req, id, c.stop(r), c.blocks(r), c.usage(r.Usage, r.Usage.Completion)))
}

// events implements [dialect].
func (c anthropic) events(r Reply, req Request, id string) [][]byte {
	var out [][]byte
	add := func(name string, data obj) { out = append(out, event(name, data)) }
	add("message_start", obj{"message": c.message(req, id, nil, []obj{}, c.usage(r.Usage, 1))})
	first := len(c.blocks(r)) - len(r.Calls)
	for i, b := range c.blocks(r) {
		if b["type"] == "tool_use" && r.Fault != nil {
			break
		}
		delta := func(kind, member, text string) {
			add("content_block_delta", obj{"index": i, "delta": obj{"type": kind, member: text}})
		}
		begin := func(empty obj) { add("content_block_start", obj{"index": i, "content_block": empty}) }
		switch b["type"] {
		case "thinking":
			begin(obj{"type": "thinking", "thinking": "", "signature": ""})
			for _, p := range pieces(r.Reasoning) {
				delta("thinking_delta", "thinking", p)
			}
			delta("signature_delta", "signature", r.Seal)
		case "text":
			begin(obj{"type": "text", "text": ""})
			for _, p := range pieces(r.Text) {
				delta("text_delta", "text", p)
			}
		case "tool_use":
			begin(obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}})
			delta("input_json_delta", "partial_json", "")
			for _, p := range pieces(r.Calls[i-first].Args) {
				delta("input_json_delta", "partial_json", p)
			}
		}
		add("content_block_stop", obj{"index": i})
		if i == 0 {
			add("ping", obj{})
		}
	}
	if f := r.Fault; f != nil {
		var data obj
		if err := json.Unmarshal(c.refusal(&problem{kind: f.Kind, message: f.Message}), &data); err != nil {
			panic(err) // it was encoded just now
		}
		add("error", data)
		return out
	}
	add("message_delta", obj{"delta": obj{"stop_reason": c.stop(r), "stop_sequence": nil}, "usage": c.usage(r.Usage, r.Usage.Completion)})
	add("message_stop", obj{})
	return out
}

// models implements [dialect].
func (anthropic) models(names []string) []byte {
	data := []obj{}
	for _, n := range names {
		data = append(data, obj{"type": "model", "id": n, "display_name": n, "created_at": "2026-01-01T00:00:00Z"})
	}
	return encode(obj{"data": data, "has_more": false, "first_id": names[0], "last_id": names[len(names)-1]})
}
