package workspace_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/simplifiedchinese"
	"pgregory.net/rapid"

	"overt/internal/workspace"
)

func list(t *testing.T, tree *workspace.Tree, q workspace.ListQuery) []string {
	t.Helper()
	l, err := tree.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.Path+" "+e.Kind)
	}
	return out
}

// covers F150
func TestList(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"b.go": "x", "a/c.go": "xy", "a/d/e.go": "", "a/d/f.txt": "", ".git/config": "", "a/.git": "gitdir: x", ".gitignore": "*.log\n/out/\n",
		"x.log": "", "out/y.go": "", "a/out/z.go": "", "link": "-> a",
	})
	fifo(t, filepath.Join(dir, "pipe"))
	tree := open(t, dir)
	for _, c := range []struct {
		name string
		q    workspace.ListQuery
		want []string
	}{
		{"this folder, ignored files too", workspace.ListQuery{Path: "."}, []string{".gitignore file", "a folder", "b.go file", "link link", "out folder", "pipe pipe", "x.log file"}},
		{"one level", workspace.ListQuery{Path: ".", Depth: 1}, []string{".gitignore file", "a folder", "a/c.go file", "a/d folder", "a/out folder", "b.go file", "link link", "pipe pipe"}},
		{"all", workspace.ListQuery{Path: "a", Depth: -1}, []string{"a/c.go file", "a/d folder", "a/d/e.go file", "a/d/f.txt file", "a/out folder", "a/out/z.go file"}},
		{"name glob", workspace.ListQuery{Path: ".", Depth: -1, Glob: "*.go"}, []string{"a/c.go file", "a/d/e.go file", "a/out/z.go file", "b.go file"}},
		{"path glob", workspace.ListQuery{Path: ".", Depth: -1, Glob: "a/**/*.txt"}, []string{"a/d/f.txt file"}},
		{"path glob below the path", workspace.ListQuery{Path: "a", Depth: -1, Glob: "d/*"}, []string{"a/d/e.go file", "a/d/f.txt file"}},
		{"through a link", workspace.ListQuery{Path: "link", Depth: 0, Glob: "c*"}, []string{"a/c.go file"}},
		{"an ignored folder, when named", workspace.ListQuery{Path: "out", Depth: -1}, []string{"out/y.go file"}},
	} {
		if got := list(t, tree, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ path, glob, want string }{
		{"b.go", "", "not_regular"}, {"none", "", "not_found"}, {".", "[a", "invalid"}, {"pipe", "", "not_regular"},
	} {
		if _, err := tree.List(t.Context(), workspace.ListQuery{Path: c.path, Glob: c.glob}); code(err) != c.want {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	l, err := tree.List(t.Context(), workspace.ListQuery{Path: "a"})
	if err != nil || l.Entries[0].Size != 2 || l.Entries[1].Size != -1 {
		t.Errorf("sizes: %+v, %v", l.Entries, err)
	}
}

func TestListLimit(t *testing.T) {
	dir := t.TempDir()
	for i := range workspace.MaxEntries + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir)
	l, err := tree.List(t.Context(), workspace.ListQuery{Path: "."})
	if err != nil || len(l.Entries) != workspace.MaxEntries || !l.More {
		t.Errorf("%d entries, more %v, %v", len(l.Entries), l.More, err)
	}
	if err := os.Remove(filepath.Join(dir, "f0000")); err != nil {
		t.Fatal(err)
	}
	l, err = tree.List(t.Context(), workspace.ListQuery{Path: "."})
	if err != nil || len(l.Entries) != workspace.MaxEntries || l.More {
		t.Errorf("exactly the limit: %d entries, more %v, %v", len(l.Entries), l.More, err)
	}
}

// TestIgnoreAgreesWithGit walks trees with random .gitignore files and compares with git.
func TestIgnoreAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		files := map[string]string{
			"a.log": "", "b.txt": "", "sub/a.log": "", "sub/b.txt": "", "sub/deep/a.log": "", "sub/deep/c.txt": "", "out/x": "",
			"sub/out/x": "", "sub/out/deep/y": "", "{a}": "", "a+b": "", "sub/#h": "", "!k": "", "doc/frotz/f": "", "a/doc/frotz/f": "", "sp ": "",
		}
		line := rapid.SampledFrom([]string{
			"*.log", "!a.log", "/a.log", "out/", "out", "/out", "sub/*.log", "sub/**", "**/deep", "**/deep/*", "sub/deep/", "!sub/deep/", "*", "!*/",
			"# comment", "", "b.*", "[ab].txt", "?.txt", "doc/frotz", "doc/frotz/", "{a}", "a+b", `\#h`, `\!k`, "sp ", `sp\ `, "sub/**/y", "a/**/f", "/*", "!/sub", "**", "x/", "[!b].txt", "[^b].txt",
		})
		lines := rapid.SliceOfN(line, 0, 4)
		files[".gitignore"] = strings.Join(lines.Draw(r, "root"), "\n") + "\n"
		exclude := strings.Join(lines.Draw(r, "exclude"), "\n")
		files["sub/.gitignore"] = strings.Join(lines.Draw(r, "sub"), "\n")
		lay(t, dir, files)
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v %s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(exclude), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "ls-files", "-co", "--exclude-standard", "-z")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(out) == 0 {
			want = nil
		}
		slices.Sort(want)
		tree, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		l, err := tree.List(t.Context(), workspace.ListQuery{Path: ".", Depth: -1})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range l.Entries {
			if e.Kind != "folder" {
				got = append(got, e.Path)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			r.Fatalf("root %q sub %q exclude %q:\n got %q\nwant %q", files[".gitignore"], files["sub/.gitignore"], exclude, got, want)
		}
		_ = os.RemoveAll(dir)
	})
}

