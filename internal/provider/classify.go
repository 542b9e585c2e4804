package provider

import (
	"strings"

	"overt/internal/llm"
)

// classify gives the class of a fault under an HTTP status (or one that the body names; below 400 there is neither),
// and the window in tokens if it names that. Words are looked for in the server's own texts only, and where a status
// says enough, the status decides: a request echoed in an error may hold any word.
func classify(status int, f fault) (llm.Class, int64) {
	s := f.search
	if c, ok := nativeClass(f); ok && c != llm.Invalid {
		return c, 0
	}
	switch {
	case status == 402 || hasAny(s, quotaWords()) && status != 401:
		return llm.Quota, 0
	case tooLargeForMinute(status, s):
		return llm.Overflow, 0 // a wait does not help: the request is larger than a minute's allowance
	case status == 429:
		return llm.Rate, 0
	case (f.code == "sensitive" || hasAny(s, policyWords())) && status < 500:
		return llm.Policy, 0
	}
	if status != 401 && status != 403 && !outputCap(s) {
		if window, _, ok := overflow(status, f); ok {
			return llm.Overflow, window
		}
	}
	switch {
	case status == 401 || status == 403 || status == 407:
		return llm.Auth, 0
	case hasAny(s, []string{"invalid_api_key", "incorrect api key", "invalid x-api-key", "authentication_error", "authenticationerror", "unauthenticated"}):
		return llm.Auth, 0
	case aboutPictures(f):
		return llm.Pictures, 0
	case status == 408 || status == 409 || status == 425 || status == 498 || status == 499: // the last two are Groq's
		return llm.Overload, 0
	case status >= 400 && hasAny(s, toolWords()):
		return llm.NoTools, 0
	case status >= 500 && status != 501 && status != 505:
		if hasAny(s, requestWords()) {
			return orPictures(s), 0
		}
		return llm.Overload, 0
	case status >= 400:
		if hasAny(s, []string{"overloaded_error", "engine_overloaded_error", "server_is_overloaded"}) {
			return llm.Overload, 0
		}
		return orPictures(s), 0
	}
	if f.native { // MiniMax has a number of its own for what is worth another try
		return llm.Invalid, 0
	}
	return inside(s), 0
}

// orPictures is the class of a request that is refused for good. Words of a server that nobody has listed, over a request that
// has pictures, are about them if they speak of pictures and of what is not taken; in one without they are not, and whoever made
// the request knows.
func orPictures(s string) llm.Class {
	s = strings.ReplaceAll(s, "read_image", "") // a tool
	if hasAny(s, []string{"image", "vision", "multimodal", "multi-modal", "only text content", "content must be a string"}) &&
		hasAny(s, []string{"not support", "unsupported", "not allowed", "not accept", "not enabled", "invalid", "supported values", "only text", "text only", "text-only", "must be a string"}) {
		return llm.Pictures
	}
	return llm.Invalid
}

// inside is the class of an error without a status: one in a stream of status 200.
func inside(s string) llm.Class {
	switch {
	case hasAny(s, []string{"rate_limit", "rate limit", "ratelimiterror", "too many requests", "resource_exhausted", "throttling"}):
		return llm.Rate
	case hasAny(s, []string{"invalid_request_error", "invalid_argument", "invalidparameter", "not_found", "not found", "bad_request", "badrequest", "invalid_value"}):
		return llm.Invalid
	}
	return llm.Overload // a server that breaks off its own answer
}

// nativeClass knows the numbers of MiniMax (base_resp) and of Z.ai. Sources: their error code tables.
func nativeClass(f fault) (llm.Class, bool) {
	if f.native {
		switch f.code {
		case "1000", "1001", "1013":
			return llm.Overload, true
		case "1002", "1039":
			return llm.Rate, true
		case "1004", "2049":
			return llm.Auth, true
		case "1008":
			return llm.Quota, true
		case "1026", "1027":
			return llm.Policy, true
		}
		return llm.Invalid, true
	}
	switch f.code {
	case "1113", "1308", "1309", "1310":
		return llm.Quota, true
	case "1302", "1303", "1305":
		return llm.Rate, true
	case "1301":
		return llm.Policy, true
	}
	return "", false
}

func quotaWords() []string {
	return []string{
		"insufficient_quota", "credit_balance_exhausted", "billing_", "exceeded_current_quota_error", "insufficient balance",
		"credit balance is too low", "usage_limit_reached", "arrearage", "spend limit", "spend_limit", "key limit exceeded",
		"quota exceeded for the day", "daily limit", "exceeded your current quota", "budgetexceedederror",
	}
}

func policyWords() []string {
	return []string{
		"content_filter", "content_policy_violation", "data_inspection_failed", "responsibleaipolicyviolation",
		"invalid_prompt", "sensitive_words", "contentfilter", "contentpolicyviolationerror", "cyber_policy", "bio_policy",
	}
}

// requestWords are texts of local servers that answer 500 to a request which they will never take.
func requestWords() []string {
	return []string{
		"failed to parse tool call arguments", "json.exception.parse_error", "jinja",
		"template", "not supported", "unsupported", "failed to parse grammar", "roles must alternate",
	}
}

// tooLargeForMinute tells whether one request alone is over the tokens per minute.
func tooLargeForMinute(status int, s string) bool {
	return (status == 429 || status == 413) && strings.Contains(s, "request too large") && strings.Contains(s, "tokens per min")
}

// outputCap tells whether the bound on the output is what is too large.
func outputCap(s string) bool {
	return hasAny(s, []string{
		"range of max_tokens", "maximum allowed number of output tokens", "max_tokens is too large", "max_completion_tokens is too large",
		"'max_completion_tokens' is too large", "'max_tokens' is too large", "fewer max_tokens",
	})
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
