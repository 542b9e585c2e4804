package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
)

// picture is the beginning of a PNG file, by which servers know one.
const picture = "\x89PNG\r\n\x1a\n\x00\x00"

func withKey(key string) func(*provider.Options) {
	return func(o *provider.Options) { o.Key = key }
}

func withProfile(p provider.Profile) func(*provider.Options) {
	return func(o *provider.Options) { o.Profile = p }
}

func withImages(f llm.Images) func(*provider.Options) {
	return func(o *provider.Options) { o.Images = f }
}

func onePicture(context.Context, string) ([]byte, error) { return []byte(picture), nil }

// accepts sends a request to a strict server and gives its body.
func (w world) accepts(t testing.TB, q *llm.Request, more ...func(*provider.Options)) string {
	t.Helper()
	m, server, _ := w.start(t, scripted.Script{Replies: []scripted.Reply{{Text: "ok"}}}, more...)
	_, err := m.Stream(ctxOf(t), q, nil)
	log := server.Log()
	if len(log) == 0 {
		t.Fatalf("nothing was sent: %v", err)
	}
	if err != nil {
		t.Errorf("%v: %s", err, log[0].Request)
	}
	return string(log[0].Request)
}

// history is a request with these messages behind a first one.
func historyOf(messages ...llm.Message) *llm.Request {
	q := ask()
	q.System = []llm.Block{{Type: llm.Text, Text: "You are.", Owner: "s1"}, {Type: llm.Text, Text: "Rules.", Owner: "s2"}}
	q.Messages = append(q.Messages, messages...)
	return q
}

func textBlock(s string) llm.Block { return llm.Block{Type: llm.Text, Text: s, Owner: "a"} }