// TestIgnoreFiles: what a .ignore says, in whatever folder, counts before what a .gitignore says, and that before what the
// repository excludes. Hidden files are files like others.
func TestIgnoreFiles(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		".git/info/exclude": "excluded*\n*.both\n", ".gitignore": "*.log\n!a.both\nbuild/\n", ".ignore": "!keep.log\nsecret.txt\n/docs/\n",
		"a.log": "", "keep.log": "", "secret.txt": "", "excluded.txt": "", "a.both": "", "b.both": "", "docs/a": "", "build/x": "", ".hidden": "", ".github/ci.yml": "",
		"sub/.gitignore": "keep.log\n!excluded*\n", "sub/.ignore": "*.tmp\n!docs/\n!build/\n", "sub/keep.log": "", "sub/a.tmp": "", "sub/docs/b": "", "sub/excluded2": "", "sub/build/y": "",
		"linked/.gitignore": "-> ../sub/.ignore", "linked/a.tmp": "",
	})
	want := []string{
		".github", ".github/ci.yml", ".gitignore", ".hidden", ".ignore", "a.both", "keep.log", "linked", "linked/.gitignore", "linked/a.tmp",
		"sub", "sub/.gitignore", "sub/.ignore", "sub/build", "sub/build/y", "sub/docs", "sub/docs/b", "sub/excluded2", "sub/keep.log",
	}
	tree := open(t, dir)
	l, err := tree.List(t.Context(), workspace.ListQuery{Path: ".", Depth: -1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.Entries {
		got = append(got, e.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf(" got %q\nwant %q", got, want)
	}
	if got := list(t, tree, workspace.ListQuery{Path: "sub", Depth: -1, Glob: "*.tmp"}); got != nil {
		t.Errorf("from a folder below: %q", got)
	}
	if got := list(t, tree, workspace.ListQuery{Path: "sub", Depth: -1, Glob: "keep.*"}); !slices.Equal(got, []string{"sub/keep.log file"}) {
		t.Errorf("rules of the folders above: %q", got)
	}
}

func TestListSkip(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"a/x": "", "a/private/y": "", "a/private/deep/z": "", "b": "", "private": ""})
	l, err := open(t, dir).List(t.Context(), workspace.ListQuery{Path: ".", Depth: -1, Skip: func(p string) bool { return filepath.Base(p) == "private" || p == "b" }})
	var got []string
	for _, e := range l.Entries {
		got = append(got, e.Path)
	}
	if err != nil || !slices.Equal(got, []string{"a", "a/x"}) || !slices.Equal(l.Skipped, []string{"a/private", "b", "private"}) {
		t.Errorf("got %q, skipped %q, %v", got, l.Skipped, err)
	}
}

