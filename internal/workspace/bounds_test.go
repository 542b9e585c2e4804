package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"overt/internal/workspace"
)

// TestSearchEnds: the end of the context ends a search inside a file too, in one line and in many.
func TestSearchEnds(t *testing.T) {
	for name, text := range map[string]string{
		"one line":   strings.Repeat("x", 30<<20),
		"many lines": strings.Repeat(strings.Repeat("x", 300)+"\n", 100_000),
	} {
		for _, q := range []workspace.SearchQuery{{Pattern: "(x{100}){2}y"}, {Pattern: "(x{100}){9}[^x]", IgnoreCase: true}, {Pattern: "x", Context: 10}} {
			t.Run(name+" "+q.Pattern, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				tree := open(t, dir)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				q.Path = "."
				began := time.Now()
				_, err := tree.Search(ctx, q)
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("took %v", took)
				}
				if q.Pattern != "x" && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestSearchLongLines: a line is searched whole, however long, and beside it others.
func TestSearchLongLines(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 1<<20)
	lay(t, dir, map[string]string{"f": "é first1\n" + long + "needle1" + long + "\nlast1\n" + long + "\nneedle2"})
	tree := open(t, dir)
	var got []int
	f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: `(needle|[a-z]+st)\d\b|\Aneedle`, Path: ".", Context: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.Lines {
		if l.Hit {
			got = append(got, l.Number)
		}
	}
	if !slices.Equal(got, []int{1, 3, 5}) { // needle1 stands before an x: no end of a word
		t.Errorf("lines %v", got)
	}
	if f, err = tree.Search(t.Context(), workspace.SearchQuery{Pattern: `e{2}dle\d`, Path: "."}); err != nil || f.Hits != 2 || !strings.Contains(f.Lines[0].Text, "needle1") {
		t.Errorf("%d hits, %v", f.Hits, err)
	}
}

// TestSearchAcrossLines: a pattern whose matches run over the ends of lines costs no more than one look at each line.
func TestSearchAcrossLines(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": strings.Repeat("a\n", 400_000) + "b\naxb"})
	tree := open(t, dir)
	began := time.Now()
	f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "(?s)a.+b", Path: "."})
	if err != nil || f.Hits != 1 || f.Lines[0].Number != 400_002 {
		t.Errorf("%+v, %v", f, err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestBegin: the beginning and the end of the text are those of a line.
func TestBegin(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": "b\nab\nb\n"})
	tree := open(t, dir)
	for pattern, want := range map[string][]string{`\Ab\z`: {"f:1:b", "f:3:b"}, `\A`: {"f:1:b", "f:2:ab", "f:3:b"}, `ab\z`: {"f:2:ab"}} {
		if got := hits(t, tree, workspace.SearchQuery{Pattern: pattern, Path: "."}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

// TestBounds: what a pattern or glob may cost is bounded before it is used.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": "x"})
	tree := open(t, dir)
	if _, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: strings.Repeat("(x{1000})", 100), Path: "."}); code(err) != "invalid" || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
	glob := strings.Repeat("{*a,*}", 20) + "c"
	if _, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "x", Path: ".", Glob: glob}); code(err) != "invalid" {
		t.Errorf("got %v", err)
	}
	if _, err := tree.List(t.Context(), workspace.ListQuery{Path: ".", Glob: glob}); code(err) != "invalid" {
		t.Errorf("got %v", err)
	}
	if _, err := tree.List(t.Context(), workspace.ListQuery{Path: ".", Glob: "src/**/{a,b,c}.{ts,tsx,js}"}); err != nil {
		t.Error(err)
	}
}

// TestWalkEnds: the end of the context ends a walk, also within one folder.
func TestWalkEnds(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a": "", "b/c": "", "b/d": ""})
	tree := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.List(ctx, workspace.ListQuery{Path: ".", Depth: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	_, err := tree.Search(ctx, workspace.SearchQuery{Pattern: "x", Path: ".", Skip: func(string) bool {
		seen++
		cancel()
		return false
	}})
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("%d files were seen, %v", seen, err)
	}
}
