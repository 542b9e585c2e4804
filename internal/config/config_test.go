package config_test

import (
	"errors"
	"strings"
	"testing"

	"overt/internal/config"
)

type m = map[string]string

func env(vars m) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// given is one case: what each layer says, and what comes of it.
type given struct {
	file       string
	env, flags m

	provider, url, model, key string
	from                      string // the source of the key
	withheld                  int
	notices                   int
	code                      string // of the error
	usage                     bool
}

func (g given) resolve() (*config.Config, error) {
	src := config.Sources{Env: env(g.env), Flags: map[string][]string{}}
	if g.file != "" {
		src.User = &config.Document{Path: "/c.json", Text: []byte(g.file)}
	}
	for k, v := range g.flags {
		src.Flags[k] = []string{v}
	}
	return config.Resolve(src)
}

// endpoints are the ways in which file, variables and flags choose an endpoint and its key.
func endpoints() map[string]given {
	const deepseek, openai, local = "https://api.deepseek.com/v1", "https://api.openai.com/v1", "http://127.0.0.1:8080/v1"
	return map[string]given{
		// vendors' variables
		"nothing":                 {code: "config.no_key"},
		"a vendor's key":          {env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "d", from: "environment DEEPSEEK_API_KEY"},
		"an empty variable":       {env: m{"DEEPSEEK_API_KEY": "", "OPENAI_API_KEY": "o"}, provider: "openai", url: openai, model: "gpt-5.6-sol", key: "o", from: "environment OPENAI_API_KEY"},
		"two vendors' keys":       {env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "d", from: "environment DEEPSEEK_API_KEY", notices: 1, withheld: 1},
		"three vendors' keys":     {env: m{"XAI_API_KEY": "x", "GROQ_API_KEY": "g", "OPENAI_API_KEY": "o"}, provider: "openai", url: openai, model: "gpt-5.6-sol", key: "o", notices: 2, withheld: 2},
		"a vendor named":          {flags: m{"model": "openai/gpt-5.6"}, env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "openai", url: openai, model: "gpt-5.6", key: "o", from: "environment OPENAI_API_KEY", withheld: 1},
		"a vendor by variable":    {env: m{"OVERT_MODEL": "groq/x/y", "GROQ_API_KEY": "g"}, provider: "groq", url: "https://api.groq.com/openai/v1", model: "x/y", key: "g"},
		"a vendor without model":  {flags: m{"model": "mistral/"}, env: m{"MISTRAL_API_KEY": "k"}, provider: "mistral", url: "https://api.mistral.ai/v1", model: "mistral-medium-latest", key: "k"},
		"a vendor without key":    {flags: m{"model": "openai/gpt-5.6"}, env: m{"DEEPSEEK_API_KEY": "d"}, code: "config.preset_key", withheld: 1},
		"a model of the vendor":   {flags: m{"model": "deepseek-v4-pro"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-v4-pro", key: "d"},
		"a slash of no provider":  {flags: m{"model": "qwen/qwen3"}, env: m{"OPENROUTER_API_KEY": "r"}, provider: "openrouter", url: "https://openrouter.ai/api/v1", model: "qwen/qwen3", key: "r"},
		"a local preset":          {flags: m{"model": "ollama/qwen3:8b"}, env: m{"OPENAI_API_KEY": "o"}, provider: "ollama", url: "http://127.0.0.1:11434/v1", model: "qwen3:8b", withheld: 1},
		"a local preset moved":    {flags: m{"model": "ollama/q"}, env: m{"OLLAMA_HOST": "0.0.0.0:1234"}, provider: "ollama", url: "http://127.0.0.1:1234/v1", model: "q"},
		"one that can't be moved": {flags: m{"model": "ollama/q"}, env: m{"OLLAMA_HOST": "://"}, provider: "ollama", url: "http://127.0.0.1:11434/v1", model: "q"},

		// keys for this run
		"our variable before the vendor's": {env: m{"DEEPSEEK_API_KEY": "d", "OVERT_API_KEY": "k"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "k", from: "environment OVERT_API_KEY"},
		"a flag before all":                {flags: m{"api_key": "f"}, env: m{"DEEPSEEK_API_KEY": "d", "OVERT_API_KEY": "k"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "f", from: "flag --api-key"},
		"a key alone":                      {env: m{"OVERT_API_KEY": "k"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "k", from: "environment OVERT_API_KEY"},
		"a key for a URL":                  {flags: m{"base_url": local, "api_key": "k"}, provider: "127.0.0.1", url: local, key: "k", from: "flag --api-key"},
		"a flag before the file":           {file: `{"base_url": "https://a.example/v1", "api_key": "f"}`, flags: m{"api_key": "k"}, provider: "a.example", url: "https://a.example/v1", key: "k", from: "flag --api-key"},

		// base URLs by flag and variable
		"a local server":             {flags: m{"base_url": local, "model": "qwen/qwen3"}, provider: "127.0.0.1", url: local, model: "qwen/qwen3"},
		"a URL and a preset's name":  {flags: m{"base_url": local, "model": "openai/gpt-oss"}, provider: "127.0.0.1", url: local, model: "openai/gpt-oss"},
		"a URL by variable":          {env: m{"OVERT_BASE_URL": "http://localhost:1/v1", "OVERT_MODEL": "x"}, provider: "localhost", url: "http://localhost:1/v1", model: "x"},
		"a flag before a variable":   {env: m{"OVERT_BASE_URL": "http://localhost:1/v1"}, flags: m{"base_url": local}, provider: "127.0.0.1", url: local},
		"vendor keys stay at home":   {flags: m{"base_url": "https://example.org/v1"}, env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "example.org", url: "https://example.org/v1", withheld: 2},
		"a look-alike gets no key":   {flags: m{"base_url": "https://api.deepseek.com.example.org/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com.example.org", url: "https://api.deepseek.com.example.org/v1", withheld: 1},
		"a user name is no host":     {flags: m{"base_url": "https://api.deepseek.com@example.org/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "example.org", url: "https://api.deepseek.com@example.org/v1", withheld: 1},
		"nor does plain http":        {flags: m{"base_url": "http://api.deepseek.com/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com", url: "http://api.deepseek.com/v1", withheld: 1},
		"nor another port":           {flags: m{"base_url": "https://api.deepseek.com:8443/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com", url: "https://api.deepseek.com:8443/v1", withheld: 1},
		"the usual port is the same": {flags: m{"base_url": "https://API.deepseek.com:443/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: "https://API.deepseek.com:443/v1", key: "d"},
		"the vendor's own address":   {flags: m{"base_url": "https://api.deepseek.com/beta"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: "https://api.deepseek.com/beta", key: "d", from: "environment DEEPSEEK_API_KEY"},
		"the vendor's other region":  {flags: m{"base_url": "https://api.moonshot.cn/v1"}, env: m{"MOONSHOT_API_KEY": "k"}, provider: "moonshot", url: "https://api.moonshot.cn/v1", key: "k"},
		"a vendor's address, no key": {flags: m{"base_url": "https://api.x.ai/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, code: "config.preset_key", withheld: 1},
		"no URL at all":              {flags: m{"base_url": "localhost:8080"}, code: "config.base_url", usage: true},
		"no http":                    {env: m{"OVERT_BASE_URL": "ftp://example.org"}, code: "config.base_url"},

		// OPENAI_BASE_URL
		"OPENAI_BASE_URL and its key":    {env: m{"OPENAI_BASE_URL": "https://gw.example/v1", "OPENAI_API_KEY": "o"}, provider: "openai", url: "https://gw.example/v1", key: "o", from: "environment OPENAI_API_KEY"},
		"OPENAI_BASE_URL alone":          {env: m{"OPENAI_BASE_URL": local}, provider: "openai", url: local},
		"it moves no other vendor":       {env: m{"OPENAI_BASE_URL": local, "DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "d", notices: 1},
		"nor a URL that is configured":   {env: m{"OPENAI_BASE_URL": local, "OPENAI_API_KEY": "o"}, flags: m{"base_url": "https://example.org/v1"}, provider: "example.org", url: "https://example.org/v1", withheld: 1},
		"nor one in the file":            {env: m{"OPENAI_BASE_URL": local, "OPENAI_API_KEY": "o"}, file: `{"base_url": "https://example.org/v1"}`, provider: "example.org", url: "https://example.org/v1", withheld: 1},
		"its key stays with it":          {env: m{"OPENAI_BASE_URL": "https://gw.example/v1", "OPENAI_API_KEY": "o"}, flags: m{"base_url": openai}, code: "config.preset_key", withheld: 1},
		"OpenAI's own address in it":     {env: m{"OPENAI_BASE_URL": openai + "/", "OPENAI_API_KEY": "o"}, provider: "openai", url: openai + "/", model: "gpt-5.6-sol", key: "o"},
		"one that is no address":         {env: m{"OPENAI_BASE_URL": "gw.example", "OPENAI_API_KEY": "o"}, code: "config.base_url"},
		"the vendor named, moved":        {env: m{"OPENAI_BASE_URL": local, "DEEPSEEK_API_KEY": "d"}, flags: m{"model": "openai/x"}, provider: "openai", url: local, model: "x", withheld: 1},
		"a stale one of another program": {env: m{"OPENAI_BASE_URL": "gw.example", "DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "d"},

		// the file
		"a URL in the file":              {file: `{"base_url": "https://a.example/v1", "api_key": "f", "model": "x"}`, provider: "a.example", url: "https://a.example/v1", model: "x", key: "f", from: "/c.json:1"},
		"a variable before the file":     {file: `{"model": "x", "base_url": "https://a.example/v1"}`, env: m{"OVERT_MODEL": "y"}, provider: "a.example", url: "https://a.example/v1", model: "y"},
		"the file's key before vendors'": {file: `{"api_key": "f"}`, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "f", from: "/c.json:1"},
		"a key alone in the file":        {file: `{"api_key": "f"}`, env: m{"OPENAI_API_KEY": "o"}, provider: "deepseek", url: deepseek, model: "deepseek-flash", key: "f", withheld: 1},
		"the file's key stays at home":   {file: `{"base_url": "https://a.example/v1", "api_key": "f"}`, flags: m{"base_url": "https://b.example/v1"}, provider: "b.example", url: "https://b.example/v1", withheld: 1},
		"also from a variable's host":    {file: `{"api_key": "f"}`, env: m{"OVERT_BASE_URL": local}, provider: "127.0.0.1", url: local, withheld: 1},
		"and from another vendor":        {file: `{"model": "openai/x", "api_key": "f"}`, flags: m{"model": "deepseek/x"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "x", key: "d", withheld: 1},
		"another path is the same host":  {file: `{"base_url": "https://a.example/v1", "api_key": "f"}`, flags: m{"base_url": "https://a.example/v2"}, provider: "a.example", url: "https://a.example/v2", key: "f"},
		"a key from a variable":          {file: `{"base_url": "https://a.example/v1", "api_key": "${MINE}"}`, env: m{"MINE": "v"}, provider: "a.example", url: "https://a.example/v1", key: "v"},
		"a vendor named in the file":     {file: `{"model": "xai/grok-4.6"}`, env: m{"XAI_API_KEY": "x", "DEEPSEEK_API_KEY": "d"}, provider: "xai", url: "https://api.x.ai/v1", model: "grok-4.6", key: "x", withheld: 1},

		// entries of providers
		"an entry":                      {file: `{"model": "work/x", "providers": {"work": {"base_url": "https://w.example/v1", "api_key": "w"}}}`, provider: "work", url: "https://w.example/v1", model: "x", key: "w"},
		"its own model":                 {file: `{"model": "work/", "providers": {"work": {"base_url": "https://w.example/v1", "model": "y"}}}`, provider: "work", url: "https://w.example/v1", model: "y"},
		"an entry by its address":       {file: `{"providers": {"work": {"base_url": "https://w.example/v1", "api_key": "w"}}}`, flags: m{"base_url": "https://w.example/v1"}, provider: "work", url: "https://w.example/v1", key: "w"},
		"an entry keeps its key":        {file: `{"providers": {"work": {"base_url": "https://w.example/v1", "api_key": "w"}}}`, flags: m{"base_url": "https://v.example/v1"}, provider: "v.example", url: "https://v.example/v1", withheld: 1},
		"an entry for a preset":         {file: `{"providers": {"groq": {"api_key": "g"}}}`, flags: m{"model": "groq/x"}, provider: "groq", url: "https://api.groq.com/openai/v1", model: "x", key: "g", from: "/c.json:1"},
		"an entry moves a preset":       {file: `{"providers": {"groq": {"base_url": "https://gw.example/v1"}}}`, flags: m{"model": "groq/x"}, env: m{"GROQ_API_KEY": "g"}, provider: "groq", url: "https://gw.example/v1", model: "x", withheld: 1},
		"an entry chosen by a variable": {file: `{"providers": {"deepseek": {"model": "deepseek-v4-pro"}}}`, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: deepseek, model: "deepseek-v4-pro", key: "d"},
		"two entries":                   {file: `{"model": "b/x", "providers": {"a": {"base_url": "https://a.example", "api_key": "A"}, "b": {"base_url": "https://b.example", "api_key": "B"}}}`, provider: "b", url: "https://b.example", model: "x", key: "B", withheld: 1},

		// values
		"a bad profile, by flag":     {flags: m{"permission": "yolo"}, code: "config.value", usage: true},
		"a bad profile, by variable": {env: m{"OVERT_PERMISSION": "yolo"}, code: "config.value"},
		"a bad output":               {flags: m{"output": "xml"}, code: "config.value", usage: true},
		"a bad protocol":             {flags: m{"protocol": "smtp"}, code: "config.value", usage: true},
		"a bad number":               {flags: m{"max_steps": "-1"}, code: "config.value", usage: true},
		"too many retries":           {flags: m{"retries": "21"}, code: "config.value", usage: true},
		"too hot":                    {flags: m{"temperature": "2.5"}, code: "config.value", usage: true},
		"too short":                  {flags: m{"timeout": "10ms"}, code: "config.value", usage: true},
		"not a number":               {env: m{"OVERT_MAX_STEPS": "many"}, code: "config.value"},
		"not a truth":                {env: m{"OVERT_STREAM": "maybe"}, code: "config.value"},
	}
}

// TestResolve: each combination gives the endpoint, the model and the key that it should, and withholds other keys.
//
// covers L038 L045 L047 L058 L059 L060 L061 L062
func TestResolve(t *testing.T) {
	cases := endpoints()
	if len(cases) < 60 {
		t.Errorf("%d combinations", len(cases))
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := tt.resolve()
			if len(c.Withheld) != tt.withheld && tt.code == "" {
				t.Errorf("withheld %v, want %d", c.Withheld, tt.withheld)
			}
			if tt.code != "" {
				var e *config.Error
				if !errors.As(err, &e) || e.Code != tt.code || e.OnCommandLine() != tt.usage {
					t.Fatalf("error = %+v, want %s", err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Provider != tt.provider || c.BaseURL.Value != tt.url || c.Model.Value != tt.model || c.APIKey.Value != tt.key || len(c.Notices) != tt.notices {
				t.Errorf("got %s %s %q key %q, notices %v", c.Provider, c.BaseURL.Value, c.Model.Value, c.APIKey.Value, c.Notices)
			}
			if tt.from != "" && c.APIKey.Source.String() != tt.from {
				t.Errorf("key from %q, want %q", c.APIKey.Source, tt.from)
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
	"retention": {"captures_max": "500MB", "backups": 1},
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
		"deny":                   "|read_file(b)+read_file(c) @ environment OVERT_DENY|run_command(rm:*) @ /c.json:8|write_file(a)+${K} @ /p.json:1",
		"retention.captures_max": "|500MB @ /c.json:9 > 2GB @ built-in",
		"retention.backups":      "|1 @ /c.json:9 > 3 @ built-in",
		"api_key":                "|key-${K} @ /c.json:10",
		"base_url":               "|http://127.0.0.1:1/v1 @ /c.json:11",
	}
	for key, want := range wanted {
		if got[key] != want {
			t.Errorf("%s: %s\nwant %s", key, got[key], want)
		}
	}
	if c.MaxSteps != 7 || c.Retries != 0 || *c.Temperature != 0.5 || c.Timeout.Seconds() != 90 || c.Stream || c.CapturesMax != 500<<20 || c.Backups != 1 || !c.Tools {
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
		"two keys":           {`{"api_key": "a", "api_key_command": ["b"]}`, "/c.json:1:1: ", "config.file.two_keys"},
		"an unset variable":  {`{"api_key": "${NOT_SET}"}`, "/c.json:1:13: ", "config.file.variable"},
		"a bad base URL":     {`{"base_url": "example.org"}`, "/c.json:1:14: ", "config.base_url"},
		"wide characters":    {`{/* 漢字 */ "modle": 1}`, "/c.json:1:11: ", "config.file.unknown.like"},
		"an entry's name":    {`{"providers": {"A B": {"base_url": "http://x"}}}`, "/c.json:1:16: ", "config.file.entry_name"},
		"an entry's key":     {`{"providers": {"a": {"base_url": "http://x", "tools": true}}}`, "/c.json:1:46: ", "config.file.entry_key"},
		"an entry's URL":     {`{"providers": {"a": {"model": "x"}}}`, "/c.json:1:16: ", "config.file.entry_url"},
		"an entry's two":     {`{"providers": {"a": {"base_url": "http://x", "api_key": "1", "api_key_command": ["x"]}}}`, "/c.json:1:16: ", "config.file.two_keys"},
		"no section":         {`{"retention": 5}`, "/c.json:1:2: ", "config.file.unknown"},
		"no such section":    {`{"retention": {"x": 5}}`, "/c.json:1:16: ", "config.file.unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := given{file: tt.text, env: m{"DEEPSEEK_API_KEY": "d"}}.resolve()
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
