package store_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"overt/internal/event"
	"overt/internal/store"
)

// TestRestoreAny: whatever was recorded comes back, and what was recorded after the backup is set aside.
func TestRestoreAny(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := store.Open(context.Background(), store.Options{Dir: dir})
		if err != nil {
			rt.Fatal(err)
		}
		drawRecord(rt, s)
		want, err := content(t, dir)
		if err != nil {
			rt.Fatal(err)
		}
		b := mustBackup(t, dir, store.BackupOptions{})
		drawMore(rt, s)
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		later, err := content(t, dir)
		if err != nil {
			rt.Fatal(err)
		}
		r := mustRestore(t, dir, b.Path, false)
		if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
			rt.Errorf("it is not what it was: %v", err)
		}
		if got, err := content(t, r.Aside); err != nil || !reflect.DeepEqual(got, later) {
			rt.Errorf("what came later is not set aside: %v", err)
		}
	})
}

func drawMore(t *rapid.T, s *store.Store) {
	if _, err := s.Append(context.Background(), event.Batch{Scope: event.Scope{Task: "tsk_B"}, Facts: []event.Draft{{Data: text("later")}}}); err != nil {
		t.Fatal(err)
	}
}

func mustRestore(t testing.TB, dir, backup string, force bool) *store.Restored {
	t.Helper()
	r, err := store.Restore(context.Background(), dir, backup, force)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRestore(t *testing.T) {
	t.Parallel()
	dir := wholeRecord(t)
	want, err := content(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	b := mustBackup(t, dir, store.BackupOptions{})
	saved := tree(t, b.Path)
	s := open(t, dir)
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("later")})

	// Not while somebody has it open, or is at work.
	if _, err := store.Restore(t.Context(), dir, b.Name, false); err == nil || !strings.Contains(err.Error(), "has") || !strings.Contains(err.Error(), "open") {
		t.Errorf("while it is open: %v", err)
	}
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("and later")})
	l, err := s.Lease(t.Context(), "run", "")
	if err != nil {
		t.Fatal(err)
	}
	var held *store.HeldError
	if _, err := store.Restore(t.Context(), dir, b.Name, false); !errors.As(err, &held) {
		t.Errorf("while somebody is at work: %v", err)
	}
	if err := errors.Join(l.Release(), s.Close()); err != nil {
		t.Fatal(err)
	}
	later, err := content(t, dir)
	if err != nil {
		t.Fatal(err)
	}

	r := mustRestore(t, dir, b.Name, false)
	if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("it is not what it was: %v", err)
	}
	if r.From != b.Path || !r.Captures || r.Facts != b.Facts || r.Finished {
		t.Errorf("%+v", r)
	}
	if got, err := content(t, r.Aside); err != nil || !reflect.DeepEqual(got, later) {
		t.Errorf("what was there before is not set aside: %v", err)
	}
	if !reflect.DeepEqual(tree(t, b.Path), saved) {
		t.Error("the backup was changed")
	}
	check(t, dir)
	modes(t, dir)
	if n := count(t, dir, `SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'`); n != 1 {
		t.Error("the restored file is not written as a record is")
	}
	if got := entries(t, dir); slices.Contains(got, ".incoming") || slices.Contains(got, "restoring.json") {
		t.Errorf("left: %q", got)
	}
	// What was set aside is restored in turn, once one says so.
	var foreign *store.ForeignBackupError
	if _, err := store.Restore(t.Context(), dir, r.Aside, false); !errors.As(err, &foreign) {
		t.Error(err)
	}
	mustRestore(t, dir, r.Aside, true)
	if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, later) {
		t.Errorf("the way back: %v", err)
	}
}

// TestRestoreWithoutCaptures keeps what crossed the wire, where it is of the same record.
func TestRestoreWithoutCaptures(t *testing.T) {
	t.Parallel()
	dir := wholeRecord(t)
	want, err := content(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	b := mustBackup(t, dir, store.BackupOptions{NoCaptures: true})
	r := mustRestore(t, dir, b.Path, false)
	if got, err := content(t, dir); err != nil || r.Captures || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", r, err)
	}
	other := wholeRecord(t)
	r = mustRestore(t, other, b.Path, true)
	if got := entries(t, r.Aside); !slices.Equal(got, []string{"captures.db", "overt.db"}) {
		t.Errorf("set aside: %q", got)
	}
	check(t, other)
	if _, err := content(t, other); err != nil {
		t.Error(err)
	}
}

