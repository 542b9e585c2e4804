package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait for a condition; it is far beyond what a healthy run takes.
const patience = 20 * time.Second

// await asks for a condition again and again until it holds.
func await(holds func() bool) error {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s", patience)
		}
	}
	return nil
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if err := await(holds); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// place is a workspace with a state folder of its own.
type place struct {
	t   testing.TB
	dir string // the workspace
	env []string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{t: t, dir: filepath.Join(base, "w"), env: append([]string{"PATH=" + os.Getenv("PATH")}, home(base)...)}
	p.make(".overt")
	return p
}

func (p *place) make(dir string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// read gives a file's text; "" if there is none.
func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *place) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// command is overt in this place, not started.
func (p *place) command(args ...string) *exec.Cmd {
	c := exec.Command("overt", args...)
	c.Dir, c.Env = p.dir, p.env
	return c
}

// ran is how a process ended.
type ran struct {
	out, err string
	status   int // -1: by a signal
}

func (p *place) run(args ...string) ran {
	p.t.Helper()
	return p.start(args...).wait()
}

// process is overt, started.
type process struct {
	*exec.Cmd
	t        testing.TB
	out, err *lockedBuffer
	once     sync.Once
	ended    ran
}

func (p *place) start(args ...string) *process {
	p.t.Helper()
	x := &process{Cmd: p.command(args...), t: p.t, out: &lockedBuffer{}, err: &lockedBuffer{}}
	x.Stdout, x.Stderr = x.out, x.err
	if err := x.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { x.Process.Kill(); x.wait() })
	return x
}

// wait waits for the end; a process that does not end is killed, and the test fails.
func (x *process) wait() ran {
	x.t.Helper()
	x.once.Do(func() {
		ended := make(chan struct{})
		go x.watch(ended)
		err := x.Wait()
		close(ended)
		var e *exec.ExitError
		if err != nil && !errors.As(err, &e) {
			x.t.Errorf("%s: %v", x.Args, err)
		}
		x.ended = ran{x.out.String(), x.err.String(), x.ProcessState.ExitCode()}
	})
	return x.ended
}

// watch kills a process that does not get on: for twice the patience it writes nothing and hardly works. One that is only slow, as
// on a machine with much else to do, may go on for ten times that.
func (x *process) watch(ended <-chan struct{}) {
	written, worked := 0, time.Duration(0)
	for range 10 {
		select {
		case <-ended:
			return
		case <-time.After(2 * patience):
		}
		n, cpu := len(x.out.String())+len(x.err.String()), cpuOf(x.Process.Pid)
		if n == written && cpu < worked+patience/40 {
			break
		}
		written, worked = n, cpu
	}
	x.t.Errorf("%s did not end; stderr:\n%s", x.Args, x.err)
	x.Process.Kill()
}

// cpuOf is the time that a process has worked, with the children that it has waited for; 0 where the system has no /proc
// (proc_pid_stat(5): the 14th to 17th field, in hundredths of a second).
func cpuOf(pid int) (sum time.Duration) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the 3rd on
	for i := 11; i <= 14 && i < len(fields); i++ {
		ticks, _ := strconv.ParseInt(fields[i], 10, 64)
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
}

// want fails the test unless the process ended with the status.
func (r ran) want(t testing.TB, status int) ran {
	t.Helper()
	if r.status != status {
		t.Fatalf("exit status %d, want %d\nstdout: %s\nstderr: %s", r.status, status, r.out, r.err)
	}
	return r
}

// lockedBuffer is written by a process and read meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// streamEvent is a line of stream-json, and an event of `task show --json`.
type streamEvent struct {
	Seq, Prev *int64
	Kind      string
	Subject   string
	Data      json.RawMessage
}

// eventsOf reads the complete lines of a stream, deltas left out.
func eventsOf(t testing.TB, stream string) (out []streamEvent) {
	t.Helper()
	for line := range strings.Lines(stream) {
		if !strings.HasSuffix(line, "\n") {
			break // the writer was killed in the middle
		}
		var e streamEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Seq != nil {
			out = append(out, e)
		}
	}
	return out
}

// shown is what `task show --json` gives.
type shown struct {
	Task   string
	Runs   []struct{ Run, Status string }
	Events []streamEvent
}

func (p *place) show() (s shown) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.run("task", "show", "--json").want(p.t, 0).out), &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}
