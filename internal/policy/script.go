package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting bounds how deep scripts inside arguments ("sh -c TEXT") are looked into.
const maxNesting = 8

// script is what can be known of a shell text without running it.
type script struct {
	calls []command // every simple command, wherever it stands
	words []string  // the value of every word, redirections and assignments included
	// opaque says that the text runs something that can't be told from it: a program whose name is computed, or a
	// script from a file, a pipe or a variable.
	opaque bool
}

// readScript finds every simple command in the text, wherever it stands: in lists, pipes, substitutions, functions, as
// the argument of a program that runs its arguments, and in the script of "sh -c". Text that does not parse has none,
// and is opaque.
func readScript(text string) *script {
	s := &script{}
	s.read(text, 0)
	return s
}

func (s *script) read(text string, depth int) {
	f, err := parse(text, syntax.LangBash)
	if err != nil || depth > maxNesting {
		s.opaque = true
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				s.call(evaluateAll(n.Args), depth)
			}
		case *syntax.Word:
			s.words = append(s.words, evaluate(n).value)
		}
		return true
	})
}

// call adds a command, and what it would run in turn.
func (s *script) call(c command, depth int) {
	s.calls = append(s.calls, c)
	if !c[0].literal {
		s.opaque = true
		return
	}
	if runsArguments(c[0].value) {
		s.wrapped(c, depth)
	} else {
		s.interpreter(c, depth)
	}
}

// runsArguments names the programs that run what their arguments say.
func runsArguments(program string) bool {
	switch path.Base(program) {
	case "command", "builtin", "exec", "env", "sudo", "doas", "nohup", "nice", "ionice", "time", "timeout", "xargs",
		"setsid", "stdbuf", "chroot", "busybox", "toybox", "find", "parallel", "watch", "flock", "strace", "ltrace", "su",
		"runuser", "pkexec", "script", "taskset", "unshare", "nsenter", "systemd-run", "chrt", "setarch", "prlimit", "numactl",
		"npx", "pnpx", "bunx", "uvx", "pipx", "uv", "poetry", "pipenv", "npm", "pnpm", "yarn", "rlwrap", "unbuffer", "faketime":
		return true
	}
	return false
}

// wrapped looks into the arguments of such a program. Where its options end is not known here, so a command may begin
// at any argument.
func (s *script) wrapped(c command, depth int) {
	asText := false // one of the programs so far runs a single argument as a script
	for i, w := range c {
		if i > 0 && w.literal {
			s.calls = append(s.calls, c[i:])
			if before := path.Base(c[i-1].value); w.value != "." || before == "command" || before == "builtin" {
				s.interpreter(c[i:], depth) // else "." is a folder
			}
			if asText && strings.ContainsAny(w.value, " \t\n") {
				s.read(w.value, depth+1)
			}
		}
		if w.literal {
			asText = asText || slices.Contains([]string{"env", "watch", "parallel", "su", "script"}, path.Base(w.value))
		}
		s.opaque = s.opaque || !w.literal && w.value != "{}" || i > 0 && found(c, i)
	}
	if program := path.Base(c[0].value); program == "xargs" || program == "parallel" {
		last := c[len(c)-1].value // what is read comes after it
		s.opaque = s.opaque || runsArguments(last) && last != "xargs" || program == "parallel" && strings.HasPrefix(last, "-")
	}
}

// found tells whether the program at i is what find or xargs has found: "{}", or what -I names.
func found(c command, i int) bool {
	w, before := c[i].value, c[i-1].value
	if i > 1 && c[i-2].value == "-I" {
		return strings.Contains(w, before)
	}
	if name, ok := strings.CutPrefix(before, "-I"); ok {
		return name != "" && strings.Contains(w, name)
	}
	return w == "{}" && strings.HasPrefix(before, "-")
}

// text reads arguments that are joined to a script.
func (s *script) text(args []word, depth int) {
	var values []string
	for _, w := range args {
		s.opaque = s.opaque || !w.literal
		values = append(values, w.value)
	}
	if len(values) > 0 {
		s.read(strings.Join(values, " "), depth+1)
	}
}

