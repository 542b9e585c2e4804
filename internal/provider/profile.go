package provider

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"overt/internal/llm"
)

// Profile says how a server differs from the common ground of its protocol. The zero value is the common ground. Its JSON
// form is what a configuration may override and what a probe stores.
type Profile struct {
	// LimitField is the member for the limit of an answer, "" for max_tokens; None sends none.
	LimitField    string `json:"limit_field,omitempty"`
	NoStreamUsage bool   `json:"no_stream_usage,omitempty"` // the server refuses stream_options
	// EmptyContent sends "" instead of null as the content of a message that has calls and no text.
	EmptyContent bool `json:"empty_content,omitempty"`
	ToolName     bool `json:"tool_name,omitempty"` // results name their tool
	// Tools is how tools are offered: "" in the protocol's own form, InText: described in the system text and called in the
	// text of the answer, for models that know no other way.
	Tools string `json:"tools,omitempty"`
	// TextCalls are the forms of tool calls that are looked for in the text of an answer that has no others: see [TextForms].
	// Auto stands for all that can't be mistaken for prose.
	TextCalls []string `json:"text_calls,omitempty"`
	// Schema is the dialect of JSON Schema that the server takes, one of the Schema constants; "": all of it.
	Schema       string `json:"schema,omitempty"`
	NoParameters bool   `json:"no_parameters,omitempty"` // the server refuses the schema of a tool that takes nothing: none is sent
	MaxTools     int    `json:"max_tools,omitempty"`     // it takes no more tools; 0: no bound is known
	// BreakSpecial puts a zero-width space into texts of the control tokens of models: some servers refuse them, or obey.
	BreakSpecial bool `json:"break_special,omitempty"`
	// IDs is the form of call ids: "" as they are (at most 40 of a-z A-Z 0-9 _ -), Alnum9.
	IDs string `json:"ids,omitempty"`

	// Reasoning says which messages take their reasoning back: "" none, WithCalls, Always.
	Reasoning string `json:"reasoning,omitempty"`
	// ReasoningField is the member in which it goes back, "" for the one that it came in.
	ReasoningField string `json:"reasoning_field,omitempty"`
	// CallSentinel is the extra_content for the first call of a message that another model made.
	CallSentinel string `json:"call_sentinel,omitempty"`
	// ThinkOpen: answers begin within reasoning, since the model's template has opened the tag.
	ThinkOpen bool `json:"think_open,omitempty"`
	Repeats   bool `json:"repeats,omitempty"` // the server sends pieces of a text twice, which are taken once

	// Thinking says how thinking is switched, one of the Thinking constants; "": it can't be.
	Thinking string `json:"thinking,omitempty"`
	// Efforts are the levels that the server takes; empty: all are sent as they are. NoEffort: none is sent.
	Efforts  []string `json:"efforts,omitempty"`
	NoEffort bool     `json:"no_effort,omitempty"`

	KeyHeader    string          `json:"key_header,omitempty"`    // field that the key goes in, in place of the protocol's own
	LaneHeader   string          `json:"lane_header,omitempty"`   // field that names the conversation, so that one machine serves it
	CacheKey     bool            `json:"cache_key,omitempty"`     // prompt_cache_key is sent
	CacheControl bool            `json:"cache_control,omitempty"` // cache_control is sent: the server caches up to the end of each request
	Extra        json.RawMessage `json:"extra,omitempty"`         // an object, whose members are sent too
}

