package workspace

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLines is how many different line numbers an [Edit] may name.
const MaxLines = 64

// Codes of an [EditError].
const (
	CodeEmptyOld   = "empty_old"   // nothing to look for
	CodeSame       = "same"        // nothing would change
	CodeBadLines   = "bad_lines"   // the list of lines is empty, too long, or names no line
	CodeNoMatch    = "no_match"    // the text is not there
	CodeOtherLines = "other_lines" // the text is there, but starts on none of the lines
	CodeSeveral    = "several"     // the text is there more than once
	CodeBinary     = "binary"      // the file holds a NUL byte
	CodeEncoding   = "encoding"    // the file is not UTF-8
)

// Edit replaces exact text. Line ends match each other: LF in Old stands for what the file has, and what is put in
// gets the line ends of its place.
type Edit struct {
	Old, New string
	// Lines are the lines, from 1, on which a match may start; nil: any. The match must be the only one there.
	Lines []int
	// All replaces every match in the file. If Lines is given too, at least one match must start on them.
	All bool
}

// Edited is what an [Edit] made. Lines says where the replaced text started, from 1, each line once.
type Edited struct {
	Bytes []byte
	Count int
	Lines []int
}

// EditError says why an edit can't be made, and what to do instead.
type EditError struct{ Code, Text string }

// Error implements error.
func (e *EditError) Error() string { return e.Text }

func refuse(code, format string, a ...any) error {
	return &EditError{code, fmt.Sprintf(format, a...)}
}

// Replace makes an edit. Every byte outside the replaced text stays as it is; a missing final newline stays missing.
// The error is an *EditError, and then nothing is changed.
func Replace(data []byte, e Edit) (Edited, error) {
	if err := editable(data); err != nil {
		return Edited{}, err
	}
	old, with := strings.ReplaceAll(e.Old, "\r\n", "\n"), strings.ReplaceAll(e.New, "\r\n", "\n")
	if old == "" {
		return Edited{}, refuse(CodeEmptyOld, "old_string is empty; give the text to replace, or use write_file for a new file")
	}
	if old == with {
		return Edited{}, refuse(CodeSame, "old_string and new_string are the same; nothing would change")
	}
	text := normalise(data)
	if err := checkLines(e.Lines, text.lines()); err != nil {
		return Edited{}, err
	}
	found := text.find(old)
	chosen, err := choose(text, found, old, e)
	if err != nil {
		return Edited{}, err
	}
	return text.splice(data, chosen, len(old), with), nil
}

func editable(data []byte) error {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return refuse(CodeBinary, "the file is binary: byte %d is NUL. Text tools don't change it; use run_command", i+1)
	}
	if !utf8.Valid(data) {
		return refuse(CodeEncoding, "the file is not UTF-8, so it can't be edited as text without harm; use run_command (iconv, sed)")
	}
	return nil
}

// checkLines looks at the given list as it is: duplicates count once towards the limit.
func checkLines(lines []int, total int) error {
	if lines == nil {
		return nil
	}
	if len(lines) == 0 {
		return refuse(CodeBadLines, "lines is an empty list; name at least one line, or leave lines out to look in the whole file")
	}
	for i, n := range lines {
		if n < 1 {
			return refuse(CodeBadLines, "element %d of lines is %d; lines are numbered from 1", i+1, n)
		}
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(lines)))
	if len(distinct) > MaxLines {
		return refuse(CodeBadLines, "lines names %d lines; at most %d are taken. Read the file and edit it in several steps", len(distinct), MaxLines)
	}
	if last := distinct[len(distinct)-1]; last > total {
		return refuse(CodeBadLines, "the file has only %d lines; %d in lines is past the end", total, last)
	}
	return nil
}

// choose gives the offsets that are to be replaced.
func choose(text *text, found []int, old string, e Edit) ([]int, error) {
	if len(found) == 0 {
		return nil, refuse(CodeNoMatch, "old_string is nowhere in the file; %s", text.closest(old))
	}
	pinned := found
	if e.Lines != nil {
		pinned = nil
		for _, at := range found {
			if slices.Contains(e.Lines, text.line(at)) {
				pinned = append(pinned, at)
			}
		}
	}
	switch {
	case len(pinned) == 0:
		return nil, refuse(CodeOtherLines, "old_string does not start on %s; it starts on %s. Correct lines", lineList(e.Lines), text.where(found))
	case e.All:
		return disjoint(found, len(old)), nil
	case len(pinned) > 1 && e.Lines == nil:
		return nil, refuse(CodeSeveral, "old_string is there %d times, starting on %s; lengthen it, name the line in lines, or set replace_all", len(pinned), text.where(pinned))
	case len(pinned) > 1:
		return nil, refuse(CodeSeveral, "old_string starts %d times on these lines: %s; lengthen it or name fewer lines", len(pinned), text.where(pinned))
	}
	return pinned, nil
}

