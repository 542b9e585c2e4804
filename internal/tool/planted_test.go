//go:build unix

package tool_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/store"
	"overt/internal/tool"
)

// TestPlanted: what a command made or changed of what others obey is put back, and nothing else.
func TestPlanted(t *testing.T) {
	const submodule = "mkdir -p .git/modules/sub sub; echo 'gitdir: ../.git/modules/sub' > sub/.git"
	const bare = "mkdir -p d/objects d/refs d/hooks; echo 'ref: refs/heads/main' > d/HEAD; echo > d/config"
	for name, c := range map[string]struct {
		before, command string
		back            []string
	}{
		"instructions":                {"", "echo x > AGENTS.md; echo x > README.md", []string{"AGENTS.md"}},
		"a commit":                    {"mkdir -p .git/refs .git/objects; echo > .git/HEAD", "echo x > .git/HEAD; echo x > .git/refs/main; echo x > .git/index", nil},
		"a hook":                      {"mkdir -p .git/hooks", "echo x > .git/hooks/pre-commit", []string{".git/hooks/pre-commit"}},
		"objects from elsewhere":      {"mkdir -p .git/refs .git/objects/info; echo > .git/HEAD", "echo /else > .git/objects/info/alternates; mkdir .git/objects/aa; echo x > .git/objects/aa/b", []string{".git/objects/info/alternates"}},
		"changed":                     {"mkdir -p .git/refs .git/objects/info; echo > .git/HEAD; echo /one > .git/objects/info/alternates", "echo /else > .git/objects/info/alternates", []string{".git/objects/info/alternates"}},
		"taken away":                  {"mkdir -p .git/refs .git/objects/info; echo > .git/HEAD; echo /one > .git/objects/info/alternates", "rm -r .git/objects/info", []string{".git/objects/info", ".git/objects/info/alternates"}},
		"of a bare repository":        {bare, "mkdir d/objects/info; echo /else > d/objects/info/alternates", []string{"d/objects/info", "d/objects/info/alternates"}},
		"folders for it":              {"", "mkdir -p .github/workflows a/.config/fish; echo > .github/workflows/x.yml; echo > a/.config/fish/x", []string{".github", ".github/workflows", ".github/workflows/x.yml", "a/.config", "a/.config/fish", "a/.config/fish/x"}},
		"that hold more":              {"", "mkdir -p .github/workflows; echo > .github/workflows/x.yml; echo > .github/dependabot.yml", []string{".github/workflows", ".github/workflows/x.yml"}},
		"that were there":             {"mkdir .github", "mkdir .github/workflows; echo > .github/workflows/x.yml", []string{".github/workflows", ".github/workflows/x.yml"}},
		"that are empty":              {"", "mkdir .github", nil},
		"of a submodule":              {"mkdir -p .git/refs .git/objects; echo > .git/HEAD", "mkdir -p .git/modules/x/hooks; echo > .git/modules/x/hooks/update; echo > .git/modules/x/config", []string{".git/modules", ".git/modules/x", ".git/modules/x/config", ".git/modules/x/hooks", ".git/modules/x/hooks/update"}},
		"a repository":                {"", "mkdir -p d/.git; echo > d/.git/HEAD; echo > d/.git/config", []string{"d/.git", "d/.git/HEAD", "d/.git/config"}},
		"a file that leads to one":    {"", "echo 'gitdir: else' > .git", []string{".git"}},
		"a submodule led elsewhere":   {submodule, "echo 'gitdir: ../else' > sub/.git; mkdir else", []string{"sub/.git"}},
		"a submodule led by a link":   {submodule, "ln -sf ../else sub/.git; mkdir else", []string{"sub/.git"}},
		"a folder become a file":      {"mkdir .git; echo > .git/HEAD", "rm -r .git; echo 'gitdir: else' > .git", []string{".git", ".git/HEAD"}},
		"a submodule's work":          {submodule, "echo x > .git/modules/sub/index; echo x > sub/a", nil},
		"a bare repository":           {"", bare, []string{"d/HEAD", "d/config", "d/hooks", "d/objects", "d/refs"}},
		"of which some was there":     {"mkdir -p d/objects d/refs; echo > d/objects/a", "echo > d/HEAD; echo > d/a", []string{"d/HEAD"}},
		"objects come last":           {"mkdir d; echo > d/HEAD; mkdir d/refs", "mkdir d/objects", []string{"d/objects"}},
		"refs come last":              {"mkdir d; echo > d/HEAD; mkdir d/objects; echo > d/objects/a", "mkdir d/refs", []string{"d/refs"}},
		"that has its parts far away": {"mkdir d e; mkdir e/objects e/refs", "echo > d/HEAD; echo ../e > d/commondir", []string{"d/HEAD", "d/commondir"}},
		"the workspace becomes one":   {"mkdir objects refs", "echo > HEAD; echo > a", []string{"HEAD"}},
		"one that was there":          {bare, "echo x > d/HEAD; echo x > d/refs/main; echo x > d/config; echo x > d/hooks/update", []string{"d/config", "d/hooks/update"}},
		"names that others have, too": {"", "mkdir -p src/hooks src/refs src/config; echo > src/hooks/use.ts; echo > src/HEAD; echo > src/config/info", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			sh := func(script string) {
				cmd := exec.Command("sh", "-ec", script)
				cmd.Dir = root
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v", out, err)
				}
			}
			ctx := context.Background()
			s, err := store.Open(ctx, store.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			k, err := checkpoint.Open(checkpoint.Options{Root: root, Files: s.Files, Watch: checkpoint.Watch{May: tool.MayPlant, Planted: tool.Planted}})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			sh(c.before)
			if _, _, err := k.Before(ctx, event.Scope{Task: "t"}, "chk_1", nil, true, nil); err != nil {
				t.Fatal(err)
			}
			sh(c.command)
			back, left, err := k.PutBack(ctx, "chk_1")
			if err != nil || len(left) > 0 || !slices.Equal(back, c.back) {
				t.Errorf("put back %q, want %q; left %q, %v", back, c.back, left, err)
			}
			closed, err := k.After(ctx, "chk_1")
			if err != nil || slices.ContainsFunc(closed.Changes, func(e event.Change) bool { return slices.Contains(back, e.Path) }) {
				t.Errorf("%+v, %v", closed.Changes, err)
			}
		})
	}
}
