//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// TestLaterEditIsAConflict: what a person changed since is left alone, everything else is taken back, and force overwrites
// it without losing it.
func TestLaterEditIsAConflict(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.write("b", "one")
	b.change("echo two > a; echo two > b; mkdir d; echo x > d/made")
	b.write("a", "mine")
	b.write("d/mine", "mine")
	done := b.undo(checkpoint.Wish{}, false)
	got := b.snapshot()
	if !strings.HasSuffix(got["a"], " mine") || !strings.HasSuffix(got["b"], " one") || !strings.HasSuffix(got["d/mine"], " mine") || got["d/made"] != "" {
		t.Errorf("after an undo: %v", got)
	}
	want := []event.Conflict{{Path: "a", Why: "changed"}, {Path: "d", Why: "not_empty"}}
	if !slices.Equal(done.Conflicts, want) || done.Left != 2 {
		t.Errorf("left %v, want %v", done.Conflicts, want)
	}
	if done = b.undo(checkpoint.Wish{}, true); !strings.HasSuffix(b.snapshot()["a"], " one") || done.Left != 1 {
		t.Errorf("with force: %v, %v", b.snapshot(), done.Conflicts)
	}
	if b.undo(checkpoint.Wish{Redo: true}, false); !strings.HasSuffix(b.snapshot()["a"], " mine") {
		t.Errorf("redo of the forced undo: %v", b.snapshot())
	}
}

// TestCountsAreTrue: an undo that removes a folder lists each path once.
func TestCountsAreTrue(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.change("mkdir -p d/e; touch d/e/1 d/e/2 d/3")
	done := b.undo(checkpoint.Wish{}, false)
	list := b.list()
	if done.UndoCompleted.Deleted != 5 || list[1].Changes != 5 || len(done.Removed) != 5 {
		t.Errorf("%+v, %+v", done, list)
	}
}

// TestManyPathsAreUndone: where there are too many for a whole walk, too, what is undone is bracketed.
func TestManyPathsAreUndone(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.change("for i in $(seq 300); do echo x > f$i; done; echo two > a")
	b.reopen(checkpoint.Options{Limits: checkpoint.Limits{Entries: 100}})
	b.write("a", "mine")
	if done := b.undo(checkpoint.Wish{}, true); done.UndoCompleted.Deleted != 300 || done.Left != 0 {
		t.Errorf("%+v", done.UndoCompleted)
	}
	if b.undo(checkpoint.Wish{Redo: true}, false); !strings.HasSuffix(b.snapshot()["a"], " mine") {
		t.Errorf("%q", b.snapshot()["a"])
	}
}

// TestClosedFile: a file that a command closed to its owner is opened again, and what it holds stays.
func TestClosedFile(t *testing.T) {
	late := func() time.Time { return time.Now().Add(time.Hour) } // so that nothing is new
	b := newBench(t, checkpoint.Options{Now: late})
	b.write("a", "one")
	before := b.snapshot()
	b.change("chmod 000 a")
	if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 {
		t.Errorf("%+v", done)
	}
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestWishes: one change, all of it back to a point, and nothing that was undone before.
func TestWishes(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "0")
	states := []map[string]string{b.snapshot()}
	for _, s := range []string{"echo 1 > a", "echo 2 > a; echo 2 > b", "echo 3 > b"} {
		b.change(s)
		states = append(states, b.snapshot())
	}
	list := b.list()
	if len(list) != 3 || list[1].Changes != 2 || list[0].State != checkpoint.StateDone {
		t.Fatalf("%+v", list)
	}
	b.undo(checkpoint.Wish{To: list[1].ID}, false)
	if d := diff(states[1], b.snapshot()); d != "" {
		t.Errorf("back to the second: %s", d)
	}
	b.undo(checkpoint.Wish{Redo: true}, false)
	if d := diff(states[3], b.snapshot()); d != "" {
		t.Errorf("redo: %s", d)
	}
	b.undo(checkpoint.Wish{Turn: true}, false) // all have no turn here, so it is one
	if d := diff(states[0], b.snapshot()); d != "" {
		t.Errorf("the whole turn: %s", d)
	}
	if _, err := b.tryUndo(checkpoint.Wish{}, false); !errors.Is(err, checkpoint.ErrNothing) {
		t.Errorf("a fourth undo: %v", err)
	}
	var none *checkpoint.NoChangeError
	if _, err := b.tryUndo(checkpoint.Wish{To: "chk_x"}, false); !errors.As(err, &none) {
		t.Errorf("an unknown one: %v", err)
	}
	b.change("echo new > c")
	if _, err := b.tryUndo(checkpoint.Wish{Redo: true}, false); !errors.Is(err, checkpoint.ErrNoRedo) {
		t.Errorf("redo after a change: %v", err)
	}
}

