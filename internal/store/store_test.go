package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/redact"
	"overt/internal/store"
)

const secret = "sk-0123456789abcdef"

// open opens a store in a folder and closes it with the test.
func open(t testing.TB, dir string) *store.Store {
	t.Helper()
	m := redact.New()
	m.Add("KEY", secret)
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Mask: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func appendFacts(t testing.TB, log event.Log, sc event.Scope, p ...event.Payload) []event.Fact {
	t.Helper()
	b := event.Batch{Scope: sc}
	for i, d := range p {
		b.Facts = append(b.Facts, event.Draft{Subject: fmt.Sprintf("msg_%s-%d", strings.TrimPrefix(sc.Run, "run_"), i), Data: d})
	}
	facts, err := log.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func all(t testing.TB, seq func(func(event.Fact, error) bool)) []event.Fact {
	t.Helper()
	var out []event.Fact
	for f, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func text(s string) event.MessageAdded {
	return event.MessageAdded{Role: "user", Origin: "person", Blocks: []event.Block{{Type: "text", Text: s}}}
}

func TestMaskPrefix(t *testing.T) {
	m := redact.New()
	m.Add("K", secret)
	if got := m.String(secret); got != event.MaskPrefix+"K]" {
		t.Errorf("redact writes %q, the record expects %q", got, event.MaskPrefix+"K]")
	}
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	sc := event.Scope{Session: "ses_A", Task: "tsk_A", Turn: "trn_R", Run: "run_R", Step: 3}
	long := strings.Repeat("long text ", 1000)
	wrote := appendFacts(t, s, sc, event.TaskCreated{Title: "t", Origin: "person"}, event.RunAccepted{RunKind: "turn"}, text("hello"),
		text(long), event.ToolCompleted{Name: "read_file", Status: "ok", Content: long, Bytes: 10}, event.FileChanged{Path: "a"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if got := all(t, s.Read(t.Context(), event.Path{Task: "tsk_A", Facts: true})); !reflect.DeepEqual(got, wrote) {
		t.Errorf("read\n%+v\nwrote\n%+v", got, wrote)
	}
	if got := all(t, s.Read(t.Context(), event.Path{Task: "tsk_A"})); !reflect.DeepEqual(got, wrote[2:5]) {
		t.Errorf("the thread is\n%+v", got)
	}
	if wrote[4].Data.(event.ToolCompleted).Content != long {
		t.Error("a long text did not come back whole")
	}
	if got := all(t, s.Facts(t.Context(), "tsk_A", "run_R")); !reflect.DeepEqual(got, wrote) {
		t.Errorf("facts of the run\n%+v", got)
	}
	if got := all(t, s.Facts(t.Context(), "tsk_B", "run_R")); len(got) != 0 {
		t.Errorf("facts of the run in another task\n%+v", got)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("x"))
	l, err := s.Lease(t.Context(), "a test", "ses_A")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	want := []string{"captures.db", "captures.db-shm", "captures.db-wal", "lease", "overt.db", "overt.db-shm", "overt.db-wal"}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
		if info, _ := e.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
}

func TestModeIsRepaired(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overt.db")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestClosed(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), event.Batch{Scope: event.Scope{Task: "tsk_A"}, Facts: []event.Draft{{Data: text("x")}}}); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("Append: %v", err)
	}
	if _, err := s.Tasks(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("Tasks: %v", err)
	}
	for f, err := range s.Follow(t.Context(), 0) {
		t.Errorf("Follow gives %v, %v", f, err)
	}
}

func TestCancelled(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, event.Batch{Facts: []event.Draft{{Data: event.SessionEnded{}}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append: %v", err)
	}
	if facts := appendFacts(t, s, event.Scope{}, event.SessionEnded{}); facts[0].Seq != 1 || time.Since(facts[0].Time) > time.Minute {
		t.Errorf("after that: %+v", facts)
	}
}
