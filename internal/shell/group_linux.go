package shell

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// EndGroup ends a process group that an earlier process recorded, if it is still that one, and tells whether it ended
// anything. The machine must not have been started again, and the leader must have started when the record says; or,
// where the leader is gone, a member must be left that carries the group's mark in its environment. A group of which
// not all is known ends nothing.
func EndGroup(g Group) bool {
	if g.ID <= 1 || g.Start == 0 || g.Mark == "" || g.Boot == "" || g.Boot != bootID() {
		return false
	}
	if s, ok := readStat(strconv.Itoa(g.ID)); ok {
		if s.start != g.Start || members(g.ID) == 0 {
			return false
		}
	} else if !hasMember(g) {
		return false
	}
	return syscall.Kill(-g.ID, syscall.SIGKILL) == nil
}

// looks is how often a group is listed before an environment that reads as empty counts as one without our mark.
const looks = 10

// hasMember looks for what is left of a group without its leader. The number may be in use again, for a group whose
// leader has ended too. While a process changes programs, for some microseconds, the kernel shows no environment of it;
// that answers nothing, and listing all processes again takes longer than the change.
func hasMember(g Group) bool {
	mark := []byte(marker + "=" + g.Mark)
	for range looks {
		unknown := false
		for _, s := range living(g.ID) {
			env, err := os.ReadFile("/proc/" + s.pid + "/environ")
			if err != nil {
				continue
			}
			if slices.ContainsFunc(bytes.Split(env, []byte{0}), func(kv []byte) bool { return bytes.Equal(kv, mark) }) {
				return true
			}
			unknown = unknown || len(env) == 0
		}
		if !unknown {
			return false
		}
	}
	return false
}

// members counts the living processes of a group.
func members(group int) int { return len(living(group)) }

func living(group int) []stat {
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
		if s, ok := readStat(name); ok && s.group == group && s.state != "Z" {
			out = append(out, s)
		}
	}
	return out
}