// TestNamedPaths: a file tool's bracket reads what it names and the folders above, and the folders that it made go again.
func TestNamedPaths(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("other", "x")
	before := b.snapshot()
	id := b.begin("x/y/new.txt")
	b.write("x/y/new.txt", "new")
	closed := b.end(id)
	if len(closed.Changes) != 3 || closed.Changes[2].Op != "create" || closed.Changes[0].Type != "folder" {
		t.Errorf("%+v", closed)
	}
	b.write("other", "y") // nobody's business
	if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 || !slices.Contains(done.Removed, "x/y/new.txt") {
		t.Errorf("%+v", done)
	}
	b.write("other", "x")
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestOutsideChangesAreTold: what changed while nobody was at work is recorded, and is nobody's to undo.
func TestOutsideChangesAreTold(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.change("echo x > b")
	b.write("a", "mine")
	if err := os.Remove(filepath.Join(b.root, "b")); err != nil {
		t.Fatal(err)
	}
	taken, outside, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil)
	if err != nil || taken.Outside != 2 || len(outside) != 2 || outside[0].Data.(event.FileChanged).By != "outside" {
		t.Fatalf("%+v %+v %v", taken, outside, err)
	}
	if err := b.k.Drop(context.Background(), "chk_z"); err != nil {
		t.Error(err)
	}
}

// TestOddThings: pipes are never opened, links never followed, large files are said, and the rest is covered.
func TestOddThings(t *testing.T) {
	b := newBench(t, checkpoint.Options{Limits: checkpoint.Limits{File: 5 << 20}})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "far"), []byte("far"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.root, "out")); err != nil {
		t.Fatal(err)
	}
	b.write("large", strings.Repeat("x", 6<<20))
	b.write("beside", strings.Repeat("y", 4<<20+1)) // has a file of its own in the store
	before := b.snapshot()
	id := b.begin()
	b.sh("rm beside large out; mkdir out; echo near > out/far")
	closed := b.end(id)
	if len(closed.LeftOut) != 1 || closed.LeftOut[0].What != "large" || closed.LeftOut[0].Paths[0] != "large" {
		t.Errorf("left out: %+v", closed.LeftOut)
	}
	done := b.undo(checkpoint.Wish{}, false)
	if want := []event.Conflict{{Path: "large", Why: "not_kept"}}; !slices.Equal(done.Conflicts, want) {
		t.Errorf("left %v", done.Conflicts)
	}
	delete(before, "large")
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
	if data, _ := os.ReadFile(filepath.Join(outside, "far")); string(data) != "far" {
		t.Errorf("outside: %q", data)
	}
}

// TestSwappedFolder: a folder that is swapped for a link before an undo leads it nowhere.
func TestSwappedFolder(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.write("d/f", "ours")
	b.write("e/f", "ours")
	b.change("echo changed > d/f; rm e/f")
	b.sh("rm -rf d e; ln -s '" + outside + "' d; ln -s '" + outside + "' e")
	for _, force := range []bool{false, true} {
		if done := b.undo(checkpoint.Wish{}, force); done.Restored+done.Deleted != 0 || done.Left != 2 {
			t.Errorf("force %t: %+v", force, done)
		}
	}
	entries, err := os.ReadDir(outside)
	if data, _ := os.ReadFile(filepath.Join(outside, "f")); err != nil || len(entries) != 1 || string(data) != "theirs" {
		t.Errorf("outside: %v %q %v", entries, data, err)
	}
}

// TestHomeIsNotKept: neither a home folder nor what it lies in is walked; what a file tool names is covered all the same.
func TestHomeIsNotKept(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("me/a", "one")
	b.reopen(checkpoint.Options{Home: filepath.Join(b.root, "me")})
	taken, _, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil)
	if err != nil || len(taken.Uncovered) != 1 || taken.Uncovered[0].What != "home" {
		t.Fatalf("%+v %v", taken, err)
	}
	if _, err := b.k.After(context.Background(), "chk_z"); err != nil {
		t.Fatal(err)
	}
	id := b.begin("me/a")
	b.write("me/a", "two")
	b.end(id)
	if b.undo(checkpoint.Wish{}, false); !strings.HasSuffix(b.snapshot()["me/a"], " one") {
		t.Errorf("%v", b.snapshot())
	}
}

// TestTooMany: a workspace with more paths than are kept is said to be so, and commands are not held up.
func TestTooMany(t *testing.T) {
	b := newBench(t, checkpoint.Options{Limits: checkpoint.Limits{Entries: 10}})
	for i := range 20 {
		b.write("d/"+strings.Repeat("x", i+1), "")
	}
	taken, _, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil)
	if err != nil || len(taken.Uncovered) != 1 || taken.Uncovered[0].What != "many" {
		t.Fatalf("%+v %v", taken, err)
	}
	if err := b.k.Drop(context.Background(), "chk_z"); err != nil {
		t.Fatal(err)
	}
}

