package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/wire"
)

// mark is what planted texts are found by. Random letters stay legible where texts are compressed.
const mark = "Zq8xKv3WjT5rNp1Lm7Yb"

// plant writes a task with the mark in every place that holds text.
func plant(t *testing.T, s *store.Store, task, run string) {
	t.Helper()
	ctx := context.Background()
	sc := event.Scope{Session: "ses_A", Task: task, Turn: "trn_" + run, Run: "run_" + run}
	long := strings.Repeat("0123456789", 500) + mark + task
	put(t, s, sc, event.Draft{Subject: task, Data: event.TaskCreated{Title: "title " + mark + task, Origin: "person"}},
		event.Draft{Subject: sc.Run, Data: event.RunAccepted{RunKind: "turn"}}, event.Draft{Subject: "msg_" + run + "-0.1", Data: text(long)})
	put(t, s, sc, event.Draft{Data: text("both " + strings.Repeat("shared ", 1000))})
	put(t, s, sc, event.Draft{Subject: "que_" + run, Data: event.QueueAdded{Mode: event.QueueFollow, Text: mark + task}})
	sc.Step = 1
	call := "cal_" + run + "-1.1"
	put(t, s, sc, event.Draft{Subject: call, Data: event.CallStarted{Lane: task, Purpose: "chat", Attempt: 1, Provider: "p", Protocol: "c", Model: "m"}})
	c := s.Captures()
	sent, err := c.Sent(ctx, wire.Sent{ID: call, Lane: task, Method: "POST", URL: "http://h/", At: time.Now(), Body: []wire.Part{
		{Owner: "1", Bytes: []byte("the same in all tasks")}, {Owner: "2", Bytes: []byte(mark + task)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	received, err := c.Received(ctx, wire.Received{ID: call, Status: 200, At: time.Now(), Body: []byte("answer " + mark + task)})
	if err != nil {
		t.Fatal(err)
	}
	body := func(k wire.Kept) event.Body {
		return event.Body{Bytes: k.Bytes, SHA256: hex.EncodeToString(k.SHA256[:]), Masked: k.Masked}
	}
	put(t, s, sc, event.Draft{Subject: call, Data: event.CallCompleted{HTTP: 200, Exchange: event.Exchange{Request: body(sent), Response: body(received)}}})
	spool := c.Spool(task, "tcl_"+run+"-1.1", true)
	spool.Write([]byte("output " + mark + task))
	out, err := spool.Keep()
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, sc, event.Draft{Subject: "tcl_" + run + "-1.1", Data: event.ToolCompleted{Name: "x", Content: mark + task, Output: &out}})
	sc.Step = 0
	put(t, s, sc, event.Draft{Subject: sc.Run, Data: event.RunCompleted{Answer: "a"}})
	if _, err := s.Append(ctx, event.Batch{Scope: event.Scope{Task: task}, Key: "key " + mark + task, Facts: []event.Draft{
		{Subject: task, Data: event.TaskChanged{State: event.TaskCancelled, Reason: "reason " + mark + task, By: "person"}},
	}}); err != nil {
		t.Fatal(err)
	}
}

// holding lists the files of a folder that hold a text.
func holding(t testing.TB, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func erase(t *testing.T, s *store.Store, task string) (event.TaskErased, error) {
	t.Helper()
	l, err := s.Lease(t.Context(), "erase", "ses_E")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	return s.Erase(t.Context(), event.Batch{Scope: event.Scope{Task: task}}, "person")
}

// TestErase: no byte of a task's texts is left in any file of the record, at once, and nothing of another task goes.
func TestErase(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	plant(t, s, "tsk_keep", "K")
	plant(t, s, "tsk_gone", "G")
	plant(t, s, "tsk_also", "O")
	before := facts(t, s, "tsk_keep")
	if files := holding(t, dir, mark+"tsk_gone"); len(files) < 2 {
		t.Fatalf("the test's own assumption: texts are legible in the files; %q hold one", files)
	}
	done, err := erase(t, s, "tsk_gone")
	if err != nil || done.By != "person" || done.Facts != 10 || done.Bytes < 100 {
		t.Errorf("%+v, %v", done, err)
	}
	if files := holding(t, dir, mark+"tsk_gone"); files != nil {
		t.Errorf("%q still hold a text of the task", files)
	}
	for _, task := range []string{"tsk_keep", "tsk_also"} {
		if len(holding(t, dir, mark+task)) < 2 {
			t.Errorf("the texts of %s are gone too", task)
		}
	}
	got := facts(t, s, "tsk_gone")
	for _, f := range got[:len(got)-1] {
		if f.Data != (event.Erased{K: f.Kind}) {
			t.Errorf("%d %s still says %+v", f.Seq, f.Kind, f.Data)
		}
	}
	if last := got[len(got)-1]; last.Data != done || len(got) != 11 || last.Subject != "tsk_gone" {
		t.Errorf("%d facts, the last is %+v", len(got), last)
	}
	task, err := s.Task(t.Context(), "tsk_gone")
	if err != nil || task.State != event.TaskGone || task.Title != nil || task.Reason != nil || task.Model != nil || task.Head != 0 {
		t.Errorf("%+v, %v", task, err)
	}
	if list, err := s.Tasks(t.Context(), 0); err != nil || len(list) != 2 {
		t.Errorf("%d tasks, %v", len(list), err)
	}
	for what, n := range map[string]int{
		"SELECT count(*) FROM run WHERE task = ?": 0, "SELECT count(*) FROM call WHERE task = ?": 0, "SELECT count(*) FROM queue WHERE task = ?": 0,
		"SELECT count(*) FROM fact WHERE task = ? AND data IS NOT NULL": 1, "SELECT max(seq) - count(*) FROM fact WHERE ? > 0": 0,
	} {
		if got := countOf(t, dir, what, "tsk_gone"); got != n {
			t.Errorf("%s: %d", what, got)
		}
	}
	if !equalFacts(before, facts(t, s, "tsk_keep")) {
		t.Error("another task has changed")
	}
	if _, err := s.Captures().Capture(t.Context(), "cal_G-1.1"); !errors.Is(err, store.ErrNoCapture) {
		t.Errorf("its capture: %v", err)
	}
	if _, err := s.Output(t.Context(), "tsk_gone", "out_G-1.1"); !errors.Is(err, store.ErrNoOutput) {
		t.Errorf("its output: %v", err)
	}
	if c, err := s.Captures().Capture(t.Context(), "cal_K-1.1"); err != nil || string(c.Request.Join()) != "the same in all tasks"+mark+"tsk_keep" {
		t.Errorf("another task's capture: %+v, %v", c, err)
	}
	// And once more, which only cleans, and the next one.
	if again, err := erase(t, s, "tsk_gone"); err != nil || again != (event.TaskErased{}) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := erase(t, s, "tsk_also"); err != nil || holding(t, dir, mark+"tsk_also") != nil {
		t.Errorf("the next one: %v", err)
	}
	if _, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_keep"}, Facts: []event.Draft{{Data: text("goes on")}}}); err != nil {
		t.Error(err)
	}
}

func facts(t testing.TB, s *store.Store, task string) (out []event.Fact) {
	t.Helper()
	for f, err := range s.Facts(context.Background(), task, "") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func equalFacts(a, b []event.Fact) bool {
	return slices.EqualFunc(a, b, func(x, y event.Fact) bool {
		p, err := event.Encode(x.Data, nil, nil)
		q, err2 := event.Encode(y.Data, nil, nil)
		return err == nil && err2 == nil && x.Seq == y.Seq && bytes.Equal(p, q)
	})
}

// countOf runs a query on overt.db with the number of a task.
func countOf(t testing.TB, dir, query, task string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "overt.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var id int64
	if err := db.QueryRow(`SELECT id FROM name WHERE text = ?`, task).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(query, id).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEraseRefused: what is refused changes nothing.
func TestEraseRefused(t *testing.T) {
	s := open(t, t.TempDir())
	plant(t, s, "tsk_A", "A")
	node := facts(t, s, "tsk_A")[2].Seq
	put(t, s, event.Scope{Task: "tsk_F"}, event.Draft{Data: event.TaskCreated{Title: "f", Origin: "person", Parent: "tsk_A", From: node}},
		event.Draft{Data: event.HeadMoved{To: node, Reason: "branch"}}, event.Draft{Data: text("on")})
	put(t, s, event.Scope{Task: "tsk_R", Run: "run_R"}, event.Draft{Data: event.RunAccepted{RunKind: "turn"}}, event.Draft{Data: text("x")})
	last := put(t, s, event.Scope{Task: "tsk_R"}, event.Draft{Data: text("y")})[0].Seq

	var forked *store.ForkedError
	if _, err := erase(t, s, "tsk_A"); !errors.As(err, &forked) || !slices.Equal(forked.Forks, []string{"tsk_F"}) {
		t.Errorf("with a fork: %v", err)
	}
	if _, err := erase(t, s, "tsk_R"); !errors.Is(err, event.ErrActive) {
		t.Errorf("with a run: %v", err)
	}
	var state *event.StateError
	if _, err := erase(t, s, "tsk_none"); !errors.As(err, &state) || state.State != "" {
		t.Errorf("no task: %v", err)
	}
	if _, err := s.Captures().Capture(t.Context(), "cal_A-1.1"); err != nil {
		t.Error(err)
	}
	if next := put(t, s, event.Scope{Task: "tsk_R"}, event.Draft{Data: text("z")})[0].Seq; next != last+1 {
		t.Errorf("%d facts were written", next-last-1)
	}
	if o, err := s.Output(t.Context(), "tsk_F", "out_A-1.1"); err != nil || o.ID != "out_A-1.1" {
		t.Errorf("a fork reads the outputs that its thread names: %v", err)
	}
	if _, err := s.Output(t.Context(), "tsk_R", "out_A-1.1"); !errors.Is(err, store.ErrNoOutput) {
		t.Errorf("another task does not: %v", err)
	}
	for _, task := range []string{"tsk_F", "tsk_A"} { // the fork first
		if _, err := erase(t, s, task); err != nil {
			t.Error(err)
		}
	}
}

// TestEraseBesideAReader: while a reader of another program keeps old pages in use, it is said that they may hold what was
// erased; afterwards the same call finishes the work.
func TestEraseBesideAReader(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Impatient(); err != nil {
		t.Fatal(err)
	}
	plant(t, s, "tsk_A", "A")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "overt.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reader, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRow(`SELECT count(*) FROM fact`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	var scrub *store.ScrubError
	if _, err := erase(t, s, "tsk_A"); !errors.As(err, &scrub) || filepath.Base(scrub.Path) != "overt.db" {
		t.Errorf("with a reader: %v", err)
	}
	if task, err := s.Task(t.Context(), "tsk_A"); err != nil || task.State != event.TaskGone {
		t.Errorf("%+v, %v", task, err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := erase(t, s, "tsk_A"); err != nil || holding(t, dir, mark) != nil {
		t.Errorf("without it: %v, %q", err, holding(t, dir, mark))
	}
}

// TestFork: a task that was forked stands on the node of the other one, and its thread goes on from there.
func TestFork(t *testing.T) {
	s := open(t, t.TempDir())
	a := put(t, s, event.Scope{Task: "tsk_A"}, event.Draft{Data: text("1")}, event.Draft{Data: text("2")}, event.Draft{Data: text("3")})
	f := put(t, s, event.Scope{Task: "tsk_F"}, event.Draft{Data: event.TaskCreated{Title: "f", Origin: "person", Parent: "tsk_A", From: a[1].Seq}},
		event.Draft{Data: event.HeadMoved{To: a[1].Seq, Reason: "branch"}}, event.Draft{Data: text("4")})
	var got []event.Seq
	for f, err := range s.Read(t.Context(), event.Path{Task: "tsk_F"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Seq)
	}
	if want := []event.Seq{1, 2, f[2].Seq}; !slices.Equal(got, want) {
		t.Errorf("thread %v, want %v", got, want)
	}
	task, err := s.Task(t.Context(), "tsk_F")
	if err != nil || *task.Parent != "tsk_A" || *task.Forked != a[1].Seq || task.Head != f[2].Seq {
		t.Errorf("%+v, %v", task, err)
	}
	if head, err := s.Head(t.Context(), "tsk_A"); err != nil || head != a[2].Seq {
		t.Errorf("the original stands on %d, %v", head, err)
	}
}

// TestConditions are checked in the transaction that they are for.
func TestConditions(t *testing.T) {
	s := open(t, t.TempDir())
	sc := event.Scope{Task: "tsk_A"}
	put(t, s, sc, event.Draft{Data: text("1")})
	try := func(c event.If, state string) error {
		_, err := s.Append(t.Context(), event.Batch{Scope: sc, If: &c, Facts: []event.Draft{{Data: event.TaskChanged{State: state, By: "person"}}}})
		return err
	}
	active := []string{event.TaskActive}
	if err := try(event.If{States: active, Idle: true}, event.TaskPaused); err != nil {
		t.Error(err)
	}
	var state *event.StateError
	if err := try(event.If{States: active}, event.TaskActive); !errors.As(err, &state) || *state != (event.StateError{Task: "tsk_A", State: "paused"}) {
		t.Errorf("in another state: %v", err)
	}
	put(t, s, event.Scope{Task: "tsk_A", Run: "run_1"}, event.Draft{Data: event.RunAccepted{}})
	if err := try(event.If{Idle: true}, event.TaskActive); !errors.Is(err, event.ErrActive) {
		t.Errorf("with a run: %v", err)
	}
	if err := try(event.If{}, event.TaskActive); err != nil {
		t.Error(err)
	}
	if task, err := s.Task(t.Context(), "tsk_A"); err != nil || task.State != event.TaskActive || task.Reason != nil {
		t.Errorf("%+v, %v", task, err)
	}
}
