package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign looks at assignments. For one command only, those of unknown meaning may change what that command does; else the
// shell has them from then on.
func (g *grader) assign(list []*syntax.Assign, once bool) {
	for _, a := range list {
		if a.Index != nil {
			g.arithmetic(a.Index)
		}
		v := value{}
		switch {
		case a.Array != nil:
			for _, e := range a.Array.Elems {
				if e.Index != nil {
					g.arithmetic(e.Index)
				}
				if e.Value != nil {
					got := g.expand(e.Value)
					v.data = v.data || slices.ContainsFunc(got, func(a arg) bool { return a.how == unknown })
				}
			}
		case a.Value != nil:
			got := g.one(a.Value)
			if got.how != unknown && !a.Append && a.Index == nil {
				v.texts, v.names = []string{got.text}, got.how == pattern
			}
			g.holdsCode(got.text)
			v.data = got.how == unknown && !number(a.Value)
		default:
			v.texts = []string{""}
		}
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		g.variable(name, once)
		if a.Value != nil {
			got := g.one(a.Value)
			g.namesProgram(name, got)
			g.counts(name, got)
		}
		if once {
			continue // the words of the command do not see it
		}
		if a.Naked || a.Array == nil && len(v.texts) == 1 && v.texts[0] == "" {
			v = value{}
		}
		g.at.vars[name] = v
		g.led(name)
	}
}

// holdsCode looks at a text that arithmetic, a subscript or a prompt may run later.
func (g *grader) holdsCode(text string) {
	if strings.Contains(text, "$(") || strings.Contains(text, "`") || strings.Contains(text, "${") && strings.Contains(text, "@P") {
		g.add(Medium, RiskUnresolved)
		if w, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text)); err == nil && g.spend() {
			g.words(w)
		}
	}
}

// variable grades the setting of a variable.
func (g *grader) variable(name string, exported bool) {
	switch {
	case name == "PATH", strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), name == "BASH_ENV", name == "ENV", name == "PROMPT_COMMAND",
		strings.HasPrefix(name, "BASH_FUNC"), name == "SHELLOPTS", name == "BASHOPTS", name == "PS4", name == "SUDO_ASKPASS", name == "GIT_SSH",
		name == "GIT_SSH_COMMAND", name == "GIT_EXTERNAL_DIFF", name == "GIT_PROXY_COMMAND", name == "GIT_ASKPASS", name == "BASH_LOADABLES_PATH":
		g.add(Medium, RiskVariable)
		if name != "PATH" && name != "ENV" && name != "PS4" {
			g.add(High, RiskVariable)
		}
	case plainVariable(name):
	case exported, special(name):
		g.add(Medium, RiskVariable)
	}
}

// plainVariable names variables that change only how something looks or is sorted, and those that programs do not read.
func plainVariable(name string) bool {
	switch name {
	case "LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TERM", "CI", "IFS":
		return true
	}
	return strings.HasPrefix(name, "LC_") || !special(name) && name != strings.ToUpper(name)
}