// interpreter looks at the script that a shell or another interpreter gets.
func (s *script) interpreter(c command, depth int) {
	switch name := path.Base(c[0].value); name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh":
		s.shell(c, depth)
	case ".", "source", "alias", "hash", "enable", "bind", "complete", "ssh", "crontab", "at",
		"batch", "deno", "bun", "osascript", "gdb", "expect", "tclsh":
		s.opaque = true
	case "awk", "gawk", "mawk", "nawk":
		s.opaque = s.opaque || awkRuns(c[1:])
	case "git":
		s.opaque = s.opaque || gitRuns(c[1:])
	case "eval", "trap":
		s.text(c[1:], depth)
	default:
		name = strings.TrimRight(name, "0123456789.")
		if slices.Contains([]string{"python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua"}, name) && takesCode(c[1:]) {
			s.opaque = true
		}
	}
}

// awkRuns tells whether a program of awk may run others: its text is out of sight, or has a word or a pipe that does.
func awkRuns(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return !w.literal || strings.HasPrefix(w.value, "-f") || strings.HasPrefix(w.value, "--file") || strings.HasPrefix(w.value, "-E") ||
			strings.Contains(w.value, "system") || strings.Contains(w.value, "|") || strings.Contains(w.value, "getline")
	})
}

// gitRuns tells whether git is told of another program to run, in its configuration or as an argument.
func gitRuns(args []word) bool {
	for i, w := range args {
		switch v := w.value; {
		case v == "-c", strings.HasPrefix(v, "--config-env"), strings.HasPrefix(v, "--exec"), v == "-x",
			v == "bisect", v == "foreach", v == "filter-branch", v == "config", v == "difftool", v == "mergetool":
			return true
		case v == "--" && i > 0:
			return false
		}
	}
	return false
}

// shell reads the script of a shell's -c; any other script is out of sight.
func (s *script) shell(c command, depth int) {
	for i := 1; i < len(c) && c[i].literal; i++ {
		v := c[i].value
		switch {
		case v == "--version" || v == "--help":
			return
		case strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") && strings.Contains(v, "c"):
			s.text(c[i+1:min(i+2, len(c))], depth)
			s.opaque = s.opaque || i+1 == len(c)
			return
		case !strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "+") && c[i-1].value != "-o" && c[i-1].value != "-O":
			s.opaque = true
			return
		}
	}
	s.opaque = true
}

// takesCode tells whether an interpreter with these arguments runs code from the command line or from its input. A
// file or a module is a program like any other.
func takesCode(args []word) bool {
	for _, w := range args {
		switch v := w.value; {
		case !w.literal || v == "-" || strings.HasPrefix(v, "--eval") || strings.HasPrefix(v, "--print") || strings.HasPrefix(v, "--run"):
			return true
		case v == "--version" || v == "--help" || v == "-V" || v == "-v" || strings.HasPrefix(v, "-m"):
			return false
		case !strings.HasPrefix(v, "-"):
			return false
		case !strings.HasPrefix(v, "--") && strings.ContainsAny(v, "ceErpR"):
			return true
		}
	}
	return true
}

// sensitiveWord tells why a command may not be let through by a rule that does not name it whole: a word of it, or the
// part of a word after an option's name, is a path that is protected or holds secrets. What the command does with the
// path is not known.
func (s *script) sensitiveWord() string {
	reason := ""
	for _, w := range s.words {
		for _, p := range pathsIn(w) {
			switch {
			case Secret(p):
				return ReasonSecret
			case Protected(p):
				reason = ReasonProtected
			}
		}
	}
	return reason
}

// pathsIn gives what of a word may be a path: all of it, and what follows "-x", "--x=", "x=", "host:", "@" and ",".
func pathsIn(w string) []string {
	out := []string{w}
	if len(w) > 2 && w[0] == '-' && w[1] != '-' {
		out = append(out, w[2:])
	}
	for i := range len(w) {
		if strings.IndexByte("=:@,", w[i]) >= 0 && i+1 < len(w) {
			out = append(out, w[i+1:])
		}
	}
	return out
}
