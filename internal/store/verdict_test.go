package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/store"
)

// harm is something that is done to a file of a record.
type harm struct {
	name string
	file string // "": to either
	do   func(t *testing.T, path string)
}

// harms are all that tests do to files, below SQLite and through it.
func harms() []harm {
	rewrite := func(f func(data []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, f(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(from, to int) func(*testing.T, string) {
		return rewrite(func(data []byte) []byte {
			for i := from; i < min(to, len(data)); i++ {
				data[i] ^= 0xff
			}
			return data
		})
	}
	sql := func(queries ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			spoil(t, filepath.Dir(path), filepath.Base(path), append([]string{`PRAGMA foreign_keys = 0`}, queries...)...)
		}
	}
	out := []harm{
		{"nothing", "", func(*testing.T, string) {}},
		{"text", "", rewrite(func([]byte) []byte { return []byte(strings.Repeat("This is a text.\n", 1000)) })},
		{"short text", "", rewrite(func([]byte) []byte { return []byte("text") })},
		{"cut", "", rewrite(func(data []byte) []byte { return data[:len(data)/8192*4096] })},
		{"cut to a page", "", rewrite(func(data []byte) []byte { return data[:4096] })},
		{"cut within the header", "", rewrite(func(data []byte) []byte { return data[:60] })},
		{"header", "", flip(0, 100)},
		{"first page", "", flip(100, 4096)},
		{"some pages", "", flip(8192, 40960)},
		{"one page", "", flip(4096, 8192)},
		{"zeroes", "", rewrite(func(data []byte) []byte { return make([]byte, len(data)) })},
		{"number", "", sql(`PRAGMA user_version = 5`)},
		{"no number", "", sql(`PRAGMA user_version = 0`)},
		{"newer", "", sql(`INSERT INTO migration VALUES ('9999-later', '2030-01-01')`)},
		{"no migrations", "", sql(`DELETE FROM migration`)},
		{"pipe", "", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			pipe(t, path)
		}},
		{"another journal", "", func(t *testing.T, path string) {
			if err := os.WriteFile(path+"-journal", []byte("no journal"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"another log", "", func(t *testing.T, path string) {
			if err := os.WriteFile(path+"-wal", []byte("no log"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"songs", "", func(t *testing.T, path string) {
			emptied(t, path, "gone")
			spoil(t, filepath.Dir(path), filepath.Base(path), `CREATE TABLE song (title)`)
		}},
		{"older", "overt.db", sql(`DELETE FROM migration WHERE name = '0004-cost'`, `ALTER TABLE call DROP COLUMN nano_usd`, `ALTER TABLE call DROP COLUMN cost_reported`)},
		{"half older", "overt.db", sql(`DELETE FROM migration WHERE name = '0004-cost'`, `ALTER TABLE call DROP COLUMN nano_usd`)},
		{"older", "captures.db", sql(`DELETE FROM migration WHERE name = '0002-outputs'`, `DROP TABLE output`)},
	}
	for _, how := range []string{"gone", "zero", "shaped"} {
		out = append(out, harm{how, "", func(t *testing.T, path string) { emptied(t, path, how) }})
	}
	for _, d := range damages() {
		out = append(out, harm{d.spoil, d.file, sql(d.spoil)})
	}
	return out
}

// TestVerdicts: whatever is done to one file or to both, what no task can open nothing calls fine, and what is called a file of
// nobody's, of another record or of a newer program no task opens.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	whole := wholeRecord(t)
	names := []string{"overt.db", "captures.db"}
	of := map[string][]harm{}
	for _, h := range harms() {
		for _, name := range names {
			if h.file == "" || h.file == name {
				of[name] = append(of[name], h)
			}
		}
	}
	compare := func(t *testing.T, facts, captures harm) (what string) {
		dir := filepath.Join(t.TempDir(), "w-0123456789ab")
		copyFiles(t, whole, dir)
		facts.do(t, filepath.Join(dir, "overt.db"))
		captures.do(t, filepath.Join(dir, "captures.db"))

		r, checkErr := store.Check(t.Context(), dir)
		seen, err := store.Glance(t.Context(), dir, 0)
		if err != nil {
			return "a glance: " + err.Error()
		}
		st, err := store.Inspect(t.Context(), dir)
		if err != nil {
			return "status: " + err.Error()
		}
		_, readErr := store.Open(t.Context(), store.Options{Dir: dir, Existing: true})
		s, openErr := store.Open(t.Context(), store.Options{Dir: dir})
		var lost *store.Lost
		if openErr == nil {
			lost = s.Lost()
			if err := s.Close(); err != nil {
				return "closing it: " + err.Error()
			}
		}
		nothing := errors.Is(checkErr, fs.ErrNotExist)
		fine := nothing || checkErr == nil && r.OK()
		glanced := !slices.ContainsFunc(seen.Files, func(g store.Glanced) bool {
			return g.State != store.Fine && g.State != store.Older && g.State != store.Absent
		})
		said := st.Files[0].Problem+st.Files[1].Problem != ""
		refuses := checkErr != nil && !nothing
		var absent bool
		if r != nil {
			for _, p := range r.Problems {
				refuses = refuses || p.Code == store.ProblemNotOurs || p.Code == store.ProblemStranger || p.Code == store.ProblemNewer
				absent = absent || p.Code == store.ProblemAbsent && p.File == "overt.db"
			}
		}
		var none *store.AbsentError
		switch {
		case openErr != nil && fine:
			return "it is not opened, and a check calls it fine: " + openErr.Error()
		case openErr != nil && glanced:
			return "it is not opened, and a glance finds nothing: " + openErr.Error()
		case openErr != nil && !said:
			return "it is not opened, and the status does not say why: " + openErr.Error()
		case openErr == nil && refuses:
			return "it is opened, and a check calls it no record of ours"
		case absent && openErr == nil && (lost == nil || !errors.As(readErr, &none)):
			return "a check misses overt.db, and who opens it does not"
		case lost != nil && (fine || !said):
			return "who opens it misses overt.db, and a check or the status does not"
		case openErr == nil && lost == nil && readErr != nil && !errors.As(readErr, &none):
			return "a reader does not open it, and a task does: " + readErr.Error()
		}
		return ""
	}
	for i, name := range names {
		for _, h := range of[name] {
			pair := []harm{of[names[0]][0], of[names[1]][0]}
			pair[i] = h
			t.Run(name+" "+h.name, func(t *testing.T) {
				if what := compare(t, pair[0], pair[1]); what != "" {
					t.Error(what)
				}
			})
		}
	}
	t.Run("both", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			facts := rapid.SampledFrom(of["overt.db"]).Draw(rt, "to overt.db")
			captures := rapid.SampledFrom(of["captures.db"]).Draw(rt, "to captures.db")
			if what := compare(t, facts, captures); what != "" {
				rt.Errorf("%s and %s: %s", facts.name, captures.name, what)
			}
		})
	})
}
