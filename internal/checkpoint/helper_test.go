//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/store"
)

// bench is a workspace with a record.
type bench struct {
	t     testing.TB
	root  string
	state string
	store *store.Store
	k     *checkpoint.Keeper
	n     int

	confined bool // what is begun is of a confined command
}

const task = "tsk_test"

func newBench(t testing.TB, o checkpoint.Options) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, root: root, state: t.TempDir()}
	t.Cleanup(func() { b.sh("chmod -R u+rwx .") })
	b.reopen(o)
	b.append(task, event.TaskCreated{Title: "t", Origin: "person"})
	return b
}

// reopen opens all anew, as another process would.
func (b *bench) reopen(o checkpoint.Options) {
	b.t.Helper()
	if b.store != nil {
		b.close()
	}
	var err error
	if b.store, err = store.Open(context.Background(), store.Options{Dir: b.state}); err != nil {
		b.t.Fatal(err)
	}
	o.Root, o.Files, o.Jobs = b.root, b.store.Files, b.store.OpenJobs
	if b.k, err = checkpoint.Open(o); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.close)
}

func (b *bench) close() {
	b.k.Close()
	b.store.Close()
}

func (b *bench) append(subject string, data ...event.Payload) {
	b.t.Helper()
	var drafts []event.Draft
	for _, d := range data {
		drafts = append(drafts, event.Draft{Subject: subject, Data: d})
	}
	if _, err := b.store.Append(context.Background(), event.Batch{Scope: event.Scope{Task: task}, Facts: drafts}); err != nil {
		b.t.Fatal(err)
	}
}

// begin opens a bracket as the dispatcher does.
func (b *bench) begin(paths ...string) string {
	b.t.Helper()
	b.n++
	id := fmt.Sprintf("chk_%04d", b.n)
	taken, outside, err := b.k.Before(context.Background(), event.Scope{Task: task}, id, paths, b.confined, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.append(id, taken)
	for _, o := range outside {
		b.append(o.Subject, o.Data)
	}
	return id
}

func (b *bench) end(id string) event.CheckpointClosed {
	b.t.Helper()
	closed, err := b.k.After(context.Background(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	b.append(id, closed)
	return closed
}

// change brackets a shell command.
func (b *bench) change(script string) event.CheckpointClosed {
	b.t.Helper()
	id := b.begin()
	b.sh(script)
	return b.end(id)
}

// sh runs a script in the workspace; how it ends does not matter.
func (b *bench) sh(script string) string {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func (b *bench) list() []checkpoint.Entry {
	b.t.Helper()
	kept, err := b.k.Covered(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := checkpoint.List(b.store.Read(context.Background(), event.Path{Task: task, Facts: true}), kept)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b *bench) undo(w checkpoint.Wish, force bool) checkpoint.Result {
	b.t.Helper()
	done, err := b.tryUndo(w, force)
	if err != nil {
		b.t.Fatal(err)
	}
	return done
}

func (b *bench) tryUndo(w checkpoint.Wish, force bool) (checkpoint.Result, error) {
	b.t.Helper()
	targets, err := checkpoint.Choose(b.list(), w)
	if err != nil {
		return checkpoint.Result{}, err
	}
	b.n++
	var done checkpoint.Result
	op := checkpoint.Undo{Keeper: b.k, ID: fmt.Sprintf("chk_%04d", b.n), Targets: targets, Redo: w.Redo, Force: force, Done: &done}
	return done, op.Apply(context.Background(), event.Scope{Task: task}, b.store)
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	p := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// snapshot is everything in the workspace but what is declared: Git's objects.
func (b *bench) snapshot() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(b.root, p)
		if rel == ".git/objects" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
			text += " " + string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " " + target
		}
		if rel != "." {
			out[rel] = text
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// diff says how two snapshots differ, "" if they do not.
func diff(want, got map[string]string) string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[p]; !ok {
			out = append(out, "missing: "+p)
		} else if g != want[p] {
			out = append(out, fmt.Sprintf("%s: %.80q, want %.80q", p, g, want[p]))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[p]; !ok {
			out = append(out, "more: "+p)
		}
	}
	return strings.Join(out[:min(len(out), 20)], "\n")
}

// closed gives what the facts say of closed checkpoints.
func (b *bench) closed() (out []event.CheckpointClosed) {
	b.t.Helper()
	for f, err := range b.store.Read(context.Background(), event.Path{Task: task, Facts: true}) {
		if err != nil {
			b.t.Fatal(err)
		}
		if c, ok := f.Data.(event.CheckpointClosed); ok {
			out = append(out, c)
		}
	}
	return out
}
