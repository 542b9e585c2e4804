package shell

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // __X32_SYSCALL_BIT: the calls of the x32 ABI begin here
)
