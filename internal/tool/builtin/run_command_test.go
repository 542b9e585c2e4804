package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
)

// covers A015 F073 F156 L191
func TestRunCommand(t *testing.T) {
	b := setUp(t, map[string]string{"sub/f": "x\n", "in": "-> sub"})
	for _, c := range []struct {
		args                  args
		status, code, content string
		exit                  int
	}{
		{args{"command": "echo hi; echo oops >&2"}, "", "", "exit 0\nhi\noops\n", 0},
		{args{"command": "echo hi; exit 3"}, "error", "exit_3", "exit 3\nhi\n", 3},
		{args{"command": "true"}, "", "", "exit 0; no output\n", 0},
		{args{"command": `printf '\0\0\0'`}, "", "", "exit 0; 3 bytes of output without any text; od -c shows such\n", 0},
		{args{"command": `printf '\0\33[2J'; exit 1`}, "error", "exit_1", "exit 1; 5 bytes of output without any text; od -c shows such\n", 1},
		{args{"command": `printf '\n'`}, "", "", "exit 0\n\n", 0},
		{args{"command": "kill -TERM $$"}, "error", "signal", "ended by signal: terminated; no output\n", -1},
		{args{"command": "cat f", "cwd": "sub", "intent": "look"}, "", "", "exit 0\nx\n", 0},
		{args{"command": "cat f", "cwd": "in"}, "", "", "exit 0\nx\n", 0},
		{args{"command": "cat f", "cwd": filepath.Join(b.dir, "sub")}, "", "", "exit 0\nx\n", 0},
		{args{"command": "echo a; sleep 60", "timeout": 1}, "timed_out", "timed_out", "timed out after 1 s; the command and what it had started were ended\na\n", -1},
		{args{"command": `printf '\033[31mred\033[0m\r\n10%%\r20%%\n'`}, "", "", "exit 0\nred\n20%\n", 0},
	} {
		r := b.must("run_command", c.args)
		if r.Status != c.status || r.Code != c.code || r.Content != c.content || r.Trusted {
			t.Errorf("%v: got %q %q %q", c.args, r.Status, r.Code, r.Content)
		}
		var meta struct {
			Exit *int
			MS   *int64
		}
		if err := json.Unmarshal(r.Meta, &meta); err != nil || meta.Exit == nil || *meta.Exit != c.exit || meta.MS == nil {
			t.Errorf("%v: meta %s, %v", c.args, r.Meta, err)
		}
	}
	r := b.must("run_command", args{"command": "seq 1 100000"})
	if !r.Cut || r.Bytes != 588895 || !strings.Contains(r.Content, "\n[578898 of 588895 characters left out]\n") || !strings.HasPrefix(r.Content, "exit 0\n1\n2\n") || !strings.HasSuffix(r.Content, "\n100000\n") {
		t.Errorf("long output: cut %v, bytes %d, content %d", r.Cut, r.Bytes, len(r.Content))
	}
}

