package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/scripted"
)

// itemBehaviours are about what one protocol has alone: items of Responses, blocks of Messages.
func itemBehaviours() []behaviour {
	responses := map[string]string{"chat": "of Responses", "messages": "of Responses"}
	events := map[string]string{"chat": "of Responses", "messages": "of Responses", "whole": "of streams"}
	messages := map[string]string{"chat": "of Messages", "responses": "of Messages"}
	blocks := map[string]string{"chat": "of Messages", "responses": "of Messages", "whole": "of streams"}
	return []behaviour{
		{"ids of items change from event to event", events, func(t *testing.T, w world) {
			body := w.record(t, scripted.Reply{Text: "a", Reasoning: "r", Calls: []scripted.Call{{ID: "c", Name: "read", Args: `{"path":"a very long path"}`}}})
			n := 0
			for _, id := range []string{"rs_resp_scripted_1", "msg_resp_scripted_1", "fc_c"} {
				for strings.Contains(body, `"`+id+`"`) {
					n++
					body = strings.Replace(body, `"`+id+`"`, doc(n, `"it%"`), 1)
				}
			}
			w.play(t, body).want(t, llm.Stop, `reasoning(r) text(a) call(c read {"path":"a very long path"})`)
		}},
		{"items without index, told apart by the call's id", events, func(t *testing.T, w world) { // llama.cpp
			w.play(t, named(`{"type":"response.created","response":{"id":"resp"}}`, `{"type":"response.output_item.added","item":{"type":"reasoning","id":"rs"}}`, `{"type":"response.reasoning_text.delta","delta":"r","item_id":"rs"}`,
				`{"type":"response.output_item.added","item":{"type":"message","id":"msg","content":[]}}`, `{"type":"response.output_text.delta","item_id":"msg","delta":"a"}`,
				`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"fc_1","name":"read","arguments":"","status":"in_progress"}}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"path\":"}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"1}"}`,
				`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"fc_2","name":"now","arguments":"","status":"in_progress"}}`, `{"type":"response.function_call_arguments.delta","item_id":"fc_2","delta":"{}"}`,
				`{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs","summary":[],"content":[{"type":"reasoning_text","text":"r"}],"encrypted_content":""}}`,
				`{"type":"response.output_item.done","item":{"type":"message","id":"msg","content":[{"type":"output_text","text":"a"}]}}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"fc_1","name":"read","arguments":"{\"path\":1}","status":"completed"}}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"fc_2","name":"now","arguments":"{}","status":"completed"}}`,
				`{"type":"response.completed","response":{"id":"resp","status":"completed","output":[{"type":"reasoning","id":"rs","summary":[],"content":[{"type":"reasoning_text","text":"r"}]},{"type":"message","id":"msg","content":[{"type":"output_text","text":"a"}]},`+
					`{"type":"function_call","call_id":"fc_1","name":"read","arguments":"{\"path\":1}"},{"type":"function_call","call_id":"fc_2","name":"now","arguments":"{}"}]}}`)).
				want(t, llm.Stop, `reasoning(r) text(a) call(fc_1 read {"path":1}) call(fc_2 now {})`)
		}},
		{"only whole items", events, func(t *testing.T, w world) {
			w.play(t, named(done(0, `"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"r"}]`), done(1, `"type":"message","content":[{"type":"output_text","text":"a"}]`),
				done(2, `"type":"function_call","call_id":"c","name":"now","arguments":"{}"`), completed)).want(t, llm.Stop, "reasoning(r) text(a) call(c now {})")
		}},
		{"only the end", events, func(t *testing.T, w world) {
			w.play(t, named(`{"type":"response.completed","response":`+w.wholeOf(t, scripted.Reply{Text: "a", Reasoning: "r", Calls: []scripted.Call{{ID: "c", Name: "now", Args: "{}"}}})+`}`)).
				want(t, llm.Stop, "reasoning(r) text(a) call(c now {})")
		}},
		{"whole items are missing", events, func(t *testing.T, w world) {
			var kept []string
			for _, e := range strings.SplitAfter(w.record(t, scripted.Reply{Text: "a", Reasoning: "r", Calls: []scripted.Call{{ID: "c", Name: "read", Args: `{"path":"x"}`}}}), "\n\n") {
				if !strings.Contains(e, ".done\n") {
					kept = append(kept, e)
				}
			}
			o := w.play(t, strings.Join(kept, ""))
			o.want(t, llm.Stop, `reasoning(r) text(a) call(c read {"path":"x"})`)
			if len(o.Blocks[0].Opaque) == 0 {
				t.Error("the end has the seal, and it was not taken from there")
			}
		}},
		{"a whole response in another order than its items", events, func(t *testing.T, w world) {
			w.play(t, named(item(0, `"type":"reasoning"`), `{"type":"response.reasoning_text.delta","output_index":0,"delta":"r"}`, item(1, `"type":"message","id":"x"`), `{"type":"response.output_text.delta","output_index":1,"delta":"a"}`,
				`{"type":"response.completed","response":{"output":[{"type":"message","id":"y","content":[{"type":"output_text","text":"a"}]},{"type":"message","id":"z","content":[{"type":"output_text","text":"b"}]}]}}`)).
				want(t, llm.Stop, "reasoning(r) text(a) text(b)")
		}},
		{"only whole texts", events, func(t *testing.T, w world) {
			w.play(t, named(item(0, `"type":"message"`), `{"type":"response.output_text.done","output_index":0,"text":"a"}`, completed)).want(t, llm.Stop, "text(a)")
		}},
		{"pieces before their item", events, func(t *testing.T, w world) {
			w.play(t, named(`{"type":"response.output_text.delta","output_index":0,"item_id":"m","delta":"a"}`, item(0, `"type":"message","id":"m"`), argsDelta(1, "f", "{}"), item(1, `"type":"function_call","id":"f","call_id":"c","name":"now"`), completed)).
				want(t, llm.Stop, "text(a) call(c now {})")
		}},
		{"an end that says nothing", events, func(t *testing.T, w world) {
			for _, end := range []string{`{"type":"response.completed"}`, `{"type":"response.done","response":{}}`, `{"type":"response.completed","response":{"output":[]}}`} {
				w.play(t, named(item(0, `"type":"message"`), `{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, end)).want(t, llm.Stop, "text(a)")
			}
		}},
		{"several summaries are paragraphs", responses, func(t *testing.T, w world) {
			whole := `{"status":"completed","output":[{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"x"}]}`
			if w.stream {
				part := func(s string) string {
					return `{"type":"response.reasoning_summary_part.added","output_index":0,"part":{}}` + "\n" + `{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"` + s + `"}`
				}
				whole = named(append(append([]string{item(0, `"type":"reasoning"`)}, strings.Split(part("one")+"\n"+part("two"), "\n")...), `{"type":"response.completed","response":`+whole+`}`)...)
			}
			w.play(t, whole).want(t, llm.Stop, "reasoning(one\n\ntwo)")
		}},
		{"an answer in the form of Chat Completions", responses, func(t *testing.T, w world) {
			body := `{"object":"chat.completion","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`
			if w.stream {
				body = strings.ReplaceAll(stream("stop", `"content":"a"`), `"id"`, `"object":"chat.completion.chunk","id"`)
				body = strings.ReplaceAll(body, `{"choices"`, `{"object":"chat.completion.chunk","choices"`)
			}
			w.play(t, body).want(t, llm.Stop, "text(a)")
		}},
		{"an end for a reason that is new is no answer", responses, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "half", Finish: "max_tool_calls"})).want(t, llm.Length, "text(half)")
		}},
		{"a response that failed", responses, func(t *testing.T, w world) {
			whole := `{"id":"r","object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 1.5s."},"output":[]}`
			if w.stream {
				whole = named(`{"type":"response.failed","response":` + whole + `}`)
			}
			w.play(t, whole).fails(t, llm.Rate, "Rate limit reached", "")
			cancelled := `{"status":"cancelled","output":[]}`
			if w.stream {
				cancelled = named(`{"type":"response.failed","response":` + cancelled + `}`)
			}
			w.play(t, cancelled).fails(t, llm.Cut, "broke the answer off", "")
		}},
		{"a failure that only its event tells of", events, func(t *testing.T, w world) {
			call := done(0, `"type":"function_call","call_id":"c","name":"now","arguments":"{}"`)
			for _, c := range []struct{ end, message string }{
				{`{"type":"response.failed","error":{"message":"boom"}}`, "boom"},
				{`{"type":"response.failed","message":"boom"}`, "boom"},
				{`{"type":"response.failed"}`, "broke the answer off"},
				{`{"type":"response.failed","response":{"status":"in_progress"}}`, "broke the answer off"},
			} {
				w.play(t, named(call, c.end)).fails(t, llm.Overload, c.message, "call(c now {})")
			}
			w.play(t, named(call, `{"type":"response.cancelled"}`)).fails(t, llm.Cut, "broke the answer off", "call(c now {})")
		}},
		{"an end that only its event says is early", events, func(t *testing.T, w world) {
			call := done(0, `"type":"function_call","call_id":"c","name":"now","arguments":"{}"`)
			for _, end := range []string{
				`{"type":"response.incomplete"}`, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`,
				`{"type":"response.incomplete","response":{"status":"in_progress"}}`,
			} {
				w.play(t, named(call, end)).want(t, llm.Length, "call(c now {})")
			}
			w.play(t, named(call, `{"type":"response.incomplete","incomplete_details":{"reason":"content_filter"}}`)).want(t, llm.ContentFilter, "call(c now {})")
		}},
		{"thinking that is hidden is kept", messages, func(t *testing.T, w world) {
			body := `{"content":[{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
			if w.stream {
				body = named(block(0, `"type":"redacted_thinking","data":"EmwK"`), block(1, `"type":"text","text":"a"`), stopped("end_turn"))
			}
			o := w.play(t, body)
			o.want(t, llm.Stop, "reasoning() text(a)")
			if string(o.Blocks[0].Opaque) != `"EmwK"` {
				t.Errorf("%s", o.Blocks[0].Opaque)
			}
		}},
		{"thinking that is only signed is kept", messages, func(t *testing.T, w world) {
			body := `{"content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
			if w.stream {
				body = named(block(0, `"type":"thinking","thinking":""`), `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ln"}}`,
					block(1, `"type":"text","text":"a"`), stopped("end_turn"))
			}
			o := w.play(t, body)
			o.want(t, llm.Stop, "reasoning() text(a)")
			if string(o.Blocks[0].Opaque) != `"c2ln"` {
				t.Errorf("%s", o.Blocks[0].Opaque)
			}
		}},
		{"empty blocks beside others are none", messages, func(t *testing.T, w world) {
			body := `{"content":[{"type":"thinking","thinking":""},{"type":"text","text":""},{"type":"tool_use","id":"a","name":"now","input":{}}],"stop_reason":"tool_use"}`
			if w.stream {
				body = named(block(0, `"type":"thinking","thinking":""`), block(1, `"type":"text","text":""`), block(2, `"type":"tool_use","id":"a","name":"now","input":{}`), stopped("tool_use"))
			}
			w.play(t, body).want(t, llm.ToolCalls, "call(a now {})")
		}},
		{"content in the first event", blocks, func(t *testing.T, w world) {
			w.play(t, named(`{"type":"message_start","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"now","input":{}}]}}`, stopped("tool_use"))).want(t, llm.ToolCalls, "text(a) call(c now {})")
		}},
		{"usage adds up from several events", blocks, func(t *testing.T, w world) {
			o := w.play(t, named(`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":1}}}`, block(0, `"type":"text","text":"a"`),
				`{"type":"message_delta","delta":{},"usage":{"output_tokens":20}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":30}}`, `{"type":"message_stop"}`))
			if got := showUsage(o.Usage); got != "10 4 0 30 - " {
				t.Errorf("usage %s", got)
			}
		}},
	}
}

// wholeOf is the document that a server sends for a reply without a stream.
func (w world) wholeOf(t testing.TB, r scripted.Reply) string {
	t.Helper()
	return world{w.protocol, false}.record(t, r)
}
