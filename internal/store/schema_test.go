package store_test

import (
	"bytes"
	"database/sql"
	"flag"
	"os"
	"path/filepath"
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

// TestForeignFiles: what is not ours, or newer than we are, is left as it is.
func TestForeignFiles(t *testing.T) {
	tests := []struct{ name, sql, err string }{
		{"newer", `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`, `written by a newer program (it has "9999-later")`},
		{"foreign", `DROP TABLE migration`, "a database of another program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := open(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "overt.db")
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(tt.sql); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			unchanged(t, path, tt.err)
		})
	}
	t.Run("no database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "overt.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		unchanged(t, path, "is no database")
	})
}

// unchanged wants Open to fail and to leave the file as it is.
func unchanged(t *testing.T, path, msg string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Options{Dir: filepath.Dir(path)}); err == nil || !strings.Contains(err.Error(), msg) {
		t.Errorf("got %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
}
