package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onChanges makes a place with a task on record that has changed files twice, and gives the folder of its record.
func onChanges(t *testing.T) (*place, string) {
	t.Helper()
	s := startStrict(t, "", runs("echo one > a.txt", "echo two > a.txt"), strictReply{Text: "All done."})
	p := newPlace(t)
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "go on").want(t, 0)
	return p, p.recordDir()
}

// TestDamagedStates: what is wrong with files.db is found by everybody, and nobody is sent to a backup for it, since none has it and all
// else is whole.
func TestDamagedStates(t *testing.T) {
	t.Parallel()
	whole, dir := onChanges(t)
	backup := strings.TrimSpace(whole.run("db", "backup").want(t, 0).out)
	path := filepath.Join(dir, "files.db")
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(from, to int) func(*testing.T) {
		return func(t *testing.T) {
			change(t, path, func(data []byte) []byte {
				for i := from; i < min(to, len(data)); i++ {
					data[i] ^= 0xff
				}
				return data
			})
		}
	}
	for name, do := range map[string]func(t *testing.T){
		"text": func(t *testing.T) {
			change(t, path, func([]byte) []byte { return bytes.Repeat([]byte("text\n"), 5000) })
		},
		"header":     flip(0, 100),
		"first page": flip(100, 4096),
		"pages":      flip(4096, 1<<30),
		"cut":        func(t *testing.T) { change(t, path, func(data []byte) []byte { return data[:8192] }) },
		"newer":      func(t *testing.T) { query(t, path, `INSERT INTO migration VALUES ('9999-later', '2030-01-01')`) },
		"foreign": func(t *testing.T) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			query(t, path, `CREATE TABLE song (title)`, `INSERT INTO song VALUES ('x')`)
		},
		"a link to nothing": func(t *testing.T) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, "nowhere.db"), path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			do(t)
			defer func() {
				for _, p := range []string{path, path + "-wal", path + "-shm"} {
					os.Remove(p)
				}
				if err := os.WriteFile(path, kept, 0o600); err != nil {
					t.Fatal(err)
				}
			}()
			for _, args := range [][]string{
				{"db", "check"},
				{"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
				{"undo"},
			} {
				r := whole.run(args...).want(t, 1)
				said := r.out + r.err
				if !strings.Contains(said, "files.db") || strings.Contains(said, "restore") || strings.Contains(said, filepath.Base(backup)) {
					t.Errorf("%s says %q %q", args, r.out, r.err)
				}
				if name != "newer" && !strings.Contains(said, "move it away") && !strings.Contains(said, "move the link away") {
					t.Errorf("%s does not say what to do: %q %q", args, r.out, r.err)
				}
			}
			if r := whole.run("db", "status").want(t, 0); name != "pages" && !strings.Contains(r.out, "files.db: ") || strings.Contains(r.out, "restore") {
				t.Errorf("status says %q", r.out)
			}
			if exists(filepath.Join(dir, "nowhere.db")) {
				t.Error("something was made through the link")
			}
		})
	}
	whole.run("db", "check").want(t, 0)
	whole.run("undo").want(t, 0)
}

// TestLostStates: a files.db that is gone or empty is missed by who looks and, once, by who begins a new one; and what can't be undone
// for it is not said to have been pruned.
func TestLostStates(t *testing.T) {
	t.Parallel()
	const lost = "files.db is lost: 2 changes to files that the facts name can't be undone any more"
	for _, how := range []string{"gone", "empty", "damaged and moved away"} {
		for _, first := range []string{"undo", "a list", "a task"} {
			t.Run(how+", "+first, func(t *testing.T) {
				t.Parallel()
				p, dir := onChanges(t)
				path := filepath.Join(dir, "files.db")
				var err error
				switch how {
				case "gone":
					err = os.Remove(path)
				case "empty":
					err = os.Truncate(path, 0)
				default:
					err = os.Rename(path, path+".bad")
				}
				if err != nil {
					t.Fatal(err)
				}
				before := files(t, dir)
				look := func() {
					t.Helper()
					for _, what := range []string{"check", "status"} {
						if r := p.run("db", what).want(t, 0); strings.Count(r.out, lost) != 1 || strings.Contains(r.out, "files.db: empty") || strings.Contains(r.out, "files.db: not there") {
							t.Errorf("%s says %q", what, r.out)
						}
					}
				}
				look()
				if r := p.run("doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"); !strings.Contains(r.out, "files.db is lost: 2 changes") {
					t.Errorf("doctor says %q", r.out)
				}
				if !maps.Equal(before, files(t, dir)) {
					t.Error("something was made by looking")
				}
				s := startStrict(t, "", runs("echo three > a.txt"), strictReply{Text: "Done."}, strictReply{Text: "And done."})
				task := func(args ...string) ran {
					return p.run(append([]string{"-u", s.URL, "-m", "strict", "--permission", "full"}, args...)...).want(t, 0)
				}
				said := 0
				say := func(r ran) { said += strings.Count(r.err, lost) }
				switch first {
				case "undo":
					say(p.run("undo").want(t, 1))
				case "a list":
					say(p.run("undo", "--list").want(t, 0))
				default:
					say(task("--continue", "go on"))
				}
				if said != 1 {
					t.Errorf("it was said %d times", said)
				}
				look()
				if first != "a task" {
					r := p.run("undo").want(t, 1)
					if say(r); !strings.Contains(r.err, "is lost with the files.db that was here") || strings.Contains(r.err, "retention") {
						t.Errorf("undo says %q", r.err)
					}
					say(task("--continue", "go on"))
				}
				// What was done since can be undone, and what was before can't.
				if say(p.run("undo").want(t, 0)); p.read("a.txt") != "two\n" {
					t.Errorf("a.txt is %q", p.read("a.txt"))
				}
				r := p.run("undo").want(t, 1)
				if say(r); !strings.Contains(r.err, "is lost with the files.db that was here") {
					t.Errorf("undo says %q", r.err)
				}
				if say(task("--continue", "and on")); said != 1 {
					t.Errorf("it was said %d times", said)
				}
				look()
			})
		}
	}
}

