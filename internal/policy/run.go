package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command.
func (g *grader) call(c *syntax.CallExpr) {
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
	if g.left--; g.left < 0 {
		g.add(High, RiskDeep)
		return
	}
	name := args[0].text
	switch {
	case args[0].how != exact, args[0].fd: // what runs is known only then
		g.add(High, RiskUnseen)
		g.guess(args)
		return
	case name == "":
		g.add(Medium, RiskUnresolved)
		return
	case g.functions[name]:
		g.at.forget()
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
		return
	case strings.Contains(name, "/") && !systemFolder(path.Dir(name)):
		g.runFile(args[0], args[1:])
		return
	}
	g.output = output{}
	name = path.Base(name)
	if g.builtin(name, args) || g.wrapper(name, args) || g.interpreter(name, args) || g.special(name, args) {
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
	p := g.apply(s, args)
	switch name {
	case "ls", "tree", "fd", "fdfind":
		g.names = []arg{{text: "./*", how: pattern}}
		for _, a := range p.operands {
			if a.how == exact && name == "ls" {
				g.names = append(g.names, a)
			}
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
				g.add(Medium, RiskSystem)
			}
		}
	case "ps":
		for _, a := range p.operands {
			if strings.Contains(a.text, "e") { // with the variables of each process
				g.environment()
			}
		}
	case "jq", "gojq", "jaq":
		for _, a := range args {
			if strings.Contains(strings.ToLower(a.text), "env") && !strings.HasSuffix(a.text, ".json") {
				g.environment()
			}
		}
	case "sort", "head", "tail", "uniq", "tac", "shuf":
		if in.kind == inputPipe && len(p.operands) == 0 {
			g.names = in.names
		}
	case "grep", "egrep", "fgrep", "rg", "ag", "ack":
		g.searched(p, in)
	}
}

// searched says what a search writes: names of files, or some of the names that it got.
func (g *grader) searched(p parsed, in input) {
	lists := slices.ContainsFunc(p.options, func(o option) bool {
		return slices.Contains([]string{"-l", "-L", "--files-with-matches", "--files-without-match", "--files"}, o.name)
	})
	switch {
	case lists:
		g.names = []arg{{text: "./*", how: pattern}}
	case in.kind == inputPipe && len(p.operands) <= 1:
		g.names = in.names
	}
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
		"make", "gmake", "cmake", "ninja", "meson", "bazel", "npm", "npx", "yarn", "pnpm", "bun", "deno", "tsc", "docker", "kubectl", "helm", "terraform", "git", "gh", "glab", "curl", "wget",
		"openssl", "ssh", "tar", "zip", "unzip", "bash", "zsh", "dash", "sh", "vim", "nvim", "emacs", "nano", "awk", "gawk", "mawk", "sed", "find", "rsync", "mvn", "gradle", "dotnet", "swift",
		"golangci-lint", "staticcheck", "eslint", "prettier", "black", "ruff", "mypy", "pytest", "tox", "ffmpeg", "convert", "psql", "mysql", "sqlite", "redis-cli", "mongo", "composer", "bundle",
		"gem", "rake", "rails", "elixir", "mix", "erl", "ghc", "stack", "cabal", "zig", "lua", "luajit", "julia", "R", "Rscript", "dart", "flutter", "nginx", "systemctl", "ansible", "vagrant",
	}, name)
}

// builtin looks at what the shell does itself.
func (g *grader) builtin(name string, args []arg) bool {
	rest := args[1:]
	switch name {
	case "echo", "printf":
		g.prints(name, rest)
	case ":", "true", "false", "break", "continue", "return", "exit", "shift", "wait", "times", "hash", "jobs", "fg", "bg", "disown", "logout", "umask", "ulimit", "caller", "suspend":
		if name == "hash" && slices.ContainsFunc(rest, func(a arg) bool { return a.option() && a.text != "-r" }) {
			g.add(High, RiskUnseen)
		}
		for _, a := range rest {
			g.subscript(a)
		}
	case "cd", "pushd", "popd", "chdir":
		g.chdir(name, rest)
	case "dirs", "history", "compgen":
		if name == "history" && len(rest) > 0 || name == "compgen" && slices.ContainsFunc(rest, func(a arg) bool { return a.text == "-C" || a.text == "-F" || a.how != exact }) {
			g.add(Medium, RiskUnresolved)
		}
	case "set", "shopt":
		g.set(name, rest)
	case "unset":
		for _, a := range rest {
			g.subscript(a)
		}
		g.at.forget()
	case "read", "mapfile", "readarray", "getopts":
		g.readsVariables(name, rest)
	case "test", "[":
		for i, a := range rest {
			if i > 0 && rest[i-1].text == "-v" {
				g.subscript(a)
			}
		}
	case "eval":
		g.joined(rest)
		g.at.forget()
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
	case "trap":
		if len(rest) > 0 && rest[0].text != "-" && rest[0].text != "-l" && rest[0].text != "-p" {
			g.shellText(rest[0])
		}
	case ".", "source":
		if len(rest) == 0 {
			return true
		}
		g.script(rest[0], rest[1:], true)
		g.at.forget()
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
	case "alias":
		for _, a := range rest {
			if _, text, ok := strings.Cut(a.text, "="); ok || a.how != exact {
				g.add(Medium, RiskVariable)
				g.shellText(arg{text: text, how: a.how})
			}
		}
	case "enable", "bind", "complete", "fc":
		g.add(Medium, RiskUnresolved)
		if name == "enable" && len(rest) > 0 {
			g.add(High, RiskUnseen)
		}
	case "type", "unalias", "help", "local", "let", "export", "readonly", "declare", "typeset":
		for _, a := range rest { // those that are words only because of a backslash or quotes
			if name == "let" && a.how != exact || strings.ContainsAny(a.text, "$`") {
				g.add(High, RiskUnseen)
			}
		}
		if name != "type" && name != "help" && name != "unalias" {
			g.at.forget()
			g.add(Medium, RiskVariable)
		}
	default:
		return false
	}
	return true
}

