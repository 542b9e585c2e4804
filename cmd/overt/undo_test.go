//go:build linux

package main

import (
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
