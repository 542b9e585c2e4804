//go:build unix

package store_test

import (
	"syscall"
	"testing"
)

// pipe makes a named pipe, which nobody ever writes to: who opens it to read waits for ever.
func pipe(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
