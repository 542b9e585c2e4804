package config_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"overt/internal/config"
)

func resolve(file string, vars m, flags m) (*config.Config, error) {
	return given{File: file, Env: vars, Flags: flags}.resolve()
}

// TestEntryOverrides: what an entry says stands over the rest of the file, and under what was said for this run.
//
// covers L049 L050 F133
func TestEntryOverrides(t *testing.T) {
	const file = `{
		"thinking": true, "effort": "low", "retries": 1, "request_timeout": "1m",
		"providers": {"here": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "effort": "high", "retries": 5, "idle_timeout": "7m",
			"proxy": "socks5://u:p@127.0.0.1:1080", "ca_file": "ca.pem", "http1": true, "protocol": "anthropic-messages",
			"headers": {"X-Team": "${TEAM}", "authorization": "Bearer abc"}, "quirks": {"limit_field": "none", /* said */ "efforts": ["low"],}}}}`
	c, err := resolve(file, m{"TEAM": "blue"}, m{config.Model: "here/m"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Thinking != "on" || c.Effort != "high" || c.Retries != 5 || c.IdleTimeout != 7*time.Minute || c.RequestTimeout != time.Minute || !c.HTTP1 {
		t.Errorf("%q %q %d %s %s %v", c.Thinking, c.Effort, c.Retries, c.IdleTimeout, c.RequestTimeout, c.HTTP1)
	}
	if c.Protocol.Value != "anthropic-messages" || c.Proxy.Value != "socks5://u:p@127.0.0.1:1080" || c.CAFile.Value != "ca.pem" {
		t.Errorf("%q %q %q", c.Protocol.Value, c.Proxy.Value, c.CAFile.Value)
	}
	var headers []string
	for _, h := range c.Headers {
		headers = append(headers, h.Key+"="+h.Value)
	}
	if got := strings.Join(headers, " "); got != "providers.here.headers.X-Team=blue providers.here.headers.Authorization=Bearer abc" {
		t.Errorf("headers %q", got)
	}
	if got := c.Quirks.Value; got != `{"limit_field":"none","efforts":["low"]}` {
		t.Errorf("profile %s", got)
	}
	for _, s := range c.Settings {
		if s.Key == config.Effort && (s.Value != "high" || len(s.Over) != 2 || s.Over[0].Value != "low") {
			t.Errorf("explained %+v", s)
		}
	}

	c, err = resolve(file, m{"TEAM": "blue", "OVERT_EFFORT": "max", "OVERT_THINKING": "false"}, m{config.Model: "here/m"})
	if err != nil || c.Effort != "max" || c.Thinking != "off" {
		t.Errorf("%q %q %v", c.Effort, c.Thinking, err)
	}
	c, err = resolve(file, m{"TEAM": "blue", "DEEPSEEK_API_KEY": "k"}, nil)
	if err != nil || len(c.Headers) != 0 || c.Quirks.Value != "" || c.Effort != "low" || c.Retries != 1 || c.Protocol.Value != "openai-chat" {
		t.Errorf("another endpoint gets %+v %q %q %d, %v", c.Headers, c.Quirks.Value, c.Effort, c.Retries, err)
	}
	// The entry's host under another scheme is another endpoint.
	c, _ = resolve(file, m{"TEAM": "blue"}, m{config.BaseURL: "https://127.0.0.1:9/v1", config.Model: "m"})
	if len(c.Headers) != 0 {
		t.Errorf("headers go to another endpoint: %+v", c.Headers)
	}
}

// TestAuto: what is left to the server is nothing.
func TestAuto(t *testing.T) {
	c, err := resolve(`{"thinking": "auto"}`, m{"DEEPSEEK_API_KEY": "k"}, nil)
	if err != nil || c.Thinking != "" || c.Effort != "" {
		t.Errorf("%q %q %v", c.Thinking, c.Effort, err)
	}
}

// TestAnthropic: the preset brings its protocol, which may be said otherwise.
func TestAnthropic(t *testing.T) {
	c, err := resolve("", m{"ANTHROPIC_API_KEY": "sk-ant-1"}, nil)
	if err != nil || c.Protocol.Value != "anthropic-messages" || c.BaseURL.Value != "https://api.anthropic.com/v1" || c.Protocol.Source.String() != "preset anthropic" {
		t.Errorf("%+v %+v %v", c.Protocol, c.BaseURL, err)
	}
	c, err = resolve("", m{"ANTHROPIC_API_KEY": "sk-ant-1", "OVERT_PROTOCOL": "openai-chat"}, nil)
	if err != nil || c.Protocol.Value != "openai-chat" {
		t.Errorf("%+v %v", c.Protocol, err)
	}
	if c, err = resolve("", m{"ANTHROPIC_API_KEY": "sk-ant-1"}, m{config.BaseURL: "http://localhost:1/v1", config.Model: "m"}); err != nil || c.Protocol.Value != "openai-chat" {
		t.Errorf("another endpoint speaks %q, %v", c.Protocol.Value, err)
	}
}

// TestEntryErrors: what can't be taken is told where it stands, without what is secret.
//
// covers F134
func TestEntryErrors(t *testing.T) {
	entry := func(s string) string {
		return "{\"providers\": {\"here\": {\"base_url\": \"http://h/v1\",\n" + s + "}}, \"model\": \"here/m\"}"
	}
	for s, code := range map[string]string{
		`"headers": ["a"]`:                    "config.file.type",
		`"headers": {"Host": "x"}`:            "config.file.header",
		`"headers": {"a b": "x"}`:             "config.file.header",
		`"headers": {"X-A": 1}`:               "config.file.type",
		`"headers": {"X-A": "s3cret\n"}`:      "config.file.header_value",
		`"headers": {"X-A": "${NOT_SET}"}`:    "config.file.variable",
		`"headers": {"X-A": "1", "x-a": "2"}`: "config.file.twice",
		`"quirks": "x"`:                       "config.file.type",
		`"enabled": "no"`:                     "config.file.type",
		`"enabled": false`:                    "config.disabled",
		`"proxy": "ftp://u:s3cret@h"`:         "config.proxy",
		`"proxy": "h:80"`:                     "config.proxy",
		`"effort": "huge"`:                    "config.value",
		`"thinking": "maybe"`:                 "config.value",
		`"protocol": "grpc"`:                  "config.value",
		`"retries": 1, "retries": 2`:          "config.file.twice",
		`"sandbox": false`:                    "config.file.entry_key",
	} {
		c, err := resolve(entry(s), nil, nil)
		e, ok := err.(*config.Error)
		if !ok || e.Code != code || strings.Contains(e.Error(), "s3cret") {
			t.Errorf("%s: %v, want %s", s, err, code)
		}
		if ok && e.Line != 2 && code != "config.disabled" {
			t.Errorf("%s: line %d", s, e.Line)
		}
		if c == nil {
			t.Errorf("%s: no configuration", s)
		}
	}
}

// TestEntrySchema: the schema knows what an entry may have.
func TestEntrySchema(t *testing.T) {
	text, err := config.Schema([]byte(`{"type": "object"}`))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties struct {
			Providers struct {
				AdditionalProperties struct{ Properties map[string]json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"headers", "quirks", "enabled", "proxy", "ca_file", "http1", "thinking", "effort", "idle_timeout"} {
		if s.Properties.Providers.AdditionalProperties.Properties[name] == nil {
			t.Errorf("no %s in the schema of entries", name)
		}
	}
}