// TestRestoreForeignFiles: states of files that are of another record than what is restored are set aside with it, and those of the same
// one stay.
func TestRestoreForeignFiles(t *testing.T) {
	t.Parallel()
	dir, other := wholeRecord(t), wholeRecord(t)
	for _, d := range []string{dir, other} {
		s := open(t, d)
		f, err := s.Files(t.Context())
		if err == nil {
			_, _, err = f.PutLarge(t.Context(), strings.NewReader(strings.Repeat("large ", 1<<20)), 1<<30)
		}
		if err = errors.Join(err, f.Mark(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	states := []string{"files.db", "files.open", "objects"}
	r := mustRestore(t, dir, mustBackup(t, dir, store.BackupOptions{}).Path, false)
	if got := entries(t, r.Aside); slices.ContainsFunc(states, func(n string) bool { return slices.Contains(got, n) }) {
		t.Errorf("of the same record, set aside: %q", got)
	}
	r = mustRestore(t, dir, mustBackup(t, other, store.BackupOptions{}).Path, true)
	if got := entries(t, r.Aside); !slices.Equal(got, append([]string{"captures.db"}, append(states, "overt.db")...)) {
		t.Errorf("set aside: %q", got)
	}
	s := open(t, dir)
	if _, err := s.Files(t.Context()); err != nil || s.FilesMarked() {
		t.Errorf("they are refused: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
}

// TestRestoreRefuses: a backup that can't be trusted changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	good := mustBackup(t, whole, store.BackupOptions{})
	tests := []struct {
		name, err string
		spoil     func(t *testing.T, b string)
	}{
		{"byte", "its size or SHA-256 is another one", func(t *testing.T, b string) {
			f, err := os.OpenFile(filepath.Join(b, "overt.db"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteAt([]byte("x"), 5000)
			f.Close()
		}},
		{"cut", "its size or SHA-256 is another one", func(t *testing.T, b string) { os.Truncate(filepath.Join(b, "captures.db"), 8192) }},
		{"missing", "is no backup", func(t *testing.T, b string) { os.Remove(filepath.Join(b, "overt.db")) }},
		{"newer", `overt.db of the backup was written by a newer program (it has "9999-later"); use that one or a newer one`, func(t *testing.T, b string) {
			os.Remove(filepath.Join(b, "manifest.json"))
			spoil(t, b, "overt.db", `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`)
		}},
		{"foreign", "no table of ours", func(t *testing.T, b string) {
			os.Remove(filepath.Join(b, "manifest.json"))
			spoil(t, b, "overt.db", `DROP TABLE migration`)
		}},
		{"newer manifest", "only a newer program knows", func(t *testing.T, b string) {
			os.WriteFile(filepath.Join(b, "manifest.json"), []byte(`{"form": 2}`), 0o600)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), filepath.Base(whole))
			copyFiles(t, whole, dir)
			b := filepath.Join(t.TempDir(), "b")
			copyFiles(t, good.Path, b)
			tt.spoil(t, b)
			before := tree(t, dir)
			if _, err := store.Restore(t.Context(), dir, b, true); err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v", err)
			}
			after := tree(t, dir)
			delete(after, "lease")
			delete(before, "lease")
			if !reflect.DeepEqual(before, after) {
				t.Errorf("the folder was changed: %q", entries(t, dir))
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "other-0123456789ab")
	copyFiles(t, whole, dir)
	var foreign *store.ForeignBackupError
	if _, err := store.Restore(t.Context(), dir, good.Path, false); !errors.As(err, &foreign) {
		t.Error(err)
	}
	if _, err := store.Restore(t.Context(), dir, "", false); !errors.Is(err, store.ErrNotRestoring) {
		t.Error(err)
	}
}

// TestStrangers: two files that are of different records are a record that no task can open, so nothing calls it fine, keeps it as a
// backup or puts it in place. One whose number is not chosen yet is nobody's.
func TestStrangers(t *testing.T) {
	t.Parallel()
	dir, other := wholeRecord(t), wholeRecord(t)
	copyFile(t, filepath.Join(other, "captures.db"), filepath.Join(dir, "captures.db"))
	const text = "belongs to the record of another workspace; move it away"
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("it was opened: %v", err)
	}
	before := tree(t, dir)
	r, err := store.Check(t.Context(), dir)
	if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != store.ProblemStranger || r.Problems[0].File != "captures.db" || !strings.Contains(r.Problems[0].Detail, text) || r.Rebuildable() {
		t.Errorf("check: %+v, %v", r, err)
	}
	if files, _ := glance(t, t.Context(), dir, 0); files[0].State != store.Fine || files[1].State != store.Foreign || files[1].Err == nil {
		t.Errorf("a glance: %+v", files)
	}
	if st, err := store.Inspect(t.Context(), dir); err != nil || st.Files[0].Problem != "" || !strings.Contains(st.Files[1].Problem, text) {
		t.Errorf("status: %+v, %v", st, err)
	}
	if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); err == nil || !strings.Contains(err.Error(), "captures.db "+text) || entries(t, filepath.Join(dir, "backups")) != nil {
		t.Errorf("a backup: %v", err)
	}
	if b := mustBackup(t, dir, store.BackupOptions{NoCaptures: true}); b.Captures != nil {
		t.Errorf("%+v", b)
	}
	if err := os.RemoveAll(filepath.Join(dir, "backups")); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, tree(t, dir)) {
		t.Error("something was changed")
	}
	third := wholeRecord(t)
	want, err := content(t, third)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), third, dir, true); err == nil || !strings.Contains(err.Error(), "belong to the records of different workspaces") {
		t.Errorf("a restore: %v", err)
	}
	if got, err := content(t, third); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a restore has changed something: %v", err)
	}
	spoil(t, dir, "captures.db", `PRAGMA user_version = 0`)
	if r, err := store.Check(t.Context(), dir); err != nil || !r.OK() {
		t.Errorf("without a number: %+v, %v", r, err)
	}
	if err := open(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

// TestRestoreOverDamage: a record that can't be opened is what a restore is for.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"no database", "cut", "gone", "log only"} {
		t.Run(how, func(t *testing.T) {
			dir := wholeRecord(t)
			want, err := content(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			b := mustBackup(t, dir, store.BackupOptions{})
			path := filepath.Join(dir, "overt.db")
			switch how {
			case "no database":
				err = os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600)
			case "cut":
				err = os.Truncate(path, 10_000)
			case "gone":
				err = os.Remove(path)
			case "log only":
				err = os.Rename(path, path+"-wal")
			}
			if err != nil {
				t.Fatal(err)
			}
			mustRestore(t, dir, b.Name, false)
			if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("it is not what it was: %v", err)
			}
		})
	}
}

