package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"overt/internal/workspace"
)

func open(t *testing.T, dir string) *workspace.Tree {
	t.Helper()
	tree, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// lay writes files; a name that ends with a slash is a folder, text that begins with "-> " a link.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch target, link := strings.CutPrefix(text, "-> "); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		case link:
			err = os.Symlink(target, p)
		default:
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func fifo(t *testing.T, p string) {
	t.Helper()
	if err := syscall.Mkfifo(p, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, p string) string {
	t.Helper()
	data, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func code(err error) string {
	var pe *workspace.PathError
	var ch *workspace.Changed
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pe):
		return pe.Code
	case errors.As(err, &ch):
		return "changed"
	}
	return "other: " + err.Error()
}

// within fails the test when f takes long: a read that blocks must not block the tests.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("blocked")
	}
}

func TestFindRoot(t *testing.T) {
	base := t.TempDir()
	lay(t, base, map[string]string{
		"home/.git/": "", "home/project/.git/": "", "home/project/a/b/": "", "home/loose/a/": "",
		"home/own/.overt/": "", "home/own/x/": "", "tree/.git": "gitdir: elsewhere\n", "tree/x/": "", "alias": "-> home",
	})
	home := filepath.Join(base, "home")
	for start, want := range map[string]string{
		"home/project":     "home/project",
		"home/project/a/b": "home/project",
		"home/loose/a":     "home/loose/a", // home has .git, but is home
		"home":             "home",
		"home/own/x":       "home/own",
		"tree/x":           "tree", // a worktree: .git is a file
		"alias/loose/a":    "alias/loose/a",
	} {
		if got := workspace.FindRoot(filepath.Join(base, start), home); got != filepath.Join(base, want) {
			t.Errorf("%s: got %s, want %s", start, got, want)
		}
	}
	if got := workspace.FindRoot("/", ""); got != "/" {
		t.Errorf("/: got %s", got)
	}
}

