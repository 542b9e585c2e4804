package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/store"
)

// stopped makes a record whose restoring stopped when so many of its two files were moved, and gives what it was before and what the
// backup holds.
func stopped(t *testing.T, moved int) (dir string, b store.Saved, before, want any) {
	t.Helper()
	dir = wholeRecord(t)
	read := func() any {
		t.Helper()
		c, err := content(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want = read()
	b = mustBackup(t, dir, store.BackupOptions{})
	s := open(t, dir)
	put(t, s, event.Scope{Task: "tsk_one"}, event.Draft{Data: text("later")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before = read()

	type file struct {
		Name   string `json:"name"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	names, aside, in := []string{"overt.db", "captures.db"}, filepath.Join(dir, "aside", "20300101T000000Z"), filepath.Join(dir, ".incoming")
	var list []file
	placed := names[:moved]
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(b.Path, name))
		err = errors.Join(err, os.MkdirAll(in, 0o700), os.MkdirAll(aside, 0o700), os.WriteFile(filepath.Join(in, name), data, 0o600))
		if i < moved {
			err = errors.Join(err, os.Link(filepath.Join(dir, name), filepath.Join(aside, name)), os.Rename(filepath.Join(in, name), filepath.Join(dir, name)))
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		list = append(list, file{name, len(data), hex.EncodeToString(sum[:])})
	}
	text, err := json.Marshal(map[string]any{"from": b.Path, "aside": aside, "in": names, "out": names, "files": list, "before": names, "placed": placed})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "restoring.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, b, before, want
}

// TestFinish: an interrupted restore is finished from where it was. What was to come in is looked at again before: where it was damaged
// meanwhile, the record is what it was before, and can be restored once more.
func TestFinish(t *testing.T) {
	t.Parallel()
	harms := map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"a byte": func(path string) error {
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		},
		"gone": os.Remove,
	}
	if !raceEnabled { // these differ in the bytes alone
		harms["cut"] = func(path string) error { return os.Truncate(path, 5000) }
		harms["emptied"] = func(path string) error { return os.Truncate(path, 0) }
	}
	for moved := range 3 {
		whole, b, before, want := stopped(t, moved)
		for how, harm := range harms {
			for i, name := range []string{"overt.db", "captures.db"} {
				t.Run(strings.Join([]string{[]string{"none", "one", "both"}[moved] + " moved", how, name}, ", "), func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), filepath.Base(whole))
					copyFiles(t, whole, dir)
					path := filepath.Join(dir, ".incoming", name)
					if i < moved {
						path = filepath.Join(dir, name)
					}
					if err := harm(path); err != nil {
						t.Fatal(err)
					}
					if how == "nothing" {
						mustRestore(t, dir, "", false)
					} else {
						_, err := store.Restore(t.Context(), dir, "", false)
						if err == nil || !strings.Contains(err.Error(), "so the record was made what it was before; restore it again with: overt db restore "+b.Path) || !strings.Contains(err.Error(), name) {
							t.Errorf("got %v", err)
						}
						if got, err := content(t, dir); err != nil || !reflect.DeepEqual(any(got), before) {
							t.Errorf("it is not what it was: %v", err)
						}
						if got := entries(t, dir); slices.Contains(got, ".incoming") || slices.Contains(got, "restoring.json") || slices.Contains(got, "aside") {
							t.Errorf("left: %q", got)
						}
						mustRestore(t, dir, b.Path, false)
					}
					if got, err := content(t, dir); err != nil || !reflect.DeepEqual(any(got), want) {
						t.Errorf("it is not the new one: %v", err)
					}
					check(t, dir)
				})
			}
		}
	}
}

// TestFinishForeignFiles: states of files that go aside do so once, wherever a restore was interrupted, and are back where they were if it
// is undone.
func TestFinishForeignFiles(t *testing.T) {
	t.Parallel()
	states := []string{"files.db", "files.db-wal", "objects/a"}
	for moved := range 3 {
		for _, damaged := range []bool{false, true} {
			dir, _, _, _ := stopped(t, 2)
			note := filepath.Join(dir, "restoring.json")
			text, err := os.ReadFile(note)
			var j map[string]any
			if err = errors.Join(err, json.Unmarshal(text, &j)); err != nil {
				t.Fatal(err)
			}
			names := []string{"overt.db", "captures.db", "files.db", "objects"}
			j["out"], j["before"] = names, names
			text, err = json.Marshal(j)
			aside := filepath.Join(dir, "aside", "20300101T000000Z")
			err = errors.Join(err, os.WriteFile(note, text, 0o600), os.Mkdir(filepath.Join(dir, "objects"), 0o700))
			for _, name := range states {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte("of before"), 0o600))
			}
			for _, name := range [][]string{nil, {"files.db-wal"}, {"files.db-wal", "files.db", "objects"}}[moved] {
				err = errors.Join(err, os.Rename(filepath.Join(dir, name), filepath.Join(aside, name)))
			}
			if damaged {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, "overt.db"), []byte("spoilt"), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			where := aside
			if _, err := store.Restore(t.Context(), dir, "", false); damaged {
				where = dir
				if err == nil || !strings.Contains(err.Error(), "made what it was before") {
					t.Errorf("%d moved: %v", moved, err)
				}
			} else if err != nil {
				t.Errorf("%d moved: %v", moved, err)
			}
			for _, name := range states {
				if data, err := os.ReadFile(filepath.Join(where, name)); string(data) != "of before" {
					t.Errorf("%d moved, damaged %t: %s: %q, %v", moved, damaged, name, data, err)
				}
			}
		}
	}
}

// TestFinishWithoutBackup: where the backup of an interrupted restore is gone, nobody is sent to it.
func TestFinishWithoutBackup(t *testing.T) {
	dir, b, _, _ := stopped(t, 0)
	if err := errors.Join(os.RemoveAll(b.Path), os.Truncate(filepath.Join(dir, ".incoming", "overt.db"), 5000)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), dir, "", false); err == nil || strings.Contains(err.Error(), "restore it again with") || !strings.Contains(err.Error(), b.Path+" is not there any more") {
		t.Errorf("got %v", err)
	}
}

// TestFinishNothingBefore: where there was no file before, none is left when what was to come in was damaged.
func TestFinishNothingBefore(t *testing.T) {
	dir, _, _, _ := stopped(t, 1)
	journal := filepath.Join(dir, "restoring.json")
	text, err := os.ReadFile(journal)
	if err == nil {
		text = []byte(strings.Replace(string(text), `"before":["overt.db","captures.db"]`, `"before":["captures.db"]`, 1))
		err = errors.Join(os.WriteFile(journal, text, 0o600), os.RemoveAll(filepath.Join(dir, "aside")), os.Remove(filepath.Join(dir, ".incoming", "captures.db")))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, ".incoming", "captures.db"), []byte("x"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), dir, "", false); err == nil {
		t.Error("it was finished")
	}
	if got := entries(t, dir); slices.Contains(got, "overt.db") || !slices.Contains(got, "captures.db") || slices.Contains(got, "restoring.json") {
		t.Errorf("left: %q", got)
	}
}

// TestBeforeIsGone: where a file of before is neither in place nor set aside, nobody says that the record is what it was: it is named,
// nothing is moved, and the note stays.
func TestBeforeIsGone(t *testing.T) {
	t.Parallel()
	for moved := 1; moved <= 2; moved++ {
		dir, b, _, want := stopped(t, moved)
		last := filepath.Join(dir, "overt.db")
		err := errors.Join(os.Rename(filepath.Join(dir, "aside", "20300101T000000Z"), filepath.Join(dir, "elsewhere")), os.Truncate(last, 5000))
		if err != nil {
			t.Fatal(err)
		}
		before := databases(t, dir)
		for range 2 {
			var gone *store.BeforeGoneError
			_, err := store.Restore(t.Context(), dir, "", false)
			if !errors.As(err, &gone) || !slices.Equal(gone.Names, []string{"overt.db", "captures.db"}[:moved]) || strings.Contains(err.Error(), "was made what it was") || !strings.Contains(err.Error(), gone.Aside) {
				t.Errorf("%d moved: %v", moved, err)
			}
			if after := databases(t, dir); !reflect.DeepEqual(before, after) {
				t.Errorf("%d moved: something was moved", moved)
			}
			if _, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil {
				t.Errorf("%d moved: it was opened", moved)
			}
		}
		// Both ways on that it names lead on.
		if moved == 1 {
			if err := os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "aside", "20300101T000000Z")); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Restore(t.Context(), dir, "", false); err == nil || !strings.Contains(err.Error(), "so the record was made what it was before") {
				t.Errorf("put back: %v", err)
			}
		} else if err := os.Rename(filepath.Join(dir, "restoring.json"), filepath.Join(dir, "old.json")); err != nil {
			t.Fatal(err)
		}
		mustRestore(t, dir, b.Path, false)
		if got, err := content(t, dir); err != nil || !reflect.DeepEqual(any(got), want) {
			t.Errorf("it is not the new one: %v", err)
		}
	}
}

// TestUnreadJournal: where it can't be known how far a restore came, everybody says so in the same words, and nothing is moved.
func TestUnreadJournal(t *testing.T) {
	t.Parallel()
	for how, text := range map[string]string{
		"empty": "", "no JSON": "what was", "nothing": "{}", "cut": `{"from": "/b", "aside": "`,
		"other files": `{"from": "/b", "aside": "DIR/aside/a", "in": ["overt.db"], "out": ["../../x"], "files": [{"name": "overt.db"}]}`,
		"elsewhere":   `{"from": "/b", "aside": "/tmp", "in": ["overt.db"], "out": ["overt.db"], "files": [{"name": "overt.db"}]}`,
		"unchecked":   `{"from": "/b", "aside": "DIR/aside/a", "in": ["overt.db"], "out": ["overt.db"]}`,
	} {
		t.Run(how, func(t *testing.T) {
			dir := wholeRecord(t)
			b := mustBackup(t, dir, store.BackupOptions{})
			path := filepath.Join(dir, "restoring.json")
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			var errs []error
			_, err := store.Open(t.Context(), store.Options{Dir: dir, Existing: true})
			errs = append(errs, err)
			_, err = store.Check(t.Context(), dir)
			errs = append(errs, err)
			_, err = store.Backup(t.Context(), dir, store.BackupOptions{})
			errs = append(errs, err)
			for _, backup := range []string{"", b.Path} {
				_, err = store.Restore(t.Context(), dir, backup, true)
				errs = append(errs, err)
			}
			st, err := store.Inspect(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			seen, err := store.Glance(t.Context(), dir, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, err := range append(errs, st.Unread, seen.Restoring) {
				if unread, ok := errors.AsType[*store.UnreadJournalError](err); !ok || unread.Path != path {
					t.Errorf("%d: %v", i, err)
				}
			}
			after := tree(t, dir)
			delete(before, "lease")
			delete(after, "lease")
			if !reflect.DeepEqual(before, after) {
				t.Error("something was changed")
			}
		})
	}
}

// TestLeftover: what a restore left that died before it moved anything is named, and goes with the next who works here, or with what was
// set aside; not while a restore is under way.
func TestLeftover(t *testing.T) {
	leave := func(t *testing.T) (dir, in string) {
		dir = wholeRecord(t)
		in = filepath.Join(dir, ".incoming")
		if err := os.Mkdir(in, 0o700); err != nil {
			t.Fatal(err)
		}
		copyFile(t, filepath.Join(dir, "overt.db"), filepath.Join(in, "overt.db"))
		if st, err := store.Inspect(t.Context(), dir); err != nil || st.Incoming != in {
			t.Errorf("%+v, %v", st, err)
		}
		return dir, in
	}
	gone := func(t *testing.T, dir, in string) {
		t.Helper()
		if _, err := os.Lstat(in); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
		if st, err := store.Inspect(t.Context(), dir); err != nil || st.Incoming != "" {
			t.Errorf("%+v, %v", st, err)
		}
	}
	t.Run("work", func(t *testing.T) {
		dir, in := leave(t)
		s := open(t, dir)
		l, err := s.Lease(t.Context(), "run", "")
		if err == nil {
			_, err = l.Recover(t.Context(), func(event.Group) bool { return false })
			err = errors.Join(err, l.Release())
		}
		if err != nil {
			t.Fatal(err)
		}
		gone(t, dir, in)
	})
	t.Run("aside", func(t *testing.T) {
		dir, in := leave(t)
		for _, dry := range []bool{true, false} {
			if list, err := store.PruneAside(dir, dry); err != nil || !slices.Equal(list, []string{in}) {
				t.Errorf("%q, %v", list, err)
			}
		}
		gone(t, dir, in)
	})
	t.Run("under way", func(t *testing.T) {
		dir, _, _, _ := stopped(t, 0)
		if st, err := store.Inspect(t.Context(), dir); err != nil || st.Incoming != "" {
			t.Errorf("%+v, %v", st, err)
		}
		if list, err := store.PruneAside(dir, true); err != nil || slices.Contains(list, filepath.Join(dir, ".incoming")) {
			t.Errorf("%q, %v", list, err)
		}
	})
}
