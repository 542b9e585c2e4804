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

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// states gives the states of the changes and undos, in order.
func (b *bench) states() string {
	var out []string
	for _, e := range b.list() {
		out = append(out, e.State)
	}
	return strings.Join(out, " ")
}

func (b *bench) holds(what, name, content string) {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil && content != "" || strings.TrimSpace(string(data)) != content {
		b.t.Errorf("%s: %s holds %q (%v), want %q", what, name, data, err, content)
	}
}

// TestUndoAfterRedo: the next undo takes back the redo, from its own checkpoint: what a forced redo overwrote comes back.
func TestUndoAfterRedo(t *testing.T) {
	for name, wish := range map[string]func(b *bench) checkpoint.Wish{
		"the last":      func(*bench) checkpoint.Wish { return checkpoint.Wish{} },
		"the turn":      func(*bench) checkpoint.Wish { return checkpoint.Wish{Turn: true} },
		"to the redo":   func(b *bench) checkpoint.Wish { return checkpoint.Wish{To: b.list()[2].ID} },
		"to the change": func(b *bench) checkpoint.Wish { return checkpoint.Wish{To: b.list()[0].ID} },
	} {
		b := newBench(t, checkpoint.Options{})
		b.write("a", "v1")
		b.change("echo v2 > a")
		b.undo(checkpoint.Wish{}, false)
		b.holds(name, "a", "v1")
		b.write("a", "me")
		b.undo(checkpoint.Wish{Redo: true}, true)
		b.holds(name, "a", "v2")
		b.undo(wish(b), false)
		b.holds(name, "a", "me")
		if got := b.states(); got != "undone done undone done" {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := b.tryUndo(checkpoint.Wish{}, false); !errors.Is(err, checkpoint.ErrNothing) {
			t.Errorf("%s: once more: %v", name, err)
		}
		b.undo(checkpoint.Wish{Redo: true}, false)
		b.holds(name, "a", "v2")
	}
}

// TestToPassesRedosOfOthers: back to before a change leaves older ones, though they were done again later.
func TestToPassesRedosOfOthers(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.change("echo 1 > a")
	b.change("echo 2 > b")
	for _, redo := range []bool{false, false, true, true} {
		b.undo(checkpoint.Wish{Redo: redo}, false)
	}
	b.undo(checkpoint.Wish{To: b.list()[1].ID}, false)
	b.holds("to the second", "a", "1")
	b.holds("to the second", "b", "")
}

// TestRedoInPart: what a redo did before it met a later edit is listed as done in part, and can be taken back.
func TestRedoInPart(t *testing.T) {
	for name, w := range map[string]checkpoint.Wish{"the last": {}, "the turn": {Turn: true}} {
		b := newBench(t, checkpoint.Options{})
		b.write("a", "one")
		b.write("b", "one")
		b.change("echo two > a; rm b")
		b.undo(checkpoint.Wish{}, false)
		b.write("a", "mine")
		if done := b.undo(checkpoint.Wish{Redo: true}, false); done.Left != 1 || done.Deleted != 1 {
			t.Errorf("%s: %+v", name, done)
		}
		if got := b.states(); got != "part part done" {
			t.Errorf("%s: %s", name, got)
		}
		if done := b.undo(w, false); done.Left != 0 {
			t.Errorf("%s: %+v", name, done)
		}
		b.holds(name, "b", "one")
		b.holds(name, "a", "mine")
		if got := b.states(); got != "undone done undone done" {
			t.Errorf("%s: %s", name, got)
		}
		b.undo(checkpoint.Wish{Redo: true}, false)
		b.undo(checkpoint.Wish{Redo: true}, true) // the rest of it
		b.holds(name, "a", "two")
		if b.undo(w, false); !w.Turn {
			b.undo(w, false) // each redo by itself
		}
		b.holds(name, "a", "mine")
		b.holds(name, "b", "one")
	}
}

// TestUndoOfInterruptedRedo: what a redo did before its process died is taken back as it was.
func TestUndoOfInterruptedRedo(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.write("b", "one")
	before := b.snapshot()
	b.change("rm a b")
	b.undo(checkpoint.Wish{}, false)
	targets, err := checkpoint.Choose(b.list(), checkpoint.Wish{Redo: true})
	if err != nil {
		t.Fatal(err)
	}
	id := b.begin("a", "b")
	b.append(id, event.UndoStarted{Targets: targets, Redo: true, Paths: 2})
	b.sh("rm a")
	b.reopen(checkpoint.Options{})
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if got := b.states(); got != "part part done" {
		t.Error(got)
	}
	b.undo(checkpoint.Wish{}, false)
	if d := diff(before, b.snapshot()); d != "" {
		t.Error(d)
	}
	if got := b.states(); got != "undone done undone done" {
		t.Error(got)
	}
}

// TestUndoIsNotHeldUp: what was never kept is named once, and what has something of others in it is left; neither bars the way to
// older changes.
func TestUndoIsNotHeldUp(t *testing.T) {
	for name, c := range map[string]struct{ change, then, state, again string }{
		"pipe, too":  {"rm pipe; echo 2 > b", "", "undone", "done"},
		"pipe alone": {"rm pipe", "", "left", ""},
		"large":      {"head -c 2000 /dev/zero > large; echo 2 > b", "", "undone", "done"},
		"folder":     {"mkdir d; echo 2 > b", "echo mine > d/mine", "part", "done"},
		"its folder": {"mkdir d", "echo mine > d/mine", "left", ""},
	} {
		b := newBench(t, checkpoint.Options{Limits: checkpoint.Limits{File: 1000}})
		if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		b.write("a", "one")
		b.change("echo two > a")
		b.change(c.change)
		b.sh(c.then)
		if done := b.undo(checkpoint.Wish{}, false); done.Left != 1 {
			t.Errorf("%s: %+v", name, done)
		}
		if got := b.list()[1].State; got != c.state {
			t.Errorf("%s: it is %s, want %s", name, got, c.state)
		}
		if c.again != "" {
			if done := b.undo(checkpoint.Wish{Redo: true}, false); done.Left != 0 {
				t.Errorf("%s: redo: %+v", name, done)
			}
			b.holds(name, "b", "2")
			if got := b.list()[1].State; got != c.again {
				t.Errorf("%s: after a redo it is %s, want %s", name, got, c.again)
			}
			b.undo(checkpoint.Wish{}, false)
		}
		if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 {
			t.Errorf("%s: %+v", name, done)
		}
		b.holds(name, "a", "one")
	}
}

// TestUndoIsUnsure: a file that a change made too large can be brought back with force, and is asked for until it is.
func TestUndoIsUnsure(t *testing.T) {
	b := newBench(t, checkpoint.Options{Limits: checkpoint.Limits{File: 1000}})
	b.write("a", "one")
	b.change("head -c 2000 /dev/zero > a; touch made")
	if done := b.undo(checkpoint.Wish{}, false); len(done.Conflicts) != 1 || done.Conflicts[0].Why != "unsure" {
		t.Errorf("%+v", done)
	}
	if got := b.list()[0].State; got != "part" {
		t.Error(got)
	}
	b.undo(checkpoint.Wish{}, true)
	b.holds("with force", "a", "one")
}

// TestPrunedIsUndone: of a change that was undone nothing else is said once it is not kept any more.
func TestPrunedIsUndone(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.change("echo 1 > a")
	b.undo(checkpoint.Wish{}, false)
	list, err := checkpoint.List(b.store.Read(context.Background(), event.Path{Task: task, Facts: true}), nil)
	if err != nil || list[0].State != checkpoint.StateUndone || list[1].State != checkpoint.StatePruned {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := checkpoint.Choose(list, checkpoint.Wish{}); !errors.Is(err, checkpoint.ErrNothing) {
		t.Error(err)
	}
}

// TestRedoOfAPipe: a pipe that a redo can't make again is named, and what else the redo did is done, and can be taken back.
func TestRedoOfAPipe(t *testing.T) {
	for _, script := range []string{"mkfifo p; rm b", "mkfifo p"} {
		b := newBench(t, checkpoint.Options{})
		b.write("b", "one")
		b.change("echo old > a")
		before := b.snapshot()
		b.change(script)
		after := b.snapshot()
		delete(after, "p")
		b.undo(checkpoint.Wish{}, false)
		if done := b.undo(checkpoint.Wish{Redo: true}, false); done.Left != 1 || done.Conflicts[0].Why != "not_kept" {
			t.Errorf("%s: %+v", script, done)
		}
		if d := diff(after, b.snapshot()); d != "" || b.list()[1].State != checkpoint.StateDone {
			t.Errorf("%s: %s %s", script, d, b.states())
		}
		b.undo(checkpoint.Wish{}, false)
		if d := diff(before, b.snapshot()); d != "" || b.list()[1].State != checkpoint.StateUndone {
			t.Errorf("%s: %s %s", script, d, b.states())
		}
		b.undo(checkpoint.Wish{}, false)
		b.holds(script, "a", "")
	}
}

// TestReopened: a file that a folder stands in the place of, with something new in it, comes back by the id of the change once
// that is out of the way, also after a forced undo.
func TestReopened(t *testing.T) {
	for name, c := range map[string]struct {
		gone  string
		force bool
	}{
		"the folder is gone":          {"rm -r notes", true},
		"the folder is empty":         {"rm notes/mine", false},
		"something else stands there": {"rm -r notes; echo me > notes", true},
	} {
		for _, first := range []bool{false, true} {
			b := newBench(t, checkpoint.Options{})
			b.write("notes", "precious")
			b.change("rm notes; mkdir notes; echo x > notes/one")
			id := b.list()[0].ID
			b.sh("echo mine > notes/mine")
			if done := b.undo(checkpoint.Wish{}, first); done.Left != 1 {
				t.Errorf("%s: %+v", name, done)
			}
			b.sh(c.gone)
			if done := b.undo(checkpoint.Wish{To: id}, c.force); done.Left != 0 {
				t.Errorf("%s, force %t before: %+v", name, first, done)
			}
			b.holds(name, "notes", "precious")
		}
	}
}

// TestForeseen: what is said beforehand of an undo is what it does, also of what stands in its way.
func TestForeseen(t *testing.T) {
	for name, c := range map[string]struct{ change, then, left string }{
		"a folder with something new":     {"mkdir d; echo x > d/x", "echo mine > d/mine", "d not_empty"},
		"folders below one another":       {"mkdir -p d/e/f; echo x > d/e/f/x", "echo mine > d/e/mine", "d not_empty, d/e not_empty"},
		"a folder with a later edit":      {"mkdir d; echo x > d/x; echo two > a", "echo mine > d/x", "d/x changed, d not_empty"},
		"a folder in the place of a file": {"rm a; mkdir a; echo x > a/x", "echo mine > a/mine", "a not_empty"},
		"a file in the place of a folder": {"rm -r old", "echo mine > old", "old changed, old/deep blocked, old/deep/x blocked, old/x blocked"},
		"no folder above":                 {"rm old/deep/x", "rmdir old/deep", "old/deep/x blocked"},
		"a link above":                    {"rm old/deep/x", "rmdir old/deep; ln -s / old/deep", "old/deep/x blocked"},
		"nothing":                         {"rm -r old; mkdir -p n/m; echo x > n/m/x; rm a; mkdir a", "", ""},
		"a folder closed to us":           {"mkdir d; echo x > d/x; chmod 0 d", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, force := range []bool{false, true} {
				b := newBench(t, checkpoint.Options{})
				b.sh("echo one > a; mkdir -p old/deep; echo 1 > old/x; echo 1 > old/deep/x")
				b.change(c.change)
				b.sh(c.then)
				targets, err := checkpoint.Choose(b.list(), checkpoint.Wish{})
				if err != nil {
					t.Fatal(err)
				}
				plan, err := b.k.Preview(context.Background(), targets, force)
				if err != nil {
					t.Fatal(err)
				}
				var left []string
				for _, c := range plan.Conflicts {
					left = append(left, c.Path+" "+c.Why)
				}
				if got := strings.Join(left, ", "); got != c.left && !force {
					t.Errorf("it is said that left are %q, want %q", got, c.left)
				}
				done := b.undo(checkpoint.Wish{}, force)
				if !slices.Equal(plan.Conflicts, done.Conflicts) || len(plan.Restore) != done.Restored || len(plan.Delete) != done.Deleted {
					t.Errorf("force %t: it was said %v, %q, %q; it did %+v", force, plan.Conflicts, plan.Restore, plan.Delete, done)
				}
			}
		})
	}
}
