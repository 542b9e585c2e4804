//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// apart runs what sh does, and then doctor, with mounts of its own; what is mounted is gone afterwards.
func apart(t *testing.T, p *place, before string, args ...string) string {
	t.Helper()
	sh := func(script string) ([]byte, int) {
		c := exec.Command("unshare", append([]string{"-r", "-m", "sh", "-c", script, "sh"}, args...)...)
		c.Dir, c.Env = p.dir, p.env
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState == nil {
			t.Skipf("unshare: %v", err)
		}
		return out, c.ProcessState.ExitCode()
	}
	if out, status := sh("set -e; " + before); status != 0 {
		t.Skipf("this system allows no mounts of one's own: %s", out)
	}
	out, status := sh(before + `; exec overt doctor --offline -u http://127.0.0.1:1/v1 -m x`)
	if status != 1 {
		t.Errorf("status %d", status)
	}
	return string(out)
}

func finds(t *testing.T, out, line, next string) {
	t.Helper()
	if i := strings.Index(out, line); i < 0 || !strings.Contains(out[i:], next) {
		t.Errorf("want %q, then %q; got\n%s", line, next, out)
	}
}

// TestDoctorWithoutShell: where no shell can be started, that is said.
func TestDoctorWithoutShell(t *testing.T) {
	p := newPlace(t)
	out := apart(t, p, `for f in $(readlink -f /bin/bash /usr/bin/bash /usr/local/bin/bash /bin/sh | sort -u); do test ! -e $f || mount --bind /dev/null $f; done`)
	finds(t, out, "[x ] no command can be run: ", "-> install bash")
}

// TestDoctorFullDisk: a disk without room is said.
func TestDoctorFullDisk(t *testing.T) {
	p := newPlace(t)
	state := filepath.Join(filepath.Dir(p.dir), "state", "overt")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := `mount -t tmpfs -o size=2m,mode=700 none "$1"; head -c 3000000 /dev/zero >"$1/fill" 2>/dev/null || true`
	finds(t, apart(t, p, mount, state), "is full: 0 MB free", "-> free some space")
	if entries, err := os.ReadDir(state); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestDoctorClosedFolder: a folder that takes no files is said, and where else records can go.
func TestDoctorClosedFolder(t *testing.T) {
	p := newPlace(t)
	state := filepath.Join(filepath.Dir(p.dir), "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	out := apart(t, p, `mount -t tmpfs -o ro,mode=700 none "$1"`, state)
	finds(t, out, "[x ] files can't be made in "+state, "-> get the right to write there, or set XDG_STATE_HOME")
}

// TestDoctorFileLimit: a limit on the size of files is one on the record, too.
func TestDoctorFileLimit(t *testing.T) {
	p := newPlace(t)
	c := exec.Command("sh", "-c", `ulimit -f 100; exec overt doctor --offline -u http://127.0.0.1:1/v1 -m x`)
	c.Dir, c.Env = p.dir, p.env
	out, _ := c.CombinedOutput()
	finds(t, string(out), "[x ] files of this process can't grow beyond ", "-> raise the limit: ulimit -f unlimited")
}

// TestDoctorStops: Ctrl-C ends it at once, also in the middle of a link.
func TestDoctorStops(t *testing.T) {
	p := newPlace(t)
	asked := make(chan bool, 1)
	s := openShop(t, nil, hangs(asked))
	x := p.start("doctor", "-u", s.URL+"/v1", "-m", "x")
	<-asked
	if err := x.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := x.wait().want(t, 130)
	if !strings.Contains(r.out, "[? ] what is left was not looked at") {
		t.Errorf("%s", r.out)
	}
}
