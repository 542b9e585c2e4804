package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
	"overt/internal/wire"
)

// history draws a valid history.
func history(t *rapid.T) []llm.Message {
	var out []llm.Message
	n := 0
	words := rapid.StringN(1, 20, -1)
	for range rapid.IntRange(1, 8).Draw(t, "turns") {
		n++
		out = append(out, llm.Message{Role: llm.User, Key: fmt.Sprint("u", n), Blocks: []llm.Block{{Type: llm.Text, Text: "." + words.Draw(t, "u"), Owner: fmt.Sprint(n)}}})
		n++
		a := assistant(fmt.Sprint("a", n))
		var results []llm.Block
		if rapid.Bool().Draw(t, "text") {
			a.Blocks = append(a.Blocks, llm.Block{Type: llm.Text, Text: "." + words.Draw(t, "a"), Owner: fmt.Sprint(n)})
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id := fmt.Sprintf("%d-%d", n, i)
			args, _ := json.Marshal(map[string]string{"path": words.Draw(t, "args")})
			a.Blocks = append(a.Blocks, callBlock(id, "read", string(args)))
			results = append(results, result(id, "read", "."+words.Draw(t, "result")).Blocks...)
		}
		if len(a.Blocks) == 0 {
			continue
		}
		out = append(out, a)
		if results != nil {
			out = append(out, llm.Message{Role: llm.Tool, Key: fmt.Sprint("t", n), Blocks: results})
		}
	}
	return out
}

// prefix checks that all parts of a request but its tail begin the next one, and are the same bytes in memory.
type prefix struct{ last []wire.Part }

func (p *prefix) next(t interface{ Fatalf(string, ...any) }, body []wire.Part) {
	for i := range max(len(p.last)-1, 0) {
		old, now := p.last[i], body[i]
		if old.Owner != now.Owner || !bytes.Equal(old.Bytes, now.Bytes) {
			t.Fatalf("part %d changed from %q to %q", i, old.Bytes, now.Bytes)
		}
		if len(old.Bytes) > 0 && &old.Bytes[0] != &now.Bytes[0] {
			t.Fatalf("part %d was encoded again", i)
		}
	}
	if tail := body[len(body)-1]; len(tail.Bytes) >= 96 || tail.Owner != "" {
		t.Fatalf("tail %q", tail.Bytes)
	}
	p.last = body
}

// marked is the profile with all that may stand behind the messages.
func marked(w world) func(*provider.Options) {
	p := provider.ProfileFor(w.protocol, w.pick("deepseek", "openai", "anthropic"), "", "m")
	p.Extra = nil
	return withProfile(p)
}

// TestPrefix: whatever the history, each request begins with all of the one before but its tail, and a strict server takes it.
func TestPrefix(t *testing.T) {
	for _, w := range streams() {
		t.Run(w.String(), func(t *testing.T) {
			m, server, k := w.start(t, scripted.Script{Next: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "ok"} }})
			ctx := ctxOf(t)
			rapid.Check(t, func(rt *rapid.T) {
				all := history(rt)
				system := []llm.Block{{Type: llm.Text, Text: "S", Owner: "s"}}
				if rapid.Bool().Draw(rt, "bare") {
					system = nil
				}
				var p prefix
				for n := 1; n <= len(all); n++ {
					if all[n-1].Role == llm.Assistant {
						continue // its results may follow; requests end with a user or with results
					}
					q := &llm.Request{System: system, Tools: toolSpecs(), Messages: all[:n]}
					if n == len(all) {
						q.Params.ToolChoice = "none"
					}
					if _, err := m.Stream(ctx, q, nil); err != nil {
						log := server.Log()
						rt.Fatalf("refused: %v\n%s", err, log[len(log)-1].Request)
					}
					p.next(rt, k.sent[len(k.sent)-1].Body)
				}
			})
		})
	}
}

// TestTaskKeepsPrefix: the same for tasks of twenty steps with what a server really answered: reasoning with its seals, phases,
// calls and texts in any mixture. What goes to the wire is all of the last request but its marks and its end.
func TestTaskKeepsPrefix(t *testing.T) {
	for _, w := range streams() {
		t.Run(w.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				var p prefix
				var last []byte
				w.task(t, 20, func(int) scripted.Reply { return drawReply(rt) }, func(_ int, k *sink) {
					body := k.sent[len(k.sent)-1].Body
					tail := 0
					if p.last != nil {
						tail = len(p.last[len(p.last)-1].Bytes)
					}
					p.next(rt, body)
					now := join(body)
					if n := len(last) - tail; n > 0 && !bytes.HasPrefix(now, last[:n]) {
						rt.Fatalf("%s does not begin with %s", now, last[:n])
					}
					last = now
				}, marked(w))
			})
		})
	}
}

// drawReply draws what a model may answer.
func drawReply(t *rapid.T) scripted.Reply {
	word := rapid.StringMatching(`[a-zäöü🥊 "\\<]{0,12}`)
	r := scripted.Reply{Text: word.Draw(t, "text"), Phase: rapid.SampledFrom([]string{"", "commentary", "final_answer"}).Draw(t, "phase")}
	if rapid.Bool().Draw(t, "thinks") {
		r.Reasoning = "r" + word.Draw(t, "reasoning")
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		args, _ := json.Marshal(map[string]string{"path": word.Draw(t, "path")})
		r.Calls = append(r.Calls, scripted.Call{Name: "read", Args: string(args)})
	}
	if len(r.Calls) == 0 {
		r.Text = "." + r.Text // else it is no answer, and no part of a history
	}
	return r
}

// FuzzText: whatever bytes a message holds, the body is valid JSON in valid UTF-8 and says the same, but for what no
// server takes.
// covers L036
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add("q\"\\\n\r\t\x00\x1f\x7f<>&\u2028\xff\xed\xa0\x80")
	f.Add(" ")
	type place struct {
		m llm.Model
		k *sink
	}
	var places []place
	for _, w := range streams() {
		m, k := w.against(f, raw(200, sse(), w.texts("ok")))
		places = append(places, place{m, k})
	}
	ctx := f.Context()
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
		if strings.TrimSpace(s) == "" {
			want = "(empty)"
		}
		for _, p := range places {
			if _, err := p.m.Stream(ctx, say(s), nil); err != nil {
				t.Fatal(err)
			}
			body := join(p.k.sent[len(p.k.sent)-1].Body)
			p.k.sent, p.k.received = nil, nil
			type message struct{ Content json.RawMessage }
			var got struct{ Messages, Input []message }
			if err := json.Unmarshal(body, &got); err != nil || !utf8.Valid(body) {
				t.Fatalf("%v: %q", err, body)
			}
			content := append(got.Messages, got.Input...)[0].Content
			var said string
			if json.Unmarshal(content, &said) != nil {
				var parts []struct{ Text string }
				if err := json.Unmarshal(content, &parts); err != nil || len(parts) != 1 {
					t.Fatalf("%v: %s", err, content)
				}
				said = parts[0].Text
			}
			if said != want {
				t.Errorf("said %q, want %q", said, want)
			}
		}
	})
}
