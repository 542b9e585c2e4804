package policy

import (
	"slices"
	"strings"
)

// special looks at programs whose command line says more than a [spec] can.
func (g *grader) special(name string, args []arg) bool {
	rest := args[1:]
	if asksVersion(rest) && rest[0].text != "-v" && rest[0].text != "-h" && hasVersion(name) {
		return true
	}
	switch name {
	case "git":
		g.git(rest)
	case "curl":
		g.curl(rest)
	case "wget":
		g.wget(rest)
	case "rsync", "scp", "sftp":
		g.copyAway(name, rest)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		if strings.HasSuffix(name, "-compose") {
			rest = append([]arg{{text: "compose"}}, rest...)
		}
		g.mayHaveOptions(rest)
		g.containers(name, rest)
	case "make", "gmake", "bmake":
		g.make(rest)
	case "hostnamectl":
		g.mayHaveOptions(rest)
		if hostOf(rest) != "" && hostOf(rest) != "status" {
			g.add(High, RiskSystem)
		}
	case "npm", "pnpm", "yarn", "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda", "mamba", "gem", "bundle", "composer":
		g.mayHaveOptions(rest)
		g.packages(name, rest)
	case "go":
		g.golang(rest)
	case "gofmt":
		g.apply("-ldse -w! -r# <", rest)
	case "rm":
		g.rm(rest)
	case "dd":
		g.dd(rest)
	case "tar", "bsdtar", "gtar":
		g.tar(rest)
	case "kill":
		g.kill(rest)
	case "gh", "glab", "hub":
		g.forge(rest)
	case "ip", "ifconfig", "sysctl", "mount", "dmesg", "journalctl", "resolvectl":
		g.machine(name, rest)
	case "systemctl":
		if len(rest) > 0 && slices.Contains([]string{"status", "is-active", "is-enabled", "list-units", "list-unit-files", "show", "cat"}, hostOf(rest)) {
			g.add(Medium, RiskReads)
			return true
		}
		g.add(High, RiskSystem)
	case "printenv":
		if hostOf(rest) == "" {
			g.environment()
		}
		for _, a := range rest {
			if secretName(a.text) || a.how != exact {
				g.add(Medium, RiskSecret)
			}
		}
	case "unzip":
		if slices.ContainsFunc(rest, func(a arg) bool { return slices.Contains([]string{"-l", "-v", "-t", "-Z", "-p", "-lv"}, a.text) }) {
			g.apply("-lvtZqp1 < #", rest)
			return true
		}
		g.fetched = true
		g.write(arg{text: "./unpacked"})
		g.apply("-qonjCLaU -d> -xP# < #", rest)
	case "zip":
		if slices.ContainsFunc(rest, func(a arg) bool { return strings.HasPrefix(a.text, "-TT") || strings.HasPrefix(a.text, "--unz") }) {
			g.add(High, RiskUnseen)
		}
		s, _ := table(name)
		g.apply(s, rest)
	case "7z", "7za", "7zz", "cpio", "ar":
		if name == "cpio" {
			g.cpio(rest)
		}
		g.fetched = true
		g.add(Medium, RiskChanges)
		for _, a := range rest {
			g.suspect(a)
		}
		if name == "cpio" && slices.ContainsFunc(rest, func(a arg) bool { return strings.Contains(a.text, "rsh") }) {
			g.add(High, RiskUnseen)
		}
	default:
		if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "fsck.") {
			g.add(High, RiskSystem)
			return true
		}
		return false
	}
	return true
}

// rm deletes; with all that is in a folder, if it is told to.
func (g *grader) rm(args []arg) {
	p := spec("-dfiIrRvPW --force|recursive|dir|verbose|interactive|one-file-system|preserve-root|no-preserve-root? x").takeApart(args)
	all := slices.ContainsFunc(p.options, func(o option) bool {
		return o.name == "-r" || o.name == "-R" || len(o.name) > 3 && strings.HasPrefix("--recursive", o.name) || o.name == "--no-preserve-root"
	})
	if p.loose && !(len(args) == 1 && args[0].single && !args[0].words) {
		all = true // what is not known may say so, but not if it is all that rm is given
	}
	for _, a := range p.operands {
		g.remove(a, all)
	}
	if len(p.operands) == 0 {
		g.add(Medium, RiskChanges)
	}
	if all {
		g.add(High, RiskDestroys)
	}
}

