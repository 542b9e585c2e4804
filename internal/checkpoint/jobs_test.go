//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// look takes the look that comes before it is recorded that a job has ended.
func (b *bench) look(id string) []event.Draft {
	b.t.Helper()
	found, err := b.k.Jobs(context.Background(), event.Scope{}, id)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range found.Facts {
		if found.Scope.Task != task {
			b.t.Errorf("it is of task %q", found.Scope.Task)
		}
		b.append(d.Subject, d.Data)
	}
	return found.Facts
}

func (b *bench) tools() string {
	var out []string
	for _, e := range b.list() {
		out = append(out, e.Tool+":"+strings.Join(e.Paths, "+"))
	}
	return strings.Join(out, " ")
}

// TestJobsAtWork: what changes between brackets is a change of its own while a job is at work, whoever looks first, and is nobody's before
// and after.
func TestJobsAtWork(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.change("echo x > b")
	b.write("a", "mine")
	if got := b.look("chk_early"); len(got) != 0 {
		t.Errorf("without a job: %+v", got)
	}
	b.change("touch c")
	b.append("tcl_1", event.JobStarted{Job: "job_1", Command: "serve"})
	b.write("a", "job")
	b.change("touch d")
	b.write("late", "job")
	b.begin("e") // a file tool looks at its own path alone
	b.write("e", "agent")
	b.end("chk_0004")
	if got := b.look("chk_look"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	if got := b.look("chk_again"); len(got) != 0 {
		t.Errorf("again: %+v", got)
	}
	b.append("tcl_2", event.JobEnded{Job: "job_1", State: "exit 0"})
	b.write("a", "mine again")
	b.change("touch f")
	if got := b.tools(); got != ":b :c job_1:a :d :e job_1:late :f" {
		t.Error(got)
	}
	if e := b.list()[2]; e.About != "serve" || e.ID != "chk_0003.job" || e.Turn != "" || e.State != checkpoint.StateDone {
		t.Errorf("%+v", e)
	}
}

// TestJobsAreAskedForByName: no undo takes back what others may have done while a job was at work, unless that is asked for by its id, and
// then all of it that came after.
func TestJobsAreAskedForByName(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("a", "one")
	b.change("echo two > b")
	b.append("tcl_1", event.JobStarted{Job: "job_1"})
	b.write("a", "two")
	b.look("chk_first")
	b.change("echo three > b")
	b.write("a", "three")
	b.look("chk_second")
	older := b.list()[0].ID

	b.undo(checkpoint.Wish{}, false)
	b.holds("a plain undo", "b", "two")
	b.write("a", "four")
	b.look("chk_third")
	b.undo(checkpoint.Wish{Redo: true}, false) // a job's change does not stand in its way
	b.holds("a redo", "b", "three")
	b.undo(checkpoint.Wish{To: older}, false)
	b.holds("back to before an older change", "b", "")
	b.holds("which leaves what a job did", "a", "four")
	if _, err := checkpoint.Choose(b.list(), checkpoint.Wish{}); !errors.Is(err, checkpoint.ErrNothing) {
		t.Error(err)
	}
	if _, err := checkpoint.Choose(b.list(), checkpoint.Wish{Turn: true}); !errors.Is(err, checkpoint.ErrNothing) {
		t.Error(err)
	}
	b.undo(checkpoint.Wish{To: "chk_second"}, false)
	b.holds("by name, with what came after", "a", "two")
	b.undo(checkpoint.Wish{To: "chk_first"}, false)
	b.holds("by name", "a", "one")
	b.undo(checkpoint.Wish{Redo: true}, false)
	b.holds("and it can be undone", "a", "two")
}

// TestJobsAreRecorded: what was kept of a job by a process that died before it recorded it is recorded by the next one, once, whether a
// call was to follow or not.
func TestJobsAreRecorded(t *testing.T) {
	for _, call := range []bool{false, true} {
		b := newBench(t, checkpoint.Options{})
		b.change("echo x > b")
		b.append("tcl_1", event.JobStarted{Job: "job_1"})
		b.write("a", "job")
		var err error
		if call {
			_, _, err = b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil)
		} else {
			_, err = b.k.Jobs(context.Background(), event.Scope{}, "chk_z.job")
		}
		if err != nil {
			t.Fatal(err)
		}
		b.reopen(checkpoint.Options{})
		for range 2 {
			if err := b.k.Recover(context.Background(), b.store); err != nil {
				t.Fatal(err)
			}
		}
		list := b.list()
		if got := b.tools(); got != ":b job_1:a" || list[1].ID != "chk_z.job" || !slices.Equal(list[1].Jobs, []string{"job_1"}) {
			t.Errorf("call %t: %s, %+v", call, got, list)
		}
	}
}
