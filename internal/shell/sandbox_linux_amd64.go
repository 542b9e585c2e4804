package shell

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // __X32_SYSCALL_BIT: the calls of the x32 ABI begin here
)

// olderModeCalls are the calls that give a file a mode which newer machines do not have.
func olderModeCalls() []modeCall {
	return []modeCall{
		{unix.SYS_CHMOD, nth(1), 0}, {unix.SYS_CREAT, nth(1), 0}, {unix.SYS_MKNOD, nth(1), 0}, {unix.SYS_OPEN, nth(2), nth(1)},
	}
}
