package policy

import (
	"path"
	"slices"
	"strings"
)

// builtin looks at what the shell does itself.
func (g *grader) builtin(name string, args []arg) bool {
	rest := args[1:]
	switch name {
	case "echo", "printf":
		g.prints(name, rest)
	case ":", "true", "false", "break", "continue", "return", "exit", "shift", "times", "hash", "jobs", "fg", "bg", "disown", "logout", "umask", "ulimit", "caller", "suspend":
		if name == "jobs" && len(rest) > 1 && rest[0].text == "-x" {
			g.run(rest[1:])
			g.add(Medium, RiskUnresolved)
		}
		if name == "jobs" && slices.ContainsFunc(rest, func(a arg) bool { return a.how != exact && a.option() }) {
			g.add(Medium, RiskUnresolved)
		}
		if name == "hash" && slices.ContainsFunc(rest, func(a arg) bool { return a.option() && a.text != "-r" }) {
			g.add(High, RiskUnseen)
		}
		for _, a := range rest {
			g.subscript(a)
		}
	case "wait":
		g.waits(rest)
	case "cd", "pushd", "popd", "chdir":
		g.chdir(name, rest)
	case "dirs", "history", "compgen":
		if name == "history" && len(rest) > 0 || name == "compgen" && slices.ContainsFunc(rest, func(a arg) bool {
			return a.text == "-C" || strings.HasPrefix(a.text, "-V") || a.text == "-F" || a.how != exact || strings.ContainsAny(a.text, "$`")
		}) {
			g.add(Medium, RiskUnresolved)
			if name == "compgen" {
				g.add(High, RiskUnseen)
			}
		}
	case "set", "shopt":
		g.set(name, rest)
	case "unset":
		g.unsets(rest)
	case "read", "mapfile", "readarray", "getopts":
		g.readsVariables(name, rest)
	case "test", "[":
		for i, a := range rest {
			if i > 0 && rest[i-1].text == "-v" {
				g.indexed(a)
			}
		}
	case "eval":
		g.joined(rest)
		g.at.forget()
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
	case "trap":
		if len(rest) > 0 && rest[0].text == "--" {
			rest = rest[1:]
		}
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
				if r := Command(text, ".", nil); r.Grade != Low { // it gets arguments later
					g.add(High, RiskUnseen)
				}
			}
		}
	case "enable", "bind", "complete", "fc":
		g.add(Medium, RiskUnresolved)
		if name == "enable" && len(rest) > 0 || slices.ContainsFunc(rest, func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "CFexs") }) {
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
	prefix := ""
	if name == "printf" {
		g.printsInto(args)
		if len(args) > 0 && args[0].how == exact && args[0].text == "--" {
			args = args[1:]
		}
		if len(args) > 1 {
			switch format := strings.TrimSuffix(strings.TrimSuffix(args[0].text, `\n`), `\0`); format {
			case "%s", "./%s":
				prefix, args = strings.TrimSuffix(format, "%s"), args[1:]
			}
		}
	}
	options := name == "echo"
	for _, a := range args {
		if options = options && a.how == exact && len(a.text) > 1 && a.text[0] == '-' && strings.Trim(a.text[1:], "neE") == ""; options {
			continue
		}
		if a.how == unknown || strings.Contains(a.text, `\`) {
			g.names = nil
			return
		}
		for f := range strings.FieldsSeq(a.text) {
			g.names = append(g.names, arg{text: prefix + f, how: a.how})
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
	case name == "popd", to.how == unknown, to.how == pattern && (!to.single || to.option() && !strings.HasSuffix(to.text, "/")), to.text == "-", strings.HasPrefix(to.text, "+"), name == "pushd" && len(args) == 0, strings.HasPrefix(to.text, "-"):
		g.at.dirs = []string{"?"}
		return
	}
	var dirs []string
	for _, s := range g.spots(to) {
		d := s.path
		if s.place == anywhere || len(d) > maxDir {
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
		case a.how != exact && a.option(), name == "shopt" && a.how != exact, slices.Contains([]string{"expand_aliases", "extglob", "dotglob", "allexport", "-a", "lastpipe", "nameref"}, a.text):
			g.add(Medium, RiskVariable)
		case name == "set" && strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, "ak") && !strings.HasPrefix(a.text, "--"):
			g.add(Medium, RiskVariable)
		}
	}
	if name == "set" && len(args) == 0 {
		g.environment()
	}
}

// shellText looks at a text that a shell gets.
func (g *grader) shellText(a arg) {
	if a.how != exact || a.fd { // a name of a file is no better than what is not known: it may hold commands
		g.add(High, RiskUnseen)
		if a.text != "" && a.how != exact {
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
		how = max(how, a.how)
	}
	g.shellText(arg{text: strings.Join(words, " "), how: how})
}
