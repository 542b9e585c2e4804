//go:build unix && !linux

package shell

import (
	"os"
	"syscall"
)

// attributes puts the command in a session and group of its own: in ours it could open our terminal.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// identify knows the number only, without /proc.
func identify(pid int, mark string) Group { return Group{ID: pid, Mark: mark} }

// members is only told whether there are some.
func members(group int) int {
	if syscall.Kill(-group, 0) != nil {
		return 0
	}
	return 1
}

// waitEnd reaps the child, too.
func waitEnd(_ int, wait func() error) { _ = wait() }

// Self identifies this process by its number only.
func Self() Group { return Group{ID: os.Getpid()} }

// Alive tells whether there is a process of that number.
func Alive(g Group) bool { return syscall.Kill(g.ID, 0) == nil }

// EndGroup ends nothing here: without start times nobody can say whether a group is the recorded one.
func EndGroup(Group) bool { return false }

// endMarked ends nothing here: the environments of other processes can't be read.
func endMarked(Group) int { return 0 }

// hasMember can't tell here whose group it is.
func hasMember(g Group) bool { return members(g.ID) > 0 }
