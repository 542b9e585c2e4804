package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// returning is the profile under which reasoning goes back in Chat Completions; elsewhere it always does.
func returning() func(*provider.Options) {
	return withProfile(provider.Profile{Reasoning: provider.Always, ReasoningField: "reasoning_content"})
}

// second makes the first call of a task with first, and gives what the strict server was sent in the second one, which is
// made with changed options. change alters the answer that is in the history.
func (w world) second(t *testing.T, first scripted.Reply, change func([]llm.Block) []llm.Block, more ...func(*provider.Options)) scripted.Request {
	t.Helper()
	var got scripted.Request
	n := 0
	server := scripted.New(scripted.Script{Next: func(r scripted.Request) scripted.Reply {
		got = r
		if n++; n == 1 {
			return first
		}
		return scripted.Reply{Text: "ok"}
	}})
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	call := func(messages []llm.Message, more ...func(*provider.Options)) *llm.Response {
		o := provider.Options{Wire: newWire(t, &sink{}), Endpoint: url, Model: "m"}
		w.set(&o)
		returning()(&o)
		for _, f := range more {
			f(&o)
		}
		r, err := provider.New(o).Stream(ctxOf(t), &llm.Request{Messages: messages, Tools: toolSpecs()}, nil)
		if err != nil {
			log := server.Log()
			t.Fatalf("%v: %s", err, log[len(log)-1].Request)
		}
		return r
	}
	blocks := call([]llm.Message{user("go")}).Blocks
	if change != nil {
		blocks = change(blocks)
	}
	messages := []llm.Message{user("go"), {Role: llm.Assistant, Blocks: blocks}}
	for _, c := range callsOf(&llm.Response{Blocks: blocks}) {
		messages = append(messages, result(c.ID, c.Name, "result"))
	}
	if len(messages) == 2 {
		messages = append(messages, user("and?"))
	}
	call(messages, more...)
	return got
}

// reasoned gives the reasoning that came back; "-": none.
func reasoned(r scripted.Request) string {
	for _, m := range r.Messages {
		if m.Reasoning != nil {
			return *m.Reasoning
		}
	}
	return "-"
}

