package workspace

import (
	"bytes"
	"iter"
	"strings"
)

// How a match was found: the steps of the ladder, from the strictest on.
const (
	HowExact   = "exact"
	HowEnds    = "line_ends"   // but for the form of line ends
	HowUnicode = "unicode"     // but for composed characters and typographic quotes, dashes and spaces
	HowSpace   = "white_space" // but for white space at line ends
	HowIndent  = "indentation"
)

// match is a place in the text that an edit may replace.
type match struct {
	from, to int
	indent   *indent // how new text is indented there; nil: as it is given
}

// step finds the places for one degree of tolerance. Tolerance says where text stands and no more: what differs in a
// place is given up only with the lines that the edit changes.
type step struct {
	how     string
	matches iter.Seq[match]
	gaveUp  bool // there were too many places to look at all
}

// ladder gives the steps in order, each made when it is come to. Nobody sees line ends, so that one who wants every place
// means those with either: then the first step is only for text without any, and for files in which all are LF.
func (t *text) ladder(old string, every bool) iter.Seq[*step] {
	return func(yield func(*step) bool) {
		if !(every && t.crlf && strings.Contains(old, "\n")) && !yield(&step{how: HowExact, matches: t.exact(old)}) {
			return
		}
		lf := strings.ReplaceAll(old, "\r\n", "\n")
		if t.crlf || lf != old {
			if !yield(&step{how: HowEnds, matches: withLF(t.data).matches(lf)}) {
				return
			}
		}
		v, needle := folded(t.data), folded([]byte(old))
		if !yield(&step{how: HowUnicode, matches: v.matches(string(needle.data))}) {
			return
		}
		if len(bytes.Trim(needle.data, blanks+"\n")) == 0 {
			return // white space alone is no text to be tolerant about
		}
		if !yield(&step{how: HowSpace, matches: t.trailing(trimmed(v, false), needle)}) {
			return
		}
		s := &step{how: HowIndent}
		s.matches = t.indented(s, trimmed(v, true), needle)
		yield(s)
	}
}

// exact gives the places that hold the very bytes. A CR LF is one line end: no match begins or ends inside it.
func (t *text) exact(old string) iter.Seq[match] {
	return func(yield func(match) bool) {
		for at := range find(t.data, old) {
			end := at + len(old)
			if t.data[at] == '\n' && t.crlfAt(at) || end < len(t.data) && t.data[end] == '\n' && t.data[end-1] == '\r' {
				continue
			}
			if !yield(match{from: at, to: end}) {
				return
			}
		}
	}
}

// matches gives the places of a needle in a view.
func (v *view) matches(needle string) iter.Seq[match] {
	return func(yield func(match) bool) {
		for at := range find(v.data, needle) {
			from, ok := v.from(at)
			to, ok2 := v.to(at + len(needle))
			if ok && ok2 && !yield(match{from: from, to: to}) {
				return
			}
		}
	}
}

// trailing gives the places that fit but for white space at line ends, of which the view has none.
func (t *text) trailing(v, needle *view) iter.Seq[match] {
	short := string(trimmed(needle, false).data)
	return func(yield func(match) bool) {
		for m := range v.matches(short) {
			if t.toEnd(&m, needle) && !yield(m) {
				return
			}
		}
	}
}

// toEnd looks at a place where white space at the end of the needle was left out of the comparison, in the middle of a
// line: it is white space at a line end only if the line ends there too. Then the place includes what the line has.
func (t *text) toEnd(m *match, needle *view) bool {
	if len(bytes.TrimRight(needle.data, blanks)) == len(needle.data) {
		return true
	}
	end := m.to
	for end < len(t.data) && strings.IndexByte(blanks, t.data[end]) >= 0 {
		end++
	}
	m.to = end
	rest := t.data[end:]
	return len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n"))
}
