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
	"slices"
	"strings"
	"syscall"
	"time"
)

// grace is how long a group may take to end by itself after SIGTERM.
const grace = 200 * time.Millisecond

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
}

// Start starts the command held. The error is one line: the folder does not exist, no shell was found, the text is too
// long or holds a NUL byte.
func Start(o Options) (*Held, error) {
	switch {
	case len(o.Command) > maxCommand:
		return nil, fmt.Errorf("the command has %d bytes; at most %d can be run. Write a script file and run that", len(o.Command), maxCommand)
	case !valid(o.Command):
		return nil, errors.New("the command holds a NUL byte")
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder %s does not exist", o.Dir)
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	h := &Held{timeout: min(timeout, MaxTimeout)}
	if err := h.launch(o); err != nil {
		return nil, fmt.Errorf("start the shell: %v", err)
	}
	return h, nil
}

func (h *Held) launch(o Options) error {
	wordR, wordW, err := os.Pipe()
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		wordR.Close()
		wordW.Close()
		return err
	}
	sh, mark := shellPath(), rand.Text()
	h.cmd = &exec.Cmd{
		Path: sh, Args: []string{sh, "-c", gate, sh, o.Command}, Dir: o.Dir, Env: append(quiet(o.Env), marker+"="+mark),
		Stdout: outW, Stderr: outW, ExtraFiles: []*os.File{wordR}, SysProcAttr: attributes(),
	}
	if o.Sandbox != nil {
		err = o.Sandbox.confine(h.cmd)
	}
	if err == nil {
		err = h.cmd.Start()
	}
	wordR.Close()
	outW.Close()
	if err != nil {
		wordW.Close()
		outR.Close()
		return err
	}
	h.word, h.out, h.group = wordW, outR, identify(h.cmd.Process.Pid, mark)
	return nil
}

// quiet leaves out the variables that make a shell run a file before anything else: nothing runs before the word to go.
func quiet(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "BASH_ENV=") || strings.HasPrefix(kv, "ENV=") })
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

// Release ends the command without having run it. After Go it does nothing.
func (h *Held) Release() {
	if h.used {
		return
	}
	h.used = true
	_ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	_ = h.cmd.Wait()
	h.word.Close()
	h.out.Close()
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
	defer h.out.Close()

	kept := newKeeper(show, whole)
	read, open := make(chan struct{}), false
	go func() {
		defer close(read)
		open = (&collector{out: h.out, to: kept}).all(h.cmd.Process.Pid)
	}()
	ended := make(chan error, 1)
	_, _ = h.word.WriteString("go\n") // fails only if the gate was killed, and then its status says so
	h.word.Close()
	go func() { ended <- h.cmd.Wait() }()

	o, err := h.await(ctx, ended, read)
	left := endLeft(h.cmd.Process.Pid)
	if o.TimedOut || o.Cancelled {
		endMarked(h.group)
	} else {
		o.Left = left
	}
	_ = h.out.SetReadDeadline(time.Now())
	<-read
	o.Open, o.Output = open, kept.end()
	o.Took = time.Since(began)
	return o, err
}

// await waits for the leader's end, or ends the group.
func (h *Held) await(ctx context.Context, ended <-chan error, read <-chan struct{}) (o Outcome, err error) {
	limit := time.NewTimer(h.timeout)
	defer limit.Stop()
	select {
	case err = <-ended:
		return o, o.status(err)
	case <-limit.C:
		o.TimedOut = true
	case <-ctx.Done():
		o.Cancelled = true
	}
	group := -h.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	late := time.NewTimer(grace)
	defer late.Stop()
	// Once nobody holds the output, nobody is left who would use the rest of the time.
	select {
	case <-read:
	case <-late.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	return o, o.status(<-ended)
}

// status reads how the leader ended.
func (o *Outcome) status(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("wait for the command: %v", err)
	}
	o.Exit = exit.ExitCode()
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		o.Signal = ws.Signal().String()
	}
	return nil
}

// endLeft kills what is left of a group whose leader has ended, and says how many processes that were.
func endLeft(id int) int {
	if syscall.Kill(-id, 0) != nil {
		return 0 // the usual case, without a look at every process
	}
	n := members(id)
	_ = syscall.Kill(-id, syscall.SIGKILL)
	return n
}
