package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"overt/internal/event"
	"overt/internal/store"
)

func mustBackup(t testing.TB, dir string, o store.BackupOptions) store.Saved {
	t.Helper()
	b, err := store.Backup(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modes wants folders 0700 and files 0600.
func modes(t testing.TB, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		info, err := d.Info()
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, %v", path, info.Mode().Perm(), err)
		}
		return nil
	})
}

// entries lists a folder.
func entries(t testing.TB, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestBackup(t *testing.T) {
	dir := wholeRecord(t)
	s := open(t, dir)
	now := time.Date(2026, 11, 30, 8, 50, 25, 0, time.UTC)
	a := mustBackup(t, dir, store.BackupOptions{Now: now, Version: "1.2", Root: "/w"})
	if a.Path != filepath.Join(dir, "backups", "20261130T085025Z") || a.Facts != check(t, dir).Files[0].Rows || *a.Captures != 16 || a.Problem != "" ||
		a.Record != filepath.Base(dir) || a.Root != "/w" || a.Version != "1.2" || !a.Made.Equal(now) || len(a.Files) != 2 || a.Automatic {
		t.Errorf("%+v", a)
	}
	if got := entries(t, a.Path); !slices.Equal(got, []string{"captures.db", "manifest.json", "overt.db"}) {
		t.Errorf("it holds %q", got)
	}
	check(t, a.Path)
	modes(t, filepath.Join(dir, "backups"))
	// Another one in the same second, and one without what crossed the wire.
	if b := mustBackup(t, dir, store.BackupOptions{Now: now}); b.Name != "20261130T085025Z-2" {
		t.Errorf("%+v", b)
	}
	b := mustBackup(t, dir, store.BackupOptions{Now: now, NoCaptures: true})
	if b.Name != "20261130T085025Z-3" || b.Captures != nil || len(b.Files) != 1 {
		t.Errorf("%+v", b)
	}
	list, err := store.Backups(dir)
	if err != nil || len(list) != 3 || list[0].Path != b.Path || !reflect.DeepEqual(list[2], a) {
		t.Errorf("%+v, %v", list, err)
	}
	// To a place of one's own, which is never overwritten.
	to := filepath.Join(t.TempDir(), "mine")
	if c := mustBackup(t, dir, store.BackupOptions{To: to}); c.Path != to {
		t.Errorf("%+v", c)
	}
	before := tree(t, to)
	if _, err := store.Backup(t.Context(), dir, store.BackupOptions{To: to}); !errors.Is(err, fs.ErrExist) || !reflect.DeepEqual(tree(t, to), before) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := store.Backup(t.Context(), t.TempDir(), store.BackupOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("the record can be used as before")})
}

// TestBackupWhileOthersWrite: a copy holds whole batches only.
func TestBackupWhileOthersWrite(t *testing.T) {
	dir := t.TempDir()
	_, out := start(t, "append", dir)
	told(t, out)
	last := int64(0)
	for range 5 {
		b := mustBackup(t, dir, store.BackupOptions{})
		if b.Facts%2 != 0 || b.Facts < last {
			t.Errorf("%d facts; batches have two", b.Facts)
		}
		last = b.Facts
		for range 20 {
			told(t, out)
		}
	}
}

// TestBackupOfDamage: what is damaged is not kept as a backup, and neither is half of it.
func TestBackupOfDamage(t *testing.T) {
	dir := wholeRecord(t)
	spoil(t, dir, "overt.db", `UPDATE fact SET data = '{' WHERE seq = 2`)
	var damaged *store.BackupError
	if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); !errors.As(err, &damaged) || damaged.Problem.Row != "2" {
		t.Error(err)
	}
	if got := entries(t, filepath.Join(dir, "backups")); got != nil {
		t.Errorf("left: %q", got)
	}
}

// TestBackupDies: what a killed backup leaves is no backup, and goes with the next one.
func TestBackupDies(t *testing.T) {
	dir := wholeRecord(t)
	backups := filepath.Join(dir, "backups")
	leftover(t, filepath.Join(backups, ".overt-partial-1-1-x"), ".overt-lock")
	leftover(t, filepath.Join(backups, ".overt-partial-1-1-y")) // it died before it had made the lock
	if list, err := store.Backups(dir); err != nil || list != nil {
		t.Errorf("%+v, %v", list, err)
	}
	b := mustBackup(t, dir, store.BackupOptions{})
	if got := entries(t, backups); !slices.Equal(got, []string{b.Name}) {
		t.Errorf("left: %q", got)
	}
}

