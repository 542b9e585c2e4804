package provider_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/scripted"
	"overt/internal/wire"
)

// transportBehaviours are about how an answer comes over the network.
func transportBehaviours() []behaviour {
	whole := map[string]string{"whole": "of streams"}
	// mangled says that a stream means the same in another form.
	mangled := func(name string, change func(string) string) behaviour {
		return behaviour{name, whole, func(t *testing.T, w world) {
			body := w.record(t, everything())
			wantEverything(t, w.play(t, change(body)), w)
		}}
	}
	return []behaviour{
		mangled("lines end in CR LF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }),
		mangled("lines end in CR", func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }),
		mangled("a byte order mark", func(s string) string { return "\ufeff" + s }),
		mangled("no blank behind the colon", func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "data: ", "data:"), "event: ", "event:")
		}),
		mangled("a document over several lines", func(s string) string {
			return strings.ReplaceAll(s, `data: {"`, "data: {\ndata: \"")
		}),
		mangled("comments, retries and numbers between", func(s string) string {
			return ": keep-alive\n\n" + strings.ReplaceAll(s, "data: {", ": OPENROUTER PROCESSING\nid: 7\nretry: 10\ndata: {")
		}),
		mangled("empty data between", func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n\ndata:\n\n") }),
		mangled("no empty line at the end", func(s string) string { return strings.TrimRight(s, "\n") }),
		mangled("an end mark behind the end", func(s string) string { return s + "data: [DONE]\n\n" }),
		mangled("more behind the end", func(s string) string {
			return s + "data: {\"choices\":[{\"delta\":{\"content\":\"more\"}}]}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"late\"}}\n\n"
		}),
		{"no end mark", map[string]string{"whole": "of streams", "responses": "its last event is all that ends it"}, func(t *testing.T, w world) {
			body := w.record(t, everything())
			end := w.pick("data: [DONE]", "", "event: message_stop")
			wantEverything(t, w.play(t, body[:strings.Index(body, end)]), w)
		}},
		{"cut in what follows the finish", map[string]string{"responses": "its finish and its figures come in one", "messages": "its finish and its last figures come in one", "whole": "a document is cut"}, func(t *testing.T, w world) {
			body := w.record(t, everything())
			at := strings.LastIndex(body, `"usage":{`)
			o := w.play(t, body[:at+20])
			if o.Class != "" || o.Finish != llm.ToolCalls && o.Finish != llm.Stop {
				t.Errorf("%s %s, finish %q", o.Class, o.Message, o.Finish)
			}
		}},
		{"byte by byte", nil, func(t *testing.T, w world) {
			body := w.record(t, everything())
			m, k := w.against(t, func(rw http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // see raw
				for i := range len(body) {
					rw.Write([]byte(body[i : i+1]))
					rw.(http.Flusher).Flush()
				}
			})
			wantEverything(t, outcomeOf(t, m, k), w)
		}},
		{"compressed", nil, func(t *testing.T, w world) {
			body := w.record(t, everything())
			m, k := w.against(t, func(rw http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
					t.Error("the client takes no gzip")
				}
				rw.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(rw)
				for rest := body; rest != ""; {
					n := min(len(rest), 100)
					z.Write([]byte(rest[:n]))
					z.Flush()
					rest = rest[n:]
				}
				z.Close()
			})
			wantEverything(t, outcomeOf(t, m, k), w)
		}},
		{"compressed as nobody has asked for", nil, func(t *testing.T, w world) {
			o := w.playAs(t, map[string]string{"Content-Encoding": "br"}, "\x1b\x03\x00")
			if o.Class != llm.Malformed || !strings.Contains(o.Message, "compressed as br") {
				t.Errorf("%s %s", o.Class, o.Message)
			}
		}},
		{"a content type that is wrong", nil, func(t *testing.T, w world) {
			body := w.record(t, everything())
			for _, kind := range []string{"text/plain", "application/octet-stream", "application/json", "text/event-stream; charset=utf-8"} {
				wantEverything(t, w.playAs(t, map[string]string{"Content-Type": kind}, body), w)
			}
		}},
		{"a document in place of a stream, and the other way", nil, func(t *testing.T, w world) {
			other := world{w.protocol, !w.stream}
			wantEverything(t, w.play(t, other.record(t, everything())), w)
			wantEverything(t, w.play(t, "\n\n ", other.record(t, everything())), w)
		}},
		{"bytes that are no text", nil, func(t *testing.T, w world) {
			w.play(t, w.texts("a\xff\xfeb", "\xed\xa0\x80c")).want(t, llm.Stop, "text(a\uFFFDb\uFFFDc)")
		}},
		{"characters cut between pieces", nil, func(t *testing.T, w world) {
			w.play(t, w.texts("x\xf0\x9f", "\xa5", "\x8ay")).want(t, llm.Stop, "text(x🥊y)")
			w.play(t, w.texts(`x\ud83e`, `\udd4ay`)).want(t, llm.Stop, "text(x🥊y)")
		}},
		{"halves of characters", nil, func(t *testing.T, w world) {
			w.play(t, w.texts(`x\ud83ez`, `y\udd4a`)).want(t, llm.Stop, "text(x\uFFFDzy\uFFFD)")
		}},
		{"escapes and control characters", nil, func(t *testing.T, w world) {
			w.play(t, w.texts(`\"\\\/\b\f\n\r\t\u00e4\u0000\u001b`)).want(t, llm.Stop, "text(\"\\/\b\f\n\r\tä\x00\x1b)")
		}},
		{"a line of two megabytes", nil, func(t *testing.T, w world) {
			long := strings.Repeat("long ", 400<<10)
			w.play(t, w.texts(long)).want(t, llm.Stop, "text("+long+")")
		}},
		{"more is sent than is asked for", nil, func(t *testing.T, w world) {
			w.play(t, w.texts("a"), "\n\n\n   \n").want(t, llm.Stop, "text(a)")
		}},
		{"silence is told from other time-outs", nil, silence},
		{"an answer that is too large", nil, func(t *testing.T, w world) {
			pieces := make([]string, 200)
			for i := range pieces {
				pieces[i] = strings.Repeat("a", 64<<10)
			}
			o := w.play(t, w.texts(pieces...))
			if o.Class != llm.Malformed || !strings.Contains(o.Message, "larger than 8 MB") {
				t.Fatalf("%s %s", o.Class, o.Message)
			}
			if n := len(text(&llm.Response{Blocks: o.Blocks}, llm.Text)); w.stream && (n < 7<<20 || n > 8<<20) {
				t.Errorf("%d bytes are kept", n)
			}
		}},
		{"five megabytes, though some say them twice", nil, func(t *testing.T, w world) {
			pieces := make([]string, 80)
			for i := range pieces {
				pieces[i] = strings.Repeat("a", 64<<10)
			}
			o := w.play(t, w.texts(pieces...))
			if n := len(text(&llm.Response{Blocks: o.Blocks}, llm.Text)); o.Class != "" || n != 80*64<<10 {
				t.Errorf("%s %s, %d bytes", o.Class, o.Message, n)
			}
		}},
		{"a hundred thousand small pieces are no large answer", whole, func(t *testing.T, w world) {
			pieces := make([]string, 100_000)
			for i := range pieces {
				pieces[i] = "abcd"
			}
			body := strings.ReplaceAll(w.texts(pieces...), `"content":`, `"role":"assistant","refusal":null,"reasoning_content":null,"function_call":null,"tool_calls":null,"content":`)
			w.play(t, body).want(t, llm.Stop, "text("+strings.Repeat("abcd", len(pieces))+")")
		}},
		{"an answer that never ends", whole, func(t *testing.T, w world) {
			long := strings.Repeat("a", 64<<10)
			text := w.texts(long)
			text = text[:strings.Index(text, w.pick(`"finish_reason":"`, "response.completed", "message_delta"))]
			text = text[:strings.LastIndex(text, "\n\n")+2]
			call := w.pick("data: "+`{"choices":[{"delta":{`+tc(`{"index":0,"id":"i","function":{"name":"now","arguments":"`+long+`"}}`)+"}}]}\n\n",
				named(item(0, `"type":"function_call","call_id":"c","name":"now"`), argsDelta(0, "", long)),
				named(block(0, `"type":"tool_use","id":"c","name":"now"`), inputDelta(0, long)))
			whole := w.pick(call, named(done(0, `"type":"message","content":[{"type":"output_text","text":"`+long+`"}]`)), named(block(0, `"type":"text","text":"`+long+`"`)))
			for _, part := range []string{text, call, whole} { // each comes again and again, as something new
				m, k := w.against(t, func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "text/event-stream")
					for n := 0; ; n++ {
						if _, err := io.WriteString(rw, strings.ReplaceAll(part, `index":0`, doc(n, `index":%`))); err != nil {
							return
						}
					}
				})
				outcomeOf(t, m, k).failsBadly(t)
				if n := len(k.received[0].Body); n > 12<<20 {
					t.Errorf("%d MB were taken", n>>20)
				}
			}
		}},
	}
}