// special tells whether programs are known to obey variables of that name.
func special(name string) bool {
	for _, prefix := range []string{
		"GIT_", "SSH_", "PYTHON", "NODE_", "NPM_", "npm_", "PERL", "RUBY", "JAVA_", "_JAVA", "JDK_", "LESS", "GREP_", "XDG_", "CARGO", "RUST", "GO", "CGO_", "MAKE", "DOCKER",
		"KUBE", "LD_", "DYLD_", "AWS_", "BASH", "ZDOTDIR", "GCONV", "LOCPATH", "NLSPATH", "MALLOC", "GLIBC", "OVERT_", "PIP_", "UV_", "GPG", "CMAKE",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{"PAGER", "EDITOR", "BROWSER", "SHELL", "_COMMAND", "OPTS", "OPTIONS", "FLAGS", "_PATH", "PATH", "_PROXY", "_proxy", "_HOME", "_CONFIG", "WRAPPER"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return slices.Contains([]string{"HOME", "VISUAL", "CC", "CXX", "LD", "AR", "AS", "TMPDIR", "TMP", "TEMP", "ENV", "PWD", "OLDPWD", "MANROFFOPT", "GLOBIGNORE", "EXECIGNORE"}, name)
}

// declare looks at declare, local, export, readonly and typeset.
func (g *grader) declare(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Naked && a.Value != nil { // an option, or a name that is computed
			for _, w := range g.expand(a.Value) {
				g.subscript(w)
				if w.how != exact || strings.ContainsAny(w.text, "n=") { // a reference to another variable
					g.at.forget()
					g.add(Medium, RiskUnresolved)
				}
				if name, value, ok := strings.Cut(w.text, "="); ok {
					g.variable(name, true)
					g.namesProgram(name, arg{text: value, how: w.how})
				}
				if w.option() && strings.Contains(w.text, "i") { // what it gets is computed
					g.add(Medium, RiskUnresolved)
				}
				if strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "pxfF") && len(c.Args) == 1 && w.text != "-F" && w.text != "-f" {
					g.environment()
				}
			}
			continue
		}
		exported := c.Variant.Value == "export" || slices.ContainsFunc(c.Args, func(o *syntax.Assign) bool {
			return o.Naked && o.Value != nil && strings.Contains(o.Value.Lit(), "x")
		})
		if a.Naked && a.Name != nil && secretName(a.Name.Value) { // -p shows it
			g.add(Medium, RiskSecret)
		}
		if a.Naked {
			exported = false // it keeps the value that was looked at already
		}
		g.assign([]*syntax.Assign{a}, false)
		if a.Name != nil && slices.ContainsFunc(c.Args, func(o *syntax.Assign) bool {
			return o.Naked && o.Value != nil && strings.HasPrefix(o.Value.Lit(), "-") && strings.ContainsAny(o.Value.Lit(), "luc")
		}) {
			g.at.vars[a.Name.Value] = value{} // in other letters
		}
		if exported && a.Name != nil {
			g.variable(a.Name.Value, true)
		}
	}
	if len(c.Args) == 0 && c.Variant.Value != "local" {
		g.environment()
	}
}

// environment notes that all variables are shown.
func (g *grader) environment() {
	g.effect(Read, "the environment", true)
	g.add(Medium, RiskSecret)
}

// subscript looks at a name of a variable that a builtin takes: what stands in its brackets is run.
func (g *grader) subscript(a arg) {
	if a.how == unknown && strings.Contains(a.text, "[") || strings.Contains(a.text, "[") && strings.ContainsAny(a.text, "$`") {
		g.add(High, RiskUnseen)
	}
}

// printed tells whether a word holds the output of a command.
func printed(w *syntax.Word) (found bool) {
	syntax.Walk(w, func(n syntax.Node) bool {
		_, ok := n.(*syntax.CmdSubst)
		found = found || ok
		return !found
	})
	return found
}

// number tells whether a word is the output of a command that writes a number.
func number(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	if q, ok := w.Parts[0].(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		w = &syntax.Word{Parts: q.Parts}
	}
	sub, ok := w.Parts[0].(*syntax.CmdSubst)
	return ok && lastIs(sub, "wc", "nproc", "date", "seq")
}

// lastIs tells whether what a substitution writes comes from one of some programs.
func lastIs(sub *syntax.CmdSubst, names ...string) bool {
	if len(sub.Stmts) != 1 {
		return false
	}
	cmd := sub.Stmts[0].Cmd
	for b, ok := cmd.(*syntax.BinaryCmd); ok; b, ok = cmd.(*syntax.BinaryCmd) {
		cmd = b.Y.Cmd
	}
	c, ok := cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && slices.Contains(names, c.Args[0].Lit())
}

func onlyParam(w *syntax.Word) (*syntax.ParamExp, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	v, ok := w.Parts[0].(*syntax.ParamExp)
	return v, ok
}

// test looks at [[ … ]]; its comparisons of numbers compute.
func (g *grader) test(c *syntax.TestClause) {
	syntax.Walk(c.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			for _, a := range g.expand(n) {
				if strings.Contains(a.text, "$(") || strings.Contains(a.text, "`") {
					g.add(Medium, RiskUnresolved)
				}
			}
			return false
		case *syntax.UnaryTest:
			if w, ok := n.X.(*syntax.Word); ok && n.Op == syntax.TsVarSet {
				for _, a := range g.expand(w) {
					g.indexed(a)
				}
			}
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsReMatch:
				g.at.vars["BASH_REMATCH"] = value{data: true}
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				for _, x := range []syntax.TestExpr{n.X, n.Y} {
					if w, ok := x.(*syntax.Word); ok {
						g.operand(w)
					}
				}
			}
		}
		return true
	})
}
