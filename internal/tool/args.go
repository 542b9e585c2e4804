package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// It mends only what has one reading: slips of syntax (see mend), no text or null is {}, an object inside a JSON string is
// that object, a string where the schema wants a number, a boolean or a list is that value if the string spells one, and a
// number where it wants a list is a list of one. Everything else is a refusal that says where the arguments differ from
// the schema.
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
	v, err := object(raw)
	if err != nil {
		mended := mend(raw)
		if w, again := object(mended); again == nil {
			v, err, raw, repaired = w, nil, mended, true
		}
	}
	if err != nil {
		return bad("are not one JSON object (%v)", err)
	}
	schema, err := e.schema()
	if err != nil {
		return bad("cannot be checked (%v)", err)
	}
	coerced := coerce(schema, v)
	repaired = repaired || coerced
	if wrong := schema.validate(v, ""); wrong != "" {
		return bad("do not fit: %s", wrong)
	}
	if schema.prune(v) || coerced {
		if raw, err = json.Marshal(v); err != nil {
			return bad("cannot be read (%v)", err)
		}
	}
	return raw, repaired, nil
}

// object decodes one JSON object and nothing else, with numbers as they are written.
func object(data []byte) (v map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, errors.New(wrong.Value)
		}
		return nil, err
	}
	if v == nil {
		return nil, errors.New("null")
	}
	if more(d) {
		return nil, errors.New("more follows it")
	}
	return v, nil
}

// more tells whether anything but white space is left.
func more(d *json.Decoder) bool {
	_, err := d.Token()
	return !errors.Is(err, io.EOF)
}

// coerce gives members of the arguments the type that the schema's top level wants, where their value has one reading.
func coerce(s *schema, v map[string]any) bool {
	changed := false
	for name, p := range s.Properties {
		if x, ok := reading(v[name], p.Type); ok {
			v[name], changed = x, true
		}
	}
	return changed
}

// reading gives a value of another type that v can only mean.
func reading(v any, want string) (any, bool) {
	n, isNumber := v.(json.Number)
	switch {
	case isNumber && want == "array":
		return []any{n}, true
	case isNumber && want == "integer":
		whole, zeros, _ := strings.Cut(n.String(), ".")
		return json.Number(whole), zeros != "" && strings.Trim(zeros, "0") == ""
	}
	s, ok := v.(string)
	if !ok {
		return nil, false
	}
	s = strings.TrimSpace(s)
	switch want {
	case "integer", "number":
		_, err := strconv.ParseFloat(s, 64)
		return json.Number(s), err == nil && json.Valid([]byte(s))
	case "boolean":
		return s == "true", s == "true" || s == "false"
	case "array", "object":
		var x any
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if d.Decode(&x) != nil || more(d) {
			return nil, false
		}
		_, isList := x.([]any)
		_, isObject := x.(map[string]any)
		return x, isList && want == "array" || isObject && want == "object"
	}
	return nil, false
}
