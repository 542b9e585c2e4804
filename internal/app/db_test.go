package app

import (
	"os"
	"path/filepath"
	"testing"

	"overt/internal/store"
)

// TestSweepsGivenEnvironment: what a start removes of dead processes lies where the environment that it was given says, not where the
// process's own does.
func TestSweepsGivenEnvironment(t *testing.T) {
	if !store.InMemory("/dev/shm") {
		t.Skip("no folder in memory")
	}
	runtime, err := os.MkdirTemp("/dev/shm", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(runtime)
	// As a process leaves it that was killed: a folder with a lock that nobody holds.
	dead := filepath.Join(runtime, "overt-ephemeral-1-1-x")
	if err := os.Mkdir(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, ".overt-lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	OpenRecord(t.Context(), state, state, variables(nil)) // there is no record; it is about what is swept
	if _, err := os.Stat(dead); err != nil {
		t.Errorf("it was removed by a start that does not know the folder: %v", err)
	}
	OpenRecord(t.Context(), state, state, variables([]string{"XDG_RUNTIME_DIR=/nowhere", "XDG_RUNTIME_DIR=" + runtime}))
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
