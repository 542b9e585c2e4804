package provider_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/llm"
	"overt/internal/provider"
)

// textTools are tools with arguments of several types.
func textTools() []llm.ToolSpec {
	return append(toolSpecs(), llm.ToolSpec{Name: "edit", Schema: []byte(
		`{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},"all":{"type":"boolean"},"list":{"type":"array"},"text":{"type":"string"}}}`)})
}

// textCase is a text that holds calls in one form.
type textCase struct {
	name, form, text, want string
}

// textCases has every form of §7.3 as models write it.
func textCases() []textCase {
	return []textCase{
		{"hermes", "hermes", "<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>", `call( read {"path":"a"})`},
		{"hermes twice", "hermes", "<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"now\"}\n</tool_call>", `call( read {"path":"a"}) call( now {})`},
		{"hermes unclosed", "hermes", `<tool_call>{"name":"now","arguments":{}}`, `call( now {})`},
		{"hermes encoded twice", "hermes", `<tool_call>{"name":"read","arguments":"{\"path\":\"a\"}"}</tool_call>`, `call( read {"path":"a"})`},
		{"hermes and the end of a turn", "hermes", "<tool_call>{\"name\":\"now\"}</tool_call><|im_end|>\n", `call( now {})`},
		{"Qwen3-Coder", "function", "<tool_call>\n<function=edit>\n<parameter=path>\na.go\n</parameter>\n<parameter=line>\n12\n</parameter>\n<parameter=text>\n12\n</parameter>\n</function>\n</tool_call>", `call( edit {"path":"a.go","line":12,"text":"12"})`},
		{"Qwen3-Coder without its beginning", "function", "<function=read><parameter=path>a</parameter></function></tool_call>", `call( read {"path":"a"})`},
		{"a value with tags", "function", "<function=edit><parameter=text>\nx </parameter> y\n</parameter></function>", `call( edit {"text":"x \u003c/parameter\u003e y"})`},
		{"Llama function", "function", `<function=read>{"path":"a"}</function>`, `call( read {"path":"a"})`},
		{"DeepSeek V3", "deepseek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", `call( read {"path":"a"})`},
		{"DeepSeek V3.1", "deepseek", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path":"a"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, `call( read {"path":"a"}) call( now {})`},
		{"DSML", "dsml", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"edit\">\n<｜DSML｜parameter name=\"path\" string=\"true\">12</｜DSML｜parameter>\n<｜DSML｜parameter name=\"list\" string=\"false\">[1]</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", `call( edit {"path":"12","list":[1]})`},
		{"DSML of V3.2", "dsml", `<｜DSML｜function_calls><｜DSML｜invoke name="now"></｜DSML｜invoke></｜DSML｜function_calls>`, `call( now {})`},
		{"DSML with other bars", "dsml", `<｜｜DSML｜｜tool_calls><｜｜DSML｜｜invoke name="read"><｜｜DSML｜｜parameter name="path" string="true">a</｜｜DSML｜｜parameter></｜｜DSML｜｜invoke></｜｜DSML｜｜tool_calls>`, `call( read {"path":"a"})`},
		{"DSML with double bar", "dsml", `<‖DSML‖invoke name="read"><‖DSML‖parameter name="path" string="true">a</‖DSML‖parameter></‖DSML‖invoke>`, `call( read {"path":"a"})`},
		{"DSML in ASCII, unclosed", "dsml", `<|DSML|tool_calls><|DSML|invoke name="read"><|DSML|parameter name="path" string="true">a</|DSML|parameter></|DSML|invoke>`, `call( read {"path":"a"})`},
		{"Kimi", "kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`, `call(functions.read:0 read {"path":"a"}) call(functions.now:1 now {})`},
		{"Kimi singular", "kimi", `<|tool_call_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_section_end|>`, `call(functions.now:0 now {})`},
		{"GLM", "glm", "<tool_call>edit\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>all</arg_key>\n<arg_value>true</arg_value>\n</tool_call>", `call( edit {"path":"a","all":true})`},
		{"GLM without arguments", "glm", "<tool_call>now\n</tool_call>", `call( now {})`},
		{"MiniMax", "minimax", "<minimax:tool_call>\n<invoke name=\"edit\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"line\">3</parameter>\n</invoke>\n</minimax:tool_call>", `call( edit {"path":"a","line":3})`},
		{"Claude's old form", "invoke", `<function_calls><invoke name="read"><parameter name="path">a</parameter></invoke></function_calls>`, `call( read {"path":"a"})`},
		{"bare invoke", "invoke", `<invoke name="read"><parameter name="path">a</parameter></invoke>`, `call( read {"path":"a"})`},
		{"Llama 3", "llama", `<|python_tag|>{"name":"read","parameters":{"path":"a"}}<|eom_id|>`, `call( read {"path":"a"})`},
		{"Mistral list", "mistral", `[TOOL_CALLS][{"name":"read","arguments":{"path":"a"}},{"name":"now","arguments":{}}]</s>`, `call( read {"path":"a"}) call( now {})`},
		{"Mistral newer", "mistral", `[TOOL_CALLS]read[ARGS]{"path":"a"}[TOOL_CALLS]now[ARGS]{}`, `call( read {"path":"a"}) call( now {})`},
		{"harmony", "harmony", `<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>`, `call( read {"path":"a"})`},
		{"harmony in full", "harmony", `<|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>`, `call( now {})`},
		{"JSON fence", "json", "```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```", `call( read {"path":"a"})`},
		{"JSON alone", "json", `{"tool":"read","input":{"path":"a"}}`, `call( read {"path":"a"})`},
		{"Gemma", "python", "```tool_code\nedit(path='a\\'b', line=-3, all=True, list=[1, {\"x\": None}, 'y'], text=\"\"\"a\n\"b\\n\"\"\")\n```", `call( edit {"path":"a'b","line":-3,"all":true,"list":[1,{"x":null},"y"],"text":"a\n\"b\n"})`},
		{"Gemma printing", "python", "```tool_code\nprint(now())\n```", `call( now {})`},
	}
}

// askText is a request that offers the tools of these tests.
func askText() *llm.Request {
	q := say("go")
	q.Tools = textTools()
	return q
}

// readText gives what a stream of Chat Completions comes to whose content comes in pieces.
func readText(t testing.TB, p provider.Profile, pieces ...string) (r *llm.Response, shown string) {
	t.Helper()
	return readBody(t, p, contentStream("stop", pieces...))
}

// contentStream makes a stream of content.
func contentStream(finish string, pieces ...string) string {
	var docs []string
	for _, s := range pieces {
		quoted, _ := json.Marshal(s)
		docs = append(docs, `"content":`+string(quoted))
	}
	return stream(finish, docs...)
}

func readBody(t testing.TB, p provider.Profile, body string) (r *llm.Response, shown string) {
	t.Helper()
	o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Name: "test", Stream: true, Profile: p}
	thought := ""
	r, fail := provider.ReceiveText(o, askText(), strings.NewReader(body), func(d llm.Delta) {
		if d.Part == llm.TextDelta {
			shown += d.Text
		} else {
			thought += d.Text
		}
	})
	if fail != nil {
		t.Fatalf("%v", fail)
	}
	if shown != text(r, llm.Text) || thought != text(r, llm.Reasoning) {
		t.Errorf("shown %q and %q, kept %s", shown, thought, flat(r.Blocks))
	}
	return r, shown
}

func auto() provider.Profile { return provider.Profile{TextCalls: []string{provider.Auto}} }

// named gives the profile that looks for one form.
func (c textCase) profile() provider.Profile {
	if c.form == "json" || c.form == "python" {
		return provider.Profile{TextCalls: []string{c.form}}
	}
	return auto()
}

// TestTextCalls: each form is taken for calls, behind a sentence and alone, however it is cut; nothing of it is shown.
func TestTextCalls(t *testing.T) {
	for _, c := range textCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []provider.Profile{c.profile(), {TextCalls: []string{c.form}}} {
				r, shown := readText(t, p, c.text)
				if flat(r.Blocks) != c.want || shown != "" || r.Garbled {
					t.Errorf("%s, shown %q\nwant %s", flat(r.Blocks), shown, c.want)
				}
			}
			if c.name == "JSON alone" {
				return
			}
			for _, before := range []string{"I look.", "Like `<tool_call>` and\n```\n" + c.text + "\n```\nso:"} {
				r, shown := readText(t, c.profile(), before, "\n\n", c.text, "\n")
				if flat(r.Blocks) != "text("+before+") "+c.want || shown != before {
					t.Errorf("behind %q: %s", before, flat(r.Blocks))
				}
			}
			r, _ := readText(t, provider.Profile{}, c.text)
			if flat(r.Blocks) != "text("+c.text+")" {
				t.Errorf("without a profile: %s", flat(r.Blocks))
			}
			q, _ := readBody(t, c.profile(), contentStream("length", c.text[:len(c.text)*2/3]))
			if len(callsOf(q)) > 0 && q.Dropped == 0 && strings.Contains(flat(q.Blocks), "text(<") {
				t.Errorf("cut: %s", flat(q.Blocks))
			}
		})
	}
}

