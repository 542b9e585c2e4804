package provider_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/scripted"
)

// faultBehaviours are about replies that are no answers.
func faultBehaviours() []behaviour {
	status := func(f scripted.Fault, class llm.Class, again bool, header http.Header) func(*testing.T, world) {
		return func(t *testing.T, w world) {
			m, _, _ := w.script(t, scripted.Reply{Fault: &f, Header: header})
			_, err := m.Stream(ctxOf(t), ask(), nil)
			e := asError(t, err)
			if e.Class != class || e.Retryable() != again || e.HTTP != f.Status || e.Message != f.Message {
				t.Errorf("%+v", e)
			}
			if header != nil && e.RetryAfter.Seconds() != 7 {
				t.Errorf("wait %s", e.RetryAfter)
			}
		}
	}
	inside := func(f scripted.Fault, class llm.Class) func(*testing.T, world) {
		return func(t *testing.T, w world) {
			blocks := ""
			if w.stream {
				blocks = "reasoning(hm) text(Part)"
			}
			w.play(t, w.record(t, scripted.Reply{Text: "Part", Reasoning: "hm", Calls: []scripted.Call{{Name: "now", Args: "{}"}}, Fault: &f})).fails(t, class, f.Message, blocks)
		}
	}
	whole := map[string]string{"whole": "of streams"}
	return []behaviour{
		{"too many requests are asked for later", nil, status(scripted.Fault{Status: 429, Message: "Slow down"}, llm.Rate, true, http.Header{"Retry-After": {"7"}})},
		{"a used-up balance is not asked again", nil, func(t *testing.T, w world) {
			f := scripted.Fault{Status: 429, Kind: "insufficient_quota", Code: "insufficient_quota", Message: "You exceeded your current quota"}
			if w.pick("", "", "x") != "" {
				f = scripted.Fault{Status: 400, Message: "Your credit balance is too low to access the Anthropic API."}
			}
			status(f, llm.Quota, false, nil)(t, w)
		}},
		{"a wrong key", nil, func(t *testing.T, w world) {
			m, server, _ := w.start(t, scripted.Script{Key: "right"}, withKey("wrong"))
			_, err := m.Stream(ctxOf(t), ask(), nil)
			if e := asError(t, err); e.Class != llm.Auth || e.HTTP != 401 || strings.Contains(e.Message, "wrong") || len(server.Log()) != 1 {
				t.Errorf("%+v", e)
			}
		}},
		{"a model that is not there", nil, status(scripted.Fault{Status: 404, Code: "model_not_found", Message: "model: m"}, llm.Invalid, false, nil)},
		{"a server that is busy", nil, func(t *testing.T, w world) {
			for _, n := range []int{500, 502, 503, 504, 529} {
				status(scripted.Fault{Status: n, Message: "Overloaded"}, llm.Overload, true, nil)(t, w)
			}
		}},
		{"a request that does not fit, in the vendor's words", nil, func(t *testing.T, w world) {
			f := scripted.Fault{Status: 400, Code: "context_length_exceeded", Message: w.pick(
				"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
				"Your input exceeds the context window of this model. Please adjust your input and try again.",
				"prompt is too long: 210000 tokens > 200000 maximum")}
			m, _, _ := w.script(t, scripted.Reply{Fault: &f})
			_, err := m.Stream(ctxOf(t), ask(), nil)
			want := map[string]int64{"": 0, "chat": 128000, "messages": 200000}[w.pick("chat", "", "messages")]
			if e := asError(t, err); e.Class != llm.Overflow || e.Window != want || e.Retryable() {
				t.Errorf("%+v", e)
			}
		}},
		{"a body that is too large", nil, status(scripted.Fault{Status: 413, Message: "Request exceeds the maximum size"}, llm.Overflow, false, nil)},
		{"a filter on the request", map[string]string{"messages": "it stops an answer with a refusal"}, status(scripted.Fault{Status: 400, Code: "content_policy_violation", Message: "no"}, llm.Policy, false, nil)},
		{"overloaded inside an answer", nil, inside(scripted.Fault{Kind: "overloaded_error", Code: "server_is_overloaded", Message: "Overloaded"}, llm.Overload)},
		{"too many requests inside an answer", nil, inside(scripted.Fault{Kind: "rate_limit_error", Code: "rate_limit_exceeded", Message: "Rate limit reached"}, llm.Rate)},
		{"overflow inside an answer", nil, inside(scripted.Fault{Code: "context_length_exceeded", Message: "prompt is too long: 9 tokens > 8 maximum"}, llm.Overflow)},
		{"an error in place of an answer", nil, func(t *testing.T, w world) {
			for _, body := range []string{`{"error":{"message":"boom","type":"server_error"}}`, `{"error":"boom"}`, `{"code":"x","error":"boom"}`, `{"message":"boom","type":"server_error"}`, `{"detail":"boom"}`, `{"type":"error","error":{"type":"api_error","message":"boom"}}`} {
				w.play(t, body).fails(t, llm.Overload, "boom", "")
				if w.stream {
					w.play(t, "data: "+body+"\n\n").fails(t, llm.Overload, "boom", "")
					w.play(t, "event: error\ndata: "+body+"\n\n").fails(t, llm.Overload, "boom", "")
				}
			}
		}},
		{"a connection that breaks", nil, func(t *testing.T, w world) {
			r := everything()
			for _, r.Cut = range []int{1, 5, 9} {
				m, server, k := w.script(t, r)
				resp, err := m.Stream(ctxOf(t), ask(), nil)
				if e := asError(t, err); e.Class != llm.Cut || !e.Retryable() {
					t.Errorf("%+v, %+v", e, resp)
				}
				if string(k.received[0].Body) != string(server.Log()[0].Response) || k.received[0].Err == nil {
					t.Error("the record of a cut reply differs from what was sent, or does not say that it was cut")
				}
			}
		}},
		{"a stream that ends anywhere is no answer", whole, func(t *testing.T, w world) {
			body := w.record(t, everything())
			last := strings.Index(body, w.pick(`"finish_reason":"tool_calls"`, "event: response.completed", `"stop_reason":"tool_use"`))
			for n := 1; n < last; n += 7 {
				if o := w.play(t, body[:n]); o.Class != llm.Cut {
					t.Fatalf("after %q: %q %s", body[:n], o.Class, o.Message)
				}
			}
		}},
		{"a connection that breaks behind the end", map[string]string{"whole": "its length says where it ends", "responses": "nothing is behind its end"}, func(t *testing.T, w world) {
			body := w.record(t, everything())
			body = body[:strings.Index(body, w.pick("data: [DONE]", "", "event: message_stop"))]
			m, k := w.against(t, func(rw http.ResponseWriter, _ *http.Request) {
				rw.Write([]byte(body))
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			})
			wantEverything(t, outcomeOf(t, m, k), w)
		}},
		{"a document that is cut", map[string]string{"stream": "of documents"}, func(t *testing.T, w world) {
			body := w.record(t, everything())
			for n := 1; n < len(body); n += 13 {
				w.play(t, body[:n]).fails(t, llm.Cut, "in the middle", "")
			}
		}},
		{"nothing", nil, func(t *testing.T, w world) {
			for _, body := range []string{"", "\n\n", "  "} {
				w.playAs(t, nil, body).fails(t, llm.Cut, "empty reply", "")
			}
		}},
		{"comments alone", whole, func(t *testing.T, w world) {
			w.play(t, ": hi\n\n: hi\n\n").fails(t, llm.Cut, "before the answer was complete", "")
		}},
		{"a page", nil, func(t *testing.T, w world) {
			w.playAs(t, map[string]string{"Content-Type": "text/html"}, "<!DOCTYPE html><title>Log in</title>").fails(t, llm.Malformed, "check the base URL", "")
			for n, class := range map[int]llm.Class{401: llm.Auth, 403: llm.Auth, 404: llm.Invalid, 429: llm.Rate, 502: llm.Overload} {
				m, k := w.against(t, raw(n, map[string]string{"Content-Type": "text/html"}, "<html><h1>no</h1></html>"))
				if o := outcomeOf(t, m, k); o.Class != class || strings.Contains(o.Message, "<") {
					t.Errorf("%d: %q %q", n, o.Class, o.Message)
				}
			}
		}},
		{"another document", nil, func(t *testing.T, w world) {
			for _, body := range []string{`{"hello":"world"}`, `{}`, `{"content":"x"}`, `{"output":"x"}`, `{"choices":"x"}`} {
				w.play(t, body).fails(t, llm.Malformed, "base URL", "")
			}
		}},
		{"what is not JSON", nil, func(t *testing.T, w world) {
			w.play(t, `{"choices":!}`).fails(t, llm.Malformed, "not JSON", "")
			if w.stream {
				w.play(t, "data: {\"choices\":oops}\n\ndata: {}\n\n").fails(t, llm.Malformed, "not JSON", "")
				w.play(t, "data: {\"cho").fails(t, llm.Cut, "in the middle of a chunk", "")
			}
		}},
		{"a reason that is a failure", map[string]string{"responses": "it has a status for that"}, func(t *testing.T, w world) {
			for reason, class := range map[string]llm.Class{"error": llm.Overload, "network_error": llm.Overload, "aborted": llm.Cut, "Cancelled": llm.Cut} {
				w.play(t, w.record(t, scripted.Reply{Text: "a", Finish: reason})).fails(t, class, "broke the answer off", "text(a)")
			}
		}},
		{"a redirect is said and not followed", nil, func(t *testing.T, w world) {
			for _, n := range []int{301, 302, 303, 307, 308} {
				m, k := w.against(t, func(rw http.ResponseWriter, r *http.Request) {
					http.Redirect(rw, r, "https://elsewhere.example"+r.URL.Path+"?token=abc", n)
				})
				o := outcomeOf(t, m, k)
				if o.Class != llm.Redirect || !strings.Contains(o.Message, "https://elsewhere.example/v1") || strings.Contains(o.Message, "abc") {
					t.Errorf("%d: %q %q", n, o.Class, o.Message)
				}
				if len(k.received) != 1 || k.received[0].Status != n {
					t.Error("the redirect is not recorded")
				}
			}
		}},
		{"no server", nil, func(t *testing.T, w world) {
			m, server, _ := w.script(t)
			server.Close()
			r, err := m.Stream(ctxOf(t), ask(), nil)
			if e := asError(t, err); e.Class != llm.Network || !e.Retryable() || !strings.Contains(e.Message, "refused") || r.Exchange.Request.Bytes == 0 {
				t.Errorf("%+v, %+v", e, r)
			}
		}},
		{"the caller stops", nil, stops},
		{"nothing is sent that can't be recorded", nil, func(t *testing.T, w world) {
			m, server, k := w.script(t, scripted.Reply{Text: "x"})
			k.fail = errors.New("disk full")
			_, err := m.Stream(ctxOf(t), ask(), nil)
			if e := asError(t, err); e.Class != llm.Storage || !strings.Contains(e.Message, "disk full") || e.Retryable() {
				t.Errorf("%+v", e)
			}
			if len(server.Log()) != 0 || len(k.received) != 0 {
				t.Error("something was sent")
			}
		}},
	}
}

func stops(t *testing.T, w world) {
	hold := make(chan struct{})
	defer close(hold)
	m, _, k := w.script(t, scripted.Reply{Text: strings.Repeat("word ", 100), Hold: hold})
	ctx, cancel := context.WithCancel(ctxOf(t))
	go func() {
		for ctx.Err() == nil {
			k.mu.Lock()
			n := len(k.sent)
			k.mu.Unlock()
			if n > 0 {
				cancel()
			}
		}
	}()
	_, err := m.Stream(ctx, ask(), nil)
	if e := asError(t, err); e.Class != llm.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v", e)
	}
	if len(k.received) != 1 {
		t.Errorf("%d ends recorded, want 1", len(k.received))
	}
}
