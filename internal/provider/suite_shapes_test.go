package provider_test

import (
	"strconv"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/scripted"
)

// shapeBehaviours are about what servers send in other forms than the vendor, in any protocol.
func shapeBehaviours() []behaviour {
	whole := map[string]string{"whole": "of streams"}
	return []behaviour{
		{"calls that grow side by side", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}}`), tc(`{"index":1,"id":"b","function":{"name":"bash","arguments":"{\"comm"}}`),
					tc(`{"index":0,"function":{"arguments":"th\":\"x\"}"}}`), tc(`{"index":1,"function":{"arguments":"and\":\"ls\"}"}}`)),
				named(item(0, `"type":"function_call","id":"i","call_id":"a","name":"read"`), item(1, `"type":"function_call","id":"j","call_id":"b","name":"bash"`),
					argsDelta(0, "i", `{\"pa`), argsDelta(1, "j", `{\"comm`), argsDelta(0, "i", `th\":\"x\"}`), argsDelta(1, "j", `and\":\"ls\"}`), completed),
				named(block(0, `"type":"tool_use","id":"a","name":"read","input":{}`), block(1, `"type":"tool_use","id":"b","name":"bash","input":{}`),
					inputDelta(0, `{\"pa`), inputDelta(1, `{\"comm`), inputDelta(0, `th\":\"x\"}`), inputDelta(1, `and\":\"ls\"}`), stopped("tool_use")),
			)).want(t, w.toolFinish(), `call(a read {"path":"x"}) call(b bash {"command":"ls"})`)
		}},
		{"text that grows beside a call", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", `"content":"a"`, tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{"}}`), tc(`{"index":0,"function":{"arguments":"}"}}`)),
				named(item(0, `"type":"message"`), item(1, `"type":"function_call","call_id":"a","name":"now"`), argsDelta(1, "", `{`), `{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, argsDelta(1, "", `}`), completed),
				named(block(0, `"type":"text","text":""`), block(1, `"type":"tool_use","id":"a","name":"now","input":{}`), inputDelta(1, `{`), textDelta(0, "a"), inputDelta(1, `}`), stopped("tool_use")),
			)).want(t, w.toolFinish(), "text(a) call(a now {})")
		}},
		{"indexes that begin elsewhere and have gaps", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", tc(`{"index":7,"id":"a","function":{"name":"now","arguments":""}}`), tc(`{"index":900000000,"id":"b","function":{"name":"now","arguments":"{}"}}`)),
				named(item(7, `"type":"function_call","call_id":"a","name":"now"`), item(900000000, `"type":"function_call","call_id":"b","name":"now"`), argsDelta(900000000, "", "{}"),
					`{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"a","name":"now","arguments":"{}"},{"type":"function_call","call_id":"b","name":"now","arguments":"{}"}]}}`),
				named(block(7, `"type":"tool_use","id":"a","name":"now","input":{}`), block(900000000, `"type":"tool_use","id":"b","name":"now","input":{}`), inputDelta(900000000, "{}"), stopped("tool_use")),
			)).want(t, w.toolFinish(), "call(a now {}) call(b now {})")
		}},
		{"one index for everything", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", `"content":"t"`, tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}`), tc(`{"index":0,"id":"b","function":{"name":"read","arguments":"{\"path\":2}"}}`)),
				named(item(0, `"type":"message"`), `{"type":"response.output_text.delta","output_index":0,"delta":"t"}`,
					item(0, `"type":"function_call","call_id":"a","name":"read"`), argsDelta(0, "", `{\"path\":1}`), done(0, `"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":1}"`),
					item(0, `"type":"function_call","call_id":"b","name":"read"`), argsDelta(0, "", `{\"path\":2}`), done(0, `"type":"function_call","call_id":"b","name":"read","arguments":"{\"path\":2}"`), completed),
				named(block(0, `"type":"text","text":""`), textDelta(0, "t"), block(0, `"type":"tool_use","id":"a","name":"read","input":{"path":1}`), block(0, `"type":"tool_use","id":"b","name":"read","input":{}`), inputDelta(0, `{\"path\":2}`), stopped("tool_use")),
			)).want(t, w.toolFinish(), `text(t) call(a read {"path":1}) call(b read {"path":2})`)
		}},
		{"no index at all", whole, func(t *testing.T, w world) {
			bare := func(s string) string {
				return strings.NewReplacer(`"output_index":0,`, "", `"output_index":1,`, "", `"index":0,`, "", `"index":1,`, "").Replace(s)
			}
			w.play(t, bare(w.pick(
				stream("tool_calls", `"content":"t"`, tc(`{"id":"a","function":{"name":"read","arguments":"{\"pa"}}`), tc(`{"function":{"arguments":"th\":1}"}}`), tc(`{"id":"b","function":{"name":"now","arguments":"{}"}}`)),
				named(item(0, `"type":"message"`), `{"type":"response.output_text.delta","output_index":0,"delta":"t"}`, item(1, `"type":"function_call","call_id":"a","name":"read"`), argsDelta(1, "", `{\"pa`), argsDelta(1, "", `th\":1}`),
					item(1, `"type":"function_call","call_id":"b","name":"now"`), argsDelta(1, "", `{}`), completed),
				named(block(0, `"type":"text","text":""`), textDelta(0, "t"), block(1, `"type":"tool_use","id":"a","name":"read","input":{}`), inputDelta(1, `{\"pa`), inputDelta(1, `th\":1}`),
					block(1, `"type":"tool_use","id":"b","name":"now","input":{}`), inputDelta(1, `{}`), stopped("tool_use")),
			))).want(t, w.toolFinish(), `text(t) call(a read {"path":1}) call(b now {})`)
		}},
		{"the id comes late", map[string]string{"whole": "of streams", "messages": "a call begins with its id"}, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", tc(`{"index":0,"function":{"name":"now","arguments":"{"}}`), tc(`{"index":0,"id":"a","function":{"arguments":"}"}}`)),
				named(item(0, `"type":"function_call"`), argsDelta(0, "", "{}"), done(0, `"type":"function_call","call_id":"a","name":"now","arguments":"{}"`), completed), "",
			)).want(t, w.toolFinish(), "call(a now {})")
		}},
		{"arguments that come at once", nil, func(t *testing.T, w world) {
			whole := w.pick(`{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":{"path":"x"}}}]},"finish_reason":"tool_calls"}]}`,
				`{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"read","arguments":{"path":"x"}}]}`,
				`{"content":[{"type":"tool_use","id":"a","name":"read","input":"{\"path\":\"x\"}"}],"stop_reason":"tool_use"}`)
			if w.stream {
				whole = w.pick(stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"x"}}}`)),
					named(item(0, `"type":"function_call","call_id":"a","name":"read"`), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"path\":\"x\"}"}`, completed),
					named(block(0, `"type":"tool_use","id":"a","name":"read","input":{"path":"x"}`), stopped("tool_use")))
			}
			w.play(t, whole).want(t, w.toolFinish(), `call(a read {"path":"x"})`)
		}},
		{"what is not known is passed over", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				"event: x\ndata: {\"object\":\"odd\",\"choices\":[],\"prompt_filter_results\":[{}]}\n\ndata: {\"obfuscation\":\"x\"}\n\n"+stream("stop", `"content":"a","annotations":[],"odd":{"a":[1]}`),
				named(`{"type":"response.queued"}`, `{"type":"response.web_search_call.searching","output_index":0,"item_id":"w"}`, item(0, `"type":"web_search_call","id":"w"`), done(0, `"type":"web_search_call","id":"w"`),
					item(1, `"type":"message"`), `{"type":"response.content_part.added","output_index":1,"part":{}}`, `{"type":"response.output_text.delta","output_index":1,"delta":"a","logprobs":[],"obfuscation":"zz"}`,
					`{"type":"response.output_text.annotation.added","output_index":1,"annotation":{}}`, `{"type":"response.brand.new","output_index":1,"delta":"no"}`, completed),
				named(`{"type":"ping"}`, block(0, `"type":"server_tool_use","id":"s","name":"web_search","input":{}`), inputDelta(0, `{}`), `{"type":"content_block_stop","index":0}`, block(1, `"type":"text","text":""`), textDelta(1, "a"),
					`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"text":"no"}}}`, `{"type":"brand_new","index":1}`, `{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"no"}}`, stopped("end_turn")),
			)).want(t, llm.Stop, "text(a)")
		}},
		{"null wherever a value may be", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				`data: {"choices":null}`+"\n\n"+`data: {"choices":[{"delta":null,"finish_reason":null}],"usage":null,"error":null}`+"\n\n"+stream("stop", `"role":null,"content":null,"tool_calls":null,"refusal":null`, `"content":"a"`),
				named(`{"type":"response.created","response":null}`, `{"type":"response.output_item.added","output_index":0,"item":null}`, item(0, `"type":"message","content":null`), `{"type":"response.output_text.delta","output_index":0,"delta":null}`,
					`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":null,"phase":null}}`,
					`{"type":"response.completed","response":{"status":"completed","error":null,"incomplete_details":null,"output":null,"usage":null}}`),
				named(`{"type":"message_start","message":null}`, `{"type":"content_block_start","index":3,"content_block":null}`, block(0, `"type":"text","text":null`), `{"type":"content_block_delta","index":0,"delta":null}`, textDelta(0, "a"),
					`{"type":"message_delta","delta":{"stop_reason":null},"usage":null}`, stopped("end_turn")),
			)).want(t, llm.Stop, "text(a)")
		}},
		{"events without names, and names without types", map[string]string{"whole": "of streams", "chat": "its events have neither"}, func(t *testing.T, w world) {
			var bare, typeless []string
			for _, e := range strings.SplitAfter(w.record(t, scripted.Reply{Text: "a", Reasoning: "b"}), "\n\n") {
				_, data, _ := strings.Cut(e, "\n")
				bare = append(bare, data)
				name, _, _ := strings.Cut(strings.TrimPrefix(e, "event: "), "\n")
				typeless = append(typeless, strings.Replace(e, `"type":"`+name+`"`, `"odd":"x"`, 1))
			}
			w.play(t, strings.Join(bare, "")).want(t, llm.Stop, "reasoning(b) text(a)")
			w.play(t, strings.Join(typeless, "")).want(t, llm.Stop, "reasoning(b) text(a)")
		}},
		{"the last of two stop reasons that matter", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				strings.Replace(stream("length", `"content":"half"`), "data: [DONE]", "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]", 1),
				named(item(0, `"type":"message"`), `{"type":"response.output_text.delta","output_index":0,"delta":"half"}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, completed),
				named(block(0, `"type":"text","text":"half"`), `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, stopped("end_turn")),
			)).want(t, llm.Length, "text(half)")
		}},
		{"the order in which things come is kept", whole, func(t *testing.T, w world) {
			w.play(t, w.pick(
				stream("tool_calls", `"reasoning":"r"`, `"content":"a"`, tc(`{"index":0,"id":"x","function":{"name":"now"}}`), `"content":"b"`),
				named(item(0, `"type":"reasoning"`), `{"type":"response.reasoning_text.delta","output_index":0,"delta":"r"}`, item(1, `"type":"message"`), `{"type":"response.output_text.delta","output_index":1,"delta":"a"}`,
					item(2, `"type":"function_call","call_id":"x","name":"now"`), item(3, `"type":"message"`), `{"type":"response.output_text.delta","output_index":3,"delta":"b"}`, completed),
				named(block(0, `"type":"thinking","thinking":"r"`), block(1, `"type":"text","text":"a"`), block(2, `"type":"tool_use","id":"x","name":"now","input":{}`), block(3, `"type":"text","text":"b"`), stopped("tool_use")),
			)).want(t, w.toolFinish(), "reasoning(r) text(a) call(x now {}) text(b)")
		}},
	}
}

