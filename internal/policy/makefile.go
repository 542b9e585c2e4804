package policy

import (
	"path"
	"slices"
	"strings"
)

// make looks at the rules of a makefile that the targets need.
func (g *grader) make(args []arg) {
	var targets, files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a.text, "=")
		takes := func() string {
			if i+1 < len(args) {
				i++
				return args[i].text
			}
			return ""
		}
		switch {
		case a.how != exact:
			g.add(Medium, RiskUnresolved)
		case a.text == "-f" || a.text == "--file" && !joined || a.text == "--makefile" && !joined:
			files = append(files, takes())
		case name == "--file" || name == "--makefile":
			files = append(files, value)
		case a.text == "-C" || a.text == "--directory" && !joined:
			saved := g.at.clone()
			defer func() { g.at = saved }()
			g.chdir("cd", []arg{{text: takes()}})
		case a.text == "--eval", a.text == "-E", name == "--eval":
			g.add(High, RiskUnseen)
		case strings.HasPrefix(a.text, "-I"), a.text == "-j", a.text == "-l", a.text == "-o", a.text == "-W":
		case strings.HasPrefix(a.text, "-"):
		case joined:
			if name == "SHELL" || name == ".SHELLFLAGS" {
				g.add(High, RiskUnseen)
			}
			g.variable(name, true)
			g.through(name, arg{text: value, how: a.how})
			if strings.ContainsAny(value, "$`;|&") {
				g.add(High, RiskUnseen)
			}
		default:
			targets = append(targets, a.text)
		}
	}
	g.effect(Run, strings.TrimSpace("make "+strings.Join(targets, " ")), false)
	g.add(Medium, RiskProject)
	if g.fetched {
		g.add(High, RiskDownloaded)
	}
	if len(files) == 0 {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	for _, d := range g.at.dirs {
		g.makefile(d, files, targets)
	}
}

// makefile reads the first of the files that is there.
func (g *grader) makefile(dir string, files, targets []string) {
	if g.files == nil {
		return
	}
	for _, f := range files {
		if !path.IsAbs(f) {
			f = path.Join(dir, f)
		}
		if slices.Contains(g.written, f) {
			g.add(High, RiskUnseen)
			return
		}
		data, err := g.files.Script(f)
		if err != nil {
			continue
		}
		m := parseMakefile(string(data))
		if len(targets) == 0 {
			targets = []string{m.first}
		}
		for _, text := range m.recipes(targets) {
			if !slices.Contains(g.making, f+":"+text) {
				g.nested(f+":"+text, text)
			}
		}
		for _, text := range m.always {
			g.nested(f+":"+text, text)
		}
		return
	}
	g.add(Medium, RiskUnresolved)
}

// makefile is what is read of a makefile (GNU make manual, "Makefile contents"): its rules, plain variables, and what
// runs whenever it is read.
type makefile struct {
	first  string
	rules  map[string]*makeRule
	vars   map[string]string
	always []string
}

type makeRule struct{ needs, lines []string }

func parseMakefile(text string) *makefile {
	m := &makefile{rules: map[string]*makeRule{}, vars: map[string]string{}}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	var current []*makeRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range current {
				r.lines = append(r.lines, recipe)
			}
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m.shells(line)
		name, value, ok := assignment(line)
		if ok {
			m.vars[name] = value
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		needs, recipe, inline := strings.Cut(strings.TrimLeft(rest, ":"), ";")
		current = nil
		for target := range strings.FieldsSeq(m.expand(head)) {
			r := m.rules[target]
			if r == nil {
				r = &makeRule{}
				m.rules[target] = r
			}
			r.needs = append(r.needs, strings.Fields(m.expand(needs))...)
			if inline {
				r.lines = append(r.lines, recipe)
			}
			current = append(current, r)
			if m.first == "" && !strings.HasPrefix(target, ".") {
				m.first = target
			}
		}
	}
	return m
}

// assignment reads "NAME = VALUE" with any of make's operators.
func assignment(line string) (name, value string, ok bool) {
	i := strings.IndexByte(line, '=')
	if i < 0 || strings.Contains(strings.TrimRight(line[:i], ":?+! "), ":") {
		return "", "", false
	}
	name = strings.TrimSpace(strings.TrimRight(line[:i], ":?+! "))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "export "), "override ")
	return name, strings.TrimSpace(line[i+1:]), name != "" && !strings.ContainsAny(name, " \t")
}

// shells finds $(shell …) and NAME != …, which run when the file is read.
func (m *makefile) shells(line string) {
	rest := line
	for {
		_, after, ok := strings.Cut(rest, "$(shell ")
		if !ok {
			break
		}
		depth, end := 1, 0
		for end < len(after) && depth > 0 {
			switch after[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
			end++
		}
		m.always = append(m.always, m.expand(strings.TrimSuffix(after[:end], ")")))
		rest = after[end:]
	}
	if i := strings.Index(line, "!="); i > 0 {
		if _, value, ok := assignment(line); ok {
			m.always = append(m.always, m.expand(value))
		}
	}
}

// expand puts in the values of plain variables; "$$" is left for the shell. What is not known becomes a variable of the
// shell, so that nobody takes it for known.
func (m *makefile) expand(text string) string {
	for range maxNesting {
		var b strings.Builder
		changed := false
		for i := 0; i < len(text); i++ {
			if text[i] != '$' || i+1 >= len(text) {
				b.WriteByte(text[i])
				continue
			}
			i++
			switch c := text[i]; c {
			case '$':
				b.WriteString("$$")
			case '(', '{':
				end := strings.IndexAny(text[i:], ")}")
				if end < 0 {
					b.WriteString("${_make}")
					return b.String()
				}
				name := text[i+1 : i+end]
				i += end
				if v, ok := m.vars[name]; ok {
					b.WriteString(v)
					changed = true
				} else {
					b.WriteString("$${_make}")
				}
			default:
				b.WriteString("$${_make}") // automatic: $@, $<
			}
		}
		text = b.String()
		if !changed || len(text) > maxScript {
			break
		}
	}
	return text
}

// recipes gives the texts that making the targets runs.
func (m *makefile) recipes(targets []string) []string {
	var out []string
	seen := map[string]bool{}
	for len(targets) > 0 && len(seen) < maxCalls {
		t := targets[0]
		targets = targets[1:]
		r := m.rules[t]
		if r == nil || seen[t] {
			continue
		}
		seen[t] = true
		targets = append(slices.Clone(r.needs), targets...)
		for _, line := range r.lines {
			line = strings.TrimLeft(line, "@-+ \t")
			if text := strings.ReplaceAll(m.expand(line), "$$", "$"); text != "" && text[0] != '#' {
				out = append(out, text)
			}
		}
	}
	return out
}
