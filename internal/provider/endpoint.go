package provider

import (
	"errors"
	"net/url"
	"strings"
)

// chatURL gives the URL of Chat Completions below a base URL as people write it: with or without a slash at the end,
// with or without a version. A base without a version segment (v1, v4, v1beta) gets v1; one that is the whole URL
// already stays. A query of the base is kept.
func chatURL(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("the base URL must begin with http:// or https:// and name a host")
	}
	u.Fragment = ""
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, "/chat/completions") {
		if !versioned(path) {
			path += "/v1"
		}
		path += "/chat/completions"
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

// Quirks are the ways in which a server differs. The zero value is the common ground.
type Quirks struct {
	// Reasoning goes back with messages that have calls, as an empty text if there was none.
	Reasoning bool
	// Carrier is the field in which reasoning goes back; "": the one that it came in.
	Carrier string
	// EmptyContent sends "" instead of null as the content of a message that has calls and no text.
	EmptyContent  bool
	NoStreamUsage bool // the server refuses stream_options
	// CompletionTokens sends the limit of an answer as max_completion_tokens: max_tokens is refused or deprecated.
	CompletionTokens bool
}

// QuirksFor gives what is known of a provider, by the name of a preset or by the host of a base URL, which must be the
// provider's own or below it.
func QuirksFor(preset, endpoint string) Quirks {
	host := ""
	if u, err := url.Parse(strings.TrimSpace(endpoint)); err == nil {
		host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	}
	var q Quirks
	is := func(name string, hosts []string) bool {
		known := preset == name
		for _, h := range hosts {
			known = known || host == h || strings.HasSuffix(host, "."+h)
		}
		return known
	}
	type known struct {
		preset string
		hosts  []string
	}
	for _, k := range []known{
		// DeepSeek answers 400 to a call whose reasoning_content is missing; Moonshot too, whose models always think;
		// MiMo by report. Source: api-docs.deepseek.com, platform.moonshot.ai, qwen-code's request layer.
		{"deepseek", []string{"deepseek.com"}},
		{"moonshot", []string{"moonshot.ai", "moonshot.cn", "kimi.com"}},
		{"mimo", []string{"xiaomimimo.com"}},
	} {
		if is(k.preset, k.hosts) {
			q.Reasoning, q.Carrier = true, "reasoning_content"
		}
	}
	// By the vendors' API references; the others document max_tokens.
	for _, k := range []known{
		{"openai", []string{"api.openai.com"}},
		{"moonshot", []string{"moonshot.ai", "moonshot.cn"}},
		{"minimax", []string{"minimax.io", "minimaxi.com"}},
		{"xai", []string{"x.ai"}},
	} {
		q.CompletionTokens = q.CompletionTokens || is(k.preset, k.hosts)
	}
	return q
}
