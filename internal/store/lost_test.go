package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// emptied takes away what a file of a record holds: the file itself, all its bytes, or all that is in its tables. It is as SQLite
// leaves a file that it has just begun.
func emptied(t *testing.T, path, how string) {
	t.Helper()
	err := os.Remove(path)
	if err == nil && how != "gone" {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if how == "shaped" {
		spoil(t, filepath.Dir(path), filepath.Base(path), `PRAGMA auto_vacuum = INCREMENTAL`, `PRAGMA journal_mode = WAL`)
	}
}

// TestLostFacts: an overt.db that is gone, or has nothing in it, beside anything that shows that there was one: who only reads makes none,
// and a new one is begun with a word about what is left, once.
func TestLostFacts(t *testing.T) {
	t.Parallel()
	journal := binary.BigEndian.AppendUint32([]byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\x00\x00\x00\x01nonc"), 7) // of a file that had seven pages
	beside := map[string]func(t *testing.T, dir string){
		"captures": func(*testing.T, string) {},
		"a backup": func(t *testing.T, dir string) {
			emptied(t, filepath.Join(dir, "captures.db"), "gone")
		},
		"a log": func(t *testing.T, dir string) {
			emptied(t, filepath.Join(dir, "captures.db"), "gone")
			if err := os.WriteFile(filepath.Join(dir, "overt.db-wal"), []byte("what was written last"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a journal": func(t *testing.T, dir string) {
			emptied(t, filepath.Join(dir, "captures.db"), "zero")
			if err := os.WriteFile(filepath.Join(dir, "overt.db-journal"), journal, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, how := range []string{"gone", "zero", "shaped"} {
		for what, leave := range beside {
			if how == "shaped" && (what == "a log" || what == "a journal") {
				continue // they are those of the file, and SQLite reads them
			}
			t.Run(how+" beside "+what, func(t *testing.T) {
				dir := wholeRecord(t)
				want := store.Lost{Captures: 14}
				if what == "a backup" {
					want = store.Lost{Backups: []string{mustBackup(t, dir, store.BackupOptions{}).Path}}
				}
				emptied(t, filepath.Join(dir, "overt.db"), how)
				leave(t, dir)
				before := tree(t, dir)
				var lost *store.LostError
				if err := store.Gone(t.Context(), dir); !errors.As(err, &lost) || !strings.Contains(err.Error(), map[bool]string{true: "overt.db is gone", false: "overt.db is empty"}[how == "gone"]) {
					t.Errorf("it is not missed: %v", err)
				}
				if _, err := store.Open(t.Context(), store.Options{Dir: dir, Existing: true}); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a reader: %v", err)
				}
				if r, err := store.Check(t.Context(), dir); err == nil && r.OK() || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("check: %+v, %v", r, err)
				}
				if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a backup: %v", err)
				}
				if !reflect.DeepEqual(before, tree(t, dir)) {
					t.Error("something was changed by looking")
				}
				s := open(t, dir)
				got := s.Lost()
				if got == nil {
					t.Fatal("nothing is said")
				}
				if what == "a log" || what == "a journal" {
					want = store.Lost{Log: got.Log}
					if list := entries(t, got.Log); len(list) != 1 || tree(t, got.Log)[list[0]] != before[list[0]] {
						t.Errorf("set aside in %q: %q", got.Log, list)
					}
				}
				if !reflect.DeepEqual(*got, want) {
					t.Errorf("%+v, want %+v", *got, want)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s := open(t, dir); s.Lost() != nil {
					t.Error("it is said twice")
				}
			})
		}
	}
}

// TestLostCaptures: a captures.db that is gone, or has nothing in it, beside facts that name exchanges is begun anew by whoever begins to
// work, who says so, once; who only reads makes none. What a look says of the loss is the same before and after.
func TestLostCaptures(t *testing.T) {
	t.Parallel()
	type verdict struct {
		missing, lost int64
		problems      []store.Problem
	}
	looks := func(t *testing.T, dir string) {
		t.Helper()
		r, err := store.Check(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		want := verdict{2, 2, []store.Problem{}}
		if got := (verdict{r.Missing, r.Lost, r.Problems}); !reflect.DeepEqual(got, want) {
			t.Errorf("check: %+v", got)
		}
		st, err := store.Inspect(t.Context(), dir)
		if f := st.Files[1]; err != nil || f.Missing == nil || *f.Missing != 2 || f.Lost == nil || *f.Lost != 2 || f.Problem != "" {
			t.Errorf("status: %+v, %v", f, err)
		}
	}
	for _, how := range []string{"gone", "zero", "shaped"} {
		t.Run(how, func(t *testing.T) {
			dir := wholeRecord(t)
			if s := open(t, dir); s.LostExchanges() != 0 {
				t.Errorf("%d of a whole record", s.LostExchanges())
			} else if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			emptied(t, filepath.Join(dir, "captures.db"), how)
			if how == "gone" { // as SQLite leaves it beside a file that is removed while it is in use
				if err := os.WriteFile(filepath.Join(dir, "captures.db-wal"), []byte("what was written last"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			mustBackup(t, dir, store.BackupOptions{})
			before := tree(t, dir)
			for i, existing := range []bool{true, true, false, false, true} {
				looks(t, dir)
				if i <= 2 && !reflect.DeepEqual(before, tree(t, dir)) {
					t.Error("something was made by reading")
				}
				s, err := store.Open(t.Context(), store.Options{Dir: dir, Existing: existing})
				if err != nil {
					t.Fatal(err)
				}
				if s.Lost() != nil {
					t.Errorf("%+v", s.Lost())
				}
				want := int64(0)
				if !existing && how != "" {
					want, how = 2, ""
				}
				if got := s.LostExchanges(); got != want {
					t.Errorf("%d exchanges, want %d", got, want)
				}
				if _, err := s.Captures().Capture(t.Context(), "cal_A-1.1"); !errors.Is(err, store.ErrNoCapture) {
					t.Errorf("a capture: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestExisting: who needs a record makes none, and no folder for it.
func TestExisting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := store.Open(t.Context(), store.Options{Dir: dir, Existing: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder was made")
	}
}

// TestTwoFirstStarts: two processes that begin a record at once both can, and nothing is said to be lost because the other one was
// quicker. Where there was a record, one of them says so.
func TestTwoFirstStarts(t *testing.T) {
	rounds := 24
	if raceEnabled {
		rounds = 12 // each case once, in each way
	}
	for round := range rounds {
		dir, want := t.TempDir(), "opened 0 0"
		switch round % 4 {
		case 1: // as a process left it that died at once
			for _, name := range []string{"overt.db", "captures.db"} {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		case 2:
			dir, want = wholeRecord(t), "opened 14 0"
			emptied(t, filepath.Join(dir, "overt.db"), []string{"gone", "zero", "shaped"}[round%3])
		case 3:
			dir, want = wholeRecord(t), "opened 0 2"
			emptied(t, filepath.Join(dir, "captures.db"), []string{"gone", "zero", "shaped"}[round%3])
		}
		_, a := start(t, "first", dir)
		_, b := start(t, "first", dir)
		var got []string
		for _, out := range []interface {
			Scan() bool
			Text() string
		}{a, b} {
			if !out.Scan() {
				t.Fatal("a child says nothing")
			}
			got = append(got, out.Text())
		}
		slices.Sort(got)
		if expect := []string{"opened 0 0", want}; !slices.Equal(got, expect) {
			t.Errorf("round %d: %q, want %q", round, got, expect)
		}
	}
}

// TestRefusedMakesNothing: where one file of a record is refused, the other one is not begun, so that what was lost is still told
// once the first is seen to.
func TestRefusedMakesNothing(t *testing.T) {
	t.Parallel()
	bad := map[string]func(path string) error{
		"a text": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("text ", 1000)), 0o600) },
		"cut":    func(path string) error { return os.Truncate(path, 9000) },
		"a pipe": func(path string) error {
			err := os.Remove(path)
			pipe(t, path)
			return err
		},
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"foreign": func(path string) error {
			spoil(t, filepath.Dir(path), filepath.Base(path), `DROP TABLE migration`)
			return nil
		},
		"newer": func(path string) error {
			spoil(t, filepath.Dir(path), filepath.Base(path), `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`)
			return nil
		},
	}
	names := []string{"overt.db", "captures.db"}
	for how, spoil := range bad {
		for i, refused := range names {
			for j, other := range []string{"gone", "zero"} {
				if raceEnabled && i != j {
					continue
				}
				t.Run(fmt.Sprint(refused, " ", how, ", the other ", other), func(t *testing.T) {
					dir := wholeRecord(t)
					emptied(t, filepath.Join(dir, names[1-i]), other)
					path := filepath.Join(dir, refused)
					if err := spoil(path); err != nil {
						t.Fatal(err)
					}
					if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), path) {
						t.Errorf("%v", err)
					}
					info, err := os.Lstat(filepath.Join(dir, names[1-i]))
					if other == "gone" && !errors.Is(err, fs.ErrNotExist) || other == "zero" && (err != nil || info.Size() != 0) {
						t.Errorf("%s was begun: %+v, %v", names[1-i], info, err)
					}
				})
			}
		}
	}
}

// TestMissing: how many exchanges the facts name whose bytes are gone is told, and is no problem; neither is that their file is.
func TestMissing(t *testing.T) {
	t.Parallel()
	count := func(n int64) *int64 { return &n }
	tests := []struct {
		name    string
		do      func(t *testing.T, dir string)
		check   int64
		status  *int64
		lost    int64
		problem bool
	}{
		{"nothing", func(*testing.T, string) {}, 0, count(0), 0, false},
		{"gone", func(t *testing.T, dir string) { emptied(t, filepath.Join(dir, "captures.db"), "gone") }, 2, count(2), 2, false},
		{"begun anew", func(t *testing.T, dir string) {
			emptied(t, filepath.Join(dir, "captures.db"), "gone")
			if err := open(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
		}, 2, count(2), 2, false},
		{"begun anew, then pruned", func(t *testing.T, dir string) {
			emptied(t, filepath.Join(dir, "captures.db"), "gone")
			s := open(t, dir)
			scope := event.Scope{Task: "tsk_A", Run: "run_C", Step: 1}
			if _, err := s.Append(t.Context(), event.Batch{Scope: scope, Facts: []event.Draft{{Subject: "cal_C-1.1", Data: event.CallCompleted{
				Exchange: event.Exchange{Request: event.Body{SHA256: strings.Repeat("0", 64)}},
			}}}}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}, 3, count(3), 2, false},
		{"pruned", func(t *testing.T, dir string) {
			spoil(t, dir, "captures.db", `DELETE FROM capture WHERE call = 'cal_A-1.1'`)
		}, 1, count(1), 0, false},
		{"erased", func(t *testing.T, dir string) {
			spoil(t, dir, "overt.db", `UPDATE fact SET data = NULL WHERE subject = 'cal_~-1.1'`, `DELETE FROM call`)
			emptied(t, filepath.Join(dir, "captures.db"), "gone")
		}, 0, count(0), 0, false},
		{"empty", func(t *testing.T, dir string) { emptied(t, filepath.Join(dir, "captures.db"), "zero") }, 2, count(2), 2, false},
		{"no database", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "captures.db"), []byte(strings.Repeat("text ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 0, nil, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := wholeRecord(t)
			tt.do(t, dir)
			r, err := store.Check(t.Context(), dir)
			if err != nil || r.Missing != tt.check || r.Lost != tt.lost || r.OK() == tt.problem {
				t.Errorf("check: %+v, %v", r, err)
			}
			st, err := store.Inspect(t.Context(), dir)
			if err != nil || !reflect.DeepEqual(st.Files[1].Missing, tt.status) {
				t.Errorf("status: %+v, %v", st.Files[1], err)
			}
		})
	}
}
