//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// foresee says what a preview says of the next undo, with the list, of what a process that died left open.
func (b *bench) foresee() (plan *checkpoint.Plan, list []checkpoint.Entry, late []event.Fact) {
	b.t.Helper()
	ctx := context.Background()
	late, err := b.k.Unsettled(ctx, b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	kept, err := b.k.Covered(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	list, err = checkpoint.List(func(yield func(event.Fact, error) bool) {
		for f, err := range b.store.Read(ctx, event.Path{Task: task, Facts: true}) {
			if !yield(f, err) {
				return
			}
		}
		for _, f := range late {
			if !yield(f, nil) {
				return
			}
		}
	}, kept)
	if err != nil {
		b.t.Fatal(err)
	}
	targets, err := checkpoint.Choose(list, checkpoint.Wish{})
	if err != nil {
		b.t.Fatal(err)
	}
	if plan, err = b.k.Preview(ctx, targets, false); err != nil {
		b.t.Fatal(err)
	}
	return plan, list, late
}

// settled makes sure that what was foreseen of a recovery is what it records, and gives the list after it.
func (b *bench) settled(late []event.Fact) []checkpoint.Entry {
	b.t.Helper()
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		b.t.Fatal(err)
	}
	var all []event.Payload
	for f, err := range b.store.Read(context.Background(), event.Path{Task: task, Facts: true}) {
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, f.Data)
	}
	var want []event.Payload
	for _, f := range late {
		want = append(want, f.Data)
	}
	if got := all[len(all)-len(want):]; !reflect.DeepEqual(got, want) {
		b.t.Errorf("recorded was %+v, foreseen %+v", got, want)
	}
	return b.list()
}

func conflicts(list []event.Conflict) (out []string) {
	for _, c := range list {
		out = append(out, c.Path+" "+c.Why)
	}
	return out
}

func states(list []checkpoint.Entry) (out []string) {
	for _, e := range list {
		out = append(out, e.State)
	}
	return out
}

// begun records that an undo of the last change has begun, which is then left as if its process had died.
func (b *bench) begun(force bool) {
	b.t.Helper()
	ctx := context.Background()
	targets, err := checkpoint.Choose(b.list(), checkpoint.Wish{})
	if err != nil {
		b.t.Fatal(err)
	}
	plan, err := b.k.Preview(ctx, targets, force)
	if err != nil {
		b.t.Fatal(err)
	}
	b.append(b.begin(plan.Paths()...), event.UndoStarted{Targets: targets, Force: force, Paths: len(plan.Paths())})
}

// TestDeadUndo: what others have changed after an undo died is not taken for what it did: it is left alone, as what it would do says
// before, whatever it had done by then; and the rest is brought to its end.
func TestDeadUndo(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.sh("mkdir -p d/e keep; for i in 1 2 3 4 5; do echo $i > d/$i; echo $i > $i; done; echo x > d/e/f; chmod 750 d/e; echo h > h; mkdir closed; echo c > closed/c; echo g > g; ln -s h link")
	before := b.snapshot()
	b.change("rm -r d; for i in 1 2 3 4; do echo new > $i; done; chmod 700 5; rm h; mkdir h; echo x > closed/c; chmod 500 closed; rm g link; echo made > made; echo more > more")
	b.begun(false)
	// It has got so far.
	b.sh("chmod 700 closed; mkdir d d/e; chmod 755 d; chmod 700 d/e; for i in 1 2; do echo $i > d/$i; echo $i > $i; done; rmdir h; rm made")
	// Others come.
	b.sh("echo mine > d/3; echo mine > 3; echo mine > 2; rm 4; echo mine > more; mkdir g; chmod 640 5")
	here := b.snapshot()
	b.reopen(checkpoint.Options{})
	plan, list, late := b.foresee()
	if d := diff(here, b.snapshot()); d != "" {
		t.Error("to look has changed something:", d)
	}
	left := []string{"2 changed", "3 changed", "4 changed", "5 changed", "d/3 changed", "g changed", "more changed"}
	if got := conflicts(plan.Conflicts); !slices.Equal(got, left) {
		t.Errorf("it would leave %q", got)
	}
	if got := states(list); !slices.Equal(got, []string{"part", "done"}) || list[1].Tool != "undo" {
		t.Errorf("before recovery: %q, %+v", got, list)
	}
	if got := states(b.settled(late)); !slices.Equal(got, []string{"part", "done"}) {
		t.Errorf("after recovery: %q", got)
	}
	done := b.undo(checkpoint.Wish{}, false)
	if got := conflicts(done.Conflicts); !slices.Equal(got, left) || !slices.Equal(done.PutBack, plan.Restore) || !slices.Equal(done.Removed, plan.Delete) {
		t.Errorf("it left %q, did %q %q; the plan was %+v", got, done.PutBack, done.Removed, plan)
	}
	after := b.snapshot()
	for _, at := range []string{"2", "3", "d/3", "more", "g", "5", "4"} {
		if after[at] != here[at] {
			t.Errorf("%s is %q, was %q", at, after[at], here[at])
		}
		delete(before, at)
		delete(after, at)
	}
	if d := diff(before, after); d != "" {
		t.Error(d)
	}
}

