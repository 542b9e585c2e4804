//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/store"
)

// TestMain is also the other process of tests that need one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("CHECKPOINT_TEST"); mode != "" {
		fmt.Println(other(mode, os.Getenv("CHECKPOINT_ROOT"), os.Getenv("CHECKPOINT_STATE")))
		return
	}
	os.Exit(m.Run())
}

// other does one thing and says how it went.
func other(mode, root, state string) error {
	if mode != "undo" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 6 << 20, Max: 6 << 20} // a write beyond fails, as one on a full disk does
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
	}
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: state})
	if err != nil {
		return err
	}
	defer s.Close()
	k, err := checkpoint.Open(checkpoint.Options{Root: root, Files: s.Files})
	if err != nil {
		return err
	}
	if mode == "full before" {
		_, _, err := k.Before(ctx, event.Scope{Task: task}, "chk_full", nil, false, nil)
		var keep *checkpoint.KeepError
		if !errors.As(err, &keep) {
			return fmt.Errorf("no refusal: %v", err)
		}
		return err
	}
	kept, err := k.Covered(ctx)
	if err != nil {
		return err
	}
	list, err := checkpoint.List(s.Read(ctx, event.Path{Task: task, Facts: true}), kept)
	if err != nil {
		return err
	}
	targets, err := checkpoint.Choose(list, checkpoint.Wish{})
	if err != nil {
		return err
	}
	op := checkpoint.Undo{Keeper: k, ID: os.Getenv("CHECKPOINT_ID"), Targets: targets, Done: new(checkpoint.Result)}
	return op.Apply(ctx, event.Scope{Task: task}, s)
}

// start starts the other process on the workspace, whose record must be closed.
func (b *bench) start(mode string) (*exec.Cmd, *strings.Builder) {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	b.n++
	cmd.Env = append(os.Environ(), fmt.Sprintf("CHECKPOINT_ID=chk_%04d", b.n), "CHECKPOINT_TEST="+mode, "CHECKPOINT_ROOT="+b.root, "CHECKPOINT_STATE="+b.state)
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return cmd, out
}

// TestKilledUndo: an undo that is killed at any moment leaves a tree that another undo brings to its end, and nothing
// beside it.
func TestKilledUndo(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	for i := range 400 {
		b.write(fmt.Sprintf("d%d/f%d", i%20, i), fmt.Sprintf("file %d", i))
	}
	b.sh("chmod 2750 d3; chmod 550 d7")
	before := b.snapshot()
	b.change("for f in d*/*; do echo changed > $f; done; chmod 700 d7; rm -rf d3 d7; mkdir more; for i in $(seq 200); do echo x > more/$i; done")
	after := b.snapshot()
	for round, halfway := range []func() bool{
		func() bool { return true },
		func() bool { return exists(b.root, "d0/.overt-undo-*") },
		func() bool { return !exists(b.root, "more/200") },
		func() bool { return exists(b.root, "d3") },
		func() bool { return exists(b.root, "d7/f387") },
	} {
		b.close()
		cmd, _ := b.start("undo")
		for deadline := time.Now().Add(20 * time.Second); !halfway() && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		b.store = nil
		b.reopen(checkpoint.Options{})
		if b.store.FilesMarked() {
			if err := b.k.Recover(context.Background(), b.store); err != nil {
				t.Fatal(err)
			}
		}
		if done, err := b.tryUndo(checkpoint.Wish{}, false); err != nil && !errors.Is(err, checkpoint.ErrNothing) || done.Left > 0 {
			t.Fatalf("round %d: %+v, %v", round, done, err)
		}
		if d := diff(before, b.snapshot()); d != "" {
			t.Fatalf("round %d: %s", round, d)
		}
		b.change("for f in d*/*; do echo changed > $f; done; chmod 700 d7; rm -rf d3 d7; mkdir more; for i in $(seq 200); do echo x > more/$i; done")
		if d := diff(after, b.snapshot()); d != "" {
			t.Fatal(d)
		}
	}
}

// TestFullDisk: where there is no room for what is there, nothing is bracketed; where there is none for what is to come back,
// nothing is changed.
func TestFullDisk(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("large", strings.Repeat("0123456789abcdef", 8<<20/16))
	b.write("small", "one")
	b.change("rm large; echo two > small")
	after := b.snapshot()
	b.close()
	cmd, out := b.start("full undo")
	cmd.Wait()
	if !strings.Contains(out.String(), "nothing was undone") {
		t.Errorf("it says %s", out)
	}
	if d := diff(after, b.snapshot()); d != "" {
		t.Error(d)
	}
	b.write("larger", strings.Repeat("fedcba9876543210", 8<<20/16))
	cmd, out = b.start("full before")
	cmd.Wait()
	if !strings.Contains(out.String(), "file too large") {
		t.Errorf("it says %s", out)
	}
	b.store = nil
	b.reopen(checkpoint.Options{})
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if done := b.undo(checkpoint.Wish{}, false); done.Left != 0 || !exists(b.root, "large") {
		t.Errorf("once there is room: %+v", done)
	}
}

// exists tells whether there is a path that matches.
func exists(root, glob string) bool {
	found, err := filepath.Glob(filepath.Join(root, glob))
	return err == nil && len(found) > 0
}

// TestKilledWriteIsCleared: what a file tool that was killed has written beside its place goes when its checkpoint is closed.
func TestKilledWriteIsCleared(t *testing.T) {
	b := newBench(t, checkpoint.Options{})
	b.write("d/a", "one")
	b.begin("d/a")
	b.write("d/.a.overt-12345-0.tmp", "half")
	b.write("d/.a.overt-x-0.tmp", "a person's")
	b.reopen(checkpoint.Options{})
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	if exists(b.root, "d/.a.overt-12345-0.tmp") || !exists(b.root, "d/.a.overt-x-0.tmp") {
		t.Error("the wrong one is gone, or none")
	}
}
