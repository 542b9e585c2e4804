package main

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// onRecord makes a place with a task on record, and gives the folder of its record.
func onRecord(t *testing.T) (*place, string) {
	t.Helper()
	s := startStrict(t, "", strictReply{Text: "Hello.", Calls: []strictCall{{Name: "list_files", Args: map[string]any{}}}}, strictReply{Text: "All done."})
	p := newPlace(t)
	p.run("-u", s.URL, "-m", "strict", "say hello").want(t, 0)
	return p, p.recordDir()
}

// recordDir is the folder of the place's record.
func (p *place) recordDir() string {
	p.t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state", "overt", "workspaces", "w-*"))
	if err != nil || len(list) != 1 {
		p.t.Fatalf("%q, %v", list, err)
	}
	return list[0]
}

// query runs statements on a database file.
func query(t testing.TB, path string, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// files gives the content of all files below a folder but the lease.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lease" {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// change rewrites a file.
func change(t testing.TB, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamage: each kind of damage ends in one line that says what to do; nothing is changed by looking, by a task that is
// refused, or by a backup of it; a restore brings everything back.
//
// covers F174
func TestDamage(t *testing.T) {
	t.Parallel()
	page := func(from, to int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			change(t, path, func(data []byte) []byte {
				for i := from; i < min(to, len(data)); i++ {
					data[i] ^= 0xff
				}
				return data
			})
		}
	}
	cut := func(t *testing.T, path string) {
		change(t, path, func(data []byte) []byte { return data[:len(data)/8192*4096] })
	}
	text := func(t *testing.T, path string) {
		change(t, path, func([]byte) []byte { return bytes.Repeat([]byte("This is a text.\n"), 1000) })
	}
	foreign := func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		query(t, path, `CREATE TABLE song (title)`, `INSERT INTO song VALUES ('x')`)
	}
	newer := func(t *testing.T, path string) {
		query(t, path, `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`)
	}
	tests := []struct {
		name, file string
		do         func(t *testing.T, path string)
		refused    string // of a task; "": damage that shows only where it is read
		found      string // by check
	}{
		{"text", "overt.db", text, "is no database", "file is not a database"},
		{"foreign", "overt.db", foreign, "is a database of another program; move it away", "no table of ours"},
		{"newer", "overt.db", newer, "was written by a newer program", "only a newer program knows this"},
		{"cut", "overt.db", cut, "is damaged", "malformed"},
		{"header", "overt.db", page(0, 100), "is no database", "file is not a database"},
		{"first page", "overt.db", page(100, 4096), "is damaged", "malformed"},
		{"some pages", "overt.db", page(8192, 40960), "", ""},
		{"text", "captures.db", text, "is no database", "file is not a database"},
		{"foreign", "captures.db", foreign, "is a database of another program; move it away", "no table of ours"},
		{"newer", "captures.db", newer, "was written by a newer program", "only a newer program knows this"},
		{"cut", "captures.db", cut, "is damaged", "malformed"},
		{"some pages", "captures.db", page(8192, 40960), "", ""},
	}
	whole, dir := onRecord(t)
	once := func(t *testing.T, r ran) ran { // no line says it twice
		t.Helper()
		for line := range strings.Lines(r.out + r.err) {
			for _, text := range []string{"is damaged", "is no database", "overt.db ", "captures.db "} {
				if strings.Count(line, text) > 1 {
					t.Errorf("%q is said twice in %q", text, line)
				}
			}
		}
		return r
	}
	whole.run("db", "backup").want(t, 0)
	good := files(t, dir)
	shown := whole.run("task", "show", "--json").want(t, 0).out
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.name, func(t *testing.T) {
			p := *whole
			p.t = t
			t.Cleanup(func() { // as it was, for the next one
				for _, name := range []string{"overt.db", "captures.db"} {
					for _, suffix := range []string{"", "-wal", "-shm"} {
						os.Remove(filepath.Join(dir, name+suffix))
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(good["/"+name]), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			})
			path := filepath.Join(dir, tt.file)
			tt.do(t, path)
			bad := files(t, dir)
			if tt.refused != "" {
				r := once(t, p.run("-u", "http://127.0.0.1:1", "-m", "x", "--retries", "0", "hello").want(t, 1))
				if first, _, _ := strings.Cut(r.err, "\n"); !strings.HasPrefix(first, "overt: ") || !strings.Contains(first, path) || !strings.Contains(first, tt.refused) || r.out != "" {
					t.Errorf("a task says %q %q", r.err, r.out)
				}
			}
			once(t, p.run("doctor", "--offline"))
			r := once(t, p.run("db", "check").want(t, 1))
			next := "overt db restore"
			if tt.name == "newer" {
				next = "use that one or a newer one"
			}
			if tt.name == "foreign" && tt.file == "captures.db" {
				next = "move captures.db away"
			}
			if !strings.Contains(r.out, tt.file) || !strings.Contains(r.out, tt.found) || !strings.Contains(r.err, next) {
				t.Errorf("check says %q %q", r.out, r.err)
			}
			if r := p.run("db", "check", "--rebuild").want(t, 1); !strings.Contains(r.err, "were not rebuilt") {
				t.Errorf("a rebuild says %q", r.err)
			}
			if r := once(t, p.run("db", "status").want(t, 0)); !strings.Contains(r.out, tt.file+": ") {
				t.Errorf("status says %q", r.out)
			}
			if r := once(t, p.run("db", "backup").want(t, 1)); r.out != "" {
				t.Errorf("a backup says %q", r.out)
			}
			after := files(t, dir)
			for _, suffix := range []string{"-wal", "-shm"} { // empty ones may have come
				for _, name := range []string{"/overt.db", "/captures.db"} {
					if len(bad[name+suffix]) == 0 {
						delete(after, name+suffix)
					}
				}
			}
			if !maps.Equal(bad, after) {
				t.Error("something was changed")
			}
			backups, err := os.ReadDir(filepath.Join(dir, "backups"))
			if err != nil || len(backups) != 1 {
				t.Fatalf("%d backups, %v", len(backups), err)
			}
			restore := []string{"db", "restore", backups[0].Name()}
			if tt.name == "newer" { // it is whole, and this program can't know what it holds
				for _, args := range [][]string{{"db", "check"}, {"db", "check", "--rebuild"}, {"db", "backup"}, restore} {
					if r := p.run(args...).want(t, 1); !strings.Contains(r.err, "use that one or a newer one") || strings.Contains(r.out+r.err, "damaged") {
						t.Errorf("%s says %q %q", args, r.out, r.err)
					}
				}
				if got := files(t, dir)["/"+tt.file]; got != bad["/"+tt.file] {
					t.Error("a restore that was refused has changed something")
				}
				restore = append(restore, "--force")
			}
			restored := p.run(restore...).want(t, 0)
			_, aside, _ := strings.Cut(strings.TrimSpace(restored.out), "what was here before: ")
			if kept, err := os.ReadFile(filepath.Join(aside, tt.file)); err != nil || string(kept) != bad["/"+tt.file] {
				t.Errorf("what was there is not set aside as it was: %v", err)
			}
			if got := p.run("task", "show", "--json").want(t, 0).out; got != shown {
				t.Error("the record is not what it was")
			}
			p.run("db", "check").want(t, 0)
		})
	}
}

