package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func isShell(name string) bool {
	switch path.Base(name) {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "yash", "pwsh", "powershell":
		return true
	}
	return false
}

// interpreter looks at programs that run a text: from an argument, a file, or their input.
func (g *grader) interpreter(name string, args []arg) bool {
	rest := args[1:]
	switch {
	case isShell(name):
		g.shell(rest)
		return true
	case name == "awk" || name == "gawk" || name == "mawk" || name == "nawk":
		g.awk(rest)
		return true
	case name == "sed" || name == "gsed":
		g.sed(rest)
		return true
	}
	switch base := strings.TrimRight(name, "0123456789."); base {
	case "python", "pypy", "ipython", "bpython", "jython":
		g.language(rest, "cm", "WXQ")
	case "perl":
		g.language(rest, "eEM", "CIx")
	case "ruby", "jruby", "irb", "crystal":
		g.language(rest, "er", "CEFIKx0")
	case "node", "nodejs", "bun", "deno", "tsx", "ts-node":
		if base == "bun" || base == "deno" {
			if hostOf(rest) == "eval" {
				g.code(strings.Join(texts(rest), " "))
				return true
			}
			if runner(base, rest) {
				g.packages(base, rest)
				return true
			}
		}
		g.language(rest, "epr", "C")
	case "php", "lua", "luajit", "Rscript", "julia", "guile", "racket", "sbcl", "clisp", "scheme", "swipl", "ghci", "elixir", "iex", "erl", "groovy", "scala", "jshell", "octave", "R":
		g.language(rest, "eErBRlfcg", "dIxX")
	default:
		return false
	}
	return true
}

func runner(name string, args []arg) bool {
	return len(args) > 0 && slices.Contains([]string{"run", "test", "install", "add", "remove", "x", "task", "build", "fmt", "lint", "check", "compile", "cache", "upgrade", "update", "publish", "pm", "eval"}, args[0].text)
}

// shell looks at a shell's -c, its script, or its input.
func (g *grader) shell(args []arg) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.how == exact && (a.text == "--version" || a.text == "--help"):
			return
		case a.how != exact && a.option() && !(a.single && i == len(args)-1), a.fd:
			g.add(High, RiskUnseen)
			return
		case strings.HasPrefix(a.text, "--init-file"), strings.HasPrefix(a.text, "--rcfile"):
			g.add(High, RiskUnseen)
		case strings.HasPrefix(a.text, "--"):
		case a.text == "-o" || a.text == "+o" || a.text == "-O" || a.text == "+O":
			i++
		case a.text == "-i": // with the start-up files and the history of the person
			g.add(Medium, RiskReads)
		case strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "c"):
			if strings.Contains(a.text, "i") {
				g.add(Medium, RiskReads)
			}
			g.dashC(args[i+1:])
			return
		case strings.HasPrefix(a.text, "-") && (a.text == "-" || strings.Contains(a.text, "s")):
			g.shellInput()
			return
		case strings.HasPrefix(a.text, "-"), strings.HasPrefix(a.text, "+"):
		default:
			g.script(a, args[i+1:], true)
			return
		}
	}
	g.shellInput()
}

func (g *grader) dashC(args []arg) {
	for len(args) > 0 && args[0].how == exact && (args[0].text == "--" || strings.HasPrefix(args[0].text, "-") && len(args) > 1) {
		args = args[1:]
	}
	if len(args) == 0 {
		g.add(Medium, RiskUnresolved)
		return
	}
	g.shellText(args[0])
}

// shellInput looks at what a shell reads as its script.
func (g *grader) shellInput() {
	switch in := g.input; in.kind {
	case inputNone:
		g.add(Medium, RiskUnresolved)
	case inputText:
		g.input = input{kind: inputPipe}
		g.shellText(arg{text: in.text})
		g.input = in
	case inputFile:
		g.script(in.path, nil, true)
	default:
		g.add(High, RiskUnseen)
		if g.reasons(RiskNetwork) {
			g.add(High, RiskDownloaded)
		}
	}
}

// language looks at the command line of an interpreter of another language. code are the letters of options that take
// code, values of those with a value that does not matter.
func (g *grader) language(args []arg, code, values string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case len(args) == 1 && asksVersion(args):
			return
		case a.how != exact && a.option() && !(a.single && i == len(args)-1), a.fd:
			g.add(High, RiskUnseen)
			return
		case a.text == "-":
			g.codeInput()
			return
		case strings.HasPrefix(a.text, "--"):
			if slices.Contains([]string{"--eval", "--print", "--run", "--require", "--import", "--loader", "--inspect", "--execute"}, strings.SplitN(a.text, "=", 2)[0]) {
				g.code(strings.Join(texts(args[i:]), " "))
				return
			}
		case strings.HasPrefix(a.text, "-"):
			if letter := strings.IndexAny(a.text[1:], code); letter >= 0 {
				if a.text[1+letter] == 'm' {
					g.module(args[i:], a.text[letter+2:])
					return
				}
				g.code(strings.Join(texts(args[i:]), " "))
				if slices.ContainsFunc(args[i:min(i+2, len(args))], func(a arg) bool { return a.how == unknown }) {
					g.add(High, RiskUnseen)
				}
				inPlace := code != "cm" && slices.ContainsFunc(args, func(a arg) bool {
					return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "i")
				})
				for n, o := range args[i+1:] {
					g.suspect(o)
					if inPlace && n > 0 && !o.option() {
						g.write(o)
					}
				}
				return
			}
			if strings.ContainsAny(a.text[1:2], values) && len(a.text) == 2 {
				i++
			}
		default:
			g.script(a, args[i+1:], false)
			return
		}
	}
	g.codeInput()
}

