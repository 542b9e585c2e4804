package app

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// secretName matches variables whose values are likely secrets.
var secretName = regexp.MustCompile(`(?i)(^|_)((API|ACCESS|SECRET|PRIVATE|AUTH)_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$`)

// learnSecrets makes known to the masker what must not be written or shown.
func (a *App) learnSecrets() {
	c := a.o.Config
	a.mask.Add("api key", c.APIKey.Value)
	if u, err := url.Parse(c.BaseURL.Value); err == nil {
		a.mask.Add("base URL", u.User.Username()) // some services take the key as a user name
		if pw, ok := u.User.Password(); ok {
			a.mask.Add("base URL", pw)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				a.mask.Add("base URL "+name, v)
			}
		}
	}
	for _, kv := range a.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if secretName.MatchString(name) && !filepath.IsAbs(value) {
			a.mask.Add(name, value)
		}
	}
}
