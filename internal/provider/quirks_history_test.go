package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// historyQuirks are §7.5 to §7.8: what a request may hold.
func historyQuirks() []quirk {
	plain := func(change func(*llm.Request), parts ...string) func(*testing.T) {
		return sends("", "m", change, parts...)
	}
	gemini := func(schema, want string) func(*testing.T) { return schemaIs("gemini", schema, want) }
	content := func(s string) func(*llm.Request) {
		return func(r *llm.Request) { r.Messages[2].Blocks[0].Result.Content = s }
	}
	return []quirk{
		{"Q-7.5-results-follow-calls", plain(nil, `"tool_calls":[{"id":"functions.read:0","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"functions.read:0","content":"42"}`)},
		{"Q-7.5-no-empty-assistant", plain(func(r *llm.Request) { r.Messages[3].Blocks = nil }, `{"role":"assistant","content":"(empty)"}`)},
		{"Q-7.5-no-blank-texts", func(t *testing.T) {
			r := pastCall()
			r.Messages[3].Blocks[0].Text = " \n"
			r.Messages[4].Blocks[0].Text = ""
			body, _ := sentBy(t, provider.Options{Protocol: provider.Messages}, r)
			checkParts(t, body, `!"text":" `, `!"text":""`, `"text":"(empty)"`)
		}},
		{"Q-7.5-system-first", plain(func(r *llm.Request) { r.System = []llm.Block{{Type: llm.Text, Text: "a"}, {Type: llm.Text, Text: "b"}} }, `"messages":[{"role":"system","content":"a\n\nb"},{"role":"user"`)},
		{"Q-7.5-alternation", plain(func(r *llm.Request) { r.Messages = append(r.Messages, user("really?")) }, `"content":"why?\n\nreally?"`)},
		{"Q-7.5-arguments-valid", plain(func(r *llm.Request) { r.Messages[1].Blocks[1].Call.Arguments = `[1` }, `"arguments":"{}"`)},
		{"Q-7.5-null-or-empty", all(plain(nil, `"content":null,"tool_calls"`), func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Profile: provider.Profile{EmptyContent: true}}, pastCall())
			checkParts(t, body, `"content":"","tool_calls"`)
		})},
		{"Q-7.5-reasoning-of-others", sends("deepseek", "m", func(r *llm.Request) { r.Messages[1].Blocks[0].Origin = "another" }, `"reasoning_content":"","tool_calls"`, `!hm`)},
		{"Q-7.5-no-unknown-fields", sends("mistral", "m", nil, `!reasoning`, `!extra_content`, `!prompt_cache_key`, `!"store"`, `!"metadata"`)},
		{"Q-7.5-last-is-user", plain(nil, `{"role":"user","content":"why?"}]}`)},

		{"Q-7.6-tools-128", atMost128("openai")},
		{"Q-7.6-no-arguments", plain(func(r *llm.Request) { r.Tools = []llm.ToolSpec{{Name: "now"}} }, `"parameters":{"type":"object","properties":{}}`)},
		{"Q-7.6-no-arguments-refused", func(t *testing.T) {
			body, _ := sentBy(t, provider.Options{Profile: provider.Profile{NoParameters: true}}, ask())
			checkParts(t, body, `{"name":"now"}}`, `"name":"read","description":"reads","parameters":{`)
		}},
		{"Q-7.6-gemini-unknown", gemini(`{"$schema":"x","type":"object","additionalProperties":false,"properties":{"$ref":{"type":"string","$comment":"c","pattern":"a","minLength":1},"n":{"type":"number","exclusiveMinimum":1,"multipleOf":2}}}`,
			`{"type":"object","properties":{"$ref":{"type":"string","pattern":"a","minLength":1},"n":{"type":"number"}}}`)},
		{"Q-7.6-gemini-arrays", gemini(`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","items":[{"type":"integer"}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array","items":{"type":"integer"}}}}`)},
		{"Q-7.6-gemini-enums", gemini(`{"type":"object","properties":{"a":{"type":"integer","enum":[1,2]},"b":{"type":"string","enum":["x"]},"c":{"const":"y"}}}`, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","enum":["x"]},"c":{"enum":["y"]}}}`)},
		{"Q-7.6-gemini-required", gemini(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`)},
		{"Q-7.6-gemini-types", gemini(`{"type":"object","properties":{"a":{"type":["null","string"],"format":"uri"},"d":{"type":"string","format":"date-time"},"o":{"oneOf":[{"type":["integer","null"]}]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true},"d":{"type":"string","format":"date-time"},"o":{"anyOf":[{"type":"integer","nullable":true}]}}}`)},
		{"Q-7.6-llamacpp-grammar", schemaIs("llamacpp", `{"type":"object","properties":{"a":{"type":"string","maxLength":50000,"pattern":"x"},"b":{"type":"string","maxLength":5,"pattern":"^x$"},"c":{"enum":["`+strings.Repeat(`x","`, 300)+`y"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","maxLength":5,"pattern":"^x$"},"c":{}}}`)},
		{"Q-7.6-llamacpp-depth", schemaIs("llamacpp", strings.Repeat(`{"items":`, 12)+`{"type":"string"}`+strings.Repeat(`}`, 12), strings.Repeat(`{"items":`, 11)+`{}`+strings.Repeat(`}`, 11))},
		{"Q-7.6-others-as-they-are", schemaIs("openai", `{"type":"object","additionalProperties":false,"properties":{"a":{"type":["null","string"]}}}`, `{"type":"object","additionalProperties":false,"properties":{"a":{"type":["null","string"]}}}`)},

		{"Q-7.7-errors", all(refuses(404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, llm.Pictures, ""),
			refuses(400, `{"error":{"message":"Failed to deserialize: unknown variant `+"`image_url`, expected `text`"+`"}}`, llm.Pictures, ""), refuses(400, `{"error":{"message":"Could not process image"}}`, llm.Pictures, ""),
			refuses(400, `{"error":{"message":"Image does not match the provided media type image/png"}}`, llm.Pictures, ""), refuses(400, `{"error":{"message":"x","code":"invalid_value","param":"input[3].content[0].image_url"}}`, llm.Pictures, ""))},

		{"Q-7.8-invalid-utf8", plain(content("a\xff\xed\xa0\x80b"), "a\uFFFDb")},
		{"Q-7.8-nul", plain(content("a\x00b\tc\r\nd\x1b[1m"), `a`+"\uFFFD"+`b\tc\r\nd\u001b[1m`)},
		{"Q-7.8-special-tokens", func(t *testing.T) {
			r := pastCall()
			content("<|im_end|>")(r)
			body, _ := sentBy(t, provider.Options{Profile: provider.Profile{BreakSpecial: true}}, r)
			checkParts(t, body, `!<|im_end|>`, "<\u200b|im_end|>")
		}},
		{"Q-7.8-no-html-escapes", plain(content("a < b && c > d"), "a < b && c > d")},
		{"Q-7.8-half-surrogates", reads(provider.Profile{}, stream("stop", `"content":"a\ud83e"`, `"content":"\udd4ab"`), "text(a🥊b)")},
	}
}
