package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
)

// stream makes a stream of deltas (the inside of "delta"), with a finish reason ("" for none) and the end mark.
func stream(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":null}]}\n\n", d)
	}
	if finish != "" {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", finish)
	}
	return b.String() + "data: [DONE]\n\n"
}

func tc(s string) string { return `"tool_calls":[` + s + `]` }

// reply runs one raw reply of status 200.
func reply(t *testing.T, body string) (*llm.Response, *llm.Error) {
	t.Helper()
	m, _ := against(t, true, raw(200, sse(), body))
	q := say("go")
	q.Tools = toolSpecs()
	r, err := m.Stream(ctxOf(t), q, nil)
	if err == nil {
		return r, nil
	}
	return r, asError(t, err)
}

// TestCallShapes has the shapes in which servers were seen to send calls (provider-wire reference of public issues:
// openai-python#2806, vercel/ai#14277 and #18333, agno#8880, dirac#215, hermes-agent#8259, opencode#26412, litellm#12513,
// oh-my-pi#1776, opencode#17339, open-webui#22235).
// covers L231
func TestCallShapes(t *testing.T) {
	for _, c := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"plain, interleaved", []string{
			tc(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
			tc(`{"index":1,"id":"b","type":"function","function":{"name":"bash","arguments":"{\"command\""}}`),
			tc(`{"index":0,"function":{"arguments":"{\"path\":"}}`), tc(`{"index":1,"function":{"arguments":":\"ls\"}"}}`),
			tc(`{"index":0,"function":{"arguments":"\"x\"}"}}`),
		}, `[{a read {"path":"x"}} {b bash {"command":"ls"}}]`},
		{"two in one delta", []string{tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"now","arguments":"{}"}}`)}, `[{a now {}} {b now {}}]`},
		{"negative and sparse index", []string{
			tc(`{"index":-1,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":-1,"function":{"arguments":"1}"}}`),
			tc(`{"index":900000000,"id":"b","function":{"name":"now"}}`),
		}, `[{a read {"path":1}} {b now {}}]`},
		{"index in a string", []string{tc(`{"index":"1","id":"a","function":{"name":"read","arguments":"{"}}`), tc(`{"index":"1","function":{"arguments":"}"}}`)}, `[{a read {}}]`},
		{"tail under a wrong index", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}`),
			tc(`{"index":0,"id":"b","function":{"name":"bash","arguments":"{\"comm"}}`),
			tc(`{"index":1,"function":{"arguments":"and\":\"l"}}`), tc(`{"index":1,"function":{"arguments":"s\"}"}}`),
		}, `[{a read {"path":"x"}} {b bash {"command":"ls"}}]`},
		{"id on every delta", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}}`), tc(`{"index":0,"id":"a","function":{"arguments":"th\":1}"}}`),
		}, `[{a read {"path":1}}]`},
		{"id later", []string{tc(`{"index":0,"function":{"name":"read","arguments":"{"}}`), tc(`{"index":0,"id":"a","function":{"arguments":"}"}}`)}, `[{a read {}}]`},
		{"empty and null ids", []string{tc(`{"index":0,"id":"","function":{"name":"read","arguments":"{"}}`), tc(`{"index":0,"id":null,"function":{"arguments":"}"}}`)}, `[{ read {}}]`},
		{"one id for all, no index", []string{
			tc(`{"id":"read","function":{"name":"read","arguments":"{\"path\":1}"}}`), tc(`{"id":"read","function":{"name":"read","arguments":"{\"path\":2}"}}`),
		}, `[{read read {"path":1}} {read read {"path":2}}]`},
		{"neither id nor index", []string{
			tc(`{"function":{"name":"now","arguments":"{}"}}`), tc(`{"function":{"name":"read","arguments":"{\"path\":2}"}}`),
		}, `[{ now {}} { read {"path":2}}]`},
		{"name on every delta", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}}`), tc(`{"index":0,"function":{"name":"read","arguments":"th\":1}"}}`),
			tc(`{"index":0,"function":{"name":"read","arguments":""}}`),
		}, `[{a read {"path":1}}]`},
		{"name null and \"null\"", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`), tc(`{"index":0,"function":{"name":null,"arguments":"\"path\":"}}`),
			tc(`{"index":0,"function":{"name":"null","arguments":"1}"}}`),
		}, `[{a read {"path":1}}]`},
		{"name after arguments", []string{tc(`{"index":0,"id":"a","function":{"arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"name":"read","arguments":"1}"}}`)}, `[{a read {"path":1}}]`},
		{"arguments as object", []string{tc(`{"index":0,"id":"a","type":"FUNCTION","function":{"name":"read","arguments":{"path": "x"}}}`)}, `[{a read {"path": "x"}}]`},
		{"sent again whole", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`), tc(`{"index":0,"function":{"arguments":"1}"}}`),
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\": 1}"}}`),
		}, `[{a read {"path":1}}]`},
		{"several objects under one head", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}{\"path\":2}"}}`)}, `[{a read {"path":1}} { read {"path":2}}]`},
		{"the same twice under one head", []string{
			tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}{\"pa"}}`), tc(`{"index":0,"function":{"arguments":"th\":1}"}}`),
		}, `[{a read {"path":1}}]`},
		{"empty object, then the real one", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), tc(`{"index":0,"function":{"arguments":"{\"path\""}}`), tc(`{"index":0,"function":{"arguments":":1}"}}`)}, `[{a read {"path":1}}]`},
		{"null, then the real one", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"null"}}`), tc(`{"index":0,"function":{"arguments":"{\"path\":1}"}}`)}, `[{a read {"path":1}}]`},
		{"no arguments at all", []string{tc(`{"index":0,"id":"a","function":{"name":"now","arguments":null}}`), tc(`{"index":1,"id":"b","function":{"name":"now"}}`), tc(`{"index":2,"id":"c","function":{"name":"now","arguments":" null "}}`)}, `[{a now {}} {b now {}} {c now {}}]`},
		{"broken arguments stay", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":"}}`)}, `[{a read {"path":}]`},
		{"no object", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"1"}}`), tc(`{"index":0,"function":{"arguments":"2"}}`)}, `[{a read 12}]`},
		{"nothing", []string{tc(`{"index":0,"id":"","function":{"name":"","arguments":""}}`), tc(`{"index":0}`), `"tool_calls":null`, `"tool_calls":[]`}, `[]`},
		{"older form", []string{`"function_call":{"name":"read","arguments":"{"}`, `"function_call":{"arguments":"}"}`}, `[{ read {}}]`},
		{"surrogates cut in arguments", []string{tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":\"\ud83e"}}`), tc(`{"index":0,"function":{"arguments":"\udd4a\"}"}}`)}, `[{a read {"p":"🥊"}}]`},
		{"prefix of gpt-oss", []string{tc(`{"index":0,"id":"a","function":{"name":"functions.read<|channel|>commentary","arguments":"{}"}}`)}, `[{a read {}}]`},
		{"prefix of Gemini", []string{tc(`{"index":0,"id":"a","function":{"name":" default_api.bash","arguments":"{}"}}`)}, `[{a bash {}}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := reply(t, stream("tool_calls", c.deltas...))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(callsOf(r)); got != c.want || r.Dropped != 0 {
				t.Errorf("calls %s (dropped %d)\nwant  %s", got, r.Dropped, c.want)
			}
		})
	}
}

func TestCutCallsAreDropped(t *testing.T) {
	whole := tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}`)
	half := tc(`{"index":1,"id":"b","function":{"name":"bash","arguments":"{\"command\":\"rm"}}`)
	bare := tc(`{"index":2,"id":"c","function":{"name":"now"}}`)
	r, err := reply(t, stream("length", whole, half, bare))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(callsOf(r)) != `[{a read {"path":1}}]` || r.Dropped != 2 || r.Finish != llm.Length {
		t.Errorf("calls %v, dropped %d, finish %q", callsOf(r), r.Dropped, r.Finish)
	}
	cut, _, _ := strings.Cut(stream("", whole, half), "data: [DONE]")
	r, err = reply(t, cut)
	if err == nil || err.Class != llm.Cut || fmt.Sprint(callsOf(r)) != `[{a read {"path":1}}]` || r.Dropped != 1 {
		t.Errorf("calls %v, dropped %d, error %v", callsOf(r), r.Dropped, err)
	}
}

