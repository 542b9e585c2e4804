//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
)

// below watches all that is in a folder of the workspace, and the folder.
func below(dir string) checkpoint.Options {
	in := func(path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	return checkpoint.Options{Watch: checkpoint.Watch{May: in, Planted: all}}
}

// all is a Planted that takes every change that may be.
func all(changes []event.Change, _ func(string) bool) []bool {
	return slices.Repeat([]bool{true}, len(changes))
}

// TestPutBack: what is watched is as it was before, the rest as the command left it; the checkpoint knows of the rest alone.
func TestPutBack(t *testing.T) {
	b := newBench(t, below("keep"))
	b.sh("mkdir -p keep/deep plain; echo one > keep/file; chmod 640 keep/file; ln -s file keep/link; echo one > plain/file")
	want := b.snapshot()
	id := b.begin()
	b.sh("echo two > keep/file; chmod 777 keep/file; rm keep/link; rmdir keep/deep; mkdir -p keep/new/er; echo x > keep/new/er/x; ln -sfn /etc keep/out; echo two > plain/file")
	back, left, err := b.k.PutBack(context.Background(), id)
	if err != nil || len(left) != 0 || !slices.Contains(back, "keep/new/er/x") || !slices.Contains(back, "keep/deep") {
		t.Fatal(back, left, err)
	}
	want["plain/file"] = strings.Replace(want["plain/file"], "one", "two", 1)
	if d := diff(want, b.snapshot()); d != "" {
		t.Error(d)
	}
	b.write("plain/later", "one")
	if closed := b.end(id); len(closed.Changes) != 1 || closed.Changes[0].Path != "plain/file" {
		t.Errorf("%+v", closed.Changes)
	}
	if _, outside, err := b.k.Before(context.Background(), event.Scope{Task: task}, "chk_z", nil, false, nil); err != nil || len(outside) != 1 || outside[0].Data.(event.FileChanged).Path != "plain/later" {
		t.Errorf("what came after: %+v, %v", outside, err)
	}
	if err := b.k.Drop(context.Background(), "chk_z"); err != nil {
		t.Fatal(err)
	}
}

// TestDiedInAConfinedCommand: what such a command may not make is put back also where the process died meanwhile, and only then.
func TestDiedInAConfinedCommand(t *testing.T) {
	for _, confined := range []bool{true, false} {
		b := newBench(t, below("keep"))
		b.confined = confined
		b.write("keep/file", "one")
		want := b.snapshot()
		b.begin()
		b.sh("echo two > keep/file; echo x > keep/new; echo x > plain")
		if !confined {
			want = b.snapshot()
		} else {
			want["plain"] = b.snapshot()["plain"]
		}
		b.reopen(below("keep"))
		for range 2 { // once is enough
			if err := b.k.Recover(context.Background(), b.store); err != nil {
				t.Fatal(err)
			}
		}
		if d := diff(want, b.snapshot()); d != "" {
			t.Errorf("confined %t: %s", confined, d)
		}
		closed := b.closed()
		if len(closed) != 1 || slices.Equal(closed[0].PutBack, []string{"keep/file", "keep/new"}) != confined {
			t.Errorf("confined %t: %+v", confined, closed)
		}
	}
}

// TestPutBackAmongMany: a command that makes more paths than are kept hides nothing among them.
func TestPutBackAmongMany(t *testing.T) {
	o := below("keep")
	o.Entries = 100
	o.Watch.May = func(path string) bool {
		return strings.HasPrefix(path, "keep/") || strings.HasSuffix(path, "AGENTS.md")
	}
	for _, died := range []bool{false, true} {
		b := newBench(t, o)
		b.confined = true
		b.write("keep/file", "one")
		b.write("keep/gone", "one")
		want := b.snapshot()
		id := b.begin()
		b.sh("mkdir d; for i in $(seq 200); do echo x > d/$i; done; rm keep/gone; echo two > keep/file; echo x > AGENTS.md; echo x > d/AGENTS.md")
		if died {
			b.reopen(o)
			if err := b.k.Recover(context.Background(), b.store); err != nil {
				t.Fatal(err)
			}
		} else if back, left, err := b.k.PutBack(context.Background(), id); err != nil || len(left) != 0 || len(back) != 4 {
			t.Fatal(back, left, err)
		} else if closed := b.end(id); len(closed.LeftOut) != 1 || closed.LeftOut[0].What != "many" {
			t.Errorf("%+v", closed)
		}
		b.sh("rm d/?; rm d/??; rm d/???; rmdir d") // but what was put back
		if d := diff(want, b.snapshot()); d != "" {
			t.Errorf("died %t: %s", died, d)
		}
	}
}

// TestCouldNotBePutBack: what is watched and was not kept is named, also by who goes on after a crash.
func TestCouldNotBePutBack(t *testing.T) {
	o := below("keep")
	o.File = 10
	b := newBench(t, o)
	b.confined = true
	b.write("keep/large", strings.Repeat("x", 20))
	id := b.begin()
	b.write("keep/large", strings.Repeat("y", 21))
	if back, left, err := b.k.PutBack(context.Background(), id); err != nil || len(back) != 0 || !slices.Equal(left, []string{"keep/large"}) {
		t.Errorf("%q, %q, %v", back, left, err)
	}
	b.reopen(o)
	if err := b.k.Recover(context.Background(), b.store); err != nil {
		t.Fatal(err)
	}
	closed := b.closed()
	if len(closed) != 1 || !slices.ContainsFunc(closed[0].LeftOut, func(u event.Uncovered) bool {
		return u.What == event.UncoveredPlanted && u.N == 1 && u.Paths[0] == "keep/large"
	}) {
		t.Errorf("%+v", closed)
	}
}

// TestPutBackKeeps: what is taken away is kept, since a person may have made it while the command ran; what can't be kept stays.
func TestPutBackKeeps(t *testing.T) {
	aside := t.TempDir()
	b := newBench(t, checkpoint.Options{Aside: aside, Watch: checkpoint.Watch{
		May: func(string) bool { return true }, Planted: all,
	}})
	b.write("AGENTS.md", "old")
	id := b.begin()
	b.sh("echo mine > AGENTS.md; mkdir d; echo new > d/CLAUDE.md; ln -s d l; truncate -s 70M large")
	back, left, err := b.k.PutBack(context.Background(), id)
	if err != nil || !slices.Equal(left, []string{"large"}) || len(back) != 4 {
		t.Fatal(back, left, err)
	}
	b.holds("put back", "AGENTS.md", "old")
	for path, want := range map[string]string{"AGENTS.md": "mine\n", "d/CLAUDE.md": "new\n"} {
		if got, err := os.ReadFile(filepath.Join(b.k.KeptAside(id), path)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(b.k.KeptAside(id), "l")); err != nil || to != "d" {
		t.Error(to, err)
	}
}

// TestDiedWhilePuttingBack: whoever goes on after a process that died in the middle finds what that one has set aside and written beside
// its place already, whole or in part, and puts back all the same. Nothing that is set aside is overwritten.
func TestDiedWhilePuttingBack(t *testing.T) {
	for _, many := range []bool{false, true} {
		o := below("keep")
		o.Aside = t.TempDir()
		if many {
			o.Entries = 100
		}
		b := newBench(t, o)
		b.confined = true
		b.sh("mkdir keep; for i in file part; do echo one > keep/$i; done")
		want := b.snapshot()
		id := b.begin()
		b.sh("for i in file part new under/new; do mkdir -p keep/under; echo two > keep/$i; done; ln -s a keep/same; ln -s b keep/other")
		if many {
			b.sh("mkdir d; for i in $(seq 200); do echo x > d/$i; done")
		}
		aside := b.k.KeptAside(id)
		outside := t.TempDir()
		for path, text := range map[string]string{"keep/file": "two\n", "keep/part": "tw", "keep/new": "of another moment"} {
			if err := errors.Join(os.MkdirAll(filepath.Join(aside, "keep"), 0o700), os.WriteFile(filepath.Join(aside, path), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		for path, to := range map[string]string{"keep/same": "a", "keep/other": "c", "keep/under": outside} {
			if err := os.Symlink(to, filepath.Join(aside, path)); err != nil {
				t.Fatal(err)
			}
		}
		b.write("keep/.overt-undo-0001-1", "half a conte")
		b.write("keep/.overt-undo-0001-2", "")
		b.reopen(o)
		if err := b.k.Recover(context.Background(), b.store); err != nil {
			t.Fatal(err)
		}
		b.sh("rm -rf d")
		if d := diff(want, b.snapshot()); d != "" {
			t.Errorf("many %t: %s", many, d)
		}
		if closed := b.closed(); len(closed) != 1 || slices.ContainsFunc(closed[0].LeftOut, func(u event.Uncovered) bool { return u.What == event.UncoveredPlanted }) {
			t.Errorf("%+v", closed)
		}
		for path, text := range map[string]string{
			"keep/file": "two\n", "keep/part": "tw", "keep/new": "of another moment", "again-2/keep/part": "two\n", "again-2/keep/new": "two\n", "again-2/keep/under/new": "two\n",
		} {
			if got, err := os.ReadFile(filepath.Join(aside, path)); err != nil || string(got) != text {
				t.Errorf("many %t, %s: %q, %v", many, path, got, err)
			}
		}
		if to, err := os.Readlink(filepath.Join(aside, "again-2/keep/other")); err != nil || to != "b" {
			t.Error(to, err)
		}
		for _, none := range []string{"again-2/keep/file", "again-2/keep/same", "again-3"} {
			if _, err := os.Lstat(filepath.Join(aside, none)); err == nil {
				t.Errorf("many %t: there is %s", many, none)
			}
		}
		if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
			t.Error("a link that was set aside was followed", list, err)
		}
	}
}
