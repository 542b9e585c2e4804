package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"overt/internal/wire"
)

// ask makes an exchange and gives what came of it.
func ask(t testing.TB, c *wire.Client, r wire.Request) string {
	t.Helper()
	resp, err := c.Do(t.Context(), r)
	if err != nil {
		return fmt.Sprint("failed: ", kindOf(t, err))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Sprint(resp.Status, " ", string(b), " then ", kindOf(t, err))
	}
	return fmt.Sprint(resp.Status, " ", resp.Header.Get("Content-Type"), " ", string(b))
}

// recorded records exchanges with a server that answers in several ways, and gives what came of each.
func recorded(t *testing.T) (list []wire.Recorded, requests []wire.Request, came []string, text string) {
	t.Helper()
	var rec wire.Recorder
	c, k, r := serve(t, wire.Options{UserAgent: "planted-agent"}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "planted-cookie")
		switch r.URL.Path {
		case "/v1/limited":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, "busy, said planted-mask")
		case "/v1/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half \xff")
		default:
			for _, piece := range []string{"data: gr", "ü\xc3", "\xa4\n\n"} {
				io.WriteString(w, piece)
				w.(http.Flusher).Flush()
			}
		}
	})
	c.Close()
	rec.Next = k
	rec.Mask = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("planted-mask"), []byte("…")) }
	c = wire.New(wire.Options{Sink: &rec, UserAgent: "planted-agent"})
	defer c.Close()
	host, _, _ := strings.Cut(strings.TrimPrefix(r.URL, "http://"), "/")
	for i, path := range []string{"/v1/stream?key=planted-query", "/v1/limited", "/v1/cut", "/v1/stream"} {
		q := wire.Request{
			ID: fmt.Sprint(i), Lane: "lane", Method: "POST", URL: "http://planted-user:planted-password@" + host + path,
			Header: http.Header{"Content-Type": {"application/json"}, "X-Team": {"planted-team"}},
			Auth:   http.Header{"X-Api-Key": {"planted-key"}},
			Body:   []wire.Part{{"", []byte(`{"a":`)}, {"n" + fmt.Sprint(i), []byte(`"` + path + `"`)}, {"", []byte("}")}},
		}
		requests = append(requests, q)
		came = append(came, strings.ReplaceAll(ask(t, c, q), "planted-mask", "…"))
	}
	if len(k.received) != len(requests) {
		t.Errorf("the next sink got %d ends", len(k.received))
	}
	var b strings.Builder
	if err := wire.WriteRecording(&b, rec.Recording()); err != nil {
		t.Fatal(err)
	}
	list, err := wire.ReadRecording(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return list, requests, came, b.String()
}

// TestReplay: what was recorded is answered again, with its status, its pieces, its bytes that are no text, and its ends.
func TestReplay(t *testing.T) {
	list, requests, came, text := recorded(t)
	for _, word := range []string{"planted-password", "planted-user", "planted-key", "planted-team", "planted-agent", "planted-cookie", "planted-mask", "127.0.0.1"} {
		if strings.Contains(text, word) {
			t.Errorf("the recording holds %s:\n%s", word, text)
		}
	}
	// However the reads of the recording fell, these are three.
	list[0].Chunks = []wire.Chunk{{Bytes: 8}, {Bytes: 3}, {Bytes: len(list[0].Reply) - 11}}
	replay := wire.NewReplay(list)
	k := &sink{}
	c := wire.New(wire.Options{Sink: k, Replay: replay})
	for i, r := range requests {
		if i < 3 && replay.Left() != len(list)-i {
			t.Errorf("%d exchanges are left before request %d", replay.Left(), i)
		}
		r.URL = "http://elsewhere.example" + r.URL[strings.Index(r.URL, "/v1"):]
		if got := ask(t, c, r); got != came[i] {
			t.Errorf("request %d gives %q, recorded %q", i, got, came[i])
		}
	}
	if d := replay.Differences(); len(d) != 0 {
		t.Errorf("differences: %v", d)
	}
	if got := k.received[0].Chunks; len(got) != 3 || got[0].Bytes != 8 || got[1].Bytes != 3 {
		t.Errorf("chunks %v, recorded %v", got, list[0].Chunks)
	}
	if got := ask(t, c, requests[0]); got != "failed: invalid" {
		t.Errorf("one request more gives %q", got)
	}
	if _, err := c.HTTP().Get("http://elsewhere.example/"); err == nil || !strings.Contains(err.Error(), "none of them is left") {
		t.Errorf("the plain client gives %v", err)
	}
}

