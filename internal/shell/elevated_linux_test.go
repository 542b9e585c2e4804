package shell_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"overt/internal/shell"
)

// program writes a program.
func program(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// TestSudoOfTheStart: no command of the session decides which sudo gets the password, nor what is in its environment.
func TestSudoOfTheStart(t *testing.T) {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := filepath.Join(tmp, "work"), filepath.Join(tmp, "bin")
	program(t, filepath.Join(dir, "bin", "sudo"), "#!/bin/sh\necho fake\n", 0o755)
	program(t, filepath.Join(tmp, "open", "sudo"), "#!/bin/sh\necho open\n", 0o757)
	program(t, filepath.Join(bin, "sudo"), "#!/bin/sh\necho real ${LD_PRELOAD-none}\n", 0o755)
	if err := os.Symlink(filepath.Join(dir, "bin"), filepath.Join(tmp, "link")); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{"bin", filepath.Join(dir, "bin"), filepath.Join(tmp, "link"), filepath.Join(tmp, "open"), bin, os.Getenv("PATH")}, ":")
	s := &lasting{shell.NewSession(dir, []string{"PATH=" + path}), t, dir}
	t.Cleanup(s.Close)
	s.run("PATH=$PWD/bin:$PATH; export LD_PRELOAD=$PWD/x.so")
	if sudo, err := s.Sudo(); err != nil || sudo != filepath.Join(bin, "sudo") {
		t.Errorf("%q, %v", sudo, err)
	}
	h, err := s.StartElevated(shell.Options{Command: "id", Dir: dir, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := h.Go(t.Context(), nil, nil); err != nil || o.Head != "real none\n" {
		t.Errorf("%+v, %v", o, err)
	}
	none := shell.NewSession(dir, []string{"PATH=" + filepath.Join(dir, "bin")})
	if sudo, err := none.Sudo(); err == nil {
		t.Errorf("found %s", sudo)
	}
}

// TestTypedAndNotRead: what is typed while nobody reads it does not hold up the end of the command; and one whose call has
// ended before it begins does not run.
func TestTypedAndNotRead(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program(t, filepath.Join(tmp, "bin", "sudo"), "#!/bin/sh\ntouch ran\nread x <f\n", 0o755)
	if err := syscall.Mkfifo(filepath.Join(dir, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := shell.NewSession(dir, []string{"PATH=" + filepath.Join(tmp, "bin") + ":" + os.Getenv("PATH")})
	ptm, pts := pair(t)
	raw, err := unix.IoctlGetTermios(int(pts.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(pts.Fd()), unix.TCSETS, raw); err != nil {
		t.Fatal(err)
	}
	start := func() *shell.Held {
		h, err := s.StartElevated(shell.Options{Command: "true", Dir: dir, Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := start().GoAt(over, pts, nil, nil); err != nil || !o.Cancelled {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran")
	}
	end := make(chan shell.Outcome, 1)
	h := start()
	go func() {
		o, _ := h.GoAt(t.Context(), pts, nil, nil)
		end <- o
	}()
	go func() { _, _ = io.Copy(io.Discard, ptm) }()
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		_, _ = ptm.WriteString(strings.Repeat("x\n", 20_000)) // more than two terminals hold
	}()
	eventually(t, "it runs", func() bool { _, err := os.Stat(filepath.Join(dir, "ran")); return err == nil })
	before, same := 0, 0
	full := func() bool { // of what does not move any more; how much that is is up to the kernel
		n, err := unix.IoctlGetInt(int(pts.Fd()), unix.TIOCINQ)
		if err != nil || n == 0 || n != before {
			before, same = n, 0
			return false
		}
		same++
		return same >= 50
	}
	eventually(t, "the terminal is full", full)
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	select {
	case o := <-end:
		if o.TimedOut || o.Exit != 0 {
			t.Errorf("%+v", o)
		}
	case <-time.After(10 * time.Second):
		t.Error("the command ended, and its call did not")
	}
	go func() { _, _ = io.Copy(io.Discard, pts) }()
	<-typed
}
