package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxLines is how many different line numbers an [Edit] may name.
const maxLines = 64

// Codes of an [EditError].
const (
	codeEmptyOld    = "empty_old"   // nothing to look for
	codeSame        = "same"        // nothing would change
	CodeBadLines    = "bad_lines"   // the list of lines is empty, too long, or names no line
	codeNoMatch     = "no_match"    // the text is not there
	codeOtherLines  = "other_lines" // the text is there, but starts on none of the lines
	codeSeveral     = "several"     // the text is there more than once
	codeIndent      = "indentation" // the text is there, but new text can't be indented as it is
	codePlaceholder = "placeholder" // a line of new text stands for text left out
	codeNumbers     = "numbers"     // line numbers of read_file in some lines of new text
	CodeBinary      = "binary"      // the file holds a NUL byte, and is not UTF-16
	codeEncoding    = "encoding"    // the file's encoding can't hold new text
)

// Edit replaces text. Old is looked for with growing tolerance: the very bytes; any form of line ends; composed
// characters and typographic quotes, dashes and spaces as ASCII; white space at line ends; indentation. The first of these
// that finds it anywhere counts. Tolerance finds a place, and never one where anything else differs.
type Edit struct {
	Old, New string
	// Lines are the lines, from 1, on which a match may start; nil: any. The match must be the only one there.
	Lines []int
	// All replaces every match in the file. If Lines is given too, at least one match must start on them.
	All bool
	// Was is the encoding of the file when it was last seen, see [DecodeAs].
	Was Encoding
	// whole says that a match begins with a line, or behind its byte order mark or indentation, and that a place on
	// another line than Lines is none.
	whole bool
}

// Edited is what an [Edit] made. Lines says where the replaced text started, from 1, each line once.
type Edited struct {
	Bytes    []byte
	Count    int
	Lines    []int
	How      string // the step that found the text: HowExact and the others
	Numbered bool   // line numbers that read_file shows were taken off the texts
	Encoding Encoding
}

// EditError says why an edit can't be made, and what to do instead.
type EditError struct{ Code, Text string }

// Error implements error.
func (e *EditError) Error() string { return e.Text }

func refuse(code, format string, a ...any) error {
	return &EditError{code, fmt.Sprintf(format, a...)}
}

// Replace makes an edit, in time that does not grow faster than the sizes of data and edit; the end of ctx cuts short
// what an error says.
//
// Every byte of the file outside the lines that Old and New do not share stays as it is, whatever its encoding; a missing
// final newline stays missing, and a byte order mark, which nobody sees, stays whether the texts have one or not. New text
// is put in in the file's encoding, with the line ends of its place, and, where Old was found but for its indentation, with
// that of the file. Line numbers of read_file are taken off both texts if Old is found only without, and on those lines.
//
// The error is an *EditError, and then nothing is changed.
func Replace(ctx context.Context, data []byte, e Edit) (Edited, error) {
	src, enc, err := DecodeAs(e.Was, data)
	if err != nil {
		return Edited{}, err
	}
	if e.Old == "" {
		return Edited{}, refuse(codeEmptyOld, "old_string is empty; give the text to replace, or use write_file for a new file")
	}
	if e.Old == e.New {
		return Edited{}, refuse(codeSame, "old_string and new_string are the same; nothing would change")
	}
	if err := Placeholder("new_string", e.New, e.Old); err != nil {
		return Edited{}, err
	}
	t := newText(src)
	if err := checkLines(e.Lines, t.lines()); err != nil {
		return Edited{}, err
	}
	if enc.stray && strings.Contains(e.Old, "\uFFFD") {
		return Edited{}, refuse(codeEncoding, "U+FFFD in old_string only stands for bytes of the file that can't be shown, so it can't be looked for; choose old_string without the lines that have it, or change those bytes with run_command")
	}
	if _, err := enc.Encode(e.New); err != nil {
		return Edited{}, err
	}
	out, err := t.replace(ctx, data, enc, e)
	var miss *EditError
	if errors.As(err, &miss) && miss.Code == codeNoMatch {
		if plain, ok, wrong := unnumbered(e); ok {
			if _, _, lost := t.choose(ctx, plain); lost != nil {
				return Edited{}, err // numbers of the file's own, perhaps
			}
			if wrong != nil {
				return Edited{}, wrong
			}
			out, err = t.replace(ctx, data, enc, plain)
			out.Numbered = true
		}
	}
	if err != nil {
		return Edited{}, err
	}
	return out, nil
}

