package config_test

import (
	"errors"
	"testing"

	"overt/internal/config"
)

func TestResolve(t *testing.T) {
	type m = map[string]string
	tests := map[string]struct {
		flags, env                m
		provider, url, model, key string
		keySource                 string
		notices                   int
		code                      string
		usage                     bool
	}{
		"nothing":                     {code: "config.no_key"},
		"a vendor's key":              {env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: "https://api.deepseek.com/v1", model: "deepseek-flash", key: "d", keySource: "environment DEEPSEEK_API_KEY"},
		"two vendors' keys":           {env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "deepseek", url: "https://api.deepseek.com/v1", model: "deepseek-flash", key: "d", keySource: "environment DEEPSEEK_API_KEY", notices: 1},
		"a vendor named":              {flags: m{"model": "openai/gpt-5.6"}, env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "openai", url: "https://api.openai.com/v1", model: "gpt-5.6", key: "o", keySource: "environment OPENAI_API_KEY"},
		"a vendor named without key":  {flags: m{"model": "openai/gpt-5.6"}, env: m{"DEEPSEEK_API_KEY": "d"}, code: "config.preset_key"},
		"our key before the vendor's": {env: m{"DEEPSEEK_API_KEY": "d", "OVERT_API_KEY": "k"}, provider: "deepseek", url: "https://api.deepseek.com/v1", model: "deepseek-flash", key: "k", keySource: "environment OVERT_API_KEY"},
		"a flag before all":           {flags: m{"api_key": "f"}, env: m{"DEEPSEEK_API_KEY": "d", "OVERT_API_KEY": "k"}, provider: "deepseek", url: "https://api.deepseek.com/v1", model: "deepseek-flash", key: "f", keySource: "flag --api-key"},
		"a key alone":                 {env: m{"OVERT_API_KEY": "k"}, provider: "deepseek", url: "https://api.deepseek.com/v1", model: "deepseek-flash", key: "k", keySource: "environment OVERT_API_KEY"},
		"a local server":              {flags: m{"base_url": "http://127.0.0.1:8080/v1", "model": "qwen/qwen3"}, provider: "127.0.0.1", url: "http://127.0.0.1:8080/v1", model: "qwen/qwen3"},
		"vendor keys stay at home":    {flags: m{"base_url": "https://example.org/v1"}, env: m{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, provider: "example.org", url: "https://example.org/v1"},
		"a look-alike gets no key":    {flags: m{"base_url": "https://api.deepseek.com.example.org/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com.example.org", url: "https://api.deepseek.com.example.org/v1"},
		"nor does plain http":         {flags: m{"base_url": "http://api.deepseek.com/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com", url: "http://api.deepseek.com/v1"},
		"nor another port":            {flags: m{"base_url": "https://api.deepseek.com:8443/v1"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "api.deepseek.com", url: "https://api.deepseek.com:8443/v1"},
		"the vendor's own address":    {flags: m{"base_url": "https://api.deepseek.com/beta"}, env: m{"DEEPSEEK_API_KEY": "d"}, provider: "deepseek", url: "https://api.deepseek.com/beta", key: "d", keySource: "environment DEEPSEEK_API_KEY"},
		"a URL by variable":           {env: m{"OVERT_BASE_URL": "http://localhost:1/v1", "OVERT_MODEL": "x"}, provider: "localhost", url: "http://localhost:1/v1", model: "x"},
		"no URL at all":               {flags: m{"base_url": "localhost:8080"}, code: "config.base_url", usage: true},
		"a bad profile, by flag":      {flags: m{"permission": "yolo"}, code: "config.one_of", usage: true},
		"a bad profile, by variable":  {env: m{"OVERT_PERMISSION": "yolo"}, code: "config.one_of"},
		"a bad output":                {flags: m{"output": "xml"}, code: "config.one_of", usage: true},
		"a bad protocol":              {flags: m{"protocol": "smtp"}, code: "config.one_of", usage: true},
		"a bad number":                {flags: m{"max_steps": "-1"}, code: "config.number", usage: true},
		"not a number":                {env: m{"OVERT_MAX_STEPS": "many"}, code: "config.number"},
		"not a truth":                 {env: m{"OVERT_STREAM": "maybe"}, code: "config.bool"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := config.Resolve(tt.flags, func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok })
			if tt.code != "" {
				var e *config.Error
				if !errors.As(err, &e) || e.Code != tt.code || e.Usage != tt.usage {
					t.Fatalf("error = %+v, want %s", err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Provider != tt.provider || c.BaseURL.Value != tt.url || c.Model.Value != tt.model || c.APIKey.Value != tt.key || len(c.Notices) != tt.notices {
				t.Errorf("got %+v", c)
			}
			if tt.keySource != "" && c.APIKey.Source != tt.keySource {
				t.Errorf("key from %q, want %q", c.APIKey.Source, tt.keySource)
			}
		})
	}
}
