package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command.
func (g *grader) call(c *syntax.CallExpr) {
	g.alias(c)
	if len(c.Args) == 0 {
		g.assign(c.Assigns, false)
		return
	}
	g.assign(c.Assigns, true)
	if len(c.Assigns) > 0 && len(c.Args[0].Parts) > 0 {
		defer func(at *state) { g.at.vars = at.vars }(g.at.clone())
	}
	args := g.expandAll(c.Args)
	if len(args) == 0 { // the program is what variables hold, and these hold nothing
		g.add(High, RiskUnseen)
		return
	}
	g.run(args)
}

// run looks at a command that is taken apart into arguments.
func (g *grader) run(args []arg) {
	if len(args) == 0 {
		return
	}
	if !g.spend() {
		return
	}
	name := args[0].text
	switch {
	case args[0].how != exact && !(args[0].single && strings.Contains(args[0].text, "/") && !path.IsAbs(args[0].text)), args[0].fd: // what runs is known only then
		g.add(High, RiskUnseen)
		g.guess(args)
		return
	case name == "":
		g.add(Medium, RiskUnresolved)
		return
	case g.functions[name] || g.lasting[name] != nil:
		g.invoke(name)
		g.at.forget()
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
		return
	case strings.Contains(name, "://"):
		g.add(High, RiskDownloaded)
		return
	case strings.Contains(name, "/") && !systemFolder(path.Dir(name)):
		g.obeys(path.Base(name))
		g.runFile(args[0], args[1:])
		return
	}
	g.output = output{}
	name = path.Base(name)
	if g.builtin(name, args) {
		return
	}
	g.obeys(name)
	g.replaced(name)
	g.program(name, args)
}

// known looks at a program that the tables or the code here know, and at any other.
func (g *grader) known(name string, args []arg) {
	if g.wrapper(name, args) || g.interpreter(name, args) || g.special(name, args) {
		return
	}
	if s, ok := table(name); ok {
		g.byTable(name, s, args[1:])
		return
	}
	if asksVersion(args[1:]) && hasVersion(name) {
		return
	}
	g.add(Medium, RiskUnknown)
	g.effect(Run, name, false)
	for _, a := range args[1:] {
		g.suspect(a)
	}
}

// guess looks at what a command that is not known would be if a pattern stands for what it looks like.
func (g *grader) guess(args []arg) {
	for _, a := range args[1:] {
		g.suspect(a)
	}
}

