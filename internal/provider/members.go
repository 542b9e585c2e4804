package provider

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
)

// Form is the JSON form of a member of a [Profile].
type Form string

// Forms.
const (
	FormSwitch Form = "boolean"
	FormCount  Form = "integer" // 0 or more
	FormText   Form = "string"
	FormList   Form = "array" // of texts
	FormObject Form = "object"
)

// Member is a member of a [Profile] as a person writes it. Every text may be "" and every list empty, which stands for what is
// done where nothing is known.
type Member struct {
	Name    string
	Form    Form
	Values  []string // that the text, or an element of the list, is one of; nil: see Pattern
	Pattern string   // that the text matches; "": any
	Must    string   // that in words
	Default string   // what is done without it
	Doc     string
	Example string // of a value, as JSON
}

// patternField is the name of a field of an HTTP header (RFC 9110, section 5.1), patternMember that of a member of a request.
const (
	patternField  = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
	patternMember = "^[A-Za-z_][A-Za-z0-9_.-]*$"
)

// Members lists the members of a [Profile], those of a kind together. It is behind the check of settings, their schema and
// their description alike.
func Members() []Member {
	const fieldName = "the name of a field of the header"
	return []Member{
		{Name: "tools", Form: FormText, Values: []string{InText}, Default: "in the protocol's own form", Example: `"text"`, Doc: "how tools are offered. text: described in the system text, and a call is a reply of one JSON object; for models without calls of their own"},
		{Name: "text_calls", Form: FormList, Values: append(TextForms(), Auto), Default: "known for each vendor; auto for servers on this machine or network", Example: `["auto"]`, Doc: "the forms of tool calls that are looked for in the text of an answer that has no others; auto: all that can't be mistaken for prose"},
		{Name: "schema", Form: FormText, Values: []string{SchemaGemini, SchemaXAI, SchemaMoonshot, SchemaLlama}, Default: "all of JSON Schema", Example: `"moonshot"`, Doc: "the dialect of JSON Schema that it takes for the arguments of tools"},
		{Name: "no_parameters", Form: FormSwitch, Default: "false", Example: "true", Doc: "no schema is sent for a tool without arguments"},
		{Name: "max_tools", Form: FormCount, Default: "0, no bound", Example: "64", Doc: "the most tools of a request"},
		{Name: "tool_name", Form: FormSwitch, Default: "false", Example: "true", Doc: "results name their tool"},
		{Name: "ids", Form: FormText, Values: []string{Alnum9}, Default: "as they are", Example: `"alnum9"`, Doc: "the form of the ids of calls. alnum9: nine letters or digits"},

		{Name: "think_open", Form: FormSwitch, Default: "false", Example: "true", Doc: "answers begin within reasoning, since the model's template has opened the tag"},
		{Name: "reasoning", Form: FormText, Values: []string{WithCalls, Always}, Default: "none", Example: `"calls"`, Doc: "which messages take their reasoning back: those with calls, or all"},
		{Name: "reasoning_field", Form: FormText, Pattern: patternMember, Must: "the name of a member, such as reasoning_content or reasoning", Default: "the one that it came in", Example: `"reasoning_content"`, Doc: "the member in which it goes back"},
		{Name: "thinking", Form: FormText, Values: thinkings(), Default: "it can't be switched", Example: `"template"`, Doc: "how thinking is switched (whether it is, `thinking` of the entry says)"},
		{Name: "efforts", Form: FormList, Values: llm.Efforts(), Default: "all are sent", Example: `["low", "high"]`, Doc: "the levels of effort that it takes; of another one the nearest is sent"},
		{Name: "no_effort", Form: FormSwitch, Default: "false", Example: "true", Doc: "no effort is sent"},

		{Name: "limit_field", Form: FormText, Pattern: patternMember, Must: "the name of a member, such as max_tokens or max_completion_tokens, or none", Default: "the protocol's own", Example: `"max_completion_tokens"`, Doc: "the member for the limit of an answer in Chat Completions; none: it is not sent"},
		{Name: "no_stream_usage", Form: FormSwitch, Default: "false", Example: "true", Doc: "stream_options, which asks for the tokens that were used, is not sent"},
		{Name: "empty_content", Form: FormSwitch, Default: "false", Example: "true", Doc: `the content of a message with calls and no text is "", not null`},
		{Name: "repeats", Form: FormSwitch, Default: "false", Example: "true", Doc: "pieces of a text that come twice are taken once"},
		{Name: "break_special", Form: FormSwitch, Default: "false", Example: "true", Doc: "control tokens of models in texts are broken, since the server refuses them, or obeys"},

		{Name: "key_header", Form: FormText, Pattern: patternField, Must: fieldName, Default: "the protocol's own", Example: `"Api-Key"`, Doc: "the field of the header that the key goes in"},
		{Name: "lane_header", Form: FormText, Pattern: patternField, Must: fieldName, Default: "none", Example: `"X-Session-Id"`, Doc: "the field of the header that names the conversation, so that one machine serves it"},
		{Name: "cache_key", Form: FormSwitch, Default: "false", Example: "true", Doc: "prompt_cache_key is sent"},
		{Name: "cache_control", Form: FormSwitch, Default: "true in Messages, else false", Example: "false", Doc: "cache_control is sent: the server caches up to the end of each request"},
		{Name: "extra", Form: FormObject, Default: "none", Example: `{"service_tier": "flex"}`, Doc: "members that are sent too"},
		{Name: "call_sentinel", Form: FormText, Must: "a text that is a JSON object", Default: "none", Example: `"{\"google\": {}}"`, Doc: "the extra_content of the first call of a message that another model made"},
	}
}

