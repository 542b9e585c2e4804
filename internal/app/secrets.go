package app

import (
	"net/url"
	"path/filepath"
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
		mask.AddShort("api key", c.APIKey.Value)
		for _, e := range c.Providers {
			mask.AddShort("api key", e.APIKey.Value)
		}
		learnURL(mask, c.BaseURL.Value)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if secretName(name) && !filepath.IsAbs(value) {
			mask.Add(name, value)
		}
	}
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
