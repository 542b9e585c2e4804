//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"

	"overt/internal/shell"
)

// TestKilledPlanting: what a confined command planted whose program is killed is put back by the next run, which says so, as the
// task does from then on.
func TestKilledPlanting(t *testing.T) {
	if err := shell.SandboxSupport(); err != nil {
		t.Skip("no sandbox here:", err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	s := startStrict(t, "", runs("python3 plant.py"), strictReply{Text: "Done."})
	p := newPlace(t)
	p.write("plant.py", "import os, time\nos.makedirs('.github/workflows')\nopen('.github/workflows/x.yml', 'w').write('on: push')\nopen('ready', 'w').close()\ntime.sleep(300)\n")
	x := p.start("-u", s.URL, "-m", "strict", "--permission", "auto", "run it")
	eventually(t, "the command runs", func() bool { return p.exists("ready") })
	x.Process.Kill()
	x.wait()
	eventually(t, "the command is gone", func() bool { return len(livingIn(p.dir)) == 0 })
	if !p.exists(".github/workflows/x.yml") {
		t.Fatal("nothing was planted")
	}
	first := p.show().Task
	const said = "the sandbox put back as it was, since others run or obey it later: .github"
	r := p.run("-u", s.URL, "-m", "strict", "go on").want(t, 0)
	if !strings.Contains(r.err, said) || !strings.Contains(r.err, ".github/workflows/x.yml; what stood there is kept in /") {
		t.Errorf("it says %s", r.err)
	}
	if p.exists(".github") || !p.exists("ready") {
		t.Error("it is not put back, or more than it")
	}
	if out := p.run("task", "show", first).want(t, 0).out; !strings.Contains(out, said) {
		t.Errorf("the task says %s", out)
	}
	sound(t, p)
}