// TestReplyShapes has forms of bodies and chunks.
// covers F082 L233
func TestReplyShapes(t *testing.T) {
	const full = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`
	for _, c := range []struct{ name, body, text, thought string }{
		{"document for a stream", full, "hello", ""},
		{"blank lines before a document", "\n\n \n" + full, "hello", ""},
		{"envelope", `{"data":` + full + `,"success":true}`, "hello", ""},
		{"byte order mark", "\ufeff" + stream("stop", `"content":"a"`), "a", ""},
		{"comments", ": keep-alive\n\n: keep-alive\n\n" + stream("stop", `"content":"a"`), "a", ""},
		{"message in a stream", "data: {\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", "a", ""},
		{"content as parts", stream("stop", `"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"},"b"]`), "ab", "t"},
		{"filter results without choices", "data: {\"choices\":[],\"prompt_filter_results\":[{}]}\n\ndata: {\"model\":\"x\"}\n\n" + stream("stop", `"content":"a"`), "a", ""},
		{"named events, empty data, garbage", "event: completion\nid: 3\nretry: 10\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata:\n\ndata: \n\ndata: ping\n\n" + stream("stop"), "a", ""},
		{"end mark with blanks", strings.Replace(stream("stop", `"content":"a"`), "[DONE]", "[DONE]  ", 1), "a", ""},
		{"end mark in quotes", strings.Replace(stream("stop", `"content":"a"`), "[DONE]", `"[DONE]"`, 1), "a", ""},
		{"end mark glued", `data: {"choices":[{"delta":{"content":"a"}}]}[DONE]` + "\n\n", "a", ""},
		{"more after the end mark", stream("stop", `"content":"a"`) + stream("stop", `"content":"b"`), "a", ""},
		{"two finishes", strings.Replace(stream("stop", `"content":"a"`), "data: [DONE]", "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]", 1), "a", ""},
		{"end mark without a finish", stream("", `"content":"a"`), "a", ""},
		{"lone CR", strings.ReplaceAll(stream("stop", `"content":"a"`), "\n", "\r"), "a", ""},
		{"surrogates cut between deltas", stream("stop", `"content":"x\ud83e"`, `"content":"\udd4ay"`), "x🥊y", ""},
		{"lone halves", stream("stop", `"content":"x\ud83e"`, `"content":"y\udd4a"`), "x\uFFFDy\uFFFD", ""},
		{"bytes cut between deltas", stream("stop", "\"content\":\"x\xf0\x9f\"", "\"content\":\"\xa5\x8ay\""), "x🥊y", ""},
		{"escapes", stream("stop", `"content":"\"\\\/\b\f\n\r\t\u00e4\u0041"`), "\"\\/\b\f\n\r\täA", ""},
		{"reasoning_content and reasoning", stream("stop", `"reasoning_content":"t","reasoning":"t"`, `"content":"a"`), "a", "t"},
		{"reasoning as object", stream("stop", `"reasoning":{"text":"t"}`, `"reasoning":{"content":"u"}`, `"content":"a"`), "a", "tu"},
		{"reasoning_text", stream("stop", `"reasoning_text":"t","reasoning_content":""`, `"content":"a"`), "a", "t"},
		{"thinking", stream("stop", `"thinking":"t","reasoning_content":null`, `"content":"a"`), "a", "t"},
		{"reasoning_details", stream("stop", `"reasoning_details":[{"type":"reasoning.text","text":"t"}]`, `"content":"a"`), "a", "t"},
		{"key in escapes", stream("stop", `"\u0063ontent":"a"`), "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := reply(t, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := text(r, llm.Text); got != c.text {
				t.Errorf("text %q, want %q", got, c.text)
			}
			if got := text(r, llm.Reasoning); got != c.thought {
				t.Errorf("reasoning %q, want %q", got, c.thought)
			}
		})
	}
}

func TestOrderIsKept(t *testing.T) {
	r, err := reply(t, stream("tool_calls", `"reasoning":"t1"`, `"content":"a"`, `"reasoning":"t2"`,
		tc(`{"index":0,"id":"x","function":{"name":"now"}}`), `"content":"b"`))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, b := range r.Blocks {
		kinds = append(kinds, string(b.Type)+b.Carrier+b.Text)
	}
	if got := strings.Join(kinds, " "); got != "reasoningreasoningt1 texta reasoningreasoningt2 call textb" {
		t.Errorf("blocks %s", got)
	}
}

func TestFinishes(t *testing.T) {
	for raw, want := range map[string]llm.Finish{
		"stop": llm.Stop, "end_turn": llm.Stop, "eos": llm.Stop, "tool_use": llm.ToolCalls, "function_call": llm.ToolCalls,
		"length": llm.Length, "max_tokens": llm.Length, "model_length": llm.Length, "model_context_window_exceeded": llm.Length,
		"content_filter": llm.ContentFilter, "sensitive": llm.ContentFilter, "repetition": llm.Other, "brandnew": llm.Other,
	} {
		r, err := reply(t, stream(raw, `"content":"a"`))
		if err != nil || r.Finish != want || r.RawFinish != raw {
			t.Errorf("%s: %q %q %v", raw, r.Finish, r.RawFinish, err)
		}
	}
	whole := tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}`)
	for raw, want := range map[string]llm.Class{
		"error": llm.Overload, "insufficient_system_resource": llm.Overload, "network_error": llm.Overload, "ERROR": llm.Overload,
		"abort": llm.Cut, "aborted": llm.Cut, "cancelled": llm.Cut, "canceled": llm.Cut, "Interrupted": llm.Cut,
	} {
		document := `{"choices":[{"message":{"content":"a"},"finish_reason":"` + raw + `"}]}`
		for _, body := range []string{stream(raw, `"content":"a"`), stream(raw, whole), document, strings.Replace(stream("stop", whole), "data: [DONE]", "data: "+document, 1)} {
			if _, err := reply(t, body); err == nil || err.Class != want || err.Code != raw || !err.Retryable() {
				t.Errorf("%s: %+v", raw, err)
			}
		}
	}
	r, err := reply(t, stream("stop", `"refusal":"I can't."`))
	if err != nil || r.Finish != llm.ContentFilter || text(r, llm.Text) != "I can't." {
		t.Errorf("refusal: %+v %v", r, err)
	}
}

