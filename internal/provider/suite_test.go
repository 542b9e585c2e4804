package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// world is where a behaviour is looked at: one protocol, streaming or not.
type world struct {
	protocol string
	stream   bool
}

// behaviour is what all protocols have in common, or what one of them has alone.
type behaviour struct {
	name string
	// not has the worlds in which it has no meaning, and why: chat, responses, messages, stream, whole, or two of them with a
	// blank between.
	not map[string]string
	run func(t *testing.T, w world)
}

// behaviours is the whole table.
func behaviours() []behaviour {
	return slices.Concat(answerBehaviours(), shapeBehaviours(), itemBehaviours(), transportBehaviours(), faultBehaviours(), requestBehaviours(), returnBehaviours())
}

// TestBehaviours looks at every behaviour in every world in which it has a meaning.
// covers L003 L036 L056 L107 L238 L240 L241
func TestBehaviours(t *testing.T) {
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			for _, w := range worlds() {
				if w.without(b) == "" {
					t.Run(w.String(), func(t *testing.T) { b.run(t, w) })
				}
			}
		})
	}
}

// TestTable: the names are different, and every exception is of a world that there is and leaves some world.
func TestTable(t *testing.T) {
	words := []string{"chat", "responses", "messages", "stream", "whole"}
	seen := map[string]bool{}
	for _, b := range behaviours() {
		if seen[b.name] {
			t.Errorf("two behaviours are called %q", b.name)
		}
		seen[b.name] = true
		for where, why := range b.not {
			for _, word := range strings.Fields(where) {
				if !slices.Contains(words, word) || why == "" {
					t.Errorf("%s: %q: %q", b.name, where, why)
				}
			}
		}
		if !slices.ContainsFunc(worlds(), func(w world) bool { return w.without(b) == "" }) {
			t.Errorf("%s has a meaning nowhere", b.name)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d behaviours", len(seen))
	}
}

func worlds() (out []world) {
	for _, p := range []string{provider.Chat, provider.Responses, provider.Messages} {
		out = append(out, world{p, true}, world{p, false})
	}
	return out
}

// streams are the worlds that stream: what is sent differs in one member from the others.
func streams() []world {
	return slices.DeleteFunc(worlds(), func(w world) bool { return !w.stream })
}

func (w world) String() string {
	_, name, _ := strings.Cut(w.protocol, "-")
	if w.stream {
		return name + " stream"
	}
	return name + " whole"
}

// without says why a behaviour has no meaning here; "": it has one.
func (w world) without(b behaviour) string {
	is := strings.Fields(w.String())
	for where, why := range b.not {
		if !slices.ContainsFunc(strings.Fields(where), func(word string) bool { return !slices.Contains(is, word) }) {
			return why
		}
	}
	return ""
}

// pick gives what is of this protocol.
func (w world) pick(chat, responses, messages string) string {
	switch w.protocol {
	case provider.Chat:
		return chat
	case provider.Responses:
		return responses
	}
	return messages
}

// set makes options those of this world.
func (w world) set(o *provider.Options) { o.Protocol, o.Stream = w.protocol, w.stream }

// start serves a script and gives a model on it.
func (w world) start(t testing.TB, s scripted.Script, more ...func(*provider.Options)) (llm.Model, *scripted.Server, *sink) {
	t.Helper()
	return start(t, s, func(o *provider.Options) {
		w.set(o)
		for _, f := range more {
			f(o)
		}
	})
}

// script serves replies.
func (w world) script(t testing.TB, replies ...scripted.Reply) (llm.Model, *scripted.Server, *sink) {
	t.Helper()
	return w.start(t, scripted.Script{Replies: replies})
}

// against gives a model on a server that does as it likes.
func (w world) against(t testing.TB, h http.HandlerFunc, more ...func(*provider.Options)) (llm.Model, *sink) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	k := &sink{}
	o := provider.Options{Wire: newWire(t, k), Endpoint: server.URL, Name: "test", Model: "m"}
	w.set(&o)
	for _, f := range more {
		f(&o)
	}
	return provider.New(o), k
}

// record gives the bytes that a server sends for a reply.
func (w world) record(t testing.TB, r scripted.Reply) string {
	t.Helper()
	m, server, _ := w.script(t, r)
	m.Stream(ctxOf(t), ask(), nil) // whatever comes of it
	log := server.Log()
	if len(log) != 1 || log[0].Status != 200 {
		t.Fatalf("%+v", log)
	}
	return string(log[0].Response)
}

// ask is a request that offers tools.
func ask() *llm.Request {
	q := say("go")
	q.Tools = toolSpecs()
	return q
}

