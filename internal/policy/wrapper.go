package policy

import (
	"path"
	"slices"
	"strings"
)

// wrapped gives the spec of a program that runs what its arguments say, and nothing of its own that matters.
func wrapped(name string) (spec, bool) {
	switch name {
	case "nohup", "builtin", "setsid", "unbuffer":
		return "-cfwp --ctty|fork|wait|foreground $", true
	case "nice":
		return "-0123456789 -n# --adjustment# $", true
	case "ionice":
		return "-cn# -pPu% -t --class|classdata# --pid|pgid|uid% --ignore $", true
	case "timeout", "gtimeout":
		return "-ks# -v --kill-after|signal# --foreground|preserve-status|verbose # $", true
	case "time":
		return "-pvaq -f# -o> --format# --output> --portability|verbose|append|quiet $", true
	case "stdbuf":
		return "-ioe# --input|output|error# $", true
	case "exec":
		return "-cl -a# $", true
	case "chrt":
		return "-abdfiormpvRTPD --all-tasks|batch|deadline|fifo|idle|other|rr|max|reset-on-fork|verbose # $", true
	case "taskset":
		return "-ac --all-tasks|cpu-list # $", true
	case "setarch", "linux32", "linux64", "i386", "x86_64":
		return "-BFILRSTXZv3 --3gb|4gb|addr-no-randomize $", true
	case "numactl":
		return "-CNmipPl# --cpunodebind|membind|interleave|physcpubind# --localalloc|show|hardware $", true
	case "strace", "ltrace":
		return "-fFtTrvyxiCckqhnw -eaIOpsSPubE# -o> --follow-forks --output> =medium:" + RiskProcesses + " $", true
	case "rlwrap", "catchsegv", "dbus-run-session", "dbus-launch", "xvfb-run", "caffeinate", "proxychains", "proxychains4", "torsocks", "fakeroot", "valgrind", "perf":
		return "=medium:" + RiskUnknown + " $", true
	case "arch": // macOS
		return "-ced $", true
	case "faketime":
		return "-mfp # $", true
	case "prlimit":
		return "-cdefilmnrstuvxy? -p% --pid% $", true
	}
	return "", false
}

// raised gives the spec of a program that runs what its arguments say with other rights, elsewhere, or in a world of its
// own.
func raised(name string) (spec, bool) {
	switch name {
	case "sudo":
		return "-AbEHKknPSisv -CDgGhpRrtTUu# --askpass|background|non-interactive|stdin|login|shell|set-home|preserve-groups --user|group|host|prompt|chdir|chroot# --preserve-env? $", true
	case "doas":
		return "-nLs -Cu# $", true
	case "pkexec", "run0", "gksudo", "kdesu", "sudoedit", "calife", "dzdo", "please":
		return "-u# --user|setenv|property# --disable-internal-agent|keep-cwd $", true
	case "chroot":
		return "--userspec|groups# --skip-chdir # $", true
	case "unshare", "nsenter", "setpriv", "capsh", "bwrap", "firejail", "systemd-nspawn", "lxc-execute", "start-stop-daemon":
		return "-mnpuUCTfraiW -tSGRZ# --fork|mount|net|pid|user|map-root-user|all $", true
	case "systemd-run":
		return "-dGPqrt -pEuMH# --user|scope|pty|pipe|wait|quiet|collect $", true
	}
	return "", false
}

// wrapper looks at programs that run a command which is among their arguments.
func (g *grader) wrapper(name string, args []arg) bool {
	rest := args[1:]
	if s, ok := wrapped(name); ok {
		if name == "exec" && len(rest) == 0 {
			return true
		}
		g.apply(s, rest)
		return true
	}
	if s, ok := raised(name); ok {
		g.effect(Elevate, name, false)
		g.add(High, RiskPrivilege)
		if name == "sudo" || name == "doas" {
			rest = skipAssignments(rest)
		}
		g.apply(s, rest)
		return true
	}
	switch name {
	case "command":
		if len(rest) > 0 && (rest[0].text == "-v" || rest[0].text == "-V") && rest[0].how == exact {
			return true
		}
		g.apply("-p $", rest)
	case "env":
		g.env(rest)
	case "su", "runuser":
		g.effect(Elevate, name, false)
		g.add(High, RiskPrivilege)
		g.apply("-lmpPf -c$ -gGsuTw# --command|session-command$ --login|preserve-environment|pty #", rest)
	case "xargs":
		g.xargs(rest)
	case "parallel":
		g.add(High, RiskUnseen)
		g.joined(slices.DeleteFunc(slices.Clone(rest), func(a arg) bool { return strings.HasPrefix(a.text, "-") }))
	case "watch":
		g.watch(rest)
	case "hyperfine", "entr":
		g.add(Medium, RiskUnknown)
		for _, a := range rest {
			if !strings.HasPrefix(a.text, "-") {
				g.shellText(a)
			}
		}
	case "script":
		g.apply("-aefqt -c$ -IOBEmT# --command$ --append|quiet|flush|return >", rest)
	case "flock":
		g.flock(rest)
	case "busybox", "toybox":
		g.run(rest)
	case "find", "gfind":
		g.find(rest)
	case "ssh", "mosh", "slogin", "rsh", "telnet", "autossh", "sshpass":
		g.network(Send, hostOf(rest))
		g.add(High, RiskUnseen)
		for _, a := range rest {
			g.suspect(a)
		}
	case "at", "batch", "crontab":
		if name == "crontab" && len(rest) == 1 && rest[0].text == "-l" {
			g.add(Medium, RiskReads)
			return true
		}
		g.add(High, RiskSystem)
	case "gdb", "lldb", "expect", "osascript", "tclsh", "wish", "dialog", "zenity", "tmux", "screen", "byobu", "nc", "ncat", "netcat", "socat", "metasploit", "msfconsole":
		g.add(High, RiskUnseen)
		if strings.HasPrefix(name, "n") || name == "socat" {
			g.network(Send, hostOf(rest))
		}
		for _, a := range rest {
			g.suspect(a)
		}
	case "npx", "pnpx", "bunx", "uvx", "pipx":
		g.fetchAndRun(name, rest)
	default:
		return false
	}
	return true
}

