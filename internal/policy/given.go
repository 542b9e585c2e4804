package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// given looks at a variable that a builtin or a construct of the shell is told the name of and gives a value that is not known
// before: read, mapfile, getopts, wait -p, unset, coproc, {NAME}>file, (( NAME++ )) and the like; data says that the value comes
// from a file or a command. What is written as NAME=… goes through [grader.assign].
func (g *grader) given(a arg, data bool) {
	name := g.indexed(a)
	if a.how != exact { // it may be any variable
		g.at.forget()
		return
	}
	g.variable(name, false)
	if data {
		g.counts(name, arg{how: unknown})
	}
	g.at.vars[name] = value{data: data}
	g.led(name)
}

// counts looks at the value of one of the shell's own variables that hold numbers: bash computes what they get.
func (g *grader) counts(name string, values ...arg) {
	if !slices.Contains([]string{"RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "LINENO", "SECONDS"}, name) {
		return
	}
	for _, a := range values {
		if g.computed(a.text); a.how != exact {
			g.add(Medium, RiskUnresolved)
		}
	}
}

// indexed looks at what stands in the brackets behind a name, if there are any, and gives the name.
func (g *grader) indexed(a arg) string {
	g.subscript(a)
	if a.how != exact {
		g.add(Medium, RiskUnresolved)
	}
	name, index, _ := strings.Cut(a.text, "[")
	if index = strings.TrimSuffix(index, "]"); index != "@" && index != "*" {
		g.computed(index)
	}
	return name
}

// led notes that a variable which says where the shell is, or what paths mean, has another value.
func (g *grader) led(name string) {
	if name == "HOME" || name == "PWD" || name == "OLDPWD" || name == "CDPATH" {
		g.at.vars[name] = value{}
		g.at.dirs = append(slices.Clip(g.at.dirs), "?")
	}
}

// arithmetic looks at what is computed: the values of variables are computed in turn, commands in subscripts are run.
func (g *grader) arithmetic(list ...syntax.ArithmExpr) {
	for _, x := range list {
		if x == nil {
			continue
		}
		syntax.Walk(x, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Word:
				g.operand(n)
				return false
			case *syntax.BinaryArithm:
				switch n.Op {
				case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
				default:
					if strings.HasSuffix(n.Op.String(), "=") {
						g.computes(n.X)
					}
				}
			case *syntax.UnaryArithm:
				if n.Op == syntax.Inc || n.Op == syntax.Dec {
					g.computes(n.X)
				}
			}
			return true
		})
	}
}

// computes looks at what gets a value in arithmetic.
func (g *grader) computes(x syntax.ArithmExpr) {
	a := arg{how: unknown}
	if w, ok := x.(*syntax.Word); ok {
		a = arg{text: w.Lit()}
		if v, ok := onlyParam(w); ok && v.Short && v.Param != nil { // NAME[…]
			a.text = v.Param.Value
		}
		if a.text == "" {
			a.how = unknown
		}
	}
	g.given(a, false)
}

// operand looks at a word of an arithmetic expression.
func (g *grader) operand(w *syntax.Word) {
	if name := w.Lit(); name != "" {
		g.computed(name)
		return
	}
	if !number(w) && printed(w) {
		g.add(Medium, RiskUnresolved)
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				g.valueOf(n.Param.Value)
			}
		}
		return true
	})
	for _, a := range g.expand(w) {
		if strings.ContainsAny(a.text, "$`") {
			g.add(High, RiskUnseen)
		} else if a.how == exact {
			g.computed(a.text)
		}
	}
}

// computed looks at a text that is computed: it may name variables, and give them values.
func (g *grader) computed(text string) {
	switch mark := "computed " + text; {
	case text == "", strings.TrimLeft(text, "0123456789") == "", slices.Contains(g.making, mark):
	case strings.ContainsAny(text, "$`"):
		g.add(High, RiskUnseen)
	case syntax.ValidName(text):
		g.valueOf(text)
	case strings.IndexByte("0123456789", text[0]) >= 0 && syntax.ValidName("x"+strings.NewReplacer("#", "", "@", "").Replace(text)): // 0x1f, 36#zz
	case len(text) > maxSum:
		g.add(Medium, RiskDeep)
	case g.spend():
		g.making = append(g.making, mark)
		x, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Arithmetic(strings.NewReader(text))
		if err != nil {
			g.add(Medium, RiskUnresolved)
		} else {
			g.arithmetic(x)
		}
		g.making = g.making[:len(g.making)-1]
	}
}

// valueOf looks at the value of a variable that is computed.
func (g *grader) valueOf(name string) {
	if name != "" && (digits(name) && name != "0" || name == "@" || name == "*") { // what the text or a function was given
		g.add(Medium, RiskUnresolved)
	}
	v, ok := g.at.vars[name]
	mark := "value of " + name
	if !ok || slices.Contains(g.making, mark) {
		return
	}
	g.making = append(g.making, mark)
	for _, t := range v.texts {
		if strings.ContainsAny(t, "[$`") {
			g.add(High, RiskUnseen)
		} else {
			g.computed(t)
		}
	}
	if len(v.texts) == 0 && v.data {
		g.add(Medium, RiskUnresolved)
	}
	g.making = g.making[:len(g.making)-1]
}

// readsVariables looks at builtins that give what they read to variables.
func (g *grader) readsVariables(name string, args []arg) {
	var names []arg
	switch name {
	case "getopts":
		if len(args) > 1 {
			names = args[1:2]
			if args[0].several() {
				names = []arg{{how: unknown}}
			}
		}
		g.at.vars["OPTARG"], g.at.vars["OPTIND"] = value{data: true}, value{}
	case "read":
		p := g.apply("-eErs -adinNptu# #", args)
		names = p.operands
		for _, o := range p.options {
			if o.name == "-a" {
				names = append(names, o.value)
			}
		}
		if p.loose {
			names = append(names, arg{how: unknown})
		}
		g.at.vars["REPLY"] = value{data: true}
	default:
		p := g.apply("-t -dnOsuc# -C$ #", args)
		names = p.operands
		if p.loose {
			names = append(names, arg{how: unknown})
		}
		g.at.vars["MAPFILE"] = value{data: true}
	}
	for _, a := range names {
		g.given(a, true)
	}
}

// waits looks at wait, which gives a variable the number of a process.
func (g *grader) waits(args []arg) {
	p := spec("-fn -p# #").takeApart(args)
	for _, o := range p.options {
		if o.name == "-p" {
			g.given(o.value, false)
		}
	}
	for _, a := range p.operands {
		g.subscript(a)
	}
	if p.loose {
		g.given(arg{how: unknown}, false)
	}
}

// printsInto looks at printf -v.
func (g *grader) printsInto(args []arg) {
	switch {
	case len(args) == 0:
	case args[0].how != exact && args[0].option() && (len(args) > 1 || args[0].several()):
		g.given(arg{how: unknown}, false)
	case len(args) > 1 && strings.HasPrefix(args[0].text, "-v"):
		g.subscript(args[1])
		g.subscript(args[0])
		g.at.forget()
		g.add(Medium, RiskVariable)
	}
}

// unsets looks at variables that lose their values.
func (g *grader) unsets(args []arg) {
	for _, a := range args {
		if a.how != exact || !strings.HasPrefix(a.text, "-") {
			g.given(a, false)
		}
	}
	g.at.forget()
}
