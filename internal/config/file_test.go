package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"

	"overt/internal/config"
)

// TestSet: a setting changes and everything else stays, comments too; what does not hold changes nothing.
func TestSet(t *testing.T) {
	const file = `// mine
{
	// the model
	"model": "a/b", // of work
	"deny": [
		"run_command(rm:*)",
	],
}
`
	for name, tt := range map[string]struct {
		text, key string
		values    []string
		want      string // in the new text; "" with code: the error
		code      string
	}{
		"change":                {file, "model", []string{"c/d"}, "// the model\n\t\"model\": \"c/d\", // of work", ""},
		"add":                   {file, "max_steps", []string{"7"}, "\"max_steps\": 7", ""},
		"a switch":              {file, "stream", []string{"false"}, "\"stream\": false", ""},
		"a list":                {file, "deny", []string{"a", "b"}, "[\"a\", \"b\"]", ""},
		"a section":             {file, "retention.captures_age", []string{"2h"}, "\"retention\": {\"captures_age\": \"2h\"}", ""},
		"an empty file":         {"", "model", []string{"x"}, "{\"model\": \"x\"}", ""},
		"own layout":            {"{\n  \"model\":   \"x\",\n  // kept\n  \"quiet\": true\n}\n", "max_steps", []string{"7"}, "{\n  \"model\":   \"x\",\n  // kept\n  \"quiet\": true,\n  \"max_steps\": 7\n}\n", ""},
		"no object":             {"[]", "model", []string{"x"}, "", "config.file.object"},
		"take out":              {file, "model", nil, "\"deny\"", ""},
		"what is not in":        {file, "max_steps", nil, "\"model\": \"a/b\"", ""},
		"a leading zero":        {file, "max_steps", []string{"007"}, "\"max_steps\": 7", ""},
		"an empty text":         {file, "model", []string{""}, "", "config.empty"},
		"too much":              {file, "system", []string{strings.Repeat("x", 1<<20)}, "", "config.file.large"},
		"beside another":        {`{"api_key_command": ["x"]}`, "api_key", []string{"k"}, "", "config.file.two_keys"},
		"one of two":            {`{"model": "a", "model": "b"}`, "model", []string{"c"}, "", "config.file.twice"},
		"no number":             {file, "max_steps", []string{"x"}, "", "config.value"},
		"two values":            {file, "model", []string{"x", "y"}, "", "config.one_value"},
		"no such setting":       {file, "modle", []string{"x"}, "", "config.unknown"},
		"a broken file":         {"{", "model", []string{"x"}, "", "config.file.syntax"},
		"take out the only one": {"{\n  // old: x\n  \"model\": \"a\" // now\n}\n", "model", nil, "{\n  // old: x\n  // now\n}\n", ""},
		"take out the last one": {"{\n  \"quiet\": true,\n  // old\n  \"model\": \"a\",\n}\n", "model", nil, "{\n  \"quiet\": true,\n  // old\n}\n", ""},
		"take out of a line":    {"{\"model\": /* one */ \"a\", /* two */ \"quiet\": true}", "model", nil, "/* one */", ""},
		"take out a list": {
			"{\n  \"quiet\": true, // yes\n  \"deny\": [\n    // why\n    \"read_file\", // really\n  ],\n  // next\n  \"stream\": true\n}\n", "deny", nil,
			"{\n  \"quiet\": true, // yes\n  // why\n  // really\n  // next\n  \"stream\": true\n}\n", "",
		},
		"a list with comments": {
			"{\n  \"deny\": [\n    // one\n    \"read_file\", // first\n    // two\n    \"list_files\"\n    // end\n  ]\n}\n", "deny",
			[]string{"list_files", "edit_file"},
			"[\n    // one\n    // first\n    // two\n    \"list_files\",\n    \"edit_file\"\n    // end\n  ]", "",
		},
		"a list that shrinks to what is new": {"{\"deny\": [\"read_file\", // why\n]}", "deny", []string{"edit_file"}, "// why", ""},
		"a command with comments":            {"{\n  \"api_key_command\": [\n    \"pass\", // the vault\n    \"show\"\n  ]\n}\n", "api_key_command", []string{"vault", "key"}, "{\n  // the vault\n  \"api_key_command\": ", ""},
		"a comment last":                     {"{} // end", "model", []string{"x"}, "{\"model\": \"x\"} // end", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Set(&config.Document{Path: "/c.json", Text: []byte(tt.text)}, env(m{}), tt.key, tt.values...)
			if tt.code != "" {
				var e *config.Error
				if !errors.As(err, &e) || e.Code != tt.code || got != nil || (tt.code == "config.file.two_keys") != (e.Hint == "config.two_keys.hint" && e.OnCommandLine() && e.Line == 0) {
					t.Fatalf("%v %q", err, got)
				}
				return
			}
			if err != nil || !strings.Contains(string(got), tt.want) {
				t.Fatalf("%v\n%s\nwant %s", err, got, tt.want)
			}
			if tt.text == file && (!strings.Contains(string(got), "// mine") || tt.key != "deny" && !strings.Contains(string(got), "run_command(rm:*)")) {
				t.Errorf("something else changed:\n%s", got)
			}
			if tt.values == nil && strings.Contains(string(got), `"`+tt.key+`"`) {
				t.Errorf("%s is still there:\n%s", tt.key, got)
			}
			if _, err := config.Resolve(config.Sources{User: &config.Document{Path: "/c.json", Text: got}, Env: env(m{"GROQ_API_KEY": "k"})}); err != nil {
				t.Errorf("the new file does not hold: %v", err)
			}
		})
	}
}