// TestDeadForcedUndo: one that was to overwrite what others did has done so; what came after it stays.
func TestDeadForcedUndo(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.sh("echo 1 > a; echo 1 > b; echo 1 > c")
	b.change("echo 2 > a; echo 2 > b; echo 2 > c")
	b.sh("echo 3 > a; echo 3 > b; echo 3 > c")
	b.begun(true)
	b.sh("echo 1 > a; echo 4 > b")
	b.reopen(checkpoint.Options{})
	plan, _, late := b.foresee()
	b.settled(late)
	if got := conflicts(b.undo(checkpoint.Wish{}, false).Conflicts); !slices.Equal(got, []string{"a changed", "b changed", "c changed"}) || !slices.Equal(got, conflicts(plan.Conflicts)) {
		t.Errorf("left %q, foreseen %+v", got, plan)
	}
	b.holds("left", "a", "1")
	b.holds("left", "b", "4")
	b.holds("left", "c", "3")
	b.undo(checkpoint.Wish{}, true)
	b.undo(checkpoint.Wish{Redo: true}, false)
	b.holds("done again", "b", "4")
	b.holds("done again", "c", "3")
}

// TestDeadCommand: what changed under a command that died is foreseen as it will be found, and it is said that it may be others'.
func TestDeadCommand(t *testing.T) {
	for _, confined := range []bool{false, true} {
		o := checkpoint.Options{Watch: checkpoint.Watch{May: func(p string) bool { return strings.HasPrefix(p, "keep") }, Planted: all}}
		b := newBench(t, o)
		b.confined = confined
		b.write("a", "one")
		b.begin()
		b.sh("echo two > a; echo x > new; echo x > keep")
		here := b.snapshot()
		b.reopen(o)
		plan, list, late := b.foresee()
		if d := diff(here, b.snapshot()); d != "" {
			t.Error("to look has changed something:", d)
		}
		remove := []string{"keep", "new"}
		if confined {
			remove = remove[1:]
		}
		if !slices.Equal(plan.Restore, []string{"a"}) || !slices.Equal(plan.Delete, remove) {
			t.Errorf("confined %t: %+v", confined, plan)
		}
		if after := b.settled(late); len(list) != 1 || len(after) != 1 || !list[0].Killed || !after[0].Killed || !slices.Equal(list[0].Paths, after[0].Paths) {
			t.Errorf("confined %t: %+v, then %+v", confined, list, after)
		}
		b.undo(checkpoint.Wish{}, false)
		b.holds("undone", "a", "one")
		if _, err := os.Stat(b.root + "/new"); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}