// prints looks at what is written as it stands.
func (g *grader) prints(name string, args []arg) {
	if name == "printf" && len(args) > 1 && strings.HasPrefix(args[0].text, "-v") {
		g.subscript(args[1])
		g.subscript(args[0])
		g.at.forget()
		g.add(Medium, RiskVariable)
	}
	for _, a := range args {
		if a.how == unknown || strings.Contains(a.text, `\`) {
			g.names = nil
			return
		}
		if a.text == "" || a.text[0] != '-' {
			for f := range strings.FieldsSeq(a.text) {
				g.names = append(g.names, arg{text: f})
			}
		}
	}
}

func (g *grader) chdir(name string, args []arg) {
	to := arg{text: "~"}
	for _, a := range args {
		switch {
		case a.how == exact && a.text != "-" && strings.HasPrefix(a.text, "-") && a.text != "--" && len(args) > 1:
		case a.text == "--":
		default:
			to = a
		}
	}
	switch {
	case name == "popd", to.how != exact, to.text == "-", strings.HasPrefix(to.text, "+"), name == "pushd" && len(args) == 0, strings.HasPrefix(to.text, "-"):
		g.at.dirs = []string{"?"}
		return
	}
	var dirs []string
	for _, s := range g.spots(to) {
		d := s.path
		if s.place == anywhere {
			d = "?"
		}
		if s.place == inside && len(s.also) > 0 {
			d = s.also[0] // the shell keeps the name of the link, programs see where it leads
		}
		if s.place == outside && !path.IsAbs(d) && !strings.HasPrefix(d, "~") {
			d = "/…/" + d // where links of the workspace, or "..", lead to
		}
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	g.at.dirs = dirs
	delete(g.at.vars, "PWD")
}

func (g *grader) set(name string, args []arg) {
	for _, a := range args {
		switch {
		case a.how != exact && a.option(), slices.Contains([]string{"expand_aliases", "extglob", "allexport", "-a", "lastpipe", "nameref"}, a.text):
			g.add(Medium, RiskVariable)
		case name == "set" && strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "ak") && !strings.HasPrefix(a.text, "--"):
			g.add(Medium, RiskVariable)
		}
	}
	if name == "set" && len(args) == 0 {
		g.environment()
	}
}

func (g *grader) readsVariables(name string, args []arg) {
	for i, a := range args {
		g.subscript(a)
		if a.how == unknown {
			g.at.forget()
		}
		if name != "read" && (a.text == "-C" || strings.HasPrefix(a.text, "-C")) && i+1 < len(args) {
			g.shellText(args[i+1])
		}
		if !strings.HasPrefix(a.text, "-") {
			g.at.vars[a.text] = value{data: true}
			if special(a.text) || a.text == "PATH" {
				g.add(Medium, RiskVariable)
			}
		}
	}
	g.at.vars["REPLY"], g.at.vars["MAPFILE"] = value{data: true}, value{data: true}
}

// shellText looks at a text that a shell gets.
func (g *grader) shellText(a arg) {
	if a.how == unknown || a.fd {
		g.add(High, RiskUnseen)
		if a.text != "" && a.how == unknown {
			g.text(a.text) // as far as it is known
		}
		return
	}
	saved := g.at.clone()
	g.text(a.text)
	g.at = saved
}

// joined looks at arguments that a shell gets as one text.
func (g *grader) joined(args []arg) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	var words []string
	how := exact
	for _, a := range args {
		words = append(words, a.text)
		if a.how == unknown {
			how = unknown
		}
	}
	g.shellText(arg{text: strings.Join(words, " "), how: how})
}
