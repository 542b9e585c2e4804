package provider_test

import (
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// The replies of these tests are so large that reading them takes hours if each piece costs what came before it.

// TestHostileWhiteSpace: white space that may stand before a call, or before a tag of reasoning, in very many pieces.
func TestHostileWhiteSpace(t *testing.T) {
	const n = 400_000
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
	marks := []string{`{"a":[`, "<invoke name=", "<tool_call>", "<function=", "<｜DSML｜tool_calls>", "<｜DSML｜invoke name=\"now\">", "<|python_tag|>", "[TOOL_CALLS]", "<|channel|>commentary to=",
		"<｜tool▁call▁begin｜>", "<|tool_call_begin|>", "<minimax:tool_call>", "{\"tool\":\n"}
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
