//go:build linux || darwin

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// Where SQLite's processes lock (sqlite.org/fileformat2.html#locking_page, sqlite.org/walformat.html#wal_locks): a writer
// has byte 120 of the file -shm in WAL mode, and what has the file for itself alone has bytes from 1 GiB on of the file.
const (
	walWriter  = 120
	wholeFirst = 0x40000000
	wholeBytes = 512
)

// locker tells whether another process has a database's lock for writing, and which. It takes no lock itself.
func locker(path string) (pid int, held bool) {
	if pid, held := lockedBy(path+"-shm", walWriter, 1, unix.F_WRLCK); held {
		return pid, true
	}
	return lockedBy(path, wholeFirst, wholeBytes, unix.F_RDLCK) // readers are no hindrance
}

// lockedBy asks who would keep this process from locking bytes of a file.
func lockedBy(path string, first, bytes int64, kind int16) (pid int, held bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	l := unix.Flock_t{Type: kind, Start: first, Len: bytes}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l); err != nil || l.Type == unix.F_UNLCK {
		return 0, false
	}
	return int(max(l.Pid, 0)), true
}
