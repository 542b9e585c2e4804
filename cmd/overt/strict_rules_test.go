package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// strictRequest is the request as the services document it. Fields that they do not know are refused.
type strictRequest struct {
	Model         string          `json:"model"`
	Messages      []strictMessage `json:"messages"`
	Tools         []strictTool    `json:"tools"`
	ToolChoice    any             `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   *int     `json:"max_tokens"`
}

type strictMessage struct {
	Role             string         `json:"role"`
	Content          *strictContent `json:"content"`
	ReasoningContent *string        `json:"reasoning_content"`
	ToolCallID       string         `json:"tool_call_id"`
	Name             string         `json:"name"`
	ToolCalls        []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// strictContent is a text, or a list of parts, whose texts it then has in Text.
type strictContent struct {
	Text  string
	Parts []strictPart
}

type strictPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	ImageURL *struct {
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"image_url"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *strictContent) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, &c.Text)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	c.Parts = []strictPart{}
	err := d.Decode(&c.Parts)
	for _, p := range c.Parts {
		if p.Text != nil {
			c.Text += *p.Text
		}
	}
	return err
}

// checkParts says what is wrong with the parts of a message, or "".
func checkParts(list []strictPart) string {
	if len(list) == 0 {
		return "content must have at least one part"
	}
	begins := map[string]string{"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF8", "image/webp": "RIFF"}
	for _, p := range list {
		switch {
		case p.Type == "text" && p.ImageURL == nil:
			if p.Text == nil || strings.TrimSpace(*p.Text) == "" {
				return "text must be non-empty"
			}
		case p.Type == "image_url" && p.Text == nil && p.ImageURL != nil:
			media, code, ok := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
			if !ok || !strings.HasPrefix(p.ImageURL.URL, "data:") {
				return "Expected a base64-encoded data URL with an image MIME type"
			}
			data, err := base64.StdEncoding.DecodeString(code)
			if begins[media] == "" || err != nil || !strings.HasPrefix(string(data), begins[media]) {
				return "the image data you provided does not represent a valid image"
			}
		default:
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'text' and 'image_url'.", p.Type)
		}
	}
	return ""
}

type strictTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  struct {
			Type                 string         `json:"type"`
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties any            `json:"additionalProperties"`
		} `json:"parameters"`
	} `json:"function"`
}

var strictName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check gives the status and the words of a refusal, or "".
func (s *strictServer) check(r *http.Request, body []byte, req *strictRequest) (int, string) {
	if s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		return 401, "Incorrect API key provided: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if !utf8.Valid(body) {
		return 400, "The request body is not valid UTF-8."
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return 400, "Invalid content type. Expected application/json, got " + r.Header.Get("Content-Type")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(req); err != nil {
		return 400, "We could not parse the JSON body of your request: " + err.Error()
	}
	if _, err := d.Token(); err != io.EOF {
		return 400, "We could not parse the JSON body of your request: something follows it"
	}
	switch {
	case req.Model == "":
		return 400, "you must provide a model parameter"
	case len(req.Messages) == 0:
		return 400, "[] is too short - 'messages'"
	case req.StreamOptions != nil && !req.Stream:
		return 400, "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	names := map[string]bool{}
	for i, t := range req.Tools {
		f := t.Function
		if t.Type != "function" || !strictName.MatchString(f.Name) || names[f.Name] || f.Parameters.Type != "object" {
			return 400, fmt.Sprintf("Invalid 'tools[%d]'", i)
		}
		for _, n := range f.Parameters.Required {
			if f.Parameters.Properties[n] == nil {
				return 400, fmt.Sprintf("Invalid schema for function '%s': required names %s", f.Name, n)
			}
		}
		names[f.Name] = true
	}
	if p := checkMessages(req.Messages); p != "" {
		return 400, p
	}
	return 0, ""
}

func checkMessages(list []strictMessage) string {
	var open []string // calls of the last assistant message that have no result yet
	for i, m := range list {
		if m.Role != "assistant" && (m.ToolCalls != nil || m.ReasoningContent != nil) || m.Role != "tool" && m.ToolCallID != "" {
			return fmt.Sprintf("Invalid 'messages[%d]': field not allowed for role '%s'", i, m.Role)
		}
		if m.Role != "tool" && len(open) > 0 {
			return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(open, ", ")
		}
		if m.Content != nil && m.Content.Parts != nil {
			if m.Role != "user" {
				return fmt.Sprintf("Invalid 'messages[%d]': content of role '%s' must be a string", i, m.Role)
			}
			if p := checkParts(m.Content.Parts); p != "" {
				return fmt.Sprintf("Invalid 'messages[%d]': %s", i, p)
			}
		}
		empty := m.Content == nil || strings.TrimSpace(m.Content.Text) == "" && m.Content.Parts == nil
		switch m.Role {
		case "system":
			if i != 0 || empty {
				return "System message must be at the beginning."
			}
		case "user":
			if empty {
				return fmt.Sprintf("Invalid 'messages[%d]': content must be non-empty", i)
			}
		case "assistant":
			if empty && len(m.ToolCalls) == 0 {
				return fmt.Sprintf("Invalid 'messages[%d]': content or tool_calls must be set", i)
			}
			for j, c := range m.ToolCalls {
				var args map[string]any
				switch {
				case c.Type != "function" || c.ID == "" || len(c.ID) > 40:
					return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].id'", i, j)
				case !strictName.MatchString(c.Function.Name):
					return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].function.name': string does not match pattern", i, j)
				case json.Unmarshal([]byte(c.Function.Arguments), &args) != nil || args == nil:
					return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].function.arguments': must be in JSON format", i, j)
				}
				if slices.Contains(open, c.ID) {
					return "Duplicate value for 'tool_call_id' of " + c.ID
				}
				open = append(open, c.ID)
			}
		case "tool":
			if empty {
				return fmt.Sprintf("Invalid 'messages[%d]': tool content must be non-empty", i)
			}
			k := slices.Index(open, m.ToolCallID)
			if k < 0 {
				return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
			}
			open = slices.Delete(open, k, k+1)
		default:
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', and 'tool'.", m.Role)
		}
	}
	switch {
	case len(open) > 0:
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
	case list[len(list)-1].Role == "assistant":
		return "Expected last role User or Tool"
	}
	return ""
}

// TestStrictRules makes sure that the server refuses what the services refuse: a lax one would prove nothing.
func TestStrictRules(t *testing.T) {
	const (
		system = `{"role":"system","content":"s"}`
		user   = `{"role":"user","content":"u"}`
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		result = `{"role":"tool","tool_call_id":"c1","content":"r"}`
		final  = `{"role":"assistant","content":"a"}`
		part   = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`
	)
	for _, c := range []struct{ name, want, messages string }{
		{"plain", "", user},
		{"system", "", system + "," + user},
		{"call with its result", "", system + "," + user + "," + call + "," + result},
		{"second turn", "", system + "," + user + "," + call + "," + result + "," + final + "," + user},
		{"system twice", "System message must", system + "," + system + "," + user},
		{"system late", "System message must", user + "," + system},
		{"no result", "must be followed by tool messages", user + "," + call},
		{"result late", "did not have response messages: c1", user + "," + call + "," + user + "," + result},
		{"orphan", "must be a response", user + "," + result},
		{"result twice", "must be a response", user + "," + call + "," + result + "," + result},
		{"other id", "must be a response", user + "," + call + "," + strings.Replace(result, "c1", "c2", 1)},
		{"empty user", "content must be non-empty", `{"role":"user","content":" "}`},
		{"empty assistant", "content or tool_calls must be set", user + `,{"role":"assistant","content":""}`},
		{"empty result", "tool content must be non-empty", user + "," + call + "," + strings.Replace(result, `"r"`, `""`, 1)},
		{"arguments", "must be in JSON format", user + "," + strings.Replace(call, `"{}"`, `"{"`, 1) + "," + result},
		{"arguments are no object", "must be in JSON format", user + "," + strings.Replace(call, `"{}"`, `"null"`, 1) + "," + result},
		{"tool's name", "does not match pattern", user + "," + strings.Replace(call, `"f"`, `"f f"`, 1) + "," + result},
		{"role", "Supported values", `{"role":"model","content":"x"}`},
		{"ends with the assistant", "Expected last role", user + "," + final},
		{"parts", "", `{"role":"user","content":[` + part + `,{"type":"text","text":"u"}]}`},
		{"no parts", "at least one part", `{"role":"user","content":[]}`},
		{"blank part", "text must be non-empty", `{"role":"user","content":[` + part + `,{"type":"text","text":" "}]}`},
		{"parts of a result", "must be a string", user + "," + call + "," + strings.Replace(result, `"r"`, "["+part+"]", 1)},
		{"a picture elsewhere", "Expected a base64-encoded data URL", `{"role":"user","content":[` + strings.Replace(part, "data:image/png;base64,iVBORw0KGgo=", "https://x.example/a.png", 1) + `]}`},
		{"no picture", "does not represent a valid image", `{"role":"user","content":[` + strings.Replace(part, "iVBORw0KGgo=", "AAAA", 1) + `]}`},
		{"picture of another type", "does not represent a valid image", `{"role":"user","content":[` + strings.Replace(part, "png", "gif", 1) + `]}`},
		{"not of base64", "does not represent a valid image", `{"role":"user","content":[` + strings.Replace(part, "iVBORw0KGgo=", "iVBOR", 1) + `]}`},
		{"unknown part", "Supported values are: 'text' and 'image_url'", `{"role":"user","content":[{"type":"image","text":"x"}]}`},
		{"unknown field of a part", "unknown field", `{"role":"user","content":[{"type":"text","text":"x","owner":"y"}]}`},
		{"unknown field", "unknown field", `{"role":"user","content":"x","owner":"y"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &strictServer{}
			r := &http.Request{Header: http.Header{"Content-Type": {"application/json"}}}
			var req strictRequest
			_, got := s.check(r, []byte(`{"model":"m","messages":[`+c.messages+`]}`), &req)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
