package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of what llama.cpp makes a grammar of; above them it fails to, or takes seconds. They are far below what was reported
// to fail.
const (
	llamaLength = 1000 // of a string
	llamaEnum   = 200  // values
	llamaDepth  = 10   // of schemas within each other
)

// adapt gives a schema in the dialect that the server takes. Members keep their order, so that equal schemas give equal
// bytes; what is left out bound the model's arguments more closely, and is still checked before a call runs. Sources: the
// vendors' documents and errors, Moonshot's MFJS.
func (p *Profile) adapt(schema json.RawMessage) json.RawMessage {
	switch p.Schema {
	case SchemaGemini, SchemaXAI, SchemaMoonshot, SchemaLlama:
		return json.RawMessage(adapter{p.Schema}.node(raw(schema), 0))
	}
	return schema
}

// bare tells whether a schema is one of no arguments at all.
func bare(schema json.RawMessage) bool {
	n := 0
	for range raw(schema).get("properties").members() {
		n++
	}
	return n == 0
}

// adapter rewrites schemas into a dialect.
type adapter struct{ dialect string }

// member is a member of a schema.
type member struct {
	name  string
	value raw
}

// node gives a schema; what is none, such as true, stays.
func (a adapter) node(v raw, depth int) raw {
	if v.kind() != '{' {
		return v
	}
	if a.dialect == SchemaLlama && depth > llamaDepth {
		return raw(`{}`)
	}
	var out []member
	for k, m := range v.members() {
		k, m = a.member(v, k, a.inside(k, m, depth))
		if k != "" {
			out = append(out, member{k, m})
		}
	}
	return objectOf(a.whole(v, out, depth))
}

// inside rewrites the schemas within a member.
func (a adapter) inside(k string, v raw, depth int) raw {
	switch k {
	case "properties", "$defs", "definitions":
		var out []member
		for name, s := range v.members() {
			out = append(out, member{name, a.node(s, depth+1)})
		}
		if v.kind() == '{' {
			return objectOf(out)
		}
	case "items", "anyOf", "oneOf", "allOf", "prefixItems":
		if v.kind() != '[' {
			return a.node(v, depth+1)
		}
		var out []raw
		for s := range v.elements() {
			out = append(out, a.node(s, depth+1))
		}
		return listOf(out)
	}
	return v
}

// member gives a member of the schema v as the server takes it; "": it is left out.
func (a adapter) member(v raw, k string, m raw) (string, raw) {
	switch a.dialect {
	case SchemaGemini:
		return geminiMember(v, k, m)
	case SchemaXAI:
		if k == "additionalProperties" && string(m) == "false" {
			return "", nil
		}
	case SchemaMoonshot:
		switch {
		case k == "items" && m.kind() == '[':
			return "prefixItems", m
		case k == "type" && v.get("anyOf").kind() == '[':
			return "", nil // it goes into the branches, see whole
		}
	case SchemaLlama:
		n, _ := m.number()
		s := m.text()
		values := 0
		if k == "enum" {
			for range m.elements() {
				values++
			}
		}
		if k == "pattern" && !(strings.HasPrefix(s, "^") && strings.HasSuffix(s, "$")) ||
			(k == "maxLength" || k == "minLength" || k == "maxItems") && n > llamaLength || values > llamaEnum {
			return "", nil
		}
	}
	return k, m
}

// geminiMember leaves out what Gemini has no field for. Its "type" is one name; that a value may be null is said apart.
func geminiMember(v raw, k string, m raw) (string, raw) {
	switch k {
	case "$schema", "$id", "$ref", "$defs", "definitions", "additionalProperties", "exclusiveMinimum", "exclusiveMaximum", "examples", "readOnly",
		"writeOnly", "deprecated", "$comment", "multipleOf", "uniqueItems", "prefixItems", "additionalItems", "propertyNames",
		"patternProperties", "dependencies", "dependentRequired", "dependentSchemas", "contentEncoding", "contentMediaType",
		"contentSchema", "id", "nullable", "if", "then", "else", "not":
		return "", nil
	case "const":
		if m.kind() != '"' || !v.get("enum").null() {
			return "", nil
		}
		return "enum", listOf([]raw{m})
	case "oneOf":
		return "anyOf", m
	case "type":
		if m.kind() == '[' {
			return k, firstType(m)
		}
	case "enum":
		for e := range m.elements() {
			if e.kind() != '"' {
				return "", nil
			}
		}
	case "format":
		if !slices.Contains([]string{"enum", "date-time", "int32", "int64", "float", "double"}, m.text()) {
			return "", nil
		}
	case "required":
		var known []raw
		for name := range m.elements() {
			if !v.get("properties").get(name.text()).null() {
				known = append(known, name)
			}
		}
		if len(known) == 0 {
			return "", nil
		}
		return k, listOf(known)
	case "items":
		if m.kind() == '[' { // a tuple
			for first := range m.elements() {
				return k, first
			}
			return "", nil
		}
	}
	return k, m
}

// firstType is the first of several types that is not null.
func firstType(list raw) raw {
	for t := range list.elements() {
		if t.text() != "null" {
			return t
		}
	}
	return raw(`"string"`)
}

// whole adds to the members of the schema v what the server wants in addition.
func (a adapter) whole(v raw, out []member, depth int) []member {
	has := func(k string) int { return slices.IndexFunc(out, func(m member) bool { return m.name == k }) }
	kind := v.get("type")
	switch a.dialect {
	case SchemaGemini:
		for t := range kind.elements() {
			if t.text() == "null" {
				out = append(out, member{"nullable", raw("true")})
			}
		}
		if i := has("type"); i >= 0 && out[i].value.text() == "array" && has("items") < 0 {
			out = append(out, member{"items", raw(`{"type":"string"}`)})
		}
	case SchemaMoonshot:
		if i := has("anyOf"); i >= 0 && !kind.null() {
			var branches []raw
			for b := range out[i].value.elements() {
				if b.kind() == '{' && b.get("type").null() {
					b = objectOf(append([]member{{"type", kind}}, membersOf(b)...))
				}
				branches = append(branches, b)
			}
			out[i].value = listOf(branches)
		}
		if depth == 0 && has("type") < 0 {
			out = append([]member{{"type", raw(`"object"`)}}, out...)
		}
	}
	return out
}

func membersOf(v raw) (out []member) {
	for k, m := range v.members() {
		out = append(out, member{k, m})
	}
	return out
}

// objectOf makes an object of members.
func objectOf(list []member) raw {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, m.name), ':'), m.value...)
	}
	return append(b, '}')
}

func listOf(list []raw) raw {
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}
