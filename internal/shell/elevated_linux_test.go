package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
