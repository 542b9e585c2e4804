package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMigration: a record of an older program is kept before its form is changed, and a newer one is refused.
//
// covers F177
func TestMigration(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	path := filepath.Join(dir, "overt.db")
	shown := p.run("task", "show", "--json").want(t, 0).out
	query(t, path, `DELETE FROM migration WHERE name = '0004-cost'`, `ALTER TABLE call DROP COLUMN nano_usd`, `ALTER TABLE call DROP COLUMN cost_reported`)
	if r := p.run("db", "check").want(t, 0); !strings.Contains(r.out, "0003-task-states") {
		t.Errorf("check says %q", r.out)
	}
	if got := p.run("task", "show", "--json").want(t, 0).out; got != shown {
		t.Error("the record is not what it was")
	}
	p.run("task", "list").want(t, 0) // the step is not taken twice
	var st struct {
		Files   []struct{ Form string }
		Backups []struct {
			Why       string
			Automatic bool
		}
	}
	if err := json.Unmarshal([]byte(p.run("db", "status", "--json").want(t, 0).out), &st); err != nil {
		t.Fatal(err)
	}
	if len(st.Backups) != 1 || !st.Backups[0].Automatic || st.Backups[0].Why != "0004-cost" || st.Files[0].Form != "0004-cost" {
		t.Errorf("%+v", st)
	}
	p.run("db", "check").want(t, 0)
	query(t, path, `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`)
	before := files(t, dir)
	for _, args := range [][]string{{"task", "list"}, {"trace"}, {"-u", "http://127.0.0.1:1", "-m", "x", "hello"}, {"db", "prune", "--captures-max", "1KB"}} {
		if r := p.run(args...).want(t, 1); !strings.Contains(r.err, `was written by a newer program (it has "9999-later"); use that one or a newer one`) {
			t.Errorf("%s says %q", args, r.err)
		}
	}
	if !maps.Equal(before, files(t, dir)) {
		t.Error("the newer record was changed")
	}
}

// TestDBWhileAtWork: a backup is taken and a check made while a run is under way; what would disturb it is refused.
func TestDBWhileAtWork(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Text: "Waiting.", Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "touch ready; until [ -e go ]; do sleep 0.02; done"}}}},
		strictReply{Text: "It came."})
	p := newPlace(t)
	first := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "wait for it")
	eventually(t, "the run is at work", func() bool { return p.exists("ready") })
	backup := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
	p.run("db", "check").want(t, 0)
	if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, fmt.Sprintf("process %d is at work here (turn)", first.Process.Pid)) {
		t.Errorf("status says %q", r.out)
	}
	for _, args := range [][]string{{"db", "restore", backup}, {"db", "prune", "--captures-max", "1KB"}} {
		if r := p.run(args...).want(t, 1); !strings.HasPrefix(r.err, fmt.Sprintf("overt: workspace busy: process %d ", first.Process.Pid)) {
			t.Errorf("%s says %q", args, r.err)
		}
	}
	p.write("go", "")
	first.wait().want(t, 0)
	p.run("db", "check").want(t, 0)
	// The backup is of the moment at which it was taken: its run never ended.
	p.run("db", "restore", backup).want(t, 0)
	if runs := p.show().Runs; len(runs) != 1 || runs[0].Status != "interrupted" {
		t.Errorf("%+v", runs)
	}
}

// TestRestoreKilled: whenever a restore is killed, the record is the old or the new one, or says how to come to the new one.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	backup := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
	facts := func() int { return len(p.show().Events) }
	old := facts()
	s := startStrict(t, "", strictReply{Text: "Again."})
	p.run("-u", s.URL, "-m", "strict", "--continue", "and on").want(t, 0)
	later := facts()
	for round := range 12 {
		x := p.start("db", "restore", backup)
		sign := []string{"restoring.json", ".incoming"}[round%2]
		if err := await(func() bool { return exists(filepath.Join(dir, sign)) || x.err.String() != "" || x.out.String() != "" }); err != nil {
			t.Fatal(err)
		}
		x.Process.Kill()
		x.wait()
		r := p.run("task", "list")
		if r.status == 1 && r.err == "overt: restoring the record from "+backup+" was interrupted\n  finish it with: overt db restore\n" {
			p.run("db", "restore").want(t, 0)
			if n := facts(); n != old {
				t.Errorf("finished, it has %d facts, want %d", n, old)
			}
			continue
		}
		r.want(t, 0)
		if n := facts(); n != old && n != later {
			t.Errorf("it has %d facts, neither %d nor %d", n, old, later)
		}
	}
	p.run("db", "check").want(t, 0)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// TestRebuilt: what is derived from the facts is made anew, after a backup.
