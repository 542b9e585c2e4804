package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// shapeQuirks are §7.1: chunks and bodies.
func shapeQuirks() []quirk {
	x := stream("stop", `"content":"x"`)
	chunk := func(s string) string { return "data: " + s + "\n\n" }
	is := func(body string) func(*testing.T) { return reads(provider.Profile{}, body, "text(x)") }
	return []quirk{
		{"Q-7.1-no-choices", is(chunk(`{"id":"a"}`) + chunk(`{"choices":null}`) + chunk(`{"choices":[]}`) + x)},
		{"Q-7.1-delta-null", is(chunk(`{"choices":[{"delta":null}]}`) + chunk(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`))},
		{"Q-7.1-role", is(stream("stop", `"role":"","content":"x"`, `"role":"assistant"`))},
		{"Q-7.1-content", all(is(stream("stop", `"content":null`, `"content":""`, `"content":[{"type":"text","text":"x"}]`)), is(stream("stop", `"content":["x"]`)))},
		{"Q-7.1-no-ids", is(chunk(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`))},
		{"Q-7.1-usage-behind-finish", func(t *testing.T) {
			body := chunk(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":null}`) + chunk(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}`) + "data: [DONE]\n\n"
			if u := chatPlay(t, body).Usage; u.Fresh == nil || *u.Fresh != 9 {
				t.Errorf("%+v", u)
			}
		}},
		{"Q-7.1-usage-on-every-chunk", func(t *testing.T) {
			body := chunk(`{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`) + chunk(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
			if u := chatPlay(t, body).Usage; u.Output == nil || *u.Output != 2 || *u.Fresh != 9 {
				t.Errorf("%+v", u)
			}
		}},
		{"Q-7.1-usage-missing", func(t *testing.T) {
			if u := chatPlay(t, x).Usage; u.Fresh != nil || u.Output != nil || u.Raw != nil {
				t.Errorf("%+v", u)
			}
		}},
		{"Q-7.1-finish-twice", is(chunk(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`) + chunk(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`))},
		{"Q-7.1-whole-text-again", reads(provider.Profile{Repeats: true}, stream("stop", `"content":"It is a long text, "`, `"content":"and goes on here."`, `"content":"It is a long text, and goes on here."`), "text(It is a long text, and goes on here.)")},
		{"Q-7.1-numbers-as-strings", all(refuses(429, `{"error":{"message":"x","code":"429"}}`, llm.Rate, ""), refuses(400, `{"error":{"message":"x","code":400,"param":{"a":1}}}`, llm.Invalid, ""))},
		{"Q-7.1-envelope", is(`{"data":{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]},"success":true}`)},
		{"Q-7.1-fields-of-events", is("id: 7\nretry: 100\nevent: completion\n" + x)},
		{"Q-7.1-empty-data", is("data: \n\ndata:\n\n" + x)},
		{"Q-7.1-done", all(is(x+chunk(`{"choices":[{"delta":{"content":"more"}}]}`)), is(strings.ReplaceAll(x, "[DONE]", `"[DONE]"`)), is(strings.ReplaceAll(x, "data: [DONE]\n\n", "")))},
	}
}

// callQuirks are §7.2 and §7.3: the shapes of calls, native and in text.
func callQuirks() []quirk {
	calls := func(want string, deltas ...string) func(*testing.T) {
		return reads(provider.Profile{}, stream("stop", deltas...), want)
	}
	out := []quirk{
		{"Q-7.2-no-index", calls(`call(a now {}) call(b read {"path":"a"})`, tc(`{"id":"a","function":{"name":"now","arguments":"{}"}}`), tc(`{"id":"b","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}`))},
		{"Q-7.2-index-zero", calls(`call(a now {}) call(b now {})`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":0,"id":"b","function":{"name":"now","arguments":"{}"}}`))},
		{"Q-7.2-index-holes", calls(`call(a now {}) call(b now {}) call(c now {})`, tc(`{"index":1,"id":"a","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":-1,"id":"b","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":4000000000,"id":"c","function":{"name":"now","arguments":"{}"}}`))},
		{"Q-7.2-tail-under-other-index", calls(`call(a now {}) call(b read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":0,"id":"b","function":{"name":"read","arguments":"{\"path\""}}`), tc(`{"index":1,"function":{"arguments":":\"a\"}"}}`))},
		{"Q-7.2-continued-under-new-index", calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), tc(`{"index":1,"function":{"arguments":"{\"path\":"}}`), tc(`{"index":2,"function":{"arguments":"\"a\"}"}}`))},
		{"Q-7.2-late-ids", all(calls(`call(a read {"path":"a"})`, tc(`{"index":0,"function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"id":"a","function":{"arguments":"\"a\"}"}}`)),
			calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"id":"","function":{"arguments":"\"a\"}"}}`)),
			calls(`call(a now {})`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":""}}`), tc(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)))},
		{"Q-7.2-same-ids", calls(`call(now now {}) call(now read {"path":"a"})`, tc(`{"index":0,"id":"now","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":1,"id":"now","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}`))},
		{"Q-7.2-names-repeated", calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"name":"read","arguments":"\"a\"}"}}`))},
		{"Q-7.2-names-null-or-late", calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"name":"read","arguments":"\"a\"}"}}`), tc(`{"index":0,"function":{"name":"null"}}`), tc(`{"index":0,"function":{"name":null}}`))},
		{"Q-7.2-type", calls(`call(a now {})`, tc(`{"index":0,"type":"","id":"a","function":{"name":"now","arguments":"{}"}}`), tc(`{"index":0,"type":"FUNCTION","function":{}}`))},
		{"Q-7.2-arguments-object", calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"a"}}}`))},
		{"Q-7.2-arguments-again", calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"arguments":"\"a\"}"}}`), tc(`{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}`))},
		{"Q-7.2-several-objects", calls(`call(a read {"path":"a"}) call( read {"path":"b"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"a\"}{\"path\":\"b\"}"}}`))},
		{"Q-7.2-arguments-empty", all(calls(`call(a now {})`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"null"}}`)), calls(`call(a now {})`, tc(`{"index":0,"id":"a","function":{"name":"now"}}`)), calls(`call(a now {})`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":null}}`)),
			calls(`call(a read {"path":"a"})`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), tc(`{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}`)))},
		{"Q-7.2-name-of-tool", all(calls(`call(a read {})`, tc(`{"index":0,"id":"a","function":{"name":"functions.read","arguments":"{}"}}`)), calls(`call(a read {})`, tc(`{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}`)),
			calls(`call(a read {})`, tc(`{"index":0,"id":"a","function":{"name":"read<|channel|>commentary","arguments":"{}"}}`)), calls(`call(a read {})`, tc(`{"index":0,"id":"a","function":{"name":" default_api.read","arguments":"{}"}}`)),
			calls(`call(a hammer {})`, tc(`{"index":0,"id":"a","function":{"name":"hammer","arguments":"{}"}}`)))},
		{"Q-7.2-call-with-finish", reads(provider.Profile{}, "data: {\"choices\":[{\"delta\":{"+tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`)+"},\"finish_reason\":\"tool_calls\"}]}\n\n", "call(a now {})")},
		{"Q-7.2-function-call", reads(provider.Profile{}, `{"choices":[{"message":{"content":null,"function_call":{"name":"now","arguments":"{}"}},"finish_reason":"function_call"}]}`, "call( now {})")},
		{"Q-7.2-nothing", calls(`text(x)`, tc(`{"index":0,"function":{"name":"","arguments":""}}`), `"content":"x"`)},

		{"Q-7.3-asked-for", reads(provider.Profile{}, contentStream("stop", `<tool_call>{"name":"now"}</tool_call>`), `text(<tool_call>{"name":"now"}</tool_call>)`)},
		{"Q-7.3-shy-forms", reads(auto(), contentStream("stop", `{"name":"read","arguments":{"path":"a"}}`), `text({"name":"read","arguments":{"path":"a"}})`)},
		{"Q-7.3-quoted", reads(auto(), contentStream("stop", "```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```"), "text(```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```)")},
		{"Q-7.3-at-the-end", reads(auto(), contentStream("stop", `<tool_call>{"name":"now"}</tool_call> is it.`), `text(<tool_call>{"name":"now"}</tool_call> is it.)`)},
		{"Q-7.3-left-over", reads(auto(), stream("tool_calls", `"content":"<tool_call>{\"name\":\"now\"}</tool_call>"`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`)), "call(a now {})")},
		{"Q-7.3-malformed-told", func(t *testing.T) {
			if r, _ := readText(t, auto(), `<tool_call>{"name":"hammer"}</tool_call>`); !r.Garbled || len(callsOf(r)) > 0 {
				t.Errorf("%+v", r)
			}
		}},
		{"Q-7.3-in-reasoning", reads(auto(), stream("stop", `"reasoning_content":"hm<tool_call>{\"name\":\"now\"}</tool_call>"`), "reasoning(hm) call( now {})")},
		{"Q-7.3-results-no-tags", func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Profile: inText()}, pastCall())
			checkParts(t, body, `The result of read:\n42`, `!<tool`)
		}},
	}
	ids := map[string]string{
		"hermes": "hermes", "Qwen3-Coder": "qwen-coder", "DeepSeek V3": "deepseek", "DSML": "dsml", "Kimi": "kimi", "GLM": "glm", "MiniMax": "minimax",
		"Llama 3": "llama", "Mistral newer": "mistral", "harmony": "harmony", "Gemma": "gemma", "JSON fence": "json", "Claude's old form": "invoke",
	}
	for _, c := range textCases() {
		if id := ids[c.name]; id != "" {
			out = append(out, quirk{"Q-7.3-form-" + id, reads(c.profile(), contentStream("stop", c.text), c.want)})
		}
	}
	return out
}

