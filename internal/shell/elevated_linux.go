package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// elevatedGate becomes sudo once it hears the word. Descriptor 4 is the terminal, which sudo opens by its name.
const elevatedGate = `read -r word <&3 && [ "$word" = go ] || exit 125; exec 3<&- 4<&-; unset word; exec "$@"`

// Sudo is the full path of the sudo that [Session.StartElevated] runs: the first one in the PATH that the session began with,
// for a command can change that of the session. One in the session's first folder is passed over, since any command may
// have written it there; so is one that belongs to neither root nor this user, or that everybody may change.
func (s *Session) Sudo() (string, error) {
	for _, kv := range s.base {
		path, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for dir := range strings.SplitSeq(path, ":") {
			if p := dir + "/sudo"; strings.HasPrefix(dir, "/") && s.trusted(p) {
				return p, nil
			}
		}
	}
	return "", errors.New("sudo is not installed in a folder of the PATH that this program was started with")
}

// trusted tells whether a file is a program that the commands of the session can't have made.
func (s *Session) trusted(p string) bool {
	real, err := filepath.EvalSymlinks(p)
	if err != nil || within(s.first, p) || within(s.first, real) {
		return false
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || info.Mode()&0o002 != 0 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && (owner.Uid == 0 || int(owner.Uid) == os.Geteuid())
}

func within(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// StartElevated starts, held, a command that runs as root: sudo -u root -- SHELL -c COMMAND, with the sudo and in the
// environment of the session's start, whatever its commands have changed. It has a pseudo-terminal of its own, on which
// sudo asks; [Held.GoAt] joins that to the person's. Standard input is empty and the output is not on the terminal, as
// with any other command. When the terminal goes, whatever runs there ends, also what is not ours to kill.
func (s *Session) StartElevated(o Options) (*Held, error) {
	switch {
	case s.over():
		return nil, errClosed
	case len(o.Command) > maxCommand:
		return nil, fmt.Errorf("the command has %d bytes; at most %d can be run. Write a script file and run that", len(o.Command), maxCommand)
	case !valid(o.Command):
		return nil, errors.New("the command holds a NUL byte")
	}
	sudo, err := s.Sudo()
	if err != nil {
		return nil, err
	}
	o.Env = s.base
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	h := &Held{timeout: min(timeout, MaxTimeout)}
	if err := h.launchElevated(o, sudo); err != nil {
		h.close()
		return nil, fmt.Errorf("start sudo: %v", err)
	}
	return h, nil
}

func (h *Held) launchElevated(o Options, sudo string) (err error) {
	if h.master, h.slave, err = newTerminal(); err != nil {
		return err
	}
	wordR, wordW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer wordR.Close()
	h.word = wordW
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	h.out = outR
	mark, sh := rand.Text(), shellPath()
	h.cmd = &exec.Cmd{
		Path: "/bin/sh", Args: []string{"/bin/sh", "-c", elevatedGate, "sh", sudo, "-u", "root", "--", sh, "-c", o.Command}, Dir: o.Dir,
		Env: append(quiet(o.Env), marker+"="+mark), Stdout: outW, Stderr: outW, ExtraFiles: []*os.File{wordR, h.slave},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 4, Pdeathsig: syscall.SIGKILL},
	}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	h.group = identify(h.cmd.Process.Pid, mark)
	return nil
}

// newTerminal makes a pseudo-terminal (pty(7)).
func newTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	err = control(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		var err error
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

// control uses the descriptor of a file without taking it from the poller.
func control(f *os.File, use func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if e := conn.Control(func(fd uintptr) { err = use(int(fd)) }); e != nil {
		return e
	}
	return err
}

// GoAt lets a command run that has a terminal of its own, joined to the person's meanwhile, which must be raw. Of
// what is typed there it takes nothing once the command has ended. Else it is like [Held.Go].
func (h *Held) GoAt(ctx context.Context, tty *os.File, show func(string), whole io.Writer) (Outcome, error) {
	if h.used || h.master == nil {
		return Outcome{}, errors.New("the command was already run or released, or has no terminal")
	}
	if ctx.Err() != nil {
		h.Release()
		return Outcome{Exit: -1, Cancelled: true}, nil
	}
	h.used = true
	began := time.Now()
	if size, err := unix.IoctlGetWinsize(int(tty.Fd()), unix.TIOCGWINSZ); err == nil {
		_ = control(h.master, func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) })
	}
	stopR, stopW, err := os.Pipe()
	if err != nil {
		h.used = false
		h.Release()
		return Outcome{}, err
	}
	defer stopR.Close()
	typed, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(typed)
		passTyped(tty, stopR, h.master)
	}()
	go func() {
		defer close(shown)
		_, _ = io.Copy(tty, h.master)
	}()
	r := h.let(show, whole)
	o := h.await(ctx, r)
	stopW.Close()
	_ = h.master.SetWriteDeadline(time.Now()) // what was typed and not read may fill the terminal
	<-typed
	h.slave.Close()
	_ = h.master.SetReadDeadline(time.Now().Add(drain))
	<-shown
	o, err = h.finish(o, r)
	o.Took = time.Since(began)
	return o, err
}

// passTyped hands on what is typed until stop ends.
func passTyped(tty, stop, to *os.File) {
	b := make([]byte, 1024)
	for {
		fds := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || fds[1].Revents != 0 || fds[0].Revents&unix.POLLIN == 0:
			return
		}
		n, err := tty.Read(b)
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
