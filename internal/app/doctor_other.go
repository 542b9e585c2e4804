//go:build !linux && !darwin

package app

import (
	"errors"
	"io/fs"
)

// others is not known on this system, which has no modes.
func others(fs.FileInfo) (reads, writes bool) { return false, false }

// ownerOf is not known on this system.
func ownerOf(fs.FileInfo) (int, bool) { return 0, false }

// writable is not known on this system before a file is made.
func writable(string) bool { return true }

// disk is what a file system says of itself.
type disk struct {
	free    int64
	full    bool
	network string
}

func diskOf(string) (disk, error) { return disk{}, errors.ErrUnsupported }

// fileLimit is not known on this system.
func fileLimit() (int64, bool) { return 0, false }
