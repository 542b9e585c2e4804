//go:build unix

package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/shell"
)

// TestSlowReader: what the command wrote before its end is read, however late.
func TestSlowReader(t *testing.T) {
	h := start(t, shell.Options{Command: "echo first; seq 1 10000"})
	waited := false
	o, err := h.Go(t.Context(), func(string) {
		if waited {
			return
		}
		waited = true
		waitGone(t, h.Group().ID)
		<-time.After(4 * shell.Drain) // the reader stands still for longer than a silence may last
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(len("first\n") + 48894); o.Total != want || !strings.HasSuffix(o.Tail, "\n9999\n10000\n") || o.Exit != 0 || o.Open {
		t.Errorf("%d bytes of %d, ends in %.20q; %+v", o.Total, want, o.Tail[max(0, len(o.Tail)-20):], o)
	}
}

// TestOutsideWriter: what goes on writing from outside the group neither holds the call nor goes unsaid.
func TestOutsideWriter(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("needs setsid")
	}
	for name, loop := range map[string]string{"slow": "while :; do echo x; sleep 0.01; done", "fast": "exec yes", "silent": "exec sleep 60"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			began := time.Now()
			o := run(t, shell.Options{Command: "setsid sh -c 'echo $$ >pid; " + loop + "' & while ! test -s pid; do :; done; echo done", Dir: dir})
			took := time.Since(began)
			if err := syscall.Kill(readPid(t, filepath.Join(dir, "pid")), syscall.SIGKILL); err != nil {
				t.Errorf("the daemon is gone: %v", err)
			}
			if took > 10*time.Second || o.Exit != 0 || !o.Open {
				t.Errorf("took %v, %+v", took, o)
			}
		})
	}
}
