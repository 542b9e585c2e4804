package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// hostedQuirks are §6.6, §6.7 and §6.12 to §6.16: hosted servers and gateways.
func hostedQuirks() []quirk {
	text := func(s string) string { return `{"error":{"message":"` + s + `"}}` }
	whole := func(on string, parts ...string) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			r := pastCall()
			r.Params.Thinking = on
			body, _ := sentBy(t, provider.Options{Profile: known("dashscope", "qwen3.6-plus")}, r)
			if len(parts) == 0 && body != "" {
				t.Errorf("sent %s", body)
			}
			checkParts(t, body, parts...)
		}
	}
	return []quirk{
		{"Q-6.6-thinking-switch", all(sends("dashscope", "m", thinking("off"), `"enable_thinking":false`), sends("dashscope", "m", nil, `!enable_thinking`))},
		{"Q-6.6-thinking-streams", all(whole("", `"enable_thinking":false`), whole("off", `"enable_thinking":false`), whole("on"))},
		{"Q-6.6-not-both", sends("dashscope", "m", func(r *llm.Request) { r.Params.Thinking, r.Params.Effort = "on", "high" }, `"enable_thinking":true`, `!reasoning_effort`)},
		{"Q-6.6-tool-choice", sends("dashscope", "m", thinking("on"), `!"tool_choice"`)},
		{"Q-6.6-usage-written", counts(`"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":20,"cache_creation_input_tokens":30,"cache_type":"ephemeral"}}`, 50, 20, 30, 7, -1)},
		{"Q-6.6-errors", all(refuses(400, `{"code":"InvalidParameter","message":"Range of input length should be [1, 129024]"}`, llm.Overflow, "Range"),
			refuses(400, `{"code":"DataInspectionFailed","message":"data_inspection_failed"}`, llm.Policy, ""), refuses(429, `{"code":"Throttling.RateQuota","message":"slow"}`, llm.Rate, ""),
			refuses(429, `{"code":"Throttling.AllocationQuota","message":"insufficient_quota"}`, llm.Quota, ""), refuses(400, `{"code":"Arrearage","message":"unpaid"}`, llm.Quota, ""),
			refuses(403, `{"code":"Arrearage","message":"unpaid"}`, llm.Quota, ""), refuses(404, `{"code":"ModelNotFound","message":"no model"}`, llm.Invalid, "no model"),
			breaks(`data: {"error":{"code":"Throttling","message":"Throttling"}}`+"\n\n", llm.Rate, ""), breaks(`data: {"code":"data_inspection_failed","message":"no"}`+"\n\n", llm.Policy, ""))},
		{"Q-6.6-output-range", mends(400, text("Range of max_tokens should be [1, 8192]"), llm.Invalid, llm.Shorten, 8192)},
		{"Q-6.6-arguments-valid", sends("dashscope", "m", func(r *llm.Request) { r.Messages[1].Blocks[1].Call.Arguments = `{"path":` }, `"arguments":"{}"`)},

		{"Q-6.7-reasoning-object", all(sends("openrouter", "x/y", effort("max"), `"reasoning":{"effort":"max"}`), sends("openrouter", "x/y", thinking("off"), `"reasoning":{"enabled":false}`),
			sends("openrouter", "x/y", func(r *llm.Request) { r.Params.Thinking, r.Params.Effort = "on", "low" }, `"reasoning":{"effort":"low"}`, `!"enabled"`, `!reasoning_effort`))},
		{"Q-6.7-details-merged", func(t *testing.T) {
			o := chatPlay(t, stream("stop", `"reasoning":"he","reasoning_details":[{"type":"reasoning.text","index":0,"text":"he"}]`,
				`"reasoning":"llo","reasoning_details":[{"type":"reasoning.text","index":0,"text":"llo"}]`, `"reasoning_details":[]`,
				`"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sig"}]`, `"content":"x"`))
			if flat(o.Blocks) != "reasoning(hello) text(x)" || string(o.Blocks[0].Opaque) != `[{"type":"reasoning.text","index":0,"text":"hello","signature":"sig"}]` {
				t.Errorf("%s %s", flat(o.Blocks), o.Blocks[0].Opaque)
			}
		}},
		{"Q-6.7-details-back", sends("openrouter", "x/y", func(r *llm.Request) {
			r.Messages[1].Blocks[0] = llm.Block{Type: llm.Reasoning, Text: "hm", Carrier: "reasoning_details", Opaque: []byte(`[{"type":"reasoning.encrypted","data":"zz"}]`)}
			r.Messages[1].Blocks = append(r.Messages[1].Blocks, r.Messages[1].Blocks[1])
		}, `"reasoning_details":[{"type":"reasoning.encrypted","data":"zz"}]`, `!"reasoning":`, `!}],"reasoning_details":[{"type":"reasoning.encrypted","data":"zz"}],"reasoning_details"`)},
		{"Q-6.7-comments", reads(provider.Profile{}, ": OPENROUTER PROCESSING\n\n"+strings.ReplaceAll(stream("stop", `"content":"x"`), "\n\n", "\n\n: OPENROUTER PROCESSING\n\n"), "text(x)")},
		{"Q-6.7-usage-cost", func(t *testing.T) {
			u := chatPlay(t, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"cost\":0.0125,\"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":1}}}\n\n").Usage
			if u.Cost == nil || *u.Cost != 0.0125 || *u.Fresh != 4 || *u.CacheRead != 4 || *u.CacheWrite != 1 {
				t.Errorf("%+v", u)
			}
		}},
		{"Q-6.7-error-raw", all(refuses(400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"P","raw":"{\"error\":{\"message\":\"maximum context length is 8192 tokens\"}}"}}}`, llm.Overflow, "8192"),
			refuses(502, `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream is down"}}}`, llm.Overload, "upstream is down"))},
		{"Q-6.7-error-in-stream", breaks("data: {\"id\":\"g\",\"error\":{\"code\":502,\"message\":\"Provider disconnected\"},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n", llm.Overload, "disconnected")},
		{"Q-6.7-credits", mends(402, text("This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1234."), llm.Quota, llm.Shorten, 1234)},
		{"Q-6.7-moderation", refuses(403, `{"error":{"code":403,"message":"Your chosen model requires moderation","metadata":{"reasons":["violence"],"flagged_input":"…"}}}`, llm.Policy, "moderation")},
		{"Q-6.7-errors", all(refuses(401, text("No auth credentials found"), llm.Auth, ""), refuses(408, text("timed out"), llm.Overload, ""), refuses(413, text("too large"), llm.Overflow, ""),
			refuses(502, text("bad gateway"), llm.Overload, ""), refuses(503, text("No provider fits the routing"), llm.Overload, ""))},
		{"Q-6.7-no-tools", refuses(404, text("No endpoints found that support tool use. To learn more"), llm.NoTools, "tool use")},
		{"Q-6.7-cache-control", all(sends("openrouter", "anthropic/claude-sonnet-4.6", nil, `"cache_control":{"type":"ephemeral"}`), sends("openrouter", "openai/gpt-5.6", nil, `!cache_control`))},

		{"Q-6.12-class-names", all(refuses(400, text("litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - {}"), llm.Overflow, ""),
			refuses(400, text("litellm.ContentPolicyViolationError: no"), llm.Policy, ""), refuses(400, text("BudgetExceededError: Budget has been exceeded"), llm.Quota, ""),
			breaks("data: "+text("litellm.RateLimitError: slow")+"\n\n", llm.Rate, ""), breaks("data: "+text("litellm.AuthenticationError: key")+"\n\n", llm.Auth, ""),
			breaks("data: "+text("litellm.BadRequestError: x")+"\n\n", llm.Invalid, ""), breaks("data: "+text("litellm.Timeout: x")+"\n\n", llm.Overload, ""),
			breaks("data: "+text("litellm.ServiceUnavailableError: x")+"\n\n", llm.Overload, ""), breaks("data: "+text("litellm.InternalServerError: x")+"\n\n", llm.Overload, ""))},
		{"Q-6.12-nested", refuses(400, `{"error":{"message":"litellm.BadRequestError: OpenAIException - {\"error\":{\"message\":\"maximum context length is 8192 tokens\"}}","type":"None","param":"None","code":"400"}}`, llm.Overflow, "8192")},
		{"Q-6.12-name-null", reads(provider.Profile{}, stream("tool_calls", tc(`{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":""}}`), tc(`{"index":0,"id":null,"type":"FUNCTION","function":{"name":"null","arguments":"{}"}}`)), "call(a now {})")},
		{"Q-6.12-tools-with-history", sends("", "m", nil, `"tools":[`)},

		{"Q-6.13-first-chunk", reads(provider.Profile{}, "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n"+stream("stop", `"content":"x"`), "text(x)")},
		{"Q-6.13-filter-offsets", reads(provider.Profile{}, "data: {\"choices\":[{\"index\":0,\"finish_reason\":null,\"content_filter_results\":{},\"content_filter_offsets\":{\"check_offset\":4}}]}\n\n"+stream("stop", `"content":"x"`), "text(x)")},
		{"Q-6.13-filter", all(refuses(400, `{"error":{"message":"filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{}}}}`, llm.Policy, "filtered"), finishes("content_filter", llm.ContentFilter))},
		{"Q-6.13-key-header", func(t *testing.T) {
			p := provider.ProfileFor(provider.Chat, "", "https://x.openai.azure.com/openai/v1", "m")
			_, h := sentBy(t, provider.Options{Profile: p, Key: "secret"}, say("x"))
			if h.Get("Api-Key") != "secret" || h.Get("Authorization") != "" {
				t.Errorf("%v", h)
			}
		}},
		{"Q-6.13-stream-options", all(func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Profile: provider.Profile{NoStreamUsage: true}, Stream: true}, say("x"))
			checkParts(t, body, `!stream_options`, `!parallel_tool_calls`, `!developer`)
		},
			mends(400, text("Unrecognized request argument supplied: stream_options"), llm.Invalid, llm.Uncount, 0),
			mends(422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}}]}`, llm.Invalid, llm.Uncount, 0),
			mends(503, text("stream_options: try again"), llm.Overload, "", 0),
			refuses(422, `{"detail":[{"loc":["body","x_y"],"msg":"Extra inputs are not permitted"}]}`, llm.Invalid, "Extra inputs are not permitted (x_y)"))},
		{"Q-6.13-errors", all(refuses(404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, llm.Invalid, "deployment"),
			refuses(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint"}}`, llm.Auth, "subscription key"))},

		{"Q-6.14-ids", sends("mistral", "m", nil, `!functions.read:0`, `"tool_call_id":"`)},
		{"Q-6.14-ids-equal", func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Profile: known("mistral", "m")}, pastCall())
			_, rest, _ := strings.Cut(body, `{"id":"`)
			if id, _, _ := strings.Cut(rest, `"`); len(id) != 9 || !strings.Contains(body, `"tool_call_id":"`+id+`"`) {
				t.Errorf("id %q: %s", id, body)
			}
		}},
		{"Q-6.14-name-of-tool", sends("mistral", "m", nil, `"name":"read","content":"42"`)},
		{"Q-6.14-unknown-fields", sends("mistral", "m", nil, `!reasoning`, `!"thinking"`)},
		{"Q-6.14-empty-assistant", sends("mistral", "m", func(r *llm.Request) { r.Messages[3].Blocks[0].Text = "" }, `"role":"assistant","content":"(empty)"`)},
		{"Q-6.14-content-parts", reads(known("mistral", "m"), stream("stop", `"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"}]`, `"content":"y"`), "reasoning(hm) text(xy)")},
		{"Q-6.14-usage", all(counts(`"usage":{"prompt_tokens":9,"completion_tokens":2,"num_cached_tokens":4}`, 5, 4, -1, 2, -1),
			counts(`"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_token_details":{"cached_tokens":4}}`, 5, 4, -1, 2, -1))},
		{"Q-6.14-finish", all(finishes("model_length", llm.Length), breaks(stream("error", `"content":"x"`), llm.Overload, "error"))},
		{"Q-6.14-errors", all(refuses(400, `{"object":"error","message":"Tool call id was X but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":3280}`, llm.Invalid, "length of 9"),
			refuses(422, `{"detail":[{"loc":["body","messages"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`, llm.Invalid, "Extra inputs"),
			refuses(422, `{"object":"error","message":{"detail":[{"msg":"field required"}]}}`, llm.Invalid, "field required"))},
		{"Q-6.14-calls-whole", reads(known("mistral", "m"), stream("tool_calls", tc(`{"id":"a","index":0,"function":{"name":"now","arguments":"{}"}},{"id":"b","index":0,"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}`)), `call(a now {}) call(b read {"path":"a"})`)},

		{"Q-6.15-tool-use-failed", mends(400, `{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=read>"}}`, llm.Invalid, llm.Resend, 0)},
		{"Q-6.15-tools-128", atMost128("groq")},
		{"Q-6.15-reasoning-back", all(sends("groq", "openai/gpt-oss-120b", nil, `"reasoning":"hm"`), sends("groq", "llama-3.3-70b", nil, `!"reasoning"`))},
		{"Q-6.15-effort", all(sends("groq", "openai/gpt-oss-120b", effort("max"), `"reasoning_effort":"high"`), sends("groq", "qwen3-32b", effort("max"), `!reasoning_effort`), sends("groq", "qwen3-32b", thinking("off"), `"reasoning_effort":"none"`))},
		{"Q-6.15-usage", counts(`"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":2}}`, 9, -1, -1, 2, -1)},
		{"Q-6.15-error-in-stream", breaks("data: {\"id\":\"c\",\"choices\":[],\"x_groq\":{\"error\":\"over capacity\"}}\n\n", llm.Overload, "over capacity")},
		{"Q-6.15-errors", all(refuses(413, text("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"), llm.Overflow, "6000"),
			refuses(413, `{"error":{"type":"request_too_large","message":"too large"}}`, llm.Overflow, ""), refuses(498, `{"error":{"code":"capacity_exceeded","message":"flex"}}`, llm.Overload, ""),
			refuses(400, `{"error":{"code":"context_length_exceeded","message":"Please reduce the length of the messages or completion."}}`, llm.Overflow, ""))},

		{"Q-6.16-limit-field", sends("xai", "grok-4.6", limit(9), `"max_completion_tokens":9`, `!"stop"`, `!penalty`)},
		{"Q-6.16-conversation", func(t *testing.T) {
			_, h := sentBy(t, provider.Options{Profile: known("xai", "m")}, say("x"))
			body, _ := sentBy(t, provider.Options{Protocol: provider.Responses, Profile: provider.ProfileFor(provider.Responses, "xai", "", "m")}, say("x"))
			if h.Get("X-Grok-Conv-Id") != "lane" || !strings.Contains(body, `"prompt_cache_key":"lane"`) {
				t.Errorf("%v %s", h, body)
			}
		}},
		{"Q-6.16-schema", all(schemaIs("xai", `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"object","additionalProperties":false},"additionalProperties":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"object"},"additionalProperties":{"type":"string"}}}`),
			schemaIs("xai", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`))},
		{"Q-6.16-reasoning-added", counts(`"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}`, 32, -1, -1, 103, 94)},
		{"Q-6.16-cached-apart", counts(`"usage":{"prompt_tokens":32,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64}}`, 32, 64, -1, 9, -1)},
		{"Q-6.16-duplicate-deltas", func(t *testing.T) {
			long := `"content":"This is one long sentence. "`
			reads(known("xai", "m"), stream("stop", long, long, `"content":"ha "`, `"content":"ha "`, `"content":"This is one long sentence. ha ha "`), "text(This is one long sentence. ha ha )")(t)
			reads(known("xai", "m"), stream("stop", `"reasoning_content":"I think about it."`, `"reasoning_content":"I think about it."`, `"content":"x"`), "reasoning(I think about it.I think about it.) text(x)")(t)
			reads(known("xai", "m"), stream("stop", `"reasoning_content":"I think a lot about it."`, `"reasoning_content":"I think a lot about it."`, `"content":"x"`), "reasoning(I think a lot about it.) text(x)")(t)
			reads(provider.Profile{}, stream("stop", long, long), "text(This is one long sentence. This is one long sentence. )")(t)
		}},
		{"Q-6.16-errors", all(breaks("data: {\"code\":\"The service is currently unavailable\",\"error\":\"Service temporarily unavailable\"}\n\n", llm.Overload, "temporarily"),
			refuses(400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, llm.Overflow, "131072"))},
	}
}

// localQuirks are §6.8 to §6.11: servers of one's own.
func localQuirks() []quirk {
	text := func(s string) string { return `{"error":{"message":"` + s + `","type":"server_error"}}` }
	return []quirk{
		{"Q-6.8-limit-field", sends("ollama", "m", limit(9), `"max_tokens":9`, `!max_completion_tokens`)},
		{"Q-6.8-effort", all(sends("ollama", "m", effort("ultra"), `"reasoning_effort":"max"`), sends("ollama", "m", effort("minimal"), `"reasoning_effort":"low"`), sends("ollama", "m", thinking("off"), `"reasoning_effort":"none"`))},
		{"Q-6.8-name-of-tool", sends("ollama", "m", nil, `"name":"read","content":"42"`)},
		{"Q-6.8-null-content", sends("ollama", "m", nil, `"role":"assistant","content":null`)},
		{"Q-6.8-parameters-mandatory", sends("ollama", "m", func(r *llm.Request) { r.Tools = []llm.ToolSpec{{Name: "now"}} }, `"parameters":{"type":"object","properties":{}}`)},
		{"Q-6.8-calls-index-zero", reads(provider.Profile{}, stream("tool_calls", tc(`{"id":"a","index":0,"function":{"name":"now","arguments":"{}"}}`), tc(`{"id":"b","index":0,"function":{"name":"now","arguments":"{}"}}`)), "call(a now {}) call(b now {})")},
		{"Q-6.8-reasoning", reads(provider.Profile{}, stream("stop", `"role":"assistant","content":"","reasoning":"hm"`, `"content":"x"`), "reasoning(hm) text(x)")},
		{"Q-6.8-stream-just-ends", breaks("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}\n\n", llm.Cut, "ended the stream")},
		{"Q-6.8-no-tools", refuses(400, text(`registry.ollama.ai/library/gemma3:latest does not support tools`), llm.NoTools, "tools")},
		{"Q-6.8-model-missing", refuses(404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, llm.Invalid, "pulling")},
		{"Q-6.8-busy", refuses(503, text("server busy, please try again. maximum pending requests exceeded"), llm.Overload, "busy")},

		{"Q-6.9-reasoning-names", all(reads(provider.Profile{}, stream("stop", `"reasoning":"hm"`, `"content":"x"`), "reasoning(hm) text(x)"), reads(provider.Profile{}, stream("stop", `"reasoning_content":"hm"`, `"content":"x"`), "reasoning(hm) text(x)"))},
		{"Q-6.9-reasoning-name-back", func(t *testing.T) {
			for _, name := range []string{"reasoning", "reasoning_content"} {
				r := pastCall()
				r.Messages[1].Blocks[0].Carrier = name
				body, _ := sentBy(t, provider.Options{Profile: provider.Profile{Reasoning: provider.WithCalls}}, r)
				checkParts(t, body, `"`+name+`":"hm"`)
			}
		}},
		{"Q-6.9-no-parser", refuses(400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`, llm.NoTools, "--tool-call-parser")},
		{"Q-6.9-wrong-parser", reads(known("vllm", "m"), contentStream("stop", `<tool_call>{"name":"now","arguments":{}}</tool_call>`), "call( now {})")},
		{"Q-6.9-template-arguments", all(sends("vllm", "m", thinking("off"), `"chat_template_kwargs":{"enable_thinking":false}`), sends("vllm", "m", nil, `!chat_template_kwargs`))},
		{"Q-6.9-nulls", reads(provider.Profile{}, "data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"tool_calls\":null},\"finish_reason\":\"\",\"stop_reason\":null}],\"prompt_token_ids\":null}\n\n"+stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"now","arguments":""}}`), tc(`{"index":0,"function":{"name":null,"arguments":"{}"}}`)), "text(x) call(a now {})")},
		{"Q-6.9-errors", all(refuses(400, `{"error":{"message":"bad","type":"BadRequestError","param":null,"code":400}}`, llm.Invalid, "bad"), refuses(400, `{"object":"error","message":"bad","type":"BadRequestError","param":null,"code":400}`, llm.Invalid, "bad"))},
		{"Q-6.9-overflow", all(refuses(400, text("max_tokens must be at least 1, got -100."), llm.Overflow, ""),
			mends(400, text("'max_tokens' or 'max_completion_tokens' is too large: 20480. This model's maximum context length is 32768 tokens and your request has 15000 input tokens (20480 > 32768 - 15000)."), llm.Invalid, llm.Shorten, 17768),
			mends(400, text("'max_tokens' or 'max_completion_tokens' is too large: 20480. This model's maximum context length is 32768 tokens and your request has 32700 input tokens (20480 > 32768 - 32700)."), llm.Overflow, "", 0),
			mends(400, text("This model's maximum context length is 32768 tokens. However, you requested 20480 output tokens and your prompt contains at least 15000 input tokens"), llm.Overflow, llm.Shorten, 17768))},

		{"Q-6.10-overflow", func(t *testing.T) {
			e := fail(t, 400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}`)
			if e.Class != llm.Overflow || e.Window != 2048 || e.Tokens != 9000 {
				t.Errorf("%+v", e)
			}
			breaks("data: {\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}\n\n", llm.Overflow, "")(t)
		}},
		{"Q-6.10-template", all(refuses(500, text("Unable to generate parser for this template. Automatic parser generation failed"), llm.Invalid, ""), refuses(400, text("Jinja Exception: Conversation roles must alternate"), llm.Invalid, ""), refuses(500, text("Jinja Exception: x"), llm.Invalid, ""))},
		{"Q-6.10-bad-output", refuses(500, text("The model produced output that does not match the expected peg-native format"), llm.Overload, "peg-native")},
		{"Q-6.10-pictures", refuses(500, text("image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"), llm.Pictures, "mmproj")},
		{"Q-6.10-progress", reads(provider.Profile{}, ": keepalive\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null},\"finish_reason\":null}],\"prompt_progress\":{\"total\":9,\"processed\":3}}\n\n"+stream("stop", `"content":"x"`), "text(x)")},
		{"Q-6.10-timings", counts(`"usage":{"prompt_tokens":9,"completion_tokens":2},"timings":{"cache_n":4,"prompt_n":5}`, 5, 4, -1, 2, -1)},
		{"Q-6.10-loading", refuses(503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Overload, "Loading")},
		{"Q-6.10-tools-need-jinja", refuses(500, text("tools param requires --jinja flag"), llm.NoTools, "--jinja")},
		{"Q-6.10-thinking", sends("llamacpp", "m", thinking("off"), `"chat_template_kwargs":{"enable_thinking":false}`)},

		{"Q-6.11-limit-zero", sends("lmstudio", "m", nil, `!max_tokens`)},
		{"Q-6.11-finish-end", finishes("end", llm.Stop)},
		{"Q-6.11-reasoning-names", all(reads(provider.Profile{}, stream("stop", `"reasoning":"hm"`, `"content":"x"`), "reasoning(hm) text(x)"), reads(provider.Profile{}, contentStream("stop", "<think>\nhm\n</think>\n\nx"), "reasoning(\nhm\n) text(x)"))},
		{"Q-6.11-overflow", all(refuses(400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, llm.Overflow, "4096"),
			breaks("event: error\ndata: {\"error\":{\"message\":\"The number of tokens to keep from the initial prompt is greater than the context length.\"}}\n\n", llm.Overflow, ""))},
		{"Q-6.11-strict-boolean", func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Protocol: provider.Responses}, ask())
			checkParts(t, body, `"strict":false`)
		}},
		{"Q-6.11-call-text", reads(known("lmstudio", "m"), contentStream("stop", `[TOOL_CALLS][{"name":"now","arguments":{}}]`), "call( now {})")},
	}
}