// TestReplayDiffers: the first place where a request is another is named, with the node that it belongs to, and the
// request is answered all the same.
func TestReplayDiffers(t *testing.T) {
	list, requests, came, _ := recorded(t)
	body := func(parts ...string) (out []wire.Part) {
		for i := 0; i < len(parts); i += 2 {
			out = append(out, wire.Part{Owner: parts[i], Bytes: []byte(parts[i+1])})
		}
		return out
	}
	path := `"/v1/stream?key=planted-query"`
	for name, x := range map[string]struct {
		change func(r *wire.Request)
		want   string // "": none
	}{
		"nothing":       {func(*wire.Request) {}, ""},
		"other borders": {func(r *wire.Request) { r.Body = body("", `{"a"`, "", ":", "n0", `"`, "n0", path[1:], "", "", "", "}") }, ""},
		"a byte":        {func(r *wire.Request) { r.Body = body("", `{"a":`, "n9", `"/v2"`, "", "}") }, `exchange 1: body differs at byte 8, which belongs to "n9" and belonged to "n0": now "2\"}", recorded "1/stream?key=planted-query\"}"`},
		"shorter":       {func(r *wire.Request) { r.Body = body("", `{"a":`) }, `exchange 1: body differs at byte 5, which belongs to "" and belonged to "n0": now ""`},
		"longer":        {func(r *wire.Request) { r.Body = append(r.Body[:3:3], body("more", "!")...) }, `which belongs to "more" and belonged to "": now "!", recorded ""`},
		"no body":       {func(r *wire.Request) { r.Body = nil }, `body differs at byte 0`},
		"owner":         {func(r *wire.Request) { r.Body = body("", `{"a":`, "n0", path[:4], "other", path[4:], "", "}") }, `owner differs at byte 9, which belongs to "other" and belonged to "n0"`},
		"method":        {func(r *wire.Request) { r.Method = "PUT" }, `method differs: now "PUT", recorded "POST"`},
		"path":          {func(r *wire.Request) { r.URL += "&more" }, `path differs: now "/v1/stream?key&more", recorded "/v1/stream?key"`},
		"header":        {func(r *wire.Request) { r.Header = http.Header{"Content-Type": {"text/plain"}} }, `header Content-Type differs: now "[text/plain]"`},
		"header more":   {func(r *wire.Request) { r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"x"}} }, `header Accept differs: now "[x]", recorded "[]"`},
		"private":       {func(r *wire.Request) { r.Header.Set("X-Team", "another") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			replay := wire.NewReplay(list)
			r := requests[0]
			r.Header = r.Header.Clone()
			x.change(&r)
			if got := ask(t, wire.New(wire.Options{Sink: &sink{}, Replay: replay}), r); got != came[0] {
				t.Errorf("answered %q", got)
			}
			var all strings.Builder
			for _, d := range replay.Differences() {
				all.WriteString(d.String())
			}
			if x.want == "" && all.Len() > 0 || !strings.Contains(all.String(), x.want) {
				t.Errorf("found %s, want %s", all.String(), x.want)
			}
		})
	}
}

