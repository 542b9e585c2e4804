package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of JSON Schema (2020-12) that every model server takes, and the only one that tools may use: a type,
// properties with those required, items, an enumeration of strings, bounds of numbers. A description is for the model.
// Members that are not described are valid, as the standard says; [schema.prune] takes them out.
type schema struct {
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Enum        []string           `json:"enum"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
}

// parseSchema reads a schema; what is outside the part above is an error.
func parseSchema(data json.RawMessage) (*schema, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	s := &schema{}
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("the type is %q, not object", s.Type)
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return nil, fmt.Errorf("%s is required and not described", name)
		}
	}
	return s, s.check()
}

// check makes sure that every type is one that validate knows.
func (s *schema) check() error {
	switch s.Type {
	case "object", "array", "string", "integer", "number", "boolean":
	default:
		return fmt.Errorf("unknown type %q", s.Type)
	}
	for name, p := range s.Properties {
		if err := p.check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if s.Items != nil {
		return s.Items.check()
	}
	return nil
}

// validate says what is wrong with a decoded value (numbers as json.Number), naming the place, or "". at is the place.
func (s *schema) validate(v any, at string) string {
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return s.validateObject(v, at)
		}
	case []any:
		if s.Type == "array" {
			for i, x := range v {
				if s.Items == nil {
					break
				}
				if wrong := s.Items.validate(x, at+"["+strconv.Itoa(i)+"]"); wrong != "" {
					return wrong
				}
			}
			return ""
		}
	case string:
		if s.Type == "string" {
			if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
				return at + " must be one of " + strings.Join(s.Enum, ", ")
			}
			return ""
		}
	case json.Number:
		if s.Type == "integer" || s.Type == "number" {
			return s.validateNumber(v, at)
		}
	case bool:
		if s.Type == "boolean" {
			return ""
		}
	}
	article := "a "
	if strings.ContainsRune("aio", rune(s.Type[0])) {
		article = "an "
	}
	return at + " must be " + article + s.Type
}

func (s *schema) validateObject(v map[string]any, at string) string {
	place := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return place(name) + " is missing"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		p := s.Properties[name]
		if p == nil || v[name] == nil && !slices.Contains(s.Required, name) {
			continue // not described; or null, which some models send for what they leave out
		}
		if wrong := p.validate(v[name], place(name)); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s *schema) validateNumber(v json.Number, at string) string {
	f, err := v.Float64()
	switch {
	case err != nil:
		return at + " is out of range"
	case s.Type == "integer" && strings.ContainsAny(v.String(), ".eE"):
		return at + " must be an integer"
	case s.Type == "integer" && !isInt(v):
		return at + " is out of range"
	case s.Minimum != nil && f < *s.Minimum:
		return fmt.Sprintf("%s must be at least %v", at, *s.Minimum)
	case s.Maximum != nil && f > *s.Maximum:
		return fmt.Sprintf("%s must be at most %v", at, *s.Maximum)
	}
	return ""
}

func isInt(v json.Number) bool {
	_, err := v.Int64()
	return err == nil
}

// prune takes out of a value that fits the schema what the schema does not describe, and tells whether there was any. A
// tool would take "Path" for "path": Go's decoder does not look at letter case.
func (s *schema) prune(v any) (pruned bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			p := s.Properties[name]
			if p == nil {
				delete(v, name)
				pruned = true
			} else if p.prune(x) {
				pruned = true
			}
		}
	case []any:
		for _, x := range v {
			if s.Items != nil && s.Items.prune(x) {
				pruned = true
			}
		}
	}
	return pruned
}
