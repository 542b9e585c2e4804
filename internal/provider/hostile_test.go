package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// The replies of these tests are so large that reading them takes minutes if each piece costs what came before it.

// TestHostileWhiteSpace: white space that may stand before a call, or before a tag of reasoning, in very many pieces.
func TestHostileWhiteSpace(t *testing.T) {
	const n = 100_000
	body := `data: {"choices":[{"delta":{"content":"FIRST"}}]}` + "\n\n" + strings.Repeat(`data: {"choices":[{"delta":{"content":"\n"}}]}`+"\n\n", n) + stream("stop")
	for name, first := range map[string]string{"call": "x", "tag": " "} {
		t.Run(name, func(t *testing.T) {
			r, fail := provider.ReceiveText(options(auto()), askText(), strings.NewReader(strings.Replace(body, "FIRST", first, 1)), func(llm.Delta) {})
			if want := first + strings.Repeat("\n", n); fail != nil || text(r, llm.Text) != want {
				t.Errorf("%v, %d bytes of text", fail, len(text(r, llm.Text)))
			}
		})
	}
}

func options(p provider.Profile) provider.Options {
	return provider.Options{Endpoint: "http://model.example/v1", Model: "m", Name: "test", Stream: true, Profile: p}
}

// TestHostileMarks: a text that is nothing but beginnings of calls, of every form.
func TestHostileMarks(t *testing.T) {
	const size = 600_000
	marks := []string{
		`{"a":[`, "<invoke name=", "<tool_call>", "<function=", "<｜DSML｜tool_calls>", "<｜DSML｜invoke name=\"now\">", "<|python_tag|>", "[TOOL_CALLS]", "<|channel|>commentary to=",
		"<｜tool▁call▁begin｜>", "<|tool_call_begin|>", "<minimax:tool_call>", "{\"tool\":\n",
	}
	profiles := map[string]provider.Profile{
		"auto": auto(), "named": {TextCalls: []string{"json", "python"}}, "in text": {Tools: provider.InText},
	}
	for name, p := range profiles {
		for _, mark := range marks {
			t.Run(name+" "+mark, func(t *testing.T) {
				sent := "x\n" + strings.Repeat(mark, size/len(mark))
				r, _ := readText(t, p, sent)
				if len(callsOf(r)) > 0 || text(r, llm.Text) != sent {
					t.Errorf("%d calls, %d bytes of text", len(callsOf(r)), len(text(r, llm.Text)))
				}
			})
		}
	}
}

// TestManyCallsInText: an answer may make more calls than there are places from which they are looked for, also behind an example.
func TestManyCallsInText(t *testing.T) {
	const n = 50
	one := "<｜DSML｜tool_calls><｜DSML｜invoke name=\"now\"></｜DSML｜invoke></｜DSML｜tool_calls>\n"
	for _, call := range []string{"<tool_call>{\"name\":\"now\"}</tool_call>\n", one} {
		r, _ := readText(t, auto(), strings.Repeat(call, n))
		if got := len(callsOf(r)); got != n {
			t.Errorf("%d calls of %s", got, call)
		}
	}
	r, _ := readText(t, auto(), strings.Repeat("a <tool_call> is a tag. ", n)+one)
	if got := len(callsOf(r)); got != 1 || !strings.HasSuffix(text(r, llm.Text), "is a tag.") {
		t.Errorf("%d calls behind %q", got, text(r, llm.Text))
	}
}

// each joins n texts, in which % is the number.
func each(n int, s string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(s, "%", fmt.Sprint(i)))
	}
	return b.String()
}

// receive reads the body of a reply of status 200.
func receive(protocol, body string) (*llm.Response, *llm.Error) {
	o := options(provider.Profile{})
	o.Protocol = protocol
	return provider.Receive(o, toolSpecs(), strings.NewReader(body), func(llm.Delta) {})
}

// TestHostileError: an error within a stream may be as large as a line.
func TestHostileError(t *testing.T) {
	for name, body := range map[string]string{
		"texts":     `{"error":{"errors":[` + each(500_000, `"e%",`) + `"x"]}}`,
		"one text":  `{"error":"` + strings.Repeat(`maximum context length is `, 300_000) + `"}`,
		"locations": `{"detail":[` + each(300_000, `{"loc":["body","p%"]},`) + `{"msg":"x"}]}`,
		"code":      `{"error":{"message":"x","code":"` + strings.Repeat(`maximum context length is `, 300_000) + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := receive(provider.Chat, "data: "+body+"\n\n")
			if err == nil || err.Message == "" || len([]rune(err.Message)) > 300 || len([]rune(err.Code)) > 200 {
				t.Errorf("%.400v", err)
			}
		})
	}
}

