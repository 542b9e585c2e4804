//go:build unix

package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// gate waits on descriptor 3 for the word to go; at its end (we died, or dropped the command) it runs nothing. It is one
// line, so that the command's own lines are counted from 1, and the same shell then runs the command: another one would
// cost as much again as the command `echo`.
const gate = `read -r word <&3 && [ "$word" = go ] || exit 125; exec 3<&-; unset word; eval "shift;$1"`

// marker is the variable by which the members of a group are known once its leader is gone.
const marker = "OVERT_GROUP"

// Held is a command that has been started and has run nothing yet.
type Held struct {
	cmd     *exec.Cmd
	timeout time.Duration
	group   Group
	word    *os.File // our end of descriptor 3
	out     *os.File // our end of the output pipe
	used    bool

	command string

	session *Session // nil: of none
	lasting          // of a command of a session

	master, slave *os.File // of an elevated one: its terminal
}

// lasting is what a command of a session has beside.
type lasting struct {
	text    *os.File // of one that was started before its command was known: where that goes
	bash    bool
	sheet   *sheet
	holders *os.File // our end of a pipe that whoever is left of the command holds open
	frame   string
	trace   string
}

// Trace says which traceparent (W3C Trace Context) the command gets, before it is let go; only one of a session does.
func (h *Held) Trace(parent string) { h.trace = parent }

// Start starts the command held. The error is one line: the folder does not exist, no shell was found, the text is too
// long or holds a NUL byte.
func Start(o Options) (*Held, error) { return start(o, nil) }

// Start starts a command held, with what the session knows now. Of the options Env does not count, and Dir only if it is
// not empty: then the session moves there first.
func (s *Session) Start(o Options) (*Held, error) {
	if s.over() {
		return nil, errClosed
	}
	if o.Dir != "" {
		s.Move(o.Dir)
	}
	return start(o, s)
}

func start(o Options, s *Session) (*Held, error) {
	switch {
	case len(o.Command) > maxCommand:
		return nil, fmt.Errorf("the command has %d bytes; at most %d can be run. Write a script file and run that", len(o.Command), maxCommand)
	case !valid(o.Command):
		return nil, errors.New("the command holds a NUL byte")
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	timeout = min(timeout, MaxTimeout)
	h := &Held{timeout: timeout, session: s}
	h.command = o.Command
	var at remembered
	if s != nil {
		at = s.snapshot()
		o.Dir, o.Env = at.dir, at.env
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder %s does not exist", o.Dir)
	}
	if h := s.prepared(o); h != nil {
		h.timeout = timeout
		return h, nil
	}
	err := h.launch(o, at)
	if err != nil {
		h.close()
		return nil, fmt.Errorf("start the shell: %v", err)
	}
	if s != nil && s.over() { // since it was looked at first
		h.Release()
		return nil, errClosed
	}
	return h, nil
}

func (h *Held) launch(o Options, at remembered) error {
	sh, mark := shellPath(), rand.Text()
	if h.session != nil {
		sh = h.session.sh
	}
	h.cmd = &exec.Cmd{Path: sh, Args: []string{sh, "-c", gate, sh, o.Command}, Dir: o.Dir, Env: append(quiet(o.Env), marker+"="+mark), SysProcAttr: attributes()}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	pipe := func(ours **os.File, write bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if write {
			r, w = w, r
		}
		*ours = r
		theirs = append(theirs, w)
		return w, nil
	}
	word, err := pipe(&h.word, true)
	if err != nil {
		return err
	}
	out, err := pipe(&h.out, false)
	if err != nil {
		return err
	}
	h.cmd.Stdout, h.cmd.Stderr, h.cmd.ExtraFiles = out, out, []*os.File{word}
	if h.session != nil {
		h.bash, h.frame = strings.HasSuffix(sh, "/bash"), rand.Text()
		h.cmd.Args[2] = lastingSh
		if h.bash {
			h.cmd.Args[2] = lastingBash
		}
		if h.text != nil {
			h.cmd.Args = h.cmd.Args[:4]
		}
		if h.sheet, err = newSheet(mark); err != nil {
			return err
		}
		restore, err := letter(at.restore + at.aliases)
		if err != nil {
			return err
		}
		theirs = append(theirs, restore)
		holders, err := pipe(&h.holders, false)
		if err != nil {
			return err
		}
		h.cmd.ExtraFiles = append(h.cmd.ExtraFiles, restore, h.sheet.end(), holders)
		if h.text != nil {
			h.cmd.ExtraFiles = append(h.cmd.ExtraFiles, h.text)
		}
	}
	if o.Sandbox != nil {
		if err := o.Sandbox.confine(h.cmd); err != nil {
			return err
		}
	}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	if h.sheet != nil {
		h.sheet.started()
	}
	h.group = identify(h.cmd.Process.Pid, mark)
	return nil
}

// close closes our ends of everything.
func (h *Held) close() {
	for _, f := range []*os.File{h.word, h.out, h.holders, h.text, h.master, h.slave} {
		if f != nil {
			f.Close()
		}
	}
	if h.sheet != nil {
		h.sheet.close()
	}
}

func valid(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return false
		}
	}
	return true
}

