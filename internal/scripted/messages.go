package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// messagesFields are the request fields of anthropic-sdk-go v1.60.0, MessageNewParams.
func messagesFields() []string {
	return []string{
		"model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "temperature", "top_p", "top_k",
		"stop_sequences", "metadata", "cache_control", "service_tier", "stream", "container", "inference_geo",
	}
}

type inBlocks struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type inBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Thinking  *string         `json:"thinking"`
	Signature *string         `json:"signature"`
	Data      string          `json:"data"`
	Cache     *inCache        `json:"cache_control"`
	Source    *struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
		URL   string `json:"url"`
	} `json:"source"`
}

type inCache struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type inAnthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *inCache        `json:"cache_control"`
}

type inThinking struct {
	Type   string `json:"type"`
	Budget *int   `json:"budget_tokens"`
}

type inAnthropic struct {
	Model       string            `json:"model"`
	Max         *int              `json:"max_tokens"`
	Stream      bool              `json:"stream"`
	System      json.RawMessage   `json:"system"`
	Messages    []inBlocks        `json:"messages"`
	Tools       []inAnthropicTool `json:"tools"`
	Thinking    *inThinking       `json:"thinking"`
	Temperature *float64          `json:"temperature"`
	Output      struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	Choice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
}

// parse implements [dialect].
func (c anthropic) parse(body []byte, h http.Header, known sealed) (Request, *problem) {
	if h.Get("Anthropic-Version") == "" {
		return Request{}, bad("", "anthropic-version: header is required")
	}
	if _, p := object(body, messagesFields(), "%s: Extra inputs are not permitted"); p != nil {
		return Request{}, p
	}
	var in inAnthropic
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, bad("", "Input should be valid: %v", err)
	}
	switch {
	case in.Model == "":
		return Request{}, bad("", "model: Field required")
	case in.Max == nil:
		return Request{}, bad("", "max_tokens: Field required")
	case *in.Max < 1:
		return Request{}, bad("", "max_tokens: Input should be greater than or equal to 1")
	case len(in.Messages) == 0:
		return Request{}, bad("", "messages: at least one message is required")
	case !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, in.Output.Effort):
		return Request{}, bad("", "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	if p := in.checkThinking(); p != nil {
		return Request{}, p
	}
	out := Request{Path: c.path(), Model: in.Model, Stream: in.Stream, IncludeUsage: true, Bytes: len(body)}
	var p *problem
	if out.Tools, p = in.tools(); p != nil {
		return Request{}, p
	}
	if out.ToolChoice, p = in.choice(out.Tools); p != nil {
		return Request{}, p
	}
	r := &blockReader{known: known, model: in.Model, thinks: in.Thinking == nil || in.Thinking.Type != "disabled", tools: len(in.Tools) > 0}
	for _, t := range in.Tools {
		if p := r.mark(t.Cache, "tools"); p != nil {
			return Request{}, p
		}
	}
	if p := r.system(in.System); p != nil {
		return Request{}, p
	}
	if p := r.messages(in.Messages); p != nil {
		return Request{}, p
	}
	out.Messages = r.out
	return out, nil
}

