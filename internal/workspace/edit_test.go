package workspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"overt/internal/workspace"
)

// covers A051 L197 L204 L205
func TestReplace(t *testing.T) {
	for _, c := range []struct {
		name, data string
		edit       workspace.Edit
		want       string
		lines      []int
	}{
		{"unique", "a\nb\nc\n", workspace.Edit{Old: "b", New: "x"}, "a\nx\nc\n", []int{2}},
		{"no final newline stays", "a\nb", workspace.Edit{Old: "b", New: "x"}, "a\nx", []int{2}},
		{"delete a line", "a\nb\nc\n", workspace.Edit{Old: "b\n", New: ""}, "a\nc\n", []int{2}},
		{"append", "a\n", workspace.Edit{Old: "a\n", New: "a\nb\n"}, "a\nb\n", []int{1}},
		{"pinned", "x\nx\nx\n", workspace.Edit{Old: "x", New: "y", Lines: []int{2}}, "x\ny\nx\n", []int{2}},
		{"pinned by several lines", "x\na\nb\nx\n", workspace.Edit{Old: "x", New: "y", Lines: []int{2, 3, 4}}, "x\na\nb\ny\n", []int{4}},
		{"duplicates count once", "x\nx\n", workspace.Edit{Old: "x", New: "y", Lines: []int{1, 1, 1}}, "y\nx\n", []int{1}},
		{"only the start must be on the line", "a\nb\na\nb\n", workspace.Edit{Old: "a\nb", New: "z", Lines: []int{3}}, "a\nb\nz\n", []int{3}},
		{"all", "x x\nx\n", workspace.Edit{Old: "x", New: "yy", All: true}, "yy yy\nyy\n", []int{1, 2}},
		{"all with lines changes the whole file", "x\nx\nx\n", workspace.Edit{Old: "x", New: "y", All: true, Lines: []int{2}}, "y\ny\ny\n", []int{1, 2, 3}},
		{"all does not overlap", "aaaa a\n", workspace.Edit{Old: "aa", New: "b", All: true}, "bb a\n", []int{1}},
		{"CRLF matched by LF", "a\r\nb\r\nc\r\n", workspace.Edit{Old: "a\nb\n", New: "x\ny\nz\n"}, "x\r\ny\r\nz\r\nc\r\n", []int{1}},
		{"CRLF within one line", "a\r\nb\r\n", workspace.Edit{Old: "a", New: "x\ny"}, "x\r\ny\r\nb\r\n", []int{1}},
		{"CRLF on the last line without an end", "a\r\nb", workspace.Edit{Old: "b", New: "x\ny"}, "a\r\nx\r\ny", []int{2}},
		{"CRLF in the call, LF in the file", "a\nb\n", workspace.Edit{Old: "a\r\nb", New: "x\r\ny"}, "x\ny\n", []int{1}},
		{"mixed: each place its own", "a\r\nb\nc\r\n", workspace.Edit{Old: "a\nb\nc\n", New: "1\n2\n3\n4\n"}, "1\r\n2\n3\r\n4\r\n", []int{1}},
		{"mixed: LF part", "a\r\nb\nc\n", workspace.Edit{Old: "b\n", New: "x\ny\n"}, "a\r\nx\ny\nc\n", []int{2}},
		{"match that begins with a line end", "a\r\nb\r\n", workspace.Edit{Old: "\nb", New: "\nx"}, "a\r\nx\r\n", []int{1}},
		{"lone CR is a character", "a\rb\n", workspace.Edit{Old: "a\rb", New: "c\rd"}, "c\rd\n", []int{1}},
		{"CR CR LF", "a\r\r\nb\n", workspace.Edit{Old: "b", New: "x"}, "a\r\r\nx\n", []int{2}},
		{"BOM stays", "\uFEFFa\nb\n", workspace.Edit{Old: "a", New: "x"}, "\uFEFFx\nb\n", []int{1}},
		{"BOM in the new text only", "\uFEFFa\nb\n", workspace.Edit{Old: "a", New: "\uFEFFx"}, "\uFEFFx\nb\n", []int{1}},
		{"BOM in the old text only", "\uFEFFa\nb\n", workspace.Edit{Old: "\uFEFFa", New: "x"}, "\uFEFFx\nb\n", []int{1}},
		{"BOM in both", "\uFEFFa\nb\n", workspace.Edit{Old: "\uFEFFa", New: "\uFEFFx"}, "\uFEFFx\nb\n", []int{1}},
		{"BOM, all", "\uFEFFa a\r\n", workspace.Edit{Old: "a", New: "\uFEFFx", All: true}, "\uFEFFx \uFEFFx\r\n", []int{1}},
		{"BOM in front", "a\n", workspace.Edit{Old: "a", New: "\uFEFFa"}, "\uFEFFa\n", []int{1}},
		{"not ASCII", "漢字\n日本\n", workspace.Edit{Old: "日本", New: "中国"}, "漢字\n中国\n", []int{2}},
		{"last line of the file may be pinned", "a\nb", workspace.Edit{Old: "b", New: "x", Lines: []int{2}}, "a\nx", []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := workspace.Replace(t.Context(), []byte(c.data), c.edit)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes) != c.want || !slices.Equal(got.Lines, c.lines) {
				t.Errorf("got %q at %v, want %q at %v", got.Bytes, got.Lines, c.want, c.lines)
			}
		})
	}
}

