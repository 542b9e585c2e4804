package store_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/build"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/wire"
)

// requests grows the parts of a task's requests the way that an adapter does: the head, one part per message, a tail.
type requests struct {
	content func(n int) string
	rnd     *rand.Rand
	n       int
	head    wire.Part
	tail    wire.Part
	body    []wire.Part
	last    [2]string // content of the last step's answer and result
}

func newRequests(content func(n int) string) *requests {
	r := &requests{content: content, rnd: rand.New(rand.NewPCG(1, 2))}
	r.head = wire.Part{Owner: "head", Bytes: []byte(`{"model":"m","tools":[` + quote(content(6000)) + `],"messages":[`)}
	r.tail = wire.Part{Bytes: []byte(`],"stream":true}`)}
	r.body = []wire.Part{r.head}
	return r
}

// step adds an answer of 0.5 kB and a tool's result of 3 kB.
func (r *requests) step() {
	r.n++
	r.last = [2]string{r.content(500), r.content(3000)}
	call := fmt.Sprintf("call_%d", r.n)
	r.body = append(r.body,
		wire.Part{Owner: fmt.Sprintf("msg_R-%d", r.n), Bytes: []byte(`{"role":"assistant","content":` + quote(r.last[0]) +
			`,"tool_calls":[{"id":"` + call + `","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]},`)},
		wire.Part{Owner: fmt.Sprintf("tcl_R-%d.1", r.n), Bytes: []byte(`{"role":"tool","tool_call_id":"` + call + `","content":` + quote(r.last[1]) + `},`)})
}

