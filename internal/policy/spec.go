package policy

import (
	"slices"
	"strings"
)

// spec says what a program does with its arguments, in words with blanks between them.
//
// A word that begins with "-" is about options: the letters after one dash, or the names after two with "|" between
// them; it ends with a sign that says what such an option does:
//
//	(none)  nothing that matters     #  takes a value that does not matter    ?  may have such a value, joined to it
//	<  reads the file that it names  >  writes it                             .  looks at it, but not into it
//	+  takes the value that would be the first operand                        &  reads a file for that value
//	$  runs the value as a shell would                                        !  changes the operands in place
//	%  does what is not known: medium                                         ^  is high, for the reason of the program
//
// The other words are about operands, in order; the last one is for all that follow:
//
//	#  does not matter   <  is read   .  is looked at   >  is written   x  is deleted   X  is deleted with all that is in it
//	>> the last one is written, those before are read   >x the same, and those before are deleted   $  begins a command
//	@  an address is asked         ^  high
//
// A word that begins with "=" is what the program does in any case: =low, =medium:REASON or =high:REASON. Options that are
// in no word make a command medium.
type spec string

// option is one option of a command as it stands there.
type option struct {
	name   string // "-x" or "--xyz"
	value  arg
	joined bool // the value is part of the same argument
	has    bool
}

// sign gives the sign of an option in the spec; ok: it is there. GNU programs take the beginning of a long name.
func (s spec) sign(name string) (sign byte, ok bool) {
	long := strings.HasPrefix(name, "--")
	found := 0
	for w := range strings.FieldsSeq(string(s)) {
		if w[0] != '-' || strings.HasPrefix(w, "--") != long {
			continue
		}
		body, c := w, byte(0)
		if last := w[len(w)-1]; strings.IndexByte("#?<>.+&$!%^", last) >= 0 {
			body, c = w[:len(w)-1], last
		}
		if !long {
			if strings.Contains(body[1:], name[1:]) {
				return c, true
			}
			continue
		}
		for n := range strings.SplitSeq(body[2:], "|") {
			if n == name[2:] {
				return c, true
			}
			if strings.HasPrefix(n, name[2:]) {
				if found++; found > 1 && c != sign {
					return 0, false
				}
				sign = c
			}
		}
	}
	return sign, found > 0
}

// full gives the long name that a beginning of it stands for, or the name as it is.
func (s spec) full(name string) string {
	out := name
	for w := range strings.FieldsSeq(string(s)) {
		if !strings.HasPrefix(w, "--") {
			continue
		}
		for n := range strings.SplitSeq(strings.TrimRight(w[2:], "#?<>.+&$!%^"), "|") {
			switch {
			case n == name[2:]:
				return name
			case strings.HasPrefix(n, name[2:]):
				out = "--" + n
			}
		}
	}
	return out
}

// behind gives the options among letters that may be the value of the option before them, or options themselves, that
// do more than read.
func (s spec) behind(letters string) []option {
	var out []option
	for i := range len(letters) {
		o := option{name: "-" + letters[i:i+1]}
		if sign, ok := s.sign(o.name); ok && strings.IndexByte(">$!%^", sign) >= 0 {
			out = append(out, o)
		}
	}
	return out
}

// operands gives the words about operands.
func (s spec) operands() []string {
	var out []string
	for w := range strings.FieldsSeq(string(s)) {
		if w[0] != '-' && w[0] != '=' {
			out = append(out, w)
		}
	}
	return out
}

// effective tells whether an option of the program may do more than read.
func (s spec) effective() bool {
	for w := range strings.FieldsSeq(string(s)) {
		if w[0] == '-' && strings.IndexByte(">$!%^", w[len(w)-1]) >= 0 {
			return true
		}
	}
	return false
}

func takesValue(sign byte) bool { return strings.IndexByte("#<>.+&$", sign) >= 0 && sign != 0 }

// parsed is a command line taken apart.
type parsed struct {
	options  []option
	operands []arg
	changes  bool // an option says that operands are changed in place
	pattern  bool // an option gives what the first operand would be
	loose    bool // an argument that is not known may be an option
	many     bool // an argument that is not known may be several
	shifting arg  // the value of an option that may be several arguments, so that it is not known which ones follow
}

// takeApart reads arguments as getopt_long does. With a command among the operands, options end at the first operand.
func (s spec) takeApart(args []arg) parsed {
	many := slices.ContainsFunc(args, func(a arg) bool { return a.many })
	p := parsed{loose: many, many: many}
	wrapper := slices.Contains(s.operands(), "$")
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "--" && a.how == exact:
			p.operands = append(p.operands, args[i+1:]...)
			return p
		case !a.option():
			p.operands = append(p.operands, a)
			if wrapper {
				p.operands = append(p.operands, args[i+1:]...)
				return p
			}
		case a.text == "" || a.text[0] != '-':
			p.loose = true
			p.operands = append(p.operands, a)
		case strings.HasPrefix(a.text, "--"):
			i += s.long(&p, a, args[i+1:])
		default:
			i += s.short(&p, a, args[i+1:])
		}
	}
	return p
}

func (s spec) long(p *parsed, a arg, rest []arg) (used int) {
	name, value, joined := strings.Cut(a.text, "=")
	o := option{name: s.full(name)}
	if a.how == unknown && !joined {
		p.loose = true
		return 0
	}
	sign, _ := s.sign(name)
	switch {
	case joined:
		o.value, o.has, o.joined = arg{text: value, how: a.how, output: a.output}, true, true
	case takesValue(sign) && len(rest) > 0:
		o.value, o.has, used = rest[0], true, 1
		p.shift(rest[0])
	}
	p.options = append(p.options, o)
	return used
}

