package store

import "golang.org/x/sys/unix"

// InMemory tells whether a folder is in a file system that keeps its files in memory, as far as the system says.
func InMemory(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	kind := uint32(st.Type)
	return kind == unix.TMPFS_MAGIC || kind == unix.RAMFS_MAGIC
}
