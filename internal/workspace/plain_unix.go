//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// plain gives an open folder as one that was not opened in an [os.Root]: such a one asks the system about each of its
// entries as it lists them, which takes twice as long as the rest of a walk. What the folder itself says of their types is
// enough; where it says nothing, the path is asked.
func plain(f *os.File, path string) (*os.File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if e := conn.Control(func(from uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, err = syscall.Dup(int(from)); err == nil {
			syscall.CloseOnExec(fd)
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}
