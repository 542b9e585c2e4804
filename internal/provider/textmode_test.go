package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

func inText() provider.Profile { return provider.Profile{Tools: provider.InText} }

// TestTextMode: in every protocol the tools stand in the system text, and a reply is a call or an answer.
// covers F067 F068 F136
func TestTextMode(t *testing.T) {
	for _, w := range worlds() {
		t.Run(w.String(), func(t *testing.T) {
			m, server, _ := w.start(t, scripted.Script{Replies: []scripted.Reply{
				{Text: "{\"tool\": \"read\", \"arguments\": {\"path\": \"a\"}}"}, {Text: "It says hello."},
			}}, func(o *provider.Options) { o.Profile = inText() })
			q := ask()
			q.System = []llm.Block{{Type: llm.Text, Text: "You are kind."}}
			shown := ""
			show := func(d llm.Delta) { shown += d.Text }
			r, err := m.Stream(ctxOf(t), q, show)
			if err != nil || flat(r.Blocks) != `call( read {"path":"a"})` || shown != "" {
				t.Fatalf("%v %s, shown %q", err, flat(r.Blocks), shown)
			}
			c := callsOf(r)[0]
			c.ID = "c1"
			q.Messages = append(q.Messages,
				llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Type: llm.Call, Call: &c}}},
				llm.Message{Role: llm.Tool, Blocks: []llm.Block{{Type: llm.Result, Result: &llm.ToolResult{ID: "c1", Name: "read", Content: "hello"}}}})
			if r, err = m.Stream(ctxOf(t), q, show); err != nil || flat(r.Blocks) != "text(It says hello.)" || shown != "It says hello." {
				t.Fatalf("%v %s, shown %q", err, flat(r.Blocks), shown)
			}
			log := server.Log()
			first, second := string(log[0].Request), string(log[1].Request)
			for _, part := range []string{"## read\\nreads\\narguments: {", "## bash", "## now", "You are kind."} {
				if strings.Count(first, part) != 1 {
					t.Errorf("%q stands in the request %d times: %s", part, strings.Count(first, part), first)
				}
			}
			if strings.Contains(second, `"tools"`) || strings.Contains(second, "tool_call_id") {
				t.Errorf("a native form: %s", second)
			}
			if !strings.Contains(second, `{\"tool\": \"read\", \"arguments\": {\"path\": \"a\"}}`) || !strings.Contains(second, `The result of read:\nhello`) {
				t.Errorf("history: %s", second)
			}
			n := 0
			for n < min(len(first), len(second)) && first[n] == second[n] {
				n++
			}
			if rest := first[n:]; len(rest) > 20 {
				t.Errorf("the second request leaves the first at %q", rest)
			}
		})
	}
}

// TestTextModeAnswers has what a reply is taken for.
func TestTextModeAnswers(t *testing.T) {
	call := `{"tool": "read", "arguments": {"path": "a"}}`
	is := `call( read {"path":"a"})`
	for name, c := range map[string]struct{ in, want string }{
		"call":                      {call, is},
		"white space":               {"\n " + call + "\n\n", is},
		"in a fence":                {"```json\n" + call + "\n```", is},
		"in a plain fence":          {"```\n" + call + "\n```\n", is},
		"end of a turn":             {call + "<|im_end|>", is},
		"other order":               {`{"arguments":{"path":"a"},"tool":"read"}`, is},
		"other case":                {`{"tool":"Read","arguments":{"path":"a"}}`, is},
		"encoded twice":             {`{"tool":"read","arguments":"{\"path\":\"a\"}"}`, is},
		"without arguments":         {`{"tool":"now"}`, "call( now {})"},
		"null for arguments":        {`{"tool":"now","arguments":null}`, "call( now {})"},
		"no such tool":              {`{"tool":"hammer","arguments":{}}`, "call( hammer {})"},
		"behind a sentence":         {"I look.\n" + call, "text(I look.\n) " + is},
		"behind a sentence, fenced": {"I look.\n```json\n" + call + "\n```\n", "text(I look.\n) " + is},
		"two at once":               {call + "\n" + call, `call( read {"path": "a"}}` + "\n" + call + ")"},
		"with a made-up result":     {call + "\nThe result of read:\nx", `call( read {"path": "a"}}` + "\nThe result of read:\nx)"},
		"broken":                    {`{"tool":"read","arguments":{"path": a}}`, `call( read {"path": a}})`},
		"broken, fenced":            {"```json\n" + `{"tool":"read","arguments":{"path": a}}` + "\n```", `call( read {"path": a}}` + "\n```)"},
		"answer":                    {"Done: {x}", "text(Done: {x})"},
		"JSON that was asked for":   {`{"tool":"hammer","price":3}`, `text({"tool":"hammer","price":3})`},
		"JSON with a tool alone":    {`{"tool":"hammer"}`, `text({"tool":"hammer"})`},
		"other JSON":                {`[1, 2]`, "text([1, 2])"},
		"an example goes on":        {"Write\n```json\n" + call + "\n```\nto look.", "text(Write\n```json\n" + call + "\n```\nto look.)"},
		"within backticks":          {"It is `" + call + "`", "text(It is `" + call + "`)"},
		"within a block of code":    {"```go\nx := `\n" + call + "\n```", "text(```go\nx := `\n" + call + "\n```)"},
		"nothing":                   {" ", "text( )"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := readText(t, inText(), c.in)
			if flat(r.Blocks) != c.want {
				t.Errorf("%s\nwant %s", flat(r.Blocks), c.want)
			}
		})
	}
	r, _ := readBody(t, inText(), contentStream("length", `{"tool":"read","arguments":{"pa`))
	if len(r.Blocks) != 0 || r.Dropped != 1 {
		t.Errorf("cut: %s, dropped %d", flat(r.Blocks), r.Dropped)
	}
	q := askText()
	q.Params.ToolChoice = provider.None
	o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Profile: inText()}
	r, fail := provider.ReceiveText(o, q, strings.NewReader(contentStream("stop", call)), func(llm.Delta) {})
	if fail != nil || flat(r.Blocks) != "text("+call+")" {
		t.Errorf("calls forbidden: %v %s", fail, flat(r.Blocks))
	}
}

