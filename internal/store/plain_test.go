package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"overt/internal/store"
)

// inTime fails the test where something waits for what never comes.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what, "does not come back")
	}
}

// notPlain puts what is no plain file where one is expected.
func notPlain(t *testing.T) map[string]func(path string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(path string){
		"pipe":           func(path string) { pipe(t, path) },
		"link to zeroes": func(path string) { must(os.Symlink("/dev/zero", path)) },
		"link to a pipe": func(path string) { pipe(t, path+".pipe"); must(os.Symlink(path+".pipe", path)) },
		"folder":         func(path string) { must(os.Mkdir(path, 0o700)) },
	}
}

// TestBackupOfPipes: a backup is of plain files, themselves at their place; what is none is no backup to rely on, and nobody waits for
// it, wherever the backup is.
func TestBackupOfPipes(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	good := mustBackup(t, whole, store.BackupOptions{})
	for what, put := range notPlain(t) {
		for _, name := range []string{"overt.db", "captures.db", "manifest.json", "overt.db-wal", "overt.db-journal", "captures.db-wal"} {
			t.Run(name+" "+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), filepath.Base(whole))
				copyFiles(t, whole, dir)
				b := filepath.Join(dir, "backups", good.Name)
				if err := os.RemoveAll(filepath.Join(b, name)); err != nil {
					t.Fatal(err)
				}
				put(filepath.Join(b, name))
				before := databases(t, dir)
				inTime(t, "a look", func() {
					list, err := store.Backups(dir)
					if err != nil || len(list) != 1 || list[0].Problem == "" {
						t.Errorf("it is listed as %+v, %v", list, err)
					}
					if _, err := store.Inspect(t.Context(), dir); err != nil {
						t.Errorf("status: %v", err)
					}
					if gone, err := store.PruneBackups(dir, 0, false); err != nil || len(gone) != 0 {
						t.Errorf("pruned: %+v, %v", gone, err)
					}
				})
				inTime(t, "a restore", func() {
					for _, force := range []bool{false, true} {
						_, err := store.Restore(t.Context(), dir, b, force)
						// What a manifest says is not needed to restore with force.
						if err == nil != (force && name == "manifest.json") {
							t.Errorf("restored (force %v): %v", force, err)
						}
					}
				})
				if name != "manifest.json" && !reflect.DeepEqual(before, databases(t, dir)) {
					t.Error("something was changed")
				}
			})
		}
	}
}

// databases gives the content of a record's own files.
func databases(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"overt.db", "captures.db"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

// TestRecordOfPipes: nobody waits for what is no plain file in the folder of the record, and a restore brings the record back.
func TestRecordOfPipes(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	want, err := content(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	good := mustBackup(t, whole, store.BackupOptions{})
	for what, put := range notPlain(t) {
		for _, name := range []string{"overt.db", "captures.db", "overt.db-wal", "captures.db-shm", "overt.db-journal", "captures.db-journal", "restoring.json"} {
			if raceEnabled && what != "pipe" && !strings.HasSuffix(name, ".db") {
				continue
			}
			t.Run(name+" "+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), filepath.Base(whole))
				copyFiles(t, whole, dir)
				path := filepath.Join(dir, name)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				put(path)
				inTime(t, "a look", func() {
					if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), path+" is no plain file; move it away") {
						t.Errorf("opened: %v", err)
					}
					if r, err := store.Check(t.Context(), dir); err == nil && r.OK() {
						t.Errorf("check: %+v", r)
					}
					if seen, _ := store.Glance(t.Context(), dir, 0); seen.Restoring == nil && seen.Files[0].State == store.Fine && seen.Files[1].State == store.Fine {
						t.Errorf("a glance: %+v", seen)
					}
					if st, err := store.Inspect(t.Context(), dir); err != nil || name != "restoring.json" && st.Files[0].Problem+st.Files[1].Problem == "" {
						t.Errorf("status: %+v, %v", st, err)
					}
					if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); err == nil {
						t.Error("it was backed up")
					}
				})
				if name != "overt.db" && name != "captures.db" {
					if err := os.RemoveAll(path); err != nil {
						t.Fatal(err)
					}
				}
				inTime(t, "a restore", func() { mustRestore(t, dir, good.Name, false) })
				if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("it is not what it was: %v", err)
				}
			})
		}
	}
}

// TestBareBackup: a backup that has lost its captures.db is not taken for one that was made without, and no captures.db of another
// record stays beside what is restored.
func TestBareBackup(t *testing.T) {
	t.Parallel()
	dir := wholeRecord(t)
	b := mustBackup(t, dir, store.BackupOptions{})
	if err := os.Remove(filepath.Join(b.Path, "captures.db")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	var bare *store.BareBackupError
	if _, err := store.Restore(t.Context(), dir, b.Name, false); !errors.As(err, &bare) {
		t.Errorf("%v", err)
	}
	after := tree(t, dir)
	delete(after, "lease")
	delete(before, "lease")
	if !reflect.DeepEqual(before, after) {
		t.Error("something was changed")
	}
	if r := mustRestore(t, dir, b.Name, true); !r.Bare || !r.Kept || r.Captures {
		t.Errorf("%+v", r)
	}
	check(t, dir)
	only := mustBackup(t, dir, store.BackupOptions{NoCaptures: true})
	if r := mustRestore(t, dir, only.Name, false); r.Bare || !r.Kept {
		t.Errorf("%+v", r)
	}
	// In another workspace, whose captures.db has another number, or none.
	for _, number := range []string{"77", "0"} {
		other := filepath.Join(t.TempDir(), "v-0123456789ab")
		copyFiles(t, wholeRecord(t), other)
		spoil(t, other, "overt.db", `PRAGMA user_version = `+number)
		spoil(t, other, "captures.db", `PRAGMA user_version = `+number)
		r := mustRestore(t, other, only.Path, true)
		if got := entries(t, r.Aside); r.Kept || len(got) != 2 {
			t.Errorf("%+v; set aside: %q", r, got)
		}
	}
}