func (g *grader) dd(args []arg) {
	for _, a := range args {
		name, value, _ := strings.Cut(a.text, "=")
		switch name {
		case "if":
			g.read(arg{text: value, how: a.how})
		case "of":
			g.write(arg{text: value, how: a.how})
		case "bs", "ibs", "obs", "cbs", "count", "skip", "seek", "iseek", "oseek", "conv", "iflag", "oflag", "status", "--version", "--help":
			if a.how == unknown && value == "" {
				g.add(Medium, RiskUnresolved)
			}
		default:
			g.add(Medium, RiskOption)
		}
	}
}

// tar makes, lists and unpacks archives. What it unpacks is not known before.
func (g *grader) tar(args []arg) {
	if len(args) == 0 {
		return
	}
	mode, file, to := byte(0), arg{}, arg{text: "."}
	var operands []arg
	if args[0].how == exact && args[0].text != "" && args[0].text[0] != '-' {
		args = append([]arg{{text: "-" + args[0].text}}, args[1:]...)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.how != exact && a.option() && !strings.HasPrefix(a.text, "-") {
			g.add(Medium, RiskUnresolved) // a name may be an option
			operands = append(operands, a)
			continue
		}
		if !a.option() {
			operands = append(operands, a)
			continue
		}
		next := func() arg {
			if i+1 < len(args) {
				i++
				if args[i].several() && args[i].option() {
					g.add(Medium, RiskUnresolved)
				}
				return args[i]
			}
			return arg{}
		}
		name, value, joined := strings.Cut(a.text, "=")
		if strings.HasPrefix(a.text, "--") {
			switch name {
			case "--create", "--extract", "--get", "--list", "--append", "--update", "--diff", "--compare", "--concatenate", "--delete":
				mode = map[string]byte{"--create": 'c', "--extract": 'x', "--get": 'x', "--list": 't', "--diff": 'd', "--compare": 'd'}[name]
				if mode == 0 {
					mode = 'r'
				}
			case "--file", "--directory", "--exclude", "--files-from", "--exclude-from", "--strip-components", "--transform", "--owner", "--group", "--mtime", "--sort", "--format", "--one-top-level":
				v := arg{text: value, how: a.how}
				if !joined && name != "--one-top-level" {
					v = next()
				}
				switch name {
				case "--file":
					file = v
				case "--directory":
					to = v
				case "--files-from", "--exclude-from":
					g.read(v)
				case "--transform":
					g.sedScript(v)
				}
			case "--gzip", "--bzip2", "--xz", "--zstd", "--verbose", "--auto-compress", "--keep-old-files", "--wildcards", "--exclude-vcs", "--no-same-owner", "--preserve-permissions", "--dereference", "--to-stdout", "--exclude-vcs-ignores", "--numeric-owner", "--ungzip", "--version", "--help":
			case "--remove-files":
				g.add(High, RiskDestroys)
			default: // --to-command, --checkpoint-action, --use-compress-program, …, and their beginnings
				g.add(High, RiskUnseen)
			}
			continue
		}
		for _, c := range []byte(a.text[1:]) {
			if c == 'P' && strings.Contains(a.text, "x") {
				g.add(High, RiskOutside) // wherever the archive says
			}
			switch c {
			case 'c', 'x', 't', 'r', 'u', 'd', 'A':
				mode = c
			case 'f':
				file = next()
			case 'C':
				to = next()
			case 'T', 'X':
				g.read(next())
			case 'z', 'j', 'J', 'v', 'p', 'a', 'k', 'h', 'O', 'm', 'w', 'W', 'S', 'P', 'o', 'Z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			default: // -I, -F run programs
				g.add(High, RiskUnseen)
			}
		}
		if a.how != exact {
			g.add(Medium, RiskUnresolved)
		}
	}
	if remote(file.text) {
		g.network(Send, file.text)
	}
	switch mode {
	case 't', 'd':
		if file.text != "-" && (file.text != "" || file.how == unknown) {
			g.read(file)
		}
	case 'x':
		if file.text != "-" && file.text != "" {
			g.read(file)
		}
		g.write(arg{text: strings.TrimSuffix(to.text, "/") + "/.", how: to.how})
		g.fetched = true
	default:
		if file.text != "-" {
			g.write(file)
		}
		for _, a := range operands {
			g.read(a)
		}
		g.add(Medium, RiskChanges)
	}
}

// cpio copies files into archives, out of them, or to a folder.
func (g *grader) cpio(args []arg) {
	for i, a := range args {
		switch {
		case !strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "--"):
		case strings.ContainsAny(a.text, "FOE") && i+1 < len(args):
			if remote(args[i+1].text) {
				g.network(Send, args[i+1].text)
			}
			g.write(args[i+1])
		case strings.Contains(a.text, "p"):
			g.write(args[len(args)-1])
		}
	}
}

