//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// grace is how long a group may take to end by itself after SIGTERM.
const grace = 200 * time.Millisecond

// lookEvery is how often a command is looked at that takes longer; twice it must be found waiting.
const lookEvery = time.Second

// await waits for the leader's end, or ends the group. It leaves the leader to be reaped.
func (h *Held) await(ctx context.Context, r running) (o Outcome) {
	limit := time.NewTimer(h.timeout)
	defer limit.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	asks := watch{group: h.group}
wait:
	for {
		select {
		case <-r.ended:
			return o
		case <-limit.C:
			o.TimedOut = true
			break wait
		case <-ctx.Done():
			o.Cancelled = true
			break wait
		case <-look.C:
			if h.master == nil && asks.waits() {
				o.Waiting = true
				break wait
			}
		}
	}
	group := -h.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	late := time.NewTimer(grace)
	defer late.Stop()
	// Once nobody holds the output, nobody is left who would use the rest of the time.
	select {
	case <-r.read:
	case <-late.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	if h.master != nil { // what is root's can't be killed, but goes with its terminal
		h.slave.Close()
		h.master.Close()
	}
	<-r.ended
	return o
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

// endLeft kills what is left of a group whose leader has ended and is not reaped, and says how many processes that were.
func endLeft(id int) int {
	n := members(id)
	_ = syscall.Kill(-id, syscall.SIGKILL)
	return n
}
