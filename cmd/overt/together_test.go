package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestBusy: a second process in a workspace is told who is at work there, and can read meanwhile.
// covers F176
func TestBusy(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Text: "Waiting.", Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "touch ready; until [ -e go ]; do sleep 0.02; done"}}}},
		strictReply{Text: "It came."})
	p := newPlace(t)
	first := p.start("-u", s.URL, "-m", "strict", "--permission", "full", "wait for it")
	eventually(t, "the first is at work", func() bool { return p.exists("ready") })

	r := p.run("-u", s.URL, "-m", "strict", "me too").want(t, 1)
	if want := fmt.Sprintf("overt: workspace busy: process %d ", first.Process.Pid); !strings.HasPrefix(r.err, want) || r.out != "" {
		t.Errorf("stderr %q, want %q; stdout %q", r.err, want, r.out)
	}
	r = p.run("-u", s.URL, "-m", "strict", "--output", "json", "--continue", "me too").want(t, 1)
	if !strings.Contains(r.out, `"status":"refused"`) || !strings.Contains(r.out, "workspace busy") {
		t.Errorf("%+v", r)
	}
	if r := p.run("task", "list").want(t, 0); strings.Count(r.out, "\n") != 1 || !strings.Contains(r.out, "wait for it") {
		t.Errorf("task list: %s", r.out)
	}
	if r := p.run("trace").want(t, 0); !strings.Contains(r.out, "completed") {
		t.Errorf("trace: %s", r.out)
	}
	if r := p.run("task", "show").want(t, 0); !strings.Contains(r.out, "Waiting.") {
		t.Errorf("task show: %s", r.out)
	}
	p.write("go", "")
	if r := first.wait().want(t, 0); r.out != "It came.\n" {
		t.Errorf("the first: %+v", r)
	}
	s.valid(t)
	if n := len(s.exchanges()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestEight runs eight workspaces at once, which share a state folder.
func TestEight(t *testing.T) {
	s := startStrictFunc(t, job)
	first := newPlace(t)
	var places []*place
	var running []*process
	for i := range 8 {
		p := &place{t: t, dir: filepath.Join(filepath.Dir(first.dir), fmt.Sprintf("w%d", i)), env: first.env}
		p.make(".overt")
		places = append(places, jobPlace(p))
	}
	for _, p := range places {
		running = append(running, p.start("-u", s.URL, "-m", "strict", "--permission", "full", "do all steps"))
	}
	for i, x := range running {
		if r := x.wait(); r.status != 0 || r.out != "All steps are done.\n" {
			t.Errorf("run %d: %+v", i, r)
		}
		if n := jobEffects(places[i]); len(n) != jobSteps {
			t.Errorf("run %d: %v", i, n)
		}
	}
	s.valid(t)
}