// TestReplaceOfTheMark: an edit that would only touch the byte order mark changes nothing, and says so.
func TestReplaceOfTheMark(t *testing.T) {
	for _, e := range []workspace.Edit{{Old: "a", New: "\uFEFFa"}, {Old: "\uFEFFa", New: "a"}, {Old: "\uFEFF", New: ""}} {
		var ee *workspace.EditError
		if _, err := workspace.Replace(t.Context(), []byte("\uFEFFa\n"), e); !errors.As(err, &ee) || ee.Code != "same" || !strings.Contains(ee.Text, "byte order mark") {
			t.Errorf("%+q: got %v", e.Old, err)
		}
	}
}

// covers A053 L200 L201 L202 L203 L205
func TestReplaceErrors(t *testing.T) {
	many := make([]int, 65)
	for i := range many {
		many[i] = i + 1
	}
	long := strings.Repeat("x\n", 100)
	for _, c := range []struct {
		name, data string
		edit       workspace.Edit
		code       string
		says       []string
	}{
		{"empty old", "a\n", workspace.Edit{New: "x"}, "empty_old", []string{"old_string is empty"}},
		{"same", "a\n", workspace.Edit{Old: "a", New: "a"}, "same", []string{"same"}},
		{"same but for line ends", "a\r\nb\n", workspace.Edit{Old: "a\r\nb", New: "a\nb"}, "same", nil},
		{"empty list", "a\n", workspace.Edit{Old: "a", New: "b", Lines: []int{}}, workspace.CodeBadLines, []string{"empty list", "leave lines out"}},
		{"below 1", "a\n", workspace.Edit{Old: "a", New: "b", Lines: []int{1, 0}}, workspace.CodeBadLines, []string{"element 2", "is 0"}},
		{"past the end", "a\nb\nc\n", workspace.Edit{Old: "a", New: "b", Lines: []int{99}}, workspace.CodeBadLines, []string{"only 3 lines", "99"}},
		{"a final newline begins no line", "a\nb\n", workspace.Edit{Old: "a", New: "b", Lines: []int{3}}, workspace.CodeBadLines, []string{"only 2 lines"}},
		{"too many lines", long, workspace.Edit{Old: "x", New: "b", Lines: many}, workspace.CodeBadLines, []string{"65 lines", "at most 64"}},
		{"elsewhere", "a\nb\nc\n", workspace.Edit{Old: "c", New: "x", Lines: []int{1}}, "other_lines", []string{"does not start on line 1", "starts on line 3"}},
		{"elsewhere, many", long, workspace.Edit{Old: "x\nx\nx", New: "b", Lines: []int{100}}, "other_lines", []string{"lines 1, 2, 3", "and 90 more"}},
		{"all, but none on the lines", "a\nb\n", workspace.Edit{Old: "b", New: "x", Lines: []int{1}, All: true}, "other_lines", []string{"starts on line 2"}},
		{"several", "x\ny\nx\n", workspace.Edit{Old: "x", New: "b"}, "several", []string{"2 times", "lines 1, 3", "replace_all"}},
		{"several on one line", "x x\n", workspace.Edit{Old: "x", New: "b", Lines: []int{1}}, "several", []string{"2 times"}},
		{"overlapping matches are several", "aaa\n", workspace.Edit{Old: "aa", New: "b"}, "several", []string{"2 times"}},
		{"nowhere", "a\nb\n", workspace.Edit{Old: "zzzz", New: "b"}, "no_match", []string{"nowhere", "read the file again"}},
		{"nowhere, but like it", "one\n  return foo(bar, 1)\nthree\n", workspace.Edit{Old: "return foo(baz, 1)", New: "b"}, "no_match", []string{"line 2", "alike"}},
		{"nested otherwise", "if a:\n    x()\ny()\n", workspace.Edit{Old: "if a:\n  x()\n  y()", New: "b"}, "no_match", []string{"lines 1-3", "only in white space"}},
		{"white space within a line", "one\na  = b\n", workspace.Edit{Old: "a = b", New: "b"}, "no_match", []string{"line 2 differs only in white space. Read it and"}},
		{"past the end of a line", "a\n", workspace.Edit{Old: "a", New: "b", Lines: []int{2}}, workspace.CodeBadLines, []string{"only 1 line;"}},
		{"binary", "a\x00b", workspace.Edit{Old: "a", New: "b"}, workspace.CodeBinary, []string{"byte 2"}},
		{"unknown encoding takes ASCII only", "a\xff\x01b", workspace.Edit{Old: "a", New: "ä"}, "encoding", []string{"not known", "ä (U+00E4, line 1"}},
		{"empty file", "", workspace.Edit{Old: "a", New: "b"}, "no_match", nil},
		{"lines in an empty file", "", workspace.Edit{Old: "a", New: "b", Lines: []int{1}}, workspace.CodeBadLines, []string{"only 0 lines"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := workspace.Replace(t.Context(), []byte(c.data), c.edit)
			var e *workspace.EditError
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v", got, err)
			}
			if e.Code != c.code {
				t.Errorf("code %s, want %s", e.Code, c.code)
			}
			for _, s := range c.says {
				if !strings.Contains(e.Text, s) {
					t.Errorf("%q does not say %q", e.Text, s)
				}
			}
			if strings.Contains(e.Text, "\n") {
				t.Errorf("%q has several lines", e.Text)
			}
		})
	}
}