// TestFactsOfAnotherWorkspace: where overt.db is the stranger, nobody says to move the rightful captures.db away.
func TestFactsOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	backup := strings.TrimSpace(p.run("db", "backup").want(t, 0).out)
	stranger, other := onRecord(t)
	path := filepath.Join(dir, "overt.db")
	data, err := os.ReadFile(filepath.Join(other, "overt.db"))
	if err != nil {
		t.Fatal(err)
	}
	change(t, path, func([]byte) []byte { return data })
	for _, args := range [][]string{
		{"task", "list"},
		{"-u", "http://127.0.0.1:1/v1", "-m", "x", "hi"},
		{"db", "check"},
		{"db", "check", "--rebuild"},
		{"db", "backup"},
		{"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
	} {
		r := p.run(args...).want(t, 1)
		said := r.out + r.err
		if !strings.Contains(said, "overt.db") || !strings.Contains(said, "another workspace") || !strings.Contains(said, "restore a backup over it") || strings.Contains(said, "move captures.db away") || strings.Contains(said, "captures.db belongs") || strings.Contains(said, "goes on in it") {
			t.Errorf("%s says %q %q", args, r.out, r.err)
		}
	}
	if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, "belongs to the record of another workspace, "+stranger.dir) || strings.Contains(r.out, "files.db is lost") || strings.Contains(r.out, "goes on in it") {
		t.Errorf("status says %q", r.out)
	}
	p.run("db", "restore", backup).want(t, 0)
	p.run("db", "check").want(t, 0)
}

// TestExchangesOfNoFact: where an older overt.db was put in place, a check tells of the exchanges that it does not know.
func TestExchangesOfNoFact(t *testing.T) {
	t.Parallel()
	p, _ := onRecord(t)
	backup := strings.TrimSpace(p.run("db", "backup", "--no-captures").want(t, 0).out)
	if r := p.run("db", "check").want(t, 0); strings.Contains(r.out, "on record") {
		t.Errorf("a check says %q", r.out)
	}
	s := startStrict(t, "", strictReply{Text: "More."})
	p.run("-u", s.URL, "-m", "strict", "and more").want(t, 0)
	p.run("db", "restore", backup).want(t, 0)
	if r := p.run("db", "check").want(t, 0); !strings.Contains(r.out, "1 exchange belongs to no call on record: facts may have been lost") {
		t.Errorf("a check says %q", r.out)
	}
}

