package shell

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// watch looks whether a command waits for what nobody will type: a process of it asks, and no other can ever give the
// answer, for each waits without a time limit for another one. A single process that sleeps for a time, runs, or could
// hear from outside (of a socket, a timer, a change of files) may be the one that drives a terminal, so then nothing is
// waited for in vain. Two looks must agree, and between them nothing may have used the processor.
type watch struct {
	group   Group
	waiting string // the processes, with what they used of the processor so far; "": nobody asked
}

// looks again.
func (w *watch) waits() bool {
	was := w.waiting
	w.waiting = w.look()
	return w.waiting != "" && w.waiting == was
}

func (w *watch) look() string {
	var all strings.Builder
	asked := false
	for _, s := range living(func(s stat) bool { return s.group == w.group.ID || s.start >= w.group.Start }) {
		if s.group != w.group.ID {
			if marked, _ := carries(s.pid, w.group.Mark); !marked {
				continue
			}
		}
		asks, stuck := inquire(s.pid)
		if !stuck {
			return ""
		}
		asked = asked || asks
		all.WriteString(s.pid + " " + strconv.FormatUint(s.used, 10) + "\n")
	}
	if !asked {
		return ""
	}
	return all.String()
}

// inquire tells of a process whether it asks, and whether nothing but another process can make it go on.
func inquire(pid string) (asks, stuck bool) {
	dir, err := os.Open("/proc/" + pid + "/task")
	if err != nil {
		return false, true // it has ended
	}
	defer dir.Close()
	threads, _ := dir.Readdirnames(-1)
	aside := true
	for _, id := range threads {
		data, err := os.ReadFile("/proc/" + pid + "/task/" + id + "/syscall") // proc_pid_syscall(5)
		if err != nil {
			return false, os.IsNotExist(err)
		}
		c, ok := parseCall(string(data))
		switch {
		case !ok:
			return false, false
		case c.asks(pid):
			asks = true
		case c.stuck(pid):
		case c.number == sysFutex && id != pid: // the threads by which Go and others watch over themselves
			aside = false
		default:
			return false, false
		}
	}
	return asks, asks || aside
}

// call is a system call that a thread is in.
type call struct {
	number int
	arg    [6]uint64
}

// parseCall reads a line of /proc/PID/syscall; false: the thread is in none, but runs.
func parseCall(line string) (c call, ok bool) {
	f := strings.Fields(line)
	if len(f) < 7 {
		return c, false
	}
	var err error
	if c.number, err = strconv.Atoi(f[0]); err != nil || c.number < 0 {
		return c, false
	}
	for i := range c.arg {
		if c.arg[i], err = strconv.ParseUint(strings.TrimPrefix(f[i+1], "0x"), 16, 64); err != nil {
			return c, false
		}
	}
	return c, true
}

// limited tells whether a call that waits for descriptors ends after some time; many says that it is such a call.
func (c call) limited() (limited, many bool) {
	switch c.number {
	case sysPoll:
		return int32(c.arg[2]) >= 0, true
	case sysPpoll:
		return c.arg[2] != 0, true
	case sysSelect, sysPselect:
		return c.arg[4] != 0, true
	case sysEpollWait, sysEpollPwait:
		return int32(c.arg[3]) >= 0, true
	case sysEpollPwait2:
		return c.arg[3] != 0, true
	}
	return false, false
}

// asks tells whether a person is waited for: by read(2) from a terminal, or for standard input alone, as line editors do. An
// editor without a terminal takes its standard error for one, and waits there until something is written to a pipe that can't be read.
func (c call) asks(pid string) bool {
	if c.number == sysRead {
		return terminal(target(pid, c.arg[0]))
	}
	limited, _ := c.limited()
	switch c.number {
	case sysSelect, sysPselect:
		return c.arg[0] == 1 && (!limited && terminal(target(pid, 0)) || onlyWritten(pid, "0"))
	case sysPoll, sysPpoll:
		return c.arg[1] == 1 && !limited && terminal(target(pid, 0))
	}
	return false
}

// stuck tells whether a call waits without a time limit for what only another process of the command can do.
func (c call) stuck(pid string) bool {
	switch c.number {
	case sysWait4, sysWaitid, sysSigsuspend, sysPause:
		return true
	case sysSigtimedwait:
		return c.arg[2] == 0
	case sysFutex: // of its operations only FUTEX_WAIT and FUTEX_WAIT_BITSET, whose fourth argument is the limit
		op := c.arg[1] & 0x7f
		return (op == 0 || op == 9) && c.arg[3] == 0
	case sysRead:
		return !outside(target(pid, c.arg[0]))
	}
	limited, many := c.limited()
	return many && !limited && !hears(pid)
}

// hears tells whether a process has a descriptor by which something from outside the command could make it go on.
func hears(pid string) bool {
	list, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		return true
	}
	for _, fd := range list {
		if n, err := strconv.ParseUint(fd.Name(), 10, 64); err == nil && outside(target(pid, n)) {
			return true
		}
	}
	return false
}

func target(pid string, fd uint64) string {
	to, err := os.Readlink("/proc/" + pid + "/fd/" + strconv.FormatUint(fd, 10))
	if err != nil {
		return ""
	}
	return to
}

func terminal(to string) bool {
	return strings.HasPrefix(to, "/dev/pts/") && to != "/dev/pts/ptmx" || strings.HasPrefix(to, "/dev/tty")
}

// outside tells whether a descriptor leads to what others than processes of the command can do something to.
func outside(to string) bool {
	switch to {
	case "anon_inode:[timerfd]", "anon_inode:inotify", "anon_inode:[fanotify]":
		return true
	}
	return strings.HasPrefix(to, "socket:")
}

// onlyWritten tells whether a descriptor is the end of a pipe that can't be read (proc_pid_fdinfo(5)).
func onlyWritten(pid, fd string) bool {
	to, err := os.Readlink("/proc/" + pid + "/fd/" + fd)
	data, err2 := os.ReadFile("/proc/" + pid + "/fdinfo/" + fd)
	if err != nil || err2 != nil || !strings.HasPrefix(to, "pipe:") {
		return false
	}
	_, rest, _ := strings.Cut(string(data), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(line), 8, 32)
	return err == nil && flags&syscall.O_ACCMODE == syscall.O_WRONLY
}
