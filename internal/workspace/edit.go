package workspace

import (
	"bytes"
	"fmt"
	"slices"
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
