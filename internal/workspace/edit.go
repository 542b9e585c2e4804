package workspace

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLines is how many different line numbers an [Edit] may name.
const maxLines = 64

// Codes of an [EditError].
const (
	codeEmptyOld   = "empty_old"   // nothing to look for
	codeSame       = "same"        // nothing would change
	CodeBadLines   = "bad_lines"   // the list of lines is empty, too long, or names no line
	codeNoMatch    = "no_match"    // the text is not there
	codeOtherLines = "other_lines" // the text is there, but starts on none of the lines
	codeSeveral    = "several"     // the text is there more than once
	CodeBinary     = "binary"      // the file holds a NUL byte
	codeEncoding   = "encoding"    // the file is not UTF-8
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

// Replace makes an edit, in time that does not grow faster than the sizes of data and edit; the end of ctx cuts short
// what an error says. Every byte outside the replaced text stays as it is; a missing final newline stays missing,
// and a byte order mark, which nobody sees, stays whether the texts have one or not.
// The error is an *EditError, and then nothing is changed.
func Replace(ctx context.Context, data []byte, e Edit) (Edited, error) {
	if err := editable(data); err != nil {
		return Edited{}, err
	}
	old, with := strings.ReplaceAll(e.Old, "\r\n", "\n"), strings.ReplaceAll(e.New, "\r\n", "\n")
	if old == "" {
		return Edited{}, refuse(codeEmptyOld, "old_string is empty; give the text to replace, or use write_file for a new file")
	}
	if old == with {
		return Edited{}, refuse(codeSame, "old_string and new_string are the same; nothing would change")
	}
	text := normalise(data)
	if err := checkLines(e.Lines, text.lines()); err != nil {
		return Edited{}, err
	}
	chosen, err := text.choose(ctx, old, e)
	if err != nil {
		return Edited{}, err
	}
	out := text.splice(data, chosen, len(old), with)
	if bytes.Equal(out.Bytes, data) {
		return Edited{}, refuse(codeSame, "nothing would change: the file keeps its byte order mark; to add or remove one, use run_command")
	}
	return out, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func editable(data []byte) error {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return refuse(CodeBinary, "the file is binary: byte %d is NUL. Text tools don't change it; use run_command", i+1)
	}
	if !utf8.Valid(data) {
		return refuse(codeEncoding, "the file is not UTF-8, so it can't be edited as text without harm; use run_command (iconv, sed)")
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
	if len(distinct) > maxLines {
		return refuse(CodeBadLines, "lines names %d lines; at most %d are taken. Read the file and edit it in several steps", len(distinct), maxLines)
	}
	if last := distinct[len(distinct)-1]; last > total {
		return refuse(CodeBadLines, "the file has only %s; %d in lines is past the end", count(total, "line"), last)
	}
	return nil
}

// choose gives the offsets that are to be replaced.
func (t *text) choose(ctx context.Context, old string, e Edit) ([]int, error) {
	lines := slices.Sorted(slices.Values(e.Lines))
	var all, pinned matches
	var out []int // with e.All every match that does not overlap an earlier one, else the first that is pinned
	line, end := 0, 0
	for at := range t.find(old) {
		for line < len(t.starts) && t.starts[line] <= at {
			line++
		}
		all.add(line)
		_, here := slices.BinarySearch(lines, line)
		if here = here || e.Lines == nil; here {
			pinned.add(line)
		}
		if e.All && at >= end || !e.All && here && pinned.count == 1 {
			out = append(out, at)
			end = at + len(old)
		}
	}
	switch {
	case all.count == 0:
		return nil, refuse(codeNoMatch, "old_string is nowhere in the file; %s", t.closest(ctx, old))
	case pinned.count == 0:
		return nil, refuse(codeOtherLines, "old_string does not start on %s; it starts on %s. Correct lines", lineList(lines), all)
	case pinned.count > 1 && !e.All && e.Lines == nil:
		return nil, refuse(codeSeveral, "old_string is there %d times, starting on %s; lengthen it, name the line in lines, or set replace_all", pinned.count, pinned)
	case pinned.count > 1 && !e.All:
		return nil, refuse(codeSeveral, "old_string starts %d times on %s; lengthen it or name fewer lines", pinned.count, pinned)
	}
	return out, nil
}

// matches counts matches and keeps the first lines that they start on.
type matches struct {
	count int
	lines []int
	last  int // line
	more  int // lines that are not kept
}

// shownLines is how many lines a message names.
const shownLines = 8

func (m *matches) add(line int) {
	m.count++
	switch {
	case line == m.last:
	case len(m.lines) < shownLines:
		m.lines = append(m.lines, line)
	default:
		m.more++
	}
	m.last = line
}

// String says which lines they are, the first few of them.
func (m matches) String() string {
	var s []string
	for _, n := range m.lines {
		s = append(s, strconv.Itoa(n))
	}
	out := "line " + strings.Join(s, ", ")
	if len(s) > 1 {
		out = "lines " + strings.Join(s, ", ")
	}
	if m.more > 0 {
		out += fmt.Sprintf(" and %d more", m.more)
	}
	return out
}

// lineList names lines that are in order.
func lineList(lines []int) string {
	var m matches
	for _, n := range lines {
		m.add(n)
	}
	return m.String()
}
