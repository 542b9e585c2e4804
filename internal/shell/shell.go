// Package shell runs commands in process groups and sessions of their own, within limits.
//
// [Start] starts a command held: a gate in its own process group that has run nothing. [Held.Group] names the group, so
// that it can be recorded before the first effect; then [Held.Go] lets it run and waits for its end, or [Held.Release] drops it.
// If this process dies in between, the gate ends without having run anything. [EndGroup] ends, after a crash, a group that was recorded.
//
// A command gets no standard input and no terminal: it runs in a session of its own, so that /dev/tty fails at once. Its output and errors are one stream, cleaned for reading and kept
// at head and tail, so memory is bounded whatever it writes. When the time limit passes, when the context ends, and
// when the command itself ends, what is left of its group is ended too. What has left the group (setsid) is ended where
// the command is ended by force, and goes on after one that ended by itself: it was meant to.
//
// The package grades no risk and reads no environment: [Environ] makes the one that commands get. A Held belongs to one
// goroutine; different ones are independent. It works on Unix; elsewhere [Start] gives an error that says so.
package shell

import (
	"errors"
	"strings"
	"time"
)

// MaxTimeout is the longest time limit that a command may ask for.
const MaxTimeout = 3600 * time.Second

const (
	// defaultTimeout is the time limit of a command that asks for none.
	defaultTimeout = 120 * time.Second

	// keptEach is how many characters are kept of each end of the output.
	keptEach = 5000

	// maxCommand bounds a command's text in bytes; Linux takes no argument over 128 KiB.
	maxCommand = 100 << 10
)

// ErrUnsupported is what [Start] gives where there are no process groups.
var ErrUnsupported = errors.New("commands can't be run on this system: it has no process groups")

// Options say what to run.
type Options struct {
	Command string        // for bash, or for sh where there is no bash
	Dir     string        // absolute
	Env     []string      // the whole environment, see Environ
	Timeout time.Duration // 0: 120 s; longer than MaxTimeout: MaxTimeout
	Sandbox *Sandbox      // nil: the command may do what this process may
}

// Group identifies a process group beyond reuse of its number.
type Group struct {
	ID    int    // of the group and its leader
	Start uint64 // when the leader started, in clock ticks after boot; 0: unknown on this system
	Boot  string // names the start of the machine since which both count; "": unknown
	Mark  string // what OVERT_GROUP is in the environment of every member; no two groups have the same
}

// Outcome is how a command ended and what it wrote.
type Outcome struct {
	Exit      int    // status; -1 if a signal ended it
	Signal    string // the signal that ended it, as "killed"; else ""
	TimedOut  bool   // the time limit passed, and the group was ended
	Cancelled bool   // the context ended, and the group was ended
	Waiting   bool   // it waited for input at a terminal of its own, where nobody types, and the group was ended
	Left      int    // processes that the command had left behind, and that were ended
	Open      bool   // a process outside the group holds the output still; what it writes from now on is not in Output
	Lost      bool   // of a session: the shell did not leave its state at its end, as after exec, set -n or SIGKILL, so that before it holds still
	Large     bool   // of a session: Unkept was too large to last; nothing but the folder was kept if that is empty
	Unkept    []string
	Job       *Job // of a session: what goes on running
	Output
	Took time.Duration
}

// Output is what a command wrote, cleaned. Tail is "" where Head is the whole.
type Output struct {
	Head, Tail string
	Omitted    int   // characters between Head and Tail
	Total      int64 // bytes as written
	Exact      bool  // Head is what was written, byte for byte
}

// Environ makes the environment of commands from another one. It leaves out our own variables (OVERT_…) and those that
// hold API keys by their name (…_API_KEY); it sets pagers and editors to ones that never wait.
func Environ(base []string) []string {
	set := []string{
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "EDITOR=true", "VISUAL=true",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "TERM=dumb",
	}
	ours := make(map[string]bool, len(set))
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		ours[name] = true
	}
	out := make([]string, 0, len(base)+len(set))
	for _, kv := range base {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || ours[name] || scrubbed(name) {
			continue
		}
		out = append(out, kv)
	}
	return append(out, set...)
}

// scrubbed names the variables that no command gets.
func scrubbed(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "OVERT_") || strings.HasSuffix(upper, "_API_KEY")
}
