package shell_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"overt/internal/shell"
)

// TestNoTerminal: where we have a terminal, a command has none to ask at. One that asks at /dev/tty is told so at once,
// instead of being stopped until the time limit.
func TestNoTerminal(t *testing.T) {
	const env = "SHELL_TEST_TERMINAL"
	if os.Getenv(env) != "" { // the process with the terminal
		if _, err := os.Open("/dev/tty"); err != nil {
			t.Fatalf("the test has no terminal itself: %v", err)
		}
		began := time.Now()
		o := run(t, shell.Options{Command: "read -r answer </dev/tty; echo x >/dev/tty; echo after", Timeout: 10 * time.Second})
		if o.TimedOut || !strings.HasSuffix(o.Head, "after\n") || strings.Count(o.Head, "/dev/tty") != 2 {
			t.Errorf("took %v: %+v", time.Since(began), o)
		}
		return
	}
	_, pts := pair(t)
	cmd := self(t, "TestNoTerminal", env+"=1")
	cmd.Stdin = pts
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// pair makes a terminal, with the end of the person and that of programs.
func pair(t *testing.T) (ptm, pts *os.File) {
	t.Helper()
	ptm, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("needs a pseudo-terminal")
	}
	t.Cleanup(func() { ptm.Close() })
	if err := unix.IoctlSetPointerInt(int(ptm.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ptm.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if pts, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pts.Close() })
	return ptm, pts
}

// TestSession: the leader of the group leads a session too; its number is all three.
func TestSession(t *testing.T) {
	h := start(t, shell.Options{Command: "sleep 60"})
	id := h.Group().ID
	if sid, err := unix.Getsid(id); err != nil || sid != id {
		t.Errorf("session %d of process %d, %v", sid, id, err)
	}
}

// TestWaiting: who waits for input that nobody will type is found; whoever sleeps, works or drives a terminal is let go on.
func TestWaiting(t *testing.T) {
	if _, err := os.Stat("/usr/bin/script"); err != nil {
		t.Skip("needs script")
	}
	const at = `mkfifo f; exec 9<>f; script -qec '%s' /dev/null <&9`
	for _, c := range []struct {
		name, command string
		waits         bool
		head          string
	}{
		{"a question", fmt.Sprintf(at, `printf "Name? "; read x`), true, "Name? "},
		{"a question of a line editor", fmt.Sprintf(at, `bash -c "read -e -p Name?\\  x"`), true, "Name? "},
		{"with others that wait for it", fmt.Sprintf(at, `(cat | cat) & printf "Name? "; cat | (read x </dev/tty)`), true, "Name? "},
		{"an editor without a terminal", `exec <&1; echo here; read -t 60 x`, true, "here\n"},
		{"work beside", fmt.Sprintf(at, `(sleep 3; kill $$) & while :; do :; done & read x; echo got`), false, ""},
		{"a question with a limit", fmt.Sprintf(at, `bash -c "read -t 4 x; echo over"`), false, "over\n"},
		{"who answers sleeps before", `mkfifo f; exec 9<>f; (sleep 4; echo hi >&9) & script -qec 'read x; echo got $x' /dev/null <&9`, false, "hi\ngot hi\n"},
		{"a sleep alone", `sleep 4; echo over`, false, "over\n"},
		{"a pipe alone", `(sleep 4; echo over) | cat`, false, "over\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			o := run(t, shell.Options{Command: c.command, Timeout: 20 * time.Second})
			if o.Waiting != c.waits || o.TimedOut || !strings.HasPrefix(o.Head, c.head) || time.Since(began) > 10*time.Second {
				t.Errorf("took %s: %+v", time.Since(began), o)
			}
		})
	}
}

// TestWaitingOfPrograms: as above, of programs that are there.
func TestWaitingOfPrograms(t *testing.T) {
	for _, c := range []struct {
		program, command string
		waits            bool
	}{
		{"/usr/bin/vim", "echo hi >x.txt; vim x.txt", true},
		{"/usr/bin/tmux", "tmux -L t$$ -f /dev/null new -d; sleep 4; tmux -L t$$ kill-server", false},
	} {
		t.Run(c.program, func(t *testing.T) {
			if _, err := os.Stat(c.program); err != nil {
				t.Skip("needs " + c.program)
			}
			t.Parallel()
			if o := run(t, shell.Options{Command: c.command, Timeout: 20 * time.Second}); o.Waiting != c.waits || o.TimedOut {
				t.Errorf("%+v", o)
			}
		})
	}
}
