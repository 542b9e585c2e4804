package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// responsesFields are the request fields of openai/openai-openapi 2.3.0, CreateResponse.
func responsesFields() []string {
	return []string{
		"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "max_output_tokens",
		"store", "include", "previous_response_id", "conversation", "stream", "stream_options", "truncation", "context_management",
		"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "service_tier", "background", "metadata",
		"safety_identifier", "temperature", "top_p", "top_logprobs", "max_tool_calls", "prompt", "user",
	}
}

type inFlatTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      json.RawMessage `json:"strict"`
}

// parse implements [dialect].
func (c responses) parse(body []byte, _ http.Header, known sealed) (Request, *problem) {
	top, p := object(body, responsesFields(), "Unknown parameter: '%s'.")
	if p != nil {
		return Request{}, p
	}
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Store        *bool           `json:"store"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Include      []string        `json:"include"`
		Max          *int            `json:"max_output_tokens"`
		Tools        []inFlatTool    `json:"tools"`
		ToolChoice   json.RawMessage `json:"tool_choice"`
		Reasoning    struct {
			Effort  string `json:"effort"`
			Summary string `json:"summary"`
		} `json:"reasoning"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, bad("", "Invalid type: %v", err)
	}
	switch {
	case in.Model == "":
		return Request{}, bad("model", "Missing required parameter: 'model'.")
	case in.Max != nil && *in.Max < 16:
		return Request{}, bad("max_output_tokens", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", *in.Max)
	case !slices.Contains([]string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"}, in.Reasoning.Effort):
		return Request{}, bad("reasoning.effort", "Invalid value: '%s'.", in.Reasoning.Effort)
	case !slices.Contains([]string{"", "auto", "concise", "detailed"}, in.Reasoning.Summary):
		return Request{}, bad("reasoning.summary", "Invalid value: '%s'.", in.Reasoning.Summary)
	}
	for _, s := range in.Include {
		if !slices.Contains([]string{"reasoning.encrypted_content", "message.output_text.logprobs", "message.input_image.image_url"}, s) {
			return Request{}, bad("include", "Invalid value: '%s'.", s)
		}
	}
	out := Request{Path: c.path(), Model: in.Model, Stream: in.Stream, IncludeUsage: true, Bytes: len(body)}
	if out.Tools, p = flatTools(in.Tools, top["tools"] != nil); p != nil {
		return Request{}, p
	}
	if out.ToolChoice, p = flatChoice(in.ToolChoice, out.Tools); p != nil {
		return Request{}, p
	}
	if in.Instructions != "" {
		out.Messages = []Message{{Role: "system", Content: in.Instructions}}
	}
	items := itemReader{known: known, model: in.Model, stored: in.Store == nil || *in.Store}
	if p := items.read(in.Input); p != nil {
		return Request{}, p
	}
	out.Messages = append(out.Messages, items.out...)
	return out, nil
}

// flatTools checks the tools: each field of FunctionTool but the description is required.
func flatTools(in []inFlatTool, given bool) ([]Tool, *problem) {
	nested := make([]inTool, len(in))
	for i, t := range in {
		nested[i].Type = t.Type
		nested[i].Function = &inFunction{t.Name, t.Description, t.Parameters}
	}
	out, p := tools(nested, given)
	if p != nil {
		p.param = strings.Replace(p.param, ".function", "", 1)
		return nil, p
	}
	for i, t := range in {
		at := fmt.Sprintf("tools[%d].strict", i)
		switch string(t.Strict) {
		case "false":
		case "true":
			if why := checkStrictSchema(t.Parameters); why != "" {
				return nil, &problem{status: 400, param: at, code: "invalid_function_parameters", message: fmt.Sprintf("Invalid schema for function '%s': %s", t.Name, why)}
			}
		case "":
			return nil, bad(at, "Missing required parameter: '%s'.", at)
		default:
			return nil, bad(at, "Invalid type for '%s': expected a boolean.", at)
		}
	}
	return out, nil
}

// flatChoice is [choiceOf] for the form that names a function without a wrapper.
func flatChoice(raw json.RawMessage, offered []Tool) (string, *problem) {
	var named inFlatTool
	if json.Unmarshal(raw, &named) == nil && named.Type == "function" && named.Name != "" {
		raw = encode(obj{"type": "function", "function": obj{"name": named.Name}})
	}
	return choiceOf(raw, offered)
}

// itemReader checks the items of the input.
type itemReader struct {
	known  sealed
	model  string
	stored bool

	out       []Message
	open      []string // calls that wait for their output
	ids       []string // of all calls
	reasoning *inItem  // that waits for the item that follows it
	turn      bool     // the last message is of the model, and goes on
}

type inItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Phase     string          `json:"phase"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Args      *string         `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   []json.RawMessage
	Encrypted string `json:"encrypted_content"`
}

