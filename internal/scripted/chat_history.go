package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type inMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  *string         `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	Calls      []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
			Args string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// chatHistory checks the history: roles, contents, and that each call has its one result directly after it.
func chatHistory(in []inMessage) ([]Message, *problem) {
	var out []Message
	var open []string // ids that wait for a result
	for i, m := range in {
		at := fmt.Sprintf("messages[%d]", i)
		if len(open) > 0 && m.Role != "tool" {
			return nil, unanswered(at, open)
		}
		text, p := content(m, at)
		if p != nil {
			return nil, p
		}
		msg := Message{Role: m.Role, Content: text, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID}
		switch m.Role {
		case "system", "developer":
			if i > 0 {
				return nil, bad(at+".role", "System message must be at the beginning.")
			}
		case "user":
		case "assistant":
			if msg.Calls, p = history(m, at); p != nil {
				return nil, p
			}
			for _, c := range msg.Calls {
				open = append(open, c.ID)
			}
		case "tool":
			n := slices.Index(open, m.ToolCallID)
			if n < 0 {
				return nil, bad(at+".role", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			open = slices.Delete(open, n, n+1)
		default:
			return nil, bad(at+".role", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
		}
		out = append(out, msg)
	}
	if len(open) > 0 {
		return nil, unanswered(fmt.Sprintf("messages[%d]", len(in)), open)
	}
	return out, nil
}

func unanswered(at string, open []string) *problem {
	return bad(at+".role", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
}

// content gives the text of a message, which must not be empty but beside calls.
func content(m inMessage, at string) (string, *problem) {
	raw := string(m.Content)
	if raw == "" || raw == "null" {
		if m.Role == "assistant" && len(m.Calls) > 0 {
			return "", nil
		}
		return "", bad(at+".content", "Invalid value for 'content': expected a string, got null.")
	}
	var text string
	if err := json.Unmarshal(m.Content, &text); err != nil {
		var p *problem
		if text, p = chatParts(m, at); p != nil {
			return "", p
		}
	}
	if strings.TrimSpace(text) == "" && (m.Role != "assistant" || len(m.Calls) == 0) {
		return "", bad(at+".content", "%s: text content is empty, messages must have non-empty content.", at)
	}
	if strings.ContainsRune(text, 0) {
		return "", bad(at+".content", "Invalid '%s.content': \\u0000 cannot be converted to text.", at)
	}
	return text, nil
}

// chatParts gives the text of content that came in parts; a picture counts as one.
func chatParts(m inMessage, at string) (string, *problem) {
	var parts []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	var objects []json.RawMessage
	if json.Unmarshal(m.Content, &objects) == nil {
		for _, o := range objects {
			if k := invented(o, "type", "text", "image_url"); k != "" {
				return "", bad(at+".content", "Unrecognized request argument supplied: %s", k)
			}
		}
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil || m.Role != "user" {
		return "", bad(at+".content", "Invalid type for '%s.content': expected a string.", at)
	}
	text := ""
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			text += p.Text
		case p.Type == "image_url":
			if why := checkDataURL(p.Image.URL); why != "" {
				return "", bad(at+".content", "%s", why)
			}
			text += pictureText
		default:
			return "", bad(at+".content", "Invalid content part: expected a text that is not empty.")
		}
	}
	return text, nil
}

// history checks the calls of an assistant message.
func history(m inMessage, at string) ([]Call, *problem) {
	if m.Calls != nil && len(m.Calls) == 0 {
		return nil, bad(at+".tool_calls", "Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", at)
	}
	var out []Call
	for i, c := range m.Calls {
		at := fmt.Sprintf("%s.tool_calls[%d]", at, i)
		var args map[string]json.RawMessage
		switch {
		case c.Type != "function":
			return nil, bad(at+".type", "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", c.Type)
		case c.ID == "":
			return nil, bad(at+".id", "Missing required parameter: '%s.id'.", at)
		case len(c.ID) > 40:
			return nil, &problem{
				status: 400, param: at + ".id", code: "string_above_max_length",
				message: fmt.Sprintf("Invalid '%s.id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", at, len(c.ID)),
			}
		case slices.ContainsFunc(out, func(o Call) bool { return o.ID == c.ID }):
			return nil, bad(at+".id", "Duplicate value for 'tool_call_id' of '%s'", c.ID)
		case !goodName(c.Function.Name):
			return nil, bad(at+".function.name", "Invalid '%s.function.name': string does not match pattern. Expected a string that matches the pattern '%s'.", at, namePattern)
		case json.Unmarshal([]byte(c.Function.Args), &args) != nil || args == nil:
			return nil, bad(at+".function.arguments", "Invalid '%s.function.arguments': function.arguments must be in JSON format.", at)
		}
		out = append(out, Call{c.ID, c.Function.Name, c.Function.Args})
	}
	return out, nil
}

// alternate checks that people and model take turns after the system message, beginning with a person. Calls and their
// results do not count. The rule and its words are those of Mistral's chat templates.
func alternate(in []Message) *problem {
	want := "user"
	for i, m := range in {
		switch {
		case m.Role != "user" && m.Role != "assistant" || len(m.Calls) > 0:
			continue
		case m.Role != want:
			return bad(fmt.Sprintf("messages[%d].role", i), "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.")
		case want == "user":
			want = "assistant"
		default:
			want = "user"
		}
	}
	return nil
}