// Values of a [Profile].
const (
	None      = "none"
	WithCalls = "calls"
	Always    = "always"
	Alnum9    = "alnum9" // Mistral's: nine letters or digits
	InText    = "text"
	Auto      = "auto"

	SchemaGemini   = "gemini"   // OpenAPI's subset, without what Gemini calls unknown
	SchemaXAI      = "xai"      // no additionalProperties: false
	SchemaMoonshot = "moonshot" // type stands in the branches of anyOf, tuples are prefixItems
	SchemaLlama    = "llamacpp" // what becomes a grammar of bearable size

	ThinkingType     = "type"            // thinking: {"type": "enabled" | "disabled"}, and reasoning_effort
	ThinkingAdaptive = "adaptive"        // the same with "adaptive" for on; in Messages, output_config.effort
	ThinkingBudget   = "budget"          // Messages: thinking: {"type": "enabled", "budget_tokens": N}
	ThinkingEnable   = "enable_thinking" // DashScope: enable_thinking: true | false
	ThinkingObject   = "reasoning"       // OpenRouter, Responses: reasoning: {"effort": …} or {"enabled": …}
	ThinkingEffort   = "effort"          // off is reasoning_effort: none
	ThinkingTemplate = "template"        // vLLM, llama.cpp: chat_template_kwargs: {"enable_thinking": …}
)

// check finds a value that is none of those that a member may have, as [CheckMembers] does for what is configured: a caller may
// have put in anything.
func (p *Profile) check() error {
	form, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("the quirk \"extra\" is no JSON: %w", err)
	}
	if bad := CheckMembers(form); bad != nil {
		return fmt.Errorf("%q is no value of the quirk %q: take %s", bad[0].Value, bad[0].Name, bad[0].Takes)
	}
	return nil
}

// id gives the form of a call id that the server takes. Equal ids give equal forms, and others others, as far as a hash can
// promise that.
func (p *Profile) id(id string) string {
	if p.IDs != Alnum9 {
		return id
	}
	if len(id) == 9 && !strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	s := new(big.Int).SetBytes(sum[:]).Text(62)
	return s[len(s)-9:]
}

// effort gives the level to send for one of [llm.Efforts]: the nearest that the server takes, a higher one if two are as
// near; "": none.
func (p *Profile) effort(level string) string {
	if level == "" || p.NoEffort || len(p.Efforts) == 0 || slices.Contains(p.Efforts, level) {
		if p.NoEffort {
			return ""
		}
		return level
	}
	all := llm.Efforts()
	want := slices.Index(all, level)
	best, far := "", len(all)+1
	for i, e := range all {
		if d := max(want-i, i-want); slices.Contains(p.Efforts, e) && d <= far {
			best, far = e, d
		}
	}
	return best
}

// appendThinking writes what switches thinking in Chat Completions.
func appendThinking(b []byte, p Profile, q llm.Params) []byte {
	effort := p.effort(q.Effort)
	on := q.Thinking
	switch p.Thinking {
	case ThinkingType, ThinkingAdaptive:
		if on != "" {
			kind := map[string]string{"off": "disabled", "on": "enabled"}[on]
			if on == "on" && p.Thinking == ThinkingAdaptive {
				kind = "adaptive"
			}
			b = append(append(append(b, `,"thinking":{"type":"`...), kind...), `"}`...)
		}
		if on == "off" {
			return b
		}
	case ThinkingEnable:
		if on != "" { // and then no effort: the two contradict each other
			return appendBool(append(b, `,"enable_thinking":`...), on == "on")
		}
	case ThinkingTemplate:
		if on != "" {
			b = append(b, `,"chat_template_kwargs":{"enable_thinking":`...)
			b = append(appendBool(b, on == "on"), '}')
		}
	case ThinkingObject:
		switch {
		case on == "off":
			return append(b, `,"reasoning":{"enabled":false}`...)
		case effort != "":
			return append(appendString(append(b, `,"reasoning":{"effort":`...), effort), '}')
		case on == "on":
			return append(b, `,"reasoning":{"enabled":true}`...)
		}
		return b
	case ThinkingEffort:
		if on == "off" {
			return append(b, `,"reasoning_effort":"none"`...)
		}
	}
	if effort != "" {
		b = appendString(append(b, `,"reasoning_effort":`...), effort)
	}
	return b
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, "true"...)
	}
	return append(b, "false"...)
}