// TestHostileUsage: usage that comes in very many pieces, each with another member.
func TestHostileUsage(t *testing.T) {
	body := named(`{"type":"message_start","message":{"usage":{"input_tokens":10}}}`, block(0, `"type":"text","text":"a"`)) +
		each(60_000, `data: {"type":"message_delta","delta":{},"usage":{"x%":1}}`+"\n\n") + named(stopped("end_turn"), `{"type":"message_stop"}`)
	r, err := receive(provider.Messages, body)
	if err != nil || r.Usage.Fresh == nil || *r.Usage.Fresh != 10 || len(r.Usage.Raw) > 16<<10 {
		t.Errorf("%v: %d bytes of usage", err, len(r.Usage.Raw))
	}
	r, err = receive(provider.Chat, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"x":"`+strings.Repeat("x", 1<<20)+`"}}`)
	if err != nil || r.Usage.Fresh == nil || *r.Usage.Fresh != 10 || len(r.Usage.Raw) > 16<<10 {
		t.Errorf("%v: %d bytes of usage", err, len(r.Usage.Raw))
	}
}

// TestHostileParts: ids that are new in each event belong to one item; an answer of very many parts is none.
func TestHostileParts(t *testing.T) {
	const n = 150_000
	delta := `data: {"type":"response.output_text.delta","output_index":0,"item_id":"m%","delta":"a"}` + "\n\n"
	r, err := receive(provider.Responses, named(item(0, `"type":"message","id":"m"`))+each(n, delta)+named(completed))
	if err != nil || len(text(r, llm.Text)) != n {
		t.Errorf("%v: %d bytes of text", err, len(text(r, llm.Text)))
	}
	detail := `data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":%,"text":"a"}]}}]}` + "\n\n"
	r, err = receive(provider.Chat, each(n*2/3, detail)+stream("stop", `"content":"x"`))
	if err != nil || len(text(r, llm.Reasoning)) != n*2/3 {
		t.Errorf("%v: %d bytes of reasoning", err, len(text(r, llm.Reasoning)))
	}
	for protocol, body := range map[string]string{
		provider.Responses: each(n, `data: {"type":"response.output_item.added","output_index":%,"item":{"type":"function_call","call_id":"c%","name":"now"}}`+"\n\n"),
		provider.Chat:      each(n, `data: {"choices":[{"delta":{"tool_calls":[{"id":"c%","function":{"name":"now","arguments":"{}"}}]}}]}`+"\n\n"),
	} {
		if _, err := receive(protocol, body); err == nil || err.Class != llm.Malformed || err.Code != "size" {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	list := each(n/10, `{"type":"function_call","call_id":"c%","name":"now","arguments":"{}"},`)
	if _, err := receive(provider.Responses, `{"status":"completed","output":[`+strings.TrimSuffix(list, ",")+`]}`); err == nil || err.Code != "size" {
		t.Errorf("%v", err)
	}
}

// TestWords: what a server says in place of a word is kept as one short line.
func TestWords(t *testing.T) {
	long := strings.Repeat("long ", 300)
	word := func(what, s string) {
		t.Helper()
		if s == "" || len([]rune(s)) > 200 || strings.ContainsAny(s, "\n\x1b") {
			t.Errorf("%s: %q", what, s)
		}
	}
	r, err := receive(provider.Chat, `{"id":"a\n\u001b[2J`+long+`","choices":[{"message":{"content":"a"},"finish_reason":"b\n\u001b[2J`+long+`"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	word("finish", r.RawFinish)
	m, _ := against(t, false, raw(200, map[string]string{"X-Request-Id": long}, `{"id":"i\u001b`+long+`","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`))
	answer, fail := m.Stream(ctxOf(t), say("x"), nil)
	if fail != nil {
		t.Fatal(fail)
	}
	word("id", answer.Exchange.ProviderID)
	m, _ = against(t, false, raw(http.StatusBadRequest, map[string]string{"X-Request-Id": long}, `{"error":{"message":"m","code":"c\n\u001b`+long+`"}}`))
	answer, fail = m.Stream(ctxOf(t), say("x"), nil)
	word("code", asError(t, fail).Code)
	word("id of an error", answer.Exchange.ProviderID)
	_, err = receive(provider.Chat, `{"choices":[{"message":{"content":"a"},"finish_reason":"error"}],"error":{"type":"t\u001b`+long+`"}}`)
	word("type", err.Code)
}

// TestWhiteSpaceBeforeCalls: how much of it is held back does not depend on where a text is cut.
func TestWhiteSpaceBeforeCalls(t *testing.T) {
	for _, white := range []int{0, 1, 63, 64, 65, 130} {
		sent := "a" + strings.Repeat("\n", white) + "<tool_call>{\"name\":\"now\"}</tool_call>"
		whole, _ := readText(t, auto(), sent)
		if len(callsOf(whole)) != 1 || strings.TrimSpace(text(whole, llm.Text)) != "a" {
			t.Errorf("%d: %s", white, flat(whole.Blocks))
		}
		for i := range sent {
			if r, _ := readText(t, auto(), sent[:i], sent[i:]); flat(r.Blocks) != flat(whole.Blocks) {
				t.Errorf("%d, cut at %d: %s, whole %s", white, i, flat(r.Blocks), flat(whole.Blocks))
			}
		}
		if r, _ := readText(t, auto(), strings.Split(sent, "")...); flat(r.Blocks) != flat(whole.Blocks) {
			t.Errorf("%d, byte by byte: %s, whole %s", white, flat(r.Blocks), flat(whole.Blocks))
		}
	}
}
