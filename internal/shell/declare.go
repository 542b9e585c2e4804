package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// declaration is a variable as a shell prints it, so that the same shell can read it.
type declaration struct {
	flags string // of declare, without the "-": "x", "Ar"; "" for none
	name  string
	value string // quoted
	set   bool   // it has a value
}

// declarations reads what bash's declare -p prints (Bash Reference Manual, Bash Builtins): a line for each variable,
// unless a newline stands in quotes. What follows something else is left out.
func declarations(text string) []declaration {
	var out []declaration
	for text != "" {
		rest, ok := strings.CutPrefix(text, "declare -")
		if !ok {
			return out
		}
		flags, rest, ok := strings.Cut(rest, " ")
		if !ok {
			return out
		}
		d := declaration{flags: strings.Trim(flags, "-")}
		n := strings.IndexAny(rest, "=\n")
		if n < 0 {
			return out
		}
		d.name, d.set = rest[:n], rest[n] == '='
		rest = rest[n+1:]
		if d.set {
			if d.value, rest, ok = quotedLine(rest); !ok {
				return out
			}
		}
		out = append(out, d)
		text = rest
	}
	return out
}

// assignments reads what set prints in a plain sh: NAME=VALUE for each variable, with prefix before it as export -p has it.
func assignments(text, prefix string) []declaration {
	var out []declaration
	for text != "" {
		line, ok := strings.CutPrefix(text, prefix)
		if !ok {
			return out
		}
		n := strings.IndexAny(line, "=\n")
		if n < 0 {
			return out
		}
		d := declaration{name: line[:n], set: line[n] == '='}
		text = line[n+1:]
		if d.set {
			if d.value, text, ok = quotedLine(text); !ok {
				return out
			}
		}
		out = append(out, d)
	}
	return out
}

// quotedLine cuts a text at the first newline that is not in quotes; false: there is none.
func quotedLine(s string) (line, rest string, ok bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\n':
			return s[:i], s[i+1:], true
		case c == '\\':
			i += 2
		case c == '\'' || c == '"' || c == '$' && i+1 < len(s) && s[i+1] == '\'':
			n, closed := quoteEnd(s[i:])
			if !closed {
				return "", "", false
			}
			i += n
		default:
			i++
		}
	}
	return "", "", false
}

// quoteEnd says how long the quotation is that a text begins with.
func quoteEnd(s string) (n int, closed bool) {
	open, escapes := s[0], s[0] != '\''
	n = 1
	if open == '$' {
		open, n = '\'', 2
	}
	for n < len(s) {
		switch {
		case s[n] == open:
			return n + 1, true
		case escapes && s[n] == '\\':
			n++
		}
		n++
	}
	return n, false
}

// unquote gives the value that a quoted word stands for; false: it is no plain value, but an array, say.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '(' || c == ' ' || c == '`' || c == '$' && (i+1 == len(s) || s[i+1] != '\''):
			return "", false
		case c == '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
			i++
		case c == '\'' || c == '"' || c == '$':
			n, closed := quoteEnd(s[i:])
			if !closed {
				return "", false
			}
			switch inner := s[i+1 : i+n-1]; c {
			case '\'':
				b.WriteString(inner)
			case '"':
				unescape(&b, inner)
			default:
				unescapeC(&b, inner[1:])
			}
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
}

// unescape writes the inside of double quotes, where a backslash counts before $ ` " \ and newline.
func unescape(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}

// unescapeC writes the inside of $'…' (Bash Reference Manual, ANSI-C Quoting), as far as bash prints it.
func unescapeC(b *strings.Builder, s string) {
	const plain, value = "abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v"
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if k := strings.IndexByte(plain, s[i]); k >= 0 {
			b.WriteByte(value[k])
			continue
		}
		from, most, base := i, 3, 8
		switch s[i] {
		case 'x':
			from, most, base = i+1, 2, 16
		case 'u':
			from, most, base = i+1, 4, 16
		case 'U':
			from, most, base = i+1, 8, 16
		}
		to := from
		for to < len(s) && to < from+most && digit(s[to], base) {
			to++
		}
		v, err := strconv.ParseUint(s[from:to], base, 32)
		switch {
		case err != nil: // a quote or a backslash, say
			b.WriteByte(s[i])
			continue
		case most > 3:
			b.Write(utf8.AppendRune(nil, rune(v)))
		default:
			b.WriteByte(byte(v))
		}
		i = to - 1
	}
}

func digit(c byte, base int) bool {
	return c >= '0' && c < '8' || base == 16 && (c == '8' || c == '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
}

// quote gives a value as every shell reads it.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