// TestReplayLanes: what runs at once is answered each from its own lane, whatever comes first.
func TestReplayLanes(t *testing.T) {
	var list []wire.Recorded
	for _, lane := range []string{"a", "b", "a"} {
		list = append(list, wire.Recorded{Lane: lane, Method: "POST", Path: "/v1", Status: 200, Reply: []byte(lane), Chunks: []wire.Chunk{{Bytes: 1}}})
	}
	replay := wire.NewReplay(list)
	c := wire.New(wire.Options{Sink: &sink{}, Replay: replay})
	got := ""
	for _, lane := range []string{"b", "a", "b", "new"} {
		got += strings.TrimPrefix(ask(t, c, wire.Request{Lane: lane, Method: "POST", URL: "http://x.example/v1", Body: []wire.Part{{Bytes: []byte("x")}}}), "200  ") + ";"
	}
	if want := "b;a;failed: invalid;a;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReadRecordingRefuses(t *testing.T) {
	head := `{"form":"overt wire recording","version":1}` + "\n"
	sent := `{"method":"POST","path":"/"}` + "\n"
	for text, want := range map[string]string{
		"":                                 "no recording",
		"{}":                               "no recording",
		strings.Replace(head, "1", "2", 1): "of version 2",
		head + "x":                         "line 2",
		head + sent:                        "line 3",
		head + sent + `{"status":0}`:       "line 3 of the recording: there is neither",
		head + sent + `{"status":200,"body":"abc","chunks":[[2,0]]}`:          "chunks",
		head + sent + `{"status":200,"body":"abc","chunks":[[4,0],[-1,0]]}`:   "chunks",
		head + sent + `{"status":200,"body":7}`:                               "line 3",
		head + sent + `{"status":200}` + "\n" + sent + `{"status":200}` + "y": "line 6",
	} {
		if _, err := wire.ReadRecording(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// TestRecordingReturns: whatever is written is read again.
func TestRecordingReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesOf := rapid.SliceOfN(rapid.Byte(), 0, 20)
		var list []wire.Recorded
		for range rapid.IntRange(0, 3).Draw(t, "exchanges") {
			x := wire.Recorded{Lane: rapid.String().Draw(t, "lane"), Method: "POST", Path: "/v1?a", Status: rapid.IntRange(1, 999).Draw(t, "status"), Answers: http.Header{"Content-Type": {"a<b"}}}
			for range rapid.IntRange(0, 3).Draw(t, "parts") {
				x.Body = append(x.Body, wire.Part{Owner: rapid.String().Draw(t, "owner"), Bytes: append([]byte{'.'}, bytesOf.Draw(t, "part")...)})
			}
			for range rapid.IntRange(0, 3).Draw(t, "chunks") {
				b := append([]byte{'.'}, bytesOf.Draw(t, "chunk")...)
				x.Reply = append(x.Reply, b...)
				x.Chunks = append(x.Chunks, wire.Chunk{Bytes: len(b), After: time.Duration(rapid.IntRange(0, 1e6).Draw(t, "after")) * time.Microsecond})
			}
			list = append(list, x)
		}
		var b bytes.Buffer
		if err := wire.WriteRecording(&b, list); err != nil {
			t.Fatal(err)
		}
		got, err := wire.ReadRecording(&b)
		if err != nil || !reflect.DeepEqual(got, list) {
			t.Fatalf("%v\n%v\n%v", err, got, list)
		}
	})
}

// FuzzReadRecording: what is read can be written, and is read as the same.
func FuzzReadRecording(f *testing.F) {
	f.Add([]byte(`{"form":"overt wire recording","version":1}` + "\n" + `{"method":"POST","path":"/","body":[{"text":{"base64":"/w=="}}]}` + "\n" + `{"status":200,"body":"a","chunks":[[1,5]],"error":"network"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := wire.ReadRecording(bytes.NewReader(b))
		if err != nil {
			return
		}
		var one, two bytes.Buffer
		if err := wire.WriteRecording(&one, list); err != nil {
			t.Fatal(err)
		}
		again, err := wire.ReadRecording(bytes.NewReader(one.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := wire.WriteRecording(&two, again); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("%v\n%s\n%s", err, one.Bytes(), two.Bytes())
		}
	})
}

// TestRecorderHides: what a gateway has in the path, and secrets in the name of a lane or across parts of a body.
func TestRecorderHides(t *testing.T) {
	for in, want := range map[string]string{
		"/v1/chat/completions":                                    "/v1/chat/completions",
		"/client/v4/accounts/planted/ai/v1/chat/completions":      "/v1/chat/completions",
		"/planted/v1/responses?key=planted&a":                     "/v1/responses?a&key",
		"/v1/projects/planted/endpoints/openapi/chat/completions": "/openapi/chat/completions",
		"/planted/v1beta/messages/":                               "/v1beta/messages",
		"":                                                        "/",
	} {
		rec := &wire.Recorder{Mask: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("planted"), []byte("…")) }}
		body := []wire.Part{{"a", []byte("x pla")}, {"b", []byte("nted y")}}
		kept, err := rec.Sent(t.Context(), wire.Sent{ID: "1", Lane: "of planted", URL: "https://h.example" + in, Body: body})
		if err != nil || kept.Bytes != 11 {
			t.Fatal(kept, err)
		}
		if _, err := rec.Received(t.Context(), wire.Received{ID: "1", Status: 200}); err != nil {
			t.Fatal(err)
		}
		x := rec.Recording()[0]
		if x.Path != want || x.Lane != "of …" || !reflect.DeepEqual(x.Body, []wire.Part{{"", []byte("x … y")}}) || string(body[0].Bytes) != "x pla" {
			t.Errorf("%s: %+v, want %s", in, x, want)
		}
	}
}
