package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"overt/internal/config"
)

type m = map[string]string

func env(vars m) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// given is one case of testdata/endpoints.json: what each layer says, and what comes of it. The program itself is tested
// with the same cases.
type given struct {
	Name       string
	File       string
	Env, Flags m

	Provider, URL, Model, Key string
	From                      string // the source of the key; "" is not looked at
	Withheld, Notices         int
	Code                      string // of the error
	Usage                     bool   // the command line is at fault
}

func (g given) resolve() (*config.Config, error) {
	src := config.Sources{Env: env(g.Env), Flags: map[string][]string{}}
	if g.File != "" {
		src.User = &config.Document{Path: "/c.json", Text: []byte(g.File)}
	}
	for k, v := range g.Flags {
		src.Flags[k] = []string{v}
	}
	return config.Resolve(src)
}

// TestResolve: each combination gives the endpoint, the model and the key that it should, and withholds other keys.
//
// covers L038 L045 L047 L058 L059 L060 L061 L062
func TestResolve(t *testing.T) {
	text, err := os.ReadFile("testdata/endpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []given
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			c, err := tt.resolve()
			if tt.Code != "" {
				var e *config.Error
				if !errors.As(err, &e) || e.Code != tt.Code || e.OnCommandLine() != tt.Usage {
					t.Fatalf("error = %+v, want %s", err, tt.Code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Provider != tt.Provider || c.BaseURL.Value != tt.URL || c.Model.Value != tt.Model || c.APIKey.Value != tt.Key ||
				len(c.Notices) != tt.Notices || len(c.Withheld) != tt.Withheld {
				t.Errorf("got %s %s %q key %q, notices %v, withheld %v", c.Provider, c.BaseURL.Value, c.Model.Value, c.APIKey.Value, c.Notices, c.Withheld)
			}
			if tt.From != "" && c.APIKey.Source.String() != tt.From {
				t.Errorf("key from %q, want %q", c.APIKey.Source, tt.From)
			}
			for _, s := range c.Withheld {
				if s.Value != "" || len(s.List) > 0 {
					t.Errorf("a withheld key travels on: %+v", s)
				}
			}
		})
	}
}

// TestProvenance: every key says where its value came from and what that has overridden.
//
// covers L046 L048 L070 L079
func TestProvenance(t *testing.T) {
	c, err := config.Resolve(config.Sources{
		User: &config.Document{Path: "/c.json", Text: []byte(`// mine
{
	"model": "a/b", /* a comment */
	"max_steps": 5,
	"temperature": 0.5,
	"timeout": "90s",
	"stream": false,
	"deny": ["run_command(rm:*)"],
	"retention": {"captures_max": "500MB"},
	"api_key": "${K}-$${K}",
	"base_url": "http://127.0.0.1:1/v1",
}`)},
		Project: &config.Document{Path: "/p.json", Text: []byte(`{"deny": ["write_file(a)", "${K}"], "allow": ["*"], "permission": "full", "base_url": "http://evil.example", "providers": {"x": {}}, "newer": 1}`)},
		Env:     env(m{"K": "key", "OVERT_MAX_STEPS": "6", "OVERT_DENY": "read_file(b)\n\nread_file(c)", "OVERT_RETRIES": "0"}),
		Flags:   map[string][]string{"max_steps": {"7"}, "allow": {"read_file(*)"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range c.Settings {
		text := s.Value
		if len(s.List) > 0 {
			text = strings.Join(s.List, "+")
		}
		text += " @ " + s.Source.String()
		for _, o := range s.Over {
			text += " > " + o.Value + " @ " + o.Source.String()
		}
		got[s.Key] += "|" + text
	}
	wanted := m{
		"model":                  "|a/b @ /c.json:3",
		"max_steps":              "|7 @ flag --max-steps > 6 @ environment OVERT_MAX_STEPS > 5 @ /c.json:4 > 0 @ built-in",
		"temperature":            "|0.5 @ /c.json:5",
		"timeout":                "|90s @ /c.json:6 > 0 @ built-in",
		"stream":                 "|false @ /c.json:7 > true @ built-in",
		"retries":                "|0 @ environment OVERT_RETRIES > 2 @ built-in",
		"permission":             "|ask @ built-in",
		"allow":                  "|read_file(*) @ flag --allow",
		"deny":                   "|read_file(b)+read_file(c) @ environment OVERT_DENY|write_file(a)+${K} @ /p.json:1|run_command(rm:*) @ /c.json:8",
		"retention.captures_max": "|500MB @ /c.json:9 > 2GB @ built-in",
		"api_key":                "|key-${K} @ /c.json:10",
		"base_url":               "|http://127.0.0.1:1/v1 @ /c.json:11",
	}
	for key, want := range wanted {
		if got[key] != want {
			t.Errorf("%s: %s\nwant %s", key, got[key], want)
		}
	}
	if c.MaxSteps != 7 || c.Retries != 0 || *c.Temperature != 0.5 || c.Timeout.Seconds() != 90 || c.Stream || c.CapturesMax != 500<<20 || !slices.Equal(c.Tools, []string{"core"}) {
		t.Errorf("%+v", c)
	}
	if got := strings.Join(c.Ignored, " "); got != "allow permission base_url providers newer" {
		t.Errorf("ignored %s", got)
	}
}

// TestFileErrors: what is wrong with a file is told with line and column, and the rest of it counts.
//
// covers L070
func TestFileErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		at   string
		code string
	}{
		"broken":             {"{\n  \"model\": \"x\",\n  \"max_steps\" 5\n}", "/c.json:3:15: ", "config.file.syntax"},
		"cut":                {"{\n  \"model\": \"x", "", "config.file.syntax"},
		"no object":          {"[1]", "/c.json:1:1: ", "config.file.object"},
		"unknown":            {"{\n\t\"modle\": \"x\"}", "/c.json:2:2: ", "config.file.unknown.like"},
		"unlike any":         {`{"colour_of_the_sky": 1}`, "/c.json:1:2: ", "config.file.unknown"},
		"twice":              {`{"model": "a", "model": "b"}`, "/c.json:1:16: ", "config.file.twice"},
		"a text for a count": {`{"max_steps": "5"}`, "/c.json:1:15: ", "config.file.type"},
		"a count too large":  {`{"retries": 50}`, "/c.json:1:13: ", "config.value"},
		"a fraction":         {`{"max_steps": 1.5}`, "/c.json:1:15: ", "config.value"},
		"no list":            {`{"deny": "x"}`, "/c.json:1:10: ", "config.file.type"},
		"an empty command":   {`{"api_key_command": []}`, "/c.json:1:21: ", "config.file.type"},
		"two keys":           {`{"api_key": "a", "api_key_command": ["b"]}`, "/c.json:1:37: ", "config.file.two_keys"},
		"an unset variable":  {`{"api_key": "${NOT_SET}"}`, "/c.json:1:13: ", "config.file.variable"},
		"a bad base URL":     {`{"base_url": "example.org"}`, "/c.json:1:14: ", "config.base_url"},
		"wide characters":    {`{/* 漢字 */ "modle": 1}`, "/c.json:1:11: ", "config.file.unknown.like"},
		"an entry's name":    {`{"providers": {"A B": {"base_url": "http://x"}}}`, "/c.json:1:16: ", "config.file.entry_name"},
		"an entry's key":     {`{"providers": {"a": {"base_url": "http://x", "tools": true}}}`, "/c.json:1:46: ", "config.file.entry_key"},
		"an entry's URL":     {`{"providers": {"a": {"model": "x"}}}`, "/c.json:1:16: ", "config.file.entry_url"},
		"an entry's two":     {`{"providers": {"a": {"base_url": "http://x", "api_key": "1", "api_key_command": ["x"]}}}`, "/c.json:1:16: ", "config.file.two_keys"},
		"a dotted key":       {`{"retention.captures_age": "1h"}`, "/c.json:1:2: ", "config.file.unknown.like"},
		"after wide letters": {`{"system": "你好你好", "model" "x"}`, "/c.json:1:28: ", "config.file.syntax"},
		"no section":         {`{"retention": 5}`, "/c.json:1:2: ", "config.file.unknown.like"},
		"no such section":    {`{"retention": {"x": 5}}`, "/c.json:1:16: ", "config.file.unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := given{File: tt.text, Env: m{"DEEPSEEK_API_KEY": "d"}}.resolve()
			var e *config.Error
			if !errors.As(err, &e) || e.Code != tt.code || tt.at != "" && e.At() != tt.at || e.OnCommandLine() {
				t.Fatalf("%v (at %s)", err, e.At())
			}
			if c == nil || c.Provider == "" {
				t.Errorf("nothing else was resolved: %+v", c)
			}
		})
	}
}

// TestToolSets: the sets of tools can be said in any form, on any layer, and the line that is at fault is named.
func TestToolSets(t *testing.T) {
	key := m{"OVERT_API_KEY": "k"}
	with := func(value string) m { return m{"OVERT_API_KEY": "k", "OVERT_TOOLS": value} }
	for name, x := range map[string]struct {
		file  string
		env   m
		flags map[string][]string
		want  []string
		from  string
	}{
		"built in":               {`{}`, key, nil, []string{"core"}, "built-in"},
		"a list":                 {`{"tools": ["git", "core", "git"]}`, key, nil, []string{"core", "git"}, "/c.json:1"},
		"an empty list":          {`{"tools": []}`, key, nil, nil, "/c.json:1"},
		"a text":                 {`{"tools": "system, core"}`, key, nil, []string{"core", "system"}, "/c.json:1"},
		"off":                    {`{"tools": false}`, key, nil, nil, "/c.json:1"},
		"on":                     {`{"tools": true}`, key, nil, []string{"core"}, "/c.json:1"},
		"a variable over a file": {`{"tools": false}`, with("patch"), nil, []string{"patch"}, "environment OVERT_TOOLS"},
		"a variable that is off": {`{}`, with("0"), nil, nil, "environment OVERT_TOOLS"},
		"a flag over a variable": {`{}`, with("patch"), map[string][]string{"tools": {"git", "core,patch,git,system"}}, config.ToolSets(), "flag --tools"},
		"the other flag":         {`{}`, with("patch"), map[string][]string{"tools": {"core", "false"}}, nil, "flag --no-tools"},
	} {
		c, err := config.Resolve(config.Sources{User: &config.Document{Path: "/c.json", Text: []byte(x.file)}, Env: env(x.env), Flags: x.flags})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(c.Tools, x.want) {
			t.Errorf("%s: %q, want %q", name, c.Tools, x.want)
		}
		for _, s := range c.Settings {
			if s.Key == config.Tools && s.Source.String() != x.from {
				t.Errorf("%s: from %s, want %s", name, s.Source, x.from)
			}
		}
	}
	for name, x := range map[string]struct {
		file  string
		env   m
		flags map[string][]string
		usage bool
	}{
		"flag":     {`{}`, key, map[string][]string{"tools": {"core,web"}}, true},
		"empty":    {`{}`, key, map[string][]string{"tools": {""}}, true},
		"variable": {`{}`, with("core,,git"), nil, false},
		"file":     {`{"tools": ["Core"]}`, key, nil, false},
		"form":     {`{"tools": [1]}`, key, nil, false},
	} {
		_, err := config.Resolve(config.Sources{User: &config.Document{Path: "/c.json", Text: []byte(x.file)}, Env: env(x.env), Flags: x.flags})
		e, ok := errors.AsType[*config.Error](err)
		if !ok || e.OnCommandLine() != x.usage || !strings.Contains(e.Error(), "core, patch, git, system") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
