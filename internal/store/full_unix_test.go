//go:build unix

package store_test

import (
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"overt/internal/store"
)

// limitFiles makes a write beyond so many bytes of a file fail in this process, as one on a full disk does.
func limitFiles(n uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
}

// TestFullDisk: a backup or restore for which there is no room leaves everything as it was.
func TestFullDisk(t *testing.T) {
	dir := wholeRecord(t)
	b := mustBackup(t, dir, store.BackupOptions{})
	before := tree(t, dir)
	delete(before, "lease")
	for _, what := range []string{"", b.Name} {
		cmd, out := start(t, "full:"+what, dir)
		var said string
		for out.Scan() {
			said += out.Text()
		}
		cmd.Wait()
		if !strings.HasPrefix(said, "error ") || !strings.Contains(said, "nothing was") {
			t.Errorf("it says %q", said)
		}
		after := tree(t, dir)
		delete(after, "lease")
		if !reflect.DeepEqual(before, after) {
			t.Errorf("the folder has changed: %q", entries(t, dir))
		}
	}
}
