//go:build !linux && !darwin

package store

// locker can't tell on this system.
func locker(string) (pid int, held bool) { return 0, false }