// TestSchema: the schema takes what the program takes, and refuses what it refuses.
func TestSchema(t *testing.T) {
	text, err := config.Schema([]byte(`{"type": "object"}`))
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
	for text, holds := range map[string]bool{
		`{}`: true,
		`{"$schema": "x", "model": "a", "stream": true, "tools": false, "max_steps": 0, "temperature": 1.5, "timeout": "90s", "deny": ["a"]}`: true,
		`{"retention": {"captures_max": "2GB", "captures_age": "720h"}}`:                                                                      true,
		`{"retention": {"captures_max": 100, "captures_age": 0}}`:                                                                             true,
		`{"providers": {"a.b": {"base_url": "http://x", "api_key_command": ["pass", "x"], "model": "m"}}}`:                                    true,
		`{"tools": ["core", "git"]}`:                       true,
		`{"tools": "core, git"}`:                           true,
		`{"tools": []}`:                                    true,
		`{"tools": ["core", "web"]}`:                       false,
		`{"tools": "core;git"}`:                            false,
		`{"tools": {}}`:                                    false,
		`{"model": 5}`:                                     false,
		`{"modle": "x"}`:                                   false,
		`{"stream": "yes"}`:                                false,
		`{"max_steps": -1}`:                                false,
		`{"max_steps": 1.5}`:                               false,
		`{"retries": 21}`:                                  false,
		`{"temperature": 3}`:                               false,
		`{"permission": "yolo"}`:                           false,
		`{"timeout": "soon"}`:                              false,
		`{"timeout": 5}`:                                   false,
		`{"deny": "x"}`:                                    false,
		`{"api_key_command": []}`:                          false,
		`{"retention": {"x": 1}}`:                          false,
		`{"retention": {"captures_age": "1y"}}`:            false,
		`{"retention": {"captures_max": "2XB"}}`:           false,
		`{"providers": {"A b": {"base_url": "http://x"}}}`: false,
		`{"providers": {"a": {"base_url": "http://x", "tools": true}}}`: false,
	} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); (err == nil) != holds {
			t.Errorf("schema on %s: %v", text, err)
		}
		c, err := config.Resolve(config.Sources{User: &config.Document{Path: "/c.json", Text: []byte(text)}, Env: env(m{"OVERT_API_KEY": "k"})})
		if (err == nil) != holds {
			t.Errorf("program on %s: %v %v", text, err, c.Problems)
		}
	}
}

