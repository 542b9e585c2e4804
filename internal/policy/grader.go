package policy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked into; beyond them a command is high.
const (
	maxCalls = 2000 // simple commands, those of scripts included
	maxWords = 64   // what one word expands to
)

// grader looks at the parts of a command and gathers what they do. What lasts from one part to the next is in at.
type grader struct {
	files Files
	risk  *Risk
	at    *state
	input input // standard input of what is looked at
	output
	depth int  // of scripts in scripts
	left  int  // of maxCalls
	bulk  bool // the operands are many files that were found, not named

	functions map[string]bool
	written   []string // paths that the text writes before it may run them
	fetched   bool     // files came from elsewhere
	making    []string // targets and scripts under way
}

// state is what a shell knows at a point of the text.
type state struct {
	dirs []string         // where it may be: relative to the workspace, absolute, below "~", or "?" for anywhere
	vars map[string]value // what is known of variables
}

// value is what is known of a variable: one of some texts. No texts: nothing is known.
type value struct {
	texts []string
	data  bool // it comes from a file or from a command's output
}

func newState(dir string) *state { return &state{dirs: []string{dir}, vars: map[string]value{}} }

func (s *state) clone() *state {
	return &state{slices.Clone(s.dirs), maps.Clone(s.vars)}
}

// join makes s what is known if either of two states holds.
func (s *state) join(other *state) {
	for _, d := range other.dirs {
		if !slices.Contains(s.dirs, d) {
			s.dirs = append(s.dirs, d)
		}
	}
	if len(s.dirs) > 8 {
		s.dirs = []string{"?"}
	}
	for name, v := range s.vars {
		if !slices.Equal(other.vars[name].texts, v.texts) {
			s.vars[name] = value{}
		}
	}
	for name := range other.vars {
		if _, ok := s.vars[name]; !ok {
			s.vars[name] = value{}
		}
	}
}

// forget makes every variable unknown.
func (s *state) forget() { s.vars = map[string]value{} }

// input is what a command would read from its standard input.
type input struct {
	kind  inputKind
	text  string // of inputText
	path  arg    // of inputFile
	names []arg  // of inputPipe: what stands in it, if these are names of files or literal words
}

type inputKind int

const (
	inputNone inputKind = iota // as the runner gives it: empty
	inputText
	inputFile
	inputPipe
)

// output is what the command looked at last writes, if these are names of files or literal words.
type output struct{ names []arg }

func (g *grader) add(grade Grade, reason string) {
	g.risk.Grade = g.risk.Grade.Most(grade)
	if !slices.Contains(g.risk.Reasons, reason) {
		g.risk.Reasons = append(g.risk.Reasons, reason)
	}
}

func (g *grader) reasons(code string) bool { return slices.Contains(g.risk.Reasons, code) }

func (g *grader) effect(kind EffectKind, target string, reversible bool) {
	if t := (Touch{kind, target, reversible}); !slices.Contains(g.risk.Effects, t) && len(g.risk.Effects) < maxWords {
		g.risk.Effects = append(g.risk.Effects, t)
	}
}

// text looks at a script.
func (g *grader) text(text string) {
	if hidden(text) {
		g.add(Medium, RiskHidden)
	}
	f, err := parse(text, syntax.LangBash)
	if err != nil {
		f = &syntax.File{Stmts: before(text)}
	}
	g.parsed(f, err)
}

// before gives the statements before the one that can't be read: a shell runs them.
func before(text string) []*syntax.Stmt {
	var out []*syntax.Stmt
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		if err == nil { // no break: the sequence does not bear one at an error
			out = append(out, s)
		}
	}
	return out
}

// posix looks at a text once more, as a plain sh would read it: there quotes may end elsewhere.
func (g *grader) posix(text string) {
	if f, err := parse(text, syntax.LangPOSIX); err == nil {
		g.at, g.functions = newState(g.at.dirs[0]), nil
		g.parsed(f, nil)
	}
}

func (g *grader) parsed(f *syntax.File, err error) {
	if err != nil {
		g.add(Medium, RiskUnparsed)
	}
	if g.depth > maxNesting {
		g.add(High, RiskDeep)
		return
	}
	if g.depth == 0 {
		g.declared(f)
	}
	g.depth++
	g.list(f.Stmts)
	g.depth--
}

// declared finds the functions of a text, which may be called wherever they stand.
func (g *grader) declared(f *syntax.File) {
	g.functions = map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.FuncDecl); ok && d.Name != nil {
			g.functions[d.Name.Value] = true
		}
		return true
	})
}

func (g *grader) list(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		before := g.at.dirs
		g.stmt(s)
		for _, d := range before { // what changes the folder may fail, and then the next command runs all the same
			if !slices.Contains(g.at.dirs, d) {
				g.at.dirs = append(slices.Clip(g.at.dirs), d)
			}
		}
	}
}

// apart looks at what runs in a shell of its own, so that nothing of it lasts.
func (g *grader) apart(stmts []*syntax.Stmt) {
	saved := g.at.clone()
	g.list(stmts)
	g.at = saved
}

// maybe looks at what may run or not.
func (g *grader) maybe(look func()) {
	saved := g.at.clone()
	look()
	g.at.join(saved)
}

// again looks at what may run several times: what it gives to variables may be there when it begins.
func (g *grader) again(stmts []*syntax.Stmt, look func()) {
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
				g.at.vars[a.Name.Value] = value{}
			}
			return true
		})
	}
	dirs := len(g.at.dirs)
	g.maybe(look)
	if len(g.at.dirs) > dirs { // it goes somewhere, and the next time from there
		g.at.dirs = []string{"?"}
		g.maybe(look)
	}
}

func (g *grader) stmt(s *syntax.Stmt) {
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
		g.arithmetic(c.Exprs...)
	case *syntax.TestClause:
		g.test(c)
	case *syntax.DeclClause:
		g.declare(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			g.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		if c.Stmt != nil {
			g.apart([]*syntax.Stmt{c.Stmt})
		}
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
		v, known := value{}, loop.InPos.IsValid()
		for _, a := range items {
			if a.how == unknown || len(items) > 1 && strings.HasPrefix(a.text, "-") {
				known = false
			}
			v.texts = append(v.texts, a.text)
		}
		g.again(c.Do, func() {
			g.at.vars[loop.Name.Value] = value{}
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
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			n++
		}
		return true
	})
	return n > 1
}

func (g *grader) redirect(r *syntax.Redirect) {
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
