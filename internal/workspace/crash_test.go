//go:build unix

package workspace_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"overt/internal/workspace"
)

// writerVar makes this test a process that writes files: once, for ever, or with a limit on their size in bytes.
const writerVar = "OVERT_TEST_WRITER"

// contents are what a writer puts in turn into a file. They are long enough to be written in several steps.
func contents() [2][]byte {
	return [2][]byte{bytes.Repeat([]byte("old line\n"), 200_000), bytes.Repeat([]byte("a newer line\n"), 200_000)}
}

// TestMain is the writing process where it was started as one.
func TestMain(m *testing.M) {
	how := os.Getenv(writerVar)
	if how == "" {
		os.Exit(m.Run())
	}
	if err := writer(how); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func writer(how string) error {
	if limit, err := strconv.ParseUint(strings.TrimPrefix(how, "dying "), 10, 64); err == nil {
		if !strings.HasPrefix(how, "dying ") {
			signal.Ignore(syscall.SIGXFSZ) // then a write past the limit fails, as one on a full disk does
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	tree, err := workspace.Open(".")
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		f, err := readAt(tree, "f", workspace.MaxFile)
		if err != nil {
			return err
		}
		fmt.Println(i)
		if err := writeAt(tree, "f", contents()[i%2], f.SHA256); err != nil || how != "ever" {
			return err
		}
	}
}

func start(t *testing.T, dir, how string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), writerVar+"="+how)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// whole tells which content a file has; it fails the test if it is none.
func whole(t *testing.T, dir string) int {
	t.Helper()
	data := []byte(read(t, filepath.Join(dir, "f")))
	for i, c := range contents() {
		if bytes.Equal(data, c) {
			return i
		}
	}
	t.Fatalf("the file has %d bytes, of neither content", len(data))
	return 0
}

// tidy writes once more in a process of its own, and fails the test if that leaves anything beside the file.
func tidy(t *testing.T, dir string) {
	t.Helper()
	cmd, out := start(t, dir, "once")
	for out.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if whole(t, dir) != 1 {
		t.Error("the next write did not write")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestFullDisk: a write that finds no room leaves the old file, and says so.
func TestFullDisk(t *testing.T) {
	size := len(contents()[1])
	for _, limit := range []int{0, 1, 4096, size / 2, size - 1, size} {
		for _, dying := range []string{"", "dying "} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f"), contents()[0], 0o640); err != nil {
				t.Fatal(err)
			}
			cmd, out := start(t, dir, dying+strconv.Itoa(limit))
			var said []string
			for out.Scan() {
				said = append(said, out.Text())
			}
			err := cmd.Wait()
			if fits := limit >= size; fits != (err == nil) || fits != (whole(t, dir) == 1) {
				t.Errorf("%s%d bytes: %v, %q", dying, limit, err, said)
			}
			if limit < size && dying == "" {
				if last := said[len(said)-1]; !strings.Contains(last, "f: file too large") {
					t.Errorf("said %q", last)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
					t.Errorf("left behind: %v, %v", entries, err)
				}
			}
			tidy(t, dir)
		}
	}
}

// TestKilledWriter: a process that is killed at any instant leaves the old file or the new one.
func TestKilledWriter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), contents()[0], 0o640); err != nil {
		t.Fatal(err)
	}
	for range 25 {
		cmd, out := start(t, dir, "ever")
		for range 1 + random.IntN(4) {
			if !out.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		// Some way into the write that was just announced.
		spent := 0
		for i := range random.IntN(4_000_000) {
			spent += i
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err, spent)
		}
		_ = cmd.Wait()
		whole(t, dir)
		if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	tidy(t, dir)
}