// TestProseIsNoCall has texts that show calls and make none. They come out as they came.
func TestProseIsNoCall(t *testing.T) {
	call := `<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>`
	for name, c := range map[string]struct {
		pieces  []string
		garbled bool
	}{
		"goes on behind it":          {[]string{call, " is how it looks."}, false},
		"within backticks":           {[]string{"Write `", call, "`"}, false},
		"within double backticks":    {[]string{"Write ``", call, "``"}, false},
		"in a fenced block":          {[]string{"```xml\n", call, "\n```"}, false},
		"in an open block":           {[]string{"~~~\n", call}, false},
		"a mark alone":               {[]string{"It begins with <tool_call>"}, false},
		"no such tool":               {[]string{`<tool_call>{"name":"hammer","arguments":{}}</tool_call>`}, true},
		"no object":                  {[]string{`<tool_call>{"name":"read","arguments":[1]}</tool_call>`}, true},
		"half a mark":                {[]string{"a < b and <tool"}, false},
		"white space at the end":     {[]string{"done.\n\n"}, false},
		"JSON that nobody asked for": {[]string{"```json\n", `{"name":"read","arguments":{"path":"a"}}`, "\n```"}, false},
		"bare JSON":                  {[]string{`{"name":"read","arguments":{"path":"a"}}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := readText(t, auto(), c.pieces...)
			if want := "text(" + strings.Join(c.pieces, "") + ")"; flat(r.Blocks) != want || r.Garbled != c.garbled {
				t.Errorf("%s garbled %t, want %s", flat(r.Blocks), r.Garbled, want)
			}
		})
	}
}

// TestTextBesideNativeCalls: where there are calls of its own, what is left over of them in the text is taken away, and nothing is
// run twice.
func TestTextBesideNativeCalls(t *testing.T) {
	native := `"tool_calls":[{"index":0,"id":"c1","function":{"name":"now","arguments":"{}"}}]`
	left := `"content":"Look.<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>"`
	r, shown := readBody(t, auto(), stream("tool_calls", left, native))
	if flat(r.Blocks) != "text(Look.) call(c1 now {})" || shown != "Look." {
		t.Errorf("%s, shown %q", flat(r.Blocks), shown)
	}
	r, _ = readBody(t, auto(), stream("tool_calls", `"content":"a <tool_call> b"`, native))
	if flat(r.Blocks) != "text(a <tool_call> b) call(c1 now {})" {
		t.Errorf("prose: %s", flat(r.Blocks))
	}
}

// TestCallsInReasoning: parsers of servers leave calls within the reasoning.
func TestCallsInReasoning(t *testing.T) {
	for _, c := range textCases() {
		if c.form == "json" || c.form == "python" {
			continue
		}
		quoted, _ := json.Marshal("I look. " + c.text)
		r, _ := readBody(t, auto(), stream("stop", `"reasoning_content":`+string(quoted)))
		if want := "reasoning(I look.) " + c.want; flat(r.Blocks) != want {
			t.Errorf("%s: %s, want %s", c.name, flat(r.Blocks), want)
		}
		r, _ = readBody(t, auto(), stream("stop", `"reasoning_content":`+string(quoted), `"content":"Done."`))
		if want := "reasoning(I look. " + c.text + ") text(Done.)"; flat(r.Blocks) != want {
			t.Errorf("%s with an answer: %s", c.name, flat(r.Blocks))
		}
	}
}

// TestTextCutAnywhere: for any cut of a text the answer is the same.
func TestTextCutAnywhere(t *testing.T) {
	whole := func(p provider.Profile, s string) string {
		r, _ := readText(t, p, s)
		return fmt.Sprint(flat(r.Blocks), r.Garbled)
	}
	rapid.Check(t, func(rt *rapid.T) {
		all := textCases()
		c := all[rapid.IntRange(0, len(all)-1).Draw(rt, "case")]
		prose := rapid.SliceOfN(rapid.SampledFrom([]string{
			"word ", "\n", "`code` ", "```\n", "<", "<tool_call>", "｜", "[TOOL", "<think>", "</think>", "  \n\n", c.text, "{", "~~~\n", "``", "é",
		}), 0, 6)
		s := strings.Join(prose.Draw(rt, "before"), "") + c.text + strings.Join(prose.Draw(rt, "after"), "")
		p := c.profile()
		p.ThinkOpen = rapid.Bool().Draw(rt, "open")
		if rapid.IntRange(0, 4).Draw(rt, "mode") == 0 {
			p = provider.Profile{Tools: provider.InText}
		}
		var pieces []string
		for left := []rune(s); len(left) > 0; {
			n := rapid.IntRange(1, min(len(left), 12)).Draw(rt, "n")
			pieces, left = append(pieces, string(left[:n])), left[n:]
		}
		r, _ := readText(t, p, pieces...)
		if got, want := fmt.Sprint(flat(r.Blocks), r.Garbled), whole(p, s); got != want {
			rt.Fatalf("%q\nin pieces %s\nwhole     %s", s, got, want)
		}
	})
}

