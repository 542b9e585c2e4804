package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/tool"
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
		{args{"command": "kill -TERM $$"}, "error", "signal", "ended by signal: terminated; no output\n", -1},
		{args{"command": "cat f", "cwd": "sub", "intent": "look"}, "", "", "exit 0\nx\n", 0},
		{args{"command": "cat f", "cwd": "in"}, "", "", "exit 0\nx\n", 0},
		{args{"command": "cat f", "cwd": filepath.Join(b.dir, "sub")}, "", "", "exit 0\nx\n", 0},
		{args{"command": "echo a; sleep 60", "timeout": 1}, "timed_out", "timed_out", "timed out after 1 s; the command and what it had started were ended\na\n", -1},
		{args{"command": "sleep 60 & echo a"}, "", "", "exit 0; 1 process left behind was ended\na\n", 0},
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

// TestRunCommandDaemon: a process that left the command's group may stay, and the result says that its output is not all.
func TestRunCommandDaemon(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("needs setsid")
	}
	b := setUp(t, nil)
	r := b.must("run_command", args{"command": "setsid sh -c 'echo $$ >pid; exec sleep 60' & while ! test -s pid; do :; done; echo done"})
	pid, err := os.ReadFile(filepath.Join(b.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(n)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Kill() }()
	if want := "exit 0; a process that it started holds the output still, what that writes from now on is not shown\ndone\n"; r.Content != want {
		t.Errorf("got %q", r.Content)
	}
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
