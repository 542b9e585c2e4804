package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

func manyTools(n int) func(*llm.Request) {
	return func(r *llm.Request) {
		r.Tools = nil
		for i := range n {
			r.Tools = append(r.Tools, llm.ToolSpec{Name: fmt.Sprint("t", i)})
		}
	}
}

// atMost128 tests that a server's bound on tools is told before anything is sent.
func atMost128(preset string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		k := &sink{}
		for n, ok := range map[int]bool{128: true, 129: false} {
			r := say("x")
			manyTools(n)(r)
			o := provider.Options{Profile: known(preset, "m"), Stream: true}
			body, _ := sentBy(t, o, r)
			if ok != (body != "") {
				t.Errorf("%d tools: sent %t", n, body != "")
			}
		}
		o := provider.Options{Wire: newWire(t, k), Endpoint: "http://model.example/v1", Name: "test", Model: "m", Profile: known(preset, "m")}
		r := say("x")
		manyTools(129)(r)
		_, err := provider.New(o).Stream(ctxOf(t), r, nil)
		if e := asError(t, err); e.Class != llm.Invalid || !strings.Contains(e.Message, "at most 128 tools, and these are 129") || len(k.sent) > 0 {
			t.Errorf("%+v", e)
		}
	}
}

// serverQuirks are §6.1 to §6.5: the Chinese vendors of models.
func serverQuirks() []quirk {
	noReasoning := func(r *llm.Request) { r.Messages[1].Blocks = r.Messages[1].Blocks[1:] }
	base := func(code int, text string) string {
		return fmt.Sprintf(`{"base_resp":{"status_code":%d,"status_msg":"%s"}}`, code, text)
	}
	return []quirk{
		{"Q-6.1-thinking-switch", all(
			sends("deepseek", "deepseek-flash", thinking("off"), `"thinking":{"type":"disabled"}`, `!reasoning_effort`),
			sends("deepseek", "deepseek-flash", thinking("on"), `"thinking":{"type":"enabled"}`),
			sends("deepseek", "deepseek-flash", nil, `!"thinking"`, `!reasoning_effort`))},
		{"Q-6.1-effort-levels", all(sends("deepseek", "m", effort("minimal"), `"reasoning_effort":"low"`),
			sends("deepseek", "m", effort("medium"), `"reasoning_effort":"high"`), sends("deepseek", "m", effort("ultra"), `"reasoning_effort":"max"`))},
		{"Q-6.1-reasoning-required", sends("deepseek", "m", nil, `"reasoning_content":"hm","tool_calls"`, `!"content":"It is 42.","reasoning_content"`)},
		{"Q-6.1-reasoning-empty", sends("deepseek", "m", noReasoning, `"reasoning_content":"","tool_calls"`)},
		{"Q-6.1-tools-128", atMost128("deepseek")},
		{"Q-6.1-call-text", reads(known("deepseek", "m"), contentStream("stop", `<｜DSML｜tool_calls><｜DSML｜invoke name="now"></｜DSML｜invoke></｜DSML｜tool_calls>`), "call( now {})")},
		{"Q-6.1-cache-usage", counts(`"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36,"completion_tokens_details":{"reasoning_tokens":3}}`, 36, 64, -1, 7, 3)},
		{"Q-6.1-finish-resources", breaks(stream("insufficient_system_resource", `"content":"x"`), llm.Overload, "insufficient_system_resource")},
		{"Q-6.1-errors", all(refuses(402, `{"error":{"message":"Insufficient Balance"}}`, llm.Quota, "Balance"), refuses(422, `{"error":{"message":"bad"}}`, llm.Invalid, "bad"))},
		{"Q-6.1-keep-alive", reads(provider.Profile{}, "\n\n: keep-alive\n\n: keep-alive\n\n"+stream("stop", `"content":"x"`), "text(x)")},

		{"Q-6.2-reasoning-split", all(sends("minimax", "MiniMax-M2.7", nil, `"reasoning_split":true`, `"reasoning_content":"hm"`),
			reads(known("minimax", "m"), stream("stop", `"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`, `"content":"x"`), "reasoning(hm) text(x)"))},
		{"Q-6.2-think-tags", reads(known("minimax", "m"), contentStream("stop", "<think>hm", "</think>\n\nx"), "reasoning(hm) text(x)")},
		{"Q-6.2-thinking-adaptive", sends("minimax", "m", thinking("on"), `"thinking":{"type":"adaptive"}`)},
		{"Q-6.2-limit-field", sends("minimax", "m", limit(9), `"max_completion_tokens":9`, `!"max_tokens"`)},
		{"Q-6.2-parameters-mandatory", sends("minimax", "m", func(r *llm.Request) { r.Tools = []llm.ToolSpec{{Name: "now"}} }, `"parameters":{"type":"object","properties":{}}`, `!strict`)},
		{"Q-6.2-names-repeated", reads(provider.Profile{}, stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\""}}`), tc(`{"index":0,"function":{"name":"read","arguments":":\"a\"}"}}`)), `call(a read {"path":"a"})`)},
		{"Q-6.2-arguments-object", reads(provider.Profile{}, stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"a"}}}`)), `call(a read {"path":"a"})`)},
		{"Q-6.2-base-resp", all(breaks(base(1000, "unknown"), llm.Overload, "unknown"), breaks(base(1001, "timeout"), llm.Overload, ""), breaks(base(1002, "limit"), llm.Rate, ""),
			breaks(base(1004, "auth"), llm.Auth, ""), breaks(base(1008, "balance"), llm.Quota, ""), breaks(base(1013, "internal"), llm.Overload, ""),
			breaks(base(1026, "sensitive"), llm.Policy, ""), breaks(base(1027, "sensitive"), llm.Policy, ""), breaks(base(1039, "tokens"), llm.Rate, ""),
			breaks(base(2049, "key"), llm.Auth, ""), breaks(base(2013, "invalid params"), llm.Invalid, ""))},
		{"Q-6.2-base-resp-zero", reads(provider.Profile{}, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"base_resp":{"status_code":0,"status_msg":""}}`, "text(x)")},
		{"Q-6.2-overflow", breaks(base(2013, "invalid params, context window exceeds limit (2013)"), llm.Overflow, "window")},
		{"Q-6.2-call-text", reads(known("minimax", "m"), contentStream("stop", `<minimax:tool_call><invoke name="now"></invoke></minimax:tool_call>`), "call( now {})")},

		{"Q-6.3-thinking-switch", sends("mimo", "mimo-v2.5", thinking("off"), `"thinking":{"type":"disabled"}`)},
		{"Q-6.3-reasoning-required", sends("mimo", "m", noReasoning, `"reasoning_content":"","tool_calls"`)},
		{"Q-6.3-limit-field", sends("mimo", "m", limit(9), `"max_completion_tokens":9`)},

		{"Q-6.4-sampling-fixed", sends("moonshot", "kimi-k2.6", nil, `!"temperature"`, `!"top_p"`, `!"n"`, `!penalty`)},
		{"Q-6.4-limit-field", sends("moonshot", "m", limit(9), `"max_completion_tokens":9`)},
		{"Q-6.4-no-strict", sends("moonshot", "m", nil, `!strict`)},
		{"Q-6.4-effort-k3", all(sends("moonshot", "kimi-k3", effort("medium"), `"reasoning_effort":"high"`), sends("moonshot", "kimi-k3", thinking("off"), `!"thinking"`),
			sends("moonshot", "kimi-k2.6", effort("medium"), `!reasoning_effort`))},
		{"Q-6.4-reasoning-required", sends("moonshot", "m", noReasoning, `"reasoning_content":"","tool_calls"`)},
		{"Q-6.4-ids-as-given", sends("moonshot", "m", nil, `"id":"functions.read:0"`, `"tool_call_id":"functions.read:0"`)},
		{"Q-6.4-schema", schemaIs("moonshot", `{"properties":{"a":{"type":"string","anyOf":[{"minLength":1},{"type":"null"}]},"b":{"type":"array","items":[{"type":"string"}]}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]},"b":{"type":"array","prefixItems":[{"type":"string"}]}}}`)},
		{"Q-6.4-usage-in-choice", func(t *testing.T) {
			u := chatPlay(t, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"cached_tokens\":4}}]}\n\n").Usage
			if u.Fresh == nil || *u.Fresh != 5 || *u.CacheRead != 4 || *u.Output != 2 {
				t.Errorf("%+v", u)
			}
		}},
		{"Q-6.4-call-text", reads(known("moonshot", "m"), contentStream("stop", `<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`), "call(functions.now:0 now {})")},
		{"Q-6.4-empty-text", sends("moonshot", "m", func(r *llm.Request) { r.Messages[3].Blocks[0].Text = " " }, `"content":"(empty)"`)},
		{"Q-6.4-errors", all(refuses(429, `{"error":{"message":"x","type":"exceeded_current_quota_error"}}`, llm.Quota, ""), refuses(429, `{"error":{"message":"x","type":"engine_overloaded_error"}}`, llm.Rate, ""),
			refuses(429, `{"error":{"message":"x","type":"rate_limit_reached_error"}}`, llm.Rate, ""), refuses(400, `{"error":{"message":"x","type":"content_filter"}}`, llm.Policy, ""))},

		{"Q-6.5-thinking-switch", all(sends("zai", "glm-4.7", thinking("off"), `"thinking":{"type":"disabled"}`), sends("zai", "glm-4.7", effort("low"), `!reasoning_effort`))},
		{"Q-6.5-always-thinks", sends("zhipu", "glm-5.3", func(r *llm.Request) { r.Params.Thinking, r.Params.Effort = "off", "ultra" }, `!"thinking"`, `"reasoning_effort":"max"`)},
		{"Q-6.5-effort-ladder", sends("zai", "glm-5.2", effort("xhigh"), `"reasoning_effort":"xhigh"`)},
		{"Q-6.5-reasoning-back", sends("zai", "m", nil, `"reasoning_content":"hm","tool_calls"`)},
		{"Q-6.5-tool-stream", sends("zai", "m", nil, `"tool_stream":true`)},
		{"Q-6.5-tool-choice", sends("zai", "m", nil, `!"tool_choice"`)},
		{"Q-6.5-finish-window", finishes("model_context_window_exceeded", llm.Length)},
		{"Q-6.5-overflow", refuses(400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, llm.Overflow, "")},
		{"Q-6.5-call-text", reads(known("zai", "m"), contentStream("stop", "<tool_call>now\n</tool_call>"), "call( now {})")},
		{"Q-6.5-errors", all(refuses(401, `{"error":{"code":"1000","message":"x"}}`, llm.Auth, ""), refuses(429, `{"error":{"code":"1113","message":"x"}}`, llm.Quota, ""),
			refuses(400, `{"error":{"code":"1214","message":"messages invalid"}}`, llm.Invalid, ""), refuses(400, `{"error":{"code":"1301","message":"x"}}`, llm.Policy, ""),
			refuses(429, `{"error":{"code":"1302","message":"x"}}`, llm.Rate, ""), refuses(429, `{"error":{"code":"1303","message":"x"}}`, llm.Rate, ""), refuses(429, `{"error":{"code":"1305","message":"x"}}`, llm.Rate, ""),
			refuses(429, `{"error":{"code":"1308","message":"until 12:00"}}`, llm.Quota, "until 12:00"), refuses(429, `{"error":{"code":"1310","message":"x"}}`, llm.Quota, ""),
			refuses(429, `{"error":{"code":"1304","message":"daily limit"}}`, llm.Quota, ""), refuses(429, `{"error":{"code":"1309","message":"x"}}`, llm.Quota, ""))},
	}
}

// schemaIs tests how a schema is sent to a server. A schema that a server takes as it stands stays as it is.
func schemaIs(preset, schema, want string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		r := say("x")
		r.Tools = []llm.ToolSpec{{Name: "a", Schema: []byte(schema)}}
		for range 2 { // the bytes are stable
			body, _ := sentBy(t, provider.Options{Profile: known(preset, "m"), Stream: true}, r)
			checkParts(t, body, `"parameters":`+want+`}}]`)
		}
		if string(r.Tools[0].Schema) != schema {
			t.Errorf("the schema was changed: %s", r.Tools[0].Schema)
		}
	}
}