// TestDiedInACommand: what a command had done when its process died can be taken back.
func TestDiedInACommand(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	before := b.snapshot()
	b.begin()
	b.sh("echo half > a; echo half > b")
	b.reopen(checkpoint.Options{})
	if !b.store.FilesMarked() {
		t.Fatal("nothing says that a checkpoint may be open")
	}
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if b.store.FilesMarked() {
		t.Error("the note is there still")
	}
	if list := b.list(); len(list) != 1 || list[0].Changes != 2 {
		t.Fatalf("%+v", list)
	}
	b.undo(checkpoint.Wish{}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestCouldNotBeClosed: what could not be kept after a command is looked for at the next start, though this one goes on.
func TestCouldNotBeClosed(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	id := b.begin()
	b.sh("echo two > a")
	b.store.Close()
	if _, err := b.k.After(context.Background(), id); err == nil {
		t.Fatal("it was closed in a closed store")
	}
	if err := b.k.Settle(); err != nil {
		t.Fatal(err)
	}
	b.reopen(checkpoint.Options{})
	if !b.store.FilesMarked() {
		t.Fatal("nothing says that a checkpoint is open")
	}
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if b.undo(checkpoint.Wish{}, false); !strings.HasSuffix(b.snapshot()["a"], " one") {
		t.Errorf("%v", b.snapshot())
	}
}

// TestDiedBeforeTheFact: a checkpoint that was closed without a fact gets it, and one that was never recorded goes.
func TestDiedBeforeTheFact(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	id := b.begin()
	b.sh("echo two > a")
	if _, err := b.k.After(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	b.reopen(checkpoint.Options{})
	for range 2 { // once is enough
		if err := b.k.Recover(context.Background(), b.store); err != nil {
			t.Fatal(err)
		}
	}
	if list := b.list(); len(list) != 1 || list[0].Paths[0] != "a" {
		t.Fatalf("%+v", list)
	}
	if _, _, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_never", nil, false, nil); err != nil {
		t.Fatal(err)
	}
	b.reopen(checkpoint.Options{})
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if kept, err := b.k.Covered(context.Background()); err != nil || kept["chk_never"] || len(kept) != 1 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// TestErased: nothing of what an erased task wrote is left in the files of the record.
func TestErased(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	const secret = "VERY-SPECIAL-TEXT-0123456789"
	b.write("a", "one")
	b.change("echo " + secret + " > a; head -c 5000000 /dev/zero > big; echo " + secret + " >> big")
	b.change("echo three > a; rm big")
	if _, err := b.store.Erase(context.Background(), event.Batch{Scope: event.Scope{Task: task}}, "person"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(b.state, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s has it still", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(b.state, "objects")); len(left) != 0 {
		t.Errorf("%d objects are left", len(left))
	}
	before := b.snapshot()
	b.change("echo four > a") // what is there was read anew
	b.undo(checkpoint.Wish{}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
}

// TestFolderThatMayNotBeEntered: what lies in a folder that may be listed and not entered is not taken for deleted, whether all of
// the workspace is looked at or what is named, and also not by who goes on after a crash.
func TestFolderThatMayNotBeEntered(t *testing.T) {
	if asNobody(t) { // root may enter
		return
	}
	for _, paths := range [][]string{nil, {"d/e/f"}} {
		for _, died := range []bool{false, true} {
			b := newBench(t, checkpoint.Options{})
			b.write("d/e/f", "one")
			b.write("d/g", "one")
			before := b.snapshot()
			id := b.begin(paths...)
			b.sh("chmod 600 d")
			if died {
				b.reopen(checkpoint.Options{})
				if err := b.k.Recover(context.Background(), b.store); err != nil {
					t.Fatal(err)
				}
			} else {
				b.end(id)
			}
			closed := b.closed()
			if len(closed) != 1 || len(closed[0].Changes) != 1 || closed[0].Changes[0].Path != "d" || closed[0].Changes[0].Op != "mode" {
				t.Errorf("%v, died %t: %+v", paths, died, closed)
			}
			if got := b.k.Uncovered(nil); paths == nil && !died && (len(got) != 1 || got[0].What != "unreadable") {
				t.Errorf("%+v", got)
			}
			b.undo(checkpoint.Wish{}, false)
			if d := diff(before, b.snapshot()); d != "" {
				t.Error(d)
			}
		}
	}
}

// TestUnkeptChangeIsNotPassedOver: a change of which nothing was kept is listed, and an undo stops at it instead of taking an older
// one back; who names an older one gets what is kept.
func TestUnkeptChangeIsNotPassedOver(t *testing.T) {
	few := checkpoint.Options{Limits: checkpoint.Limits{Entries: 10}}
	for name, unkept := range map[string]func(b *bench) string{
		"home": func(b *bench) string {
			b.reopen(checkpoint.Options{Home: b.root})
			b.change("echo x > b")
			return "home"
		},
		"many from the beginning": func(b *bench) string {
			b.sh("mkdir d; for i in $(seq 20); do echo x > d/$i; done")
			b.change("echo x > b")
			return "many"
		},
		"many at the end": func(b *bench) string {
			b.change("mkdir d; for i in $(seq 20); do echo x > d/$i; done")
			return "many"
		},
	} {
		b := newBench(t, few)
		b.write("a", "one")
		b.change("echo two > a")
		why := unkept(b)
		list := b.list()
		if len(list) != 2 || list[1].State != checkpoint.StatePruned || list[1].Uncovered[0].What != why {
			t.Fatalf("%s: %+v", name, list)
		}
		for _, w := range []checkpoint.Wish{{}, {Turn: true}, {To: list[1].ID}} {
			if _, err := b.tryUndo(w, false); !errors.Is(err, checkpoint.ErrUnkept) {
				t.Errorf("%s: %+v: %v", name, w, err)
			}
		}
		if got := b.snapshot()["a"]; !strings.HasSuffix(got, "two\n") {
			t.Errorf("%s: %q", name, got)
		}
		b.undo(checkpoint.Wish{To: list[0].ID}, false)
		if got := b.snapshot()["a"]; !strings.HasSuffix(got, " one") {
			t.Errorf("%s: back to the first: %q", name, got)
		}
	}
}

// TestUndoStaysInItsBracket: what comes up while an undo begins is not covered by it, and so is left alone.
func TestUndoStaysInItsBracket(t *testing.T) {
	var b *bench
	armed := false
	b = newBench(t, checkpoint.Options{Now: func() time.Time {
		if armed { // the undo has looked, and is about to begin
			armed = false
			b.write("a", "two")
		}
		return time.Now()
	}})
	b.write("a", "one")
	b.write("b", "one")
	b.change("printf two > a; printf two > b")
	b.write("a", "one")
	armed = true
	done := b.undo(checkpoint.Wish{}, false)
	if want := []event.Conflict{{Path: "a", Why: "changed"}}; !slices.Equal(done.Conflicts, want) || done.Left != 1 || !slices.Equal(done.PutBack, []string{"b"}) {
		t.Errorf("%+v", done)
	}
	if got := b.snapshot(); !strings.HasSuffix(got["a"], " two") || !strings.HasSuffix(got["b"], " one") {
		t.Errorf("%v", got)
	}
	if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 || !slices.Equal(done.PutBack, []string{"a"}) {
		t.Errorf("once more: %+v", done)
	}
}

// TestDrop: a bracket under which nothing happened goes though the caller was stopped, and one that can't go is looked for at the
// next start.
func TestDrop(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	stopped, stop := context.WithCancel(context.Background())
	stop()
	id := b.begin()
	if err := b.k.Drop(stopped, id); err != nil {
		t.Fatal(err)
	}
	files, err := b.store.Files(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if left, err := files.Unsettled(context.Background()); err != nil || len(left) != 0 {
		t.Errorf("%+v, %v", left, err)
	}
	id = b.begin()
	b.store.Close()
	if err := b.k.Drop(context.Background(), id); err == nil {
		t.Fatal("it was dropped in a closed store")
	}
	if err := b.k.Settle(); err != nil {
		t.Fatal(err)
	}
	b.reopen(checkpoint.Options{})
	if !b.store.FilesMarked() {
		t.Error("nothing says that a checkpoint is open")
	}
}

// TestHugeFiles: a file of which nothing is kept is not read to tell that it can't be taken back, and who is stopped reads no further.
func TestHugeFiles(t *testing.T) {
	const huge = 1 << 40
	b := newBench(t, checkpoint.Options{})
	b.write("grown", "one")
	id := b.begin()
	b.write("grown", "two")
	b.write("made", "")
	if err := os.Truncate(filepath.Join(b.root, "made"), huge); err != nil {
		t.Skip("no room for a sparse file:", err)
	}
	b.end(id)
	stopped, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	p, err := b.k.Preview(stopped, []string{id}, false)
	if err != nil || len(p.Restore) != 1 || len(p.Conflicts) != 1 || p.Conflicts[0].Path != "made" {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.Truncate(filepath.Join(b.root, "grown"), huge); err != nil {
		t.Fatal(err)
	}
	stopped, stop = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if _, err := b.k.Preview(stopped, []string{id}, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped: %v", err)
	}
}
