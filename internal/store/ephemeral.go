package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ephemeralPrefix begins the names of folders that live no longer than their process.
const ephemeralPrefix = "overt-ephemeral-"

// Ephemeral is a folder for a record that is to leave nothing behind.
type Ephemeral struct {
	Dir string
	c   *claimed
}

// NewEphemeral makes a folder of the person's own, in the first of the given folders that takes one, and removes those that
// processes of the same person left there when they died. Remove it at the end.
func NewEphemeral(in []string) (*Ephemeral, error) {
	var errs []error
	for _, dir := range in {
		sweep(dir, ephemeralPrefix, false)
		c, err := claim(dir, ephemeralPrefix)
		if err == nil {
			return &Ephemeral{c.dir, c}, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		errs = append(errs, fs.ErrNotExist)
	}
	return nil, fmt.Errorf("there is nowhere to keep a record for now: %w", errors.Join(errs...))
}

// Remove removes the folder with what is in it. The record in it must be closed.
func (e *Ephemeral) Remove() error {
	if err := e.c.drop(); err != nil {
		return fmt.Errorf("%s could not be removed: %w", e.Dir, err)
	}
	return nil
}

// InMemory tells whether a folder is in a file system that keeps its files in memory, as far as the system says: what the
// mounts of Linux name (proc_pid_mounts(5)).
func InMemory(dir string) bool {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return false
	}
	best, memory := "", false
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		point := strings.TrimSuffix(f[1], "/")
		if (dir == point || strings.HasPrefix(dir, point+"/")) && len(point) >= len(best) {
			best, memory = point, f[2] == "tmpfs" || f[2] == "ramfs"
		}
	}
	return memory
}