// TestMissingCaptures: without captures.db everything works. That it is lost is told in the same words by every look, before and after
// somebody begins a new one, and once by who does; who only reads makes none.
func TestMissingCaptures(t *testing.T) {
	t.Parallel()
	const lost = "captures.db is lost: the bytes of 2 exchanges that the facts name are gone with it"
	for _, how := range []string{"gone", "empty"} {
		t.Run(how, func(t *testing.T) {
			p, dir := onRecord(t)
			shown := p.run("task", "show", "--json").want(t, 0).out
			path := filepath.Join(dir, "captures.db")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if how == "empty" {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			look := func() {
				t.Helper()
				for _, what := range []string{"check", "status"} {
					r := p.run("db", what).want(t, 0)
					if strings.Count(r.out, lost) != 1 || strings.Contains(r.out, "not there") || strings.Contains(r.out, "captures.db: empty") || strings.Contains(r.out, "pruned") {
						t.Errorf("%s says %q", what, r.out)
					}
				}
			}
			before := files(t, dir)
			look()
			if r := p.run("task", "show", "--json").want(t, 0); r.out != shown || r.err != "" {
				t.Errorf("the facts are others now: %q", r.err)
			}
			for _, args := range [][]string{{"trace"}, {"task", "list"}, {"usage"}} {
				if r := p.run(args...).want(t, 0); strings.Contains(r.err, "captures.db") {
					t.Errorf("%s says %q", args, r.err)
				}
			}
			r := p.run("trace", "--call", "1").want(t, 1)
			const missing = "overt: the capture of this call is missing: captures.db is lost (it was removed, emptied or left out of a backup)\n"
			if r.err != missing {
				t.Errorf("trace says %q", r.err)
			}
			p.run("trace", "--call", "1", "--raw", "request").want(t, 1)
			look()
			if !maps.Equal(before, files(t, dir)) {
				t.Error("something was made by reading")
			}
			s := startStrict(t, "", strictReply{Text: "Again."}, strictReply{Text: "And again."})
			r = p.run("-u", s.URL, "-m", "strict", "--continue", "and on").want(t, 0)
			if strings.Count(r.err, "overt: "+lost) != 1 {
				t.Errorf("a task says %q", r.err)
			}
			if r := p.run("-u", s.URL, "-m", "strict", "--continue", "and on").want(t, 0); strings.Contains(r.err, "captures.db") {
				t.Errorf("the next task says %q", r.err)
			}
			p.run("trace", "--call", "3", "--raw", "request").want(t, 0)
			if r := p.run("trace", "--call", "1").want(t, 1); r.err != missing {
				t.Errorf("once a new one is begun, trace says %q", r.err)
			}
			look()
		})
	}
}

// TestCapturesOfAnotherWorkspace are not taken for the present one's.
func TestCapturesOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	_, other := onRecord(t)
	path := filepath.Join(dir, "captures.db")
	data, err := os.ReadFile(filepath.Join(other, "captures.db"))
	if err != nil {
		t.Fatal(err)
	}
	change(t, path, func([]byte) []byte { return data })
	r := p.run("task", "list").want(t, 1)
	if !strings.HasPrefix(r.err, "overt: "+path+" belongs to the record of another workspace; move it away") {
		t.Errorf("it says %q", r.err)
	}
	const text = "captures.db: it belongs to the record of another workspace; move it away"
	if r := p.run("db", "check").want(t, 1); !strings.Contains(r.out, text) || !strings.Contains(r.err, "no task can use the record like this") {
		t.Errorf("check says %q %q", r.out, r.err)
	}
	if r := p.run("db", "check", "--rebuild").want(t, 1); !strings.Contains(r.err, "captures.db is not of this record, so the tables were not rebuilt; move it away") || strings.Contains(r.err, "restore") {
		t.Errorf("a rebuild says %q", r.err)
	}
	if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, "it belongs to the record of another workspace; move it away") {
		t.Errorf("status says %q", r.out)
	}
	if r := p.run("db", "backup").want(t, 1); r.out != "" || !strings.Contains(r.err, "belongs to the record of another workspace; move it away") {
		t.Errorf("a backup says %q %q", r.out, r.err)
	}
	if r := p.run("db", "restore", "--force", dir).want(t, 1); !strings.Contains(r.err, "its files belong to the records of different workspaces") {
		t.Errorf("a restore says %q", r.err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
		t.Error("it was changed")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.run("db", "check").want(t, 0)
	p.run("task", "list").want(t, 0)
}

// TestGone: where overt.db is gone or empty and the rest is there, check and status say so and name the backup, which brings it back.
func TestGone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"gone", "empty"} {
		t.Run(how, func(t *testing.T) {
			p, dir := onRecord(t)
			shown := p.run("task", "show", "--json").want(t, 0).out
			backup := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
			path := filepath.Join(dir, "overt.db")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if how == "empty" {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			text := "overt.db is " + how
			if err := os.Rename(backup, backup+"x"); err != nil {
				t.Fatal(err)
			}
			hidden := filepath.Join(dir, "backups")
			if err := os.Rename(hidden, hidden+"-elsewhere"); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"db", "check"}, {"db", "check", "--rebuild"}, {"task", "list"}, {"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"}} {
				if r := p.run(args...).want(t, 1); !strings.Contains(r.out+r.err, "there is no backup") || strings.Contains(r.out+r.err, "restore BACKUP") || strings.Contains(r.out+r.err, "lists backups") {
					t.Errorf("%s says %q %q", args, r.out, r.err)
				}
			}
			if err := errors.Join(os.Rename(hidden+"-elsewhere", hidden), os.Rename(backup+"x", backup)); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			r := p.run("db", "check").want(t, 1)
			if !strings.Contains(r.out, text+", though 2 exchanges of it are kept; restore it with: overt db restore "+backup) {
				t.Errorf("check says %q", r.out)
			}
			if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, text+", though 2 exchanges") || !strings.Contains(r.out, filepath.Base(backup)) {
				t.Errorf("status says %q", r.out)
			}
			for _, args := range [][]string{
				{"task", "list"},
				{"trace"},
				{"task", "pause", "last"},
				{"usage"},
				{"db", "backup"},
				{"db", "prune", "--backups-keep", "0"},
				{"db", "check", "--rebuild"},
				{"-u", "http://127.0.0.1:1/v1", "-m", "x", "--continue", "hi"},
				{"-u", "http://127.0.0.1:1/v1", "-m", "x", "--resume", "last", "hi"},
				{"-u", "http://127.0.0.1:1/v1", "-m", "x", "--fork", "last", "hi"},
				{"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
			} {
				if r := p.run(args...).want(t, 1); !strings.Contains(r.out+r.err, text) {
					t.Errorf("%s says %q %q", args, r.out, r.err)
				}
			}
			if !maps.Equal(before, files(t, dir)) {
				t.Error("something was changed")
			}
			// A task begins a new record, and says once what is left of the old one.
			s := startStrict(t, "", strictReply{Text: "Anew."}, strictReply{Text: "And on."})
			if r := p.run("-u", s.URL, "-m", "strict", "hello").want(t, 0); !strings.Contains(r.err, "overt: overt.db was gone or empty, and a new record is begun; 2 exchanges") || !strings.Contains(r.err, backup) {
				t.Errorf("a task says %q", r.err)
			}
			if r := p.run("-u", s.URL, "-m", "strict", "hello again").want(t, 0); strings.Contains(r.err, "gone") {
				t.Errorf("the next task says %q", r.err)
			}
			p.run("db", "restore", backup).want(t, 0)
			if got := p.run("task", "show", "--json").want(t, 0).out; got != shown {
				t.Error("the record is not what it was")
			}
		})
	}
}
