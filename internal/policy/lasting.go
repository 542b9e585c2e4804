package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Shell is what commands before have left in the shell that a command runs in, as far as it changes what the command means.
type Shell struct {
	Dir       string            // as [Command] has it; or absolute, outside the workspace
	Functions string            // definitions, as bash prints them
	Aliases   map[string]string // of a shell that expands them
	Vars      map[string]string // values
	Odd       []string          // variables whose values are no plain texts
	Set       []string          // variables that are not as the shell got them at its start
	Options   []string          // those that are on and are not on in a fresh shell
	Path      string            // PATH at its start
}

// CommandIn grades a command like [Command], in a shell that is not a fresh one. What a function or an alias of it runs
// counts where it is called, what a variable of it does to programs where they run.
func CommandIn(text string, s Shell, files Files) Risk {
	g := newGrader(s.Dir, files)
	g.lasts(s)
	return g.grade(text)
}

// Elevated gives the text of a command that runs another one as root in a shell.
func Elevated(shell, command string) string {
	quoted, err := syntax.Quote(command, syntax.LangBash)
	if err != nil { // it holds a NUL byte, and will not be run
		quoted = strconv.Quote(command)
	}
	return "sudo -u root -- " + shell + " -c " + quoted
}

// OnlyFunctions tells whether a text, as bash prints its functions, defines them and does nothing else.
func OnlyFunctions(text string) bool {
	_, ok := definitions(text)
	return ok
}

