package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/workspace"
)

// layMany makes a tree of source-like files: 20 folders of 20 folders.
func layMany(b *testing.B, files int) *workspace.Tree {
	b.Helper()
	dir := b.TempDir()
	text := strings.Repeat("func name(a int, b string) error {\n\treturn nil // some comment here\n}\n\n", 60)
	for i := range files {
		d := filepath.Join(dir, fmt.Sprintf("d%02d/e%02d", i%20, i/20%20))
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
		body := text
		if i == files/2 {
			body += "the needle stands here\n"
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%05d.go", i)), []byte(body), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	tree, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tree.Close() })
	return tree
}

func BenchmarkSearch(b *testing.B) {
	tree := layMany(b, 20_000)
	for name, q := range map[string]workspace.SearchQuery{
		"literal":     {Pattern: "needle stands"},
		"ignore case": {Pattern: "NEEDLE stands", IgnoreCase: true},
		"expression":  {Pattern: `needle\s+st[a-z]+s`},
	} {
		q.Path = "."
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if f, err := tree.Search(b.Context(), q); err != nil || f.Hits != 1 {
					b.Fatal(f, err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	tree := layMany(b, 20_000)
	for b.Loop() {
		if l, err := tree.List(b.Context(), workspace.ListQuery{Path: ".", Depth: -1, Glob: "none"}); err != nil || l.More {
			b.Fatal(err)
		}
	}
}
