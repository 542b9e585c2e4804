package provider_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// answerBehaviours are about answers as the vendors send them.
func answerBehaviours() []behaviour {
	return []behaviour{
		{"text and reasoning are shown as they come, kept and recorded", nil, wholeAnswer},
		{"parallel calls keep order, ids and arguments", nil, parallelCalls},
		{"calls without a text", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "now", Args: "{}"}}})).want(t, w.toolFinish(), "call(a now {})")
		}},
		{"reasoning without a text", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Reasoning: "hm"})).want(t, llm.Stop, "reasoning(hm)")
		}},
		{"an empty answer has no blocks", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{})).want(t, llm.Stop, "")
		}},
		{"a text of blanks stays one", nil, func(t *testing.T, w world) {
			w.play(t, w.texts(" ", `\n`)).want(t, llm.Stop, "text( \n)")
		}},
		{"a refusal is its text and no answer", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "I can't help with that.", Refusal: true})).want(t, llm.ContentFilter, "text(I can't help with that.)")
		}},
		{"a filter ends an answer", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "half", Finish: "content_filter"})).want(t, llm.ContentFilter, "text(half)")
		}},
		{"the limit ends an answer, whole calls are kept", nil, func(t *testing.T, w world) {
			o := w.play(t, w.record(t, scripted.Reply{Text: "half", Calls: []scripted.Call{{ID: "a", Name: "now", Args: "{}"}}, Finish: "length"}))
			o.want(t, llm.Length, "text(half) call(a now {})")
		}},
		{"a call that the limit cuts is dropped", map[string]string{"messages whole": "its arguments are an object, which can't be cut"}, cutCall},
		{"an unknown reason is none that is known", map[string]string{"responses": "an answer that is not whole is told from others by its status"}, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "a", Finish: "brandnew"})).want(t, llm.Other, "text(a)")
		}},
		{"pause_turn is no answer", map[string]string{"chat": "of Messages", "responses": "of Messages"}, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "a", Finish: "pause_turn"})).want(t, llm.Other, "text(a)")
		}},
		{"the window ends an answer like the limit", map[string]string{"responses": "it says max_output_tokens"}, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Text: "a", Finish: "model_context_window_exceeded"})).want(t, llm.Length, "text(a)")
		}},
		{"usage in buckets that do not overlap", nil, func(t *testing.T, w world) {
			o := w.play(t, w.record(t, scripted.Reply{Text: "a", Usage: &scripted.Usage{Prompt: 100, Cached: 60, Written: 10, Completion: 30, Reasoning: 20}}))
			if got := showUsage(o.Usage); got != "30 60 10 30 20 " {
				t.Errorf("usage %s", got)
			}
			if len(o.Usage.Raw) == 0 {
				t.Error("the usage as received is not kept")
			}
		}},
		{"no usage is none", nil, func(t *testing.T, w world) {
			if got := showUsage(w.play(t, w.texts("a")).Usage); got != "- - - - - " {
				t.Errorf("usage %s", got)
			}
		}},
		{"the id of the answer is kept", nil, func(t *testing.T, w world) {
			if got := w.play(t, w.record(t, scripted.Reply{Text: "a"})).ID; got != w.pick("chatcmpl-scripted-1", "resp_scripted_1", "msg_scripted_1") {
				t.Errorf("id %q", got)
			}
		}},
		{"arguments of a quarter of a megabyte", nil, func(t *testing.T, w world) {
			args := `{"path":"` + strings.Repeat("ü", 1<<17) + `"}`
			w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "read", Args: args}}})).want(t, w.toolFinish(), "call(a read "+args+")")
		}},
		{"twenty calls", nil, func(t *testing.T, w world) {
			var calls []scripted.Call
			var want []string
			for i := range 20 {
				calls = append(calls, scripted.Call{ID: fmt.Sprint("c", i), Name: "read", Args: fmt.Sprintf(`{"path":"%d"}`, i)})
				want = append(want, fmt.Sprintf(`call(c%d read {"path":"%d"})`, i, i))
			}
			w.play(t, w.record(t, scripted.Reply{Calls: calls})).want(t, w.toolFinish(), strings.Join(want, " "))
		}},
		{"names are read with tolerance", nil, func(t *testing.T, w world) {
			o := w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{
				{ID: "a", Name: "Read", Args: "{}"}, {ID: "b", Name: "functions.bash", Args: "{}"}, {ID: "c", Name: "nothing", Args: "{}"},
			}}))
			o.want(t, w.toolFinish(), "call(a read {}) call(b bash {}) call(c nothing {})")
		}},
		{"empty arguments are an empty object", map[string]string{"messages whole": "they are an object"}, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "now", Args: ""}}})).want(t, w.toolFinish(), "call(a now {})")
		}},
		{"broken arguments are kept as they came", map[string]string{"messages whole": "they are an object"}, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "read", Args: `{"path":x}`}}})).want(t, w.toolFinish(), `call(a read {"path":x})`)
		}},
		{"arguments that are no object are kept as they came", nil, func(t *testing.T, w world) {
			w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "read", Args: `["x"]`}}})).want(t, w.toolFinish(), `call(a read ["x"])`)
		}},
		{"one id for two calls keeps both", nil, func(t *testing.T, w world) {
			o := w.play(t, w.record(t, scripted.Reply{Calls: []scripted.Call{{ID: "a", Name: "read", Args: `{"path":"x"}`}, {ID: "a", Name: "read", Args: `{"path":"y"}`}}}))
			o.want(t, w.toolFinish(), `call(a read {"path":"x"}) call(a read {"path":"y"})`)
		}},
		{"what is shown may be nothing", nil, func(t *testing.T, w world) {
			m, _, _ := w.script(t, scripted.Reply{Text: "a", Reasoning: "b"})
			if r, err := m.Stream(ctxOf(t), ask(), nil); err != nil || text(r, llm.Text) != "a" {
				t.Errorf("%+v %v", r, err)
			}
		}},
		{"one model serves several at once", nil, func(t *testing.T, w world) {
			m, _, _ := w.start(t, scripted.Script{Next: func(r scripted.Request) scripted.Reply { return scripted.Reply{Text: r.Last().Content} }})
			errs := make(chan error)
			for i := range 8 {
				go func() {
					said := strings.Repeat(fmt.Sprint(i), 100)
					r, err := m.Stream(ctxOf(t), say(said), nil)
					if err == nil && text(r, llm.Text) != said {
						err = fmt.Errorf("%s got %s", said, text(r, llm.Text))
					}
					errs <- err
				}()
			}
			for range 8 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		}},
	}
}

