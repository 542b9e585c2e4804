package provider_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"overt/internal/provider"
)

// TestMembers: the table has each member of a profile with its type, and what it says of values is so.
func TestMembers(t *testing.T) {
	fields := map[string]reflect.Type{}
	for f := range reflect.TypeFor[provider.Profile]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f.Type
	}
	for _, m := range provider.Members() {
		typ := fields[m.Name]
		delete(fields, m.Name)
		form := map[provider.Form]reflect.Type{
			provider.FormSwitch: reflect.TypeFor[bool](), provider.FormCount: reflect.TypeFor[int](), provider.FormText: reflect.TypeFor[string](),
			provider.FormList: reflect.TypeFor[[]string](), provider.FormObject: reflect.TypeFor[json.RawMessage](),
		}[m.Form]
		if typ != form || m.Doc == "" || m.Default == "" {
			t.Errorf("%s is a %s, %v in a profile", m.Name, m.Form, typ)
		}
		object := fmt.Sprintf("{%q: %s}", m.Name, m.Example)
		var p provider.Profile
		if bad := provider.CheckMembers([]byte(object)); bad != nil || json.Unmarshal([]byte(object), &p) != nil || reflect.ValueOf(p).IsZero() && m.Example != "false" {
			t.Errorf("the example %s: %+v", object, bad)
		}
	}
	if len(fields) > 0 {
		t.Errorf("not in the table: %v", fields)
	}
}

// TestCheckMembers: each member, type and value that is none is told, and the schema refuses the same.
func TestCheckMembers(t *testing.T) {
	text, err := provider.MembersSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc jsonschema.Schema
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	schema, err := doc.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for object, want := range map[string]string{
		`{}`: "",
		`{"schema": "", "efforts": [], "text_calls": ["auto"], "extra": {"a": 1}, "limit_field": "none", "max_tools": 0}`: "",
		`{"shcema": "xai"}`:                   "shcema unknown",
		`{"Schema": "xai"}`:                   "Schema unknown",
		`{"schema": "qwen"}`:                  "schema qwen: one of gemini, xai, moonshot, llamacpp",
		`{"schema": null}`:                    "schema : one of gemini, xai, moonshot, llamacpp",
		`{"schema": 1, "tool_name": "yes"}`:   "schema : one of gemini, xai, moonshot, llamacpp; tool_name : true or false",
		`{"thinking": true}`:                  "thinking : one of type, adaptive, budget, enable_thinking, reasoning, effort, template",
		`{"thinking": "on"}`:                  "thinking on: one of type, adaptive, budget, enable_thinking, reasoning, effort, template",
		`{"reasoning": "never"}`:              "reasoning never: one of calls, always",
		`{"reasoning_field": "a b"}`:          "reasoning_field a b: the name of a member, such as reasoning_content or reasoning",
		`{"limit_field": "max tokens"}`:       "limit_field max tokens: the name of a member, such as max_tokens or max_completion_tokens, or none",
		`{"ids": "alnum8"}`:                   "ids alnum8: one of alnum9",
		`{"tools": "prose"}`:                  "tools prose: one of text",
		`{"efforts": ["low", "huge"]}`:        "efforts huge: a list of some of minimal, low, medium, high, xhigh, max, ultra",
		`{"efforts": [null]}`:                 "efforts : a list of some of minimal, low, medium, high, xhigh, max, ultra",
		`{"efforts": "low"}`:                  "efforts : a list of some of minimal, low, medium, high, xhigh, max, ultra",
		`{"key_header": "X Key"}`:             "key_header X Key: the name of a field of the header",
		`{"lane_header": "X-Lane:"}`:          "lane_header X-Lane:: the name of a field of the header",
		`{"key_header": "X-Key\n"}`:           "key_header X-Key\n: the name of a field of the header",
		`{"max_tools": -1}`:                   "max_tools : a whole number, 0 or more",
		`{"max_tools": 1.5}`:                  "max_tools : a whole number, 0 or more",
		`{"extra": [1]}`:                      "extra : an object",
		`{"extra": null}`:                     "extra : an object",
		`{"cache_key": 1, "no_effort": null}`: "cache_key : true or false; no_effort : true or false",
	} {
		var got []string
		for _, b := range provider.CheckMembers([]byte(object)) {
			if b.Unknown {
				got = append(got, b.Name+" unknown")
			} else {
				got = append(got, b.Name+" "+b.Value+": "+b.Takes)
			}
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
		var value any
		if err := json.Unmarshal([]byte(object), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != (want == "") {
			t.Errorf("the schema says of %s: %v", object, err)
		}
	}
	for text, holds := range map[string]bool{"{}": true, "": true, "{": false, "[]": false, "x": false} {
		object, err := json.Marshal(map[string]string{"call_sentinel": text})
		if err != nil {
			t.Fatal(err)
		}
		if bad := provider.CheckMembers(object); (bad == nil) != holds {
			t.Errorf("%s: %+v", object, bad)
		}
	}
}
