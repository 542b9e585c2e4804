package store_test

import (
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

	"overt/internal/store"
)

// TestForeignCaptures: captures.db of another record is not taken for ours.
func TestForeignCaptures(t *testing.T) {
	dir, other := wholeRecord(t), wholeRecord(t)
	data, err := os.ReadFile(filepath.Join(other, "captures.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "captures.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	unchanged(t, path, "belongs to the record of another workspace; move it away")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := content(t, dir); err != nil {
		t.Error(err)
	}
}

// TestLost: a record whose overt.db is gone is begun anew, and says once what is left of it.
func TestLost(t *testing.T) {
	dir := wholeRecord(t)
	b := mustBackup(t, dir, store.BackupOptions{})
	path := filepath.Join(dir, "overt.db")
	if s := open(t, dir); s.Lost() != nil {
		t.Errorf("%+v", s.Lost())
	} else if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+"-wal"); err != nil {
		t.Fatal(err)
	}
	var lost *store.LostError
	if err := store.Gone(t.Context(), dir); !errors.As(err, &lost) || lost.Captures != 14 || !slices.Equal(lost.Backups, []string{b.Path}) {
		t.Errorf("%v", err)
	}
	s := open(t, dir)
	if l := s.Lost(); l == nil || l.Captures != 14 || !slices.Equal(l.Backups, []string{b.Path}) {
		t.Errorf("%+v", l)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, filepath.Join(dir, "aside")); len(got) != 1 || !slices.Equal(entries(t, filepath.Join(dir, "aside", got[0])), []string{"overt.db-wal"}) {
		t.Errorf("its log is not set aside: %q", got)
	}
	if s := open(t, dir); s.Lost() != nil {
		t.Error("it is said twice")
	}
	empty := t.TempDir()
	if err := store.Gone(t.Context(), empty); err != nil {
		t.Error(err)
	}
	if s := open(t, empty); s.Lost() != nil {
		t.Errorf("%+v", s.Lost())
	}
}

func TestInspect(t *testing.T) {
	dir := wholeRecord(t)
	before := tree(t, dir)
	st, err := store.Inspect(t.Context(), dir)
	if err != nil || !reflect.DeepEqual(before, tree(t, dir)) {
		t.Fatal(err)
	}
	f, c := st.Files[0], st.Files[1]
	if !f.Present || *f.Facts == 0 || *f.Tasks != 4 || *f.Calls != 2 || f.Oldest == nil || f.Newest.Before(*f.Oldest) || f.Form != "0004-cost" || f.Problem != "" ||
		*c.Exchanges != 14 || *c.Outputs != 2 || st.Holder != nil || st.Backups != nil || f.Exchanges != nil {
		t.Errorf("%+v\n%+v", f, c)
	}
	s := open(t, dir)
	l, err := s.Lease(t.Context(), "run", "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	b := mustBackup(t, dir, store.BackupOptions{})
	if st, err := store.Inspect(t.Context(), dir); err != nil || st.Holder == nil || st.Holder.PID != os.Getpid() || st.Holder.What != "run" || len(st.Backups) != 1 || st.Backups[0].Path != b.Path {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := store.Inspect(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestPruneCounted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	exchanges(t, s, 20)
	before, err := content(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	would, err := s.Captures().PruneCounted(t.Context(), time.UnixMilli(11_000), 0, true)
	if err != nil || would.Exchanges != 10 || would.Outputs != 0 || would.Bytes <= 0 {
		t.Errorf("%+v, %v", would, err)
	}
	if after, err := content(t, dir); err != nil || !reflect.DeepEqual(before, after) {
		t.Error("a dry run has changed something")
	}
	if did, err := s.Captures().PruneCounted(t.Context(), time.UnixMilli(11_000), 0, false); err != nil || did != would {
		t.Errorf("%+v, %v; it was to be %+v", did, err, would)
	}
	check(t, dir)
}

func TestEphemeral(t *testing.T) {
	parent := t.TempDir()
	dead := filepath.Join(parent, "overt-ephemeral-1-1-dead")
	other := filepath.Join(parent, "other")
	leftover(t, filepath.Join(parent, "overt-ephemeral-notes"), "lock") // a person's, with a lock of another kind
	for _, dir := range []string{dead, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".overt-lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := store.NewEphemeral([]string{filepath.Join(parent, "none"), parent})
	if err != nil {
		t.Fatal(err)
	}
	modes(t, a.Dir)
	if !strings.HasPrefix(filepath.Base(a.Dir), fmt.Sprintf("overt-ephemeral-%d-", os.Getpid())) {
		t.Error(a.Dir)
	}
	b, err := store.NewEphemeral([]string{parent})
	if err != nil {
		t.Fatal(err)
	}
	store.SweepEphemeral([]string{filepath.Join(parent, "none"), parent})
	if got := entries(t, parent); len(got) != 4 || slices.Contains(got, filepath.Base(dead)) {
		t.Errorf("%q", got)
	}
	if err := errors.Join(a.Remove(), b.Remove()); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, parent); !slices.Equal(got, []string{"other", "overt-ephemeral-notes"}) {
		t.Errorf("%q", got)
	}
	if _, err := store.NewEphemeral([]string{filepath.Join(parent, "none")}); err == nil {
		t.Error("it was made nowhere")
	}
}

// BenchmarkSweepNothing is what each start pays for looking whether anything was left.
func BenchmarkSweepNothing(b *testing.B) {
	parent := b.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(parent, fmt.Sprint("other-", i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if store.InMemory(parent) {
			b.Log("in memory")
		}
		store.SweepEphemeral([]string{parent, parent})
	}
}
