package provider

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"overt/internal/llm"
)

// takePython takes a block of Gemma's with calls as Python writes them: name(key=value), with literals for values.
func takePython(s string, _ []llm.ToolSpec) (out []textCall, rest string, ok bool) {
	body, ok := after(s, "```tool_code")
	if !ok {
		return nil, s, false
	}
	p := &python{s: body}
	for {
		if p.blank(); p.take("```") {
			return out, p.s, len(out) > 0
		}
		wrapped := p.take("print(")
		c, ok := p.call()
		if !ok || wrapped && !p.take(")") {
			return nil, s, false
		}
		out = append(out, c)
	}
}

// python reads what is left in s.
type python struct {
	s     string
	depth int
}

const pythonDepth = 50 // of lists and dictionaries within each other

var (
	pythonName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*`) })
	pythonWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[A-Za-z0-9_.+]+(?:e-[0-9]+)?`) })
)

func (p *python) blank() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

// take takes a token behind white space.
func (p *python) take(token string) bool {
	t, ok := after(p.s, token)
	if ok {
		p.s = t
	}
	return ok
}

func (p *python) word() string {
	p.blank()
	w := pythonName().FindString(p.s)
	p.s = p.s[len(w):]
	return w
}

func (p *python) call() (c textCall, ok bool) {
	if c.name = p.word(); c.name == "" || !p.take("(") {
		return c, false
	}
	var args []member
	for !p.take(")") {
		key := p.word()
		if key == "" || !p.take("=") {
			return c, false
		}
		v, ok := p.value()
		if args = append(args, member{key, v}); !ok || !p.take(",") && !strings.HasPrefix(strings.TrimLeft(p.s, " \t\r\n"), ")") {
			return c, false
		}
	}
	c.args = string(objectOf(args))
	return c, true
}

// value takes a literal, as JSON.
func (p *python) value() (raw, bool) {
	if p.depth++; p.depth > pythonDepth {
		return nil, false
	}
	defer func() { p.depth-- }()
	p.blank()
	switch {
	case p.take("["):
		var list []raw
		for !p.take("]") {
			v, ok := p.value()
			if list = append(list, v); !ok || !p.take(",") && !strings.HasPrefix(strings.TrimLeft(p.s, " \t\r\n"), "]") {
				return nil, false
			}
		}
		return listOf(list), true
	case p.take("{"):
		var list []member
		for !p.take("}") {
			k, ok := p.text()
			if !ok || !p.take(":") {
				return nil, false
			}
			v, ok := p.value()
			if list = append(list, member{k, v}); !ok || !p.take(",") && !strings.HasPrefix(strings.TrimLeft(p.s, " \t\r\n"), "}") {
				return nil, false
			}
		}
		return objectOf(list), true
	}
	if s, ok := p.text(); ok {
		return raw(appendString(nil, s)), true
	}
	w := pythonWord().FindString(p.s)
	p.s = p.s[len(w):]
	if word := map[string]string{"True": "true", "true": "true", "False": "false", "false": "false", "None": "null", "null": "null"}[w]; word != "" {
		return raw(word), true
	}
	v, ok := parse([]byte(w)) // Python's plain numbers are JSON's
	return v, ok
}

// text takes a string in one or three quotes of either kind.
func (p *python) text() (string, bool) {
	p.blank()
	for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
		rest, ok := strings.CutPrefix(p.s, quote)
		if !ok {
			continue
		}
		var b strings.Builder
		for rest != "" {
			switch {
			case strings.HasPrefix(rest, quote):
				p.s = rest[len(quote):]
				return b.String(), true
			case rest[0] == '\\' && len(rest) > 1:
				c, _, tail, err := strconv.UnquoteChar(rest, quote[0])
				if err != nil { // Python leaves what is no escape as it is
					b.WriteString(rest[:2])
					rest = rest[2:]
					continue
				}
				b.WriteRune(c)
				rest = tail
			default:
				b.WriteByte(rest[0])
				rest = rest[1:]
			}
		}
		return "", false
	}
	return "", false
}