// TestReplaceKeepsTheRest: whatever the line ends, an edit changes the matched span and nothing else, and what comes
// out reads as if the edit had been made on text with plain line ends.
func TestReplaceKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", "b", "ab", "漢", " "})
		end := rapid.SampledFrom([]string{"\n", "\r\n"})
		var data strings.Builder
		n := rapid.IntRange(1, 8).Draw(t, "lines")
		for i := range n {
			data.WriteString(word.Draw(t, "word") + word.Draw(t, "word"))
			if i < n-1 || rapid.Bool().Draw(t, "final") {
				data.WriteString(end.Draw(t, "end"))
			}
		}
		before := data.String()
		plain := strings.ReplaceAll(before, "\r\n", "\n")
		if plain == "" {
			return
		}
		runes := []rune(plain)
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(runes)).Draw(t, "to")
		old := string(runes[from:to])
		with := strings.ReplaceAll(strings.Join(rapid.SliceOfN(word, 0, 3).Draw(t, "new"), "\n"), "\r\n", "\n")
		all := rapid.Bool().Draw(t, "all")

		got, err := workspace.Replace(t.Context(), []byte(before), workspace.Edit{Old: old, New: with, All: all})
		if err != nil {
			var e *workspace.EditError
			if !errors.As(err, &e) || e.Code != "several" && e.Code != "same" {
				t.Fatalf("%q in %q: %v", old, before, err)
			}
			return
		}
		out := string(got.Bytes)
		if all {
			if want := strings.ReplaceAll(plain, old, with); strings.ReplaceAll(out, "\r\n", "\n") != want {
				t.Fatalf("all %q -> %q in %q: got %q", old, with, before, out)
			}
			return
		}
		// It is one of the places, and the bytes before and after it are those of the file.
		for at := range plain {
			if !strings.HasPrefix(plain[at:], old) || strings.ReplaceAll(out, "\r\n", "\n") != plain[:at]+with+plain[at+len(old):] {
				continue
			}
			if strings.HasPrefix(out, before[:offset(before, at)]) && strings.HasSuffix(out, before[offset(before, at+len(old)):]) {
				return
			}
		}
		t.Fatalf("%q -> %q in %q: got %q", old, with, before, out)
	})
}

// offset finds the place in text with its own line ends of a place in text with plain ones.
func offset(text string, plain int) int {
	i := 0
	for ; plain > 0; plain-- {
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		i++
	}
	return i
}