// leftover makes a folder of an hour ago with empty files.
func leftover(t *testing.T, dir string, files ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, long, long); err != nil {
		t.Fatal(err)
	}
}

// TestBackupElsewhere: in a folder of the person's nothing is removed, whatever it is named.
func TestBackupElsewhere(t *testing.T) {
	dir, parent := wholeRecord(t), t.TempDir()
	leftover(t, filepath.Join(parent, ".partial-download"), "data")
	leftover(t, filepath.Join(parent, ".overt-partial-1-1-x"), "lock")
	leftover(t, filepath.Join(parent, ".overt-partial-1-1-y"), ".overt-lock")
	want := append(entries(t, parent), "mine")
	mustBackup(t, dir, store.BackupOptions{To: filepath.Join(parent, "mine")})
	if got := entries(t, parent); !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
}

// TestBackupsInOrder: the time at which a backup was made decides, not its name; what is no backup comes last, does not count and is
// never removed.
func TestBackupsInOrder(t *testing.T) {
	dir := wholeRecord(t)
	backups := filepath.Join(dir, "backups")
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	var twelve []string
	for n := range 12 { // in one second
		b := mustBackup(t, dir, store.BackupOptions{Now: at(2), NoCaptures: true})
		if n > 0 && b.Name != fmt.Sprintf("20260102T000000Z-%d", n+1) {
			t.Errorf("%d is named %s", n, b.Name)
		}
		twelve = append([]string{b.Name}, twelve...)
	}
	mustBackup(t, dir, store.BackupOptions{Now: at(1), NoCaptures: true, To: filepath.Join(backups, "z-the-oldest")})
	mustBackup(t, dir, store.BackupOptions{Now: at(3), NoCaptures: true, To: filepath.Join(backups, "a-the-newest")})
	leftover(t, filepath.Join(backups, "zz-notes"), "notes.txt")
	for name, spoil := range map[string]func(b string) error{
		"zx-cut":         func(b string) error { return os.Truncate(filepath.Join(b, "overt.db"), 4096) },
		"zw-gone":        func(b string) error { return os.Remove(filepath.Join(b, "overt.db")) },
		"zv-no-manifest": func(b string) error { return os.Remove(filepath.Join(b, "manifest.json")) },
		"zu-newer": func(b string) error {
			return os.WriteFile(filepath.Join(b, "manifest.json"), []byte(`{"form": 2, "made": "2030-01-01T00:00:00Z"}`), 0o600)
		},
	} {
		b := mustBackup(t, dir, store.BackupOptions{Now: at(4), Automatic: true, Why: "x", NoCaptures: true, To: filepath.Join(backups, name)})
		if err := spoil(b.Path); err != nil {
			t.Fatal(err)
		}
	}
	bad := []string{"zz-notes", "zx-cut", "zw-gone", "zv-no-manifest", "zu-newer"}
	names := func() (good, rest []string) {
		list, err := store.Backups(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list {
			switch {
			case b.Problem != "":
				rest = append(rest, b.Name)
			case rest != nil:
				t.Errorf("%s comes after %q", b.Name, rest)
			default:
				good = append(good, b.Name)
			}
		}
		slices.Sort(rest)
		return good, rest
	}
	slices.Sort(bad)
	want := slices.Concat([]string{"a-the-newest"}, twelve, []string{"z-the-oldest"})
	if good, rest := names(); !slices.Equal(good, want) || !slices.Equal(rest, bad) {
		t.Errorf("%q, then %q", good, rest)
	}
	gone, err := store.PruneBackups(dir, 3, false)
	if err != nil || len(gone) != 11 {
		t.Errorf("%d went, %v", len(gone), err)
	}
	if good, rest := names(); !slices.Equal(good, want[:3]) || !slices.Equal(rest, bad) {
		t.Errorf("left: %q, then %q", good, rest)
	}
	if gone, err := store.PruneBackups(dir, 0, true); err != nil || len(gone) != 3 {
		t.Errorf("all: %+v, %v", gone, err)
	}
	if err := os.Remove(filepath.Join(dir, "overt.db")); err != nil {
		t.Fatal(err)
	}
	var lost *store.LostError
	if err := store.Gone(t.Context(), dir); !errors.As(err, &lost) || !strings.HasSuffix(err.Error(), "overt db restore "+filepath.Join(backups, "a-the-newest")) || len(lost.Backups) != 6 {
		t.Errorf("%v", err)
	}
}

// TestAutomaticBackups: of those that nobody asked for, the last three stay, and what is broken is not one of them.
func TestAutomaticBackups(t *testing.T) {
	dir := wholeRecord(t)
	backups := filepath.Join(dir, "backups")
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	for day := range 3 {
		mustBackup(t, dir, store.BackupOptions{Now: at(1 + day), Automatic: true, Why: "x", NoCaptures: true})
	}
	leftover(t, filepath.Join(backups, "zz-notes"), "notes.txt")
	broken := mustBackup(t, dir, store.BackupOptions{Now: at(8), Automatic: true, Why: "x", NoCaptures: true})
	if err := os.Remove(filepath.Join(broken.Path, "overt.db")); err != nil {
		t.Fatal(err)
	}
	spoil(t, dir, "overt.db", `DELETE FROM migration WHERE name = '0004-cost'`, `ALTER TABLE call DROP COLUMN nano_usd`, `ALTER TABLE call DROP COLUMN cost_reported`)
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Now: func() time.Time { return at(9) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{".lock", "20260102T000000Z-before-x", "20260103T000000Z-before-x", broken.Name, "20260109T000000Z-before-0004-cost", "zz-notes"}
	if got := entries(t, backups); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestMigrationBackup: what has facts is kept before its form changes, and what can't be kept is not changed.
func TestMigrationBackup(t *testing.T) {
	t.Parallel()
	dir := wholeRecord(t)
	older := func() {
		spoil(t, dir, "overt.db", `DELETE FROM migration WHERE name = '0004-cost'`, `ALTER TABLE call DROP COLUMN nano_usd`, `ALTER TABLE call DROP COLUMN cost_reported`)
	}
	for n := range 5 {
		older()
		if r := check(t, dir); !r.Files[0].Older || r.Files[0].Form != "0003-task-states" {
			t.Errorf("%+v", r.Files[0])
		}
		s, err := store.Open(t.Context(), store.Options{Dir: dir, Version: "9", Now: func() time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := store.Backups(dir)
	if err != nil || len(list) != 3 || list[0].Name != "20260105T000000Z-before-0004-cost" || !list[0].Automatic || list[0].Why != "0004-cost" ||
		list[0].Version != "9" || list[0].Files[0].Form != "0003-task-states" || list[2].Name != "20260103T000000Z-before-0004-cost" {
		t.Errorf("%+v, %v", list, err)
	}
	// It can't be kept: nothing is changed.
	older()
	if err := os.RemoveAll(filepath.Join(dir, "backups")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "backups"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil {
		t.Error("it was opened")
	}
	if r := check(t, dir); !r.Files[0].Older {
		t.Error("its form was changed without a backup")
	}
}

// TestMigrationFails: a step that can't be done leaves the file as it was.
func TestMigrationFails(t *testing.T) {
	dir := wholeRecord(t)
	want, err := content(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	err = store.OpenWithSteps(t.Context(), dir, `CREATE TABLE extra (a); INSERT INTO fact (seq) VALUES (-5); SELECT no_such_function()`)
	if err == nil || !strings.Contains(err.Error(), "9998-test") {
		t.Errorf("got %v", err)
	}
	if got, err := content(t, dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the record has changed: %v", err)
	}
	if n := count(t, dir, `SELECT count(*) FROM sqlite_schema WHERE name = 'extra'`); n != 0 {
		t.Error("half of the step is left")
	}
	if list, err := store.Backups(dir); err != nil || len(list) != 1 || list[0].Why != "9998-test" {
		t.Errorf("%+v, %v", list, err)
	}
}
