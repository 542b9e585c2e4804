package config

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is the JSON Schema (2020-12) of configuration files. What it can't say: that variables named by ${…} are set.
func Schema() *jsonschema.Schema {
	root := object("settings of overt; comments and trailing commas are allowed, and ${NAME} in a text is an environment variable")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	property(root, "$schema", &jsonschema.Schema{Type: "string"})
	for _, k := range Keys() {
		to, name := root, k.Name
		if section, field, nested := strings.Cut(k.Name, "."); nested {
			if root.Properties[section] == nil {
				property(root, section, object(""))
			}
			to, name = root.Properties[section], field
		}
		property(to, name, k.schema())
	}
	entry := object("a model server; with the name of a preset, what differs from it")
	for _, name := range entryKeys() {
		k, _ := lookup(name)
		property(entry, name, k.schema())
	}
	providers := &jsonschema.Schema{Type: "object", Description: "model servers by name", PropertyNames: &jsonschema.Schema{Pattern: "^[a-z0-9_.-]{1,40}$"}, AdditionalProperties: entry}
	property(root, "providers", providers)
	return root
}

func object(doc string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: doc, Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}

func property(of *jsonschema.Schema, name string, s *jsonschema.Schema) {
	of.Properties[name] = s
	of.PropertyOrder = append(of.PropertyOrder, name)
}

// schema is that of one key's value.
func (k Key) schema() *jsonschema.Schema {
	zero, one := 0.0, 1
	s := &jsonschema.Schema{Type: "string", Description: k.Doc}
	switch k.Kind {
	case Choice:
		for _, c := range k.Choices {
			s.Enum = append(s.Enum, c)
		}
	case Bool:
		s.Type = "boolean"
	case Count, Number:
		s.Type, s.Minimum = "integer", &zero
		if k.Kind == Number {
			s.Type = "number"
		}
		if k.Max != 0 {
			limit := k.Max
			s.Maximum = &limit
		}
	case Duration:
		s.Type, s.AnyOf = "", []*jsonschema.Schema{{Const: ptr[any](0.0)}, {Type: "string", Pattern: `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`}}
	case Size:
		s.Type, s.AnyOf = "", []*jsonschema.Schema{{Type: "integer", Minimum: &zero}, {Type: "string", Pattern: `^[0-9]+([KMGTkmgt]?[Bb])?$`}}
	case List, Command:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string"}
		if k.Kind == Command {
			s.MinItems = &one
		}
	}
	if k.Default != "" {
		if raw, err := k.json(Setting{Value: k.Default}); err == nil {
			s.Default = json.RawMessage(raw)
		}
	}
	return s
}

func ptr[T any](v T) *T { return &v }