// shellPath is where bash is; the usual places, so that no PATH of a project decides it.
func shellPath() string {
	for _, p := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"} {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p
		}
	}
	return "/bin/sh"
}

// Group names the process group.
func (h *Held) Group() Group { return h.group }

// rest says that no command runs.
func (s *Session) rest() {
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
	go s.prepare()
}

// Release ends the command without having run it. After Go it does nothing.
func (h *Held) Release() {
	if h.used {
		return
	}
	h.used = true
	_ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	_ = h.cmd.Wait()
	h.close()
}

// Go lets the command run and waits for its end. show gets cleaned output as it arrives, whole all of it as it was
// written; both are called from another goroutine, must not block for long, and may be nil. The end of ctx ends the
// command; that is an outcome, not an error. Go may be called once.
func (h *Held) Go(ctx context.Context, show func(text string), whole io.Writer) (Outcome, error) {
	if h.used {
		return Outcome{}, errors.New("the command was already run or released")
	}
	if ctx.Err() != nil {
		h.Release()
		return Outcome{Exit: -1, Cancelled: true}, nil
	}
	h.used = true
	began := time.Now()
	r := h.let(show, whole)
	o, err := h.finish(h.await(ctx, r), r)
	o.Took = time.Since(began)
	return o, err
}

// running is a command that was let go.
type running struct {
	kept  *keeper
	read  chan struct{} // closed once the output has been read
	open  *bool         // of the collector; to be read after read is closed
	ended chan struct{} // closed once the leader has ended
	wait  func() error  // reaps it and says how it ended; until then no other group can have its number
}

func (h *Held) let(show func(string), whole io.Writer) running {
	r := running{newKeeper(show, whole), make(chan struct{}), new(bool), make(chan struct{}), sync.OnceValue(h.cmd.Wait)}
	go func() {
		defer close(r.read)
		*r.open = (&collector{out: h.out, to: r.kept}).all(h.cmd.Process.Pid, h.session != nil)
	}()
	word := "go\n"
	if h.session != nil {
		word = strings.TrimSpace("go "+h.frame+" "+h.trace) + "\n"
	}
	_, _ = h.word.WriteString(word) // fails only if the gate was killed, and then its status says so
	h.word.Close()
	go func() {
		defer close(r.ended)
		waitEnd(h.cmd.Process.Pid, r.wait)
	}()
	return r
}

// finish makes the outcome of a command whose leader has ended: its state is taken, and what is left of it is ended or
// becomes a job.
func (h *Held) finish(o Outcome, r running) (Outcome, error) {
	forced := o.TimedOut || o.Cancelled || o.Waiting
	if forced || h.session == nil {
		left := endLeft(h.cmd.Process.Pid)
		if forced {
			endMarked(h.group)
		} else {
			o.Left = left
		}
	}
	err := o.status(r.wait())
	_ = h.out.SetReadDeadline(time.Now())
	<-r.read
	o.Open, o.Output = *r.open, r.kept.end()
	if h.session == nil {
		h.close()
		return o, err
	}
	lost := h.session.take(h.sheet.read(), h.frame, h.bash)
	o.Lost, o.Large, o.Unkept = lost.all, lost.large, lost.unkept
	h.session.rest()
	if !forced && h.hasHolders() {
		o.Open = false
		o.Job = h.session.adopt(h)
		return o, err
	}
	h.close()
	return o, err
}

// hasHolders tells whether something of the command goes on: it holds the pipe of the holders open, or is in the group.
func (h *Held) hasHolders() bool {
	_ = h.holders.SetReadDeadline(time.Now().Add(drain))
	b := make([]byte, 512)
	for {
		_, err := h.holders.Read(b)
		switch {
		case err == nil: // nobody is meant to write there
		case errors.Is(err, os.ErrDeadlineExceeded):
			return true
		default:
			return syscall.Kill(-h.group.ID, 0) == nil && members(h.group.ID) > 0
		}
	}
}
