package provider

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// below gives the URL of a path, such as /chat/completions, below a base URL as people write it: with or without a slash at
// the end, with or without a version. A base without a version segment (v1, v4, v1beta) gets v1; one that is the whole URL
// already stays. A query of the base is kept.
func below(base, end string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("the base URL must begin with http:// or https:// and name a host")
	}
	u.Fragment = ""
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, end) {
		if !versioned(path) {
			path += "/v1"
		}
		path += end
	}
	u.Path, u.RawPath = path, ""
	return u.String(), nil
}

// versioned tells whether a segment of the path is v1, v4, v1beta and the like.
func versioned(path string) bool {
	for _, s := range strings.Split(path, "/") {
		if len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' && strings.Trim(s[2:], "0123456789abcdefghijklmnopqrstuvwxyz") == "" {
			return true
		}
	}
	return false
}

// hostOf gives the name of the host of a base URL as people write it, lower case; "": it has none.
func hostOf(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// within tells whether a host is one of the names, or below it.
func within(host string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return host == n || strings.HasSuffix(host, "."+n) })
}