func wholeAnswer(t *testing.T, w world) {
	long := strings.Repeat("Zwölf Boxkämpfer 🥊 jagen 永. ", 20)
	m, server, k := w.start(t, scripted.Script{Key: "sk-secret", Replies: []scripted.Reply{{Text: long, Reasoning: "hmm … 思"}}})
	shown := map[llm.DeltaPart]string{}
	r, err := m.Stream(ctxOf(t), say("hi"), func(d llm.Delta) { shown[d.Part] += d.Text })
	if err != nil {
		t.Fatal(err)
	}
	if text(r, llm.Text) != long || text(r, llm.Reasoning) != "hmm … 思" || r.Blocks[0].Carrier != w.pick("reasoning_content", "item", "thinking") {
		t.Errorf("blocks %+v", r.Blocks)
	}
	if shown[llm.TextDelta] != long || shown[llm.ReasoningDelta] != "hmm … 思" {
		t.Errorf("shown %q", shown)
	}
	if r.Finish != llm.Stop || r.RawFinish != w.pick("stop", "completed", "end_turn") || r.Dropped != 0 {
		t.Errorf("finish %q %q, dropped %d", r.Finish, r.RawFinish, r.Dropped)
	}
	log := server.Log()
	if len(log) != 1 || !bytes.Equal(log[0].Request, join(k.sent[0].Body)) || !bytes.Equal(log[0].Response, k.received[0].Body) {
		t.Error("what was recorded is not what the server received and sent")
	}
	if key := log[0].Header.Get(w.pick("Authorization", "Authorization", "X-Api-Key")); !strings.HasSuffix(key, "sk-secret") || strings.Contains(fmt.Sprint(k.sent[0].Header), "secret") {
		t.Error("the key must be sent and not recorded")
	}
	x := r.Exchange
	if x.HTTP != 200 || x.Request.Bytes != int64(len(log[0].Request)) || len(x.Response.SHA256) != 64 || x.FirstByte <= 0 || x.Duration < x.FirstByte {
		t.Errorf("exchange %+v", x)
	}
}

func parallelCalls(t *testing.T, w world) {
	args := `{"path": "a \"b\"\n 🥊",  "n": 1.50}`
	m, _, _ := w.script(t, scripted.Reply{Text: "Look.", Calls: []scripted.Call{
		{ID: "a", Name: "read", Args: args}, {ID: "b", Name: "now", Args: "{}"}, {ID: "c", Name: "read", Args: `{"path":"<&>"}`},
	}})
	r, err := m.Stream(ctxOf(t), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.protocol == provider.Messages && !w.stream {
		args = `{"path":"a \"b\"\n 🥊","n":1.50}` // an object has no blanks of its own
	}
	want := []llm.ToolCall{{ID: "a", Name: "read", Arguments: args}, {ID: "b", Name: "now", Arguments: "{}"}, {ID: "c", Name: "read", Arguments: `{"path":"<&>"}`}}
	if got := callsOf(r); fmt.Sprint(got) != fmt.Sprint(want) || r.Finish != w.toolFinish() || r.Blocks[0].Text != "Look." {
		t.Errorf("%+v, want %q", r, want)
	}
}

func cutCall(t *testing.T, w world) {
	o := w.play(t, w.record(t, scripted.Reply{Text: "half", Finish: "length", Calls: []scripted.Call{
		{ID: "a", Name: "now", Args: "{}"}, {ID: "b", Name: "read", Args: `{"path":"x`},
	}}))
	o.want(t, llm.Length, "text(half) call(a now {})")
	if o.Dropped != 1 {
		t.Errorf("%d dropped", o.Dropped)
	}
}

// showUsage shows the buckets: fresh, cache read, cache write, output, reasoning.
func showUsage(u llm.Usage) string {
	s := ""
	for _, n := range []*int64{u.Fresh, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if n == nil {
			s += "- "
			continue
		}
		s += fmt.Sprint(*n, " ")
	}
	return s
}