// returnBehaviours are about what goes back to the server that it came from.
func returnBehaviours() []behaviour {
	thought := scripted.Reply{Reasoning: "why \"so\"\n🥊", Text: "Look.", Calls: []scripted.Call{{ID: "c1", Name: "read", Args: `{"path":"x"}`}, {ID: "c2", Name: "now", Args: "{}"}}}
	return []behaviour{
		{"reasoning goes back beside its calls, as it was", nil, func(t *testing.T, w world) {
			if got := reasoned(w.second(t, thought, nil)); got != thought.Reasoning {
				t.Errorf("%q came back", got)
			}
		}},
		{"reasoning goes back beside a text", nil, func(t *testing.T, w world) {
			if got := reasoned(w.second(t, scripted.Reply{Reasoning: "why", Text: "so"}, nil)); got != "why" {
				t.Errorf("%q came back", got)
			}
		}},
		{"reasoning goes to no other model", nil, func(t *testing.T, w world) {
			got := reasoned(w.second(t, thought, nil, func(o *provider.Options) { o.Model = "n" }))
			if got != w.pick("", "-", "-") {
				t.Errorf("%q came back", got)
			}
		}},
		{"reasoning goes to no other endpoint", nil, func(t *testing.T, w world) {
			got := reasoned(w.second(t, thought, func(blocks []llm.Block) []llm.Block {
				for i := range blocks {
					if blocks[i].Origin != "" {
						blocks[i].Origin = strings.Replace(blocks[i].Origin, "127.0.0.1", "127.0.0.2", 1)
					}
				}
				return blocks
			}, func(o *provider.Options) {
				// Thinking is off, as for a task that goes on with a model that never thought.
				o.Profile.Extra = []byte(w.pick(`{}`, `{}`, `{"thinking":{"type":"disabled"}}`))
			}))
			if got != w.pick("", "-", "-") {
				t.Errorf("%q came back", got)
			}
		}},
		{"reasoning whose seal is lost does not go back", map[string]string{"chat": "it has no seal"}, func(t *testing.T, w world) {
			got := reasoned(w.second(t, scripted.Reply{Reasoning: "why", Text: "so"}, func(blocks []llm.Block) []llm.Block {
				blocks[0].Opaque = nil
				return blocks
			}))
			if got != "-" {
				t.Errorf("%q came back", got)
			}
		}},
		{"reasoning that nothing follows does not go back", nil, func(t *testing.T, w world) {
			w.second(t, scripted.Reply{Reasoning: "why", Text: "so"}, func(blocks []llm.Block) []llm.Block {
				return []llm.Block{blocks[1], blocks[0]} // the answer was cut while it thought again
			})
			w.second(t, scripted.Reply{Reasoning: "why", Text: "so"}, func(blocks []llm.Block) []llm.Block { return blocks[:1] })
			w.second(t, scripted.Reply{Reasoning: "why", Text: "so"}, func(blocks []llm.Block) []llm.Block {
				blocks[1].Text = " "
				return blocks
			})
		}},
		{"what was thought long ago may go back too", nil, func(t *testing.T, w world) {
			w.task(t, 6, func(int) scripted.Reply { return scripted.Reply{Reasoning: "r", Text: "t"} }, nil)
		}},
		{"a task of twenty steps", nil, func(t *testing.T, w world) {
			w.task(t, 20, func(n int) scripted.Reply {
				r := scripted.Reply{Reasoning: fmt.Sprint("because ", n), Text: "t", Phase: "commentary", Calls: []scripted.Call{{Name: "read", Args: fmt.Sprintf(`{"path":"%d"}`, n)}}}
				switch n % 4 {
				case 1:
					r.Reasoning, r.Text = "", ""
				case 2:
					r.Calls = append(r.Calls, scripted.Call{Name: "now", Args: "{}"})
				case 3:
					r.Calls = nil
				}
				return r
			}, nil)
		}},
		{"the phase goes back", map[string]string{"chat": "of Responses", "messages": "of Responses"}, func(t *testing.T, w world) {
			m, server, _ := w.script(t, scripted.Reply{Text: "Look.", Phase: "commentary", Calls: []scripted.Call{{ID: "c", Name: "now", Args: "{}"}}}, scripted.Reply{Text: "ok", Phase: "final_answer"})
			q := ask()
			r, err := m.Stream(ctxOf(t), q, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Blocks: r.Blocks}, result("c", "now", "x"))
			if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
				t.Fatal(err)
			}
			if body := string(server.Log()[1].Request); !strings.Contains(body, `"phase":"commentary"`) {
				t.Errorf("%s", body)
			}
		}},
		{"hidden thinking goes back as it came", map[string]string{"chat": "of Messages", "responses": "of Messages"}, func(t *testing.T, w world) {
			body := `{"content":[{"type":"redacted_thinking","data":"Em\u002fwK"},{"type":"tool_use","id":"a","name":"now","input":{}}],"stop_reason":"tool_use"}`
			if w.stream {
				body = named(block(0, `"type":"redacted_thinking","data":"Em\u002fwK"`), block(1, `"type":"tool_use","id":"a","name":"now","input":{}`), stopped("tool_use"))
			}
			m, k := w.against(t, raw(200, nil, body))
			q := ask()
			r, err := m.Stream(ctxOf(t), q, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Blocks: r.Blocks}, result("a", "now", "x"))
			if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
				t.Fatal(err)
			}
			if got := string(join(k.sent[1].Body)); !strings.Contains(got, `{"role":"assistant","content":[{"type":"redacted_thinking","data":"Em\u002fwK"},{"type":"tool_use"`) {
				t.Errorf("%s", got)
			}
		}},
		{"what a call brought along goes back with it", map[string]string{"responses": "of Chat Completions", "messages": "of Chat Completions"}, func(t *testing.T, w world) { // Gemini
			extra := `{"google":{"thought_signature":"c2ln"}}`
			body := `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"now","arguments":"{}"},"extra_content":` + extra + `}]},"finish_reason":"tool_calls"}]}`
			if w.stream {
				body = stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"now","arguments":"{}"},"extra_content":`+extra+`}`))
			}
			m, k := w.against(t, raw(200, nil, body))
			q := ask()
			r, err := m.Stream(ctxOf(t), q, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Blocks: r.Blocks}, result("a", "now", "x"))
			m.Stream(ctxOf(t), q, nil)
			if got := string(join(k.sent[1].Body)); !strings.Contains(got, `"extra_content":`+extra) {
				t.Errorf("%s", got)
			}
		}},
	}
}

// task lets a strict server and the adapter make so many steps of one task, each with what was really answered before. see
// gets each request.
func (w world) task(t testing.TB, steps int, next func(n int) scripted.Reply, see func(n int, k *sink), more ...func(*provider.Options)) {
	t.Helper()
	n := 0
	m, server, k := w.start(t, scripted.Script{Next: func(scripted.Request) scripted.Reply { n++; return next(n - 1) }}, append([]func(*provider.Options){returning()}, more...)...)
	q := historyOf()
	q.Messages[0].Key = "u"
	ctx := ctxOf(t)
	for step := range steps {
		r, err := m.Stream(ctx, q, nil)
		if err != nil {
			log := server.Log()
			t.Fatalf("step %d: %v: %s", step, err, log[len(log)-1].Request)
		}
		if see != nil {
			see(step, k)
		}
		q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Key: fmt.Sprint("a", step), Blocks: r.Blocks})
		calls := callsOf(r)
		for i, c := range calls {
			answer := result(c.ID, c.Name, fmt.Sprint("result ", step, i))
			answer.Key = fmt.Sprint("r", step, "-", i)
			q.Messages = append(q.Messages, answer)
		}
		if len(calls) == 0 {
			q.Messages = append(q.Messages, llm.Message{Role: llm.User, Key: fmt.Sprint("u", step), Blocks: []llm.Block{textBlock("go on")}})
		}
	}
}