func (r *itemReader) read(input json.RawMessage) *problem {
	var text string
	if json.Unmarshal(input, &text) == nil && text != "" {
		r.out = []Message{{Role: "user", Content: text}}
		return nil
	}
	var items []inItem
	if err := json.Unmarshal(input, &items); err != nil {
		return bad("input", "Invalid type for 'input': expected an array of items: %v", err)
	}
	if len(items) == 0 {
		return bad("input", "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for i := range items {
		if p := r.item(&items[i], fmt.Sprintf("input[%d]", i)); p != nil {
			return p
		}
	}
	if len(r.open) > 0 {
		return bad("input", "No tool output found for function call %s.", r.open[0])
	}
	return r.follows(nil)
}

// follows checks that a reasoning item has its item behind it.
func (r *itemReader) follows(it *inItem) *problem {
	last := r.reasoning
	if last == nil || it != nil && (it.Type == "reasoning" || it.Type == "function_call" || it.Role == "assistant") {
		return nil
	}
	return bad("input", "Item '%s' of type 'reasoning' was provided without its required following item.", last.ID)
}

func (r *itemReader) item(it *inItem, at string) *problem {
	if it.Type == "" && it.Role != "" {
		it.Type = "message"
	}
	if p := r.follows(it); p != nil {
		return p
	}
	before := r.reasoning
	r.reasoning = nil
	switch it.Type {
	case "message":
		return r.message(it, at)
	case "function_call":
		return r.call(it, before, at)
	case "function_call_output":
		n := slices.Index(r.open, it.CallID)
		if n < 0 {
			return bad(at+".call_id", "No tool call found for function call output with call_id %s.", it.CallID)
		}
		r.open = slices.Delete(r.open, n, n+1)
		var text string
		if json.Unmarshal(it.Output, &text) != nil {
			return bad(at+".output", "Invalid type for '%s.output': expected a string.", at)
		}
		r.out = append(r.out, Message{Role: "tool", Content: text, ToolCallID: it.CallID})
		r.turn = false
	case "reasoning":
		return r.thought(it, at)
	default:
		return bad(at+".type", "Invalid value: '%s'. Supported values are: 'message', 'reasoning', 'function_call', and 'function_call_output'.", it.Type)
	}
	return nil
}

// assistant gives the message of the model that an item belongs to.
func (r *itemReader) assistant() *Message {
	if !r.turn {
		r.out = append(r.out, Message{Role: "assistant"})
		r.turn = true
	}
	return &r.out[len(r.out)-1]
}

func (r *itemReader) thought(it *inItem, at string) *problem {
	known, ok := r.known.bySeal[it.Encrypted]
	switch {
	case it.ID == "":
		return bad(at+".id", "Missing required parameter: '%s.id'.", at)
	case it.Summary == nil:
		return bad(at+".summary", "Missing required parameter: '%s.summary'.", at)
	case it.Encrypted == "" && !r.stored:
		return &problem{status: 404, param: "input", message: fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", it.ID)}
	case !ok || known.model != r.model || known.item != it.ID:
		return &problem{
			status: 400, code: "invalid_encrypted_content",
			message: fmt.Sprintf("The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", it.ID),
		}
	}
	text := known.reasoning
	r.assistant().Reasoning = &text
	r.reasoning = it
	return nil
}

func (r *itemReader) message(it *inItem, at string) *problem {
	if len(r.open) > 0 {
		return bad("input", "No tool output found for function call %s.", r.open[0])
	}
	var want []string
	switch it.Role {
	case "assistant":
		want = []string{"output_text", "refusal"}
	case "user":
		want = []string{"input_text", "input_image", "input_file"}
	case "system", "developer":
		want = []string{"input_text"}
	default:
		return bad(at+".role", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", it.Role)
	}
	if it.Phase != "" && (it.Role != "assistant" || it.Phase != "commentary" && it.Phase != "final_answer") {
		return bad(at+".phase", "Invalid value: '%s'.", it.Phase)
	}
	text, p := itemText(it.Content, want, at)
	if p != nil {
		return p
	}
	if it.Role == "assistant" {
		r.assistant().Content += text
		return nil
	}
	r.turn = false
	r.out = append(r.out, Message{Role: it.Role, Content: text})
	return nil
}

// itemText gives the text of the content of a message.
func itemText(content json.RawMessage, want []string, at string) (string, *problem) {
	var text string
	if json.Unmarshal(content, &text) != nil {
		var parts []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Image json.RawMessage `json:"image_url"`
		}
		if json.Unmarshal(content, &parts) != nil || len(parts) == 0 {
			return "", bad(at+".content", "Invalid type for '%s.content': expected a string or parts.", at)
		}
		var objects []json.RawMessage
		if json.Unmarshal(content, &objects) == nil {
			for i, o := range objects {
				if k := invented(o, "type", "text", "image_url", "detail", "annotations", "logprobs", "refusal"); k != "" {
					return "", bad(fmt.Sprintf("%s.content[%d]", at, i), "Unknown parameter: '%s.content[%d].%s'.", at, i, k)
				}
			}
		}
		for i, part := range parts {
			if !slices.Contains(want, part.Type) {
				return "", bad(fmt.Sprintf("%s.content[%d]", at, i), "Invalid value: '%s'. Supported values are: '%s'.", part.Type, strings.Join(want, "', '"))
			}
			if part.Type != "input_image" {
				text += part.Text
				continue
			}
			var url string
			if json.Unmarshal(part.Image, &url) != nil {
				return "", bad(fmt.Sprintf("%s.content[%d].image_url", at, i), "Invalid type for '%s.content[%d].image_url': expected a string.", at, i)
			}
			if why := checkDataURL(url); why != "" {
				return "", &problem{status: 400, code: "invalid_value", param: fmt.Sprintf("%s.content[%d].image_url", at, i), message: why}
			}
			text += pictureText
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", bad(at+".content", "%s: text content is empty, messages must have non-empty content.", at)
	}
	if strings.ContainsRune(text, 0) {
		return "", bad(at+".content", "Invalid '%s.content': \\u0000 cannot be converted to text.", at)
	}
	return text, nil
}

func (r *itemReader) call(it, before *inItem, at string) *problem {
	var args map[string]json.RawMessage
	switch {
	case it.CallID == "":
		return bad(at+".call_id", "Missing required parameter: '%s.call_id'.", at)
	case len(it.CallID) > 64:
		return &problem{status: 400, param: at + ".call_id", code: "string_above_max_length", message: fmt.Sprintf("Invalid '%s.call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(it.CallID))}
	case slices.Contains(r.ids, it.CallID):
		return bad(at+".call_id", "Duplicate item found with call_id %s.", it.CallID)
	case !goodName(it.Name):
		return bad(at+".name", "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", at, namePattern)
	case it.Args == nil || json.Unmarshal([]byte(*it.Args), &args) != nil || args == nil:
		return bad(at+".arguments", "Invalid '%s.arguments': function arguments must be in JSON format.", at)
	}
	// One that is named by its id belongs to the reasoning that it came with.
	if from, ok := r.known.byCall[it.CallID]; ok && it.ID != "" && before == nil && len(r.open) == 0 {
		return bad("input", "Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.", it.ID, from.item)
	}
	m := r.assistant()
	m.Calls = append(m.Calls, Call{it.CallID, it.Name, *it.Args})
	r.open, r.ids = append(r.open, it.CallID), append(r.ids, it.CallID)
	return nil
}
