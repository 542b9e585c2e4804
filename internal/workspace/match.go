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
	// literal is text that every match holds; nil: none is known. Looking for it first is what makes a search fast.
	literal []byte
	// only says that the literal is the whole pattern.
	only bool
}

func newMatcher(pattern string, ignoreCase bool) (*matcher, error) {
	expr := "(?m:" + pattern + ")"
	if ignoreCase {
		expr = "(?i)" + expr
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, &PathError{CodeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &PathError{CodeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		tree = tree.Simplify()
		m.literal = []byte(required(tree))
		m.only = tree.Op == syntax.OpLiteral && len(m.literal) > 0
	}
	return m, nil
}

// required gives the longest literal that every match of the expression must hold.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// lines gives the matching lines of a file with their context, at most max hits.
func (m *matcher) lines(p string, data []byte, context, max int) (out []Line) {
	if len(m.literal) > 0 && !bytes.Contains(data, m.literal) {
		return nil
	}
	if bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // so that $ means the end of a line
	}
	number, counted := 1, 0 // number is that of the line at offset counted
	shown := 0              // last line that is in out
	for at, hits := 0, 0; at < len(data) && hits < max; {
		i := m.next(data[at:])
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(data[:at+i], '\n') + 1
		if start == len(data) {
			break // behind the final newline is no line
		}
		end := lineEnd(data, at+i)
		span := m.within(data[start:end])
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

// next gives the offset of the first byte where a match begins; the search must begin at a line's start.
func (m *matcher) next(data []byte) int {
	if m.only {
		return bytes.Index(data, m.literal)
	}
	if len(m.literal) > 0 {
		// No line before the first that holds the literal can match.
		i := bytes.Index(data, m.literal)
		if i < 0 {
			return -1
		}
		from := bytes.LastIndexByte(data[:i], '\n') + 1
		loc := m.re.FindIndex(data[from:])
		if loc == nil {
			return -1
		}
		return from + loc[0]
	}
	loc := m.re.FindIndex(data)
	if loc == nil {
		return -1
	}
	return loc[0]
}

func (m *matcher) within(line []byte) []int {
	if m.only {
		i := bytes.Index(line, m.literal)
		if i < 0 {
			return nil
		}
		return []int{i, i + len(m.literal)}
	}
	return m.re.FindIndex(line)
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
		if m.within(data[start:end]) != nil {
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
