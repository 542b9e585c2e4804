package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arg is what is known of an argument.
type arg struct {
	text string
	how  how
	fd   bool // what another command writes, as <(…) gives it
	// every says of names of files that were found that hidden ones may be among them.
	every bool
	// many says that the shell splits what is not known, into any number of arguments.
	many bool
	// single says of a pattern that one name stands for it: it is the value of a variable, in quotes.
	single bool
	// words says that names of files are split at their blanks, so that parts of them may be options.
	words bool
	// output says that the output of a command, which may be anything, is part of it.
	output bool
}

type how int

const (
	exact   how = iota // text is the argument
	pattern            // text is a pattern that the shell replaces by names of files, or by itself
	unknown            // text is what it begins with
)

// option tells whether the argument may be an option.
func (a arg) option() bool {
	return a.words || strings.HasPrefix(a.text, "-") && a.text != "-" || a.text == "" && a.how == unknown ||
		a.how == pattern && a.text != "" && strings.IndexByte("*?[", a.text[0]) >= 0
}

// several tells whether any number of arguments may stand for it.
func (a arg) several() bool { return a.many || a.words || a.how == pattern && !a.single }

// words looks at words whose values do not matter.
func (g *grader) words(words ...*syntax.Word) {
	for _, w := range words {
		if w != nil {
			g.expand(w)
		}
	}
}

func (g *grader) expandAll(words []*syntax.Word) []arg {
	out := make([]arg, 0, len(words))
	for _, w := range words {
		out = append(out, g.expand(w)...)
	}
	return out
}

// one gives a word where the shell splits none and replaces no pattern: in assignments and here strings. It is a pattern if it
// holds a variable that has names of files.
func (g *grader) one(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	p := piece{}
	for _, part := range w.Parts {
		g.part(&p, part, true)
	}
	return p.arg()
}

// expand gives what a word becomes, and looks at the commands in it. A variable that has one of several values gives all
// of them.
func (g *grader) expand(w *syntax.Word) []arg {
	if !syntax.SplitBraces(w) {
		return g.fields(w.Parts)
	}
	var out []arg
	for _, parts := range braces(w.Parts) {
		out = append(out, g.fields(parts)...)
		if len(out) > maxWords {
			g.add(Medium, RiskDeep)
			break
		}
	}
	return out
}

// braces gives the words that brace expressions stand for.
func braces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		var alternatives [][]syntax.WordPart
		switch {
		case !ok:
			alternatives = [][]syntax.WordPart{{p}}
		case b.Sequence:
			alternatives = [][]syntax.WordPart{{&syntax.Lit{Value: "?"}}} // a number or a letter
		default:
			for _, e := range b.Elems {
				alternatives = append(alternatives, braces(e.Parts)...)
			}
		}
		var next [][]syntax.WordPart
		for _, before := range out {
			for _, a := range alternatives {
				if len(next) <= maxWords {
					next = append(next, append(slices.Clip(before), a...))
				}
			}
		}
		out = next
	}
	return out
}

// piece is a word on its way to an argument.
type piece struct {
	b     strings.Builder
	how   how
	fd    bool
	stop  bool // nothing more is known
	any   bool // there is at least an empty word
	many  bool // see arg
	glob  bool // the shell replaces the pattern
	words bool // see arg
	out   bool // arg.output
}

func (p *piece) arg() arg {
	if p.b.String() == "[" && p.how == pattern { // the command of that name
		return arg{text: "["}
	}
	return arg{text: p.b.String(), how: p.how, fd: p.fd, many: p.many, single: p.how == pattern && !p.glob, words: p.words, output: p.out}
}

func (p *piece) write(s string) {
	switch {
	case p.stop:
	case p.b.Len()+len(s) > maxText: // values that hold values grow without end
		p.unknown()
	default:
		p.b.WriteString(s)
	}
}

func (p *piece) unknown() { p.how, p.stop, p.any = unknown, true, true }

// fields gives the arguments that parts of a word without braces become.
func (g *grader) fields(parts []syntax.WordPart) []arg {
	p := piece{}
	for i, part := range parts {
		if v, ok := part.(*syntax.ParamExp); ok && len(parts) == 1 {
			return g.split(v)
		}
		if q, ok := part.(*syntax.DblQuoted); ok && len(parts) == 1 && len(q.Parts) == 1 {
			if v, ok := q.Parts[0].(*syntax.ParamExp); ok {
				return g.values(v)
			}
		}
		if l, ok := part.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(l.Value, "~") {
			g.tilde(&p, l.Value)
			continue
		}
		g.part(&p, part, false)
	}
	if !p.any && p.b.Len() == 0 {
		return nil
	}
	return []arg{p.arg()}
}

// tilde puts the home folder for "~"; "~name", "~+" and "~-" are not known.
func (g *grader) tilde(p *piece, s string) {
	name, rest, _ := strings.Cut(s[1:], "/")
	p.any = true
	switch {
	case name == "":
		p.write("~")
		if len(s) > 1 {
			p.write("/")
			g.literal(p, rest, false)
		}
	case name == "root":
		p.write("/root/")
		g.literal(p, rest, false)
	default:
		p.write("~" + name + "/")
		p.unknown()
	}
}