func (s spec) short(p *parsed, a arg, rest []arg) (used int) {
	for j := 1; j < len(a.text); j++ {
		o := option{name: "-" + a.text[j:j+1]}
		sign, known := s.sign(o.name)
		switch joined := a.text[j+1:]; {
		case known && (takesValue(sign) || sign == '?' || sign == '!') && (joined != "" || a.how == unknown):
			o.value, o.has, o.joined = arg{text: joined, how: a.how, output: a.output}, true, true
			p.options = append(p.options, o)
			if sign == '?' {
				p.options = append(p.options, s.behind(joined)...)
			}
			return 0
		case takesValue(sign) && len(rest) > 0:
			o.value, o.has = rest[0], true
			p.shift(rest[0])
			p.options = append(p.options, o)
			return 1
		}
		p.options = append(p.options, o)
	}
	if a.how != exact {
		p.loose = true
	}
	return 0
}

func (p *parsed) shift(a arg) {
	if a.several() {
		p.shifting, p.loose = a, p.loose || a.option()
	}
}

// apply grades a command by its spec and gives what was taken apart.
func (g *grader) apply(s spec, args []arg) parsed {
	p := s.takeApart(args)
	for w := range strings.FieldsSeq(string(s)) {
		if grade, reason, ok := strings.Cut(strings.TrimPrefix(w, "="), ":"); ok && w[0] == '=' {
			g.add(Grade(grade), reason)
		}
	}
	for _, o := range p.options {
		sign, known := s.sign(o.name)
		if !known {
			g.add(Medium, RiskOption)
			g.suspect(o.value)
			continue
		}
		g.does(&p, sign, o)
	}
	if p.loose && s.effective() || p.many && slices.Contains(s.operands(), "<") {
		g.add(Medium, RiskUnresolved)
	}
	if slices.Contains(s.operands(), "$") {
		g.shifted(p.shifting)
	}
	if p.shifting.several() && slices.Contains(s.operands(), ">") { // its words may be those that are written
		g.write(p.shifting)
	}
	g.onOperands(s.operands(), p)
	return p
}

// mayHaveOptions looks at arguments that are not known and may be options, of which the program has some that do more than read.
func (g *grader) mayHaveOptions(args []arg) {
	if slices.ContainsFunc(args, func(a arg) bool { return a.how != exact && a.option() }) {
		g.add(Medium, RiskUnresolved)
	}
}

// shifted looks at an argument before a command that others follow as it is several: then one of its words may be the command.
func (g *grader) shifted(a arg) {
	switch {
	case !a.several():
	case a.how == pattern, a.output:
		g.add(High, RiskUnseen)
	default:
		g.add(Medium, RiskUnresolved)
	}
}

// does grades one option.
func (g *grader) does(p *parsed, sign byte, o option) {
	switch sign {
	case '<', '&':
		g.read(o.value)
	case '>':
		if o.has {
			g.write(o.value)
		} else {
			g.add(Medium, RiskOption)
		}
	case '.':
		g.look(o.value)
	case '$':
		g.shellText(o.value)
	case '!':
		p.changes = true
	case '%':
		g.add(Medium, RiskOption)
	case '^':
		g.add(High, RiskUnseen)
	}
	p.pattern = p.pattern || sign == '+' || sign == '&'
}

// onOperands grades the operands.
func (g *grader) onOperands(words []string, p parsed) {
	if p.pattern && len(words) > 1 {
		words = words[1:]
	}
	for i, a := range p.operands {
		if len(words) == 0 {
			return
		}
		w := words[min(i, len(words)-1)]
		last := i == len(p.operands)-1
		if later := words[min(i, len(words)-1):]; a.several() && w != "$" { // its words may be the next operands as well
			if slices.Contains(later, "$") {
				g.shifted(a)
			}
			if w != ">" && slices.Contains(later, ">") || last && (w == ">>" || w == ">x") {
				g.write(a)
			}
		}
		if w == ">>" || w == ">x" {
			switch {
			case last && i > 0:
				if w == ">x" && a.text == "/dev/null" {
					g.add(High, RiskDestroys)
				}
				w = ">"
			case w == ">x":
				g.move(a)
				continue
			default:
				w = "<"
			}
		}
		switch w {
		case "<":
			g.read(a)
			if p.changes {
				g.write(a)
			}
		case ".":
			g.look(a)
			if p.changes {
				g.write(a)
			}
		case ">":
			g.write(a)
		case "x", "X":
			g.remove(a, w == "X")
		case "@":
			g.network(Fetch, a.text)
		case "^":
			g.add(High, RiskUnseen)
		case "$":
			g.run(p.operands[i:])
			return
		}
	}
}

// suspect looks at an argument of which nobody knows what is done with it: it may name a secret, a protected file or an
// address.
func (g *grader) suspect(a arg) {
	for _, p := range pathsIn(a.text) {
		switch {
		case Secret(p), secretOfSystem(p):
			g.effect(Read, p, true)
			g.add(Medium, RiskSecret)
		case Protected(p):
			g.add(Medium, RiskProtected)
		case strings.HasPrefix(p, "http://"), strings.HasPrefix(p, "https://"), strings.HasPrefix(p, "ftp://"):
			g.network(Fetch, p)
		}
	}
}
