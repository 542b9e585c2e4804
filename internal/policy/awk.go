package policy

import "strings"

// awk looks at the command line of awk: its program, the files that it reads, variables that it is given.
func (g *grader) awk(args []arg) {
	s := spec("-Fv# -bcCghIknNOPrsStV -f% -ile% -Ed% --field-separator|assign# --posix|traditional|lint|re-interval|csv|sandbox|characters-as-bytes|use-lc-numeric --file|exec|include|load|source|dump-variables|debug|profile% # <")
	sandbox := false
	p := s.takeApart(args)
	program := -1
	for _, o := range p.options {
		sign, ok := s.sign(o.name)
		switch {
		case o.name == "--sandbox" || o.name == "-S":
			sandbox = true
		case o.name == "-f" || o.name == "--file":
			g.add(Medium, RiskCode)
			g.read(o.value)
			program = -2
		case !ok || sign == '%':
			g.add(Medium, RiskOption)
		case o.name == "-v" && strings.Contains(o.value.text, "`"):
			g.add(Medium, RiskUnresolved)
		}
	}
	if p.loose {
		g.add(Medium, RiskUnresolved)
	}
	operands := p.operands
	if program == -1 && len(operands) > 0 {
		if operands[0].how != exact {
			g.add(Medium, RiskUnresolved)
		}
		g.awkProgram(operands[0].text, sandbox)
		operands = operands[1:]
	}
	for _, a := range operands {
		if name, _, ok := strings.Cut(a.text, "="); ok && !strings.Contains(name, "/") && a.how == exact {
			continue
		}
		g.read(a)
	}
}

// awkProgram looks for what makes a program of awk (POSIX.1-2024, awk, Grammar) do more than read and print: output into
// a file or a pipe, getline, system, and what gawk can load.
func (g *grader) awkProgram(text string, sandbox bool) {
	w := &awkScan{text: text}
	w.scan()
	switch {
	case sandbox:
	case w.runs:
		g.add(High, RiskUnseen)
	case w.writes == "…":
		g.write(arg{how: unknown})
	case w.writes != "":
		g.write(arg{text: w.writes})
	case w.doubt:
		g.add(Medium, RiskCode)
	}
	if w.reads {
		g.add(Medium, RiskUnresolved)
	}
}

// awkScan goes through a program of awk once.
type awkScan struct {
	text                       string
	runs, reads, doubt         bool
	writes                     string // what it writes to; "…" if that is computed
	i, depth, begun            int
	last                       byte // the last character that means something
	printing, value, ambiguous bool
}

func (w *awkScan) scan() {
	for w.i < len(w.text) {
		c := w.text[w.i]
		switch {
		case c == '#':
			for w.i < len(w.text) && w.text[w.i] != '\n' {
				w.i++
			}
			continue
		case c == '"':
			w.quoted('"')
			w.value = true
			continue
		case c == '/' && !w.value:
			w.quoted('/')
			w.value = true
			continue
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			w.word()
			continue
		}
		w.sign(c)
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			w.last = c
		}
		w.i++
	}
	if w.ambiguous {
		for _, s := range []string{"system", "getline", "|", ">"} {
			w.doubt = w.doubt || strings.Contains(w.text, s)
		}
	}
}

func (w *awkScan) quoted(end byte) {
	w.last = end
	for w.i++; w.i < len(w.text) && w.text[w.i] != end; w.i++ {
		switch c := w.text[w.i]; {
		case c == '\\':
			w.i++
		case c == '\n':
			w.doubt = true
			return
		case end == '/' && c == '[': // implementations differ on a slash in a class
			class, _, closed := strings.Cut(w.text[w.i:], "]")
			w.ambiguous = w.ambiguous || !closed || strings.Contains(class, "/")
		}
	}
	w.i++
}

func (w *awkScan) word() {
	start := w.i
	for w.i < len(w.text) && (w.text[w.i] == '_' || w.text[w.i] >= '0' && w.text[w.i] <= '9' || w.text[w.i] >= 'a' && w.text[w.i] <= 'z' || w.text[w.i] >= 'A' && w.text[w.i] <= 'Z') {
		w.i++
	}
	w.value, w.last = true, 'a'
	switch w.text[start:w.i] {
	case "print", "printf":
		w.printing, w.begun, w.value = true, w.depth, false
	case "system":
		w.runs = true
	case "getline", "ARGV", "ENVIRON":
		w.reads = true
	case "in", "return", "else", "do", "case":
		w.value = false
	}
}

func (w *awkScan) sign(c byte) {
	next := byte(0)
	if w.i+1 < len(w.text) {
		next = w.text[w.i+1]
	}
	switch c {
	case ' ', '\t', '\r':
		return
	case '(', '[':
		w.depth++
	case ')', ']':
		w.depth--
		w.value = true
		w.ambiguous = w.ambiguous || c == ')' && strings.HasPrefix(strings.TrimLeft(w.text[w.i+1:], " \t"), "/")
		return
	case ';', '{', '}':
		w.printing = false
	case '\n':
		w.printing = w.printing && strings.IndexByte(",\\&|", w.last) >= 0 // the line goes on
	case '|':
		if next == '|' {
			w.i++
			break
		}
		w.runs = true
	case '@':
		w.runs = true
	case '>':
		if w.printing && w.depth <= w.begun {
			w.target()
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.':
		w.value = true
		return
	case '+', '-':
		if next == c {
			w.i++
			return // i++ / 2
		}
	}
	w.value = false
}

// target reads what output goes to, if it is a text.
func (w *awkScan) target() {
	rest := strings.TrimLeft(strings.TrimLeft(w.text[w.i:], ">"), " \t")
	w.writes = "…"
	if strings.HasPrefix(rest, `"`) {
		if name, after, ok := strings.Cut(rest[1:], `"`); ok && !strings.Contains(name, `\`) {
			after = strings.TrimLeft(after, " \t\r")
			if after == "" || strings.IndexByte(";}\n", after[0]) >= 0 {
				w.writes = name
			}
		}
	}
}