// play gives what a raw reply of status 200 comes to. What was shown must be what is kept, and what came what is recorded.
func (w world) play(t testing.TB, pieces ...string) outcome {
	t.Helper()
	header := sse()
	if len(pieces) > 0 && strings.HasPrefix(pieces[0], "{") {
		header = map[string]string{"Content-Type": "application/json"}
	}
	return w.playAs(t, header, pieces...)
}

func (w world) playAs(t testing.TB, header map[string]string, pieces ...string) outcome {
	t.Helper()
	m, k := w.against(t, raw(200, header, pieces...))
	return outcomeOf(t, m, k)
}

// outcomeOf asks once.
func outcomeOf(t testing.TB, m llm.Model, k *sink) outcome {
	t.Helper()
	shown := map[llm.DeltaPart]*strings.Builder{llm.TextDelta: {}, llm.ReasoningDelta: {}}
	r, err := m.Stream(ctxOf(t), ask(), func(d llm.Delta) { shown[d.Part].WriteString(d.Text) })
	for part, kind := range map[llm.DeltaPart]llm.BlockType{llm.TextDelta: llm.Text, llm.ReasoningDelta: llm.Reasoning} {
		if got := text(r, kind); got != shown[part].String() {
			t.Errorf("shown as %s %q, kept %q", part, shown[part], got)
		}
	}
	for i := range r.Blocks {
		r.Blocks[i].Origin = "" // it names the port
	}
	o := outcome{Blocks: r.Blocks, Finish: r.Finish, Raw: r.RawFinish, Dropped: r.Dropped, Usage: r.Usage, ID: r.Exchange.ProviderID}
	if err != nil {
		e := asError(t, err)
		o.Class, o.Code, o.Message = e.Class, e.Code, strings.ReplaceAll(e.Message, hostOf(k), "HOST")
	}
	return o
}

// want compares an outcome that must not be a failure.
func (o outcome) want(t testing.TB, finish llm.Finish, blocks string) {
	t.Helper()
	if o.Class != "" || o.Finish != finish || flat(o.Blocks) != blocks {
		t.Errorf("%s %s: finish %q, blocks %s\nwant %q, %s", o.Class, o.Message, o.Finish, flat(o.Blocks), finish, blocks)
	}
}

// fails compares an outcome that must be a failure, with what came before it.
func (o outcome) fails(t testing.TB, class llm.Class, part, blocks string) {
	t.Helper()
	if o.Class != class || !strings.Contains(o.Message, part) || flat(o.Blocks) != blocks {
		t.Errorf("%q %q, blocks %s\nwant %q with %q, %s", o.Class, o.Message, flat(o.Blocks), class, part, blocks)
	}
}

// flat shows blocks in one line. Blanks between the tokens of arguments do not count: Messages has none to tell of.
func flat(blocks []llm.Block) string {
	var out []string
	for _, b := range blocks {
		switch b.Type {
		case llm.Call:
			args := b.Call.Arguments
			if v, err := compact(args); err == nil {
				args = v
			}
			out = append(out, fmt.Sprintf("call(%s %s %s)", b.Call.ID, b.Call.Name, args))
		default:
			out = append(out, fmt.Sprintf("%s(%s)", b.Type, b.Text))
		}
	}
	return strings.Join(out, " ")
}

func compact(s string) (string, error) {
	var v json.RawMessage
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// named makes a stream of documents, each under its type as the name of its event.
func named(docs ...string) string {
	var b strings.Builder
	for _, d := range docs {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(d), &v); err != nil {
			v.Type = "broken"
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", v.Type, d)
	}
	return b.String()
}

// texts makes a reply whose text comes in pieces, which are the insides of JSON strings.
func (w world) texts(pieces ...string) string {
	if !w.stream {
		s := strings.Join(pieces, "")
		return w.pick(`{"choices":[{"message":{"content":"`+s+`"},"finish_reason":"stop"}]}`,
			`{"output":[{"type":"message","content":[{"type":"output_text","text":"`+s+`"}]}],"status":"completed"}`,
			`{"content":[{"type":"text","text":"`+s+`"}],"stop_reason":"end_turn"}`)
	}
	if w.protocol == provider.Chat {
		for i, p := range pieces {
			pieces[i] = `"content":"` + p + `"`
		}
		return stream("stop", pieces...)
	}
	docs := []string{w.pick("", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)}
	for _, p := range pieces {
		docs = append(docs, w.pick("", `{"type":"response.output_text.delta","output_index":0,"delta":"`+p+`"}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+p+`"}}`))
	}
	if w.protocol == provider.Responses {
		return named(append(docs, `{"type":"response.completed","response":{"status":"completed"}}`)...)
	}
	return named(append(docs, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)...)
}
