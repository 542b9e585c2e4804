package shell

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the command in a session and group of its own, and lets the kernel end its leader when we die. In our
// session it could open our terminal, and would be stopped as soon as it asked there.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// stat is what /proc/PID/stat says (proc_pid_stat(5)).
type stat struct {
	pid, state string
	group      int
	start      uint64
	used       uint64 // of the processor, in clock ticks
}

func readStat(pid string) (stat, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The second field, the name, may hold anything; the rest begins after the last bracket, with field 3.
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(f) < 20 {
		return stat{}, false
	}
	s := stat{pid: pid, state: f[0]}
	s.group, _ = strconv.Atoi(f[2])
	user, _ := strconv.ParseUint(f[11], 10, 64)
	system, _ := strconv.ParseUint(f[12], 10, 64)
	s.used = user + system
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err == nil
}

// bootID is one for each start of the kernel; the numbers of processes and clock ticks mean nothing beyond it.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

func identify(pid int, mark string) Group {
	s, _ := readStat(strconv.Itoa(pid))
	return Group{ID: pid, Start: s.start, Boot: bootID(), Mark: mark}
}

// waitEnd waits until a child has ended, and leaves it to be reaped.
func waitEnd(pid int, _ func() error) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// Self identifies this process, which is no group.
func Self() Group { return identify(os.Getpid(), "") }

// Alive tells whether a process that [Self] has identified still is there.
func Alive(g Group) bool {
	s, ok := readStat(strconv.Itoa(g.ID))
	return ok && s.state != "Z" && s.start == g.Start && g.Boot == bootID()
}

// EndGroup ends a process group that an earlier process recorded, if it is still that one, and with it what has left the
// group but carries its mark; it tells whether it ended anything. The machine must not have been started again, and the
// leader must have started when the record says; or, where the leader is gone, a member must be left that carries the
// mark in its environment. A group of which not all is known ends nothing.
func EndGroup(g Group) bool {
	if g.ID <= 1 || g.Start == 0 || g.Mark == "" || g.Boot == "" || g.Boot != bootID() {
		return false
	}
	ours := false
	if s, ok := readStat(strconv.Itoa(g.ID)); ok {
		ours = s.start == g.Start && members(g.ID) > 0
	} else {
		ours = hasMember(g)
	}
	ended := ours && syscall.Kill(-g.ID, syscall.SIGKILL) == nil
	return endMarked(g) > 0 || ended
}

// maxLooks is how often processes are listed before an environment that reads as empty counts as one without our mark.
// While a process changes programs, for some microseconds, the kernel shows no environment of it; that answers nothing,
// and listing all processes again takes longer than the change.
const maxLooks = 10

// hasMember looks for what is left of a group without its leader. The number may be in use again, by another process or for a
// group whose leader has ended too.
func hasMember(g Group) bool {
	for range maxLooks {
		unknown := false
		for _, s := range living(func(s stat) bool { return s.group == g.ID }) {
			marked, known := carries(s.pid, g.Mark)
			if marked {
				return true
			}
			unknown = unknown || !known
		}
		if !unknown {
			return false
		}
	}
	return false
}

// carries tells whether a process has a mark: in its environment, or in the name of the memory that commands of a session
// leave their state in, which whoever they start holds open, also with another environment. known is false if it did not say.
func carries(pid, mark string) (marked, known bool) {
	for _, fd := range []string{bashSheet, shSheet} {
		if to, err := os.Readlink("/proc/" + pid + "/fd/" + fd); err == nil && to == "/memfd:"+sheetName(mark)+" (deleted)" {
			return true, true
		}
	}
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil {
		return false, true // it is gone, or not for us to know
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if string(kv) == marker+"="+mark {
			return true, true
		}
	}
	return false, len(env) > 0
}

// endMarked ends the processes of this user that carry a group's mark, wherever they have gone (setsid), and says how
// many that were. It looks again until nothing new is found, for one may start another before it ends. What has put on
// another environment and closed what it did not know is not found.
func endMarked(g Group) int {
	if g.Mark == "" {
		return 0
	}
	ended := map[string]bool{}
	for range maxLooks {
		again := false
		// A member is no older than the leader.
		for _, s := range living(func(s stat) bool { return s.start >= g.Start && !ended[s.pid] }) {
			marked, known := end(s.pid, g.Mark)
			if marked {
				ended[s.pid] = true
			}
			again = again || marked || !known
		}
		if !again {
			break
		}
	}
	return len(ended)
}

// end ends a process if it is this user's and carries the mark.
func end(pid, mark string) (marked, known bool) {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 1 || n == os.Getpid() {
		return false, true
	}
	info, err := os.Stat("/proc/" + pid)
	if err != nil {
		return false, true
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return false, true
	}
	p, err := os.FindProcess(n) // by descriptor where the kernel has them: what is ended is what was looked at
	if err != nil {
		return false, true
	}
	defer func() { _ = p.Release() }()
	if marked, known = carries(pid, mark); marked {
		marked = p.Kill() == nil
	}
	return marked, known
}

// members counts the living processes of a group.
func members(group int) int {
	return len(living(func(s stat) bool { return s.group == group }))
}

func living(choose func(stat) bool) []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []stat
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if s, ok := readStat(name); ok && s.state != "Z" && choose(s) {
			out = append(out, s)
		}
	}
	return out
}