// systemFolder tells whether programs in a folder are those of the machine.
func systemFolder(dir string) bool {
	return slices.Contains([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/usr/local/go/bin"}, dir)
}

func (g *grader) byTable(name string, s spec, args []arg) {
	if len(args) == 1 && args[0].how == exact && (args[0].text == "--version" || args[0].text == "--help") {
		return
	}
	in := g.input
	if name == "jq" || name == "gojq" || name == "jaq" {
		args = g.named(args)
	}
	p := g.apply(s, args)
	if projectPrograms(name) != "" {
		g.project(name, args)
	}
	switch name {
	case "ls", "dir", "vdir", "tree", "fd", "fdfind", "du", "exa", "eza", "lsd", "rg", "ag", "ack":
		first := 0 // of the operands that are paths
		if strings.Contains(string(s), "# ") && !p.pattern && !strings.HasPrefix(string(s), "# ") && slices.Contains([]string{"fd", "fdfind", "rg", "ag", "ack"}, name) {
			first = 1
		}
		if len(p.operands) <= first {
			g.look(arg{text: "."})
		}
	case "grep", "egrep", "fgrep":
		if slices.ContainsFunc(p.options, func(o option) bool { return o.name == "-r" || o.name == "-R" || strings.HasSuffix(o.name, "recursive") }) && len(p.operands) <= 1 {
			g.look(arg{text: "."})
		}
	}
	switch name {
	case "ls", "tree", "fd", "fdfind":
		g.names = []arg{{text: "*", how: pattern, every: hiddenToo(p)}}
		for _, a := range p.operands {
			if secretFilter(a) {
				g.names = []arg{{how: unknown}}
			}
		}
		for _, a := range p.operands {
			if a.how == exact && name == "ls" {
				g.names = append(g.names, a)
			}
		}
	case "dc":
		if in.kind == inputPipe || strings.Contains(in.text+strings.Join(texts(args), " "), "!") {
			g.add(High, RiskUnseen)
		}
	case "mlr", "miller":
		if text := strings.Join(texts(args), " "); strings.Contains(text, "system") || strings.Contains(text, "exec") {
			g.add(High, RiskUnseen)
		}
	case "ping", "traceroute", "tracepath", "mtr", "dig", "host", "nslookup", "drill", "whois":
		for _, a := range p.operands {
			if a.output {
				g.network(Send, a.text)
			}
		}
	case "lsof", "last": // -D writes a file, -f reads one
		if slices.ContainsFunc(args, func(a arg) bool {
			return a.option() && (a.how != exact || strings.ContainsAny(a.text, "D")) || name == "last" && strings.HasPrefix(a.text, "-f")
		}) {
			g.add(Medium, RiskOption)
		}
	case "bat", "batcat":
		if hostOf(args) == "cache" {
			g.add(Medium, RiskChanges)
		}
	case "less", "more":
		for _, a := range args {
			if strings.HasPrefix(a.text, "+") { // a command of its own
				g.add(High, RiskUnseen)
			}
		}
	case "date":
		for _, a := range p.operands {
			if !strings.HasPrefix(a.text, "+") { // sets the clock
				g.add(High, RiskSystem)
			}
		}
	case "ps":
		for _, a := range p.operands {
			if a.how != exact || strings.Contains(a.text, "e") { // with the variables of each process
				g.environment()
			}
		}
		if slices.ContainsFunc(p.options, func(o option) bool { return o.name == "-E" }) || slices.ContainsFunc(args, func(a arg) bool { return a.text == "-E" }) { // the same on macOS
			g.environment()
		}
	case "jq", "gojq", "jaq", "yq":
		for _, a := range args {
			if strings.Contains(strings.ToLower(a.text), "env") && !strings.HasSuffix(a.text, ".json") {
				g.environment()
			}
			if name == "yq" && strings.Contains(a.text, "load") {
				g.add(Medium, RiskUnresolved)
			}
		}
		if !p.pattern && len(p.operands) > 0 && p.operands[0].how == pattern { // a name is the program
			g.environment()
		}
	case "sort", "head", "tail", "uniq", "tac", "shuf":
		cuts := (name == "tac" || name == "shuf" || name == "tail") && slices.ContainsFunc(p.options, func(o option) bool { return name == "tac" || o.name == "-c" || o.name == "-e" || o.name == "--bytes" })
		if in.kind == inputPipe && len(p.operands) == 0 && !cuts {
			g.names = in.names
		}
	case "grep", "egrep", "fgrep", "rg", "ag", "ack":
		g.searched(name, p, in)
		g.chosen(name, p)
	}
}

// searched says what a search writes: names of files, or some of the names that it got.
func (g *grader) searched(name string, p parsed, in input) {
	if slices.ContainsFunc(p.operands, secretFilter) || slices.ContainsFunc(p.options, func(o option) bool { return o.has && secretFilter(o.value) }) {
		if in.kind == inputPipe || slices.ContainsFunc(p.options, func(o option) bool { return o.name == "--files" }) {
			g.names = []arg{{how: unknown}}
			return
		}
	}
	lists := slices.ContainsFunc(p.options, func(o option) bool {
		return slices.Contains([]string{"-l", "-L", "--files-with-matches", "--files-without-match", "--files"}, o.name)
	})
	has := func(names ...string) bool {
		return slices.ContainsFunc(p.options, func(o option) bool { return slices.Contains(names, o.name) })
	}
	switch {
	case lists:
		paths := p.operands
		if !p.pattern && len(paths) > 0 && !has("--files") {
			paths = paths[1:]
		}
		g.names = below(paths, !searchesFiles(name) || has("-r", "-R", "--recursive", "--dereference-recursive"), hiddenToo(p))
	case has("-o", "--only-matching", "-c", "--count"):
	case in.kind == inputPipe && len(p.operands) <= 1:
		g.names = in.names
	}
}

// searchesFiles names searches that look into folders only if they are told to.
func searchesFiles(name string) bool { return strings.HasSuffix(name, "grep") }

// below gives the names of files that a program finds where it is told to look; in folders too, if it goes into them. They begin as
// the operands do.
func below(paths []arg, folders, hidden bool) []arg {
	if len(paths) == 0 {
		return []arg{{text: "*", how: pattern, every: hidden}}
	}
	var out []arg
	for _, a := range paths {
		a.every = hidden
		if folders && a.how != unknown {
			a.text, a.how = strings.TrimSuffix(a.text, "/")+"/*", pattern
		}
		out = append(out, a)
	}
	return out
}

// named takes values that have a name out of the arguments of jq, and reads the files among them.
func (g *grader) named(args []arg) []arg {
	var out []arg
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "--slurpfile", "--rawfile", "--argfile":
			if i+2 < len(args) {
				g.read(args[i+2])
			}
			i += 2
		case "--arg", "--argjson":
			i += 2
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// chosen looks at the files that a search is told to look into: patterns for those that hold credentials show them whole.
func (g *grader) chosen(name string, p parsed) {
	for _, o := range p.options {
		value := o.value
		switch o.name {
		case "--type-add":
			_, value.text, _ = strings.Cut(value.text, ":")
		case "-g", "--glob", "--iglob", "--include":
		case "--files":
			for _, a := range p.operands {
				g.look(a)
			}
			continue
		case "-G": // of ag: its value is an operand here
			if name == "ag" && slices.ContainsFunc(p.operands, secretFilter) {
				g.add(Medium, RiskSecret)
			}
			continue
		default:
			continue
		}
		if secretChoice(value) {
			g.add(Medium, RiskSecret)
		}
	}
}

// secretChoice tells whether a pattern that chooses files, with braces or without, is one for those that hold credentials.
func secretChoice(a arg) bool {
	if strings.HasPrefix(a.text, "!") {
		return false
	}
	before, list, braces := strings.Cut(a.text, "{")
	list, after, _ := strings.Cut(list, "}")
	for one := range strings.SplitSeq(list, ",") {
		text := a.text
		if braces {
			text = before + one + after
		}
		if text = strings.Trim(text, "/ "); Secret(text) || secretPattern(text) {
			return true
		}
	}
	return a.how == unknown
}

// hiddenToo tells whether a listing was told to show hidden files.
func hiddenToo(p parsed) bool {
	return slices.ContainsFunc(p.options, func(o option) bool {
		return slices.Contains([]string{"-a", "-A", "-f", "-u", "-H", "--all", "--almost-all", "--hidden", "--unrestricted"}, o.name)
	})
}

// secretFilter tells whether what chooses among names of files may choose those that usually hold credentials.
func secretFilter(a arg) bool {
	text := strings.ToLower(a.text)
	return a.how == unknown || slices.ContainsFunc([]string{"env", "key", "pem", "rsa", "ed25519", "secret", "cred", "passw", "token", "netrc", "npmrc", "pypirc", "ssh", "aws", "gnupg", "p12", "pfx", `^\.`}, func(w string) bool {
		return strings.Contains(text, w)
	})
}

// asksVersion tells whether the arguments only ask what a program is.
func asksVersion(args []arg) bool {
	return len(args) == 1 && args[0].how == exact && slices.Contains([]string{"--version", "-V", "-v", "-version", "version", "--help", "-h", "help"}, args[0].text)
}

// hasVersion names programs that do nothing but answer then.
func hasVersion(name string) bool {
	name = strings.TrimRight(name, "0123456789.-")
	return slices.Contains([]string{
		"go", "node", "python", "pip", "pipx", "uv", "poetry", "ruby", "perl", "php", "java", "javac", "kotlinc", "scala", "rustc", "rustup", "cargo", "gcc", "g++", "clang", "clang++", "cc", "c++",
		"make", "gmake", "cmake", "ninja", "meson", "bazel", "npm", "npx", "pnpm", "bun", "deno", "tsc", "docker", "git", "gh", "glab", "curl", "wget",
		"openssl", "ssh", "tar", "zip", "unzip", "bash", "zsh", "dash", "sh", "vim", "nvim", "emacs", "nano", "awk", "gawk", "mawk", "sed", "find", "rsync", "mvn", "gradle", "dotnet", "swift",
		"golangci-lint", "staticcheck", "eslint", "prettier", "black", "ruff", "mypy", "pytest", "tox", "ffmpeg", "convert", "psql", "mysql", "sqlite", "redis-cli", "mongo", "composer", "bundle",
		"gem", "rake", "rails", "elixir", "mix", "erl", "ghc", "stack", "cabal", "zig", "lua", "luajit", "julia", "R", "Rscript", "dart", "flutter", "nginx", "systemctl", "ansible", "vagrant",
	}, name)
}
