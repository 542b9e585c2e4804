package workspace

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	// maxShown bounds the bytes shown of one line.
	maxShown = 400

	// maxProgram bounds the instructions of a compiled pattern. A match takes time in proportion to text times pattern.
	maxProgram = 10_000

	// blockWork is how many bytes times instructions are searched between two looks at the context, some 100 ms at worst.
	blockWork = 8 << 20
	minBlock  = 4 << 10
	maxBlock  = 1 << 20
)

// matcher finds lines.
type matcher struct {
	re *regexp.Regexp
	// literal is text that every match holds, nil if none is known: looking for it first is what makes a search fast.
	literal
	// only says that the literal is the whole pattern.
	only bool
	// block is how many bytes are searched at a time.
	block int
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
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, &PathError{codeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	if inLines(tree) {
		expr = tree.String()
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err == nil && len(prog.Inst) > maxProgram {
		return nil, &PathError{codeInvalid, pattern, "the pattern is too large once its repetitions are written out; use smaller counts"}
	}
	re, err2 := regexp.Compile(expr)
	if err = cmp.Or(err, err2); err != nil {
		return nil, &PathError{codeInvalid, pattern, "the pattern is not RE2: " + err.Error()}
	}
	m := &matcher{re: re, block: min(max(blockWork/len(prog.Inst), minBlock), maxBlock)}
	tree = tree.Simplify()
	m.literal = required(tree)
	m.only = tree.Op == syntax.OpLiteral && !m.fold && len(m.text) > 0
	return m, nil
}

// inLines makes the beginning and the end of the text those of a line, for a line is what is searched, and tells whether
// the pattern speaks of them.
func inLines(re *syntax.Regexp) (changed bool) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op, changed = syntax.OpBeginLine, true
	case syntax.OpEndText:
		re.Op, changed = syntax.OpEndLine, true
	}
	for _, sub := range re.Sub {
		changed = inLines(sub) || changed
	}
	return changed
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

func appendLower(buf, data []byte) []byte {
	from := len(buf)
	buf = append(buf, data...)
	for i, c := range buf[from:] {
		buf[from+i] = lower(c)
	}
	return buf
}

// lines gives the matching lines of a file with their context, at most max hits. It uses buf, and gives it back for the
// next file. The end of ctx ends it soon, with less.
func (m *matcher) lines(ctx context.Context, p string, data, buf []byte, around, max int) ([]Line, []byte) {
	hay := data
	if m.fold {
		buf = appendLower(buf[:0], data)
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
	return m.scan(ctx, p, data, hay, around, max), buf
}

func (m *matcher) scan(ctx context.Context, p string, data, hay []byte, around, max int) (out []Line) {
	number, counted := 1, 0 // number is that of the line at offset counted
	shown := 0              // last line that is in out
	block := m.block
	for at, hits := 0, 0; at < len(data) && hits < max; {
		i := m.next(ctx, data[at:], hay[at:], block)
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(data[:at+i], '\n') + 1
		if start == len(data) {
			break // behind the final newline is no line
		}
		end := lineEnd(data, at+i)
		span := m.find(ctx, data[start:end])
		at = end + 1
		if span == nil {
			block = 0 // what matched ran over the line's end; more of that would have each line looked at many times
			continue
		}
		number += bytes.Count(data[counted:start], []byte("\n"))
		counted = start
		hits++
		out = appendBefore(out, p, data, start, number, around, shown)
		out = append(out, Line{p, number, excerpt(data[start:end], span), true})
		out, shown = m.appendAfter(ctx, out, p, data, end, number, around)
	}
	return out
}

// next gives the offset of the first byte where a match begins, or of one before it on its line; -1 if there is none,
// or ctx has ended. The text begins at a line's start; it is searched in blocks of whole lines.
func (m *matcher) next(ctx context.Context, data, hay []byte, block int) int {
	for from := 0; from < len(data) && ctx.Err() == nil; {
		if len(m.text) > 0 {
			i := bytes.Index(hay[from:], m.text)
			if i < 0 {
				return -1
			}
			i += from
			if m.only {
				return i
			}
			from = bytes.LastIndexByte(data[:i], '\n') + 1 // no line before can match
		}
		end := lineEnd(data, min(from+block, len(data)))
		if loc := m.find(ctx, data[from:end]); loc != nil {
			return from + loc[0]
		}
		from = end + 1
	}
	return -1
}

// find is the first match in a text: nil if there is none, or ctx has ended. Lines may be longer than a block.
func (m *matcher) find(ctx context.Context, text []byte) []int {
	if len(text) <= 2*m.block {
		return m.re.FindIndex(text)
	}
	loc := m.re.FindReaderIndex(&runes{ctx: ctx, rest: text, block: m.block})
	if ctx.Err() != nil {
		return nil
	}
	return loc
}

// runes reads a text that ends when its context does.
type runes struct {
	ctx         context.Context
	rest        []byte
	block, left int // bytes between two looks at ctx, and until the next
}

// ReadRune implements [io.RuneReader].
func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.left <= 0 {
		if err := r.ctx.Err(); err != nil {
			return 0, 0, err
		}
		r.left = r.block
	}
	if len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	r.left -= size
	return c, size, nil
}

func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(data)
}

// appendBefore adds the lines before a hit that are not in out yet.
func appendBefore(out []Line, p string, data []byte, start, number, around, shown int) []Line {
	from := len(out)
	for n := number - 1; n > shown && n >= number-around && start > 0; n-- {
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
func (m *matcher) appendAfter(ctx context.Context, out []Line, p string, data []byte, end, number, around int) ([]Line, int) {
	for ; around > 0 && end+1 < len(data); around-- {
		start := end + 1
		end = lineEnd(data, start)
		if m.find(ctx, data[start:end]) != nil {
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