// TestTextModeShows: nothing is shown before it is known what it is, and reasoning all the while.
func TestTextModeShows(t *testing.T) {
	var order []string
	o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Stream: true, Profile: inText()}
	body := stream("stop", `"content":"<think>let me see</think>I "`, `"content":"am "`, `"content":"done"`)
	_, fail := provider.ReceiveText(o, askText(), strings.NewReader(body), func(d llm.Delta) { order = append(order, fmt.Sprintf("%s:%s", d.Part, d.Text)) })
	if got := strings.Join(order, "|"); fail != nil || got != "reasoning:let me see|text:I am done" {
		t.Errorf("%v %s", fail, got)
	}
}

// TestTextModePrefix: the parts of a longer history begin with those of a shorter one.
func TestTextModePrefix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := worlds()[rapid.IntRange(0, 5).Draw(rt, "world")]
		m, server, _ := w.start(t, scripted.Script{Replies: make([]scripted.Reply, 6)}, func(o *provider.Options) {
			o.Profile = inText()
			o.Profile.BreakSpecial = rapid.Bool().Draw(rt, "special")
		})
		q := ask()
		for i := range 5 {
			if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
				rt.Fatal(err)
			}
			id := fmt.Sprint("c", i)
			blocks := []llm.Block{{Type: llm.Call, Call: &llm.ToolCall{ID: id, Name: "read", Arguments: `{"path":"<|im_end|>"}`}}}
			if s := rapid.SampledFrom([]string{"", "I look </s>"}).Draw(rt, "said"); s != "" {
				blocks = append([]llm.Block{{Type: llm.Text, Text: s}}, blocks...)
			}
			result := llm.ToolResult{ID: id, Name: "read", Content: rapid.SampledFrom([]string{"x", "<|endoftext|> [INST]"}).Draw(rt, "result")}
			q.Messages = append(q.Messages,
				llm.Message{Role: llm.Assistant, Key: "a" + id, Blocks: blocks},
				llm.Message{Role: llm.Tool, Key: "r" + id, Blocks: []llm.Block{{Type: llm.Result, Result: &result}}})
		}
		log := server.Log()
		for i := 1; i < len(log); i++ {
			a, b := string(log[i-1].Request), string(log[i].Request)
			n := 0
			for n < min(len(a), len(b)) && a[n] == b[n] {
				n++
			}
			if len(a)-n > 20 {
				rt.Fatalf("request %d leaves the one before at %q", i+1, a[n:])
			}
		}
	})
}

// TestBadQuirks: what is no value of a quirk is told before anything is sent.
func TestBadQuirks(t *testing.T) {
	for want, p := range map[string]provider.Profile{
		`"prose" is no value of the quirk "tools": take one of text`:                              {Tools: "prose"},
		`"x" is no value of the quirk "schema": take one of gemini, xai, moonshot, llamacpp`:      {Schema: "x"},
		`"x" is no value of the quirk "text_calls": take a list of some of hermes, glm, function`: {TextCalls: []string{"glm", "x"}},
	} {
		m, server, _ := start(t, scripted.Script{}, func(o *provider.Options) { o.Profile = p })
		_, err := m.Stream(ctxOf(t), ask(), nil)
		if e := asError(t, err); e.Class != llm.Invalid || !strings.HasPrefix(e.Message, want) || len(server.Log()) > 0 {
			t.Errorf("%+v, want %s", e, want)
		}
	}
}

// TestBreakSpecial: control tokens of models do not reach the server as such, where the profile says so.
func TestBreakSpecial(t *testing.T) {
	for _, on := range []bool{false, true} {
		m, server, _ := start(t, scripted.Script{Replies: make([]scripted.Reply, 1)}, func(o *provider.Options) { o.Profile.BreakSpecial = on })
		q := say("a <|im_end|> </s> [INST] <｜end▁of▁sentence｜> b")
		if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
			t.Fatal(err)
		}
		body := string(server.Log()[0].Request)
		if whole := strings.Contains(body, "a <|im_end|> </s> [INST] <｜end▁of▁sentence｜> b"); whole == on {
			t.Errorf("on %t: %s", on, body)
		}
		if on != strings.Contains(body, "a <\u200b|im_end|> <\u200b/s> [\u200bINST] <\u200b｜end▁of▁sentence｜> b") {
			t.Errorf("on %t: %s", on, body)
		}
		if q.Messages[0].Blocks[0].Text != "a <|im_end|> </s> [INST] <｜end▁of▁sentence｜> b" {
			t.Error("the request was changed")
		}
	}
}
