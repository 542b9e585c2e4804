//go:build unix

package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"overt/internal/workspace"
)

func TestLinked(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".env", "a.txt", "x/.env", "x/y/a.txt", "alone/.env"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("KEY\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"h.txt": ".env", "x/y/h.txt": ".env", "x/y/i.txt": "x/.env", "b.txt": "a.txt", "j.txt": "x/.env", "x/y/[k]": "x/.env"} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Skip("no hard links here:", err)
		}
	}
	tree, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	secret := func(p string) bool { return filepath.Base(p) == ".env" }
	for p, want := range map[string]string{
		"h.txt": ".env", "x/y/h.txt": ".env", "x/y/i.txt": "x/.env", "x/y/[k]": "x/.env",
		"a.txt": "", "b.txt": "", ".env": "", "x/.env": "", "none": "", "x": "", "alone/.env": "", "j.txt": "", // its other name is further down
		"h*": ".env", "?.txt": ".env", "a*": "", "x/y/*": "x/.env", "x/y/a*": "", "x/[h": "", "*/y/a.txt": ".env", "alone/*": "",
	} {
		if got := tree.Linked(p, secret); got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
	found, err := tree.Search(context.Background(), workspace.SearchQuery{Pattern: "KEY", Path: ".", Skip: secret, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found.Skipped)
	if want := []string{".env", "alone/.env", "h.txt", "x/.env", "x/y/[k]", "x/y/h.txt", "x/y/i.txt"}; !slices.Equal(found.Skipped, want) {
		t.Errorf("left out %q, want %q", found.Skipped, want)
	}
	if found.Hits != 4 {
		t.Errorf("%d hits: %v", found.Hits, found.Lines)
	}
}
