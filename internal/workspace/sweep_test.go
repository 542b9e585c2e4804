package workspace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"overt/internal/workspace"
)

// TestWriteSweeps: what a killed process left beside a file goes with the next write of the file; nothing else does.
func TestWriteSweeps(t *testing.T) {
	ended := exec.Command("/bin/sh", "-c", "exit 0")
	if err := ended.Run(); err != nil {
		t.Skip("needs a shell")
	}
	gone, self := ended.Process.Pid, os.Getpid()
	stale := []string{fmt.Sprintf(".f.overt-%d-0.tmp", gone), fmt.Sprintf(".f.overt-%d-17.tmp", gone), fmt.Sprintf(".f.overt-%d-99.tmp", self)}
	young := fmt.Sprintf(".f.overt-%d-1.tmp", gone)
	keep := []string{
		young, fmt.Sprintf(".f.overt-%d-0.tmp", os.Getppid()), fmt.Sprintf(".g.overt-%d-0.tmp", gone), fmt.Sprintf(".f.overt-%d-0.tmp.bak", gone),
		fmt.Sprintf(".f.overt-%d-x.tmp", gone), ".f.overt-.tmp", ".f.overt-0-0.tmp", fmt.Sprintf(".f.overt-0%d-0.tmp", gone), ".f.overt-3.tmp", ".f.tmp",
		fmt.Sprintf("sub/.f.overt-%d-0.tmp", gone),
	}
	for name, seen := range map[string]string{"created": "", "replaced": workspace.Sum([]byte("old"))} {
		dir := t.TempDir()
		files := map[string]string{fmt.Sprintf(".f.overt-%d-5.tmp/", gone): ""}
		for _, n := range append(stale, keep...) {
			files[n] = "x"
		}
		if seen != "" {
			files["f"] = "old"
		}
		lay(t, dir, files)
		long := time.Now().Add(-time.Hour)
		for n := range files {
			if n == young {
				continue
			}
			if err := os.Chtimes(filepath.Join(dir, n), long, long); err != nil {
				t.Fatal(err)
			}
		}
		if err := writeAt(open(t, dir), "f", []byte("new"), seen); err != nil {
			t.Fatal(err)
		}
		for _, n := range stale {
			if _, err := os.Lstat(filepath.Join(dir, n)); err == nil {
				t.Errorf("%s: %s is still there", name, n)
			}
			delete(files, n)
		}
		for n := range files {
			if _, err := os.Lstat(filepath.Join(dir, n)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
