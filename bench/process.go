//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// launchMark makes this program a launcher, see [launch].
const launchMark = "BENCH_LAUNCH"

// usage is what one run of a program took.
type usage struct {
	Wall, CPU time.Duration
	Memory    int64 // bytes, at the peak
	Exit      int
	Out       int64 // bytes on standard output
	Err       string
}

// run measures a program with nothing on its standard input and a pipe as its standard output.
func run(dir string, env []string, args ...string) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	var out bytes.Buffer
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, os.Stderr
	cmd.Env = append(env[:len(env):len(env)], launchMark+"=1")
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("launch %s: %w", args[0], err)
	}
	var u usage
	if err := json.Unmarshal(out.Bytes(), &u); err != nil {
		return usage{}, fmt.Errorf("launch %s: %w", args[0], err)
	}
	if u.Exit != 0 {
		return u, fmt.Errorf("%s ended with %d: %s", strings.Join(args, " "), u.Exit, u.Err)
	}
	return u, nil
}

// launch runs a program and writes its usage to standard output. It is a process of its own because the peak memory
// that the system reports of a program begins with that of the process that started it, which must hence be small.
func launch(args []string) error {
	os.Unsetenv(launchMark)
	var out counter
	var errs bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	u := usage{Wall: time.Since(start), Out: int64(out)}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	state := cmd.ProcessState
	u.CPU, u.Exit = state.UserTime()+state.SystemTime(), state.ExitCode()
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.Memory = int64(r.Maxrss) << 10
	}
	text := errs.String()
	u.Err = text[max(0, len(text)-2000):]
	return json.NewEncoder(os.Stdout).Encode(u)
}

// counter counts what is written to it.
type counter int64

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