func (g *grader) kill(args []arg) {
	for i, a := range args {
		if i == 0 && slices.Contains([]string{"-l", "-L", "--list"}, a.text) {
			return
		}
		if i == 0 && a.text == "-0" && len(args) > 1 && !slices.ContainsFunc(args[1:], func(a arg) bool { return a.option() }) {
			return
		}
		if i > 0 && strings.HasPrefix(a.text, "-") {
			g.add(High, RiskSystem)
		}
	}
	g.add(Medium, RiskProcesses)
}

// forge looks at the command lines of the places where repositories are kept.
func (g *grader) forge(args []arg) {
	action := ""
	n := 0
	if slices.ContainsFunc(args, func(a arg) bool { return a.text == "--show-token" || a.text == "-t" && hostOf(args) == "auth" }) {
		g.add(Medium, RiskSecret)
	}
	for _, a := range args {
		if !a.option() {
			if n++; n == 2 {
				action = a.text
			}
		}
		g.suspect(a)
	}
	if slices.Contains([]string{"view", "list", "status", "diff", "checks", "ls", "show", "watch"}, action) && hostOf(args) != "api" {
		g.network(Fetch, "")
		return
	}
	g.network(Send, "")
}

// outsideText tells whether an argument begins as a path that leads out does.
func outsideText(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || s == ".." || strings.HasPrefix(s, "../")
}

// golang looks at commands of go (cmd/go): most build, and run what they have built or what builds it.
func (g *grader) golang(args []arg) {
	for len(args) > 1 && args[0].text == "-C" {
		saved := g.at.clone()
		defer func() { g.at = saved }()
		g.chdir("cd", args[1:2])
		g.look(arg{text: "."})
		g.toolchain()
		args = args[2:]
	}
	if len(args) == 0 {
		return
	}
	sub, rest := args[0].text, args[1:]
	plain := !slices.ContainsFunc(rest, func(a arg) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		return strings.Contains(a.text, "@") || outsideText(a.text) || a.option() && (a.how != exact || slices.Contains([]string{"exec", "toolexec", "vettool", "w", "u", "export", "compiled", "modfile", "overlay", "o", "versions", "retracted", "mod", "http"}, name))
	})
	switch sub {
	case "version", "help", "doc", "env", "list":
		if plain && args[0].how == exact {
			if sub == "list" { // for what a build would be stamped with
				g.gitConfig()
				g.otherRepositories()
			}
			return
		}
	}
	g.effect(Run, "go "+sub, false)
	g.add(Medium, RiskProject)
	if g.files != nil && slices.Contains([]string{"build", "install", "run"}, sub) { // which ask git for what they are to be stamped with
		if brings, ok := g.brings(); brings || !ok {
			g.risk.Brought = true
		}
	}
	for i, a := range rest {
		name, value, joined := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
		if !a.option() {
			g.suspect(a)
			continue
		}
		v := arg{text: value, how: a.how}
		if !joined && i+1 < len(rest) {
			v = rest[i+1]
		}
		switch name {
		case "exec", "toolexec", "vettool":
			g.shellText(v)
			g.add(High, RiskUnseen)
		case "o", "coverprofile", "cpuprofile", "memprofile", "trace", "outputdir", "blockprofile", "mutexprofile":
			g.write(v)
		case "ldflags", "gcflags", "asmflags", "gccgoflags":
			if strings.Contains(v.text, "ext") || v.how == unknown {
				g.add(Medium, RiskUnresolved)
			}
		}
	}
	switch sub {
	case "get", "install", "mod", "work":
		g.network(Fetch, "")
		g.add(Medium, RiskChanges)
		if sub == "install" {
			for _, a := range rest {
				if strings.Contains(a.text, "@") {
					g.add(High, RiskDownloaded)
				}
			}
		}
	case "run":
		for _, a := range rest {
			if strings.Contains(a.text, "@") {
				g.add(High, RiskDownloaded)
			}
			if strings.HasPrefix(a.text, "/") {
				g.add(High, RiskOutside)
			}
		}
	case "env":
		g.add(High, RiskOutside) // -w, -u
	case "clean":
		if slices.ContainsFunc(rest, func(a arg) bool { return strings.Contains(a.text, "cache") || a.text == "-i" }) {
			g.add(High, RiskOutside)
		}
	case "generate", "tool":
		if sub == "tool" {
			g.add(Medium, RiskUnknown)
		}
	}
}
