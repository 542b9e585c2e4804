package workspace

import (
	"slices"
	"strconv"
	"strings"
)

// unnumbered takes the line numbers that read_file shows (NUMBER, tab) off an edit whose old text was copied with them: every
// line of it has one, each the one after that before it. ok is false if that is not so, or if the edit is for other lines.
// Such text stands on the lines that the numbers name and nowhere else: without them it is short, and may be part of
// anything, and rows of a table begin with a number and a tab too. New text that has numbers has them on every line, or it
// can't be told what is meant, and the error says so.
func unnumbered(e Edit) (out Edit, ok bool, err error) {
	old, numbers := withoutNumbers(e.Old)
	for i, n := range numbers {
		if n == 0 || n != numbers[0]+i {
			return e, false, nil
		}
	}
	if e.Lines != nil && !slices.Contains(e.Lines, numbers[0]) {
		return e, false, nil
	}
	e.Old, e.Lines, e.All, e.whole = old, numbers[:1], false, true
	with, numbers := withoutNumbers(e.New)
	some := slices.ContainsFunc(numbers, func(n int) bool { return n > 0 })
	if some && slices.Contains(numbers, 0) {
		return e, true, refuse(codeNumbers, "every line of old_string begins with a line number of read_file, but not every line of new_string; leave the numbers out of both")
	}
	if some {
		e.New = with
	}
	return e, true, nil
}

// withoutNumbers takes a number and a tab off each line that begins with them, and gives the numbers, 0 for no number.
func withoutNumbers(text string) (string, []int) {
	var out strings.Builder
	var numbers []int
	for line := range strings.Lines(text) {
		digits, rest, ok := strings.Cut(strings.TrimLeft(line, " "), "\t")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 1 || digits != strconv.Itoa(n) {
			n, rest = 0, line
		}
		numbers = append(numbers, n)
		out.WriteString(rest)
	}
	return out.String(), numbers
}