func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb\nc", "a\nb", "x\n", 1, false)
	f.Add("xx", "x", "", 0, true)
	f.Fuzz(func(t *testing.T, data, old, with string, line int, all bool) {
		e := workspace.Edit{Old: old, New: with, All: all}
		if line != 0 {
			e.Lines = []int{line}
		}
		got, err := workspace.Replace(t.Context(), []byte(data), e)
		if err != nil {
			return
		}
		if got.Count < 1 || len(got.Lines) < 1 {
			t.Fatalf("%+v", got)
		}
		if utf8.ValidString(data) && strings.Count(data, "\r\n") == strings.Count(data, "\n") && strings.Count(with, "\r") == 0 && strings.Count(data, "\r") == strings.Count(data, "\r\n") && strings.Count(data, "\n") > 0 {
			if out := string(got.Bytes); strings.Count(out, "\r\n") != strings.Count(out, "\n") {
				t.Fatalf("%q became %q: mixed line ends", data, out)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"change", "a\nb\nc\n", "a\nx\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"no final newline", "a", "b", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
		{"line ends are seen", "a\r\n", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+a\n"},
		{"same", "a\n", "a\n", ""},
		{"binary", "a\x00", "b", ""},
		{"too large to read", "", strings.Repeat("line\n", 100_000), ""},
		{"too large to make", strings.Repeat("line\n", 1_000_000), "x", ""},
	} {
		if got := workspace.Diff("f", []byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%s: got %.300q", c.name, got)
		}
	}
	if got := workspace.Diff("f", nil, []byte("a\n")); got != "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n" {
		t.Errorf("new file: got %q", got)
	}
}

// TestFailedEditIsCheap: what makes no match takes the time that the sizes ask for, however alike the lines are and
// however the matches overlap.
func TestFailedEditIsCheap(t *testing.T) {
	within(t, func() {
		many := []byte(strings.Repeat("    if err := step(ctx, value); err != nil {\n", 20_000))
		old := strings.Repeat("    if err := step(ctx, values); err != nil {\n", 400)
		_, err := workspace.Replace(t.Context(), many, workspace.Edit{Old: old, New: "x"})
		if err == nil || !strings.Contains(err.Error(), "lines 1-400 (9") {
			t.Errorf("alike lines: %v", err)
		}
		same := bytes.Repeat([]byte("a"), 4<<20)
		_, err = workspace.Replace(t.Context(), same, workspace.Edit{Old: strings.Repeat("a", 2<<20), New: "x"})
		if err == nil || !strings.Contains(err.Error(), "2097153 times, starting on line 1;") {
			t.Errorf("overlapping matches: %v", err)
		}
		_, err = workspace.Replace(t.Context(), append(bytes.Clone(same), 'b'), workspace.Edit{Old: "a ", New: "x"})
		if err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("a long line: %v", err)
		}
		got, err := workspace.Replace(t.Context(), append(same, "\r\n"...), workspace.Edit{Old: "a", New: "b\n", All: true})
		if err != nil || got.Count != 4<<20 || !bytes.HasSuffix(got.Bytes, []byte("b\r\nb\r\n\r\n")) {
			t.Errorf("a long line in pieces: %v", err)
		}
		braces := bytes.Repeat([]byte("  }\n"), 1_000_000)
		_, err = workspace.Replace(t.Context(), braces, workspace.Edit{Old: strings.Repeat("\t}\n", 100_000), New: "x"})
		if err == nil || !strings.Contains(err.Error(), "too many places") {
			t.Errorf("lines of one kind: %v", err)
		}
	})
}

// TestClosestFindsTheBlock: a first line that is everywhere does not hide the place.
// covers A053
func TestClosestFindsTheBlock(t *testing.T) {
	var data strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&data, "{\n\tcall%d(first, second)\n}\n", i*7919)
	}
	_, err := workspace.Replace(t.Context(), []byte(data.String()), workspace.Edit{Old: "{\n\tcall11878500(first, third)\n}\n", New: "x"})
	if err == nil || !strings.Contains(err.Error(), "the closest is lines 4501-4503 (") {
		t.Errorf("%v", err)
	}
}

func BenchmarkReplace(b *testing.B) {
	var data bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&data, "line %d of the file, which is long\r\n", i)
	}
	b.SetBytes(int64(data.Len()))
	for b.Loop() {
		if _, err := workspace.Replace(b.Context(), data.Bytes(), workspace.Edit{Old: "line 40000 of\n", New: "x"}); err == nil {
			b.Fatal("no error")
		}
		if _, err := workspace.Replace(b.Context(), data.Bytes(), workspace.Edit{Old: "line 40000 of", New: "x"}); err != nil {
			b.Fatal(err)
		}
	}
}
