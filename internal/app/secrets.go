package app

import (
	"net/url"
	"path/filepath"
	"strings"

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

// learnSecrets makes known to the masker what must not be written or shown.
func (a *App) learnSecrets() {
	c := a.o.Config
	a.mask.AddShort("api key", c.APIKey.Value)
	if u, err := url.Parse(c.BaseURL.Value); err == nil {
		a.mask.AddShort("base URL", u.User.Username()) // some services take the key as a user name
		if pw, ok := u.User.Password(); ok {
			a.mask.AddShort("base URL", pw)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				a.mask.AddShort("base URL "+name, v)
			}
		}
	}
	learnEnv(a.mask, a.o.Env)
}

// learnEnv makes the secrets of an environment known to a masker.
func learnEnv(mask *redact.Masker, env []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if secretName(name) && !filepath.IsAbs(value) {
			mask.Add(name, value)
		}
	}
}
