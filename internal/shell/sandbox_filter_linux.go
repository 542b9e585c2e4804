//go:build linux && (amd64 || arm64)

package shell

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterCalls lets no socket be made but those that the network namespace confines, and keeps the calls away that reach
// sockets, keys or other processes in another way, and those that would lead into further namespaces.
//
// The program is a classic BPF one over struct seccomp_data (seccomp(2)): number at 0, architecture at 4, the low halves of
// the arguments from 16 on, 8 bytes each, on these little-endian machines.
func filterCalls() error {
	const (
		number, arch, first, second, third = 0, 4, argument, argument + 8, argument + 16

		allowed = unix.SECCOMP_RET_ALLOW
		refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
		missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	result := func(r uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: r} }
	when := func(op uint16, k uint32, skip int) unix.SockFilter { // goes on where it holds, else skips
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: k, Jf: uint8(skip)}
	}
	p := []unix.SockFilter{
		load(arch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		result(missing), // another machine's calls have other numbers
		load(number),
		when(unix.BPF_JGE, otherNumbers, 1),
		result(missing),
	}
	call := func(nr uint32, then ...unix.SockFilter) {
		p = append(append(p, when(unix.BPF_JEQ, nr, len(then))), then...)
	}
	oneOf := func(values ...uint32) (out []unix.SockFilter) {
		for _, v := range values {
			out = append(out, when(unix.BPF_JEQ, v, 1), result(allowed))
		}
		return append(out, result(refused))
	}
	none := func(bits uint32) []unix.SockFilter {
		return []unix.SockFilter{load(first), when(unix.BPF_JSET, bits, 1), result(refused), result(allowed)}
	}
	for _, nr := range []uint32{
		unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_CLONE3, unix.SYS_OPENAT2, // what they are given can't be seen; who is told that they are missing takes clone, openat
	} {
		call(nr, result(missing))
	}
	for _, nr := range []uint32{unix.SYS_SETNS, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM} {
		call(nr, result(refused))
	}
	call(unix.SYS_CLONE, none(unix.CLONE_NEWUSER)...)
	call(unix.SYS_UNSHARE, none(unix.CLONE_NEWUSER)...)
	call(unix.SYS_SOCKET, append([]unix.SockFilter{load(first)}, oneOf(unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)...)...)
	// A pair of sockets that send single messages could send them to any address.
	call(unix.SYS_SOCKETPAIR, append([]unix.SockFilter{
		load(second), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf},
	}, oneOf(unix.SOCK_STREAM, unix.SOCK_SEQPACKET)...)...)
	// The limits of others: a limit on processor time ends them. Its own may be read and set.
	call(unix.SYS_PRLIMIT64, load(first), when(unix.BPF_JEQ, 0, 1), result(allowed), load(third), when(unix.BPF_JEQ, 0, 1), result(allowed), result(refused))
	// A program that anybody may run with the rights of its owner would outlive the sandbox. (Who makes a folder gives it no such
	// bits, mkdir(2).)
	for _, c := range modeCalls() {
		check := []unix.SockFilter{load(c.mode), when(unix.BPF_JSET, unix.S_ISUID|unix.S_ISGID, 1), result(refused), result(allowed)}
		if c.flags != 0 { // where nothing is made, the mode can be anything
			check = append([]unix.SockFilter{load(c.flags), when(unix.BPF_JSET, unix.O_CREAT|tmpFile, len(check)-1)}, check...)
		}
		call(c.nr, check...)
	}
	return installFilter(append(p, result(allowed)))
}

// argument is where the arguments begin in struct seccomp_data.
const argument = 16

// tmpFile is what O_TMPFILE has that O_DIRECTORY has not: __O_TMPFILE of fcntl.h.
const tmpFile = 0o20000000

// modeCall is a call that gives a file a mode.
type modeCall struct {
	nr, mode uint32
	flags    uint32 // of one that may open what is there; 0: it has none
}

// nth is where an argument is in struct seccomp_data; the first is 0.
func nth(n uint32) uint32 { return argument + 8*n }

// modeCalls are the calls of every machine that give a file a mode, but for openat2.
func modeCalls() []modeCall {
	return append(olderModeCalls(),
		modeCall{unix.SYS_FCHMOD, nth(1), 0}, modeCall{unix.SYS_FCHMODAT, nth(2), 0}, modeCall{unix.SYS_FCHMODAT2, nth(2), 0},
		modeCall{unix.SYS_MKNODAT, nth(2), 0}, modeCall{unix.SYS_OPENAT, nth(3), nth(2)})
}

// installFilter puts a filter of system calls on every thread, and forbids to gain rights by starting programs, without which
// the kernel takes no filter.
func installFilter(p []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}
