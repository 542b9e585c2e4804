//go:build linux

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// TestKill kills the program at instants that are spread over a task of 20 steps, and goes on with it.
// covers F030 F046 F074 F169
func TestKill(t *testing.T) {
	instants, seed := 50, uint64(7)
	if raceEnabled { // which looks at goroutines, and these are many
		instants = 15
	}
	random := rand.New(rand.NewPCG(seed, seed))
	s := startStrictFunc(t, job)
	began := time.Now()
	p := jobPlace(newPlace(t))
	p.run(jobArgs(s)...).want(t, 0)
	whole := time.Since(began)
	t.Logf("the task takes %d ms", whole.Milliseconds())
	for i := range instants {
		at := time.Duration((float64(i) + random.Float64()) / float64(instants) * float64(whole))
		t.Run(fmt.Sprintf("%03dms", at.Milliseconds()), func(t *testing.T) {
			t.Parallel()
			killAndGoOn(t, at)
		})
	}
}

func jobArgs(s *strictServer, more ...string) []string {
	return append([]string{"-u", s.URL, "-m", "strict", "--permission", "full"}, append(more, "do all steps")...)
}

func killAndGoOn(t *testing.T, at time.Duration) {
	s := startStrictFunc(t, job)
	p := jobPlace(newPlace(t))
	x := p.start(jobArgs(s, "--output", "stream-json")...)
	timer := time.AfterFunc(at, func() { x.Process.Kill() })
	defer timer.Stop()
	seen := eventsOf(t, x.wait().out)

	if len(seen) == 0 {
		var tasks []any
		if err := json.Unmarshal([]byte(p.run("task", "list", "--json").want(t, 0).out), &tasks); err != nil {
			t.Fatal(err)
		}
		if len(tasks) == 0 { // nothing was promised yet
			p.run(jobArgs(s, "--continue")...).want(t, 2)
			if n := jobEffects(p); len(n) > 0 {
				t.Errorf("effects without a record: %v", n)
			}
			return
		}
	}
	before := p.show()
	open := openIn(before.Events)
	r := p.run(jobArgs(s, "--continue")...).want(t, 0)

	if r.out != "All steps are done.\n" {
		t.Errorf("answer %q", r.out)
	}
	s.valid(t)
	ended := false
	for _, e := range before.Events { // after it come the ends of jobs
		ended = e.Kind == "run.completed" || ended && e.Kind != "run.accepted"
	}
	if said := strings.Contains(r.err, ") was interrupted; "); said == ended {
		t.Errorf("ended: %v, said to be interrupted: %v\n%s", ended, said, r.err)
	}
	for _, name := range open {
		if !strings.Contains(r.err, "  "+name+"  ") {
			t.Errorf("%s was under way, and is not named:\n%s", name, r.err)
		}
	}
	if left := livingIn(p.dir); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
	effects := jobEffects(p)
	for step, n := range effects {
		if n != 1 {
			t.Errorf("step %s took effect %d times", step, n)
		}
	}
	if missing := jobSteps - len(effects); missing > len(open)+1 {
		t.Errorf("%d steps are missing, %d calls were under way", missing, len(open))
	}
	keeps(t, p.show().Events, before.Events)
	keeps(t, before.Events, seen)
	sound(t, p)
}

// openIn names the tools of the calls that were started and did not end.
func openIn(events []streamEvent) (names []string) {
	open := map[string]string{}
	for _, e := range events {
		switch e.Kind {
		case "tool.started":
			var d struct{ Name string }
			json.Unmarshal(e.Data, &d)
			open[e.Subject] = d.Name
		case "tool.completed":
			delete(open, e.Subject)
		}
	}
	for _, name := range open {
		names = append(names, name)
	}
	return names
}

// keeps fails the test if an event that was given out before is gone or another one now.
func keeps(t *testing.T, now, before []streamEvent) {
	t.Helper()
	have := map[int64]streamEvent{}
	for _, e := range now {
		have[*e.Seq] = e
	}
	for _, e := range before {
		if got, ok := have[*e.Seq]; !ok || got.Kind != e.Kind || got.Subject != e.Subject || !bytes.Equal(got.Data, e.Data) {
			t.Errorf("event %d was %s %s, and is %s %s now", *e.Seq, e.Kind, e.Data, got.Kind, got.Data)
		}
	}
}

