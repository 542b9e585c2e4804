package policy_test

import (
	"strings"
	"testing"

	"overt/internal/policy"
)

// TestBounds: no text takes long, however it is nested, and what is not looked into is high.
func TestBounds(t *testing.T) {
	deep := func(open, middle, end string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	quoted := "ls"
	for range 12 {
		quoted = "sh -c '" + strings.ReplaceAll(quoted, "'", `'\''`) + "'"
		if len(quoted) > 60<<10 {
			break
		}
	}
	for name, c := range map[string]struct {
		text string
		high bool
	}{
		"groups":         {deep("(", "ls", ")", 20_000), false},
		"blocks":         {deep("{ ", "ls", "; }", 20_000), false},
		"substitutions":  {deep("$(", "ls", ")", 20_000), false},
		"quotes":         {deep(`"$(`, "ls", `)"`, 5_000), false},
		"arithmetic":     {"echo " + deep("$((", "1", "))", 5_000), false},
		"loops":          {deep("while cd x; do ", "ls", "; done", 300), false},
		"loops that go":  {deep("for i in a; do cd b; ", "ls", "; done", 300), false},
		"braces":         {"echo " + strings.Repeat("{a,b}", 200), false},
		"nested braces":  {"echo " + deep("{a,", "b", "}", 2_000), false},
		"conditions":     {strings.Repeat("if ls; then ", 3_000) + "ls" + strings.Repeat("; fi", 3_000), false},
		"functions":      {deep("f() { ", "ls", "; }", 3_000), false},
		"many":           {strings.Repeat("ls\n", 30_000), true},
		"shells":         {quoted, true},
		"long":           {"echo " + strings.Repeat("x", 200<<10), true},
		"values":         {strings.Repeat("x=$x$x ; ", 5_000) + "ls $x", false},
		"growing":        {"x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 60) + "ls $x", false},
		"words":          {"for i in " + strings.Repeat("a ", 20_000) + "; do ls $i$i; done", false},
		"sums":           {"x='" + strings.Repeat("a+", 20_000) + "1'; " + strings.Repeat("((x)); ", 500), false},
		"sums of sums":   {"x='" + strings.Repeat("y+", 400) + "1'; y='" + strings.Repeat("z+", 400) + "1'; " + strings.Repeat("((x)); ", 500), false},
		"loops of reads": {deep("while read a; do for i in *; do ", "ls", "; done; done", 100), false},
		"pipes":          {strings.Repeat("cat | ", 15_000) + "cat", false},
		"a long sed":     {"sed '" + strings.Repeat("s/a/b/;", 15_000) + "' f", false},
		"a long awk":     {"awk '" + strings.Repeat("{print}", 15_000) + "' f", false},
		"a long make":    {"make " + strings.Repeat("a ", 30_000), false},
	} {
		// That it ends is the point: without bounds these take minutes, or all the memory there is.
		r := policy.Command(c.text, ".", files{"Makefile": "a: b\nb: a\nV = $(V)$(V)\nW = $(V)$(W)\na:\n\techo $(V) $(W)\n"})
		if c.high && r.Grade != policy.High {
			t.Errorf("%s: %s", name, r.Grade)
		}
	}
}