func (g *grader) part(p *piece, part syntax.WordPart, quoted bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		g.literal(p, part.Value, quoted)
	case *syntax.SglQuoted:
		p.any = true
		if !part.Dollar {
			p.write(part.Value)
			return
		}
		v, ok := ansiC(part.Value)
		p.write(v)
		if !ok {
			p.unknown()
		}
	case *syntax.DblQuoted:
		p.any = true
		for _, q := range part.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				var b strings.Builder
				double(&b, &syntax.DblQuoted{Parts: []syntax.WordPart{l}})
				p.write(b.String())
				continue
			}
			g.part(p, q, true)
		}
	case *syntax.ParamExp:
		vals := g.values(part)
		if len(vals) != 1 || vals[0].how == unknown || !quoted && strings.ContainsAny(vals[0].text, " \t\n") {
			p.unknown()
			p.many = p.many || !quoted
			p.out = p.out || part.Param != nil && g.at.vars[part.Param.Value].data
			return
		}
		p.write(vals[0].text)
		p.how = max(p.how, vals[0].how)
		if vals[0].how == pattern && !quoted {
			p.glob, p.words = true, true
		}
	case *syntax.CmdSubst:
		g.substitution(part.Stmts)
		p.unknown()
		p.out = p.out || !lastIs(part, "uname", "arch", "nproc", "date", "seq", "curl", "lsb_release", "dpkg", "go")
		p.many = p.many || !quoted
	case *syntax.ArithmExp:
		g.arithmetic(part.X)
		p.write("1")
	case *syntax.ProcSubst:
		in := g.input
		if part.Op == syntax.CmdOut { // >(…) reads what is written to it
			g.input = input{kind: inputPipe}
		}
		g.apart(part.Stmts)
		g.input = in
		p.write("/dev/fd/63")
		p.fd = true
	case *syntax.ExtGlob: // not valid in bash unless it is switched on
		g.add(Medium, RiskUnparsed)
		p.unknown()
	default:
		g.add(Medium, RiskUnparsed)
		p.unknown()
	}
}

// substitution looks at commands whose output becomes part of the text.
func (g *grader) substitution(stmts []*syntax.Stmt) {
	out := g.output
	g.apart(stmts)
	g.output = out
}

// literal adds text that stands outside quotes.
func (g *grader) literal(p *piece, s string, quoted bool) {
	for i := 0; i < len(s) && !p.stop; i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				p.b.WriteByte(s[i])
				p.any = true
			}
			continue
		case '*', '?', '[':
			if !quoted {
				p.how, p.glob = max(p.how, pattern), true
			}
		}
		p.b.WriteByte(s[i])
	}
}

// split gives the arguments that a variable outside quotes becomes.
func (g *grader) split(v *syntax.ParamExp) []arg {
	vals := g.values(v)
	if _, ok := g.at.vars["IFS"]; ok {
		return []arg{{how: unknown, many: true}}
	}
	var out []arg
	for _, a := range vals {
		if a.how == unknown {
			a.many = true
			out = append(out, a)
			continue
		}
		for _, f := range strings.Fields(a.text) {
			h := exact
			if strings.ContainsAny(f, "*?[") {
				h = pattern
			}
			out = append(out, arg{text: f, how: h, words: a.how == pattern && h == pattern})
		}
	}
	return out
}

// values gives what a variable may be.
func (g *grader) values(v *syntax.ParamExp) []arg {
	nothing := []arg{{how: unknown}}
	if v.Index != nil {
		g.arithmetic(v.Index)
	}
	if v.Slice != nil {
		g.arithmetic(v.Slice.Offset, v.Slice.Length)
	}
	if v.Repl != nil {
		g.words(v.Repl.Orig, v.Repl.With)
	}
	if v.Exp != nil {
		g.words(v.Exp.Word)
		if v.Exp.Op == syntax.OtherParamOps { // ${x@P} runs the commands in a value
			g.add(Medium, RiskUnresolved)
		}
		if v.Param != nil && (v.Exp.Op == syntax.AssignUnset || v.Exp.Op == syntax.AssignUnsetOrNull) {
			g.variable(v.Param.Value, false)
			g.at.vars[v.Param.Value] = value{data: v.Exp.Word != nil && printed(v.Exp.Word)}
		}
	}
	if v.Param == nil || v.NestedParam != nil {
		g.add(Medium, RiskUnresolved)
		return nothing
	}
	name := v.Param.Value
	if v.Length {
		return []arg{{text: "1"}}
	}
	if secretName(name) {
		g.effect(Read, "$"+name, true)
		g.add(Medium, RiskSecret)
	}
	if v.Excl && v.Names == 0 { // the variable whose name a variable holds
		g.add(Medium, RiskUnresolved)
	}
	if v.Excl || v.Index != nil || v.Slice != nil || v.Repl != nil || v.Names != 0 || v.Exp != nil {
		return nothing
	}
	if known, ok := g.at.vars[name]; ok {
		if len(known.texts) == 0 {
			return nothing
		}
		out := make([]arg, len(known.texts))
		for i, t := range known.texts {
			out[i] = arg{text: t}
			if known.names && strings.ContainsAny(t, "*?[") {
				out[i].how, out[i].single = pattern, true
			}
		}
		return out
	}
	switch name {
	case "HOME":
		return []arg{{text: "~"}}
	case "PWD":
		if len(g.at.dirs) == 1 && g.at.dirs[0] != "?" {
			return []arg{{text: g.at.dirs[0]}}
		}
	case "TMPDIR":
		return []arg{{text: "/tmp"}}
	case "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID":
		return []arg{{text: "1"}}
	}
	return nothing
}

// secretName tells whether a variable of that name usually holds credentials.
func secretName(name string) bool {
	n := strings.ToUpper(name)
	if n == "SSH_AUTH_SOCK" || strings.HasSuffix(n, "_PAT") {
		return true
	}
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"}, func(s string) bool {
		return strings.Contains(n, s)
	})
}
