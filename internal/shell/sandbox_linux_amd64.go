package shell

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000 // __X32_SYSCALL_BIT: the calls of the x32 ABI begin here
)

// modeCalls are the calls that set the mode of a file, with the offset of that argument in struct seccomp_data.
func modeCalls() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_CHMOD: 24, unix.SYS_FCHMOD: 24, unix.SYS_FCHMODAT: 32, unix.SYS_FCHMODAT2: 32}
}