// TestTextFormsAreKnown: every form has a case.
func TestTextFormsAreKnown(t *testing.T) {
	for _, f := range provider.TextForms() {
		if !slices.ContainsFunc(textCases(), func(c textCase) bool { return c.form == f }) {
			t.Errorf("no case of %s", f)
		}
	}
}

// fuzzForm: a parser takes calls off the beginning of a text or leaves it, and what runs in the end has JSON for arguments.
func fuzzForm(f *testing.F, forms ...string) {
	for _, c := range textCases() {
		if slices.Contains(forms, c.form) {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, form := range forms {
			names, rest, ok := provider.TakeText(form, s, textTools())
			if !ok && rest != s || ok && (len(names) == 0 || form != "dsml" && !strings.HasSuffix(s, rest) || len(rest) > len(s)+len(s)) {
				t.Fatalf("%q: %q, rest %q, %t", s, names, rest, ok)
			}
		}
		for _, p := range []provider.Profile{auto(), {TextCalls: forms}, {Tools: provider.InText}} {
			r, _ := readText(t, p, s)
			for _, c := range callsOf(r) {
				if p.Tools == "" && !json.Valid([]byte(c.Arguments)) {
					t.Fatalf("%q: %+v", s, c)
				}
			}
		}
	})
}

func FuzzTextTagged(f *testing.F)   { fuzzForm(f, "hermes", "glm", "function") }
func FuzzTextDeepSeek(f *testing.F) { fuzzForm(f, "deepseek", "dsml") }
func FuzzTextKimi(f *testing.F)     { fuzzForm(f, "kimi") }
func FuzzTextInvoke(f *testing.F)   { fuzzForm(f, "minimax", "invoke") }
func FuzzTextLlama(f *testing.F)    { fuzzForm(f, "llama", "mistral", "harmony") }
func FuzzTextJSON(f *testing.F)     { fuzzForm(f, "json") }
func FuzzTextPython(f *testing.F)   { fuzzForm(f, "python") }
