//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// mine tells whether a folder is of the person who runs this process.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
