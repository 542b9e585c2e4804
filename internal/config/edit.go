package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Set gives the text of a configuration file with a key set to values, or without the key where there are none; comments
// stay, also those beside what goes. The value is in the form that the command line takes. What would then not hold, and did before, is an *[Error].
func Set(doc *Document, env func(string) (string, bool), name string, values ...string) ([]byte, error) {
	key, known := lookup(name)
	if !known {
		return nil, &Error{Code: "config.unknown", Args: []any{name}, Hint: "config.unknown.hint", Usage: true}
	}
	text := bytes.TrimPrefix(doc.Text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	text = ended(text)
	root, err := hujson.Parse(text)
	if len(values) > 0 && key.Kind == Text && values[0] == "" {
		return nil, &Error{Code: "config.empty", Args: []any{name}, Usage: true}
	}
	if _, object := root.Value.(*hujson.Object); err != nil || !object {
		_, bad := parse(doc, User, env)
		return nil, bad[0]
	}
	plain := root.Clone()
	plain.Format()
	formatted := len(doc.Text) == 0 || bytes.Equal(plain.Pack(), text)
	if len(values) == 0 {
		if !key.unset(&root) {
			return doc.Text, nil
		}
	} else if err := key.set(&root, values); err != nil {
		if err.Code == "config.file.patch" {
			err.Path = doc.Path
		}
		return nil, err
	}
	if formatted {
		root.Format()
	} else if len(values) > 0 {
		spread(root.Value.(*hujson.Object))
	}
	out := root.Pack()
	if bytes.Contains(doc.Text, []byte("\r\n")) {
		out = bytes.ReplaceAll(bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	if len(out) > maxFile {
		return nil, &Error{Code: "config.file.large", Args: []any{maxFile >> 10}, Usage: true}
	}
	_, before := parse(doc, User, env)
	_, after := parse(&Document{doc.Path, out}, User, env)
	for _, e := range after {
		i := slices.IndexFunc(before, func(b *Error) bool { return b.Code == e.Code && fmt.Sprint(b.Args) == fmt.Sprint(e.Args) })
		switch {
		case i < 0: // where it would stand helps nobody: the text is never written
			e.Line, e.Column, e.Usage = 0, 0, true
			if e.Code == "config.file.two_keys" {
				e.Hint, e.HintArgs = "config.two_keys.hint", []any{map[bool]string{true: APIKeyCommand, false: APIKey}[name == APIKey]}
			}
			return nil, e
		case e.Code == "config.file.twice" && fmt.Sprint(e.Args) == fmt.Sprint([]any{name}):
			return nil, before[i] // the other one would still count, or not
		}
	}
	return out, nil
}

// spread puts a member that was added at the end on a line of its own, indented like the first, in a file that a person has
// laid out in their own way.
func spread(o *hujson.Object) {
	if len(o.Members) < 2 {
		return
	}
	last := &o.Members[len(o.Members)-1]
	if len(last.Name.BeforeExtra) > 0 || len(last.Value.BeforeExtra) > 0 {
		return
	}
	first := string(o.Members[0].Name.BeforeExtra)
	if i := strings.LastIndexByte(first, '\n'); i >= 0 && strings.TrimSpace(first[i:]) == "" {
		last.Name.BeforeExtra = hujson.Extra(first[i:])
	} else {
		last.Name.BeforeExtra = hujson.Extra(" ")
	}
	last.Value.BeforeExtra = hujson.Extra(" ")
}

// alone tells whether there is nothing in an object but one member, so that nothing is left of it without that: no comment either.
func alone(v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	if !ok || len(o.Members) != 1 {
		return false
	}
	m := o.Members[0]
	for _, extra := range []hujson.Extra{m.Name.BeforeExtra, m.Name.AfterExtra, m.Value.BeforeExtra, m.Value.AfterExtra, o.AfterExtra} {
		if bytes.ContainsRune(extra, '/') {
			return false
		}
	}
	return true
}

// InFile is what a file of the person's itself says of a key, as far as it holds; whether it is in force is another matter.
func InFile(doc *Document, env func(string) (string, bool), name string) Setting {
	f, _ := parse(doc, User, env)
	return f.values[name]
}

// unset takes a key out; false: it is not there.
func (k Key) unset(root *hujson.Value) bool {
	section, field, nested := strings.Cut(k.Name, ".")
	if root.Find("/"+strings.ReplaceAll(k.Name, ".", "/")) == nil {
		return false
	}
	at, name := root, section
	if in := root.Find("/" + section); nested && !alone(in) {
		at, name = in, field
	}
	o, ok := at.Value.(*hujson.Object)
	if ok {
		remove(o, name)
	}
	return ok
}

// set sets a key to values.
func (k Key) set(root *hujson.Value, values []string) *Error {
	s := Setting{Key: k.Name, Source: Source{Layer: Flag}, Value: values[0], List: values}
	if k.Kind != List && k.Kind != Command && len(values) > 1 {
		return &Error{Code: "config.one_value", Args: []any{k.Name}, Usage: true}
	}
	if err := k.check(s); err != nil {
		if k.Name == BaseURL {
			err.Args = []any{values[0]}
		}
		return err
	}
	section, field, nested := strings.Cut(k.Name, ".")
	pointer := "/" + section
	type step struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	var steps []step
	if nested {
		if root.Find(pointer) == nil {
			steps = append(steps, step{"add", pointer, json.RawMessage("{}")})
		}
		pointer += "/" + field
	}
	var inside []hujson.Extra // comments in what is replaced
	if v := root.Find(pointer); v != nil {
		a, list := v.Value.(*hujson.Array)
		if list && k.Kind == List && hasComments(v) {
			relist(a, values)
			return nil
		}
		inside = within(nil, hujson.Value{Value: v.Value})
	}
	raw, err := k.json(s)
	var patch []byte
	if err == nil {
		patch, err = json.Marshal(append(steps, step{"add", pointer, raw})) // a JSON Patch (RFC 6902)
	}
	if err == nil {
		err = root.Patch(patch)
	}
	if err != nil {
		return &Error{Code: "config.file.patch", Args: []any{err}}
	}
	if o, ok := root.Value.(*hujson.Object); ok && !nested { // no value of a section is a list
		above(o, section, inside)
	}
	return nil
}

// json is a checked value as a configuration file writes it.
func (k Key) json(s Setting) (json.RawMessage, error) {
	switch k.Kind {
	case List, Command:
		return json.Marshal(s.List)
	case Bool:
		b, err := strconv.ParseBool(s.Value)
		if err != nil {
			return nil, err
		}
		return json.Marshal(b)
	case Names:
		list, _ := k.names(s.Value)
		if list == nil {
			list = []string{}
		}
		return json.Marshal(list)
	case Count:
		n, err := strconv.Atoi(s.Value)
		if err != nil {
			return nil, err
		}
		return json.Marshal(n)
	case Number:
		n, err := strconv.ParseFloat(s.Value, 64)
		if err != nil {
			return nil, err
		}
		return json.Marshal(n)
	}
	return json.Marshal(s.Value)
}