func (r *requests) sent(call string) wire.Sent {
	return wire.Sent{
		ID: call, Lane: "run_R", Method: "POST", URL: "http://localhost/v1/chat/completions", At: time.UnixMilli(int64(1000 * (r.n + 1))),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: append(r.body[:len(r.body):len(r.body)], r.tail),
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sourceText gives pieces of the standard library's source, one after the other.
func sourceText(t testing.TB) func(n int) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "net", "http", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files { // sorted
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	if len(all) < 1_500_000 {
		t.Fatalf("only %d bytes of source in the %d files of net/http of the Go installation", len(all), len(files))
	}
	at := 0
	return func(n int) string {
		if at+n > len(all) {
			at = 0
		}
		at += n
		return string(all[at-n : at])
	}
}

// base64Text gives random bytes in base64, in which nothing repeats.
func base64Text(testing.TB) func(n int) string {
	rnd := rand.New(rand.NewPCG(3, 4))
	return func(n int) string {
		b := make([]byte, n*3/4)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
}

// answer is the response of a step as a chat stream sends it, four characters of text in each chunk.
func (r *requests) answer() (body []byte, chunks []wire.Chunk) {
	const frame = `data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":17000%05d,"model":"m","choices":[{"index":0,"delta":{%s},"finish_reason":null}]}` + "\n\n"
	at := 300 * time.Millisecond
	add := func(delta string) {
		piece := fmt.Sprintf(frame, r.n, r.n, delta)
		body = append(body, piece...)
		at += time.Duration(5000+r.rnd.IntN(20000)) * time.Microsecond
		chunks = append(chunks, wire.Chunk{Bytes: len(piece), After: at})
	}
	for rest := r.last[0]; rest != ""; rest = rest[min(4, len(rest)):] {
		add(`"content":` + quote(rest[:min(4, len(rest))]))
	}
	add(`"tool_calls":[{"index":0,"id":"call_` + fmt.Sprint(r.n) + `","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]`)
	return body, chunks
}

// record plays a task of n steps into a store and returns the bytes of the content that is unique in it.
func record(t testing.TB, s *store.Store, content func(n int) string, n int) (unique int64) {
	t.Helper()
	r := newRequests(content)
	unique = int64(len(r.head.Bytes))
	sc := event.Scope{Session: "ses_01JD8Z6Q3V", Task: "tsk_01JD8Z6Q3W", Turn: "trn_01JD8Z6Q3X", Run: "run_01JD8Z6Q3X"}
	put := func(facts ...event.Draft) {
		if _, err := s.Append(t.Context(), event.Batch{Scope: sc, Facts: facts}); err != nil {
			t.Fatal(err)
		}
	}
	put(event.Draft{Data: event.TaskCreated{Title: "t", Origin: "person"}}, event.Draft{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn", Client: "cli"}})
	put(event.Draft{Data: event.ContextTaken{Source: "system", Name: "system", Place: "head", Text: string(r.head.Bytes)}})
	for i := 1; i <= n; i++ {
		sc.Step = i
		call, tool := fmt.Sprintf("cal_01JD8Z6Q3X-%d.1", i), fmt.Sprintf("tcl_01JD8Z6Q3X-%d.1", i)
		put(event.Draft{Subject: call, Data: event.CallStarted{Lane: sc.Run, Purpose: "chat", Attempt: 1, Provider: "local", Protocol: "openai-chat", Model: "m", Head: 3, Leaf: event.Seq(6*i - 2), Estimate: 900 * i}})
		sent := r.sent(call)
		request, err := s.Captures().Sent(t.Context(), sent)
		if err != nil {
			t.Fatal(err)
		}
		r.step()
		unique += int64(len(r.last[0]) + len(r.last[1]))
		body, chunks := r.answer()
		response, err := s.Captures().Received(t.Context(), wire.Received{
			ID: call, Status: 200, Body: body, Chunks: chunks, At: sent.At,
			Header: http.Header{"Content-Type": {"text/event-stream"}, "Date": {sent.At.Format(time.RFC1123)}, "X-Request-Id": {fmt.Sprintf("%x", sha256.Sum256([]byte(call)))[:32]}},
		})
		if err != nil {
			t.Fatal(err)
		}
		in, out := int64(900*i), int64(150)
		put(event.Draft{Subject: call, Data: event.CallCompleted{
			HTTP: 200, ProviderID: fmt.Sprint("chatcmpl-", i), Finish: "tool_calls",
			Usage:    event.Usage{Fresh: &in, Output: &out, Coverage: "complete", Raw: json.RawMessage(fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":150}`, in))},
			Exchange: event.Exchange{Request: kept(request), Response: kept(response), FirstByteMS: 300, DurationMS: 1900},
		}},
			event.Draft{Subject: fmt.Sprintf("msg_01JD8Z6Q3X-%d", i), Data: event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{
				{Type: "text", Text: r.last[0]}, {Type: "call", Call: &event.ToolCall{ID: tool, Given: fmt.Sprint("call_", i), Name: "read_file", Args: `{"path":"a"}`}},
			}}})
		put(event.Draft{Subject: tool, Data: event.ToolDecided{Name: "read_file", Effects: []event.Effect{{Kind: "read", Target: "a"}}, Verdict: "allow"}},
			event.Draft{Subject: tool, Data: event.ToolStarted{Name: "read_file", ReadOnly: true}})
		put(event.Draft{Subject: tool, Data: event.ToolCompleted{Name: "read_file", Status: "ok", Content: r.last[1], Bytes: 3000}})
	}
	return unique
}

func kept(k wire.Kept) event.Body {
	return event.Body{Bytes: k.Bytes, SHA256: fmt.Sprintf("%x", k.SHA256), Masked: k.Masked}
}

// tableBytes gives the bytes of the pages of each table and index of a file.
func tableBytes(t testing.TB, path string) map[string]int64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT name, sum(pgsize) FROM dbstat GROUP BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		out[name] = n
	}
	return out
}

// TestSize: what a task of 400 steps of 0.5 + 3 kB takes on the disk, facts and captures with their indexes and the raw
// streams of the answers, over the content that is unique in it.
func TestSize(t *testing.T) {
	tests := []struct {
		name    string
		content func(testing.TB) func(n int) string
		most    float64
	}{{"source text", sourceText, 2}, {"random base64", base64Text, 3}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			unique := record(t, s, tt.content(t), 400)
			projections := map[string]bool{
				"task": true, "task_list": true, "task_parent": true, "run": true, "run_open": true,
				"run_task": true, "call": true, "call_task": true, "call_lane": true,
			}
			var total int64
			for _, file := range []string{"overt.db", "captures.db"} {
				for name, n := range tableBytes(t, filepath.Join(dir, file)) {
					if !projections[name] {
						total += n
					}
					t.Logf("%s %s %d", file, name, n)
				}
			}
			ratio := float64(total) / float64(unique)
			t.Logf("%d bytes for %d: %.2f", total, unique, ratio)
			if ratio > tt.most {
				t.Errorf("takes %.2f times the content, at most %v is allowed", ratio, tt.most)
			}
		})
	}
}

// fill makes a record of n facts of a thousand tasks.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_A", Run: "run_A"}, Facts: []event.Draft{{Data: text("x")}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "overt.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO fact SELECT i, i, kind, v, session, task, turn, run, step, subject, i - 1, enc, data FROM n, fact WHERE seq = 1`, n); err != nil {
		t.Fatal(err)
	}
}
