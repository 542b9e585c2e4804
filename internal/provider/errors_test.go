package provider_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"overt/internal/llm"
	"overt/internal/provider"
)

func fail(t *testing.T, status int, header map[string]string, body string) *llm.Error {
	t.Helper()
	m, _ := against(t, true, raw(status, header, body))
	_, err := m.Stream(ctxOf(t), say("x"), nil)
	return asError(t, err)
}

// covers L232 L238
func TestErrorClasses(t *testing.T) {
	openai := func(message, typ, code string) string {
		return `{"error":{"message":"` + message + `","type":"` + typ + `","param":null,"code":` + code + `}}`
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		class  llm.Class
		part   string
	}{
		{"rate", 429, openai("Rate limit reached for requests", "requests", `"rate_limit_exceeded"`), llm.Rate, "Rate limit"},
		{"quota", 429, openai("You exceeded your current quota", "insufficient_quota", `"insufficient_quota"`), llm.Quota, "quota"},
		{"finer quota", 429, openai("no", "insufficient_quota", `"credit_balance_exhausted"`), llm.Quota, "no"},
		{"balance", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error"}}`, llm.Quota, "Balance"},
		{"Moonshot billing", 429, openai("suspended", "exceeded_current_quota_error", "null"), llm.Quota, ""},
		{"Moonshot busy", 429, openai("The engine is currently overloaded", "engine_overloaded_error", "null"), llm.Rate, ""},
		{"Z.ai rate", 429, `{"error":{"code":"1302","message":"too fast"}}`, llm.Rate, ""},
		{"Z.ai balance", 429, `{"error":{"code":"1113","message":"arrears"}}`, llm.Quota, ""},
		{"Z.ai policy", 400, `{"error":{"code":"1301","message":"unsafe"}}`, llm.Policy, ""},
		{"minute's tokens", 429, openai("Request too large for gpt-x in organization o on tokens per min (TPM): Limit 30000, Requested 48000.", "tokens", `"rate_limit_exceeded"`), llm.Overflow, "too large"},
		{"minute's tokens used", 429, openai("Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.2s.", "tokens", `"rate_limit_exceeded"`), llm.Rate, ""},
		{"key", 401, openai("Incorrect API key provided", "invalid_request_error", `"invalid_api_key"`), llm.Auth, "Incorrect"},
		{"forbidden", 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"no","details":[]}}`, llm.Auth, ""},
		{"model", 404, openai("The model `x` does not exist", "invalid_request_error", `"model_not_found"`), llm.Invalid, "does not exist"},
		{"path", 404, `{"detail":"Not Found"}`, llm.Invalid, "Not Found"},
		{"filter", 400, `{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, llm.Policy, "filtered"},
		{"DashScope filter", 400, `{"code":"data_inspection_failed","message":"Input data may contain inappropriate content.","request_id":"r"}`, llm.Policy, ""},
		{"request", 400, openai("Unknown parameter", "invalid_request_error", "null"), llm.Invalid, "Unknown"},
		{"FastAPI", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, llm.Invalid, "field required"},
		{"id too long", 400, openai("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40", "invalid_request_error", `"string_above_max_length"`), llm.Invalid, ""},
		{"output cap", 400, openai("max_tokens is too large: 999999. This model supports at most 8192 completion tokens", "invalid_request_error", "null"), llm.Invalid, ""},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, llm.Overload, "Overloaded"},
		{"server", 500, openai("The server had an error", "server_error", "null"), llm.Overload, ""},
		{"bad output of a local model", 500, `{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}`, llm.Overload, ""},
		{"template", 500, `{"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate","type":"server_error"}}`, llm.Invalid, ""},
		{"plain text", 503, "no available server", llm.Overload, "no available server"},
		{"no body", 502, "", llm.Overload, "Bad Gateway"},
		{"string", 500, `{"error":"model runner has unexpectedly stopped"}`, llm.Overload, "model runner"},
		{"Mistral", 422, `{"object":"error","message":"Expected last role User or Tool","type":"invalid_request_message_order","code":3230}`, llm.Invalid, "Expected last role"},
		{"Cloudflare", 403, `{"success":false,"errors":[{"code":1020,"message":"Access denied"}]}`, llm.Auth, "Access denied"},
		{"nested", 400, `{"detail":"{\"error\":{\"message\":\"inner words\",\"type\":\"x\"}}"}`, llm.Invalid, "inner words"},
		{"raw of the upstream", 429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"upstream says wait\"}}"}}}`, llm.Rate, "upstream says wait"},
		{"page 502", 502, "<html><h1>502</h1></html>", llm.Overload, "gateway"},
		{"page 403", 403, "<!doctype html><title>Blocked</title>", llm.Auth, "blocked by a gateway"},
		{"page 404", 404, "<html>nginx</html>", llm.Invalid, "base URL"},
		{"page 413", 413, "<html><h1>413 Request Entity Too Large</h1></html>", llm.Overflow, "size"},
		{"time-out of the server", 408, `{"error":{"message":"took too long"}}`, llm.Overload, "took too long"},
		{"escapes", 402, `{"error":{"message":"\u4f59\u989d\u4e0d\u8db3 \ud83e\udd4a"}}`, llm.Quota, "余额不足 🥊"},
		{"conflict", 409, `{"error":{"message":"again"}}`, llm.Overload, "again"},
		{"numbers in an echo", 400, openai("Bad value in: 429 rate limited", "invalid_request_error", "null"), llm.Invalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fail(t, c.status, nil, c.body)
			if e.Class != c.class || e.HTTP != c.status || !strings.Contains(e.Message, c.part) || e.Message == "" {
				t.Errorf("%+v, want %s with %q", e, c.class, c.part)
			}
			if strings.ContainsAny(e.Message, "\n<") {
				t.Errorf("message %q", e.Message)
			}
		})
	}
}

// TestOverflow has what servers say when a request does not fit, and the window that they name.
// covers L242
func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		name, text string
		window     int64
	}{
		{"OpenAI", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", 128000},
		{"OpenAI new", "Your input exceeds the context window of this model. Please adjust your input and try again.", 0},
		{"Anthropic", "prompt is too long: 210000 tokens > 200000 maximum", 200000},
		{"Anthropic with output", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200000},
		{"Bedrock", "Input is too long for requested model.", 0},
		{"Gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576},
		{"DeepSeek", "This model's maximum context length is 1000000 tokens. However, you requested 1000001 tokens (900001 in the messages, 100000 in the completion).", 1000000},
		{"OpenRouter", "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", 32768},
		{"Moonshot", "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", 262144},
		{"MiniMax", "invalid params, context window exceeds limit (2013)", 0},
		{"Z.ai", "Prompt exceeds max length", 0},
		{"DashScope", "Range of input length should be [1, 129024]", 129024},
		{"Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768},
		{"Groq", "Please reduce the length of the messages or completion.", 0},
		{"xAI", "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131072},
		{"Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8192},
		{"TGI", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4096},
		{"Vercel", "Input too long: 5000 input tokens, limit is 4096", 4096},
		{"Copilot", "prompt token count of 70000 exceeds the limit of 64000", 64000},
		{"vLLM", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192},
		{"vLLM longer", "The decoder prompt (length 9000) is longer than the model's context length of 8192", 8192},
		{"vLLM input", "input length (9000) exceeds model's maximum context length (8192).", 8192},
		{"vLLM only", "You passed 9000 input tokens, however the model's context length is only 8192 tokens", 8192},
		{"SGLang", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192},
		{"llama.cpp", "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192},
		{"llama.cpp old", "the request exceeds the available context size, try increasing it", 0},
		{"LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length.", 0},
		{"LM Studio only", "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens", 4096},
		{"oMLX", "Prompt too long: 5000 tokens exceeds max context window of 4096 tokens", 4096},
		{"Ollama", "the input length exceeds the context length", 0},
		{"LiteLLM", "litellm.ContextWindowExceededError: litellm.BadRequestError: maximum context length is 8192 tokens", 8192},
		{"generic", "maximum input length is 30,720 tokens", 30720},
		{"generic words", "too many tokens in the prompt", 0},
	} {
		for _, body := range []string{`{"error":{"message":"` + c.text + `"}}`, `{"error":"` + c.text + `"}`, `{"detail":"` + c.text + `"}`, c.text} {
			if e := fail(t, 400, nil, body); e.Class != llm.Overflow || e.Window != c.window || e.Retryable() {
				t.Errorf("%s: %+v, want window %d", c.name, e, c.window)
			}
		}
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
	}{
		{"code alone", 400, `{"error":{"message":"no","code":"context_length_exceeded"}}`},
		{"Z.ai code", 400, `{"error":{"message":"no","code":"1261"}}`},
		{"Copilot code", 400, `{"error":{"message":"no","code":"model_max_prompt_tokens_exceeded"}}`},
		{"413 without a body", 413, ""},
		{"Anthropic 413", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
	} {
		if e := fail(t, c.status, nil, c.body); e.Class != llm.Overflow {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	fields := `{"error":{"code":400,"message":"too big for the available context: exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}`
	if e := fail(t, 400, nil, fields); e.Window != 2048 {
		t.Errorf("window of the field: %+v", e)
	}
}

// covers L238
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name   string
		header map[string]string
		body   string
		want   time.Duration
	}{
		{"seconds", map[string]string{"Retry-After": "7"}, "", 7 * time.Second},
		{"fraction", map[string]string{"Retry-After": "0.25"}, "", 250 * time.Millisecond},
		{"date", map[string]string{"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"}, "", 30 * time.Second},
		{"date gone by", map[string]string{"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2026 07:00:00 GMT"}, "", 0},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "1500", "Retry-After": "7"}, "", 1500 * time.Millisecond},
		{"nonsense", map[string]string{"Retry-After": "soon"}, "", 0},
		{"negative", map[string]string{"Retry-After": "-5"}, "", 0},
		{"reset of what is used up", map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s", "X-Ratelimit-Remaining-Requests": "9", "X-Ratelimit-Reset-Requests": "9h"}, "", 6 * time.Minute},
		{"words", nil, "Please try again in 1.2s.", 1200 * time.Millisecond},
		{"words ms", nil, "Please try again in 20ms. Visit us", 20 * time.Millisecond},
		{"words minutes", nil, "try again in 2m30s", 150 * time.Second},
		{"words long", nil, "Please retry in 5 seconds", 5 * time.Second},
		{"reset after", nil, "quota will reset after 39s", 39 * time.Second},
		{"RetryInfo", nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"@type":"t","retryDelay":"39s"}]}}`, 39 * time.Second},
		{"none", nil, "slow down", 0},
		{"hours without end", nil, "try again in 3000000 hours", 87600 * time.Hour},
		{"the same at once", nil, "try again in 2562047h", 87600 * time.Hour},
		{"a date without end", map[string]string{"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After": "Fri, 21 Oct 2999 07:28:30 GMT"}, "", 87600 * time.Hour},
	} {
		if e := fail(t, 429, c.header, c.body); e.RetryAfter != c.want || e.Class != llm.Rate {
			t.Errorf("%s: %+v, want %s", c.name, e, c.want)
		}
	}
}

// TestRetryAfterWithoutDate: a date counts from our clock where the server does not tell its own.
func TestRetryAfterWithoutDate(t *testing.T) {
	for name, c := range map[string]struct{ in, least, most time.Duration }{
		"to come": {90 * time.Second, 60 * time.Second, 90 * time.Second}, "gone by": {-time.Hour, 0, 0},
	} {
		m, _ := against(t, true, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = nil
			w.Header().Set("Retry-After", time.Now().Add(c.in).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := m.Stream(ctxOf(t), say("x"), nil)
		if e := asError(t, err); e.RetryAfter < c.least || e.RetryAfter > c.most || e.Class != llm.Rate {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestUnusable: what can't be sent at all is invalid, not a matter of the network, and sent once at most.
func TestUnusable(t *testing.T) {
	for name, o := range map[string]provider.Options{
		"port":          {Endpoint: "http://127.0.0.1:99999/v1"},
		"port 0":        {Endpoint: "http://127.0.0.1:0/v1"},
		"no host":       {Endpoint: "http://:8080/v1"},
		"scheme":        {Endpoint: "ftp://127.0.0.1/v1"},
		"no scheme":     {Endpoint: "127.0.0.1:8080/v1"},
		"blank in host": {Endpoint: "http://a b/v1"},
		"bracket":       {Endpoint: "http://[::1/v1"},
		"empty":         {},
		"key":           {Endpoint: "http://127.0.0.1:1/v1", Key: "sk-a\nb"},
	} {
		o.Wire = newWire(t, &sink{})
		_, err := provider.New(o).Stream(ctxOf(t), say("x"), nil)
		if e := asError(t, err); e.Class != llm.Invalid || e.Retryable() || e.Message == "" || strings.Contains(e.Message, "sk-a") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestShouldRetry(t *testing.T) {
	for _, c := range []struct {
		status int
		header string
		want   bool
	}{{500, "", true}, {500, "false", false}, {429, "false", false}, {400, "", false}, {400, "true", true}, {401, "true", false}} {
		if e := fail(t, c.status, map[string]string{"X-Should-Retry": c.header}, ""); e.Retryable() != c.want {
			t.Errorf("%d with %q: %+v", c.status, c.header, e)
		}
	}
}

func TestMessageIsShort(t *testing.T) {
	e := fail(t, 400, nil, `{"error":{"message":"`+strings.Repeat(`long\nwörds `, 200)+`"}}`)
	if n := len([]rune(e.Message)); n > 300 || strings.Contains(e.Message, "\n") || !strings.HasPrefix(e.Message, "long wörds long") {
		t.Errorf("%d characters: %q", n, e.Message)
	}
	big := fail(t, 500, nil, strings.Repeat("x", 300<<10))
	if big.Class != llm.Overload {
		t.Errorf("%+v", big)
	}
}