// definitions gives the functions that a text defines; false: it does more than that, or can't be read.
func definitions(text string) (map[string]*syntax.FuncDecl, bool) {
	if strings.TrimSpace(text) == "" {
		return nil, true
	}
	// The parser takes these words for more than names.
	const mark = "function-"
	text = "\n" + text
	for _, word := range declarers() {
		text = strings.ReplaceAll(text, "\n"+word+" () \n", "\n"+mark+word+" () \n")
	}
	f, err := parse(text, syntax.LangBash)
	if err != nil {
		return nil, false
	}
	out := map[string]*syntax.FuncDecl{}
	for _, s := range f.Stmts {
		switch c := s.Cmd.(type) {
		case *syntax.FuncDecl:
			if len(s.Redirs) > 0 || s.Background || c.Name == nil {
				return nil, false
			}
			out[strings.TrimPrefix(c.Name.Value, mark)] = c
		case *syntax.DeclClause: // declare -fx NAME
			if c.Variant.Value != "declare" || len(c.Args) != 2 || !c.Args[0].Naked || c.Args[0].Value == nil || !strings.HasPrefix(c.Args[0].Value.Lit(), "-f") || !c.Args[1].Naked {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return out, true
}

// lasts takes over what a shell has.
func (g *grader) lasts(s Shell) {
	defs, ok := definitions(s.Functions)
	if !ok {
		g.alter(High, RiskUnseen)
	}
	g.lasting = defs
	if _, ok := defs["command_not_found_handle"]; ok {
		g.invoke("command_not_found_handle")
	}
	for name, text := range s.Aliases {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" || keyword(name) || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t") {
			g.alter(High, RiskUnseen) // the text is not what it looks like
		}
	}
	g.aliases = s.Aliases
	for name, text := range s.Vars {
		switch v := (value{texts: []string{text}}); {
		case name == "PWD", name == "OLDPWD", name == "HOME" && !slices.Contains(s.Set, name):
		case text == "", name == "HOME":
			g.at.vars[name] = value{}
		default:
			g.at.vars[name] = v
		}
	}
	for _, name := range s.Odd {
		g.at.vars[name] = value{}
	}
	for _, o := range s.Options {
		if !harmless(o) {
			g.alter(Medium, RiskVariable)
		}
	}
	for _, name := range s.Set {
		switch {
		case name == "PATH":
			g.search(s.Vars[name], s.Path)
		case slices.Contains([]string{"CDPATH", "GLOBIGNORE", "BASH_ENV", "ENV", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "EXECIGNORE", "HOME", "BASH_XTRACEFD"}, name):
			g.alter(Medium, RiskVariable)
		case special(name):
			g.inherited = append(g.inherited, name)
		}
	}
}

// search looks at a PATH that is not that of the start: programs may be others than their names say.
func (g *grader) search(now, start string) {
	known := strings.Split(start, ":")
	for dir := range strings.SplitSeq(now, ":") {
		if dir == "" && now != "" || dir != "" && !slices.Contains(known, dir) && !systemFolder(path.Clean(dir)) {
			g.alter(Medium, RiskVariable)
			return
		}
	}
}

// harmless names options that change nothing in what a command means, or are looked after elsewhere.
func harmless(option string) bool {
	return slices.Contains([]string{
		"errexit", "nounset", "pipefail", "noglob", "xtrace", "verbose", "noclobber", "errtrace", "functrace", "notify", "ignoreeof", "emacs", "vi", "onecmd",
		"globstar", "nullglob", "failglob", "inherit_errexit", "expand_aliases", "checkhash", "checkjobs", "lithist", "histappend", "login_shell", "huponexit", "gnu_errfmt",
	}, option)
}

// keyword tells whether the parser takes a word for more than the name of a program.
func keyword(name string) bool {
	return slices.Contains([]string{
		"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select", "in", "function", "time", "coproc",
	}, name) || slices.Contains(declarers(), name)
}

// declarers are the builtins that have a syntax of their own.
func declarers() []string {
	return []string{"declare", "typeset", "local", "export", "readonly", "nameref", "let"}
}

// invoke looks at a function that the shell has from before.
func (g *grader) invoke(name string) {
	f, ok := g.lasting[name]
	mark := "function " + name
	if !ok || slices.Contains(g.making, mark) {
		return
	}
	g.risk.Altered = true
	g.making = append(g.making, mark)
	g.function(f)
	g.making = g.making[:len(g.making)-1]
	g.at.forget()
	g.at.dirs = append(slices.Clip(g.at.dirs), "?")
}

// alias looks at a command whose first word is an alias: its text stands in the place of the word.
func (g *grader) alias(c *syntax.CallExpr) {
	if len(c.Args) == 0 || len(g.aliases) == 0 {
		return
	}
	name := c.Args[0].Lit()
	text, ok := g.aliases[name]
	mark := "alias " + name
	if !ok || slices.Contains(g.making, mark) {
		return
	}
	g.alter(Medium, RiskVariable)
	var b strings.Builder
	b.WriteString(text)
	printer := syntax.NewPrinter(syntax.SingleLine(true))
	for _, a := range c.Args[1:] {
		b.WriteByte(' ')
		if err := printer.Print(&b, a); err != nil {
			g.add(High, RiskUnseen)
		}
	}
	g.making = append(g.making, mark)
	g.shellText(arg{text: b.String()})
	g.making = g.making[:len(g.making)-1]
	g.at.forget()
	g.at.dirs = append(slices.Clip(g.at.dirs), "?")
}

// alter notes that the command is another one than its words say.
func (g *grader) alter(grade Grade, reason string) {
	g.risk.Altered = true
	g.add(grade, reason)
}

// obeys grades a program that reads variables which the shell has set before.
func (g *grader) obeys(program string) {
	if slices.ContainsFunc(g.inherited, func(name string) bool { return readBy(name, program) }) {
		g.alter(Medium, RiskVariable)
	}
}

// readBy tells whether a program may obey a variable. Variables of unknown meaning are obeyed by all.
func readBy(variable, program string) bool {
	program = strings.TrimRight(program, "0123456789.")
	for _, family := range []struct{ prefixes, programs string }{
		{"GIT_", "git git-lfs tig gh glab hub jj"},
		{"GO CGO_", "go gofmt gopls golangci-lint staticcheck make gmake just task"},
		{"PYTHON PIP_ UV_", "python pip pipx uv uvx pytest tox nox mypy ruff black poetry pdm hatch make gmake just task"},
		{"NODE_ NPM_ npm_", "node npm npx yarn pnpm bun tsc eslint prettier jest vitest make gmake just task"},
		{"CARGO RUST", "cargo rustc rustup rustfmt clippy-driver make gmake just task"},
		{"PERL", "perl prove cpan git exiftool"},
		{"RUBY", "ruby gem bundle rake rails irb"},
		{"JAVA_ _JAVA JDK_", "java javac jar mvn gradle kotlinc scala"},
		{"MAKE", "make gmake"},
		{"CMAKE", "cmake ctest make gmake ninja"},
		{"DOCKER", "docker docker-compose"},
		{"KUBE", "kubectl helm k9s"},
		{"AWS_", "aws sam cdk terraform"},
	} {
		for prefix := range strings.FieldsSeq(family.prefixes) {
			if strings.HasPrefix(variable, prefix) {
				return slices.Contains(strings.Fields(family.programs), program)
			}
		}
	}
	return true
}