// hostOf is the first argument that is no option.
func hostOf(args []arg) string {
	for _, a := range args {
		if !a.option() {
			return a.text
		}
	}
	return ""
}

func skipAssignments(args []arg) []arg {
	i := 0
	for i < len(args) && args[i].how == exact && (strings.Contains(args[i].text, "=") || strings.HasPrefix(args[i].text, "-") && followedByAssignment(args[i+1:])) {
		i++
	}
	if i < len(args) {
		return args[i:]
	}
	return args
}

func followedByAssignment(rest []arg) bool {
	return len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") && strings.Contains(rest[0].text, "=")
}

// env runs a command with variables, or shows them all.
func (g *grader) env(args []arg) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, assigned := strings.Cut(a.text, "=")
		switch {
		case a.how == exact && (a.text == "-i" || a.text == "-" || a.text == "-0" || a.text == "--ignore-environment" || a.text == "-v" || a.text == "--debug" || a.text == "--null" || a.text == "--"):
		case a.how == exact && (a.text == "-u" || a.text == "--unset"):
			if i++; i < len(args) {
				g.shifted(args[i])
			}
		case strings.HasPrefix(a.text, "--unset="):
		case a.text == "-C" || a.text == "--chdir" || strings.HasPrefix(a.text, "--chdir="):
			to := arg{text: value, how: a.how}
			if !assigned && i+1 < len(args) {
				i++
				to = args[i]
				g.shifted(to)
			}
			at := g.at.clone()
			defer func() { g.at = at }()
			g.chdir("cd", []arg{to})
		case a.text == "-a" || a.text == "--argv0":
			if i++; i < len(args) {
				g.shifted(args[i])
			}
		case len(name) > 3 && strings.HasPrefix("--split-string", name):
			if !assigned && i+1 < len(args) {
				i++
				value = args[i].text
			}
			g.splitString(value, args[i+1:], a.how)
			return
		case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "S"):
			_, text, _ := strings.Cut(a.text, "S")
			if text == "" && i+1 < len(args) {
				i++
				text = args[i].text
			}
			g.splitString(text, args[i+1:], args[i].how)
			return
		case a.option():
			g.add(Medium, RiskOption)
		case assigned && !strings.HasPrefix(a.text, "/"):
			g.variable(name, true)
			g.namesProgram(name, arg{text: value, how: a.how})
		default:
			g.run(args[i:])
			return
		}
	}
	g.environment()
}

// splitString looks at what env -S makes of a text. It splits much as a shell does, and knows ${NAME} only.
func (g *grader) splitString(text string, rest []arg, how how) {
	if how != exact || strings.ContainsAny(text, "$\\") {
		g.add(High, RiskUnseen)
	}
	words := []string{"env", text}
	for _, a := range rest {
		words = append(words, a.text)
	}
	g.text(strings.Join(words, " "))
}

// xargs runs a command with what it reads as further arguments.
func (g *grader) xargs(args []arg) {
	s := spec("-0prtox -adEeIiLlnPs# --null|no-run-if-empty|interactive|verbose|exit|open-tty|show-limits --arg-file< --delimiter|eof|replace|max-lines|max-args|max-procs|max-chars|process-slot-var# $")
	p := s.takeApart(args)
	for _, o := range p.options {
		if _, ok := s.sign(o.name); !ok {
			g.add(Medium, RiskOption)
		}
		if o.name == "--arg-file" || o.name == "-a" {
			g.read(o.value)
			g.input = input{kind: inputPipe}
		}
	}
	g.shifted(p.shifting)
	command := p.operands
	if len(command) == 0 {
		return // it writes what it reads
	}
	found := slices.Clone(g.input.names)
	if g.input.kind == inputText {
		for f := range strings.FieldsSeq(g.input.text) {
			found = append(found, arg{text: f})
		}
	}
	if len(found) == 0 {
		found = []arg{{how: unknown}}
	}
	replaced := ""
	if !slices.ContainsFunc(p.options, func(o option) bool { return o.name == "-0" || o.name == "--null" }) {
		for i := range found {
			found[i].words = found[i].how == pattern
		}
	}
	for _, o := range p.options {
		if o.name == "-I" || o.name == "-i" || o.name == "--replace" {
			replaced = o.value.text
			if replaced == "" {
				replaced = "{}"
			}
		}
	}
	g.withFound(command, found, replaced)
}

