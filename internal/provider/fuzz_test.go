package provider_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

// fuzzServer answers with what is in *body, in two writes.
func fuzzServer(f *testing.F, status int, body *[]byte, cut *int) llm.Model {
	m, _ := against(f, true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream") // else net/http guesses it from the first piece
		w.WriteHeader(status)
		n := min(max(*cut, 0), len(*body))
		w.Write((*body)[:n])
		w.(http.Flusher).Flush()
		w.Write((*body)[n:])
	})
	return m
}

// fuzzReplies: no reply of a protocol, however mad and however cut, breaks the promises of a response.
func fuzzReplies(f *testing.F, protocol string, seeds ...string) {
	for _, r := range recordings(f) {
		if r.w.protocol == protocol && len(r.body) < 8000 {
			f.Add([]byte(r.body), 100)
		}
	}
	for _, c := range cases(f) {
		if c.world().protocol == protocol {
			f.Add([]byte(c.Setup.Reply.Body), 300)
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s), 20)
	}
	w := world{protocol, true}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		run := func(borders ...int) string {
			o := provider.Options{Endpoint: "http://model.example/v1", Model: "m", Name: "test"}
			w.set(&o)
			shown := map[llm.DeltaPart]string{}
			r, fail := provider.Receive(o, toolSpecs(), &pieces{body: string(b), borders: borders}, func(d llm.Delta) { shown[d.Part] += d.Text })
			var err error
			if fail != nil {
				err = fail
			}
			promises(t, r, err)
			if shown[llm.TextDelta] != text(r, llm.Text) || shown[llm.ReasoningDelta] != text(r, llm.Reasoning) {
				t.Errorf("shown %q, kept %+v", shown, r.Blocks)
			}
			return asJSON(t, []any{r, fmt.Sprint(err)})
		}
		if a, b := run(n), run(); a != b {
			t.Errorf("cut at %d: %s\nwhole: %s", n, a, b)
		}
	})
}

// FuzzChat: the deltas of Chat Completions.
func FuzzChat(f *testing.F) {
	fuzzReplies(f, provider.Chat,
		stream("tool_calls", tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}`)),
		stream("length", `"content":"x\ud83e"`, `"reasoning":{"text":"y"}`, tc(`{"id":"b","function":{"arguments":{"a":[1,"]"]}}}`)),
		`{"choices":[{"message":{"content":[{"text":"a"}],"function_call":{"name":"f"}},"error":null}],"usage":{"prompt_tokens":"1"}}`,
		"data: {\"error\":{\"message\":\"x\"}}\r\rdata:[DONE]",
	)
}

// FuzzResponses: the items of Responses.
func FuzzResponses(f *testing.F) {
	fuzzReplies(f, provider.Responses,
		named(item(0, `"type":"message"`), item(0, `"type":"function_call"`), argsDelta(1, "x", `{\ud83e`), done(1, `"type":"reasoning","encrypted_content":"\ud83e","summary":[{"text":"x"},{}]`), completed),
		`{"output":[{"type":"function_call","arguments":{"a":1}},{"type":"message","content":[{"refusal":"x"}],"phase":"p"}],"status":"incomplete"}`,
		named(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_item.done"}`, `{"type":"response.failed","response":{"error":{}}}`),
	)
}

// FuzzMessages: the blocks of Messages.
func FuzzMessages(f *testing.F) {
	fuzzReplies(f, provider.Messages,
		named(block(0, `"type":"tool_use","input":[1]`), block(0, `"type":"thinking","signature":"\ud83e"`), inputDelta(0, `{`), textDelta(0, `\ud83e`), stopped("error")),
		`{"content":[{"type":"tool_use","input":"{\"a\":"},{"type":"redacted_thinking","data":null}],"stop_reason":"max_tokens","usage":{"input_tokens":1e99}}`,
		named(`{"type":"message_start","message":{"content":[{},null,{"type":"text"}],"usage":[]}}`, `{"type":"message_delta","usage":{"a":{},"a":1}}`, `{"type":"message_stop"}`),
	)
}

func promises(t *testing.T, r *llm.Response, err error) {
	t.Helper()
	if r == nil {
		t.Fatal("no response")
	}
	if err != nil {
		if e := asError(t, err); e.Class == "" || e.Message == "" || strings.ContainsAny(e.Message, "\r\n") || len([]rune(e.Message)) > 400 {
			t.Errorf("error %+v", e)
		}
	}
	for _, c := range callsOf(r) {
		if c.Name == "" && c.Arguments == "" {
			t.Error("a call of nothing")
		}
		var o map[string]json.RawMessage
		if (err != nil || r.Finish == llm.Length) && json.Unmarshal([]byte(c.Arguments), &o) != nil {
			t.Errorf("a cut answer kept the arguments %q", c.Arguments)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("response: %v", err)
	}
}

// FuzzError: any body of an error status gives one line with a class.
func FuzzError(f *testing.F) {
	for _, s := range []string{
		`{"error":{"message":"m","type":"t","code":1,"metadata":{"raw":"{\"a\":\"{}\"}"}}}`, `[[[{"errors":[{"message":"x"}]}]]]`, "<html>", "",
		`{"detail":[{"msg":"x"}],"base_resp":{"status_code":"1002","status_msg":null}}`, `{"message":"try again in 9999999999999999999s, maximum context length is 99999999999999999999 tokens"}`,
	} {
		f.Add([]byte(s))
	}
	var body []byte
	cut := 3
	m := fuzzServer(f, 429, &body, &cut)
	ctx := f.Context()
	f.Fuzz(func(t *testing.T, b []byte) {
		body = b
		r, err := m.Stream(ctx, say("x"), nil)
		promises(t, r, err)
		if e := asError(t, err); e.RetryAfter < 0 || e.Window < 0 || strings.Contains(strings.ToLower(e.Message), "<html") {
			t.Errorf("%+v", e)
		}
	})
}

// BenchmarkStream is 2 MB of text in deltas of 16 bytes, beside reading the same with encoding/json in the plainest way.
func BenchmarkStream(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sixteen bytes ok\"},\"finish_reason\":null}]}\n\n"
	const n = 2 << 20 / 16
	all := strings.Repeat(event, n) + stream("stop")
	m, k := against(b, true, raw(200, sse(), all))
	url := ""
	b.Run("overt", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			size := 0
			r, err := m.Stream(b.Context(), say("x"), func(d llm.Delta) { size += len(d.Text) })
			if err != nil || size != 16*n || len(text(r, llm.Text)) != size {
				b.Fatal(err, size)
			}
			url = "http://" + hostOf(k)
			k.sent, k.received = nil, nil
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if size := floor(b, url); size != 16*n {
				b.Fatal(size)
			}
		}
	})
}

// floor reads a stream as a program of a few lines would.
func floor(b *testing.B, url string) (size int) {
	resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var out strings.Builder
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			b.Fatal(err)
		}
		out.WriteString(chunk.Choices[0].Delta.Content)
	}
	return out.Len()
}
