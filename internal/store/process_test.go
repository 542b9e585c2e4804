package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// TestKill kills a process that appends, again and again, at moments that differ: nothing that it had told of is lost.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	last := event.Seq(0)
	for round := range 10 {
		cmd, out := start(t, "append", dir)
		for range 1 + round*7 {
			if last = told(t, out); last == 0 {
				t.Fatal("the child has ended")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for n := told(t, out); n != 0; n = told(t, out) {
			last = n
		}
		cmd.Wait()
		last = checkWhole(t, dir, last)
	}
}

// checkWhole opens a record that a process left behind and returns its last fact.
func checkWhole(t *testing.T, dir string, atLeast event.Seq) event.Seq {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := event.Seq(0)
	for _, f := range all(t, s.Read(t.Context(), event.Path{Task: "tsk_CHILD", Facts: true})) {
		if n++; f.Seq != n {
			t.Fatalf("fact %d follows %d", f.Seq, n-1)
		}
	}
	if n < atLeast || n%2 != 0 {
		t.Fatalf("the record ends with %d, the process had told of %d; batches have two facts", n, atLeast)
	}
	head, err := s.Head(t.Context(), "tsk_CHILD")
	if err != nil || head != n {
		t.Fatalf("the task stands on %d, %v; want %d", head, err, n)
	}
	for _, file := range []string{"overt.db", "captures.db"} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var verdict string
		if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
			t.Fatalf("%s: %s, %v", file, verdict, err)
		}
	}
	return n
}

// TestTwoProcesses: two processes append while a third follows; numbers have no gaps. All three make the files.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, _ := start(t, "append50", dir)
	b, _ := start(t, "append50", dir)
	s := open(t, dir)
	n, runs := event.Seq(0), map[string]int{}
	for f, err := range s.Follow(ctx, 0) {
		if n++; err != nil || f.Seq != n {
			t.Fatalf("fact %d has number %d, %v", n, f.Seq, err)
		}
		if f.Kind.Node() && f.Parent != max(0, f.Seq-2) {
			t.Fatalf("node %d has parent %d", f.Seq, f.Parent)
		}
		if runs[f.Scope.Run]++; n == 200 {
			break
		}
	}
	if err := errors.Join(a.Wait(), b.Wait()); err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || n != 200 {
		t.Errorf("%d facts of %v", n, runs)
	}
}

func TestFollow(t *testing.T) {
	s := open(t, t.TempDir())
	appendFacts(t, s, event.Scope{Task: "tsk_A"}, text("1"), text("2"), text("3"))
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan event.Seq)
	go func() {
		defer close(seen)
		for f, err := range s.Follow(ctx, 1) {
			if err != nil {
				t.Error(err)
			}
			seen <- f.Seq
		}
	}()
	expect := func(want ...event.Seq) {
		t.Helper()
		for _, w := range want {
			select {
			case got := <-seen:
				if got != w {
					t.Fatalf("got %d, want %d", got, w)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%d does not come", w)
			}
		}
	}
	expect(2, 3)
	appendFacts(t, s, event.Scope{}, event.SessionEnded{})
	expect(4)
	for range 3 * 256 {
		appendFacts(t, s, event.Scope{}, event.SessionEnded{})
	}
	for i := range 3 * 256 {
		expect(event.Seq(5 + i))
	}
	cancel()
	if _, more := <-seen; more {
		t.Error("it goes on after its context has ended")
	}
}

func TestFollowEndsWithTheStore(t *testing.T) {
	s := open(t, t.TempDir())
	began, ended := make(chan bool), make(chan error, 1)
	go func() {
		var failed error
		for _, err := range s.Follow(context.Background(), 0) {
			if failed = err; began != nil {
				close(began)
				began = nil
			}
		}
		ended <- failed
	}()
	first := began
	appendFacts(t, s, event.Scope{}, event.SessionEnded{})
	<-first
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// covers F176
func TestLease(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	l, err := s.Lease(t.Context(), "turn in tsk_A", "ses_A")
	if err != nil {
		t.Fatal(err)
	}
	var held *store.HeldError
	for _, st := range []*store.Store{s, other} {
		if _, err := st.Lease(t.Context(), "x", "ses_B"); !errors.As(err, &held) {
			t.Fatalf("got %v", err)
		}
		if held.PID != os.Getpid() || held.What != "turn in tsk_A" || held.Session != "ses_A" || time.Since(held.Since) > time.Minute {
			t.Errorf("held by %+v", held)
		}
		if !strings.Contains(held.Error(), fmt.Sprintf("workspace busy: process %d", os.Getpid())) {
			t.Error(held)
		}
	}
	if err := errors.Join(l.Release(), l.Release()); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "lease")); err != nil || len(text) != 0 {
		t.Errorf("a free lease says %q, %v", text, err)
	}
	again, err := other.Lease(t.Context(), "x", "ses_B")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestLeaseOfTheDead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	cmd, out := start(t, "lease", dir)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the child says %q", out.Text())
	}
	var held *store.HeldError
	if _, err := s.Lease(t.Context(), "x", "ses_A"); !errors.As(err, &held) || held.PID != cmd.Process.Pid || held.Session != "ses_CHILD" {
		t.Fatalf("got %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	l, err := s.Lease(t.Context(), "x", "ses_A")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestFree: readers see whether anybody is at work, and their looking never makes a lease fail.
func TestFree(t *testing.T) {
	dir := t.TempDir()
	s, reader := open(t, dir), open(t, dir)
	free := func(want bool) {
		t.Helper()
		if got, err := reader.Free(); err != nil || got != want {
			t.Errorf("free = %t, %v; want %t", got, err, want)
		}
	}
	free(true)
	l, err := s.Lease(t.Context(), "x", "ses_A")
	if err != nil {
		t.Fatal(err)
	}
	free(false)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	free(true)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				reader.Free()
			}
		}
	}()
	for range 50 {
		l, err := s.Lease(t.Context(), "x", "ses_A")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-done
}

// TestFollowAcrossStores: a follower sees every fact once and in order, whoever commits it, from memory or from the file.
func TestFollowAcrossStores(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	const n = 400
	go func() {
		for i := range n {
			s := a
			if i%7 < 3 {
				s = b
			}
			long := ""
			if i%50 == 49 {
				long = strings.Repeat("x", 300<<10) // not held in memory
			}
			s.Append(context.Background(), event.Batch{Scope: event.Scope{Task: "tsk_A", Run: "run_A"}, Facts: []event.Draft{
				{Data: event.RunStarted{}}, {Data: event.ContextTaken{Text: long}},
			}})
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want := event.Seq(1)
	for f, err := range a.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq != want {
			t.Fatalf("fact %d, want %d", f.Seq, want)
		}
		if want++; want > 2*n {
			return
		}
	}
	t.Fatalf("ended before fact %d", want)
}
