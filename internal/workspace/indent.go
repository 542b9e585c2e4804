package workspace

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxIndents is how many different indentations an edit may have.
	maxIndents = 64
	// maxFitted bounds the lines whose indentation is looked at in one search.
	maxFitted = 20 << 20
)

// indent is how the indentation of old text became that of the file: pairs of white space, the first of the text, the
// second of the file, the shortest first.
type indent struct {
	pairs [][2]string
	// inner says that the match begins behind the indentation of its first line, as old text without one does.
	inner bool
}

// indented gives the places whose lines fit but for white space around them, and are indented as the needle is: lines
// that are alike there are alike here, and one that is deeper there is deeper here. A block nested otherwise is another
// block. A match begins with a line.
func (t *text) indented(s *step, v, needle *view) iter.Seq[match] {
	short := string(trimmed(needle, true).data)
	lines := strings.SplitAfter(string(needle.data), "\n")
	return func(yield func(match) bool) {
		left := maxFitted
		for at := range find(v.data, short) {
			if at > 0 && v.data[at-1] != '\n' {
				continue
			}
			if left -= len(lines); left < 0 {
				s.gaveUp = true
				return
			}
			if m, ok := t.fit(v, at, at+len(short), lines); ok && t.toEnd(&m, needle) && !yield(m) {
				return
			}
		}
	}
}

// fit compares the indentation of a needle's lines with that of the lines at a place of the view.
func (t *text) fit(v *view, at, end int, lines []string) (match, bool) {
	from, ok := v.from(at)
	to, ok2 := v.to(end)
	if !ok || !ok2 {
		return match{}, false
	}
	in := &indent{}
	row := t.line(from) - 1
	start := t.starts[row]
	for i := 1; i < len(lines); i++ {
		if body := strings.TrimLeft(lines[i], blanks); body != "" && body != "\n" {
			theirs, ok := t.indentation(t.starts[row+i])
			if !ok || !in.add(lines[i][:len(lines[i])-len(body)], theirs) {
				return match{}, false
			}
		}
	}
	mine := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], blanks))]
	theirs, ok := t.indentation(start)
	switch whole := (&indent{pairs: slices.Clone(in.pairs)}); {
	case strings.Trim(lines[0], blanks+"\n") == "":
	case !ok:
		return match{}, false
	case whole.add(mine, theirs) && whole.nested():
		in = whole
	case mine == "" && len(in.pairs) > 0:
		in.inner = true
		start += len(theirs)
	default:
		return match{}, false
	}
	return match{from: start, to: to, indent: in}, in.nested()
}

// indentation is the white space with which a line begins. ok is false if some of it is not ASCII, as paragraphs of Chinese
// have it: no unit of it can be told, and it would be lost.
func (t *text) indentation(at int) (space string, ok bool) {
	end := at
	for end < len(t.data) && strings.IndexByte(blanks, t.data[end]) >= 0 {
		end++
	}
	r, _ := utf8.DecodeRune(t.data[end:])
	return string(t.data[at:end]), fold(r) != ' '
}

// add takes a pair in, if it does not contradict another.
func (in *indent) add(mine, theirs string) bool {
	for _, p := range in.pairs {
		if p[0] == mine {
			return p[1] == theirs
		}
	}
	in.pairs = append(in.pairs, [2]string{mine, theirs})
	return len(in.pairs) <= maxIndents
}

// nested brings the pairs in order, and tells whether each is deeper than the one before on both sides.
func (in *indent) nested() bool {
	slices.SortFunc(in.pairs, func(a, b [2]string) int { return cmp.Compare(len(a[0]), len(b[0])) })
	for i := 1; i < len(in.pairs); i++ {
		a, b := in.pairs[i-1], in.pairs[i]
		if !strings.HasPrefix(b[0], a[0]) || !strings.HasPrefix(b[1], a[1]) || len(b[1]) == len(a[1]) {
			return false
		}
	}
	return true
}

// apply indents new text as the file does where the match is. first says that it begins with the first line of the match.
// It gives the number of the line, from 1, whose indentation is like none of the old text, and 0 if there is none.
func (in *indent) apply(with string, first bool) (out string, bad int) {
	if in == nil {
		return with, 0
	}
	var b strings.Builder
	n := 0
	mine, theirs := in.units(with)
	for line := range strings.SplitAfterSeq(with, "\n") {
		n++
		body := strings.TrimLeft(line, blanks)
		space := line[:len(line)-len(body)]
		if body == "" || body == "\n" || first && n == 1 && in.inner {
			b.WriteString(line)
			continue
		}
		to, ok := in.of(space, mine, theirs)
		if !ok {
			return "", n
		}
		b.WriteString(to)
		b.WriteString(body)
	}
	return b.String(), 0
}

// of gives the file's indentation for one of the new text: that of a line of the old text which is indented alike, or that
// of the nearest one with the difference in the file's units.
func (in *indent) of(space, mine, theirs string) (string, bool) {
	convert := func(s string) string {
		if mine == "" {
			return s
		}
		n := 0
		for strings.HasPrefix(s[n*len(mine):], mine) {
			n++
		}
		return strings.Repeat(theirs, n) + s[n*len(mine):]
	}
	for _, p := range slices.Backward(in.pairs) {
		if rest, ok := strings.CutPrefix(space, p[0]); ok {
			return p[1] + convert(rest), true
		}
	}
	for _, p := range in.pairs {
		if rest, ok := strings.CutPrefix(p[0], space); ok {
			return strings.CutSuffix(p[1], convert(rest))
		}
	}
	return "", false
}

// units gives a step of indentation of the text and the same one of the file, "" where both are the same: from the first
// two indentations that the old text has, or from its only one and the new text. The only one may be of another depth in
// the file, and then it says nothing of a step.
func (in *indent) units(with string) (mine, theirs string) {
	p := in.pairs[0]
	if len(in.pairs) > 1 {
		q := in.pairs[1]
		return reduced(q[0][len(p[0]):], q[1][len(p[1]):])
	}
	more, tabs := deeper(with, p[0]), strings.Contains(p[1], "\t")
	if p[1] == "" || tabs == strings.Contains(p[0]+more, "\t") {
		return "", ""
	}
	if p[0] != "" && (more == "" || !tabs) {
		mine, theirs = reduced(p[0], p[1])
		if more == "" || theirs != "" && len(theirs) <= maxStep {
			return mine, theirs
		}
	}
	switch {
	case more == "":
		return "", ""
	case tabs:
		return more, "\t"
	case len(p[1])%4 == 0:
		return "\t", "    "
	}
	return "\t", p[1]
}

// maxStep is how many spaces are taken for one step of indentation where more could be several.
const maxStep = 4

// deeper gives the shortest white space that a line begins with beyond the given one.
func deeper(text, space string) string {
	out := ""
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, blanks)
		more, ok := strings.CutPrefix(line[:len(line)-len(body)], space)
		if ok && more != "" && body != "\n" && body != "" && (out == "" || len(more) < len(out)) {
			out = more
		}
	}
	return out
}

// reduced divides two runs of white space by what their lengths have in common.
func reduced(mine, theirs string) (string, string) {
	g, b := len(mine), len(theirs)
	for b > 0 {
		g, b = b, g%b
	}
	m, t := mine[:len(mine)/g], theirs[:len(theirs)/g]
	if m == t || strings.Repeat(m, g) != mine || strings.Repeat(t, g) != theirs {
		return "", ""
	}
	return m, t
}
