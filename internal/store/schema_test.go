package store_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"overt/internal/store"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSchema: the form of the files changes by a new migration only.
func TestSchema(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	var got strings.Builder
	for _, file := range []string{"overt.db", "captures.db"} {
		got.WriteString("-- " + file + "\n")
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.Query(`SELECT 'migration ' || name FROM migration UNION ALL SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			got.WriteString(text + ";\n")
		}
	}
	golden := filepath.Join("testdata", "schema.sql")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the form of the files is not that of %s:\n%s", golden, got.String())
	}
}

// TestForeignFiles: what is not ours, or newer than we are, is left as it is, to the byte, with the log that lies beside it.
func TestForeignFiles(t *testing.T) {
	ours := t.TempDir()
	if err := open(t, ours).Close(); err != nil {
		t.Fatal(err)
	}
	const other = "is a database of another program; move it away"
	tests := []struct {
		name    string
		from    string // a file of ours that it begins as; "": none
		queries []string
		log     bool // it is copied with a log that was not folded into it
		err     string
	}{
		{"newer", "overt.db", []string{`INSERT INTO migration VALUES ('9999-later', '2030-01-01')`}, false, `written by a newer program (it has "9999-later")`},
		{"newer with a log", "overt.db", []string{`INSERT INTO migration VALUES ('9999-later', '2030-01-01')`}, true, `written by a newer program (it has "9999-later")`},
		{"no migrations", "overt.db", []string{`DROP TABLE migration`}, false, other},
		{"the other file of ours", "captures.db", nil, false, other},
		{"songs", "", []string{`CREATE TABLE song (title)`}, false, other},
		{"songs with a log", "", []string{`PRAGMA journal_mode = WAL`, `CREATE TABLE song (title)`, `INSERT INTO song VALUES ('x')`}, true, other},
		{"in WAL mode", "", []string{`PRAGMA journal_mode = WAL`, `CREATE TABLE song (title)`}, false, other},
		{"marked", "", []string{`PRAGMA application_id = 7`}, false, other},
		{"numbered", "", []string{`PRAGMA user_version = 3`}, false, other},
		{"migrations that are empty", "", []string{`CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL)`}, false, other},
		{"migrations without names", "", []string{`CREATE TABLE migration (version INTEGER)`, `INSERT INTO migration VALUES (1)`}, false, other},
		{"migrations with other names", "", []string{`CREATE TABLE migration (name TEXT)`, `INSERT INTO migration VALUES ('0001-users')`}, false, other},
		{"migrations with a log", "", []string{`PRAGMA journal_mode = WAL`, `CREATE TABLE migration (name TEXT)`, `INSERT INTO migration VALUES ('0001-users')`}, true, other},
		{"migrations with numbers and nothing", "", []string{`CREATE TABLE migration (name)`, `INSERT INTO migration VALUES (1), (NULL), (x'00ff')`}, false, other},
		{"migrations in a view", "", []string{`CREATE TABLE m (name)`, `INSERT INTO m VALUES ('0001-record')`, `CREATE VIEW migration AS SELECT name FROM m`}, false, other},
		{"one of ours, and not the first", "", []string{`CREATE TABLE migration (name TEXT)`, `INSERT INTO migration VALUES ('0002-queue'), ('0002-outputs')`}, false, other},
	}
	for _, tt := range tests {
		for _, file := range []string{"overt.db", "captures.db"} {
			if tt.from != "" && tt.name != "the other file of ours" && file != tt.from {
				continue
			}
			t.Run(file+" "+tt.name, func(t *testing.T) {
				made, dir := t.TempDir(), t.TempDir()
				path := filepath.Join(made, "x.db")
				if tt.from != "" {
					if tt.name == "the other file of ours" {
						tt.from = map[string]string{"overt.db": "captures.db", "captures.db": "overt.db"}[file]
					}
					copyFile(t, filepath.Join(ours, tt.from), path)
				}
				db, err := sql.Open("sqlite", "file:"+path)
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				db.SetMaxOpenConns(1)
				for _, q := range tt.queries {
					if _, err := db.Exec(q); err != nil {
						t.Fatal(err)
					}
				}
				if !tt.log {
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
				copyFile(t, path, filepath.Join(dir, file))
				if tt.log {
					copyFile(t, path+"-wal", filepath.Join(dir, file+"-wal"))
				}
				unchanged(t, filepath.Join(dir, file), tt.err)
				files, err := store.Inspect(t.Context(), dir)
				if i := slices.Index([]string{"overt.db", "captures.db"}, file); err != nil || !strings.Contains(files.Files[i].Problem, tt.err) {
					t.Errorf("status: %+v, %v", files, err)
				}
				if r, err := store.Check(t.Context(), dir); err != nil || r.OK() {
					t.Errorf("check: %+v, %v", r, err)
				}
			})
		}
	}
	t.Run("no database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "overt.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		unchanged(t, path, "is no database")
	})
}

// TestForeignChange: a change of another program's that was interrupted is not ended, though a file of ours would be.
func TestForeignChange(t *testing.T) {
	made, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(made, "x.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=cache_size(1)&_pragma=cache_spill(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{
		`CREATE TABLE song (title)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO song SELECT hex(randomblob(500)) FROM n`,
		`BEGIN`,
		`UPDATE song SET title = 'x' || title`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "overt.db")
	copyFile(t, path, file)
	copyFile(t, path+"-journal", file+"-journal")
	unchanged(t, file, "is a database of another program")
}

// TestEmptyFile: what a process leaves that died before it had made a file is made by the next.
func TestEmptyFile(t *testing.T) {
	for _, shaped := range []bool{false, true} {
		dir := t.TempDir()
		for _, name := range []string{"overt.db", "captures.db"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if shaped {
				spoil(t, dir, name, `PRAGMA auto_vacuum = INCREMENTAL`, `PRAGMA journal_mode = WAL`)
			}
		}
		if files, _ := glance(t, t.Context(), dir, 0); files[0].State != store.Absent || files[1].State != store.Absent {
			t.Errorf("a glance: %+v", files)
		}
		if r, err := store.Check(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("check: %+v, %v", r, err)
		}
		if st, err := store.Inspect(t.Context(), dir); err != nil || st.Files[0].Problem != "" || st.Files[1].Problem != "" {
			t.Errorf("status: %+v, %v", st, err)
		}
		if err := open(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		check(t, dir)
	}
}

// TestEmptied: an overt.db that is empty beside a captures.db that is not has lost what it held; such a record is not kept as a backup,
// nor put in the place of another one.
func TestEmptied(t *testing.T) {
	dir := wholeRecord(t)
	if err := os.Truncate(filepath.Join(dir, "overt.db"), 0); err != nil {
		t.Fatal(err)
	}
	r, err := store.Check(t.Context(), dir)
	if err != nil || len(r.Problems) != 1 || r.Problems[0].Code != store.ProblemAbsent || r.Problems[0].File != "overt.db" {
		t.Errorf("check: %+v, %v", r, err)
	}
	if _, err := store.Backup(t.Context(), dir, store.BackupOptions{}); err == nil {
		t.Error("it was backed up")
	}
	other := wholeRecord(t)
	before := tree(t, other)
	if _, err := store.Restore(t.Context(), other, dir, true); err == nil {
		t.Error("it was restored")
	}
	after := tree(t, other)
	delete(after, "lease")
	delete(before, "lease")
	if !reflect.DeepEqual(after, before) {
		t.Error("something was changed")
	}
}

// TestEmptiedCaptures: a captures.db with nothing in it is not put in the place of one that has something.
func TestEmptiedCaptures(t *testing.T) {
	dir := wholeRecord(t)
	b := mustBackup(t, dir, store.BackupOptions{})
	if err := errors.Join(os.Truncate(filepath.Join(b.Path, "captures.db"), 0), os.Remove(filepath.Join(b.Path, "manifest.json"))); err != nil {
		t.Fatal(err)
	}
	if r, err := store.Restore(t.Context(), dir, b.Path, true); err != nil || !r.Kept || r.Captures {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := store.Check(t.Context(), dir); err != nil || !r.OK() || r.Missing != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unchanged wants Open to fail and to leave the file, its mode, and what lies beside it as they are.
func unchanged(t *testing.T, path, msg string) {
	t.Helper()
	state := func() (out [4]string) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, suffix := range []string{"", "-wal", "-journal"} {
			if data, err := os.ReadFile(path + suffix); err == nil {
				out[i] = fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data))
			}
		}
		out[3] = info.Mode().String()
		return out
	}
	before := state()
	if _, err := store.Open(t.Context(), store.Options{Dir: filepath.Dir(path)}); err == nil || !strings.Contains(err.Error(), msg) {
		t.Errorf("got %v", err)
	}
	if after := state(); after != before {
		t.Errorf("the file was changed: %q, before %q", after, before)
	}
}
