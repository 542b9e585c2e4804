package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (g *grader) stmt(s *syntax.Stmt) {
	if !g.spend() {
		return
	}
	saved := g.input
	for _, r := range s.Redirs {
		g.redirect(r)
	}
	g.output = output{}
	switch {
	case s.Cmd == nil:
	case s.Background || s.Coprocess:
		at := g.at.clone()
		g.cmd(s.Cmd)
		g.at = at
	default:
		g.cmd(s.Cmd)
	}
	g.input = saved
}

func (g *grader) cmd(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		g.call(c)
	case *syntax.BinaryCmd:
		g.binary(c)
	case *syntax.Subshell:
		g.apart(c.Stmts)
	case *syntax.Block:
		g.list(c.Stmts)
	case *syntax.IfClause:
		g.ifClause(c)
	case *syntax.WhileClause:
		g.again(append(slices.Clip(c.Cond), c.Do...), func() { g.list(c.Cond); g.list(c.Do) })
	case *syntax.ForClause:
		g.forClause(c)
	case *syntax.CaseClause:
		g.words(c.Word)
		for _, i := range c.Items {
			g.words(i.Patterns...)
			g.maybe(func() { g.list(i.Stmts) })
		}
	case *syntax.FuncDecl:
		g.function(c)
	case *syntax.ArithmCmd:
		g.arithmetic(c.X)
	case *syntax.LetClause:
		g.invoke("let")
		g.arithmetic(c.Exprs...)
	case *syntax.TestClause:
		g.test(c)
	case *syntax.DeclClause:
		g.invoke(c.Variant.Value)
		g.declare(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			g.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			g.apart([]*syntax.Stmt{c.Stmt})
		}
		name := arg{text: "COPROC"}
		if c.Name != nil {
			name = g.one(c.Name)
		}
		g.given(name, false)
		g.given(arg{text: name.text + "_PID", how: name.how}, false)
	default:
		g.add(Medium, RiskUnparsed)
	}
}

func (g *grader) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		saved := g.at.clone()
		g.stmt(c.X)
		g.at = saved.clone()
		in := g.input
		g.input = input{kind: inputPipe, names: g.names}
		g.stmt(c.Y)
		g.input, g.at = in, saved
	case syntax.AndStmt:
		before := g.at.clone()
		g.stmt(c.X)
		g.stmt(c.Y)
		g.at.joinVars(before)
	default: // ||: the second runs where the first has failed
		before := g.at.clone()
		g.stmt(c.X)
		after := g.at.clone()
		g.at.join(before)
		g.stmt(c.Y)
		g.at.join(after)
	}
}

// joinVars makes the variables what is known if either state holds, and leaves the folder.
func (s *state) joinVars(other *state) {
	dirs := s.dirs
	s.join(other)
	s.dirs = dirs
}

func (g *grader) ifClause(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		g.list(c.Cond)
		g.maybe(func() { g.list(c.Then) })
	}
}

func (g *grader) forClause(c *syntax.ForClause) {
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		items := g.expandAll(loop.Items)
		g.variable(loop.Name.Value, false)
		g.counts(loop.Name.Value, items...)
		v, known, data := value{}, loop.InPos.IsValid(), false
		for _, a := range items {
			if a.how == unknown || len(items) > 1 && strings.HasPrefix(a.text, "-") {
				known = false
			}
			data = data || a.how == unknown
			v.names = v.names || a.how == pattern
			v.texts = append(v.texts, a.text)
		}
		g.at.vars[loop.Name.Value] = value{}
		if c.Select {
			g.at.vars["REPLY"] = value{data: true}
		}
		g.again(c.Do, func() {
			g.at.vars[loop.Name.Value] = value{data: data && !slices.ContainsFunc(loop.Items, number)}
			if known && !c.Select {
				g.at.vars[loop.Name.Value] = v
			}
			g.list(c.Do)
		})
	case *syntax.CStyleLoop:
		g.arithmetic(loop.Init, loop.Cond, loop.Post)
		g.again(c.Do, func() { g.list(c.Do) })
	}
}

// function looks at the body of a function: it may run anywhere, with any variables, arguments and input.
func (g *grader) function(c *syntax.FuncDecl) {
	saved, in := g.at.clone(), g.input
	g.at.forget()
	g.at.dirs = slices.Clone(saved.dirs)
	g.input = input{kind: inputPipe}
	if c.Body != nil {
		g.stmt(c.Body)
		if c.Name != nil && calls(c.Body, c.Name.Value) {
			g.add(High, RiskSystem) // it calls itself, as a fork bomb does
		}
	}
	moved := !slices.Equal(g.at.dirs, saved.dirs)
	g.at, g.input = saved, in
	if moved {
		g.at.dirs = []string{"?"}
	}
}

// calls tells whether a function's body calls a program of that name beside another, or in the background.
func calls(body *syntax.Stmt, name string) bool {
	n := 0
	syntax.Walk(body, func(node syntax.Node) bool {
		if _, ok := node.(*syntax.FuncDecl); ok {
			return false
		}
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			n++
		}
		return true
	})
	return n > 1
}

func (g *grader) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") { // {NAME}> puts the number of the file into the variable
		g.given(arg{text: strings.Trim(r.N.Value, "{}")}, false)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		g.heredoc(r)
		return
	case syntax.WordHdoc:
		a := g.one(r.Word)
		g.input = input{kind: inputPipe}
		if a.how == exact {
			g.input = input{kind: inputText, text: a.text}
		}
		return
	}
	args := g.expand(r.Word)
	for _, a := range args {
		switch {
		case r.Op == syntax.DplIn, r.Op == syntax.DplOut && (a.text == "-" || digits(strings.TrimSuffix(a.text, "-"))):
			if a.how == unknown {
				g.add(Medium, RiskUnresolved)
			}
		case r.Op == syntax.RdrIn:
			g.read(a)
			g.input = input{kind: inputFile, path: a}
		case r.Op == syntax.RdrInOut:
			g.read(a)
			g.write(a)
		default:
			g.write(a)
		}
	}
}

func (g *grader) heredoc(r *syntax.Redirect) {
	g.input = input{kind: inputPipe}
	if r.Hdoc == nil {
		return
	}
	quoted := false
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, `\`) {
			quoted = true
		}
	}
	var b strings.Builder
	literal := true
	for _, p := range r.Hdoc.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
			literal = literal && (quoted || !strings.Contains(l.Value, `\`))
			continue
		}
		literal = false
		g.words(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}})
	}
	if literal {
		g.input = input{kind: inputText, text: b.String()}
	}
}

// digits tells whether a text is a number.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