// requestBehaviours are about what is sent. The server is strict: what it answers, every vendor takes.
func requestBehaviours() []behaviour {
	return []behaviour{
		{"a history with calls", nil, func(t *testing.T, w world) {
			w.accepts(t, historyOf(
				assistant("", textBlock("ok"), callBlock("1", "read", `{"path": "x"}`), callBlock("2", "bash", `{}`)), result("1", "read", "a"), result("2", "bash", "b"),
				assistant("", callBlock("3", "now", `{}`)), result("3", "now", "12:00"), assistant("", textBlock("noon")), user("and?"), user("well?")))
		}},
		{"results of one message, and a word behind them", nil, func(t *testing.T, w world) {
			both := llm.Message{Role: llm.Tool, Blocks: append(result("2", "bash", "b").Blocks, result("1", "read", "a").Blocks...)}
			w.accepts(t, historyOf(assistant("", callBlock("1", "read", `{}`), callBlock("2", "bash", `{}`)), both, user("stop")))
		}},
		{"several blocks of one message", nil, func(t *testing.T, w world) {
			body := w.accepts(t, historyOf(llm.Message{Role: llm.User, Blocks: []llm.Block{textBlock("one"), textBlock("two")}}, assistant("", textBlock("x"), textBlock("y")), user("z")))
			for _, s := range []string{"one", "two", "x", "y", "z"} {
				if !strings.Contains(body, s) {
					t.Errorf("%q is not in %s", s, body)
				}
			}
		}},
		{"blank texts are not sent", nil, func(t *testing.T, w world) {
			w.accepts(t, historyOf(assistant("", textBlock(""), textBlock(" \n"), callBlock("1", "now", "{}")), result("1", "now", "x"), assistant("", textBlock("a"), textBlock("")), user("b")))
		}},
		{"a message of the model with nothing to send", nil, func(t *testing.T, w world) {
			w.accepts(t, historyOf(assistant("", textBlock(" ")), user("b")))
			w.accepts(t, historyOf(assistant("", llm.Block{Type: llm.Reasoning, Text: "hm", Carrier: "x"}), user("b")))
			w.accepts(t, historyOf(assistant(""), user("b")))
		}},
		{"a message of the user with nothing to send", nil, func(t *testing.T, w world) {
			q := historyOf(assistant("", textBlock("a")), llm.Message{Role: llm.User, Blocks: []llm.Block{textBlock(" ")}})
			w.accepts(t, q)
			q.Messages[len(q.Messages)-1].Blocks = nil
			w.accepts(t, q)
		}},
		{"broken arguments become an empty object", nil, func(t *testing.T, w world) {
			w.accepts(t, historyOf(assistant("", callBlock("1", "read", `{"path":`), callBlock("2", "read", `[]`), callBlock("3", "read", "")), result("1", "read", "a"), result("2", "read", "b"), result("3", "read", "c")))
		}},
		{"arguments are sent as they came", nil, func(t *testing.T, w world) {
			args := `{"b": 1.50,  "a": "\u00e4<"}`
			body := w.accepts(t, historyOf(assistant("", callBlock("1", "read", args)), result("1", "read", "a")))
			quoted, _ := json.Marshal(args)
			as := strings.ReplaceAll(string(quoted), `\u003c`, "<")
			if !strings.Contains(body, w.pick(as, as, args)) {
				t.Errorf("%s", body)
			}
		}},
		{"names and ids of full length", nil, func(t *testing.T, w world) {
			long, id := strings.Repeat("n", 64), strings.Repeat("i", 40)
			q := historyOf(assistant("", callBlock(id, long, `{}`)), result(id, long, "a"))
			q.Tools = append(q.Tools, llm.ToolSpec{Name: long, Description: "d", Schema: q.Tools[0].Schema})
			w.accepts(t, q)
		}},
		{"no tools and no system text", nil, func(t *testing.T, w world) {
			body := w.accepts(t, say("hi"))
			if strings.Contains(body, `"tools"`) || strings.Contains(body, "system") || strings.Contains(body, "instructions") {
				t.Errorf("%s", body)
			}
		}},
		{"a tool without a schema has an empty one", nil, func(t *testing.T, w world) {
			q := ask()
			q.Tools[0].Schema = nil
			w.accepts(t, q)
		}},
		{"a broken schema is not sent", nil, func(t *testing.T, w world) {
			m, server, _ := w.script(t)
			q := ask()
			q.Tools[1].Schema = json.RawMessage(`{"type":`)
			_, err := m.Stream(ctxOf(t), q, nil)
			if e := asError(t, err); e.Class != llm.Invalid || !strings.Contains(e.Message, "bash") || len(server.Log()) != 0 {
				t.Errorf("%+v", e)
			}
		}},
		{"what no server takes as text is replaced", nil, func(t *testing.T, w world) {
			q := historyOf(assistant("", textBlock("a\x00b"), callBlock("1", "read", "{\"a\":\"\xff\"}")), result("1", "read", "a\x00b\xffc\x1b[0m\u2028"))
			q.System[0].Text = "\xed\xa0\x80"
			q.Tools[0].Description = "\x00\xff"
			body := w.accepts(t, q)
			if strings.Contains(body, `\u0000`) || !strings.Contains(body, "a\uFFFDb\uFFFDc\\u001b[0m\u2028") {
				t.Errorf("%s", body)
			}
		}},
		{"the choice of tools", nil, func(t *testing.T, w world) {
			for _, choice := range []string{"none", "auto", "required"} {
				m, server, _ := w.start(t, scripted.Script{Next: func(r scripted.Request) scripted.Reply { return scripted.Reply{Text: r.ToolChoice} }})
				q := ask()
				q.Params.ToolChoice = choice
				if r, err := m.Stream(ctxOf(t), q, nil); err != nil || text(r, llm.Text) != choice {
					t.Errorf("%v %s", err, server.Log()[0].Request)
				}
				q.Tools = nil
				if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
					t.Errorf("without tools: %v", err)
				}
			}
		}},
		{"parameters are sent where they are given", nil, func(t *testing.T, w world) {
			temperature := 0.5
			q := ask()
			q.Params = llm.Params{Temperature: &temperature, MaxTokens: 99}
			body := w.accepts(t, q)
			if !strings.Contains(body, `"temperature":0.5`) || !strings.Contains(body, w.pick(`"max_tokens":99`, `"max_output_tokens":99`, `"max_tokens":99`)) {
				t.Errorf("%s", body)
			}
			body = w.accepts(t, ask())
			for _, s := range []string{"temperature", "thinking", "effort", w.pick("max_tokens", "max_output_tokens", "top_p")} {
				if strings.Contains(body, s) {
					t.Errorf("%s is in %s", s, body)
				}
			}
			q.Params.MaxTokens = 1 // less than Responses takes
			w.accepts(t, q)
		}},
		{"every effort, thinking on and off", nil, func(t *testing.T, w world) {
			profiles := []provider.Profile{{}}
			for _, preset := range []string{"openai", "anthropic"} {
				for _, model := range []string{"m", "claude-opus-4-5"} {
					profiles = append(profiles, provider.ProfileFor(w.protocol, preset, "", model))
				}
			}
			temperature := 0.5
			for _, p := range profiles {
				m, server, _ := w.start(t, scripted.Script{Next: func(scripted.Request) scripted.Reply { return scripted.Reply{} }}, withProfile(p))
				for _, thinking := range []string{"", "on", "off"} {
					for _, effort := range append(llm.Efforts(), "") {
						if len(p.Efforts) == 0 && (effort == "max" || effort == "ultra" || effort == "minimal") {
							continue // a server about which nothing is known gets what the person says
						}
						for _, most := range []int{0, 16, 1024, 1025, 50_000} {
							q := ask()
							q.Params = llm.Params{Thinking: thinking, Effort: effort, MaxTokens: most, Temperature: &temperature}
							if _, err := m.Stream(ctxOf(t), q, nil); err != nil {
								log := server.Log()
								t.Fatalf("%v: %s", err, log[len(log)-1].Request)
							}
						}
					}
				}
			}
		}},
		{"pictures", nil, func(t *testing.T, w world) {
			img := func(media string) llm.Block {
				return llm.Block{Type: llm.Picture, Owner: "i", Image: &llm.Image{Hash: "h", Media: media, Bytes: int64(len(picture))}}
			}
			body := w.accepts(t, historyOf(assistant("", callBlock("1", "read", "{}")), result("1", "read", "see below"),
				llm.Message{Role: llm.User, Blocks: []llm.Block{textBlock("this"), img("image/png"), img("image/png"), textBlock("and that")}}, user("well?"),
				assistant("", textBlock("nice")), llm.Message{Role: llm.User, Blocks: []llm.Block{img("image/png")}}), withImages(onePicture))
			if strings.Count(body, "iVBORw0KGgoAAA==") != 3 {
				t.Errorf("%s", body)
			}
		}},
		{"a picture that is not there", nil, func(t *testing.T, w world) {
			gone := errors.New("no such picture")
			for _, f := range []llm.Images{nil, func(context.Context, string) ([]byte, error) { return nil, gone }} {
				m, server, _ := w.start(t, scripted.Script{}, withImages(f))
				_, err := m.Stream(ctxOf(t), historyOf(llm.Message{Role: llm.User, Blocks: []llm.Block{{Type: llm.Picture, Image: &llm.Image{Hash: "h", Media: "image/png"}}}}), nil)
				if e := asError(t, err); e.Class != llm.Invalid || len(server.Log()) != 0 {
					t.Errorf("%+v", e)
				}
			}
		}},
		{"cache marks are where they pay, and few", map[string]string{"responses": "it has none"}, func(t *testing.T, w world) {
			on := withProfile(provider.Profile{CacheControl: true})
			const mark = `"cache_control":{"type":"ephemeral"}`
			q := historyOf(assistant("", callBlock("1", "read", "{}")), result("1", "read", "x"))
			if w.pick("chat", "", "") != "" { // one beside the messages: the vendor, who is OpenRouter, puts it where it belongs
				m, k := w.against(t, raw(200, nil, w.texts("ok")), on)
				if _, err := m.Stream(ctxOf(t), q, nil); err != nil || !strings.HasSuffix(string(join(k.sent[0].Body)), "],"+mark+"}") {
					t.Errorf("%v %s", err, join(k.sent[0].Body))
				}
				return
			}
			body := w.accepts(t, q, on)
			if strings.Count(body, mark) != 2 || !strings.Contains(body, `"text":"Rules.",`+mark) || !strings.Contains(body, `"content":"x",`+mark+`}]}]`) {
				t.Errorf("%s", body)
			}
			w.accepts(t, historyOf(assistant("", llm.Block{Type: llm.Reasoning, Text: "t", Carrier: "thinking"}, textBlock("a"))), on) // the model's own text last
			if strings.Contains(w.accepts(t, q), "cache_control") {
				t.Error("marks without being told to")
			}
		}},
		{"the conversation is named where that helps", map[string]string{"messages": "its marks do"}, func(t *testing.T, w world) {
			if body := w.accepts(t, ask(), withProfile(provider.Profile{CacheKey: true})); !strings.Contains(body, `"prompt_cache_key":"lane"`) {
				t.Errorf("%s", body)
			}
			if strings.Contains(w.accepts(t, ask()), "lane") {
				t.Error("the lane without being told to")
			}
		}},
		{"the header is the protocol's", nil, func(t *testing.T, w world) {
			m, server, _ := w.start(t, scripted.Script{Key: "k", Replies: []scripted.Reply{{}}}, func(o *provider.Options) {
				o.Header = map[string][]string{"X-Own": {"v"}}
			})
			if _, err := m.Stream(ctxOf(t), ask(), nil); err != nil {
				t.Fatal(err)
			}
			x := server.Log()[0]
			accept := map[bool]string{true: "text/event-stream", false: "application/json"}[w.stream]
			got := fmt.Sprint(x.Path, " ", x.Header.Get("Authorization"), " ", x.Header.Get("X-Api-Key"), " ", x.Header.Get("Anthropic-Version"))
			if got != w.pick("/v1/chat/completions Bearer k  ", "/v1/responses Bearer k  ", "/v1/messages  k 2023-06-01") || x.Header.Get("Accept") != accept || x.Header.Get("X-Own") != "v" || x.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %v", got, x.Header)
			}
		}},
	}
}