// TestRestoreKilled kills a restore before each step that moves something: the record is the old one or is finished to the
// new one, and Open says which.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	later, err := content(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	b := mustBackup(t, whole, store.BackupOptions{})
	s := open(t, whole)
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("later")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := later
	if later, err = content(t, whole); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for delay := range part(24) {
		dir := filepath.Join(t.TempDir(), filepath.Base(whole))
		copyFiles(t, whole, dir)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"=restore:"+b.Name+" "+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for time.Since(begun) < time.Duration(delay)*1500*time.Microsecond {
			if _, err := os.Stat(filepath.Join(dir, "restoring.json")); err == nil && delay%2 == 1 {
				break // just when it begins to move
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		got, err := content(t, dir)
		var restoring *store.RestoringError
		switch {
		case errors.As(err, &restoring) && !restoring.Alive && restoring.From != "":
			seen["interrupted"]++
			if _, err := store.Restore(t.Context(), dir, b.Name, false); !errors.As(err, &restoring) {
				t.Errorf("another one: %v", err)
			}
			if r := mustRestore(t, dir, "", false); !r.Finished || r.Aside == "" {
				t.Errorf("%+v", r)
			}
			if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("it was finished, and is not the new one: %v", err)
			}
		case err != nil:
			t.Fatal(err)
		case reflect.DeepEqual(got, later):
			seen["old"]++
			mustRestore(t, dir, b.Name, false)
		case reflect.DeepEqual(got, want):
			seen["new"]++
			if slices.Contains(entries(t, dir), ".incoming") {
				t.Error("it came to its end, and left what it brought in")
			}
		default:
			t.Errorf("it is neither the old nor the new one")
		}
		check(t, dir)
	}
	t.Log(seen)
}