// replace makes an edit whose texts are taken as they are.
func (t *text) replace(ctx context.Context, data []byte, enc Encoding, e Edit) (Edited, error) {
	old, with := strings.ReplaceAll(e.Old, "\r\n", "\n"), strings.ReplaceAll(e.New, "\r\n", "\n")
	if old == with {
		return Edited{}, refuse(codeSame, "old_string and new_string are the same but for line ends, which the file keeps; nothing would change")
	}
	chosen, how, err := t.choose(ctx, e)
	if err != nil {
		return Edited{}, err
	}
	parts := []hunk{{0, lines(old), with, 0}}
	if how != HowExact || t.crlf {
		parts = hunks(old, with)
	}
	out := Edited{Count: len(chosen), How: how, Encoding: enc}
	var changes []change
	for _, m := range chosen {
		c, bad := t.changes(m, parts)
		if bad > 0 {
			return Edited{}, refuse(codeIndent, "old_string fits line %d but for its indentation, and line %d of new_string is indented less than any line of old_string, so it can't be fitted; read the file and indent both as it does", t.line(m.from), bad)
		}
		changes = append(changes, c...)
		if n := t.line(m.from); len(out.Lines) == 0 || out.Lines[len(out.Lines)-1] != n {
			out.Lines = append(out.Lines, n)
		}
	}
	if out.Bytes, err = t.splice(data, enc, changes); err != nil {
		return Edited{}, refuse(codeEncoding, "the file is %s and can't hold the new text: %v", enc.name, err)
	}
	if bytes.Equal(out.Bytes, data) {
		if strings.Contains(e.Old+e.New, mark) {
			return Edited{}, refuse(codeSame, "nothing would change: the file keeps its byte order mark; to add or remove one, use run_command")
		}
		return Edited{}, refuse(codeSame, "nothing would change: line %d already has the text of new_string", out.Lines[0])
	}
	return out, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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

// Apart says in words what the step of the ladder did not look at, "" for the first.
func Apart(how string) string {
	switch how {
	case HowEnds:
		return " apart from line ends"
	case HowUnicode:
		return " apart from Unicode forms (composed characters, typographic quotes, dashes, spaces)"
	case HowSpace:
		return " apart from white space at line ends"
	case HowIndent:
		return " apart from indentation"
	}
	return ""
}

// choose gives the places that are to be replaced, and the step that found them.
func (t *text) choose(ctx context.Context, e Edit) ([]match, string, error) {
	lines := slices.Compact(slices.Sorted(slices.Values(e.Lines)))
	for s := range t.ladder(e.Old, e.All) {
		all, pinned, out := t.collect(s, lines, e)
		like := Apart(s.how)
		switch {
		case s.gaveUp:
			return nil, "", refuse(codeSeveral, "old_string fits too many places%s; copy the text exactly as the file has it", like)
		case all.count == 0:
			continue
		case pinned.count == 0:
			return nil, "", refuse(codeOtherLines, "old_string does not start on %s; it starts on %s%s. Correct lines", lineList(lines), all, like)
		case pinned.count > 1 && !e.All && e.Lines == nil:
			return nil, "", refuse(codeSeveral, "old_string is there %d times%s, starting on %s; lengthen it, name the line in lines, or set replace_all", pinned.count, like, pinned)
		case pinned.count > 1 && !e.All:
			return nil, "", refuse(codeSeveral, "old_string starts %d times on %s%s; lengthen it or name fewer lines", pinned.count, pinned, like)
		}
		return out, s.how, nil
	}
	return nil, "", refuse(codeNoMatch, "old_string is nowhere in the file; %s", t.closest(ctx, strings.ReplaceAll(e.Old, "\r\n", "\n")))
}

// collect takes the matches of a step: every one that does not overlap an earlier one, or the first that starts on one of
// the lines, if there are any. It counts all of them, and those on the lines.
func (t *text) collect(s *step, lines []int, e Edit) (all, pinned matches, out []match) {
	line, end := 0, 0
	for m := range s.matches {
		for line < len(t.starts) && t.starts[line] <= m.from {
			line++
		}
		_, here := slices.BinarySearch(lines, line)
		here = here || len(lines) == 0
		if e.whole && !(here && t.begins(m, line)) {
			continue
		}
		all.add(line)
		if here {
			pinned.add(line)
		}
		if e.All && m.from >= end || !e.All && here && pinned.count == 1 {
			out = append(out, m)
			end = m.to
		}
	}
	return all, pinned, out
}

// begins tells whether a match is at the beginning of a line. Those that differ in indentation all are.
func (t *text) begins(m match, line int) bool {
	start := t.starts[line-1]
	return m.indent != nil || m.from == start || string(t.data[start:m.from]) == mark
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
