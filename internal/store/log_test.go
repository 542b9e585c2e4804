package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/store"
)

// TestAgainstMemory: whatever is appended and read, the store says what event.Memory says.
func TestAgainstMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		now := func() time.Time { return time.UnixMilli(1_700_000_000_123) }
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s, err := store.Open(context.Background(), store.Options{Dir: dir, Now: now})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { s.Close() }()
		m := &event.Memory{Now: now}
		tasks := rapid.SampledFrom([]string{"tsk_A", "tsk_B"})
		seq := rapid.Custom(func(t *rapid.T) event.Seq { return event.Seq(rapid.IntRange(0, 12).Draw(t, "seq")) })
		written := event.Seq(0)
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				b := drawBatch(t, tasks.Draw(t, "task"), written)
				want, wantErr := m.Append(context.Background(), b)
				got, err := s.Append(context.Background(), b)
				if !errors.Is(err, wantErr) || !reflect.DeepEqual(got, want) {
					t.Fatalf("Append(%+v)\ngave  %+v, %v\nwants %+v, %v", b, got, err, want, wantErr)
				}
				for _, f := range got {
					written = max(written, f.Seq)
				}
			},
			"read": func(t *rapid.T) {
				p := event.Path{Task: tasks.Draw(t, "task"), Facts: rapid.Bool().Draw(t, "facts")}
				if p.Facts {
					p.After = seq.Draw(t, "after")
				} else {
					p.Leaf = seq.Draw(t, "leaf")
				}
				got, err := collect(s.Read(context.Background(), p))
				want, wantErr := collect(m.Read(context.Background(), p))
				if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
					t.Fatalf("Read(%+v)\ngave  %+v, %v\nwants %+v, %v", p, got, err, want, wantErr)
				}
			},
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = store.Open(context.Background(), store.Options{Dir: dir, Now: now}); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func drawBatch(t *rapid.T, task string, written event.Seq) event.Batch {
	b := event.Batch{Scope: event.Scope{
		Task: task, Run: rapid.SampledFrom([]string{"", "run_R", "run_S"}).Draw(t, "run"),
		Session: "ses_A", Step: rapid.IntRange(0, 3).Draw(t, "step"),
	}}
	if rapid.Bool().Draw(t, "keyed") {
		b.Key = rapid.SampledFrom([]string{"k1", "k2", "k3"}).Draw(t, "key")
		b.Fingerprint = rapid.SampledFrom([]string{"", "f"}).Draw(t, "fingerprint")
	}
	if rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
		b.Guard = &event.Guard{Head: event.Seq(rapid.IntRange(0, int(written)).Draw(t, "guard"))}
	}
	for range rapid.IntRange(1, 3).Draw(t, "facts") {
		d := event.Draft{Subject: rapid.SampledFrom([]string{"", "cal_R-1.1", "=x", "a~b", "run_S"}).Draw(t, "subject")}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			d.Data = event.ToolDecided{Name: "x", Verdict: "allow", Reasons: []string{"a", `"b"`}}
		case 1:
			d.Data = text(rapid.SampledFrom([]string{"", "short", strings.Repeat("é\n", 200), strings.Repeat("long ", 1000)}).Draw(t, "text"))
		case 2:
			d.Data = event.ToolCompleted{Name: "x", Status: "ok", Content: rapid.String().Draw(t, "content")}
			if rapid.Bool().Draw(t, "placed") {
				p := event.Seq(rapid.IntRange(0, int(written)).Draw(t, "parent"))
				d.Parent = &p
			}
		case 3:
			d.Data = event.CallStarted{Lane: "run_R", Attempt: 1, Model: "m"}
		}
		b.Facts = append(b.Facts, d)
	}
	return b
}