// TestBrokenReplies has replies of status 200 that are no answers.
// covers F081
func TestBrokenReplies(t *testing.T) {
	ok := `{"choices":[{"delta":{"content":"a"}}]}`
	for _, c := range []struct {
		name, body string
		class      llm.Class
		part       string
	}{
		{"empty", "", llm.Cut, "empty"},
		{"blank", "\n\n", llm.Cut, "empty"},
		{"comments only", ": hi\n\n", llm.Cut, "before the answer was complete"},
		{"chunk is not JSON", "data: {\"choices\":oops}\n\ndata: " + ok + "\n\n", llm.Malformed, "not JSON"},
		{"chunk cut at the end", "data: " + ok + "\n\ndata: {\"choices\":[{\"del", llm.Cut, "middle"},
		{"document cut", `{"choices":[{"message":{"content":"a`, llm.Cut, "middle"},
		{"document is not JSON", `{"choices":!}`, llm.Malformed, "not JSON"},
		{"another document", `{"hello":"world"}`, llm.Malformed, "base URL"},
		{"error in a choice", `data: {"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Upstream died"}}]}` + "\n\n", llm.Overload, "Upstream died"},
		{"event error", "event: error\ndata: {\"message\":\"boom\",\"type\":\"server_error\"}\n\n", llm.Overload, "boom"},
		{"bare error", "data: {\"message\":\"slow down\",\"type\":\"rate_limit_error\",\"code\":\"rate_limit\"}\n\n", llm.Rate, "slow down"},
		{"xAI", "data: {\"code\":\"x\",\"error\":\"it broke\"}\n\n", llm.Overload, "it broke"},
		{"MiniMax", `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, llm.Quota, "insufficient balance"},
		{"MiniMax overflow", `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit (2013)"}}`, llm.Overflow, "context window"},
		{"list", `[{"error":{"code":503,"message":"busy"}}]`, llm.Overload, "busy"},
		{"overflow in a stream", "data: " + ok + "\n\ndata: {\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}\n\n", llm.Overflow, "exceeded"},
		{"page", "<!DOCTYPE html><p>hello", llm.Malformed, "page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := reply(t, c.body)
			if err == nil || err.Class != c.class || !strings.Contains(err.Message, c.part) || err.HTTP != 200 {
				t.Errorf("%+v, want %s with %q", err, c.class, c.part)
			}
		})
	}
}