func thinkings() []string {
	return []string{ThinkingType, ThinkingAdaptive, ThinkingBudget, ThinkingEnable, ThinkingObject, ThinkingEffort, ThinkingTemplate}
}

// Takes says in words what values there are.
func (m Member) Takes() string {
	switch {
	case m.Form == FormSwitch:
		return "true or false"
	case m.Form == FormCount:
		return "a whole number, 0 or more"
	case m.Form == FormObject:
		return "an object"
	case m.Form == FormList:
		return "a list of some of " + strings.Join(m.Values, ", ")
	case m.Values != nil:
		return "one of " + strings.Join(m.Values, ", ")
	case m.Must != "":
		return m.Must
	}
	return "a text"
}

// A BadMember is a member of a JSON form that is none of a [Profile]'s, or has no value that it may have.
type BadMember struct {
	Name    string
	Unknown bool   // there is no such member
	Value   string // the text that is no value; "": it is of another type
	Takes   string // what values there are
}

// CheckMembers looks at the JSON form of a profile, and gives what does not hold by the order of names.
func CheckMembers(object []byte) (bad []BadMember) {
	var given map[string]json.RawMessage
	if json.Unmarshal(object, &given) != nil {
		return []BadMember{{Takes: "an object"}}
	}
	all := Members()
	for name, raw := range given {
		i := slices.IndexFunc(all, func(m Member) bool { return m.Name == name })
		if i < 0 {
			bad = append(bad, BadMember{Name: name, Unknown: true})
			continue
		}
		if value, ok := all[i].holds(raw); !ok {
			bad = append(bad, BadMember{Name: name, Value: value, Takes: all[i].Takes()})
		}
	}
	slices.SortFunc(bad, func(a, b BadMember) int { return strings.Compare(a.Name, b.Name) })
	return bad
}

// holds tells whether a value is one of the member's, and else which text it is.
func (m Member) holds(raw json.RawMessage) (value string, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	switch m.Form {
	case FormSwitch:
		return "", raw[0] == 't' || raw[0] == 'f'
	case FormCount:
		n, err := strconv.Atoi(string(raw))
		return "", err == nil && n >= 0
	case FormObject:
		return "", raw[0] == '{'
	case FormList:
		var list []*string
		if json.Unmarshal(raw, &list) != nil {
			return "", false
		}
		for _, s := range list {
			if s == nil || !slices.Contains(m.Values, *s) {
				if s == nil {
					return "", false
				}
				return *s, false
			}
		}
		return "", true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	switch {
	case s == "":
		return "", true
	case m.Values != nil:
		return s, slices.Contains(m.Values, s)
	case m.Pattern == "":
		return s, json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimSpace(s), "{")
	}
	return s, regexp.MustCompile(m.Pattern).MatchString(s)
}

// MembersSchema is the JSON Schema of the JSON form of a [Profile].
func MembersSchema() ([]byte, error) {
	type schema map[string]any
	properties := schema{}
	for _, m := range Members() {
		s := schema{"type": m.Form, "description": m.Doc + "; unset: " + m.Default}
		switch text := (schema{"type": FormText}); {
		case m.Form == FormCount:
			s["minimum"] = 0
		case m.Form == FormList:
			text["enum"] = m.Values
			s["items"] = text
		case m.Values != nil:
			s["enum"] = append([]string{""}, m.Values...)
		case m.Pattern != "":
			s["pattern"] = "^$|" + m.Pattern
		}
		properties[m.Name] = s
	}
	return json.Marshal(schema{
		"type": FormObject, "properties": properties, "additionalProperties": false,
		"description": "how the server differs from its protocol, over what is known and was measured; see overt probe",
	})
}
