package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Request is a valid request for an answer, in the form that all protocols have in common: results of tools are messages of
// their own, and the system text is the first message.
type Request struct {
	Path         string // that it was sent to
	Model        string
	Stream       bool
	IncludeUsage bool
	ToolChoice   string // none, auto, required, or the name of a function
	Messages     []Message
	Tools        []Tool
	Bytes        int // length of the body
}

// Message is one message of a request. Content that came in parts is joined.
type Message struct {
	Role, Content string
	Reasoning     *string // nil: the field did not come
	ToolCallID    string
	Calls         []Call
}

// Tool is an offered function.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
}

// Last gives the last message; a valid request has one.
func (r Request) Last() Message { return r.Messages[len(r.Messages)-1] }

// problem is an error answer in OpenAI's form.
type problem struct {
	status                     int
	kind, param, code, message string
}

func bad(param, format string, args ...any) *problem {
	return &problem{status: 400, param: param, message: fmt.Sprintf(format, args...)}
}

// fields are the request fields of openai/openai-openapi 2.3.0, CreateChatCompletionRequest.
func fields() []string {
	return []string{
		"model", "messages", "stream", "stream_options", "max_completion_tokens", "max_tokens", "tools", "tool_choice",
		"parallel_tool_calls", "reasoning_effort", "verbosity", "response_format", "temperature", "top_p",
		"frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "stop", "seed", "n", "logit_bias",
		"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "metadata", "service_tier", "store",
		"prediction", "web_search_options", "modalities", "audio", "user", "functions", "function_call",
	}
}

// parse implements [dialect].
func (c chat) parse(body []byte, _ http.Header, _ sealed) (Request, *problem) {
	top, p := object(body, fields(), "Unrecognized request argument supplied: %s")
	if p != nil {
		return Request{}, p
	}
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions *struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ToolChoice  json.RawMessage `json:"tool_choice"`
		Messages    []inMessage     `json:"messages"`
		Tools       []inTool        `json:"tools"`
		MaxTokens   *int            `json:"max_tokens"`
		MaxComplete *int            `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, bad("", "Invalid type: %v", err)
	}
	switch {
	case in.Model == "":
		return Request{}, bad("", "you must provide a model parameter")
	case len(in.Messages) == 0:
		return Request{}, bad("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	case in.StreamOptions != nil && !in.Stream:
		return Request{}, bad("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case in.MaxTokens != nil && *in.MaxTokens < 1, in.MaxComplete != nil && *in.MaxComplete < 1:
		return Request{}, bad("max_tokens", "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.")
	}
	out := Request{Path: c.path(), Model: in.Model, Stream: in.Stream, Bytes: len(body)}
	out.IncludeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	if out.Tools, p = tools(in.Tools, top["tools"] != nil); p != nil {
		return Request{}, p
	}
	if out.ToolChoice, p = choiceOf(in.ToolChoice, out.Tools); p != nil {
		return Request{}, p
	}
	out.Messages, p = chatHistory(in.Messages)
	return out, p
}

// object takes a body apart and refuses members that are not known.
func object(body []byte, known []string, unknown string) (map[string]json.RawMessage, *problem) {
	if !utf8.Valid(body) {
		return nil, bad("", "We could not parse the JSON body of your request. The body is not valid UTF-8.")
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil || top == nil {
		return nil, bad("", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)")
	}
	for _, k := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains(known, k) {
			return nil, bad("", unknown, k)
		}
	}
	return top, nil
}

// namePattern is what names of tools must be.
const namePattern = `^[a-zA-Z0-9_-]{1,64}$`

func goodName(s string) bool {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}
	return len(s) > 0 && len(s) <= 64 && !strings.ContainsFunc(s, odd)
}

type inTool struct {
	Type     string      `json:"type"`
	Function *inFunction `json:"function"`
}

type inFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func tools(in []inTool, given bool) ([]Tool, *problem) {
	if given && len(in) == 0 {
		return nil, bad("tools", "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	if len(in) > 128 {
		return nil, &problem{
			status: 400, param: "tools", code: "array_above_max_length",
			message: fmt.Sprintf("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(in)),
		}
	}
	var out []Tool
	for i, t := range in {
		param := fmt.Sprintf("tools[%d].function", i)
		if t.Type != "function" || t.Function == nil {
			return nil, bad(fmt.Sprintf("tools[%d].type", i), "Missing required parameter: '%s'.", param)
		}
		f := t.Function
		if !goodName(f.Name) {
			return nil, bad(param+".name", "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '%s'.", param, namePattern)
		}
		if slices.ContainsFunc(out, func(o Tool) bool { return o.Name == f.Name }) {
			return nil, bad("tools", "Tool names must be unique: '%s' is given twice.", f.Name)
		}
		if why := checkSchema(f.Parameters); why != "" {
			return nil, &problem{
				status: 400, param: param + ".parameters", code: "invalid_function_parameters",
				message: fmt.Sprintf("Invalid schema for function '%s': %s", f.Name, why),
			}
		}
		out = append(out, Tool{f.Name, f.Description, f.Parameters})
	}
	return out, nil
}

func choiceOf(raw json.RawMessage, offered []Tool) (string, *problem) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "", nil
	}
	if len(offered) == 0 {
		return "", bad("tool_choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == "none" || word == "auto" || word == "required" {
			return word, nil
		}
		return "", bad("tool_choice", "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", word)
	}
	var named inTool
	if json.Unmarshal(raw, &named) == nil && named.Function != nil {
		if slices.ContainsFunc(offered, func(t Tool) bool { return t.Name == named.Function.Name }) {
			return named.Function.Name, nil
		}
	}
	return "", bad("tool_choice", "Invalid value for 'tool_choice': the function is not among 'tools'.")
}
