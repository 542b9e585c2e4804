package redact

import (
	"net/url"
	"strings"
)

// URL returns s without user info, with the values of query parameters masked whose names look like credentials, and
// with known values replaced. Everything else stays as it was written. What can't be parsed as a URL is masked whole.
func (m *Masker) URL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return prefix + "url]"
	}
	base, query, found := s, "", false
	if i := strings.IndexAny(base, "?#"); i >= 0 && base[i] == '?' {
		base, query, found = base[:i], base[i+1:], true
	}
	if u.User != nil { // the user info ends with the last @ before the path
		start := strings.Index(base, "//") + 2
		end := start + strings.IndexAny(base[start:]+"/", "/?#")
		base = base[:start] + base[start+strings.LastIndexByte(base[start:end], '@')+1:]
	}
	if !found {
		return m.String(base)
	}
	query, fragment, hash := strings.Cut(query, "#")
	pairs := strings.Split(query, "&")
	for i, p := range pairs {
		name, _, _ := strings.Cut(p, "=")
		if plain, err := url.QueryUnescape(name); err != nil || credentialName(plain) {
			pairs[i] = name + "=" + prefix + name + "]"
		}
	}
	out := base + "?" + strings.Join(pairs, "&")
	if hash {
		out += "#" + fragment
	}
	return m.String(out)
}

// CredentialHeader tells whether an HTTP header of this name carries a credential by its nature, whatever its value. Counts of
// tokens, limits of rates, and what pages of other hosts may do are none.
func CredentialHeader(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, "ratelimit") || strings.Contains(name, "rate-limit") || strings.HasPrefix(name, "access-control-") || name == "www-authenticate" {
		return false
	}
	return strings.Contains(name, "cookie") || strings.Contains(name, "jwt") || credentialName(strings.ReplaceAll(name, "tokens", ""))
}

// credentialName tells whether a parameter of this name looks like a credential. It rather masks too much: "keyword"
// is one too many, yet nobody needs it to understand a request.
func credentialName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "passw", "pwd", "sig", "auth", "access", "credential", "session"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
