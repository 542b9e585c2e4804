package workspace_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/workspace"
)

// TestReindent: a block that is written with other units and another depth than the file has is found, and what takes its
// place has the file's.
func TestReindent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"  ", "    ", "\t"})
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line ends")
		mine, theirs := unit.Draw(t, "unit"), unit.Draw(t, "unit of the file")
		base, depth := rapid.IntRange(0, 2).Draw(t, "base"), rapid.IntRange(0, 2).Draw(t, "base in the file")
		levels := append([]int{0, 1}, rapid.SliceOfN(rapid.IntRange(0, 3), 0, 6).Draw(t, "levels")...)
		fresh := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 8).Draw(t, "new levels")
		block := func(levels []int, unit string, base int, word, end string) string {
			var b strings.Builder
			for i, l := range levels {
				b.WriteString(strings.Repeat(unit, base+l) + word + strings.Repeat("x", i) + ";" + end)
			}
			return b.String()
		}
		around := strings.Repeat(theirs, depth) + "around;" + end
		file := around + block(levels, theirs, depth, "old", end) + around
		got, err := workspace.Replace(t.Context(), []byte(file), workspace.Edit{Old: block(levels, mine, base, "old", "\n"), New: block(fresh, mine, base, "new", "\n")})
		if err != nil {
			t.Fatalf("in %q: %v", file, err)
		}
		if got.How != workspace.HowIndent {
			return // old text stands in the file as it is, and new text is taken at its word
		}
		if want := around + block(fresh, theirs, depth, "new", end) + around; string(got.Bytes) != want {
			t.Fatalf("%q: got %q, want %q", file, got.Bytes, want)
		}
	})
}
