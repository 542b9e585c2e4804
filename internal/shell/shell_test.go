package shell_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"overt/internal/shell"
)

func start(t *testing.T, o shell.Options) *shell.Held {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Env == nil {
		o.Env = shell.Environ(os.Environ())
	}
	h, err := shell.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

func run(t *testing.T, o shell.Options) shell.Outcome {
	t.Helper()
	out, err := start(t, o).Go(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name, command, want string
		exit                int
		signal              string
	}{
		{"output and errors are one stream", "echo a; echo b >&2; echo c", "a\nb\nc\n", 0, ""},
		{"status", "exit 7", "", 7, ""},
		{"signal", "kill -9 $$", "", -1, "killed"},
		{"no input", "cat; echo end", "end\n", 0, ""},
		{"no terminal", "test -t 0 || test -t 1 || echo none", "none\n", 0, ""},
		{"nothing of the gate is left", `echo "$#:${word-unset}:$LINENO"; ( : <&3 ) 2>/dev/null || echo closed`, "0:unset:1\nclosed\n", 0, ""},
		{"quotes arrive whole", `printf '%s|' "a b" 'c"d' "$0" | tail -c 20`, "a b|c\"d|/bin/bash|", 0, ""},
		{"several lines", "x=1\necho $x\necho $((x+1))", "1\n2\n", 0, ""},
		{"syntax error", "if", "", 2, ""},
		{"descriptor 3 is closed", "{ echo x >&3; } 2>/dev/null || echo closed", "closed\n", 0, ""},
		{"commands after exit don't run", "exit 3; echo never", "", 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, shell.Options{Command: c.command})
			if o.Exit != c.exit || o.Signal != c.signal || (c.name != "syntax error" && o.Head != c.want) {
				t.Errorf("got exit %d signal %q output %q", o.Exit, o.Signal, o.Head)
			}
			if o.TimedOut || o.Cancelled || o.Left != 0 || o.Tail != "" || o.Omitted != 0 {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestRunsInDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if o := run(t, shell.Options{Command: "pwd", Dir: dir}); o.Head != dir+"\n" {
		t.Errorf("got %q, want %q", o.Head, dir)
	}
}

func TestStartErrors(t *testing.T) {
	for name, o := range map[string]shell.Options{
		"missing folder": {Command: "true", Dir: filepath.Join(t.TempDir(), "none")},
		"NUL":            {Command: "echo \x00", Dir: t.TempDir()},
		"too long":       {Command: strings.Repeat("x", shell.MaxCommand+1), Dir: t.TempDir()},
	} {
		if h, err := shell.Start(o); err == nil {
			h.Release()
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error of several lines: %v", name, err)
		}
	}
}

func TestHeldRunsNothing(t *testing.T) {
	dir := t.TempDir()
	h := start(t, shell.Options{Command: "touch ran", Dir: dir})
	id := h.Group().ID
	h.Release()
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a released command ran")
	}
	if alive(id) {
		t.Error("a released command is still there")
	}
	if _, err := h.Go(t.Context(), nil, nil); err == nil {
		t.Error("Go after Release gives no error")
	}
	h.Release() // again: nothing
}

func TestCancelledBeforeGo(t *testing.T) {
	dir := t.TempDir()
	h := start(t, shell.Options{Command: "touch ran", Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err := h.Go(ctx, nil, nil)
	if err != nil || !o.Cancelled {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a cancelled command ran")
	}
}

// covers L191
func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	o := run(t, shell.Options{
		Command: "echo before; trap '' TERM; (trap '' TERM; echo $BASHPID >child; sleep 60) & wait; sleep 60", Dir: dir, Timeout: 300 * time.Millisecond,
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if !o.TimedOut || o.Cancelled || o.Head != "before\n" {
		t.Errorf("got %+v", o)
	}
	if pid := readPid(t, filepath.Join(dir, "child")); alive(pid) {
		t.Errorf("child %d survived", pid)
	}
}

func TestTerminates(t *testing.T) {
	o := run(t, shell.Options{
		Command: "trap 'echo cleaned up; exit 0' TERM; echo ready; sleep 60 & wait", Timeout: 300 * time.Millisecond,
	})
	if !o.TimedOut || !strings.Contains(o.Head, "cleaned up") {
		t.Errorf("no time to clean up: %+v", o)
	}
}

// TestWhole: beside what is kept for reading, all that was written can be had as it was.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		name, command, want string
		exact               bool
	}{
		{"plain", "echo hello; printf 'no end'", "hello\nno end", true},
		{"colours", `printf '\033[31mred\033[0m\n'`, "\x1b[31mred\x1b[0m\n", false},
		{"line ends", `printf 'a\r\nb\r\n'`, "a\r\nb\r\n", false},
		{"as long as it was by chance", `printf '\377ab\r\r'`, "\xffab\r\r", false},
		{"nothing", "true", "", true},
		{"just short enough", "head -c 10000 /dev/zero | tr '\\0' x", strings.Repeat("x", 10_000), true},
		{"too long", "head -c 10001 /dev/zero | tr '\\0' x", strings.Repeat("x", 10_001), false},
		{"much overwritten", "head -c 100000 /dev/zero | tr '\\0' '\\r'", strings.Repeat("\r", 100_000), false},
	} {
		var whole bytes.Buffer
		o, err := start(t, shell.Options{Command: c.command}).Go(t.Context(), nil, &whole)
		if err != nil || whole.String() != c.want || o.Exact != c.exact || o.Total != int64(len(c.want)) {
			t.Errorf("%s: %d bytes %.40q, exact %v, %v", c.name, whole.Len(), whole.String(), o.Exact, err)
		}
	}
}

func TestCancel(t *testing.T) {
	h := start(t, shell.Options{Command: "echo ready; sleep 60 & sleep 60"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	o, err := h.Go(ctx, func(s string) {
		if strings.Contains(s, "ready") {
			cancel()
		}
	}, nil)
	if err != nil || !o.Cancelled || o.TimedOut || o.Head != "ready\n" {
		t.Errorf("got %+v, %v", o, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	id := h.Group().ID
	waitGone(t, id)
}

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	o := run(t, shell.Options{Command: "sleep 60 & echo $! >left; sleep 61 & echo done", Dir: dir})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a child that keeps the output open held the call up: %v", took)
	}
	if o.Exit != 0 || o.Left != 2 || o.Head != "done\n" {
		t.Errorf("got %+v", o)
	}
	waitGone(t, readPid(t, filepath.Join(dir, "left")))
}

func TestEscapedChildDoesNotHold(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("needs setsid")
	}
	dir := t.TempDir()
	began := time.Now()
	o := run(t, shell.Options{Command: "setsid sh -c 'echo $$ >pid; exec sleep 60' & while ! test -s pid; do :; done; echo done", Dir: dir})
	if took := time.Since(began); took > 5*time.Second || o.Head != "done\n" {
		t.Errorf("took %v, got %+v", took, o)
	}
	if p, err := os.FindProcess(readPid(t, filepath.Join(dir, "pid"))); err == nil {
		_ = p.Kill()
	}
}

// covers A016 A017
func TestLongOutput(t *testing.T) {
	o := run(t, shell.Options{Command: "seq 1 200000"})
	if !strings.HasPrefix(o.Head, "1\n2\n3\n") || !strings.HasSuffix(o.Tail, "199999\n200000\n") {
		t.Errorf("head %.20q tail %q", o.Head, o.Tail[len(o.Tail)-20:])
	}
	if len(o.Head) != shell.Kept || len(o.Tail) != shell.Kept || o.Total != 1288895 || o.Omitted != 1288895-2*shell.Kept {
		t.Errorf("head %d tail %d omitted %d total %d", len(o.Head), len(o.Tail), o.Omitted, o.Total)
	}
}

// covers A016 A017
func TestOutputBorders(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, shell.Kept, 2*shell.Kept - 1, 2 * shell.Kept, 2*shell.Kept + 1, 3*shell.Kept + 7, 5*shell.Kept + 3, 20 * shell.Kept} {
		text := []rune(strings.Repeat("aäö漢", n/4+1))[:n]
		if err := os.WriteFile(filepath.Join(dir, "text"), []byte(string(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		o := run(t, shell.Options{Command: "cat text", Dir: dir})
		if n <= 2*shell.Kept {
			if o.Head != string(text) || o.Tail != "" || o.Omitted != 0 {
				t.Errorf("%d: not whole: head %d, tail %d bytes, %d omitted", n, len(o.Head), len(o.Tail), o.Omitted)
			}
			continue
		}
		if o.Head != string(text[:shell.Kept]) || o.Tail != string(text[n-shell.Kept:]) || o.Omitted != n-2*shell.Kept {
			t.Errorf("%d: head %d, tail %d bytes, %d omitted", n, len(o.Head), len(o.Tail), o.Omitted)
		}
	}
}

func TestEnviron(t *testing.T) {
	got := shell.Environ([]string{
		"PATH=/bin", "PAGER=less", "OVERT_MODEL=x", "OPENAI_API_KEY=k", "openai_api_key=k", "overt_x=y", "EMPTY=", "GIT_PAGER=less",
	})
	for _, want := range []string{"PATH=/bin", "EMPTY=", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "TERM=dumb"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, kv := range got {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "OVERT_MODEL", "OPENAI_API_KEY", "OVERT_X":
			t.Errorf("%s was kept", name)
		}
		if kv == "PAGER=less" {
			t.Error("PAGER was kept")
		}
	}
}

// TestOrphanedGate starts a command held in a process that then dies, and sees that nothing ran.
func TestOrphanedGate(t *testing.T) {
	if dir := os.Getenv("SHELL_TEST_ORPHAN"); dir != "" { // the other process: it leaves nothing, as it ends without a clean-up
		h, err := shell.Start(shell.Options{Command: "touch ran", Dir: dir, Env: os.Environ()})
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("group " + strconv.Itoa(h.Group().ID) + "\n")
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	}
	dir := t.TempDir()
	out, _ := self(t, "TestOrphanedGate", "SHELL_TEST_ORPHAN="+dir).Output()
	f := strings.Fields(string(out))
	if len(f) < 2 || f[0] != "group" {
		t.Fatalf("the child said %q", out)
	}
	id, _ := strconv.Atoi(f[1])
	waitGone(t, id)
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// TestNothingRunsBeforeTheWord: a file that the environment names for shells to begin with is not run.
func TestNothingRunsBeforeTheWord(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "first")
	if err := os.WriteFile(file, []byte("touch "+filepath.Join(dir, "ran")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run(t, shell.Options{Command: "echo x", Dir: dir, Env: append(os.Environ(), "BASH_ENV="+file, "ENV="+file)})
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil || o.Exit != 0 {
		t.Errorf("it ran; exit %d", o.Exit)
	}
}
