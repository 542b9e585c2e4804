package app

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/config"
	"overt/internal/redact"
)

// secretName tells whether the value of a variable is likely a secret. No pattern: compiling it costs every start.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, end := range []string{
		"API_KEY", "APIKEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY", "AUTH_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PGPASS",
	} {
		if head, ok := strings.CutSuffix(name, end); ok && (head == "" || strings.HasSuffix(head, "_")) {
			return true
		}
	}
	return false
}

// learnSecrets makes known to a masker what must not be written or shown: of the settings, where there are any, and of the
// environment.
func learnSecrets(mask *redact.Masker, c *config.Config, env []string) {
	if c != nil {
		for _, s := range said(c) {
			switch {
			case strings.HasSuffix(s.Key, config.APIKey):
				mask.AddShort("api key", s.Value)
			case strings.HasSuffix(s.Key, config.BaseURL):
				learnURL(mask, s.Value)
			}
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if secretName(name) && !filepath.IsAbs(value) {
			mask.Add(name, value)
		}
	}
}

// said is every value of the settings, in force or not: a key that is withheld is as secret as the one in use.
func said(c *config.Config) []config.Setting {
	out := []config.Setting{c.APIKey, c.BaseURL}
	for _, s := range c.Settings {
		out = append(append(out, s.Setting), s.Over...)
	}
	for _, e := range c.Providers {
		out = append(out, e.APIKey, e.BaseURL)
	}
	return out
}

// withoutKeys leaves out the variables whose values are keys of the settings, whatever they are called: a file may name any of
// them by ${…}, and a command needs none.
func withoutKeys(env []string, c *config.Config) []string {
	keys := map[string]bool{}
	for _, s := range said(c) {
		if strings.HasSuffix(s.Key, config.APIKey) && s.Value != "" {
			keys[s.Value] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		_, value, _ := strings.Cut(kv, "=")
		return keys[value]
	})
}

// learnURL makes known what is secret in an address: some services take the key as a user name.
func learnURL(mask *redact.Masker, raw string) {
	u, err := url.Parse(raw)
	if err != nil {
		return
	}
	mask.AddShort("base URL", u.User.Username())
	if pw, ok := u.User.Password(); ok {
		mask.AddShort("base URL", pw)
	}
	for name, values := range u.Query() {
		for _, v := range values {
			mask.AddShort("base URL "+name, v)
		}
	}
}