func TestRel(t *testing.T) {
	base := t.TempDir()
	lay(t, base, map[string]string{"real/sub/f": "", "real-evil/f": "", "alias": "-> real"})
	tree := open(t, filepath.Join(base, "alias"))
	for in, want := range map[string]string{
		"a":                                      "a",
		"./a//b/../c":                            "a/c",
		".":                                      ".",
		filepath.Join(base, "alias/sub/f"):       "sub/f",
		filepath.Join(base, "real/sub/f"):        "sub/f",
		filepath.Join(base, "real/new/f"):        "new/f",
		filepath.Join(base, "real"):              ".",
		filepath.Join(base, "real-evil/f"):       "outside",
		filepath.Join(base, "alias/../x"):        "outside",
		"..":                                     "outside",
		"a/../../b":                              "outside",
		"/":                                      "outside",
		"/etc/passwd":                            "outside",
		"":                                       "invalid",
		"a\x00b":                                 "invalid",
		"..a":                                    "..a",
		filepath.Join(base, "real/../real/sub/"): "sub",
	} {
		got, err := tree.Rel(in)
		if err != nil {
			got = code(err)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// links lays the links of the known ways out, and a folder outside.
func links(t *testing.T) (tree *workspace.Tree, root, outside string) {
	base := t.TempDir()
	root, outside = filepath.Join(base, "ws"), filepath.Join(base, "outside")
	lay(t, base, map[string]string{
		"outside/existing.txt": "secret needle\n", "ws/sub/f": "inside\n", "ws/in": "-> sub", "ws/abs": "-> " + root + "/sub",
		"ws/out": "-> " + outside, "ws/up": "-> ../outside", "ws/dang": "-> " + outside + "/new.txt", "ws/loop": "-> loop",
		"ws/twice": "-> in/f", "ws/later": "-> sub/later", "ws/a/b/deep": "-> ../../../outside/existing.txt",
	})
	return open(t, root), root, outside
}

func TestLinks(t *testing.T) {
	tree, root, outside := links(t)
	for p, want := range map[string]string{
		"out/a.txt": "outside", "out/new/dir/a.txt": "outside", "dang": "outside", "sub/../out/a.txt": "outside",
		"out/existing.txt": "outside", "up/existing.txt": "outside", "a/b/deep": "outside", "loop": "loop", "loop/x": "loop",
		"in/a.txt": "", "abs/b.txt": "", "later": "",
	} {
		rel, err := tree.Rel(p)
		if err == nil {
			err = writeAt(tree, rel, []byte("new"), "")
		}
		if code(err) != want {
			t.Errorf("write %s: got %v, want %q", p, err, want)
		}
	}
	for p, want := range map[string]string{"sub/a.txt": "new", "sub/b.txt": "new", "sub/later": "new"} {
		if got := read(t, filepath.Join(root, p)); got != want {
			t.Errorf("%s holds %q", p, got)
		}
	}
	for _, p := range []string{"out/existing.txt", "a/b/deep", "loop"} {
		if _, err := readAt(tree, p, 1000); err == nil {
			t.Errorf("read %s", p)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 || read(t, filepath.Join(outside, "existing.txt")) != "secret needle\n" {
		t.Errorf("outside was changed: %v, %v", entries, err)
	}
	found, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "needle", Path: "."})
	if err != nil || found.Hits != 0 {
		t.Errorf("search went out: %+v, %v", found, err)
	}
	list, err := tree.List(t.Context(), workspace.ListQuery{Path: ".", Depth: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Entries {
		if strings.HasPrefix(e.Path, "out/") || strings.HasPrefix(e.Path, "up/") || strings.HasPrefix(e.Path, "in/") {
			t.Errorf("listing followed a link: %s", e.Path)
		}
	}
}

func TestWriteThroughLinkKeepsIt(t *testing.T) {
	tree, root, _ := links(t)
	f, err := readAt(tree, "twice", 1000)
	if err != nil || string(f.Bytes) != "inside\n" {
		t.Fatalf("%q, %v", f.Bytes, err)
	}
	if err := writeAt(tree, "twice", []byte("changed\n"), f.SHA256); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(root, "sub/f")); got != "changed\n" {
		t.Errorf("the link's target holds %q", got)
	}
	if target, err := os.Readlink(filepath.Join(root, "twice")); err != nil || target != "in/f" {
		t.Errorf("the link is %q, %v", target, err)
	}
	if real, err := tree.Resolve("twice"); err != nil || real != "sub/f" {
		t.Errorf("resolves to %q, %v", real, err)
	}
}

func TestReadKinds(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"sub/": "", "f": "text", "zero": "-> /dev/zero", "empty": "", "linkpipe": "-> pipe"})
	fifo(t, filepath.Join(dir, "pipe"))
	huge, err := os.Create(filepath.Join(dir, "huge"))
	if err == nil {
		err = huge.Truncate(1 << 40)
		huge.Close()
	}
	if err != nil {
		t.Skip("no sparse files here: ", err)
	}
	tree := open(t, dir)
	within(t, func() {
		for p, want := range map[string]string{
			"sub": "not_regular", "pipe": "not_regular", "linkpipe": "not_regular", "zero": "outside", "none": "not_found",
			"f/x": "not_found", "huge": "too_large", "f": "", "empty": "", ".": "not_regular",
		} {
			f, err := readAt(tree, p, workspace.MaxFile)
			if code(err) != want {
				t.Errorf("%s: got %v, want %q", p, err, want)
			}
			if err == nil && f.SHA256 != workspace.Sum(f.Bytes) {
				t.Errorf("%s: wrong hash", p)
			}
		}
	})
	if _, err := readAt(tree, "huge", 1000); !strings.Contains(err.Error(), "1 TiB") {
		t.Errorf("%v does not tell the size", err)
	}
	for max, want := range map[int64]string{4: "", 3: "too_large"} {
		if _, err := readAt(tree, "f", max); code(err) != want {
			t.Errorf("max %d: %v", max, err)
		}
	}
}

func TestReadRootOfDevices(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the device is inside the tree only for those who may open /dev")
	}
	tree := open(t, "/dev")
	within(t, func() {
		if _, err := readAt(tree, "zero", 1000); code(err) != "not_regular" {
			t.Errorf("got %v", err)
		}
	})
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": "old", "sub/": "", "script": "#!/bin/sh\n", "locked": "x"})
	if err := os.Chmod(filepath.Join(dir, "script"), 0o751|os.ModeSetuid|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	fifo(t, filepath.Join(dir, "pipe"))
	tree := open(t, dir)
	old, script := workspace.Sum([]byte("old")), workspace.Sum([]byte("#!/bin/sh\n"))
	for _, c := range []struct {
		name, path, seen, want string
	}{
		{"an existing file is not made", "f", "", "changed"},
		{"another hash", "f", script, "changed"},
		{"a file that is gone", "gone", old, "changed"},
		{"the hash", "f", old, ""},
		{"the same hash again", "f", old, "changed"},
		{"new, with folders", "x/y/z", "", ""},
		{"a folder", "sub", "", "not_regular"},
		{"a folder, with a hash", "sub", old, "not_regular"},
		{"the root", ".", "", "not_regular"},
		{"a pipe", "pipe", "", "not_regular"},
		{"below a file", "f/x", "", "not_found"},
		{"keeps the mode", "script", script, ""},
		{"read-only", "locked", workspace.Sum([]byte("x")), "read_only"},
		{"long name", strings.Repeat("n", 250), "", ""},
		{"too long a name", strings.Repeat("n", 300), "", "io"},
	} {
		within(t, func() {
			if err := writeAt(tree, c.path, []byte("new\n"), c.seen); code(err) != c.want {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		})
	}
	for p, want := range map[string]string{"f": "new\n", "x/y/z": "new\n", "script": "new\n", "locked": "x"} {
		if got := read(t, filepath.Join(dir, p)); got != want {
			t.Errorf("%s holds %q", p, got)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "script")); err != nil || info.Mode() != 0o751 { // who runs it has no rights by it any more
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	more, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(all)+len(more) > 0 || err != nil {
		t.Errorf("left behind: %v %v", all, more)
	}
}

func TestWriteRace(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": "old"})
	tree := open(t, dir)
	const writers = 8
	won := make(chan error, writers)
	for range writers {
		go func() { won <- writeAt(tree, "f", []byte("new"), workspace.Sum([]byte("old"))) }()
	}
	ok := 0
	for range writers {
		if err := <-won; err == nil {
			ok++
		} else if code(err) != "changed" {
			t.Error(err)
		}
	}
	if ok != 1 {
		t.Errorf("%d writers won", ok)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"f": ""})
	for _, p := range []string{"none", "f"} {
		if _, err := workspace.Open(filepath.Join(dir, p)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", p, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a/b": "x"})
	tree := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.List(ctx, workspace.ListQuery{Path: ".", Depth: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if _, err := tree.Search(ctx, workspace.SearchQuery{Pattern: "x", Path: "."}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v", err)
	}
}

// readAt reads what a path leads to now.
func readAt(tree *workspace.Tree, rel string, max int64) (workspace.File, error) {
	real, err := tree.Resolve(rel)
	if err != nil {
		return workspace.File{}, err
	}
	return tree.Read(rel, real, max)
}

// writeAt writes what a path leads to now.
func writeAt(tree *workspace.Tree, rel string, data []byte, seen string) error {
	real, err := tree.Resolve(rel)
	if err != nil {
		return err
	}
	return tree.Write(rel, real, data, seen)
}
