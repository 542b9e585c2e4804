package scripted

import "fmt"

// The JSON of answers. Source: openai/openai-openapi 2.3.0, Response and ResponseStreamEvent.

// items gives the output. Ids of items are made of the id of the response.
func (responses) items(r Reply, id string, status string) []obj {
	var out []obj
	if r.Reasoning != "" {
		out = append(out, obj{
			"type": "reasoning", "id": "rs_" + id, "summary": []obj{{"type": "summary_text", "text": r.Reasoning}}, "encrypted_content": r.Seal,
		})
	}
	if r.Text != "" || len(r.Calls) == 0 && r.Reasoning == "" {
		part := obj{"type": "output_text", "text": r.Text, "annotations": []obj{}, "logprobs": []obj{}}
		if r.Refusal {
			part = obj{"type": "refusal", "refusal": r.Text}
		}
		m := obj{"type": "message", "id": "msg_" + id, "role": "assistant", "status": status, "content": []obj{part}}
		if r.Phase != "" {
			m["phase"] = r.Phase
		}
		out = append(out, m)
	}
	for _, c := range r.Calls {
		out = append(out, obj{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": status})
	}
	return out
}

// end gives the status of a response, and what is missing of it.
func (responses) end(r Reply) (status string, details any) {
	switch r.Finish {
	case "stop", "tool_calls":
		return "completed", nil
	case "length":
		return "incomplete", obj{"reason": "max_output_tokens"}
	}
	return "incomplete", obj{"reason": r.Finish}
}

// response gives the document; output nil: it has just begun.
func (responses) response(req Request, id, status string, details any, output []obj, usage any) obj {
	if output == nil {
		output = []obj{}
	}
	return obj{
		"id": id, "object": "response", "created_at": created, "status": status, "error": nil, "incomplete_details": details,
		"model": req.Model, "output": output, "parallel_tool_calls": true, "store": false, "usage": usage,
	}
}

func (responses) usage(u *Usage) obj {
	in := obj{"cached_tokens": u.Cached}
	if u.Written > 0 {
		in["cache_write_tokens"] = u.Written
	}
	return obj{
		"input_tokens": u.Prompt, "input_tokens_details": in, "output_tokens": u.Completion,
		"output_tokens_details": obj{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Prompt + u.Completion,
	}
}

// whole implements [dialect].
func (c responses) whole(r Reply, req Request, id string) []byte {
	status, details := c.end(r)
	return encode(c.response(req, id, status, details, c.items(r, id, status), c.usage(r.Usage)))
}

// events implements [dialect].
func (c responses) events(r Reply, req Request, id string) [][]byte {
	e := &itemEvents{}
	status, details := c.end(r)
	begun := func() obj { return c.response(req, id, "in_progress", nil, nil, nil) }
	e.add("response.created", obj{"response": begun()})
	e.add("response.in_progress", obj{"response": begun()})
	output := c.items(r, id, status)
	for i, item := range output {
		if item["type"] == "function_call" && r.Fault != nil {
			break
		}
		e.item(i, item)
	}
	if f := r.Fault; f != nil {
		code := f.Code
		if code == "" {
			code = "server_error"
		}
		e.add("error", obj{"code": code, "message": f.Message, "param": nil})
		return e.out
	}
	e.add("response."+status, obj{"response": c.response(req, id, status, details, output, c.usage(r.Usage))})
	return e.out
}

// itemEvents collects events, with their numbers.
type itemEvents struct{ out [][]byte }

func (e *itemEvents) add(name string, data obj) {
	data["sequence_number"] = len(e.out)
	e.out = append(e.out, event(name, data))
}

// item adds the events of an item: its beginning, its pieces, and the whole.
func (e *itemEvents) item(index int, whole obj) {
	id := whole["id"]
	at := func(more obj) obj {
		more["output_index"], more["item_id"] = index, id
		return more
	}
	begun := obj{}
	for k, v := range whole {
		begun[k] = v
	}
	if _, ok := begun["status"]; ok {
		begun["status"] = "in_progress"
	}
	added := func() { e.add("response.output_item.added", obj{"output_index": index, "item": begun}) }
	switch whole["type"] {
	case "reasoning":
		begun["summary"] = []obj{}
		delete(begun, "encrypted_content")
		added()
		part := whole["summary"].([]obj)[0]
		e.add("response.reasoning_summary_part.added", at(obj{"summary_index": 0, "part": obj{"type": "summary_text", "text": ""}}))
		for _, p := range pieces(part["text"].(string)) {
			e.add("response.reasoning_summary_text.delta", at(obj{"summary_index": 0, "delta": p}))
		}
		e.add("response.reasoning_summary_text.done", at(obj{"summary_index": 0, "text": part["text"]}))
		e.add("response.reasoning_summary_part.done", at(obj{"summary_index": 0, "part": part}))
	case "message":
		begun["content"] = []obj{}
		added()
		part := whole["content"].([]obj)[0]
		kind, member, empty := "output_text", "text", obj{"type": "output_text", "text": "", "annotations": []obj{}}
		if part["type"] == "refusal" {
			kind, member, empty = "refusal", "refusal", obj{"type": "refusal", "refusal": ""}
		}
		e.add("response.content_part.added", at(obj{"content_index": 0, "part": empty}))
		for _, p := range pieces(part[member].(string)) {
			e.add(fmt.Sprintf("response.%s.delta", kind), at(obj{"content_index": 0, "delta": p}))
		}
		e.add(fmt.Sprintf("response.%s.done", kind), at(obj{"content_index": 0, member: part[member]}))
		e.add("response.content_part.done", at(obj{"content_index": 0, "part": part}))
	case "function_call":
		begun["arguments"] = ""
		added()
		for _, p := range pieces(whole["arguments"].(string)) {
			e.add("response.function_call_arguments.delta", at(obj{"delta": p}))
		}
		e.add("response.function_call_arguments.done", at(obj{"arguments": whole["arguments"]}))
	}
	e.add("response.output_item.done", obj{"output_index": index, "item": whole})
}
