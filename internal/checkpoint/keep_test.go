//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// TestHiddenChanges: a change is found though size and time are as before, right after the walk too.
func TestHiddenChanges(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.write("b", "one")
	before := b.snapshot()
	closed := b.change("printf two > a; touch -r b ref; printf six > b; touch -r ref b; rm ref")
	if len(closed.Changes) != 2 {
		t.Errorf("%+v", closed.Changes)
	}
	again := b.change("printf ten > a") // within the same tick, perhaps
	if len(again.Changes) != 1 {
		t.Errorf("%+v", again.Changes)
	}
	b.undo(checkpoint.Wish{Turn: true}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestRepositoryIsCovered: an undo of a commit, a reset and a branch leaves the repository as it was.
func TestRepositoryIsCovered(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.sh("git init -q . && git add -A && git commit -qm one")
	status := func() string { return b.sh("git log --format=%s --all; git status --short; git branch --show-current") }
	b.write("a", "two")
	said := status()
	before := b.snapshot() // git has looked at its index
	b.change("git checkout -qb other && git commit -qam two && git tag v1")
	b.change("git reset -q --hard HEAD~1")
	b.undo(checkpoint.Wish{Turn: true}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
	if now := status(); now != said {
		t.Errorf("git says %q, want %q", now, said)
	}
}

// TestPrune: the oldest go until the rest fits, what is there now stays, and what can't be undone any more is said to be so.
func TestPrune(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	noise := func(n int) string { // that does not shrink
		return fmt.Sprintf("head -c 300000 /dev/urandom > r%d", n)
	}
	for i := range 8 {
		b.change(noise(i % 2))
	}
	files, err := b.store.Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	would, err := files.Prune(context.Background(), time.Time{}, 1_500_000, true)
	if err != nil || would.Checkpoints == 0 {
		t.Fatalf("%+v, %v", would, err)
	}
	if did, err := files.Prune(context.Background(), time.Time{}, 1_500_000, false); err != nil || did != would {
		t.Fatalf("%+v, want %+v, %v", did, would, err)
	}
	list := b.list()
	if list[0].State != checkpoint.StatePruned || list[7].State != checkpoint.StateDone {
		t.Errorf("%+v", list)
	}
	if _, err := b.tryUndo(checkpoint.Wish{Turn: true}, false); !errors.Is(err, checkpoint.ErrPruned) {
		t.Errorf("an undo of what was pruned: %v", err)
	}
	if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 {
		t.Errorf("%+v", done)
	}
	if _, err := files.Prune(context.Background(), time.Now().Add(time.Hour), 0, false); err != nil {
		t.Fatal(err)
	}
	before := b.snapshot()
	b.change("rm r0 r1") // what is there was kept still
	b.undo(checkpoint.Wish{}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestRoom: where not all goes in, the smallest do, and the rest is said.
func TestRoom(t *testing.T) {
	b := newBench(t, checkpoint.Options{Limits: checkpoint.Limits{Total: 1000}})
	b.write("large", strings.Repeat("x", 990))
	for i := range 5 {
		b.write(fmt.Sprintf("small%d", i), "0123456789")
	}
	id := b.begin()
	b.sh("rm *")
	closed := b.end(id)
	want := []event.Uncovered{{What: "total", N: 1, Paths: []string{"large"}}}
	if len(closed.LeftOut) != 1 || closed.LeftOut[0].What != want[0].What || !slices.Equal(closed.LeftOut[0].Paths, want[0].Paths) {
		t.Errorf("%+v", closed.LeftOut)
	}
	if got := b.k.Uncovered(nil); len(got) != 0 { // it is gone by now
		t.Errorf("%+v", got)
	}
	if done := b.undo(checkpoint.Wish{}, false); len(done.PutBack) != 5 || done.Left != 1 {
		t.Errorf("%+v", done)
	}
}

// TestSlowIsTold: who waits hears that much is to be read.
func TestSlowIsTold(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(b.root, name), make([]byte, 25<<20), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	for range 2 { // once
		if _, _, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, func(n int) { told += n }); err != nil {
			t.Fatal(err)
		}
		if err := b.k.Drop(context.Background(), "chk_z"); err != nil {
			t.Fatal(err)
		}
	}
	if told != 3 {
		t.Errorf("told of %d files", told)
	}
}

// TestStateIsNotKept: a record that lies in the workspace is not looked into.
func TestStateIsNotKept(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("state/x", "one")
	b.reopen(checkpoint.Options{State: []string{filepath.Join(b.root, "state")}})
	b.write("a", "one")
	if closed := b.change("echo two > state/x; echo two > a"); len(closed.Changes) != 1 || closed.Changes[0].Path != "a" {
		t.Errorf("%+v", closed.Changes)
	}
}

// TestOutsideInOrder: of many changes that others made, the first are told.
func TestOutsideInOrder(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.change("echo x > a")
	var want []string
	for i := range 300 {
		want = append(want, fmt.Sprintf("d%02d/f%03d", i/10, i))
		b.write(want[i], "x")
	}
	taken, outside, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil)
	if err != nil || taken.Outside != 330 || len(outside) != 50 {
		t.Fatalf("%+v, %d, %v", taken, len(outside), err)
	}
	for i, o := range outside {
		if got := o.Data.(event.FileChanged).Path; got != want[i] {
			t.Fatalf("the %dth is %s, want %s", i, got, want[i])
		}
	}
}

// TestAskedMeanwhile: who asks what is covered does not wait for a walk.
func TestAskedMeanwhile(t *testing.T) {
	var k *checkpoint.Keeper
	var asked atomic.Int64
	b := newBench(t, checkpoint.Options{Now: func() time.Time {
		if k.Whole() && len(k.Uncovered(nil)) == 0 {
			asked.Add(1)
		}
		return time.Now()
	}})
	k = b.k
	b.write("a", "one")
	b.change("echo two > a")
	if asked.Load() == 0 {
		t.Error("nobody asked")
	}
}