// TestSearchEncodings: files are searched as they are read, whatever they are in.
func TestSearchEncodings(t *testing.T) {
	dir := t.TempDir()
	wide := func(s string, order binary.AppendByteOrder) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(s)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("# 这是一个配置文件，请不要修改\nname = 张伟\n")
	if err != nil {
		t.Fatal(err)
	}
	lay(t, dir, map[string]string{
		"gbk": gbk, "le": wide("\uFEFFname = Wörter\r\nend\r\n", binary.LittleEndian), "be": wide("\uFEFFname = Wörter\n", binary.BigEndian), "bare": wide("a name = without any mark\n", binary.LittleEndian),
		"stray": "name = Wörter ä \xff\n", "utf8": "name = 张伟\n", "bin": "name = \x00\x01\x02", "zeros": strings.Repeat("\x00name = ", 2000), "half": "\xff\xfen\x00a",
	})
	tree := open(t, dir)
	for _, c := range []struct {
		pattern string
		fold    bool
		want    []string
	}{
		{"name", false, []string{"bare:1:a name = without any mark", "be:1:name = Wörter", "gbk:2:name = 张伟", "le:1:name = Wörter", "stray:1:name = Wörter ä \uFFFD", "utf8:1:name = 张伟"}},
		{"^NAME", true, []string{"be:1:name = Wörter", "gbk:2:name = 张伟", "le:1:name = Wörter", "stray:1:name = Wörter ä \uFFFD", "utf8:1:name = 张伟"}},
		{"张伟$", false, []string{"gbk:2:name = 张伟", "utf8:1:name = 张伟"}},
		{"wörter$", true, []string{"be:1:name = Wörter", "le:1:name = Wörter"}},
		{`\p{Han}{3}`, false, []string{"gbk:1:# 这是一个配置文件，请不要修改"}},
		{"end", false, []string{"le:2:end"}},
	} {
		if got := hits(t, tree, workspace.SearchQuery{Pattern: c.pattern, Path: ".", IgnoreCase: c.fold}); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.pattern, got, c.want)
		}
	}
	f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "name", Path: "."})
	if want := []string{"bin", "half", "zeros"}; err != nil || !slices.Equal(f.Binary, want) || f.Files != 6 {
		t.Errorf("binary %q, %d files, %v", f.Binary, f.Files, err)
	}
}

