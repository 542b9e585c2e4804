package shell

import "golang.org/x/sys/unix"

const (
	auditArch    = unix.AUDIT_ARCH_AARCH64
	otherNumbers = 0xffffffff // there is one numbering only
)

// olderModeCalls are the calls that give a file a mode which newer machines do not have.
func olderModeCalls() []modeCall { return nil }
