package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"overt/internal/shell"
)

var update = flag.Bool("update", false, "write what commands print into the scripts' files")

// TestMain builds the program once: everything here is a test of the real binary, in a process of its own.
func TestMain(m *testing.M) {
	if err := shell.Reexec(); err != nil { // a try whether the system has a sandbox
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "overt-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	args := []string{"build", "-o", filepath.Join(dir, "overt")}
	if raceEnabled {
		args = append(args, "-race")
		for _, translated := range []string{"modernc.org/sqlite/lib", "modernc.org/libc", "modernc.org/memory"} { // as scripts/test says
			args = append(args, "-gcflags="+translated+"=-race=false")
		}
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

// home gives the variables of a process that has a folder for itself: no keys, no proxies, nothing of the person's.
func home(dir string) []string {
	return []string{
		"GORACE=atexit_sleep_ms=0", // under the race detector, a process waits a second at its end by default
		"HOME=" + filepath.Join(dir, "home"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_DATA_HOME=" + filepath.Join(dir, "data"),
	}
}
