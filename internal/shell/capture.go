package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// maxOutput bounds, in bytes, what [Capture] gives.
const maxOutput = 64 << 10

// lingering is how long what a program has left behind may hold its output open.
const lingering = 200 * time.Millisecond

// Capture runs one of the person's own programs without a shell and gives what it prints, at most 64 KB. It gets env as its
// environment and no standard input; it is ended with the context. The error is a line: the last that the program wrote
// to its standard error, if it failed.
func Capture(ctx context.Context, argv, env []string) ([]byte, error) {
	var out, errs bounded
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &out, &errs, lingering
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, and what it started holds the pipe
		err = nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it did not end in time")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(errs.kept.String()), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return nil, fmt.Errorf("%v: %s", exit, last)
		}
	}
	if err != nil {
		return nil, err
	}
	return out.kept.Bytes(), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ kept bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), maxOutput-b.kept.Len())])
	return len(p), nil
}
