package shell

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// attributes puts the command in a group of its own, and lets the kernel end its leader when we die.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stat is what /proc/PID/stat says (proc_pid_stat(5)).
type stat struct {
	state          string
	group, session int
	start          uint64
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
	s := stat{state: f[0]}
	s.group, _ = strconv.Atoi(f[2])
	s.session, _ = strconv.Atoi(f[3])
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err == nil
}

func startTicks(pid int) uint64 {
	s, _ := readStat(strconv.Itoa(pid))
	return s.start
}

// EndGroup ends a process group that an earlier process recorded, if it is still that one, and tells whether it ended
// anything. Its leader must have started when the record says; or, where the leader is gone, a member that is no
// session leader's and did not start before it must be left. An unknown start (0) ends nothing.
func EndGroup(id int, start uint64) bool {
	if id <= 1 || start == 0 {
		return false
	}
	if s, ok := readStat(strconv.Itoa(id)); ok {
		if s.start != start || members(id) == 0 {
			return false
		}
	} else if !hasMember(id, start) {
		return false
	}
	return syscall.Kill(-id, syscall.SIGKILL) == nil
}

// hasMember looks for what is left of a group without its leader. Daemons' groups have a session of the same number,
// ours never do.
func hasMember(group int, start uint64) bool {
	return slices.ContainsFunc(living(group), func(s stat) bool { return s.session != group && s.start >= start })
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
