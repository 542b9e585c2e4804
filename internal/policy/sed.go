package policy

import "strings"

// sed looks at the command line of sed, and at its script.
func (g *grader) sed(args []arg) {
	s := spec("-bEnrsuz -e# -f< -l# -i! --expression# --file< --line-length# --in-place! --quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|follow-symlinks|sandbox|debug|binary # <")
	p := s.takeApart(args)
	given := false
	for _, o := range p.options {
		sign, ok := s.sign(o.name)
		if !ok {
			g.add(Medium, RiskOption)
			continue
		}
		switch o.name {
		case "-e", "--expression":
			given = true
			g.sedScript(o.value)
		case "-f", "--file":
			given = true
			g.read(o.value)
			g.add(Medium, RiskCode)
		default:
			g.does(&p, sign, o)
		}
	}
	if p.loose {
		g.add(Medium, RiskUnresolved)
	}
	operands := p.operands
	if !given && len(operands) > 0 {
		g.sedScript(operands[0])
		operands = operands[1:]
	}
	for _, a := range operands {
		g.read(a)
		if p.changes {
			g.write(a)
		}
	}
}

// sedScript looks for what makes a script of sed (GNU sed 4.9, "sed scripts") do more than print: the commands e, w, W
// and r, R, and the flags e and w of s. What it can't read is medium.
func (g *grader) sedScript(a arg) {
	if a.how != exact {
		g.add(Medium, RiskUnresolved)
	}
	s := &sedScan{text: a.text}
	for s.i < len(s.text) && !s.bad {
		s.command()
	}
	switch {
	case s.runs:
		g.add(High, RiskUnseen)
	case s.bad && a.how != unknown:
		g.add(Medium, RiskOption)
	}
	for _, f := range s.writes {
		g.write(arg{text: f})
	}
	for _, f := range s.reads {
		g.read(arg{text: f})
	}
}

type sedScan struct {
	text          string
	i             int
	runs, bad     bool
	writes, reads []string
}

func (s *sedScan) peek() byte {
	if s.i < len(s.text) {
		return s.text[s.i]
	}
	return 0
}

func (s *sedScan) skip(set string) {
	for s.i < len(s.text) && strings.IndexByte(set, s.text[s.i]) >= 0 {
		s.i++
	}
}

// line takes the rest of the line.
func (s *sedScan) line() string {
	rest, _, _ := strings.Cut(s.text[s.i:], "\n")
	s.i += len(rest)
	return strings.TrimSpace(rest)
}

// until goes behind the next unescaped delimiter.
func (s *sedScan) until(delimiter byte) {
	for ; s.i < len(s.text); s.i++ {
		switch s.text[s.i] {
		case '\\':
			s.i++
		case delimiter:
			s.i++
			return
		case '[': // a delimiter in a class may end the text or not
			if end := strings.IndexByte(s.text[s.i:], ']'); end > 0 && strings.IndexByte(s.text[s.i:s.i+end], delimiter) >= 0 {
				s.bad = true
			}
		}
	}
	s.bad = true
}

func (s *sedScan) address() bool {
	switch c := s.peek(); {
	case c >= '0' && c <= '9':
		s.skip("0123456789")
		if s.peek() == '~' {
			s.i++
			s.skip("0123456789")
		}
	case c == '$':
		s.i++
	case c == '/':
		s.i++
		s.until('/')
		s.skip("IM")
	case c == '\\' && s.i+1 < len(s.text):
		d := s.text[s.i+1]
		s.i += 2
		s.until(d)
		s.skip("IM")
	case c == '+' || c == '~':
		s.i++
		s.skip("0123456789")
	default:
		return false
	}
	return true
}

func (s *sedScan) command() {
	s.skip(" \t\n;")
	if s.i >= len(s.text) {
		return
	}
	if s.address() {
		s.skip(" \t")
		if s.peek() == ',' {
			s.i++
			s.skip(" \t")
			s.bad = s.bad || !s.address()
		}
	}
	s.skip(" \t!")
	c := s.peek()
	s.i++
	switch c {
	case '{', '}':
		return
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case 'q', 'Q', 'l', 'L':
		s.skip(" \t0123456789")
	case '#':
		s.line()
		return
	case 'a', 'i', 'c': // text, up to a line that does not end with a backslash
		for strings.HasSuffix(s.line(), `\`) && s.i < len(s.text) {
			s.i++
		}
		return
	case ':', 'b', 't', 'T', 'v':
		for s.i < len(s.text) && strings.IndexByte("\n;}", s.text[s.i]) < 0 {
			s.i++
		}
	case 'e':
		s.runs = true
		s.line()
		return
	case 'w', 'W':
		s.writes = append(s.writes, s.line())
		return
	case 'r', 'R':
		s.reads = append(s.reads, s.line())
		return
	case 's':
		s.substitute()
		return
	case 'y':
		d := s.peek()
		s.i++
		s.until(d)
		s.until(d)
	default:
		s.bad = true
		return
	}
	s.end()
}

// end wants nothing more of a command.
func (s *sedScan) end() {
	s.skip(" \t")
	if c := s.peek(); c != 0 && strings.IndexByte(";\n}#", c) < 0 {
		s.bad = true
	}
}

func (s *sedScan) substitute() {
	d := s.peek()
	s.i++
	if d == 0 || d == '\n' || d == '\\' {
		s.bad = true
		return
	}
	s.until(d)
	s.until(d)
	for !s.bad {
		switch c := s.peek(); {
		case c >= '0' && c <= '9', c == 'g', c == 'p', c == 'i', c == 'I', c == 'm', c == 'M':
			s.i++
		case c == 'e':
			s.runs = true
			return
		case c == 'w':
			s.i++
			s.writes = append(s.writes, s.line())
			return
		default:
			s.end()
			return
		}
	}
}
