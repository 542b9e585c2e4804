package shell

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_AARCH64
	otherNumbers = 0xffffffff // there is one numbering only
)

// modeCalls are the calls that set the mode of a file, with the offset of that argument in struct seccomp_data.
func modeCalls() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_FCHMOD: 24, unix.SYS_FCHMODAT: 32, unix.SYS_FCHMODAT2: 32}
}
