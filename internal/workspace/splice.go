package workspace

import (
	"bytes"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxCompared bounds the bytes of an edit whose lines are compared to find those that stay.
const maxCompared = 1 << 20

// hunk is a part of an edit: lines of the old text, from one up to another, and what takes their place.
type hunk struct {
	from, to int // to is past the last; the part of a line at either end counts as a line
	with     string
	line     int // of the new text on which with begins, from 0
}

// hunks gives what an edit changes. Lines that it leaves as they are are in none, so that what they look like in the
// file does not depend on how the model wrote them.
func hunks(old, with string) []hunk {
	if len(old)+len(with) > maxCompared {
		return []hunk{{0, lines(old), with, 0}}
	}
	var out []hunk
	done, from, line := 0, 0, 0
	for _, e := range udiff.Lines(old, with) {
		kept := strings.Count(old[done:e.Start], "\n")
		from, line = from+kept, line+kept
		h := hunk{from, from + lines(old[e.Start:e.End]), e.New, line}
		out = append(out, h)
		done, from, line = e.End, h.to, line+strings.Count(e.New, "\n")
	}
	return out
}

// lines counts lines; one without an end counts too.
func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// change is a part of the text that is replaced.
type change struct {
	from, to int
	with     string
}

// changes gives what the hunks replace at a match, or the line of the new text, from 1, that can't be indented.
func (t *text) changes(m match, hunks []hunk) (out []change, bad int) {
	row, at := 0, m.from // the start of a line of the match
	seek := func(line int) int {
		for ; row < line; row++ {
			i := bytes.IndexByte(t.data[at:m.to], '\n')
			if i < 0 {
				return m.to
			}
			at += i + 1
		}
		return at
	}
	for _, h := range hunks {
		with, bad := m.indent.apply(h.with, h.from == 0)
		if bad > 0 {
			return nil, h.line + bad
		}
		from := seek(h.from)
		to := seek(h.to)
		out = append(out, change{from, to, t.withMark(t.withEnds(with, from, to), from)})
	}
	return out, 0
}

// splice puts changes into the file's own bytes. Those outside stay as they are.
func (t *text) splice(data []byte, e Encoding, changes []change) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(data))
	done, raw := 0, 0 // in the text, and in the file
	for _, c := range changes {
		n := e.size(t.data[done:c.from])
		out.Write(data[raw : raw+n])
		with, err := e.bytes(c.with)
		if err != nil {
			return nil, err
		}
		out.Write(with)
		raw += n + e.size(t.data[c.from:c.to])
		done = c.to
	}
	out.Write(data[raw:])
	return out.Bytes(), nil
}