// TestNextSteps: what is said to be done next can be done.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	p, dir := onRecord(t)
	path := filepath.Join(dir, "captures.db")
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(t, path, func(data []byte) []byte { return data[:8192] })
	if r := p.run("db", "status").want(t, 0); strings.Contains(r.out, "overt db status") || strings.Contains(r.out, "restore") || !strings.Contains(r.out, "`overt db check` says what is left of it and what to do") {
		t.Errorf("status says %q", r.out)
	}
	if r := p.run("db", "check").want(t, 1); !strings.Contains(r.err, "there is no backup of it here: move it away") {
		t.Errorf("a check says %q", r.err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := p.run("db", "backup").want(t, 0); strings.Contains(r.err, "asked") || !strings.Contains(r.err, "it has no captures.db, since there is none here") {
		t.Errorf("a backup says %q", r.err)
	}
	if r := p.run("db", "status").want(t, 0); strings.Contains(r.out, "asked") || !strings.Contains(r.out, "without captures (made on request)") {
		t.Errorf("status says %q", r.out)
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	p.make("there")
	if r := p.run("db", "backup", "there").want(t, 1); !strings.HasSuffix(r.err, "there is there already, and nothing is overwritten; name a folder that does not exist yet\n") {
		t.Errorf("a backup to what is there says %q", r.err)
	}
}

// TestLinksToNothing: a file of the record that is a link to nothing is said to be one, and nothing is made through it.
func TestLinksToNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"overt.db", "captures.db"} {
		t.Run(name, func(t *testing.T) {
			p, dir := onRecord(t)
			path, to := filepath.Join(dir, name), filepath.Join(t.TempDir(), "elsewhere.db")
			if err := os.Rename(path, to+".bak"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
			text := path + " is a link to " + to + ", which is not there"
			for _, args := range [][]string{
				{"task", "list"}, {"-u", "http://127.0.0.1:1/v1", "-m", "x", "hi"}, {"db", "check"}, {"db", "backup"}, {"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
			} {
				if r := p.run(args...).want(t, 1); !strings.Contains(r.out+r.err, text) || strings.Contains(r.out+r.err, "check the rights") {
					t.Errorf("%s says %q %q", args, r.out, r.err)
				}
			}
			if r := p.run("db", "status").want(t, 0); !strings.Contains(r.out, text) {
				t.Errorf("status says %q", r.out)
			}
			if exists(to) {
				t.Error("something was made through the link")
			}
			if err := os.Rename(to+".bak", to); err != nil {
				t.Fatal(err)
			}
			p.run("db", "check").want(t, 0)
			p.run("task", "list").want(t, 0)
		})
	}
}

// TestOddPath: a workspace whose path is not UTF-8 is not another one than itself.
func TestOddPath(t *testing.T) {
	t.Parallel()
	s := startStrict(t, "", strictReply{Text: "One."}, strictReply{Text: "Two."})
	p := newPlace(t)
	odd := filepath.Join(p.dir, "odd\xff\xfe name")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Skip("this file system has no such names:", err)
	}
	for _, args := range [][]string{{"-u", s.URL, "-m", "strict", "hi"}, {"-u", s.URL, "-m", "strict", "hi again"}, {"db", "check"}, {"db", "status"}} {
		if r := p.run(append([]string{"-C", odd}, args...)...).want(t, 0); strings.Contains(r.out+r.err, "another workspace") {
			t.Errorf("%s says %q %q", args, r.out, r.err)
		}
	}
}

// TestStatesOfAnotherWorkspace: a files.db of another record is known for one by everybody, in one line that says what to do. It is neither
// read nor written, and once it is moved away all goes on.
func TestStatesOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	p, dir := onChanges(t)
	_, other := onChanges(t)
	data, err := os.ReadFile(filepath.Join(other, "files.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "files.db")
	change(t, path, func([]byte) []byte { return data })
	s := startStrict(t, "", runs("echo three > a.txt"), strictReply{Text: "It did not run."}, strictReply{Text: "No tool."})
	task := []string{"-u", s.URL, "-m", "strict", "--permission", "full", "--continue"}
	for _, args := range [][]string{
		{"undo"},
		{"undo", "--list"},
		{"undo", "--dry-run"},
		{"undo", "--redo"},
		{"db", "check"},
		{"db", "prune", "--files-older-than", "1s"},
		{"doctor", "--offline", "-u", "http://127.0.0.1:1/v1", "-m", "x"},
		{"task", "rm", "last", "--yes"},
	} {
		r := p.run(args...).want(t, 1)
		said := r.out + r.err
		if strings.Count(said, "belongs to the record of another workspace") != 1 || !strings.Contains(said, "files.db") || !strings.Contains(said, "move it away") {
			t.Errorf("%s says %q %q", args, r.out, r.err)
		}
		for _, word := range []string{"retention", "damaged", "is lost", "restore"} {
			if strings.Contains(said, word) {
				t.Errorf("%s says %q: %q %q", args, word, r.out, r.err)
			}
		}
	}
	if r := p.run("db", "status").want(t, 0); strings.Count(r.out, "it belongs to the record of another workspace; move it away") != 1 || strings.Contains(r.out, "is lost") {
		t.Errorf("status says %q", r.out)
	}
	if r := p.run("db", "check", "--json").want(t, 1); !strings.Contains(r.out, `"code":"stranger","file":"files.db"`) || !strings.Contains(r.out, `"lost_changes":0`) {
		t.Errorf("check says %q", r.out)
	}
	if r := p.run(append(task, "go on")...).want(t, 0); !strings.Contains(r.err, "files.db belongs to the record of another workspace; move it away") || p.read("a.txt") != "two\n" {
		t.Errorf("a.txt is %q, and a task says %q", p.read("a.txt"), r.err)
	}
	p.run(append(task, "just talk")...).want(t, 0)
	change(t, path, func(now []byte) []byte {
		if !bytes.Equal(now, data) {
			t.Error("the other record's file was changed")
		}
		return now
	})
	if err := os.Rename(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	p.run("db", "check").want(t, 0)
	p.run("undo", "--list").want(t, 0)
	p.run("db", "check").want(t, 0)
}

// TestStatesAreLeft: a files.db that is all that is left of a record is no other workspace's, and is used on.
func TestStatesAreLeft(t *testing.T) {
	t.Parallel()
	p, dir := onChanges(t)
	for _, name := range []string{"overt.db", "captures.db"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := startStrict(t, "", runs("echo three > a.txt"), strictReply{Text: "Done."})
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "begin anew").want(t, 0)
	if p.run("undo").want(t, 0); p.read("a.txt") != "two\n" {
		t.Errorf("a.txt is %q", p.read("a.txt"))
	}
	p.run("db", "check").want(t, 0)
}
