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
}

// Schema is the JSON Schema of configuration files. What it can't say: that variables named by ${…} are set.
func Schema() ([]byte, error) {
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
		to.Properties[name] = k.schema()
	}
	entry := object("a model server; with the name of a preset, what differs from it")
	for _, name := range entryKeys() {
		if k, ok := lookup(name); ok {
			k.Default = ""
			entry.Properties[name] = k.schema()
		}
	}
	entry.Properties[headers] = &schema{Type: "object", Description: "fields of the header, sent with each request to this server and never recorded", Additional: &schema{Type: "string"}}
	entry.Properties[quirks] = &schema{Type: "object", Description: "how the server differs from its protocol, over what is known and was measured; see overt probe"}
	entry.Properties[models] = modelsSchema()
	entry.Properties[enabled] = &schema{Type: "boolean", Description: "false keeps the entry from being used"}
	root.Properties["providers"] = &schema{
		Type: "object", Description: "model servers by name", Names: &schema{Pattern: "^[a-z0-9_.-]{1,40}$"}, Additional: entry,
	}
	return json.MarshalIndent(root, "", "  ")
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