func TestRebuilt(t *testing.T) {
	p, dir := onRecord(t)
	shown := p.run("task", "list", "--json").want(t, 0).out
	query(t, filepath.Join(dir, "overt.db"), `UPDATE task SET state = 'lost', title = 'x'`, `DELETE FROM call`)
	r := p.run("db", "check").want(t, 1)
	if !strings.Contains(r.out, "state is lost, by the facts active") || !strings.Contains(r.out, "is missing") || !strings.Contains(r.err, "overt db check --rebuild") {
		t.Errorf("check says %q %q", r.out, r.err)
	}
	r = p.run("db", "check", "--rebuild").want(t, 0)
	if !strings.Contains(r.out, filepath.Join(dir, "backups")) {
		t.Errorf("a rebuild says %q", r.out)
	}
	if got := p.run("task", "list", "--json").want(t, 0).out; got != shown {
		t.Errorf("the list is %s", got)
	}
	var done struct{ Backup *struct{} }
	if err := json.Unmarshal([]byte(p.run("db", "check", "--rebuild", "--json").want(t, 0).out), &done); err != nil || !reflect.DeepEqual(done.Backup, (*struct{})(nil)) {
		t.Errorf("nothing had to be done: %+v, %v", done, err)
	}
}

// TestNoRecord: where nothing is recorded, to look at it is no error.
func TestNoRecord(t *testing.T) {
	p := newPlace(t)
	for _, args := range [][]string{{"db", "status"}, {"db", "check"}, {"db", "check", "--rebuild"}} {
		if r := p.run(args...).want(t, 0); r.out != "" || r.err != "nothing is recorded here yet\n" {
			t.Errorf("%s says %q %q", args, r.out, r.err)
		}
		if r := p.run(append(args, "--json")...).want(t, 0); r.out != "null\n" || r.err != "" {
			t.Errorf("%s --json says %q %q", args, r.out, r.err)
		}
	}
}

// TestErasedIsNamed: every copy that may still hold a task is named when it is erased, whatever the state folder is called, and also
// when its bytes may still stand in a file.
func TestErasedIsNamed(t *testing.T) {
	t.Parallel()
	s := startStrict(t, "", strictReply{Text: "One."}, strictReply{Text: "Two."})
	p := newPlace(t)
	state := filepath.Join(filepath.Dir(p.dir), "[sta*te")
	p.env = append(p.env, "XDG_STATE_HOME="+state)
	p.run("-u", s.URL, "-m", "strict", "first").want(t, 0)
	backup := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
	p.run("db", "restore", backup).want(t, 0)
	task := p.show().Task // and so the record is written as one is from now on
	dir := filepath.Dir(filepath.Dir(backup))
	killed := filepath.Join(dir, "backups", ".overt-partial-1-1-x")
	if err := os.MkdirAll(killed, 0o700); err != nil {
		t.Fatal(err)
	}
	aside, err := os.ReadDir(filepath.Join(dir, "aside"))
	if err != nil || len(aside) != 1 || !strings.HasPrefix(dir, state) {
		t.Fatal(aside, err)
	}
	copies := []string{backup, killed, filepath.Join(dir, "aside", aside[0].Name())}
	named := func(r ran) {
		t.Helper()
		for _, c := range copies {
			if !strings.Contains(r.err, c) {
				t.Errorf("%s is not named in %q", c, r.err)
			}
		}
	}
	// A reader keeps old pages in use, so that the file can't be written anew to its end.
	db, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(filepath.Join(dir, "overt.db"), "[", "%5B"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var n int
	if _, err := db.Exec(`BEGIN`); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(`SELECT count(*) FROM fact`).Scan(&n); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	r := p.run("task", "rm", "--yes", task).want(t, 1)
	if r.out != "" || !strings.Contains(r.err, "its bytes may still stand in free space of") {
		t.Errorf("it says %q %q", r.out, r.err)
	}
	named(r)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	named(p.run("task", "rm", "--yes", task).want(t, 0))
}

// TestEphemeralKilled: what an ephemeral run leaves that is killed goes with the next start, whatever that is for; one that lives is
// left alone.
func TestEphemeralKilled(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "touch ready; until [ -e go ]; do sleep 0.02; done"}}}}, strictReply{Text: "Done."})
	p := newPlace(t)
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "--ephemeral", "wait")
	eventually(t, "the run is at work", func() bool { return p.exists("ready") })
	folders := func() (out []string) {
		for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm", os.TempDir()} {
			list, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("overt-ephemeral-%d-*", x.Process.Pid)))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, list...)
		}
		return out
	}
	p.run("task", "list")
	if got := folders(); len(got) != 1 {
		t.Fatalf("while it is at work: %q", got)
	}
	x.Process.Kill()
	p.write("go", "") // its command lives on
	x.wait()
	if got := folders(); len(got) != 1 {
		t.Fatalf("once it was killed: %q", got)
	}
	p.run("task", "list")
	if got := folders(); len(got) != 0 {
		t.Errorf("after the next start: %q", got)
	}
}