// sound checks the databases of a place.
func sound(t *testing.T, p *place) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "state/overt/workspaces/*/*.db"))
	if err != nil || len(files) < 2 {
		t.Fatalf("databases: %v, %v", files, err)
	}
	for _, file := range files {
		db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		var verdict string
		if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("%s: %s %v", file, verdict, err)
		}
		db.Close()
	}
}

// livingIn lists the commands of the processes that work in a folder.
func livingIn(dir string) (out []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err != nil || cwd != dir {
			continue
		}
		if line, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")); err == nil && len(line) > 0 { // empty: it is dead
			out = append(out, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return out
}

// TestKillCommand: a command that outlives the program is ended by the next run, and the person is told.
func TestKillCommand(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Text: "Starting.", Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "sleep 300 & sleep 300 & touch ready; wait"}}}},
		strictReply{Text: "It was interrupted."})
	p := newPlace(t)
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "start it")
	eventually(t, "the command runs", func() bool { return p.exists("ready") })
	x.Process.Kill()
	if r := x.wait(); r.status != -1 {
		t.Fatalf("%+v", r)
	}
	if left := livingIn(p.dir); len(left) < 2 {
		t.Fatalf("the test's own assumption: children survive; alive are %v", left)
	}
	p.run("task", "list").want(t, 0) // reading ends nothing
	if left := livingIn(p.dir); len(left) < 2 {
		t.Errorf("reading has ended commands; alive are %v", left)
	}
	r := p.run("-u", s.URL, "-m", "strict", "--continue", "go on").want(t, 0)
	for _, want := range []string{") was interrupted; ", "run_command  sleep 300", "it was still running and has been ended", "nothing of it was run again"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is not said:\n%s", want, r.err)
		}
	}
	eventually(t, "the command is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	s.valid(t)
	last := s.exchanges()[1].Request
	if !bytes.Contains(last, []byte("its outcome is unknown")) {
		t.Errorf("the model is not told: %s", last)
	}
	sound(t, p)
}

// TestKillForeseen: after a run was killed under a command, the list and the look ahead say what an undo then does, and that others may
// have changed some of it; they change nothing.
func TestKillForeseen(t *testing.T) {
	s := startStrict(t, "", strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "echo two > a; touch ready; sleep 300"}}}})
	p := newPlace(t)
	p.write("a", "one\n")
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "start it")
	eventually(t, "the command runs", func() bool { return p.exists("ready") })
	for _, args := range [][]string{{"undo", "--list"}, {"undo", "--dry-run"}} { // while it is at work nothing is taken for its end
		if r := p.run(args...); strings.Contains(r.out, "killed") || strings.Contains(r.out, "restored") {
			t.Errorf("%q, while it runs: %+v", args, r)
		}
	}
	x.Process.Kill()
	x.wait()
	for range 2 {
		list := p.run("undo", "--list").want(t, 0)
		ahead := p.run("undo", "--dry-run").want(t, 0)
		if !strings.Contains(list.out, "echo two > a; touch ready; sleep 300 — 2 paths\n  changed while or after the command ran that was killed") {
			t.Errorf("the list is %q", list.out)
		}
		if !strings.Contains(ahead.out, "restored  a\ndeleted   ready\n1 to restore, 1 to delete\nthis was changed while or after the command ran that was killed") {
			t.Errorf("ahead it is %q", ahead.out)
		}
	}
	if !p.exists("ready") {
		t.Error("to look has changed something")
	}
	done := p.run("undo").want(t, 0)
	if !strings.Contains(done.out, "restored  a\ndeleted   ready\nundone: 1 restored, 1 deleted\nthis was changed while or after the command ran that was killed") {
		t.Errorf("the undo says %q", done.out)
	}
	if p.exists("ready") || p.read("a") != "one\n" {
		t.Errorf("a is %q", p.read("a"))
	}
	sound(t, p)
}