// withFound looks at a command whose arguments are found by another one: at the end, or where a mark stands.
func (g *grader) withFound(command, found []arg, mark string) {
	var args []arg
	for i, a := range command {
		switch {
		case mark == "" || !strings.Contains(a.text, mark):
			args = append(args, a)
		case i == 0:
			g.add(High, RiskUnseen)
			args = append(args, arg{how: unknown})
		case a.text == mark:
			if isShell(args[0].text) && strings.HasPrefix(args[len(args)-1].text, "-") {
				g.add(High, RiskUnseen) // what is found is the script
			}
			args = append(args, found...)
		default:
			before, _, _ := strings.Cut(a.text, mark)
			args = append(args, arg{text: before, how: unknown})
			for _, f := range found { // as it may stand in a script or a path
				g.secretOperand(f)
			}
		}
	}
	if mark == "" {
		if last := args[len(args)-1].text; runsArguments(last) || isShell(last) || isShell(args[0].text) && strings.HasPrefix(last, "-") {
			g.add(High, RiskUnseen) // what is read is what is run
		}
		args = append(args, found...)
	}
	if slices.ContainsFunc(found, func(a arg) bool { return a.every }) && !summarises(args[0].text) {
		g.add(Medium, RiskSecret)
	}
	in, bulk := g.input, g.bulk
	g.input, g.bulk = input{}, true
	g.run(args)
	g.input, g.bulk = in, bulk
}

// summarises names programs that do not show what is in a file, or only the lines that are looked for.
func summarises(name string) bool {
	switch path.Base(name) {
	case "wc", "grep", "egrep", "fgrep", "rg", "ls", "stat", "file", "du", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "basename", "dirname", "realpath", "readlink", "test", "[", "echo", "printf":
		return true
	}
	return false
}

func (g *grader) secretOperand(a arg) {
	for _, s := range g.spots(a) {
		if s.secret() {
			g.effect(Read, s.path, true)
			g.add(Medium, RiskSecret)
		}
	}
}

func (g *grader) watch(args []arg) {
	s := spec("-bcdegtpxw -n# --interval# --differences? --beep|color|errexit|chgexit|no-title|exec|precise|no-wrap $")
	p := s.takeApart(args)
	g.shifted(p.shifting)
	exec := slices.ContainsFunc(p.options, func(o option) bool { return o.name == "-x" || o.name == "--exec" })
	if exec {
		g.run(p.operands)
		return
	}
	g.joined(p.operands)
}

// flock runs a command while it holds a lock on a file.
func (g *grader) flock(args []arg) {
	s := spec("-seonxuFv -wE# --shared|exclusive|unlock|nonblock|close|no-fork|verbose --timeout|wait|conflict-exit-code# # $")
	p := s.takeApart(args)
	if len(p.operands) == 0 {
		return
	}
	if !digits(p.operands[0].text) {
		g.write(p.operands[0])
	}
	rest := p.operands[1:]
	if len(rest) > 1 && (rest[0].text == "-c" || rest[0].text == "--command") {
		g.shellText(rest[1])
		return
	}
	g.apply("$", rest)
}

// fetchAndRun looks at programs that run a package, which they fetch unless it is there.
func (g *grader) fetchAndRun(name string, args []arg) {
	g.effect(Run, hostOf(args), false)
	if !g.installed(name, args) {
		g.network(Fetch, "")
	}
	g.add(Medium, RiskProject)
	for _, a := range args {
		if name != "npx" && name != "bunx" && name != "pnpx" || a.text == "-y" || a.text == "--yes" || a.text == "-p" || strings.HasPrefix(a.text, "--package") || a.text == "-c" || a.text == "--call" || a.how == unknown {
			g.add(High, RiskDownloaded)
		}
		if !a.option() {
			if strings.Contains(strings.TrimPrefix(a.text, "@"), "@") || strings.Contains(a.text, ":") {
				g.add(High, RiskDownloaded) // a version that is not the project's
			}
			break
		}
	}
}

// installed tells whether the package that npx or its like is to run is in every folder that it may be run in.
func (g *grader) installed(name string, args []arg) bool {
	i := slices.IndexFunc(args, func(a arg) bool { return !a.option() })
	if g.files == nil || i != 0 || args[0].how != exact || args[0].text != path.Base(args[0].text) || name == "uvx" || name == "pipx" {
		return false
	}
	return !slices.ContainsFunc(g.at.dirs, func(dir string) bool {
		file := path.Join(dir, "node_modules/.bin", args[0].text)
		_, err := g.files.Script(file)
		return err != nil || slices.Contains(g.written, file)
	})
}
