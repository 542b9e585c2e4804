package workspace

import (
	"bytes"
	"iter"
	"sort"
	"strings"
)

// text is a file's text in UTF-8, with the line ends that it has.
type text struct {
	data   []byte
	starts []int // offsets at which lines start
	crlf   bool  // some lines end with CR LF
}

func newText(data []byte) *text {
	t := &text{data: data, starts: []int{0}, crlf: bytes.Contains(data, []byte("\r\n"))}
	for i, c := range data {
		if c == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// lines counts lines as read_file numbers them: a final newline begins no further one.
func (t *text) lines() int {
	n := len(t.starts)
	if t.starts[n-1] == len(t.data) {
		n--
	}
	return n
}

// line gives the number, from 1, of the line that holds the offset.
func (t *text) line(at int) int {
	return sort.SearchInts(t.starts, at+1)
}

// crlfAt tells whether the LF at the offset has a CR before it.
func (t *text) crlfAt(at int) bool { return at > 0 && t.data[at-1] == '\r' }

// find gives the offset of every match in order, overlapping ones too: two ways to place an edit are an ambiguity. It
// takes time linear in the data (Knuth, Morris, Pratt).
func find(data []byte, old string) iter.Seq[int] {
	return func(yield func(int) bool) {
		start := bytes.Index(data, []byte(old))
		if start < 0 {
			return
		}
		border := borders(old)
		have := 0 // bytes of old that the data before i ends with
		for i := start; i < len(data); i++ {
			for have > 0 && (have == len(old) || data[i] != old[have]) {
				have = int(border[have-1])
			}
			if data[i] == old[have] {
				have++
			}
			if have == len(old) && !yield(i+1-len(old)) {
				return
			}
		}
	}
}

// borders gives, for each beginning of s, the length of the longest shorter one that it also ends with.
func borders(s string) []int32 {
	out := make([]int32, len(s))
	n := int32(0)
	for i := 1; i < len(s); i++ {
		for n > 0 && s[i] != s[n] {
			n = out[n-1]
		}
		if s[i] == s[n] {
			n++
		}
		out[i] = n
	}
	return out
}

// mark is the byte order mark.
const mark = "\uFEFF"

// withMark leaves a file that begins with a byte order mark with one: what replaces the mark begins with it, and what is
// put right behind it does not.
func (t *text) withMark(with string, at int) string {
	switch {
	case at > len(mark) || !bytes.HasPrefix(t.data, []byte(mark)):
		return with
	case at == len(mark):
		return strings.TrimPrefix(with, mark)
	case strings.HasPrefix(with, mark):
		return with
	}
	return mark + with
}

// withEnds gives each line end of the new text the form of the one it takes the place of; those beyond, the form of
// the last one replaced; if none was replaced, that of the line which the text stands on, or of the line before.
func (t *text) withEnds(with string, from, to int) string {
	if !t.crlf || !strings.Contains(with, "\n") {
		return with
	}
	var ends []bool
	for i := from; i < to; i++ {
		if t.data[i] == '\n' {
			ends = append(ends, t.crlfAt(i))
		}
	}
	if len(ends) == 0 {
		ends = append(ends, t.endAround(from, to))
	}
	var out strings.Builder
	n := 0
	for line := range strings.SplitAfterSeq(with, "\n") {
		body, ended := strings.CutSuffix(line, "\n")
		out.WriteString(body)
		if ended {
			if ends[min(n, len(ends)-1)] {
				out.WriteByte('\r')
			}
			out.WriteByte('\n')
			n++
		}
	}
	return out.String()
}

func (t *text) endAround(from, to int) bool {
	if next := t.line(to); next < len(t.starts) {
		return t.crlfAt(t.starts[next] - 1)
	}
	if start := t.starts[t.line(from)-1]; start > 0 {
		return t.crlfAt(start - 1)
	}
	return false
}