// toolFinish is the finish of an answer with calls: Responses has none of its own.
func (w world) toolFinish() llm.Finish {
	if w.pick("", "x", "") != "" {
		return llm.Stop
	}
	return llm.ToolCalls
}

const completed = `{"type":"response.completed","response":{"status":"completed"}}`

func item(n int, inside string) string {
	return doc(n, `{"type":"response.output_item.added","output_index":%,"item":{`+inside+`}}`)
}

func done(n int, inside string) string {
	return doc(n, `{"type":"response.output_item.done","output_index":%,"item":{`+inside+`}}`)
}

func argsDelta(n int, id, s string) string {
	return doc(n, `{"type":"response.function_call_arguments.delta","output_index":%,"item_id":"`+id+`","delta":"`+s+`"}`)
}

func block(n int, inside string) string {
	return doc(n, `{"type":"content_block_start","index":%,"content_block":{`+inside+`}}`)
}

func inputDelta(n int, s string) string {
	return doc(n, `{"type":"content_block_delta","index":%,"delta":{"type":"input_json_delta","partial_json":"`+s+`"}}`)
}

func textDelta(n int, s string) string {
	return doc(n, `{"type":"content_block_delta","index":%,"delta":{"type":"text_delta","text":"`+s+`"}}`)
}

func stopped(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":3}}`
}

// doc puts a number into a document.
func doc(n int, s string) string { return strings.Replace(s, "%", strconv.Itoa(n), 1) }