// TestUnreadRestore: where it can't be known how far a restore came, every command says so in the same words.
func TestUnreadRestore(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	p.run("db", "backup").want(t, 0)
	path := filepath.Join(dir, "restoring.json")
	if err := os.WriteFile(path, []byte(`{"from": "/x`), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "how far a restore came can't be read from " + path + " (it is not as a restore writes it)"
	const next = "move that file away, then restore a backup: overt db restore BACKUP (overt db status lists them)"
	for _, args := range [][]string{
		{"task", "list"},
		{"trace"},
		{"db", "check"},
		{"db", "restore"},
		{"db", "restore", "x"},
		{"db", "backup"},
		{"db", "prune", "--aside"},
		{"-u", "http://127.0.0.1:1/v1", "-m", "x", "hi"},
		{"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
	} {
		if args[len(args)-1] == "x" && args[0] == "db" {
			list, err := filepath.Glob(filepath.Join(dir, "backups", "*"))
			if err != nil || len(list) == 0 {
				t.Fatal(list, err)
			}
			args[2] = list[0]
		}
		if r := p.run(args...).want(t, 1); strings.Count(r.out+r.err, text) != 1 || strings.Count(r.out+r.err, next) != 1 {
			t.Errorf("%s says %q %q", args, r.out, r.err)
		}
	}
	if r := p.run("db", "status").want(t, 0); strings.Count(r.out, text) != 1 || strings.Count(r.out, next) != 1 {
		t.Errorf("status says %q", r.out)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, ".incoming")
	if err := os.Mkdir(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, "a restore that was cut short left "+in) {
		t.Errorf("status says %q", r.out)
	}
	if r := p.run("db", "prune", "--aside").want(t, 0); !strings.Contains(r.out, in) || exists(in) {
		t.Errorf("prune says %q", r.out)
	}
}

// TestBadBackups: what is wrong with a folder among the backups is said in words, and what is restored all the same is looked at.
func TestBadBackups(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	good := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
	parent := filepath.Dir(good)
	data, err := os.ReadFile(filepath.Join(good, "overt.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, manifest := range map[string]string{"a-none": "", "b-cut": "{", "c-folder": "/", "d-zero": "", "e-text": "\x1b[31m\xff"} {
		path := filepath.Join(parent, name)
		err := os.MkdirAll(path, 0o700)
		switch {
		case manifest == "/":
			err = errors.Join(err, os.Mkdir(filepath.Join(path, "manifest.json"), 0o700))
		case manifest != "":
			err = errors.Join(err, os.WriteFile(filepath.Join(path, "manifest.json"), []byte(manifest), 0o600))
		}
		body := data
		if name == "d-zero" {
			body = nil
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(path, "overt.db"), body, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out := p.run("db", "status").want(t, 0).out
	for name, text := range map[string]string{"a-none": "it has no manifest.json", "b-cut": "its manifest.json is damaged", "e-text": "its manifest.json is damaged", "c-folder": "its manifest.json can't be read: "} {
		found := false
		for line := range strings.Lines(out) {
			found = found || strings.Contains(line, name) && strings.Contains(line, text)
		}
		if !found {
			t.Errorf("of %s status says %q", name, out)
		}
	}
	if strings.Contains(out, "lstat") || strings.Contains(out, "JSON input") {
		t.Errorf("status says %q", out)
	}
	before := files(t, dir)
	r := p.run("db", "restore", "--force", filepath.Join(parent, "d-zero")).want(t, 1)
	if !strings.Contains(r.err, "nothing was changed: overt.db of the backup is damaged: it is empty") || strings.Contains(r.err, "free some space") {
		t.Errorf("a restore says %q", r.err)
	}
	if !maps.Equal(before, files(t, dir)) {
		t.Error("something was changed")
	}
}

// TestDamageIsHarmless: what a damaged file says of itself reaches no terminal as it is, and takes one line.
func TestDamageIsHarmless(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	change(t, filepath.Join(dir, "overt.db"), func(data []byte) []byte {
		return bytes.Replace(data, []byte("CREATE TABLE task ("), []byte("CREATE TABLE t\x1b]\n\xff("), 1)
	})
	query(t, filepath.Join(dir, "captures.db"), `PRAGMA ignore_check_constraints = 1`, `UPDATE capture SET call = CAST(x'1b5b33316dff0a6f766572742e64623a2066696e65' AS TEXT), url = 999 WHERE id = 1`)
	for _, args := range [][]string{{"db", "check"}, {"db", "status"}, {"task", "list"}, {"db", "backup"}, {"db", "check", "--rebuild"}, {"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"}} {
		r := p.run(args...)
		if all := r.out + r.err; strings.ContainsAny(all, "\x1b") || !utf8.ValidString(all) || strings.Contains(all, "\novert.db: fine") {
			t.Errorf("%s says %q", args, all)
		}
	}
	if r := p.run("db", "check").want(t, 1); !strings.Contains(r.out, "^[") || !strings.Contains(r.out, "<FF>") {
		t.Errorf("check says %q", r.out)
	}
}

// TestRecordOfAnotherWorkspace: a whole record that was copied or moved from another workspace works, and is told for what it is: by every
// look until a task goes on in it, which says so once.
func TestRecordOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	from, source := onRecord(t)
	p, dir := onRecord(t)
	for _, q := range []*place{from, p} {
		for _, what := range []string{"check", "status"} {
			if r := q.run("db", what).want(t, 0); strings.Contains(r.out+r.err, "another workspace") {
				t.Errorf("of its own, %s says %q", what, r.out)
			}
		}
	}
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(source))); err != nil {
		t.Fatal(err)
	}
	text := "the record here is that of another workspace, " + from.dir + "; the next task goes on in it as this one's"
	for _, what := range []string{"check", "status"} {
		if r := p.run("db", what).want(t, 0); strings.Count(r.out, text) != 1 {
			t.Errorf("%s says %q", what, r.out)
		}
	}
	p.run("task", "show").want(t, 0)
	s := startStrict(t, "", strictReply{Text: "Here."}, strictReply{Text: "And on."})
	if r := p.run("-u", s.URL, "-m", "strict", "--continue", "and on").want(t, 0); strings.Count(r.err, "overt: "+text) != 1 {
		t.Errorf("a task says %q", r.err)
	}
	for _, args := range [][]string{{"-u", s.URL, "-m", "strict", "--continue", "and on"}, {"db", "check"}, {"db", "status"}} {
		if r := p.run(args...).want(t, 0); strings.Contains(r.out+r.err, "another workspace") {
			t.Errorf("%q says it again: %q", args, r.out+r.err)
		}
	}
}
