//go:build linux || darwin

package app

import (
	"io/fs"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// others tells whether somebody else can read or write a file. A group of the owner's own number is the owner's own.
func others(info fs.FileInfo) (reads, writes bool) {
	bits := fs.FileMode(0o007)
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Gid != st.Uid {
		bits |= 0o070
	}
	mode := info.Mode().Perm() & bits
	return mode&0o044 != 0, mode&0o022 != 0
}

// ownerOf gives the number of a file's owner.
func ownerOf(info fs.FileInfo) (int, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// writable tells whether files can be made in a folder. Nothing is made to find out.
func writable(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// disk is what a file system says of itself.
type disk struct {
	free    int64  // bytes
	full    bool   // it takes no more files
	network string // the kind of a file system that other machines may use, too; "": it is none, or not known
}

func diskOf(dir string) (disk, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return disk{}, err
	}
	// The numbers of linux/magic.h. SQLite's locks are not to be relied on there (sqlite.org/faq.html, question 5).
	network := map[uint32]string{0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x01021997: "9P", 0x5346414f: "AFS", 0x73757245: "Coda"}
	free := int64(math.MaxInt64)
	if blocks, size := uint64(st.Bavail), uint64(st.Bsize); size == 0 || blocks < math.MaxInt64/size {
		free = int64(blocks * size)
	}
	return disk{free: free, full: st.Files > 0 && st.Ffree == 0, network: network[uint32(st.Type)]}, nil
}

// fileLimit is how large, in bytes, files of this process can become; false: without limit.
func fileLimit() (int64, bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil || l.Cur > math.MaxInt64/2 {
		return 0, false
	}
	return int64(l.Cur), true
}
