package policy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked into; beyond them a command is high.
const (
	maxCalls = 4000      // statements, commands and texts, those of scripts included
	maxText  = 128 << 10 // bytes of a text; Linux takes no longer argument
	maxDir   = 512       // bytes of the name of a folder that is followed
	maxWords = 64        // what one word expands to
	maxSum   = 1000      // bytes of a text that is computed
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
	assigned  map[*syntax.Stmt][]string // names that get values in the statements of loops
	resolved  map[string]resolved
	looked    map[string]bool // folders by whether reading their repository runs nothing of it
	written   []string        // paths that the text writes before it may run them
	fetched   bool            // files came from elsewhere
	reached   int             // effects on the network that were found, also the same ones
	remotes   bool            // remotes of a repository were added or changed
	hooks     []string        // where repositories that were looked at have their hooks by their settings
	renames   bool            // a repository that was looked at gives commands of Git names of its own
	making    []string        // targets and scripts under way

	// Of a shell that is not a fresh one:
	lasting   map[string]*syntax.FuncDecl
	aliases   map[string]string
	inherited []string // special variables that it has set
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
	names bool // patterns among the texts stand for names of files that match them
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
		} else if other.vars[name].names && !v.names {
			v.names = true
			s.vars[name] = v
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

// spend takes one of what may be looked at; false: nothing is left, and the command is high.
func (g *grader) spend() bool {
	if g.left--; g.left < 0 {
		g.add(High, RiskDeep)
	}
	return g.left >= 0
}

func (g *grader) reasons(code string) bool { return slices.Contains(g.risk.Reasons, code) }

func (g *grader) effect(kind EffectKind, target string, reversible bool) {
	t := Touch{kind, target, reversible}
	if kind == Fetch || kind == Send {
		g.reached++
	}
	switch n := len(g.risk.Effects); {
	case slices.Contains(g.risk.Effects, t):
	case n < maxWords, n < 2*maxWords && (kind == Fetch || kind == Send): // where it goes is not to be crowded out
		g.risk.Effects = append(g.risk.Effects, t)
	case kind == Fetch || kind == Send:
		g.add(High, RiskDeep)
	}
}

// text looks at a script.
func (g *grader) text(text string) {
	if !g.spend() {
		return
	}
	if len(text) > maxText {
		g.add(High, RiskDeep)
		return
	}
	if hidden(text) {
		g.add(Medium, RiskHidden)
	}
	f, err := parse(text, syntax.LangBash)
	if err != nil {
		f = &syntax.File{Stmts: before(text)}
	}
	at, functions := g.at.clone(), g.functions
	g.parsed(f, err)
	if strings.Contains(text, "$'") || strings.Contains(text, `$"`) {
		g.posix(text, at, functions)
	}
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
func (g *grader) posix(text string, at *state, functions map[string]bool) {
	f, err := parse(text, syntax.LangPOSIX)
	if err != nil {
		return
	}
	after, known := g.at, g.functions
	g.at, g.functions = at, functions
	g.parsed(f, nil)
	g.at.join(after)
	g.functions = known
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
		names, ok := g.assigned[s]
		if !ok {
			syntax.Walk(s, func(n syntax.Node) bool {
				if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
					names = append(names, a.Name.Value)
				}
				return true
			})
			if g.assigned == nil {
				g.assigned = map[*syntax.Stmt][]string{}
			}
			g.assigned[s] = names
		}
		for _, n := range names {
			g.at.vars[n] = value{}
		}
	}
	for {
		before := g.at.clone()
		g.maybe(look)
		if len(g.at.dirs) > len(before.dirs) && !slices.Equal(before.dirs, []string{"?"}) { // it goes somewhere, and the next time from there
			g.at.dirs = []string{"?"}
		} else if maps.EqualFunc(before.vars, g.at.vars, value.same) {
			return
		}
		if g.left < 0 {
			return
		}
	}
}

// same tells whether as much is known of two variables.
func (v value) same(other value) bool {
	return slices.Equal(v.texts, other.texts) && v.names == other.names
}
