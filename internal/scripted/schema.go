package scripted

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// schema holds the keywords of JSON Schema that are checked.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Enum       []json.RawMessage `json:"enum"`
	AnyOf      []schema          `json:"anyOf"`
	OneOf      []schema          `json:"oneOf"`
	AllOf      []schema          `json:"allOf"`
	Not        *schema           `json:"not"`
	Additional json.RawMessage   `json:"additionalProperties"`
}

// checkStrictSchema says what is wrong with parameters that the model must keep to by the letter, "" if nothing is.
func checkStrictSchema(raw json.RawMessage) string {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Sprintf("it is not a JSON Schema: %v", err)
	}
	if string(s.Additional) != "false" {
		return "In context=(), 'additionalProperties' is required to be supplied and to be false."
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			return fmt.Sprintf("In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", name)
		}
	}
	return ""
}

// checkSchema says what is wrong with the parameters of a function, "" if nothing is.
func checkSchema(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."
	}
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Sprintf("it is not a JSON Schema: %v", err)
	}
	if string(s.Type) != `"object"` {
		return fmt.Sprintf("schema must be a JSON Schema of 'type: \"object\"', got 'type: %s'.", s.Type)
	}
	if s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil || s.Enum != nil || s.Not != nil {
		return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
	}
	return s.check()
}

func (s schema) check() string {
	if why := s.checkType(); why != "" {
		return why
	}
	for _, r := range s.Required {
		if _, ok := s.Properties[r]; !ok {
			return fmt.Sprintf("'required' names '%s', which is not in 'properties'.", r)
		}
	}
	if string(s.Type) == `"array"` && s.Items == nil {
		return "array schema missing items."
	}
	if s.Enum != nil && len(s.Enum) == 0 {
		return "'enum' must not be empty."
	}
	below := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below = append(below, s.Properties[name])
	}
	for _, p := range []*schema{s.Items, s.Not} {
		if p != nil {
			below = append(below, *p)
		}
	}
	for _, p := range below {
		if why := p.check(); why != "" {
			return why
		}
	}
	return ""
}

func (s schema) checkType() string {
	if s.Type == nil {
		return ""
	}
	var names []string
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		names = []string{one}
	} else if json.Unmarshal(s.Type, &names) != nil {
		return fmt.Sprintf("%s is not valid under any of the given schemas.", s.Type)
	}
	for _, n := range names {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, n) {
			return fmt.Sprintf("'%s' is not valid under any of the given schemas.", n)
		}
	}
	return ""
}