// reasoningQuirks are §7.4.
func reasoningQuirks() []quirk {
	hm := func(p provider.Profile, deltas ...string) func(*testing.T) {
		return reads(p, stream("stop", deltas...), "reasoning(hm) text(x)")
	}
	none, open := provider.Profile{}, provider.Profile{ThinkOpen: true}
	out := []quirk{
		{"Q-7.4-carriers", all(hm(none, `"reasoning_content":"hm"`, `"content":"x"`), hm(none, `"reasoning":"hm"`, `"content":"x"`), hm(none, `"reasoning":{"text":"hm"}`, `"content":"x"`),
			hm(none, `"reasoning_text":"hm"`, `"content":"x"`), hm(none, `"thinking":"hm"`, `"content":"x"`), hm(none, `"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`, `"content":"x"`),
			hm(none, `"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"x"}]`))},
		{"Q-7.4-same-text-twice", hm(none, `"reasoning":"hm","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]`, `"content":"x"`)},
		{"Q-7.4-tag-split", hm(none, `"content":"\n<th"`, `"content":"ink>h"`, `"content":"m</thi"`, `"content":"nk>\n\nx"`)},
		{"Q-7.4-tag-later", reads(none, contentStream("stop", "Write <think>a</think>"), "text(Write <think>a</think>)")},
		{"Q-7.4-opened-by-template", all(hm(open, `"content":"hm</th"`, `"content":"ink>\n\nx"`), hm(open, `"content":"<think>hm</think>x"`), hm(open, `"reasoning_content":"hm"`, `"content":"x"`))},
		{"Q-7.4-lone-close-tag", reads(none, contentStream("stop", "hm</think>x"), "text(hm</think>x)")},
		{"Q-7.4-unclosed", all(reads(none, contentStream("stop", "<think>hm"), "reasoning(hm)"), reads(open, contentStream("stop", "hm"), "reasoning(hm)"), reads(none, contentStream("stop", "<think>hm</thi"), "reasoning(hm</thi)"))},
		{"Q-7.4-tags-in-field", all(hm(none, `"reasoning_content":"<think>hm</think>"`, `"content":"x"`), hm(none, `"reasoning_content":"<thi"`, `"reasoning_content":"nk>hm</think>\nx"`),
			reads(none, stream("stop", `"reasoning_content":"hm </think> is a tag"`, `"content":"x"`), "reasoning(hm </think> is a tag) text(x)"))},
		{"Q-7.4-interleaved", reads(none, stream("stop", `"reasoning_content":"a"`, `"content":"x"`, `"reasoning_content":"b"`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}}`), `"reasoning_content":"c"`), "reasoning(a) text(x) reasoning(b) call(a now {}) reasoning(c)")},
		{"Q-7.4-tags-not-back", func(t *testing.T) {
			r := pastCall()
			r.Messages[1].Blocks[0].Carrier = "tags"
			body, _ := sentBy(t, provider.Options{}, r)
			checkParts(t, body, `!<think>`, `!hm`)
		}},
		{"Q-7.4-only-reasoning", func(t *testing.T) {
			if o := chatPlay(t, stream("length", `"reasoning_content":"hm"`)); o.Finish != llm.Length || flat(o.Blocks) != "reasoning(hm)" {
				t.Errorf("%+v", o)
			}
		}},
		{"Q-7.4-refused-in-history", func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{}, pastCall())
			checkParts(t, body, `!reasoning`)
		}},
	}
	for id, tag := range map[string][2]string{
		"think": {"<think>", "</think>"}, "thinking": {"<thinking>", "</thinking>"}, "thought": {"<thought>", "</thought>"}, "reasoning": {"<reasoning>", "</reasoning>"},
		"seed": {"<seed:think>", "</seed:think>"}, "brackets": {"[THINK]", "[/THINK]"}, "begin-of-thought": {"<|begin_of_thought|>", "<|end_of_thought|>"},
		"gemma": {"<|channel>thought", "<channel|>"}, "harmony": {"<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"},
	} {
		out = append(out, quirk{"Q-7.4-tag-" + id, all(reads(none, contentStream("stop", tag[0]+"hm"+tag[1]+"x"), "reasoning(hm) text(x)"),
			reads(none, contentStream("stop", strings.Split(tag[0]+"hm"+tag[1]+"x", "")...), "reasoning(hm) text(x)"))})
	}
	return out
}