// TestShellLasts: what a command leaves is there for the next one, and what the model is told of it.
//
// covers A013
func TestShellLasts(t *testing.T) {
	b := setUp(t, map[string]string{"sub/f": "x\n"})
	for _, c := range []struct{ command, want string }{
		{"cd sub; export K=v; x=1; f() { cat f; }; exit 3", "exit 3; now in sub; no output\n"},
		{"f; echo $K $x", "exit 0\nx\nv 1\n"},
		{"x=$(head -c 5000000 /dev/zero | tr '\\0' x)", "exit 0; the state of the shell was larger than 4 MB, so these were not kept: x; no output\n"},
		{"exec true", "exit 0; the shell ended without saying where it stood, as after exec, set -n or a kill, so folder and variables are those of before; no output\n"},
		{"cd /", "exit 0; now in /; no output\n"},
		{"pwd", "exit 0\n/\n"},
		{"cd " + b.dir + "; mkdir gone; cd gone; rmdir ../gone", "exit 0; now in gone; no output\n"},
		{"pwd; echo $K", "exit 0; the folder gone is gone, so this ran in the workspace\n" + b.tree.Root() + "\nv\n"},
		{"pwd", "exit 0\n" + b.tree.Root() + "\n"},
		{"echo $TRACEPARENT", "exit 0\n00-1-2-01\n"},
	} {
		if r := b.must("run_command", args{"command": c.command}); r.Content != c.want {
			t.Errorf("%s: %q, want %q", c.command, r.Content, c.want)
		}
	}
	p, err := b.prepare("run_command", args{"command": "cat f", "cwd": "sub"})
	if err != nil || p.Preview != "cd sub && cat f" {
		t.Errorf("%+v, %v", p, err)
	}
	if r, err := b.run(t.Context(), p, &host{}); err != nil || r.Content != "exit 0\nx\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if p, err = b.prepare("run_command", args{"command": "cat f"}); err != nil || p.Preview != "cd sub && cat f" || p.Action.Risk.Grade != policy.Low {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestShellIsGraded: what the shell has changes the grade of a line.
func TestShellIsGraded(t *testing.T) {
	b := setUp(t, nil)
	grade := func(command string) policy.Grade {
		t.Helper()
		p, err := b.prepare("run_command", args{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return p.Action.Risk.Grade
	}
	if g := grade("clean; ls"); g == policy.Low {
		t.Error(g)
	}
	b.must("run_command", args{"command": "ls() { rm -rf ~; }; export() { rm -rf ~; }; X='rm -rf'; d=/etc"})
	for command, want := range map[string]policy.Grade{"ls": policy.High, "pwd": policy.Low, "$X ~": policy.High, "export A=1": policy.High, "cat $d/shadow": policy.Medium} {
		if g := grade(command); g != want {
			t.Errorf("%s: %s, want %s", command, g, want)
		}
	}
	b.must("run_command", args{"command": "unset -f ls export; PATH=/tmp:$PATH"})
	if g := grade("ls"); g != policy.Medium {
		t.Errorf("ls in another PATH: %s", g)
	}
}

// TestResumedShell: a task that goes on in another process finds its folder, and is told what is gone.
func TestResumedShell(t *testing.T) {
	b := setUp(t, map[string]string{"sub/f": "x\n"})
	for _, c := range []struct {
		dir  string
		had  bool
		want string
	}{
		{"sub", true, "exit 0; in a new shell, since the program was started again: variables and functions of before are gone\n" + b.dir + "/sub\n"},
		{"none", true, "exit 0; in a new shell, since the program was started again: variables and functions of before are gone; the folder none is gone, so this ran in the workspace\n" + b.dir + "\n"},
		{"", false, "exit 0\n" + b.dir + "\n"},
	} {
		for _, x := range builtin.Core(builtin.Options{Tree: b.tree, Shell: b.shell(), Resume: func(context.Context) (string, bool) { return c.dir, c.had }}) {
			b.tools[x.Spec().Name] = x
		}
		if r := b.must("run_command", args{"command": "pwd"}); r.Content != c.want {
			t.Errorf("%q: %q", c.dir, r.Content)
		}
		if r := b.must("run_command", args{"command": "true"}); r.Content != "exit 0; no output\n" {
			t.Errorf("%q", r.Content)
		}
	}
}

// TestJobs: what is left running is a job that can be read and stopped; its end is told once, with the facts of both.
func TestJobs(t *testing.T) {
	b := setUp(t, nil)
	first := func(r *tool.Result) string {
		line, _, _ := strings.Cut(r.Content, "\n")
		return regexp.MustCompile(`process group \d+`).ReplaceAllString(line, "process group N")
	}
	r := b.must("run_command", args{"command": "(echo begun; sleep 60; echo over) & echo go; while ! jobs >/dev/null; do :; done"})
	if got := first(r); got != "exit 0; what it left running is job_1 (process group N)" {
		t.Error(r.Content)
	}
	if f, ok := r.Facts[0].(event.JobStarted); !ok || f.Job != "job_1" || f.Group == nil || f.Owner == nil {
		t.Errorf("%+v", r.Facts)
	}
	r = b.must("run_command", args{"command": "echo up; sleep 60", "background": true})
	if got := first(r); got != "started as job_2 (process group N)" || !strings.HasSuffix(r.Content, "\nup\n") {
		t.Error(r.Content)
	}
	if r = b.must("run_command", args{"command": "echo at once; exit 4", "background": true}); r.Content != "exit 4\nat once\n" {
		t.Error(r.Content)
	}
	if r = b.must("read_output", args{"id": "job_2"}); r.Content != "[job_2: running]\n1\tup\n[lines 1-1 of 1; this is the end]\n" {
		t.Errorf("%q", r.Content)
	}
	if r = b.must("stop_job", args{"id": "job_2"}); r.Content != "job_2 was ended, with all that it had started\n" {
		t.Errorf("%q", r.Content)
	}
	if f, ok := r.Facts[0].(event.JobEnded); !ok || f.State != "ended by signal: terminated" || f.Bytes != 3 {
		t.Errorf("%+v", r.Facts)
	}
	if r = b.must("stop_job", args{"id": "job_2"}); r.Content != "job_2 was over already\n" {
		t.Errorf("%q", r.Content)
	}
	b.must("run_command", args{"command": "exit 5", "background": true})
	if r = b.must("stop_job", args{"id": "job_1"}); len(r.Facts) != 1 {
		t.Errorf("%+v", r)
	}
	_, err := b.call("stop_job", args{"id": "job_9"})
	b.refused(err, "no_job", "job_1 (ended)")
	_, err = b.call("read_output", args{"id": "job_9"})
	b.refused(err, "no_job")
	r = b.must("run_command", args{"command": "sleep 0.4; exit 6", "background": true})
	if !strings.HasPrefix(r.Content, "started as job_3") {
		t.Fatal(r.Content)
	}
	r = b.must("run_command", args{"command": "sleep 1"})
	if r.Content != "exit 0; job_3 ended (exit 6); no output\n" || len(r.Facts) != 1 {
		t.Errorf("%q", r.Content)
	}
}

// TestNoElevation: nobody could type a password, so nobody is asked anything.
//
// covers L247
func TestNoElevation(t *testing.T) {
	b := setUp(t, nil)
	_, err := b.prepare("run_command", args{"command": "id", "elevated": true})
	b.refused(err, "no_terminal")
}

// covers F156
func TestRunCommandRefusals(t *testing.T) {
	b := setUp(t, map[string]string{"f": "x"})
	for _, c := range []struct {
		args args
		code string
	}{
		{args{"command": ""}, "bad_arguments"},
		{args{"command": "  \n"}, "bad_arguments"},
		{args{"command": "x", "timeout": 4000}, "bad_arguments"},
		{args{"command": "x", "timeout": -1}, "bad_arguments"},
		{args{"command": "echo [masked:key]"}, "masked_secret"},
		{args{"command": "x", "cwd": ".."}, "outside"},
		{args{"command": "x", "cwd": "none"}, "not_started"},
		{args{"command": "x", "cwd": "f"}, "not_started"},
		{args{"command": "echo " + strings.Repeat("x", 100<<10)}, "not_started"},
	} {
		_, err := b.call("run_command", c.args)
		b.refused(err, c.code)
	}
}

// TestLaunchHolds: between launch and run nothing has happened, and a release leaves nothing.
func TestLaunchHolds(t *testing.T) {
	b := setUp(t, nil)
	launched := func() (p *preparedCommand) {
		p = &preparedCommand{}
		var err error
		if p.Prepared, err = b.prepare("run_command", args{"command": "touch ran; echo done"}); err != nil {
			t.Fatal(err)
		}
		if p.group, err = p.Launch(t.Context(), false); err != nil || p.group.ID <= 1 {
			t.Fatalf("%+v, %v", p.group, err)
		}
		return p
	}
	ran := func() bool {
		_, err := os.Stat(filepath.Join(b.dir, "ran"))
		return err == nil
	}
	p := launched()
	if p.Preview != "touch ran; echo done" || p.Dir != "." {
		t.Errorf("preview %q, dir %q", p.Preview, p.Dir)
	}
	p.Release()
	if ran() {
		t.Error("a released command ran")
	}
	p = launched()
	r, err := p.Run(t.Context(), &host{})
	if err != nil || !ran() || r.Content != "exit 0\ndone\n" {
		t.Errorf("%+v, %v", r, err)
	}
	p, err2 := &preparedCommand{}, error(nil)
	if p.Prepared, err2 = b.prepare("run_command", args{"command": "true"}); err2 != nil {
		t.Fatal(err2)
	}
	p.Release() // never launched: nothing
}

type preparedCommand struct {
	*tool.Prepared
	group *event.Group
}

func TestRunCommandCancelled(t *testing.T) {
	b := setUp(t, nil)
	p, err := b.prepare("run_command", args{"command": "echo ready; sleep 60"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := b.run(ctx, p, &host{show: func(s string) {
		if strings.Contains(s, "ready") {
			cancel()
		}
	}})
	if err != nil || r.Status != event.StatusCancelled || !strings.HasSuffix(r.Content, "\nready\n") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestIntentIsShown(t *testing.T) {
	b := setUp(t, nil)
	p, err := b.prepare("run_command", args{"command": "ls", "intent": "see\nwhat is there"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Preview != "ls" || p.Intent != "see what is there" {
		t.Errorf("preview %q, intent %q", p.Preview, p.Intent)
	}
}

// TestBorders: what the model says of a command makes nothing possible that is not.
//
// covers F159
func TestBorders(t *testing.T) {
	b := setUp(t, nil)
	p, err := b.prepare("run_command", args{"command": "rm -rf /", "risk": "low", "unconfined": true, "intent": "harmless"})
	if err != nil {
		t.Fatal(err)
	}
	if risk, _ := p.Action.Graded(); risk.Grade != policy.High {
		t.Errorf("graded %s", risk.Grade)
	}
	for code, a := range map[string]args{
		"bad_arguments": {"command": "x", "timeout": 3601}, "outside": {"command": "x", "cwd": "/"}, "no_terminal": {"command": "x", "elevated": true},
	} {
		_, err := b.prepare("run_command", a)
		b.refused(err, code)
	}
}
