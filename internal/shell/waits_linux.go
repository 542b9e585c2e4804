package shell

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// watch looks whether a command waits for what nobody will type: a process of it reads from a terminal that the command has
// made itself, while nothing of it uses the processor. Two looks must agree.
type watch struct {
	group   Group
	waiting string // the process that was found, with what all used of the processor so far
}

// looks again.
func (w *watch) waits() bool {
	var used uint64
	found := ""
	for _, s := range living(func(s stat) bool { return s.group == w.group.ID || s.start >= w.group.Start }) {
		if s.group != w.group.ID {
			if marked, _ := carries(s.pid, w.group.Mark); !marked {
				continue
			}
		}
		used += s.used
		if found == "" && readsTerminal(s.pid) {
			found = s.pid
		}
	}
	if found == "" {
		w.waiting = ""
		return false
	}
	was := w.waiting
	w.waiting = found + " " + strconv.FormatUint(used, 10)
	return was == w.waiting
}

// readsTerminal tells whether a process waits in read(2) from a terminal, or in pselect(2) for its standard input alone, as
// line editors do (proc_pid_syscall(5)).
func readsTerminal(pid string) bool {
	data, err := os.ReadFile("/proc/" + pid + "/syscall")
	f := strings.Fields(string(data))
	if err != nil || len(f) < 2 {
		return false
	}
	arg, err := strconv.ParseUint(strings.TrimPrefix(f[1], "0x"), 16, 32)
	if err != nil {
		return false
	}
	read, pselect := "0", "270"
	if runtime.GOARCH == "arm64" {
		read, pselect = "63", "72"
	}
	fd := arg
	switch {
	case f[0] == pselect && arg == 1:
		fd = 0
	case f[0] != read:
		return false
	}
	to, err := os.Readlink("/proc/" + pid + "/fd/" + strconv.FormatUint(fd, 10))
	return err == nil && (strings.HasPrefix(to, "/dev/pts/") || strings.HasPrefix(to, "/dev/tty"))
}