// disjoint leaves out matches that overlap an earlier one.
func disjoint(found []int, size int) []int {
	var out []int
	end := 0
	for _, at := range found {
		if at >= end {
			out = append(out, at)
			end = at + size
		}
	}
	return out
}

// text is a file with all line ends as LF, and the way back to its bytes.
type text struct {
	data    []byte
	dropped []int // offsets in data of the LFs that had a CR before them, ascending
	starts  []int // offsets in data at which lines start
}

func normalise(data []byte) *text {
	t := &text{data: data, starts: []int{0}}
	if bytes.Contains(data, []byte("\r\n")) {
		t.data = make([]byte, 0, len(data))
		for i, c := range data {
			if c == '\r' && i+1 < len(data) && data[i+1] == '\n' {
				t.dropped = append(t.dropped, len(t.data))
				continue
			}
			t.data = append(t.data, c)
		}
	}
	for i, c := range t.data {
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

// find gives the offset of every match, overlapping ones too: two ways to place an edit are an ambiguity.
func (t *text) find(old string) []int {
	var out []int
	for at := 0; ; {
		i := bytes.Index(t.data[at:], []byte(old))
		if i < 0 {
			return out
		}
		out = append(out, at+i)
		at += i + 1
	}
}

// origin gives the offset in the file's own bytes of an offset in the text. That of an LF that had a CR is the CR's.
func (t *text) origin(at int) int {
	return at + sort.SearchInts(t.dropped, at)
}

// crlf tells whether the LF at the offset had a CR before it.
func (t *text) crlf(at int) bool {
	i := sort.SearchInts(t.dropped, at)
	return i < len(t.dropped) && t.dropped[i] == at
}

func (t *text) splice(data []byte, at []int, size int, with string) Edited {
	var out bytes.Buffer
	out.Grow(len(data) + len(at)*len(with))
	e := Edited{Count: len(at)}
	done := 0
	for _, i := range at {
		out.Write(data[done:t.origin(i)])
		out.WriteString(t.withEnds(with, i, i+size))
		done = t.origin(i + size)
		if n := t.line(i); len(e.Lines) == 0 || e.Lines[len(e.Lines)-1] != n {
			e.Lines = append(e.Lines, n)
		}
	}
	out.Write(data[done:])
	e.Bytes = out.Bytes()
	return e
}

// withEnds gives each line end of the new text the form of the one it takes the place of; those beyond, the form of
// the last one replaced; if none was replaced, that of the line which the text stands on, or of the line before.
func (t *text) withEnds(with string, from, to int) string {
	if len(t.dropped) == 0 || !strings.Contains(with, "\n") {
		return with
	}
	var ends []bool
	for i := from; i < to; i++ {
		if t.data[i] == '\n' {
			ends = append(ends, t.crlf(i))
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
	if i := bytes.IndexByte(t.data[to:], '\n'); i >= 0 {
		return t.crlf(to + i)
	}
	if i := bytes.LastIndexByte(t.data[:from], '\n'); i >= 0 {
		return t.crlf(i)
	}
	return false
}

// where says on which lines matches start, the first few of them.
func (t *text) where(found []int) string {
	var lines []int
	for _, at := range found {
		lines = append(lines, t.line(at))
	}
	return lineList(lines)
}

func lineList(lines []int) string {
	const most = 8
	distinct := slices.Compact(slices.Sorted(slices.Values(lines)))
	var s []string
	for _, n := range distinct[:min(len(distinct), most)] {
		s = append(s, strconv.Itoa(n))
	}
	word := "line "
	if len(distinct) > 1 {
		word = "lines "
	}
	out := word + strings.Join(s, ", ")
	if len(distinct) > most {
		out += fmt.Sprintf(" and %d more", len(distinct)-most)
	}
	return out
}