func collect(seq func(func(event.Fact, error) bool)) ([]event.Fact, error) {
	var out []event.Fact
	for f, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

func TestMasking(t *testing.T) {
	s := open(t, t.TempDir())
	long := strings.Repeat("x", event.LongText) + secret
	f := appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("my key is "+secret), text(long),
		event.TaskCreated{Title: "use " + secret}, event.SessionEnded{Reason: `{"k":"` + secret + `"}`})
	want := []string{"my key is [masked:KEY]", strings.Repeat("x", event.LongText) + "[masked:KEY]"}
	for i, w := range want {
		if got := f[i].Data.(event.MessageAdded).Blocks[0].Text; got != w {
			t.Errorf("fact %d has %q", i, got)
		}
	}
	if task, err := s.Task(t.Context(), "tsk_A"); err != nil || *task.Title != "use [masked:KEY]" {
		t.Errorf("the title is %q, %v", *task.Title, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSecretIsNowhere looks into the files themselves.
func TestSecretIsNowhere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	appendFacts(t, s, event.Scope{Task: "tsk_A"}, text(secret), event.ToolDecided{Preview: secret})
	sendAndReceive(t, s, "cal_A-1.1", secret)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), secret[3:]) {
			t.Errorf("%s holds the secret", e.Name())
		}
	}
}

func TestLongTextsAreKeptOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	long := strings.Repeat("long text ", 1000)
	for range 3 {
		appendFacts(t, s, event.Scope{Task: "tsk_A"}, text(long), text(long))
	}
	if n := count(t, dir, `SELECT count(*) FROM blob`); n != 1 {
		t.Errorf("%d blobs, want 1", n)
	}
}