// FuzzFile: whatever a file says, reading it ends, errors stand within it, and a text that was formatted by [config.Set] is
// read as before.
func FuzzFile(f *testing.F) {
	for _, s := range []string{
		`{"model": "x"}`, "// c\n{\"deny\": [\"a\",],}", `{"providers": {"a": {"base_url": "http://${A}"}}}`, `{"a": "$${A}${"`, `{"retention": {"captures_age": "1h"}}`, "\ufeff{}", `{"timeout": "1h"}`, "{/*a*/\"quiet\"/*b*/:/*c*/true/*d*/,//e\n\"deny\":[/*f*/\"x\"/*g*/,//h\n],}//i", "{\"retention\":{/*a*/\"captures_age\":\"1h\"//b\n}}", "{\"api_key_command\":/*a*/[/*b*/\"a\"//c\n]/*d*/,//e\n}", "[]", `{"model": "\ud800"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := &config.Document{Path: "/c.json", Text: []byte(text)}
		c, err := config.Resolve(config.Sources{User: doc, Project: doc, Env: env(m{"A": "x"})})
		if err == nil && c.BaseURL.Value == "" {
			t.Errorf("%q: no endpoint and no error", text)
		}
		lines := strings.Count(text, "\n") + 1
		for _, e := range c.Problems {
			if e.Path != "" && (e.Line < 1 || e.Line > lines || e.Column < 1) {
				t.Errorf("%q: an error at %d:%d: %v", text, e.Line, e.Column, e)
			}
		}
		for key, values := range map[string][]string{config.Model: {"y"}, config.Quiet: nil, config.Deny: {"read_file", "edit_file"}, config.Allow: nil, config.APIKeyCommand: {"a", "b"}, config.CapturesAge: nil} {
			got, err := config.Set(doc, env(m{"A": "x"}), key, values...)
			if err != nil || string(got) == text {
				continue
			}
			if _, err := hujson.Parse(got); err != nil {
				t.Errorf("%s: %q became %q: %v", key, text, got, err)
			}
			if _, err := hujson.Parse([]byte(text)); err == nil && comments(t, got) < comments(t, []byte(text)) {
				t.Errorf("%s: %q became %q, which has fewer comments", key, text, got)
			}
		}
	})
}

// comments counts the letters of the comments of a file.
func comments(t *testing.T, text []byte) (n int) {
	t.Helper()
	v, err := hujson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	count := func(extra hujson.Extra) {
		if strings.Contains(string(extra), "/") {
			n += len(strings.Join(strings.Fields(string(extra)), ""))
		}
	}
	var all func(v hujson.Value)
	all = func(v hujson.Value) {
		count(v.BeforeExtra)
		count(v.AfterExtra)
		switch c := v.Value.(type) {
		case *hujson.Array:
			count(c.AfterExtra)
			for _, e := range c.Elements {
				all(e)
			}
		case *hujson.Object:
			count(c.AfterExtra)
			for _, m := range c.Members {
				all(m.Name)
				all(m.Value)
			}
		}
	}
	all(v)
	return n
}

// TestLocate: where files are, for every way in which a program can be called.
//
// covers L040 L041 L042 L043
func TestLocate(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"opt", "bin", "other", "home"} {
		must(os.MkdirAll(path(dir), 0o755))
	}
	must(os.WriteFile(path("opt/overt"), []byte("program"), 0o755))
	must(os.WriteFile(path("other/overt"), []byte("another program"), 0o755))
	must(os.Symlink(path("opt/overt"), path("bin/overt")))
	must(os.Symlink(path("bin/overt"), path("home/second")))
	must(os.Symlink("bin", path("linked")))

	locate := func(arg0 string, vars m, file string) config.Places {
		return config.Locate(config.Launch{Arg0: arg0, Self: path("opt/overt"), Dir: base, Home: path("home"), Env: env(vars), File: file})
	}
	usual := config.Places{Config: path("home/.config/overt/config.json"), State: path("home/.local/state/overt")}
	if got := locate("overt", m{}, ""); got != usual {
		t.Errorf("%+v, want %+v", got, usual)
	}
	if got := locate("overt", m{"XDG_CONFIG_HOME": path("c"), "XDG_STATE_HOME": "relative"}, ""); got.Config != path("c/overt/config.json") || got.State != usual.State {
		t.Errorf("%+v", got)
	}
	if got := config.Locate(config.Launch{Arg0: "overt", Env: env(m{})}); got != (config.Places{}) {
		t.Errorf("without a home: %+v", got)
	}
	named := locate("overt", m{"OVERT_CONFIG": "x.json"}, "")
	if named.Config != path("x.json") || named.Named.String() != "environment OVERT_CONFIG" || named.State != usual.State {
		t.Errorf("%+v", named)
	}
	if got := locate("overt", m{"OVERT_CONFIG": "x.json"}, "y.json"); got.Config != path("y.json") || got.Named.String() != "flag --config" {
		t.Errorf("%+v", got)
	}

	for _, dir := range []string{"opt", "bin", "other", "home"} {
		must(os.WriteFile(path(dir+"/overt.json"), []byte("{}"), 0o644))
	}
	for name, tt := range map[string]struct {
		arg0 string
		vars m
		dir  string
	}{
		"by its path":              {path("opt/overt"), m{}, "opt"},
		"by a relative path":       {"opt/overt", m{}, "opt"},
		"through dots":             {"./bin/../opt/overt", m{}, "opt"},
		"by a link":                {path("bin/overt"), m{}, "bin"},
		"by a link to a link":      {path("home/second"), m{}, "home"},
		"in a linked folder":       {path("linked/overt"), m{}, "bin"},
		"found in PATH":            {"overt", m{"PATH": path("bin") + ":" + path("opt")}, "bin"},
		"another one first":        {"overt", m{"PATH": path("other") + ":" + path("bin")}, "bin"},
		"a relative PATH":          {"overt", m{"PATH": "bin"}, "bin"},
		"nowhere":                  {"overt", m{"PATH": path("other")}, "opt"},
		"under a name of its own":  {"-sh", m{}, "opt"},
		"by a path that is not it": {path("other/overt"), m{}, "opt"},
	} {
		want := config.Places{Config: path(tt.dir + "/overt.json"), State: path(tt.dir + "/overt-state"), Portable: true}
		if got := locate(tt.arg0, tt.vars, ""); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := locate(path("opt/overt"), m{}, "y.json"); got.Config != path("y.json") || got.State != path("opt/overt-state") || !got.Portable {
		t.Errorf("a named file in portable mode: %+v", got)
	}
}