func texts(args []arg) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.text
	}
	return out
}

func (g *grader) codeInput() {
	switch g.input.kind {
	case inputNone:
		g.add(Medium, RiskUnresolved)
	case inputText:
		g.code(g.input.text)
	case inputFile:
		g.script(g.input.path, nil, false)
	default:
		g.add(High, RiskUnseen)
	}
}

// module runs a module of Python.
func (g *grader) module(args []arg, name string) {
	if name == "" && len(args) > 1 {
		name, args = args[1].text, args[1:]
	}
	switch name {
	case "pip":
		g.packages("pip", args[1:])
	case "http.server", "SimpleHTTPServer":
		g.network(Send, "")
	}
	g.effect(Run, name, false)
	g.add(Medium, RiskProject)
	for _, a := range args[1:] {
		g.suspect(a)
	}
}

// code looks at code of a language that is not read here: it is high if it names what starts programs, deletes, sends or
// hides what it does.
func (g *grader) code(text string) {
	g.add(Medium, RiskCode)
	lower := strings.ToLower(text)
	for _, w := range []string{
		"system", "popen", "subprocess", "exec", "spawn", "fork", "unlink", "rmtree", "remove", "rmdir", "delete", "kill", "chmod", "chown", "rename", "truncate",
		"socket", "urllib", "requests", "http", "fetch(", "net.", "ftp", "smtp", "base64", "b64", "decode", "fromhex", "unpack", "marshal", "pickle", "eval", "compile", "__import__", "getattr",
		"chr(", "ctypes", "shutil", "pty", "`", "%x", "qx", "environ", "env[", "getenv", "process.env", "writefile", "rm ", "rmsync", "\\x", "\\u", "importlib", "globals(", "open3", "child_process", "passthru", "proc_open", "pcntl", "os:cmd", "shell(", ".rm(", "removesync", "os.replace", "do \"./", "do './",
	} {
		if strings.Contains(lower, w) {
			g.add(High, RiskUnseen)
			break
		}
	}
	named := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	if named("../", `"/`, "'/", `"~`, "'~") && named(`"w`, "'w", `"a"`, "'a'", "write", "put", `">`, "'>") {
		g.add(High, RiskOutside)
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"(),;=", r) }) {
		if Secret(w) || secretOfSystem(w) {
			g.effect(Read, w, true)
			g.add(Medium, RiskSecret)
		}
	}
}

// runFile looks at a program that is named by its path.
func (g *grader) runFile(program arg, args []arg) {
	g.script(program, args, false)
	for _, a := range args {
		g.suspect(a)
	}
}

// maxScript bounds, in bytes, the scripts that are read.
const maxScript = 256 << 10

// script looks at a file that is run; sh says that a shell runs it whatever its first line says.
func (g *grader) script(file arg, args []arg, sh bool) {
	if file.how != exact && !file.single || file.fd { // of names in a variable each is a file of the project
		g.add(High, RiskUnseen)
		return
	}
	for _, s := range g.spots(file) {
		g.effect(Run, s.path, false)
		g.add(Medium, RiskProject)
		switch {
		case s.place != inside && s.place != public:
			g.add(High, RiskUnseen)
			continue
		case s.place == public:
			g.add(Medium, RiskUnknown)
			continue
		case slices.Contains(g.written, s.path):
			g.add(High, RiskUnseen) // it is not what stands there now
			continue
		case g.fetched:
			g.add(High, RiskDownloaded)
			continue
		}
		g.readScript(s, sh)
	}
	for _, a := range args {
		g.suspect(a)
	}
}

// readScript grades the text of a script of the workspace, if it is one of a shell.
func (g *grader) readScript(s spot, sh bool) {
	if g.files == nil || slices.Contains(g.making, s.path) {
		return
	}
	data, err := g.files.Script(s.path)
	if err != nil || len(data) > maxScript {
		g.add(Medium, RiskUnresolved)
		return
	}
	text := string(data)
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#!") {
		if !slices.ContainsFunc(strings.Fields(strings.TrimPrefix(first, "#!")), isShell) && !sh {
			return // another language: project code
		}
	} else if !sh {
		if strings.ContainsRune(first, 0) || strings.HasPrefix(text, "\x7fELF") {
			return
		}
		if ext := path.Ext(s.path); ext != "" && ext != ".sh" && ext != ".bash" {
			return
		}
	}
	g.nested(s.path, text)
}

// nested grades a text that is run in the folder that the command is in, with arguments that are not known.
func (g *grader) nested(name, text string) {
	if len(g.making) > maxNesting {
		g.add(High, RiskDeep)
		return
	}
	if hidden(strings.ReplaceAll(text, "\r", "")) {
		g.add(Medium, RiskHidden)
	}
	saved, functions, in, making := g.at, g.functions, g.input, g.making
	g.making = append(slices.Clip(making), name)
	g.at = &state{dirs: slices.Clone(saved.dirs), vars: map[string]value{}}
	g.input = input{kind: inputPipe}
	if f, err := parse(text, syntax.LangBash); err != nil {
		g.add(Medium, RiskUnparsed)
	} else {
		g.declared(f)
		g.depth++
		g.list(f.Stmts)
		g.depth--
	}
	g.at, g.functions, g.input, g.making = saved, functions, in, making
}
