package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFindRootOfOthers: what somebody else put above the start folder does not become the root.
func TestFindRootOfOthers(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"shared/.git", "shared/mine/.git", "shared/mine/a", "shared/b"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	info := func(name string) fs.FileInfo {
		i, err := os.Stat(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	for name, c := range map[string]struct{ foreign, start, want string }{
		"nobody's":                 {"shared/b", "shared/b", "shared"},
		"a folder of others":       {"shared", "shared/b", "shared/b"},
		"a mark of others":         {"shared/.git", "shared/b", "shared/b"},
		"ours lies before it":      {"shared", "shared/mine/a", "shared/mine"},
		"the start is our word":    {"shared", "shared", "shared"},
		"or its mark":              {"shared/.git", "shared", "shared"},
		"a foreign mark is passed": {"shared/mine/.git", "shared/mine/a", "shared"},
	} {
		foreign := info(c.foreign)
		got := findRoot(filepath.Join(base, c.start), "", func(i fs.FileInfo) bool { return !os.SameFile(i, foreign) })
		if got != filepath.Join(base, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if !trusted(info("shared")) {
		t.Error("our own folder is not trusted")
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(base, "shared/.git"), 12345, -1); err != nil {
			t.Skip(err)
		}
		if trusted(info("shared/.git")) {
			t.Error("another user's folder is trusted")
		}
	}
}