func (in *inAnthropic) checkThinking() *problem {
	t := in.Thinking
	if t == nil || t.Type == "disabled" {
		return nil
	}
	switch {
	case t.Type != "enabled" && t.Type != "adaptive":
		return bad("", "thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'", t.Type)
	case t.Type == "enabled" && t.Budget == nil:
		return bad("", "thinking.enabled.budget_tokens: Field required")
	case t.Type == "enabled" && *t.Budget < 1024:
		return bad("", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t.Type == "enabled" && *t.Budget >= *in.Max:
		return bad("", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	case in.Temperature != nil && *in.Temperature != 1:
		return bad("", "`temperature` may only be set to 1 when thinking is enabled.")
	case in.Choice != nil && (in.Choice.Type == "any" || in.Choice.Type == "tool"):
		return bad("", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

func (in *inAnthropic) tools() ([]Tool, *problem) {
	var out []Tool
	for i, t := range in.Tools {
		at := fmt.Sprintf("tools.%d.custom", i)
		switch {
		case !goodName(t.Name):
			return nil, bad("", "%s.name: String should match pattern '%s'", at, namePattern)
		case len(t.Schema) == 0:
			return nil, bad("", "%s.input_schema: Field required", at)
		case slices.ContainsFunc(out, func(o Tool) bool { return o.Name == t.Name }):
			return nil, bad("", "tools: Tool names must be unique.")
		}
		if why := checkSchema(t.Schema); why != "" {
			return nil, bad("", "%s.input_schema: %s", at, why)
		}
		out = append(out, Tool{t.Name, t.Description, t.Schema})
	}
	return out, nil
}

func (in *inAnthropic) choice(offered []Tool) (string, *problem) {
	c := in.Choice
	if c == nil {
		return "", nil
	}
	if len(offered) == 0 {
		return "", bad("", "tool_choice: may only be specified while providing tools.")
	}
	switch c.Type {
	case "auto", "none":
		return c.Type, nil
	case "any":
		return "required", nil
	case "tool":
		if slices.ContainsFunc(offered, func(t Tool) bool { return t.Name == c.Name }) {
			return c.Name, nil
		}
		return "", bad("", "tool_choice: Tool '%s' not found in provided tools", c.Name)
	}
	return "", bad("", "tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", c.Type)
}

// blockReader checks the history.
type blockReader struct {
	known         sealed
	model         string
	thinks, tools bool

	out   []Message
	marks int
	ids   []string // of all calls
	open  []string // calls of the message before
}

// mark checks a cache mark.
func (r *blockReader) mark(c *inCache, at string) *problem {
	if c == nil {
		return nil
	}
	if c.Type != "ephemeral" || c.TTL != "" && c.TTL != "5m" && c.TTL != "1h" {
		return bad("", "%s.cache_control: Input should be of type 'ephemeral'", at)
	}
	if r.marks++; r.marks > 4 {
		return bad("", "A maximum of 4 blocks with cache_control may be provided. Found %d.", r.marks)
	}
	return nil
}

func (r *blockReader) system(raw json.RawMessage) *problem {
	if len(raw) == 0 {
		return nil
	}
	blocks, p := blocksOf(raw, "system")
	if p != nil {
		return p
	}
	text := ""
	for i, b := range blocks {
		at := fmt.Sprintf("system.%d", i)
		if b.Type != "text" {
			return bad("", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'text'", at, b.Type)
		}
		if p := r.text(b, "system"); p != nil {
			return p
		}
		if p := r.mark(b.Cache, at); p != nil {
			return p
		}
		text += *b.Text
	}
	r.out = append(r.out, Message{Role: "system", Content: text})
	return nil
}

// blocksOf gives content as blocks.
func blocksOf(raw json.RawMessage, at string) ([]inBlock, *problem) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []inBlock{{Type: "text", Text: &text}}, nil
	}
	var out []inBlock
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, bad("", "%s: Input should be a valid list: %v", at, err)
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, bad("", "%s: Input should be a valid list: %v", at, err)
	}
	for i, b := range out {
		if known, ok := blockMembers()[b.Type]; ok {
			if k := invented(objects[i], append(known, "type", "cache_control")...); k != "" {
				return nil, bad("", "%s.%d.%s.%s: Extra inputs are not permitted", at, i, b.Type, k)
			}
		}
	}
	return out, nil
}

// blockMembers are the members of the kinds of blocks, beside those that all have.
func blockMembers() map[string][]string {
	return map[string][]string{
		"text": {"text", "citations"}, "image": {"source"}, "tool_use": {"id", "name", "input", "caller"}, "tool_result": {"tool_use_id", "content", "is_error"},
		"thinking": {"thinking", "signature"}, "redacted_thinking": {"data"},
	}
}

// text checks a text block.
func (r *blockReader) text(b inBlock, at string) *problem {
	switch {
	case b.Text == nil:
		return bad("", "%s.text.text: Field required", at)
	case *b.Text == "":
		return bad("", "%s: text content blocks must be non-empty", at)
	case strings.TrimSpace(*b.Text) == "":
		return bad("", "%s: text content blocks must contain non-whitespace text", at)
	}
	return nil
}