func count(t testing.TB, dir, query string, args ...any) (n int) {
	t.Helper()
	file := "overt.db"
	if strings.Contains(query, "chunk") || strings.Contains(query, "part") || strings.Contains(query, "capture") {
		file = "captures.db"
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNothingIsHalfWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	first := appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("one"))
	bad := event.Seq(99)
	tests := []struct {
		name  string
		batch event.Batch
		err   string
	}{
		{"moved", event.Batch{Scope: event.Scope{Task: "tsk_A"}, Guard: &event.Guard{}, Facts: []event.Draft{{Data: text("x")}}}, event.ErrMoved.Error()},
		{"moved, unknown task", event.Batch{Scope: event.Scope{Task: "tsk_B"}, Guard: &event.Guard{Head: 1}, Facts: []event.Draft{{Data: text("x")}}}, event.ErrMoved.Error()},
		{"parent to come", event.Batch{Scope: event.Scope{Task: "tsk_C"}, Facts: []event.Draft{{Data: text("x")}, {Data: text("y"), Parent: &bad}}}, "names the fact 99 as its parent"},
		{"no task", event.Batch{Scope: event.Scope{Session: "ses_Z"}, Facts: []event.Draft{{Data: text("x")}}}, "belongs to no task"},
	}
	for _, tt := range tests {
		if _, err := s.Append(t.Context(), tt.batch); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if n := count(t, dir, `SELECT count(*) FROM fact`); n != 1 {
		t.Errorf("%d facts, want 1", n)
	}
	if n := count(t, dir, `SELECT count(*) FROM name WHERE text IN ('tsk_B', 'tsk_C', 'ses_Z')`); n != 0 {
		t.Errorf("%d names of batches that failed", n)
	}
	// The numbers of names that were rolled back are given to others.
	next := appendFacts(t, s, event.Scope{Task: "tsk_D", Session: "ses_D"}, text("two"))
	if next[0].Seq != first[0].Seq+1 || next[0].Scope.Task != "tsk_D" {
		t.Errorf("after them: %+v", next[0])
	}
	if got := all(t, s.Read(t.Context(), event.Path{Task: "tsk_D"})); !reflect.DeepEqual(got, next) {
		t.Errorf("read %+v", got)
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("one"))
	if err := s.LimitFactPages(count(t, dir, `SELECT page_count FROM pragma_page_count`)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_A"}, Facts: []event.Draft{{Data: text(base64Text(t)(100_000))}}})
	if err == nil || !strings.Contains(err.Error(), "is full; free some space") {
		t.Fatalf("got %v", err)
	}
	if err := s.LimitFactPages(1 << 20); err != nil {
		t.Fatal(err)
	}
	if f := appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("two")); f[0].Seq != 2 || f[0].Parent != 1 {
		t.Errorf("after it: %+v", f[0])
	}
}

// covers A018
func TestBarrier(t *testing.T) {
	s := open(t, t.TempDir())
	tests := []struct {
		data event.Payload
		want int
	}{
		{event.ToolStarted{Name: "read_file", ReadOnly: true}, 1},
		{event.ToolStarted{Name: "run_command"}, 2},
		{event.ToolDecided{}, 1},
		{event.RunAccepted{}, 2},
		{event.RunAccepted{}, 2},
		{event.RunStarted{}, 1},
	}
	for i, tt := range tests {
		appendFacts(t, s, event.Scope{Task: "tsk_A", Run: "run_" + string(rune('A'+i))}, tt.data)
		if got, err := s.Synchronous(); err != nil || got != tt.want {
			t.Errorf("%T was committed with synchronous=%d, %v; want %d", tt.data, got, err, tt.want)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("one"))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "overt.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO name (text) VALUES ('later.kind');
		INSERT INTO fact (seq, time, kind, v, task, enc, data) SELECT 2, 5, last_insert_rowid(), 3, task, 0, '{"a":1}' FROM fact`); err != nil {
		t.Fatal(err)
	}
	got := all(t, s.Read(t.Context(), event.Path{Task: "tsk_A", Facts: true}))
	want := event.Fact{
		Seq: 2, Time: time.UnixMilli(5).UTC(), Kind: "later.kind", V: 3, Scope: event.Scope{Task: "tsk_A"},
		Data: event.Unknown{K: "later.kind", Raw: []byte(`{"a":1}`)},
	}
	if len(got) != 2 || !reflect.DeepEqual(got[1], want) {
		t.Errorf("got %+v", got)
	}
}

func TestLongThread(t *testing.T) {
	s := open(t, t.TempDir())
	var want []event.Seq
	for range 20 {
		var p []event.Payload
		for range 40 {
			p = append(p, text("x"), event.ToolDecided{})
		}
		for _, f := range appendFacts(t, s, event.Scope{Task: "tsk_A"}, p...) {
			if f.Kind.Node() {
				want = append(want, f.Seq)
			}
		}
	}
	var got []event.Seq
	for _, f := range all(t, s.Read(t.Context(), event.Path{Task: "tsk_A"})) {
		got = append(got, f.Seq)
	}
	if !slices.Equal(got, want) {
		t.Errorf("a thread of %d nodes was read as %d", len(want), len(got))
	}
	if n := len(all(t, s.Read(t.Context(), event.Path{Task: "tsk_A", Facts: true}))); n != 1600 {
		t.Errorf("%d facts, want 1600", n)
	}
	for range s.Read(t.Context(), event.Path{Task: "tsk_A"}) {
		break // a reader may stop
	}
}

func TestConcurrentAppend(t *testing.T) {
	s := open(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			sc := event.Scope{Task: "tsk_" + string(rune('A'+i)), Run: "run_" + string(rune('A'+i))}
			for range 50 {
				appendFacts(t, s, sc, text("x"), event.ToolDecided{})
			}
		})
	}
	wg.Wait()
	var n event.Seq
	for f, err := range s.Follow(t.Context(), 0) {
		if n++; err != nil || f.Seq != n {
			t.Fatalf("fact %d has number %d, %v", n, f.Seq, err)
		}
		if n == 400 {
			break
		}
	}
	for i := range 4 {
		if got := len(all(t, s.Read(t.Context(), event.Path{Task: "tsk_" + string(rune('A'+i))}))); got != 50 {
			t.Errorf("thread %d has %d nodes, want 50", i, got)
		}
	}
}

// TestAppendOnly: no statement of the package changes or deletes a fact, but for the one that erases.
func TestAppendOnly(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	inserts := 0
	changes := regexp.MustCompile(`(?is)\b(UPDATE(\s+OR\s+\w+)?|DELETE\s+FROM|REPLACE\s+INTO|INSERT\s+OR\s+\w+\s+INTO|DROP\s+TABLE|ALTER\s+TABLE)\s+"?fact\b`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		erases := []byte("`UPDATE fact SET data = NULL WHERE task = ? AND seq < ?`")
		if f == "erase.go" && bytes.Count(src, erases) == 1 {
			src = bytes.Replace(src, erases, nil, 1)
		}
		if m := changes.Find(src); m != nil {
			t.Errorf("%s: %q", f, m)
		}
		inserts += len(regexp.MustCompile(`(?i)INSERT\s+INTO\s+fact\b`).FindAll(src, -1))
	}
	if inserts != 1 {
		t.Errorf("%d places insert facts, want 1", inserts)
	}
}
