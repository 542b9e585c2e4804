package provider_test

import (
	"fmt"
	"testing"

	"overt/internal/llm"
)

// errorQuirks are §8.1, §8.2 and §8.4; §8.3 is [TestOverflow] and the quirks of its rows.
func errorQuirks() []quirk {
	text := func(s string) string { return `{"error":{"message":"` + s + `"}}` }
	typed := func(kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":"no","type":%q,"code":%q}}`, kind, code)
	}
	words := func(status int, class llm.Class, bodies ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, b := range bodies {
				refuses(status, b, class, "")(t)
			}
		}
	}
	statuses := func(class llm.Class, list ...int) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, s := range list {
				refuses(s, text("no"), class, "")(t)
			}
		}
	}
	out := []quirk{
		{"Q-8.1-openai", refuses(400, `{"error":{"message":"why","type":"t","code":"c","param":null,"metadata":{}}}`, llm.Invalid, "why")},
		{"Q-8.1-error-text", refuses(400, `{"error":"why"}`, llm.Invalid, "why")},
		{"Q-8.1-flat", all(refuses(400, `{"message":"why","type":"t","code":"c"}`, llm.Invalid, "why"), refuses(400, `{"object":"error","message":"why"}`, llm.Invalid, "why"))},
		{"Q-8.1-detail", all(refuses(422, `{"detail":"why"}`, llm.Invalid, "why"), refuses(422, `{"detail":[{"loc":["body"],"msg":"why","type":"t"}]}`, llm.Invalid, "why"))},
		{"Q-8.1-anthropic", refuses(400, `{"type":"error","error":{"type":"invalid_request_error","message":"why"},"request_id":"r"}`, llm.Invalid, "why")},
		{"Q-8.1-list", refuses(400, `[{"error":{"code":400,"message":"why","status":"INVALID_ARGUMENT"}}]`, llm.Invalid, "why")},
		{"Q-8.1-google", refuses(401, `{"error":{"code":401,"status":"UNAUTHENTICATED","details":[]}}`, llm.Auth, "")},
		{"Q-8.1-dashscope", refuses(400, `{"code":"InvalidParameter","message":"why","request_id":"r"}`, llm.Invalid, "why")},
		{"Q-8.1-base-resp", breaks(`{"base_resp":{"status_code":2013,"status_msg":"why"}}`, llm.Invalid, "why")},
		{"Q-8.1-cloudflare", refuses(400, `{"success":false,"errors":[{"message":"why"}]}`, llm.Invalid, "why")},
		{"Q-8.1-error-msg", refuses(400, `{"error_msg":"why"}`, llm.Invalid, "why")},
		{"Q-8.1-plain-text", refuses(400, "why", llm.Invalid, "why")},
		{"Q-8.1-page", refuses(502, "<html><body>why</body></html>", llm.Overload, "gateway")},
		{"Q-8.1-empty", all(refuses(400, "", llm.Invalid, "Bad Request"), refuses(413, "", llm.Overflow, ""))},
		{"Q-8.1-nested", refuses(400, `{"detail":"{\"error\":{\"message\":\"{\\\"error\\\":\\\"why\\\"}\"}}"}`, llm.Invalid, "why")},

		{"Q-8.2-overflow", words(400, llm.Overflow, typed("", "context_length_exceeded"))},
		{"Q-8.2-output-cap", all(
			mends(400, text("max_tokens is too large: 999999. This model supports at most 8,192 completion tokens, whereas you provided 999999."), llm.Invalid, llm.Shorten, 8192),
			mends(400, text("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x"), llm.Invalid, llm.Shorten, 64000),
			mends(400, text("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), llm.Invalid, llm.Shorten, 8192),
			mends(400, text("`max_tokens` must be less than or equal to `40960`, the maximum value"), llm.Invalid, llm.Shorten, 40960),
			mends(400, text("Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 65537 (exclusive)."), llm.Invalid, llm.Shorten, 65536))},
		{"Q-8.2-input-and-output", all(
			mends(400, text("This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (98000 in the messages, 32000 in the completion)."), llm.Overflow, llm.Shorten, 30000),
			mends(400, text("This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (20000 of text input, 20000 in the output)."), llm.Overflow, llm.Shorten, 12768),
			mends(400, text("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`"), llm.Overflow, llm.Shorten, 10000),
			mends(400, text("This model's maximum context length is 1000 tokens. However, you requested 1900 tokens (950 in the messages, 950 in the completion)."), llm.Overflow, "", 0))},
		{"Q-8.2-rate", all(words(429, llm.Rate, text("slow"), typed("requests", "rate_limit_exceeded"), `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"39s"}]}}`, `{"code":"Throttling.RateQuota","message":"no"}`))},
		{"Q-8.2-quota", all(words(429, llm.Quota, typed("insufficient_quota", ""), typed("", "credit_balance_exhausted"), typed("", "billing_hard_limit_reached"), typed("exceeded_current_quota_error", ""), typed("usage_limit_reached", ""), text("Key limit exceeded (total limit)"), text("Organization spend limit reached")),
			words(400, llm.Quota, text("Your credit balance is too low to access the API"), typed("", "Arrearage")), words(402, llm.Quota, "", text("Insufficient Balance")))},
		{"Q-8.2-auth", all(words(401, llm.Auth, "", text("no")), words(403, llm.Auth, "<html>"), words(400, llm.Auth, typed("", "invalid_api_key"), text("Incorrect API key provided: x"), text("invalid x-api-key")))},
		{"Q-8.2-model-unknown", all(words(404, llm.Invalid, typed("", "model_not_found"), text("The model does not exist"), text("model x not found, try pulling it first")), words(400, llm.Invalid, text("x is not a valid model ID")))},
		{"Q-8.2-path-wrong", all(refuses(404, "<html>nginx</html>", llm.Invalid, "base URL"), refuses(405, "<html>nginx</html>", llm.Invalid, "base URL"), refuses(404, `{"detail":"Not Found"}`, llm.Invalid, "Not Found"), refuses(200, "<html>hello</html>", llm.Malformed, "base URL"))},
		{"Q-8.2-policy", words(400, llm.Policy, typed("", "content_filter"), typed("", "content_policy_violation"), typed("", "data_inspection_failed"), typed("", "invalid_prompt"), typed("", "cyber_policy"), typed("", "bio_policy"), typed("", "sensitive"), typed("", "1301"))},
		{"Q-8.2-bad-request", all(words(400, llm.Invalid, text("Unknown parameter: x")), words(422, llm.Invalid, text("bad")))},
		{"Q-8.2-no-tools", all(words(400, llm.NoTools, text("`tools` is not supported with this model"), text("Function calling is not enabled for this model")), refuses(400, text("tool x: its schema is not supported"), llm.Invalid, ""))},
		{"Q-8.2-overloaded", all(statuses(llm.Overload, 503, 529), words(500, llm.Overload, typed("overloaded_error", "")), words(400, llm.Overload, typed("engine_overloaded_error", ""), typed("", "server_is_overloaded")), refuses(503, "no available server", llm.Overload, ""))},
		{"Q-8.2-server", all(statuses(llm.Overload, 500, 502, 504, 520, 521, 522, 523, 524), words(500, llm.Overload, typed("server_error", ""), typed("api_error", "")), words(500, llm.Invalid, text("Jinja Exception: x"), text("this is not supported")))},
		{"Q-8.2-sealed", all(mends(400, typed("", "invalid_encrypted_content"), llm.Invalid, llm.Unseal, 0), mends(400, text("The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed."), llm.Invalid, llm.Unseal, 0),
			mends(400, text("messages.1.content.0: Invalid `signature` in `thinking` block"), llm.Invalid, llm.Unseal, 0), mends(400, text("Corrupted thought signature."), llm.Invalid, llm.Unseal, 0))},
		{"Q-8.2-transport", breaks("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", llm.Cut, "ended")},
		{"Q-8.2-echoes", all(words(400, llm.Invalid, text("Bad value in: 429 rate limited"), text("Invalid 'safety_identifier': string too long. Expected a string with maximum length 64")))},
		{"Q-8.2-should-retry", func(t *testing.T) {
			if e := fail(t, 400, map[string]string{"X-Should-Retry": "true"}, text("no")); e.Class != llm.Overload {
				t.Errorf("%+v", e)
			}
			if e := fail(t, 500, map[string]string{"X-Should-Retry": "false"}, text("no")); e.Retryable() {
				t.Errorf("%+v", e)
			}
		}},

		{"Q-8.3-excluded", all(words(429, llm.Rate, text("Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000")), refuses(400, typed("", "string_above_max_length"), llm.Invalid, ""), refuses(400, text("messages.0: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"), llm.Pictures, ""))},
		{"Q-8.3-finish", finishes("model_context_window_exceeded", llm.Length)},

		{"Q-8.4-refusal", func(t *testing.T) {
			if o := chatPlay(t, stream("stop", `"refusal":"I can't."`)); o.Finish != llm.ContentFilter || flat(o.Blocks) != "text(I can't.)" {
				t.Errorf("%+v", o)
			}
		}},
		{"Q-8.4-finish", all(finishes("content_filter", llm.ContentFilter), finishes("sensitive", llm.ContentFilter), finishes("refusal", llm.ContentFilter))},
		{"Q-8.4-responses", func(t *testing.T) {
			o := world{"openai-responses", false}.play(t, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}`)
			if o.Finish != llm.ContentFilter {
				t.Errorf("%+v", o)
			}
		}},
		{"Q-8.4-anthropic", func(t *testing.T) {
			o := world{"anthropic-messages", false}.play(t, `{"content":[{"type":"text","text":"x"}],"stop_reason":"refusal","stop_details":{"category":"cyber"}}`)
			if o.Finish != llm.ContentFilter {
				t.Errorf("%+v", o)
			}
		}},
		{"Q-8.4-minimax", all(breaks(`{"base_resp":{"status_code":1026,"status_msg":"in"}}`, llm.Policy, ""), breaks(`{"base_resp":{"status_code":1027,"status_msg":"out"}}`, llm.Policy, ""))},
		{"Q-8.4-azure", refuses(400, `{"error":{"message":"filtered","code":"x","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, llm.Policy, "filtered")},
	}
	for _, row := range overflowRows() {
		out = append(out, quirk{"Q-8.3-" + row.id, func(t *testing.T) {
			e := fail(t, row.status, nil, text(row.text))
			if e.Class != llm.Overflow || e.Window != row.window || e.Tokens != row.has {
				t.Errorf("%+v, want window %d, tokens %d", e, row.window, row.has)
			}
		}})
	}
	return out
}

// overflowRow is a row of §8.3, with the numbers that its text names.
type overflowRow struct {
	id          string
	status      int
	text        string
	window, has int64
}

func overflowRows() []overflowRow {
	return []overflowRow{
		{"openai", 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce", 128000, 130000},
		{"openai-new", 400, "Your input exceeds the context window of this model", 0, 0},
		{"anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000},
		{"anthropic-output", 400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200000, 190000},
		{"bedrock", 400, "Input is too long for requested model", 0, 0},
		{"bedrock-bytes", 400, "too many total text bytes: 9 > 8", 0, 0},
		{"gemini", 400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000},
		{"deepseek", 400, "This model's maximum context length is 1000000 tokens. However, you requested 1000001 tokens (900001 in the messages, 100000 in the completion).", 1000000, 1000001},
		{"openrouter", 400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens", 32768, 40000},
		{"moonshot", 400, "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", 262144, 300000},
		{"minimax", 400, "invalid params, context window exceeds limit (2013)", 0, 0},
		{"zai", 400, "Prompt exceeds max length", 0, 0},
		{"dashscope", 400, "Range of input length should be [1, 129024]", 129024, 0},
		{"mistral", 400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768, 40000},
		{"groq", 413, "Please reduce the length of the messages or completion", 0, 0},
		{"xai", 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131072, 140000},
		{"cerebras", 400, "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8192, 9000},
		{"tgi", 422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4096, 0},
		{"vercel", 400, "Input too long: 5000 input tokens, limit is 4096", 4096, 5000},
		{"copilot", 400, "prompt token count of 70000 exceeds the limit of 64000", 64000, 70000},
		{"vllm", 400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192, 9000},
		{"vllm-longer", 400, "The prompt (total length 9000) is longer than the maximum model length of 8192.", 8192, 9000},
		{"vllm-input", 400, "input length (9000) exceeds model's maximum context length (8192).", 8192, 9000},
		{"vllm-only", 400, "You passed 9000 input tokens, however the model's context length is only 8192 tokens", 8192, 9000},
		{"sglang", 400, "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192, 9000},
		{"llamacpp", 400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192, 9000},
		{"lmstudio", 400, "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough", 4096, 5000},
		{"lmstudio-keep", 400, "The number of tokens to keep from the initial prompt is greater than the context length", 0, 0},
		{"omlx", 400, "Prompt too long: 5000 tokens exceeds max context window of 4096 tokens", 4096, 5000},
		{"ollama", 400, "the input length exceeds the context length", 0, 0},
		{"ollama-prompt", 400, "prompt exceeds maximum context length", 0, 0},
		{"litellm", 400, "litellm.ContextWindowExceededError: no", 0, 0},
		{"generic-exceeded", 400, "context length exceeded", 0, 0},
		{"generic-many", 400, "too many tokens", 0, 0},
		{"generic-limit", 400, "token limit exceeded", 0, 0},
		{"generic-entity", 413, "request entity too large", 0, 0},
		{"generic-maximum", 400, "model's maximum context limit", 0, 0},
		{"generic-configured", 400, "input tokens exceed the configured limit of 4096 tokens", 0, 0},
		{"generic-input", 400, "maximum input length is 30,720 tokens", 30720, 0},
	}
}