// hits searches and writes the lines as PATH:NUMBER:TEXT, context with "-".
func hits(t *testing.T, tree *workspace.Tree, q workspace.SearchQuery) []string {
	t.Helper()
	f, err := tree.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range f.Lines {
		mark := "-"
		if l.Hit {
			mark = ":"
		}
		out = append(out, fmt.Sprint(l.Path, mark, l.Number, mark, l.Text))
	}
	return out
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"marked": "\uFEFFmarked\n", "a.go": "package a\n\nfunc Foo() {}\nfunc foo() {}\n", "b/c.go": "x\r\nfoo\r\nbar", "b/d.txt": "foo", "bin": "foo\x00foo", "ignored.log": "foo",
		".gitignore": "*.log\n", ".git/x": "foo", ".env": "foo=1", "latin": "foo \xe4\n", "kelvin": "\u212Aelvin\r\nEL\u017Fe\r\n", "long": strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000),
	})
	fifo(t, filepath.Join(dir, "pipe"))
	tree := open(t, dir)
	skip := func(p string) bool { return p == ".env" }
	within(t, func() {
		for _, c := range []struct {
			name string
			q    workspace.SearchQuery
			want []string
		}{
			{"literal", workspace.SearchQuery{Pattern: "foo", Path: "."}, []string{"a.go:4:func foo() {}", "b/c.go:2:foo", "b/d.txt:1:foo", "latin:1:foo ä"}},
			{"any case", workspace.SearchQuery{Pattern: "FOO", Path: "a.go", IgnoreCase: true}, []string{"a.go:3:func Foo() {}", "a.go:4:func foo() {}"}},
			{"any case, beyond ASCII", workspace.SearchQuery{Pattern: "kelvin|else", Path: ".", IgnoreCase: true}, []string{"kelvin:1:\u212Aelvin", "kelvin:2:EL\u017Fe"}},
			{"any case, beyond ASCII, literal", workspace.SearchQuery{Pattern: "^KELVIN$", Path: ".", IgnoreCase: true}, []string{"kelvin:1:\u212Aelvin"}},
			{"anchors mean lines", workspace.SearchQuery{Pattern: "^foo$", Path: "."}, []string{"b/c.go:2:foo", "b/d.txt:1:foo"}},
			{"behind a byte order mark", workspace.SearchQuery{Pattern: "^marked$", Path: "."}, []string{"marked:1:marked"}},
			{"glob", workspace.SearchQuery{Pattern: "foo", Path: ".", Glob: "*.txt"}, []string{"b/d.txt:1:foo"}},
			{"one file", workspace.SearchQuery{Pattern: "bar", Path: "b/c.go"}, []string{"b/c.go:3:bar"}},
			{"the file that is named is searched", workspace.SearchQuery{Pattern: "foo", Path: ".env"}, []string{".env:1:foo=1"}},
			{"context", workspace.SearchQuery{Pattern: "Foo", Path: "a.go", Context: 1}, []string{"a.go-2-", "a.go:3:func Foo() {}", "a.go-4-func foo() {}"}},
			{"context of neighbours is not repeated", workspace.SearchQuery{Pattern: "^func", Path: "a.go", Context: 2}, []string{"a.go-1-package a", "a.go-2-", "a.go:3:func Foo() {}", "a.go:4:func foo() {}"}},
			{"does not match over lines", workspace.SearchQuery{Pattern: "Foo[^x]*foo", Path: "a.go"}, nil},
			{"goes on behind a match over lines", workspace.SearchQuery{Pattern: `a\s*\w*`, Path: "a.go"}, []string{"a.go:1:package a"}},
			{"newline never matches", workspace.SearchQuery{Pattern: "a\n", Path: "a.go"}, nil},
			{"nothing", workspace.SearchQuery{Pattern: "zzz", Path: "."}, nil},
			{"empty lines", workspace.SearchQuery{Pattern: "^$", Path: "a.go"}, []string{"a.go:2:"}},
		} {
			c.q.Skip = skip
			if got := hits(t, tree, c.q); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	})
	f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "needle", Path: ".", Skip: skip})
	if err != nil || f.Hits != 1 || len(f.Lines[0].Text) > 420 || !strings.Contains(f.Lines[0].Text, "needle") {
		t.Errorf("long line: %+v, %v", f, err)
	}
	if !slices.Equal(f.Skipped, []string{".env"}) {
		t.Errorf("skipped %v", f.Skipped)
	}
	for q, want := range map[string]string{"a)|(b": "invalid", "(": "invalid", `\`: "invalid"} {
		if _, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: q, Path: "."}); code(err) != want || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v", q, err)
		}
	}
	if _, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "x", Path: "pipe"}); code(err) != "not_regular" {
		t.Errorf("pipe: %v", err)
	}
}

func TestSearchLimit(t *testing.T) {
	dir := t.TempDir()
	for i := range 700 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d", i)), []byte("hit\nhit\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir)
	for _, c := range []struct {
		limit, want int
		more        bool
	}{{0, 100, true}, {5, 5, true}, {1000, 100, true}} {
		f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "hit", Path: ".", Limit: c.limit})
		if err != nil || f.Hits != c.want || f.More != c.more || f.Lines[0].Path != "f000" || f.Lines[c.want-1].Path != fmt.Sprintf("f%03d", (c.want-1)/2) {
			t.Errorf("limit %d: %d hits, more %v, %v", c.limit, f.Hits, f.More, err)
		}
	}
	if f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "hit", Path: "f000", Limit: 1}); err != nil || f.Hits != 1 || !f.More {
		t.Errorf("over the limit in one file: %+v, %v", f, err)
	}
	f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: "hit", Path: "f000", Limit: 2})
	if err != nil || f.Hits != 2 || f.More {
		t.Errorf("exactly the limit: %+v, %v", f, err)
	}
}

// TestSearchAgreesWithLines compares with matching each line on its own.
func TestSearchAgreesWithLines(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[abxABk\x{212A} ]{0,6}`), 0, 12).Draw(r, "lines")
		pattern := rapid.SampledFrom([]string{"a", "ab", "^a", "b$", "a.*b", `\bab`, "a+b?", "(ab|ba)x", "[^a]", "^$", `\s`, "x{2}", "(?i)AB", "kb?a", "A.*B"}).Draw(r, "pattern")
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		ignoreCase := rapid.Bool().Draw(r, "ignore case")
		f, err := tree.Search(t.Context(), workspace.SearchQuery{Pattern: pattern, Path: "f", IgnoreCase: ignoreCase, Context: rapid.IntRange(0, 2).Draw(r, "context")})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []int
		last := 0
		for _, l := range f.Lines {
			if l.Number <= last {
				r.Fatalf("lines out of order: %+v", f.Lines)
			}
			last = l.Number
			if l.Hit {
				got = append(got, l.Number)
			}
			if l.Text != lines[l.Number-1] {
				r.Fatalf("line %d shown as %q", l.Number, l.Text)
			}
		}
		if ignoreCase {
			pattern = "(?i)" + pattern
		}
		re := regexp.MustCompile(pattern)
		for i, l := range lines {
			if i == len(lines)-1 && l == "" {
				break // behind a final newline is no line
			}
			if re.MatchString(l) {
				want = append(want, i+1)
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%s in %q: got %v, want %v", pattern, lines, got, want)
		}
	})
}
