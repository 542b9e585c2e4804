package workspace

import (
	"bytes"
	"regexp"
	"regexp/syntax"
)

// maxShown bounds the bytes shown of one line.
const maxShown = 400

// matcher finds lines.
type matcher struct {
	re *regexp.Regexp
	// literal is text that every match holds, nil if none is known: looking for it first is what makes a search fast.
	literal
	// only says that the literal is the whole pattern.
	only bool
}

// literal is text to look for. If fold is set it is ASCII in lower case, to be looked for in text made lower case.
type literal struct {
	text []byte
	fold bool
}

func newMatcher(pattern string, ignoreCase bool) (*matcher, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, &PathError{codeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	expr := "(?m:" + pattern + ")"
	if ignoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &PathError{codeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.literal = required(tree)
		m.only = tree.Op == syntax.OpLiteral && !m.fold && len(m.text) > 0
	}
	return m, nil
}

// required gives the longest literal that every match of the expression must hold.
func required(re *syntax.Regexp) literal {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return literal{text: []byte(string(re.Rune))}
		}
		return foldable(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best literal
		for _, sub := range re.Sub {
			if l := required(sub); len(l.text) > len(best.text) {
				best = l
			}
		}
		return best
	}
	return literal{}
}

// foldable gives the longest part in which case is a matter of ASCII: k and s are also other characters' lower case
// (U+212A, U+017F).
func foldable(runes []rune) literal {
	var best, run []byte
	for _, r := range append(runes[:len(runes):len(runes)], 'k') {
		if r|0x20 == 'k' || r|0x20 == 's' || r >= 0x80 {
			if len(run) > len(best) {
				best = run
			}
			run = nil
			continue
		}
		run = append(run, lower(byte(r)))
	}
	return literal{best, true}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lines gives the matching lines of a file with their context, at most max hits. It uses buf, and gives it back for the next file.
func (m *matcher) lines(p string, data, buf []byte, context, max int) ([]Line, []byte) {
	hay := data
	if m.fold {
		buf = append(buf[:0], data...)
		for i, c := range buf {
			buf[i] = lower(c)
		}
		hay = buf
	}
	if len(m.text) > 0 && !bytes.Contains(hay, m.text) {
		return nil, buf
	}
	if bytes.Contains(data, []byte("\r\n")) { // so that $ means the end of a line
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		hay = data
		if m.fold {
			hay = bytes.ReplaceAll(buf, []byte("\r\n"), []byte("\n"))
		}
	}
	return m.scan(p, data, hay, context, max), buf
}

func (m *matcher) scan(p string, data, hay []byte, context, max int) (out []Line) {
	number, counted := 1, 0 // number is that of the line at offset counted
	shown := 0              // last line that is in out
	for at, hits := 0, 0; at < len(data) && hits < max; {
		i := m.next(data[at:], hay[at:])
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(data[:at+i], '\n') + 1
		if start == len(data) {
			break // behind the final newline is no line
		}
		end := lineEnd(data, at+i)
		span := m.re.FindIndex(data[start:end])
		at = end + 1
		if span == nil {
			continue // what matched ran over the line's end
		}
		number += bytes.Count(data[counted:start], []byte("\n"))
		counted = start
		hits++
		out = appendBefore(out, p, data, start, number, context, shown)
		out = append(out, Line{p, number, excerpt(data[start:end], span), true})
		shown = number
		out, shown = m.appendAfter(out, p, data, end, number, context)
	}
	return out
}

// next gives the offset of the first byte where a match begins, or of one before it on its line; the text begins at a
// line's start.
func (m *matcher) next(data, hay []byte) int {
	from := 0
	if len(m.text) > 0 {
		i := bytes.Index(hay, m.text)
		if i < 0 || m.only {
			return i
		}
		from = bytes.LastIndexByte(data[:i], '\n') + 1 // no line before can match
	}
	loc := m.re.FindIndex(data[from:])
	if loc == nil {
		return -1
	}
	return from + loc[0]
}

func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(data)
}

// appendBefore adds the lines before a hit that are not in out yet.
func appendBefore(out []Line, p string, data []byte, start, number, context, shown int) []Line {
	from := len(out)
	for n := number - 1; n > shown && n >= number-context && start > 0; n-- {
		end := start - 1
		start = bytes.LastIndexByte(data[:end], '\n') + 1
		out = append(out, Line{p, n, excerpt(data[start:end], nil), false})
	}
	for i, j := from, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// appendAfter adds the lines after a hit up to the next one, and says which was the last.
func (m *matcher) appendAfter(out []Line, p string, data []byte, end, number, context int) ([]Line, int) {
	for ; context > 0 && end+1 < len(data); context-- {
		start := end + 1
		end = lineEnd(data, start)
		if m.re.Match(data[start:end]) {
			break
		}
		number++
		out = append(out, Line{p, number, excerpt(data[start:end], nil), false})
	}
	return out, number
}

// excerpt shows a line, or what is around the match where it is long.
func excerpt(line []byte, span []int) string {
	cut := func(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
	if len(line) <= maxShown {
		return cut(line)
	}
	from := 0
	if span != nil && span[0] > maxShown/4 {
		from = span[0] - maxShown/4
	}
	to := min(from+maxShown, len(line))
	s := cut(line[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(line) {
		s += "…"
	}
	return s
}