// failsBadly wants a failure that asking again does not cure.
func (o outcome) failsBadly(t *testing.T) {
	t.Helper()
	if o.Class != llm.Malformed {
		t.Errorf("%q %q", o.Class, o.Message)
	}
}

// everything is a reply with one of each.
func everything() scripted.Reply {
	return scripted.Reply{
		Text: "Zwölf 🥊 Boxkämpfer", Reasoning: "first think, then speak", Phase: "commentary",
		Calls: []scripted.Call{{ID: "a", Name: "read", Args: `{"path":"a \"b\" 永"}`}, {ID: "b", Name: "now", Args: "{}"}},
		Usage: &scripted.Usage{Prompt: 100, Cached: 60, Completion: 30},
	}
}

func wantEverything(t testing.TB, o outcome, w world) {
	t.Helper()
	o.want(t, w.toolFinish(), `reasoning(first think, then speak) text(Zwölf 🥊 Boxkämpfer) call(a read {"path":"a \"b\" 永"}) call(b now {})`)
	if got, want := showUsage(o.Usage), w.pick("40 60 - 30 - ", "40 60 - 30 0 ", "40 60 0 30 - "); got != want {
		t.Errorf("usage %s, want %s", got, want)
	}
	if seal := w.pick("", "x", "x"); (len(o.Blocks[0].Opaque) > 0) != (seal != "") {
		t.Errorf("seal %s", o.Blocks[0].Opaque)
	}
}

// silence: a reply that goes silent, or never begins, is told from other time-outs, so that it may be asked for once more. A
// proxy on loopback stands for a server that is not local.
func silence(t *testing.T, w world) {
	body := w.texts("hi", "zz")
	for _, first := range []string{"", body[:strings.LastIndex(body, "zz")]} {
		proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // net/http notices a client that leaves only once the body is read
			if first != "" {
				rw.Write([]byte(first))
				rw.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		}))
		defer proxy.Close()
		c := wire.New(wire.Options{
			Sink: &sink{}, Idle: 50 * time.Millisecond, Transport: wire.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }},
		})
		defer c.Close()
		o := provider.Options{Wire: c, Endpoint: "http://model.example/v1", Model: "m"}
		w.set(&o)
		resp, err := provider.New(o).Stream(ctxOf(t), ask(), nil)
		e := asError(t, err)
		if e.Class != llm.Timeout || e.Code != "idle" || (text(resp, llm.Text) == "hi") != (first != "" && w.stream) {
			t.Errorf("%q: %+v, %+v", first, e, resp)
		}
	}
}
