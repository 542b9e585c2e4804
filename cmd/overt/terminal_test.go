//go:build unix

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/xpty"
)

// terminal is overt on a terminal of its own.
type terminal struct {
	t    *testing.T
	pty  xpty.Pty
	cmd  *exec.Cmd
	out  *lockedBuffer
	seen int // of out: what was waited for already
}

func (p *place) terminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	pty, err := xpty.NewPty(100, 30)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, pty: pty, cmd: p.command(args...), out: &lockedBuffer{}}
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that Ctrl-C at it is a signal
	if err := pty.Start(x.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.cmd.Process.Kill(); pty.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := pty.Read(b)
			x.out.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	return x
}

// shows waits until text appears after what was waited for before.
func (x *terminal) shows(text string) {
	x.t.Helper()
	err := await(func() bool { return strings.Contains(x.out.String()[x.seen:], text) })
	if err != nil {
		x.t.Fatalf("%q does not appear: %v\n%q", text, err, x.out.String()[x.seen:])
	}
	x.seen += strings.Index(x.out.String()[x.seen:], text) + len(text)
}

func (x *terminal) types(text string) {
	x.t.Helper()
	if _, err := x.pty.Write([]byte(text)); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end and checks the status.
func (x *terminal) ends(status int) {
	x.t.Helper()
	done := make(chan error, 1)
	go func() { done <- x.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(patience):
		x.t.Fatalf("it does not end\n%q", x.out.String())
	}
	if got := x.cmd.ProcessState.ExitCode(); got != status {
		x.t.Errorf("exit status %d, want %d\n%q", got, status, x.out.String())
	}
}

// TestTerminal uses the line prompt as a person does.
// covers F001 L072 L128 L129 L131
func TestTerminal(t *testing.T) {
	run := func(command string) strictReply {
		return strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": command, "intent": "a \x1b[2J try"}}}}
	}
	s := startStrict(t, "",
		run("touch first"), strictReply{Text: "You said no."},
		run("touch second"), strictReply{Text: "Done: \x1b]0;title\x07\x1b[31mred\u202etxt\u009b"})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict")
	x.shows("overt ")
	x.shows("model strict, permission ask")
	x.shows("> ")
	x.types("\r") // an empty line is no task
	x.shows("> ")
	x.types("make the first file\r")
	x.shows("touch first")
	x.shows("the model says: a ^[[2J try")
	x.shows("always and never: run_command(touch:*), until the turn ends")
	x.shows("run this command? yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
	x.types("\r") // a bare Enter answers nothing
	x.shows("please type yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
	x.types("sure\r")
	x.shows("please type yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
	x.types("hello\ralways\ry\r") // nor does a paste, whatever it holds
	x.shows("please type yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
	x.types("yes\ryes\r")
	x.shows("please type yes, no (Ctrl-C), always, never, pattern, workspace or user: ")
	if p.exists("first") {
		t.Fatal("it ran before it was allowed")
	}
	x.types("no\r")
	x.shows("You said no.")
	x.shows("> ")
	if p.exists("first") {
		t.Error("it ran though it was not allowed")
	}
	x.types("make the second file\r")
	x.shows("never, pattern, workspace or user: ")
	x.types("yes\r")
	x.shows("Done: ^[]0;title^G^[[31mred<U+202E>txt<U+009B>")
	x.shows("> ")
	if !p.exists("second") {
		t.Error("it did not run though it was allowed")
	}
	x.types("\x04") // Ctrl-D
	x.ends(0)
	if out := x.out.String(); strings.ContainsAny(out, "\x1b\x07\u202e\u009b") {
		t.Errorf("control characters of the model reach the terminal: %q", out)
	}
	s.valid(t)
	requests := s.exchanges()
	if len(requests) != 4 || !extends(requests[2].Request, requests[1].Request) {
		t.Error("the second input did not go on with the task of the first")
	}
	if !strings.Contains(string(requests[1].Request), "Denied by the person") {
		t.Errorf("the model is not told that the person said no: %s", requests[1].Request)
	}
}

// TestTerminalInterrupt: Ctrl-C at the terminal stops the turn, not the program; at the empty prompt it leaves.
// covers L002
func TestTerminalInterrupt(t *testing.T) {
	s := startStrict(t, "",
		strictReply{Text: "A long answer begins", Hang: true},
		strictReply{Calls: []strictCall{{Name: "run_command", Args: map[string]any{"command": "touch ran"}}}},
		strictReply{Text: "Back again."})
	p := newPlace(t)
	x := p.terminal(t, "-u", s.URL, "-m", "strict")
	x.shows("> ")
	x.types("talk\r")
	x.shows("A long answer begins")
	x.types("\x03")
	x.shows("stopping")
	x.shows("> ")
	x.types("run\r")
	x.shows("never, pattern, workspace or user: ")
	x.types("\x03") // while a question is open: no to it
	x.shows("no; Ctrl-C again stops the turn")
	x.shows("Back again.")
	x.shows("> ")
	x.types("\x03")
	x.ends(0)
	if p.exists("ran") {
		t.Error("a command ran whose question was not answered")
	}
	s.valid(t)
}
