//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestKilledCommandIsUndone: of a command whose program is killed, what it had done can be taken back; while it runs nobody
// takes anything back.
func TestKilledCommandIsUndone(t *testing.T) {
	s := startStrict(t, "", runs("echo half > a.txt; rm b.txt; touch ready; sleep 300"))
	p := newPlace(t)
	p.write("a.txt", "whole\n")
	p.write("b.txt", "there\n")
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "run it")
	eventually(t, "the command runs", func() bool { return p.exists("ready") })
	if r := p.run("undo").want(t, 1); !strings.Contains(r.err, "busy") && !strings.Contains(r.err, "at work") {
		t.Errorf("an undo meanwhile says %s", r.err)
	}
	x.Process.Kill()
	x.wait()
	if out := p.run("undo").want(t, 0).out; !strings.Contains(out, "undone: 2 restored, 1 deleted") {
		t.Errorf("it says %s", out)
	}
	if p.read("a.txt") != "whole\n" || p.read("b.txt") != "there\n" || p.exists("ready") {
		t.Errorf("a.txt %q, b.txt %q, ready %t", p.read("a.txt"), p.read("b.txt"), p.exists("ready"))
	}
	eventually(t, "the command is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	sound(t, p)
}

// TestQuestionSaysWhatUndoCovers: and says that nothing is, where that is so.
func TestQuestionSaysWhatUndoCovers(t *testing.T) {
	s := startStrict(t, "", runs("touch a"), strictReply{Text: "Done."}, runs("touch b"), strictReply{Text: "Done."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict", "one")
	x.shows("undo covers what changes in this workspace, but not files outside, the network, processes")
	x.types("yes\r")
	x.ends(0)

	p.env = append(p.env, "HOME="+p.dir)
	x = p.terminal(t, "-u", s.URL, "-m", "strict", "two")
	x.shows("can't be undone: the workspace holds a home folder, and nothing of it is kept")
	x.types("yes\r")
	x.ends(0)
	if out := p.run("undo", "--list").want(t, 0); !strings.Contains(out.out, "not covered: the workspace holds a home folder, and nothing of it is kept") {
		t.Errorf("it lists %s%s", out.out, out.err)
	}
}

// TestWhatAJobWrites: what is changed in the background while only reading commands run, and after the last call, is listed, and can be
// taken back by name; a plain undo leaves it alone, since others may have done it.
func TestWhatAJobWrites(t *testing.T) {
	p := newPlace(t)
	p.write("a.txt", "one\n")
	p.write("b.txt", "one\n")
	job := "until test -e go1; do sleep 0.01; done; echo job > b.txt; echo job > made.txt; until test -e go2; do sleep 0.01; done; echo job > late.txt; sleep 300"
	s := startStrictFunc(t, func(r strictRequest, n int) (strictReply, bool) {
		run := func(args map[string]any) (strictReply, bool) {
			return strictReply{Calls: []strictCall{{Name: "run_command", Args: args}}}, true
		}
		switch n {
		case 1:
			return run(map[string]any{"command": "echo two > a.txt"})
		case 2:
			return run(map[string]any{"command": job, "background": true})
		case 3:
			p.write("go1", "")
			eventually(t, "the job has written", func() bool { return p.read("made.txt") == "job\n" })
			return run(map[string]any{"command": "cat made.txt"})
		case 4:
			p.write("go2", "")
			eventually(t, "the job has written once more", func() bool { return p.read("late.txt") == "job\n" })
		}
		return strictReply{Text: "Done."}, true
	})
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "go on").want(t, 0)
	r := p.run("undo", "--list", "--json").want(t, 0)
	var list []struct {
		ID, Tool, About, State string
		Jobs, Paths            []string
	}
	if err := json.Unmarshal([]byte(r.out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Tool != "job_1" || list[0].About != job || strings.Join(list[0].Paths, " ") != "b.txt go1 go2 late.txt made.txt" || list[1].Tool != "run_command" || len(list[1].Jobs) != 0 {
		t.Fatalf("it lists %s", r.out)
	}
	if r := p.run("undo", "--list").want(t, 0); !strings.Contains(r.out, "only overt undo --to "+list[0].ID) {
		t.Errorf("it lists %s", r.out)
	}
	p.run("db", "check").want(t, 0)

	p.write("b.txt", "mine\n")
	if p.run("undo").want(t, 0); p.read("a.txt") != "one\n" || p.read("b.txt") != "mine\n" || !p.exists("made.txt") {
		t.Errorf("a.txt %q, b.txt %q", p.read("a.txt"), p.read("b.txt"))
	}
	if r := p.run("undo").want(t, 1); !strings.Contains(r.err, "nothing is left to undo") {
		t.Errorf("it says %s%s", r.out, r.err)
	}
	p.run("undo", "--redo").want(t, 0)
	if r := p.run("undo", "--to", list[0].ID).want(t, 1); !strings.Contains(r.out, "left      b.txt: it was changed since") || p.exists("made.txt") || p.exists("late.txt") {
		t.Errorf("it says %s", r.out)
	}
	if p.run("undo", "--to", list[0].ID, "--force").want(t, 0); p.read("b.txt") != "one\n" {
		t.Errorf("b.txt %q", p.read("b.txt"))
	}
}

// TestKilledWithAJob: of a job whose program is killed, what it had written after the last call is a change of its own for whoever
// works here next, and what a person writes then is not.
func TestKilledWithAJob(t *testing.T) {
	p := newPlace(t)
	s := startStrictFunc(t, func(r strictRequest, n int) (strictReply, bool) {
		args := map[string]any{"command": "ls", "timeout": 3600}
		switch n {
		case 1:
			args = map[string]any{"command": "touch ready; until test -e go; do sleep 0.01; done; echo job > made.txt; sleep 300", "background": true}
		case 2:
			p.write("go", "")
			eventually(t, "the job has written", func() bool { return p.read("made.txt") == "job\n" })
			p.write("killed", "")
			<-t.Context().Done()
		}
		return strictReply{Calls: []strictCall{{Name: "run_command", Args: args}}}, true
	})
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "run it")
	eventually(t, "the job has written", func() bool { return p.exists("killed") })
	x.Process.Kill()
	x.wait()
	p.run("undo").want(t, 0) // of what it did while the call ran
	p.write("mine.txt", "mine")
	p.run("undo", "--redo").want(t, 0)
	r := p.run("undo", "--list", "--json").want(t, 0)
	if !strings.Contains(r.out, `"tool":"job_1"`) || !strings.Contains(r.out, "made.txt") || strings.Contains(r.out, "mine.txt") {
		t.Errorf("it lists %s", r.out)
	}
	eventually(t, "the job is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	sound(t, p)
}
