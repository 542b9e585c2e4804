//go:build linux

package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/shell"
)

// escaping starts processes that leave the group of the command, one of them by way of another that has ended, and waits until they have.
const escaping = "setsid sh -c 'echo $$ >a.tmp; mv a.tmp a; trap \"\" TERM; while :; do sleep 60; done' & " +
	"setsid sh -c 'setsid sh -c \"echo \\$\\$ >b.tmp; mv b.tmp b; exec sleep 60\" & exit 0' & " +
	"while ! test -s a || ! test -s b; do :; done; echo ready; "

func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Skip("needs setsid")
	}
}

// TestEscapedEnd: what has left the group is ended too where the command is ended by force.
func TestEscapedEnd(t *testing.T) {
	needSetsid(t)
	t.Run("time limit", func(t *testing.T) {
		dir := t.TempDir()
		o := run(t, shell.Options{Command: escaping + "sleep 60", Dir: dir, Timeout: 2 * time.Second})
		if !o.TimedOut || o.Open || o.Head != "ready\n" {
			t.Errorf("%+v", o)
		}
		waitGone(t, readPid(t, filepath.Join(dir, "a")))
		waitGone(t, readPid(t, filepath.Join(dir, "b")))
	})
	t.Run("cancelled", func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o, err := start(t, shell.Options{Command: escaping + "sleep 60", Dir: dir}).Go(ctx, func(s string) {
			if strings.Contains(s, "ready") {
				cancel()
			}
		}, nil)
		if err != nil || !o.Cancelled || o.Open {
			t.Errorf("%+v, %v", o, err)
		}
		waitGone(t, readPid(t, filepath.Join(dir, "a")))
		waitGone(t, readPid(t, filepath.Join(dir, "b")))
	})
	for name, last := range map[string]string{"recovery": "echo $$ >c; sleep 60", "recovery without the group": "echo $$ >c"} {
		t.Run(name, func(t *testing.T) {
			h, dir, done := held(t, escaping+last)
			a, b := waitPid(t, filepath.Join(dir, "a")), waitPid(t, filepath.Join(dir, "b"))
			waitPid(t, filepath.Join(dir, "c"))
			if last == "echo $$ >c" {
				<-done
			}
			other := h.Group()
			other.Mark = "other"
			other.Start--
			if shell.EndGroup(other) || !alive(a) || !alive(b) {
				t.Error("ended processes of another mark")
			}
			if !shell.EndGroup(h.Group()) {
				t.Error("says that nothing was ended")
			}
			waitGone(t, a)
			waitGone(t, b)
			deadline := time.Now().Add(5 * time.Second)
			for shell.EndGroup(h.Group()) { // until the kernel has ended all of them
				if time.Now().After(deadline) {
					t.Fatal("there is always something left to end")
				}
			}
		})
	}
}

// TestEmptyEnvironment: what a command leaves is found though it has left the group and has no environment, by the session
// and after a crash.
func TestEmptyEnvironment(t *testing.T) {
	needSetsid(t)
	for name, sh := range map[string]string{"bash": "/bin/bash", "sh": "/bin/dash"} {
		for _, crash := range []bool{false, true} {
			s := begin(t)
			if _, err := os.Stat(sh); err != nil {
				t.Skip("needs " + sh)
			}
			s.UseSh(sh)
			o := s.run("env -i setsid sh -c 'echo $$ >pid.tmp; mv pid.tmp pid; exec sleep 60' >/dev/null 2>&1 &")
			if o.Job == nil {
				t.Fatalf("%s: %+v", name, o)
			}
			pid := waitPid(t, filepath.Join(s.dir, "pid"))
			if crash {
				other := o.Job.Group
				other.Mark = "other"
				if shell.EndGroup(other) || !shell.EndGroup(o.Job.Group) {
					t.Errorf("%s: after a crash it is not found", name)
				}
			} else {
				o.Job.Stop()
			}
			waitGone(t, pid)
		}
	}
}

// TestAnothersGroup: the number of a group that is gone is another's; nothing of that is ended with a job.
func TestAnothersGroup(t *testing.T) {
	needSetsid(t)
	s := begin(t)
	o := s.run("setsid sh -c 'echo $$ >pid.tmp; mv pid.tmp pid; exec sleep 60' >/dev/null 2>&1 &")
	if o.Job == nil {
		t.Fatalf("%+v", o)
	}
	pid := waitPid(t, filepath.Join(s.dir, "pid"))
	other := exec.Command("/bin/sh", "-c", "read x")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	shell.UseGroup(o.Job, other.Process.Pid)
	o.Job.Stop()
	waitGone(t, pid)
	in.Close()
	if err := other.Wait(); err == nil || err.Error() != "exit status 1" {
		t.Errorf("another's process: %v", err)
	}
}

// TestDaemonStays: after a command that ended by itself, what left its group on purpose goes on.
func TestDaemonStays(t *testing.T) {
	needSetsid(t)
	h, dir, done := held(t, escaping+"sleep 60 & exit 0")
	o := <-done
	if o.Exit != 0 || o.Left != 1 || !o.Open {
		t.Errorf("%+v", o)
	}
	for _, name := range []string{"a", "b"} {
		if pid := readPid(t, filepath.Join(dir, name)); !alive(pid) {
			t.Errorf("%s was ended", name)
		}
	}
	shell.EndGroup(h.Group())
}
