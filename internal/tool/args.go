package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Codes of refusals that mean the call itself was malformed: nothing was decided or run.
const (
	CodeUnknownTool  = "unknown_tool"
	CodeBadArguments = "bad_arguments"
)

// decodeArgs turns the text that a model wrote into arguments that satisfy the tool's schema.
//
// It mends only what has one reading: no text or null is {}, an object inside a JSON string is that object, a string
// where the schema wants a number, a boolean or a list is that value if the string spells one, and a number where it
// wants a list is a list of one. Everything else
// is a refusal that says where the arguments differ from the schema.
func decodeArgs(e *entry, text string) (args json.RawMessage, repaired bool, refusal *Refusal) {
	bad := func(format string, a ...any) (json.RawMessage, bool, *Refusal) {
		return nil, false, &Refusal{CodeBadArguments, fmt.Sprintf("the arguments of %s ", e.spec.Name) + fmt.Sprintf(format, a...) + "; nothing was done. Send the call again with arguments that fit the tool's schema."}
	}
	raw := []byte(strings.TrimSpace(text))
	if t := string(raw); t == "" || t == "null" || t == `"null"` || t == `""` {
		raw, repaired = []byte("{}"), t != "" // many servers send nothing for no arguments: no slip
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
		raw, repaired = []byte(inner), true
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return bad("are not a JSON object (%v)", err)
	}
	if v == nil || d.More() {
		return bad("are not one JSON object")
	}
	if coerce(e.spec.Schema, v) {
		out, err := json.Marshal(v)
		if err != nil {
			return bad("cannot be read (%v)", err)
		}
		raw, repaired = out, true
	}
	schema, err := e.schema()
	if err != nil {
		return bad("cannot be checked (%v)", err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return bad("are not JSON (%v)", err)
	}
	if err := schema.Validate(plain); err != nil {
		return bad("do not fit: %s", firstLine(err.Error()))
	}
	return raw, repaired, nil
}

// coerce gives members of the arguments the type that the schema's top level wants, where their value has one reading.
func coerce(schema json.RawMessage, v map[string]any) bool {
	var sch struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &sch) != nil {
		return false
	}
	changed := false
	for name, p := range sch.Properties {
		if n, ok := v[name].(json.Number); ok && p.Type == "array" {
			v[name], changed = []any{n}, true
		}
		s, ok := v[name].(string)
		if !ok {
			continue
		}
		s = strings.TrimSpace(s)
		switch p.Type {
		case "integer", "number":
			if _, err := strconv.ParseFloat(s, 64); err == nil && json.Valid([]byte(s)) {
				v[name], changed = json.Number(s), true
			}
		case "boolean":
			if s == "true" || s == "false" {
				v[name], changed = s == "true", true
			}
		case "array", "object":
			open := map[string]string{"array": "[", "object": "{"}[p.Type]
			if strings.HasPrefix(s, open) && json.Valid([]byte(s)) {
				v[name], changed = json.RawMessage(s), true
			}
		}
	}
	return changed
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
