package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

// glance looks at a folder and gives the states of overt.db and captures.db.
func glance(t *testing.T, ctx context.Context, dir string, wait time.Duration) ([]store.Glanced, *store.HeldError) {
	t.Helper()
	seen, err := store.Glance(ctx, dir, wait)
	if err != nil || len(seen.Files) != 2 || seen.Restoring != nil {
		t.Fatal(seen, err)
	}
	return seen.Files, seen.Holder
}

// TestGlance: what is damaged, missing or fine is told, and a look leaves nothing behind.
func TestGlance(t *testing.T) {
	dir := t.TempDir()
	if files, holder := glance(t, t.Context(), filepath.Join(dir, "none"), 0); files[0].State != store.Absent || files[1].State != store.Absent || holder != nil {
		t.Errorf("no record: %+v", files)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder was made")
	}
	dir = wholeRecord(t)
	entries := func() int {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := entries()
	if files, _ := glance(t, t.Context(), dir, time.Second); files[0].State != store.Fine || files[1].State != store.Fine || files[0].Form == "" {
		t.Errorf("a record: %+v", files)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if files, _ := glance(t, ended, dir, 0); files[0].State != store.Undecided {
		t.Errorf("without time: %+v", files)
	}
	if err := os.WriteFile(filepath.Join(dir, "captures.db"), []byte("a text, and no database at all: longer than the head of a file of SQLite, which has a hundred bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, _ := glance(t, t.Context(), dir, 0); files[1].State != store.Damaged || files[1].Err == nil {
		t.Errorf("a text: %+v", files)
	}
	if entries() != before {
		t.Error("something was made")
	}
}

// TestGlanceAtARestore: one that was interrupted is seen, and one that is under way is told apart.
func TestGlanceAtARestore(t *testing.T) {
	dir := wholeRecord(t)
	if err := os.WriteFile(filepath.Join(dir, "restoring.json"), []byte(`{"from": "/b/1", "aside": "/r/aside/a", "in": ["overt.db"], "out": ["overt.db"], "files": [{"name": "overt.db"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var restoring *store.RestoringError
	if seen, err := store.Glance(t.Context(), dir, 0); err != nil || !errors.As(seen.Restoring, &restoring) || restoring.Alive || restoring.From != "/b/1" {
		t.Errorf("%+v, %v", seen, err)
	}
	if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); !errors.As(err, &restoring) || entries(t, filepath.Join(dir, "backups")) != nil {
		t.Errorf("a backup meanwhile: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "restoring.json"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	restoring = nil
	if seen, err := store.Glance(t.Context(), dir, 0); err != nil || seen.Restoring == nil || errors.As(seen.Restoring, &restoring) {
		t.Errorf("%+v, %v", seen, err)
	}
}

// TestGlanceAtOthers: who is at work is told, and is in nobody's way while a writer of moments is not taken for one that hangs.
func TestGlanceAtOthers(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, "lease", dir)
	if !out.Scan() || out.Text() != "held" {
		t.Fatal(out.Text())
	}
	files, holder := glance(t, t.Context(), dir, time.Minute)
	if holder == nil || holder.PID != cmd.Process.Pid || holder.What != "a test" || files[0].State != store.Fine {
		t.Errorf("%+v, %+v", files, holder)
	}
	dir = t.TempDir()
	_, out = start(t, "append", dir)
	for told(t, out) < event.Seq(20) {
	}
	go func() {
		for out.Scan() {
		}
	}()
	for range 5 {
		if files, _ := glance(t, t.Context(), dir, time.Minute); files[0].State != store.Fine || files[1].State != store.Fine {
			t.Errorf("beside a writer: %+v", files)
		}
	}
}
