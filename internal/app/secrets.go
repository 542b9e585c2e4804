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
	for _, s := range secrets(c, env) {
		mask.AddShort(s.name, s.value)
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if secretName(name) && !filepath.IsAbs(value) {
			mask.Add(name, value)
		}
	}
}

// secret is a value that is one for certain, and what it is called where it is masked.
type secret struct{ name, value string }

// secrets are the keys and the credentials in addresses of the settings and of the variables that they look at, in force or
// not: a key that is withheld is as secret as the one in use. c may be nil.
func secrets(c *config.Config, env []string) (out []secret) {
	look := map[string]bool{"OPENAI_BASE_URL": true, "OLLAMA_HOST": true, "OVERT_BASE_URL": true, "HTTPS_PROXY": true, "HTTP_PROXY": true, "ALL_PROXY": true}
	keys := map[string]bool{}
	if c != nil {
		all := []config.Setting{c.APIKey, c.BaseURL}
		for _, s := range c.Settings {
			all = append(append(all, s.Setting), s.Over...)
		}
		for _, e := range c.Providers {
			all = append(all, e.APIKey, e.BaseURL)
			for _, h := range e.Headers {
				out = append(out, inHeader(h)...)
			}
		}
		for _, s := range all {
			switch {
			case strings.HasSuffix(s.Key, config.APIKey):
				out = append(out, secret{"api key", s.Value})
			case strings.HasSuffix(s.Key, config.BaseURL), strings.HasSuffix(s.Key, config.Proxy):
				out = append(out, inURL(s.Value)...)
			}
		}
		for _, name := range c.Variables {
			keys[name] = true
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if look[strings.ToUpper(name)] {
			out = append(out, inURL(value)...)
		}
		if keys[name] {
			out = append(out, secret{name, value})
		}
	}
	return out
}

// inHeader is what is secret in a field of the header: all of it, unless it is short and its name does not say that it is. A team
// or a title is a word that stands in innocent text.
func inHeader(h config.Setting) (out []secret) {
	name := strings.ReplaceAll(h.Key[strings.LastIndexByte(h.Key, '.')+1:], "-", "_")
	if len(h.Value) < longValue && !secretName(name) && !slices.Contains([]string{"Authorization", "Proxy_Authorization", "Cookie"}, name) {
		return nil
	}
	out = []secret{{"header", h.Value}}
	if _, token, ok := strings.Cut(h.Value, " "); ok { // as behind "Bearer"
		out = append(out, secret{"header", token})
	}
	return out
}

// longValue is the length, in bytes, from which a value is hardly a word.
const longValue = 12

// inURL is what is secret in an address: some services take the key as a user name.
func inURL(raw string) (out []secret) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	pw, _ := u.User.Password()
	out = []secret{{"base URL", u.User.Username()}, {"base URL", pw}}
	for name, values := range u.Query() {
		for _, v := range values {
			out = append(out, secret{"base URL " + name, v})
		}
	}
	return out
}

// minSecret is the length, in bytes, from which a secret is looked for within other values.
const minSecret = 6

// withoutSecrets leaves out the variables that hold a secret, whatever they are called: a file may name any of them by ${…},
// and a command needs none.
func withoutSecrets(env []string, c *config.Config) []string {
	list := secrets(c, env)
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		_, value, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(list, func(s secret) bool { return len(s.value) >= minSecret && strings.Contains(value, s.value) })
	})
}

// Mask makes a masker that knows the secrets of the settings, as far as they hold, and of the environment.
func Mask(c *config.Config, env []string) *redact.Masker {
	mask := redact.New()
	learnSecrets(mask, c, env)
	return mask
}
