package config

import (
	"encoding/json"
	"strings"
)

// schema is what is used here of a JSON Schema (2020-12). A library that has all of it would take an eighth of a
// millisecond of every start.
type schema struct {
	Schema      string             `json:"$schema,omitempty"`
	Type        string             `json:"type,omitempty"`
	Description string             `json:"description,omitempty"`
	Default     json.RawMessage    `json:"default,omitempty"`
	Const       *int               `json:"const,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	AnyOf       []schema           `json:"anyOf,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	MinItems    int                `json:"minItems,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Names       *schema            `json:"propertyNames,omitempty"`
	Additional  any                `json:"additionalProperties,omitempty"` // *schema, or false for none

	raw json.RawMessage // the whole of it
}

// MarshalJSON implements json.Marshaler.
func (s *schema) MarshalJSON() ([]byte, error) {
	if s.raw != nil {
		return s.raw, nil
	}
	type plain schema
	return json.Marshal((*plain)(s))
}

// Schema is the JSON Schema of configuration files, with the given one for the quirks of an entry, which another package knows. What it
// can't say: that variables named by ${…} are set.
func Schema(ofQuirks json.RawMessage) ([]byte, error) {
	root := object("settings of overt; comments and trailing commas are allowed, and ${NAME} in a text is an environment variable")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Properties["$schema"] = &schema{Type: "string"}
	for _, k := range Keys() {
		to, name := root, k.Name
		if section, field, nested := strings.Cut(k.Name, "."); nested {
			if root.Properties[section] == nil {
				root.Properties[section] = object("")
			}
			to, name = root.Properties[section], field
		}
		if k.File != "" {
			k.Doc = k.File
		}
		to.Properties[name] = k.schema()
	}
	entry := object("a model server; with the name of a preset, what differs from it")
	for _, name := range entryKeys() {
		if k, ok := lookup(name); ok {
			k.Default, k.Doc = "", k.inEntry()
			entry.Properties[name] = k.schema()
		}
	}
	entry.Properties[headers] = &schema{Type: "object", Description: headersDoc, Additional: &schema{Type: "string"}}
	entry.Properties[quirks] = &schema{raw: ofQuirks}
	entry.Properties[models] = modelsSchema()
	entry.Properties[enabled] = &schema{Type: "boolean", Description: enabledDoc}
	root.Properties["providers"] = &schema{
		Type: "object", Description: "model servers by name", Names: &schema{Pattern: "^[a-z0-9_.-]{1,40}$"}, Additional: entry,
	}
	return json.MarshalIndent(root, "", "  ")
}

const (
	headersDoc = "fields of the header, sent with each request to this server and never recorded"
	enabledDoc = "false keeps the entry from being used"
)

// EntryMember is a member of an entry of providers, in words.
type EntryMember struct{ Name, Form, Doc string }

// EntryMembers lists what an entry of providers may have.
func EntryMembers() (out []EntryMember) {
	for _, name := range entryKeys() {
		m := EntryMember{Name: name}
		switch k, ok := lookup(name); {
		case ok:
			m.Form, m.Doc = Form(k), k.inEntry()
		case name == headers:
			m.Form, m.Doc = "an object of texts", headersDoc
		case name == quirks:
			m.Form, m.Doc = "an object", "how the server differs from its protocol, over what is known and was measured"
		case name == models:
			m.Form, m.Doc = "an object by model", "what is known of a model, over what its server and the catalogue say: "+
				strings.Join(modelKeys()[:3], ", ")+" and "+prices+" ("+strings.Join(priceKeys(), ", ")+": US dollars for a million tokens)"
		case name == enabled:
			m.Form, m.Doc = Form(Key{Kind: Bool}), enabledDoc
		}
		out = append(out, m)
	}
	return out
}

// inEntry says what the key is in an entry of providers.
func (k Key) inEntry() string {
	switch k.Name {
	case BaseURL:
		return "the address of the server; an entry with the name of a preset may leave it out"
	case Protocol:
		return "the protocol of the server; unset, that of the preset, or openai-chat"
	case Model:
		return "the model that NAME/ alone stands for, as in --model NAME/"
	case APIKey:
		return "the key of this server, which goes to no other; \"${NAME}\" takes it from the environment"
	}
	return k.Doc
}

func object(doc string) *schema {
	return &schema{Type: "object", Description: doc, Properties: map[string]*schema{}, Additional: false}
}

// schema is that of one key's value.
func (k Key) schema() *schema {
	zero := 0
	s := &schema{Type: "string", Description: k.Doc}
	switch k.Kind {
	case Choice:
		s.Enum = k.Choices
		if k.switches() {
			s.Type, s.Enum, s.AnyOf = "", nil, []schema{{Type: "string", Enum: k.Choices}, {Type: "boolean"}}
		}
	case Bool:
		s.Type = "boolean"
	case Count, Number:
		s.Type, s.Minimum = "integer", &zero
		if k.Kind == Number {
			s.Type = "number"
		}
		if k.Max != 0 {
			s.Maximum = &k.Max
		}
	case Duration:
		s.Type, s.AnyOf = "", []schema{{Const: &zero}, {Type: "string", Pattern: `^(0|[0-9]+d|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`}}
	case Size:
		s.Type, s.AnyOf = "", []schema{{Type: "integer", Minimum: &zero}, {Type: "string", Pattern: `^[0-9]+ *([KMGTkmgt]?[Bb])?$`}}
	case Names:
		one := "(" + strings.Join(k.Choices, "|") + ")"
		s.Type, s.AnyOf = "", []schema{{Type: "array", Items: &schema{Type: "string", Enum: k.Choices}}, {Type: "boolean"}, {Type: "string", Pattern: "^(true|false|" + one + "(, *" + one + ")*)$"}}
	case List, Command:
		s.Type, s.Items = "array", &schema{Type: "string"}
		if k.Kind == Command {
			s.MinItems = 1
		}
	}
	if k.Default != "" {
		if raw, err := k.json(Setting{Value: k.Default}); err == nil {
			s.Default = raw
		}
	}
	return s
}
