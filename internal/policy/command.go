package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command. Value is what the program would get, if literal.
type word struct {
	value   string
	literal bool
}

// command is a simple command: the program and its arguments.
type command []word

func parse(text string, v syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(v)).Parse(strings.NewReader(text), "")
}

// parses tells whether the text is a script that the parser understands.
func parses(text string) bool {
	_, err := parse(text, syntax.LangBash)
	return err == nil
}

// literalCommand gives the words of a text that is one simple command of literal words: no list, pipe, redirect,
// substitution, assignment, expansion or background. Commands are run by bash or, where there is none, by sh; a text
// that the two read differently ($'…', say) is not literal.
func literalCommand(text string) ([]string, bool) {
	bash, ok := literalWords(text, syntax.LangBash)
	if !ok {
		return nil, false
	}
	posix, ok := literalWords(text, syntax.LangPOSIX)
	if !ok || len(posix) != len(bash) {
		return nil, false
	}
	for i := range bash {
		if bash[i] != posix[i] {
			return nil, false
		}
	}
	return bash, true
}

func literalWords(text string, v syntax.LangVariant) ([]string, bool) {
	f, err := parse(text, v)
	if err != nil || len(f.Stmts) != 1 {
		return nil, false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 ||
		len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	words := make([]string, len(call.Args))
	for i, a := range call.Args {
		w := evaluate(a)
		if !w.literal {
			return nil, false
		}
		words[i] = w.value
	}
	return words, words[0] != ""
}

func evaluateAll(args []*syntax.Word) command {
	c := make(command, len(args))
	for i, a := range args {
		c[i] = evaluate(a)
	}
	return c
}

// evaluate removes the quotes of a word (POSIX.1-2024, Shell Command Language, 2.2). The word is literal if the shell would do nothing else to it.
func evaluate(w *syntax.Word) word {
	var b strings.Builder
	literal := true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			literal = unquoted(&b, p.Value) && literal
		case *syntax.SglQuoted:
			literal = single(&b, p) && literal
		case *syntax.DblQuoted:
			literal = double(&b, p) && literal
		default:
			literal = false
		}
	}
	return word{b.String(), literal}
}

// unquoted appends text that stands outside quotes, and tells whether the shell leaves it alone.
func unquoted(b *strings.Builder, s string) bool {
	literal := true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[', '{', '}':
			literal = false
		case '~': // expanded at the start of a word, and by bash after = and : in what looks like an assignment
			if b.Len() == 0 || i == 0 || s[i-1] == '=' || s[i-1] == ':' {
				literal = false
			}
		}
		b.WriteByte(s[i])
	}
	return literal
}

func single(b *strings.Builder, q *syntax.SglQuoted) bool {
	if !q.Dollar {
		b.WriteString(q.Value)
		return true
	}
	v, ok := ansiC(q.Value)
	b.WriteString(v)
	return ok
}

// double appends text in double quotes, where a backslash is only special before $ ` " \ and newline.
func double(b *strings.Builder, q *syntax.DblQuoted) bool {
	literal := !q.Dollar // $"…" is translated
	for _, p := range q.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			literal = false
			continue
		}
		for i := 0; i < len(l.Value); i++ {
			if c := l.Value[i]; c == '\\' && i+1 < len(l.Value) && strings.IndexByte("$`\"\\\n", l.Value[i+1]) >= 0 {
				if i++; l.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(l.Value[i])
		}
	}
	return literal
}

// ansiC reads the inside of $'…' (Bash Reference Manual, ANSI-C Quoting). Escapes that it does not know are not literal.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	const plain = "abefnrtv\\'\"?E"
	const value = "\a\b\x1b\f\n\r\t\v\\'\"?\x1b"
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return b.String(), false
		}
		if k := strings.IndexByte(plain, s[i]); k >= 0 {
			b.WriteByte(value[k])
			continue
		}
		r, n, ok := numeric(s[i:])
		if !ok || r == 0 {
			return b.String(), false
		}
		if s[i] == 'u' || s[i] == 'U' {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		i += n - 1
	}
	return b.String(), true
}

// numeric reads nnn, xHH, uHHHH or UHHHHHHHH and says how many bytes that took.
func numeric(s string) (r rune, n int, ok bool) {
	base, most, start := rune(8), 3, 0
	switch s[0] {
	case 'x':
		base, most, start = 16, 2, 1
	case 'u':
		base, most, start = 16, 4, 1
	case 'U':
		base, most, start = 16, 8, 1
	}
	for n = start; n < len(s) && n < start+most; n++ {
		d := rune(-1)
		switch c := s[n]; {
		case c >= '0' && c <= '9':
			d = rune(c - '0')
		case c >= 'a' && c <= 'f':
			d = rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = rune(c-'A') + 10
		}
		if d < 0 || d >= base {
			break
		}
		r = r*base + d
	}
	return r, n, n > start
}

// hidden tells whether the text holds what a person would not see or would see elsewhere than it stands, or is not UTF-8.
func hidden(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, Hidden)
}

// Hidden tells whether a person would not see the character, or would see others elsewhere than they stand because of
// it (Unicode TR 36 and 39): control characters, bidirectional and other format characters, line and paragraph
// separators, tags, fillers, and the selectors that change nothing visible. Tab and newline are plain white space.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || r == 0x3164 || r == 0xffa0: // joiner, fillers, inherent vowels
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}
