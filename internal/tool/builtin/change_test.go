package builtin_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

func changed(t *testing.T, r *tool.Result) event.FileChanged {
	t.Helper()
	if len(r.Facts) != 1 {
		t.Fatalf("facts %+v", r.Facts)
	}
	f, ok := r.Facts[0].(event.FileChanged)
	if !ok {
		t.Fatalf("fact %+v", r.Facts[0])
	}
	return f
}

// covers A051 L192 L197 L199
func TestEditFile(t *testing.T) {
	b := setUp(t, map[string]string{"sub/f": "a\r\nb\r\nb\r\n", "in": "-> sub"})
	b.must("read_file", args{"path": "sub/f"})
	a := args{"path": "in/f", "old_string": "a\nb\n", "new_string": "x\ny\nz\n"}
	p, err := b.prepare("edit_file", a)
	if err != nil {
		t.Fatal(err)
	}
	diff := "--- a/sub/f\n+++ b/sub/f\n@@ -1,3 +1,4 @@\n-a\r\n-b\r\n+x\r\n+y\r\n+z\r\n b\r\n"
	if p.Preview != diff {
		t.Errorf("preview %q", p.Preview)
	}
	r, err := p.Run(t.Context(), &host{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.file("sub/f"); got != "x\r\ny\r\nz\r\nb\r\n" {
		t.Errorf("file holds %q", got)
	}
	want := event.FileChanged{
		Path: "sub/f", Op: "edit", By: "agent", Before: workspace.Sum([]byte("a\r\nb\r\nb\r\n")), After: workspace.Sum([]byte("x\r\ny\r\nz\r\nb\r\n")), Diff: diff,
	}
	if got := changed(t, r); got != want {
		t.Errorf("fact %+v", got)
	}
	if r.Content != "Edited in/f: 1 replacement, at line 1. It matched apart from line ends." || !r.Trusted {
		t.Errorf("content %q", r.Content)
	}
	// What the edit left is what the model knows now.
	r = b.must("edit_file", args{"path": "sub/f", "old_string": "x", "new_string": "q", "lines": []int{1}})
	if r.Content != "Edited sub/f: 1 replacement, at line 1." {
		t.Errorf("content %q", r.Content)
	}
	r = b.must("edit_file", args{"path": "sub/f", "old_string": "\n", "new_string": "!\n", "replace_all": true, "lines": []int{2, 2}})
	if r.Content != "Edited sub/f: 4 replacements, at lines 1, 2, 3, 4. It matched apart from line ends." || b.file("sub/f") != "q!\r\ny!\r\nz!\r\nb!\r\n" {
		t.Errorf("content %q, file %q", r.Content, b.file("sub/f"))
	}
}

// covers L206 L207 L208
func TestEditFileRefusals(t *testing.T) {
	b := setUp(t, map[string]string{"f": "a\nb\nb\n", "bin": "a\x00", "latin": "\xe4a\n", "dir/": "", "huge": strings.Repeat("x", 33<<20)})
	for _, c := range []struct {
		args args
		code string
		says string
	}{
		{args{"path": "f", "old_string": "b", "new_string": "x"}, "several", "lines 2, 3"},
		{args{"path": "f", "old_string": "b", "new_string": "x", "lines": []int{1}}, "other_lines", "lines 2, 3"},
		{args{"path": "f", "old_string": "zz", "new_string": "x"}, "no_match", "nowhere"},
		{args{"path": "f", "old_string": "", "new_string": "x"}, "empty_old", "write_file"},
		{args{"path": "f", "old_string": "a", "new_string": "a"}, "same", ""},
		{args{"path": "f", "old_string": "a", "new_string": "[masked:key]"}, "masked_secret", "placeholder"},
		{args{"path": "bin", "old_string": "a", "new_string": "x"}, "binary", "byte 2"},
		{args{"path": "latin", "old_string": "a", "new_string": "x\n漢"}, "encoding", "only ASCII and characters that it has already can be put in; it can't hold 漢 (U+6F22, line 2"},
		{args{"path": "f", "old_string": "a", "new_string": "x\n// ... existing code ..."}, "placeholder", "line 2 of new_string"},
		{args{"path": "f", "old_string": "1\ta\n2\tb", "new_string": "1\ta\nc"}, "numbers", "line number"},
		{args{"path": "huge", "old_string": "a", "new_string": "x"}, "too_large", "32 MiB"},
		{args{"path": "none", "old_string": "a", "new_string": "x"}, "not_found", ""},
		{args{"path": "dir", "old_string": "a", "new_string": "x"}, "not_regular", ""},
		{args{"path": "/etc/passwd", "old_string": "a", "new_string": "x"}, "outside", ""},
	} {
		_, err := b.call("edit_file", c.args)
		b.refused(err, c.code, c.says)
	}
	if got := b.file("f"); got != "a\nb\nb\n" {
		t.Errorf("file holds %q", got)
	}
}

func TestChangedOnDisk(t *testing.T) {
	b := setUp(t, map[string]string{"f": "a\n"})
	edit := args{"path": "f", "old_string": "a", "new_string": "b"}
	write := args{"path": "f", "content": "new\n"}

	b.must("read_file", args{"path": "f"})
	b.lay(map[string]string{"f": "a\nmine\n"})
	for range 2 { // a refusal does not count as having read it
		_, err := b.call("edit_file", edit)
		b.refused(err, "changed", "f has changed on disk", "Read it again")
		_, err = b.call("write_file", write)
		b.refused(err, "changed")
	}
	b.must("read_file", args{"path": "f"})
	b.must("edit_file", edit)
	if got := b.file("f"); got != "b\nmine\n" {
		t.Errorf("file holds %q", got)
	}

	// Between preparing (the person was shown a diff) and running.
	for name, a := range map[string]args{"edit_file": {"path": "f", "old_string": "b\n", "new_string": "c\n"}, "write_file": write} {
		b.must("read_file", args{"path": "f"})
		p, err := b.prepare(name, a)
		if err != nil {
			t.Fatal(err)
		}
		b.lay(map[string]string{"f": "b\nlater, by " + name + "\n"})
		_, err = p.Run(t.Context(), &host{})
		b.refused(err, "changed")
		if got := b.file("f"); got != "b\nlater, by "+name+"\n" {
			t.Errorf("%s: file holds %q", name, got)
		}
	}

	// A new file that came to be in between.
	p, err := b.prepare("write_file", args{"path": "new", "content": "ours"})
	if err != nil {
		t.Fatal(err)
	}
	b.lay(map[string]string{"new": "theirs"})
	_, err = p.Run(t.Context(), &host{})
	b.refused(err, "changed")
	if got := b.file("new"); got != "theirs" {
		t.Errorf("file holds %q", got)
	}
}

func TestAfterRestart(t *testing.T) {
	b := setUp(t, map[string]string{"f": "a\nb\n"})
	b.must("read_file", args{"path": "f"})
	b.restart()
	_, err := b.call("write_file", args{"path": "f", "content": "x"})
	b.refused(err, "not_read", "read it first")
	b.must("edit_file", args{"path": "f", "old_string": "b", "new_string": "c"})
	b.must("write_file", args{"path": "f", "content": "whole\n"}) // the edit has shown what is there
	if got := b.file("f"); got != "whole\n" {
		t.Errorf("file holds %q", got)
	}
}

// covers L193 L206 L207
func TestWriteFile(t *testing.T) {
	b := setUp(t, map[string]string{"f": "old\n", "bin": "a\x00b", "dir/": ""})
	r := b.must("write_file", args{"path": "x/y/new.txt", "content": "line\n"})
	want := event.FileChanged{Path: "x/y/new.txt", Op: "create", By: "agent", After: workspace.Sum([]byte("line\n")), Diff: "--- /dev/null\n+++ b/x/y/new.txt\n@@ -0,0 +1 @@\n+line\n"}
	if got := changed(t, r); got != want || b.file("x/y/new.txt") != "line\n" || r.Content != "Created x/y/new.txt (5 bytes)." {
		t.Errorf("fact %+v, content %q", got, r.Content)
	}
	b.must("write_file", args{"path": "x/y/new.txt", "content": "again\n"}) // what we wrote we know
	b.must("write_file", args{"path": "empty", "content": ""})
	if got := b.file("empty"); got != "" {
		t.Errorf("empty holds %q", got)
	}

	_, err := b.call("write_file", args{"path": "f", "content": "new\n"})
	b.refused(err, "not_read", "read_file", "edit_file")
	b.must("read_file", args{"path": "f"})
	r = b.must("write_file", args{"path": "f", "content": "old\n"})
	if len(r.Facts) != 0 || !strings.Contains(r.Content, "already has this content") {
		t.Errorf("same content: %+v", r)
	}
	r = b.must("write_file", args{"path": "f", "content": "new"})
	if got := changed(t, r); got.Op != "overwrite" || got.Before != workspace.Sum([]byte("old\n")) || b.file("f") != "new" {
		t.Errorf("fact %+v, file %q", got, b.file("f"))
	}
	for _, c := range []struct {
		args args
		code string
	}{
		{args{"path": "bin", "content": "x"}, "binary"},
		{args{"path": "dir", "content": "x"}, "not_regular"},
		{args{"path": "../x", "content": "x"}, "outside"},
		{args{"path": "n", "content": "a\x00b"}, "binary"},
		{args{"path": "n", "content": "k=" + event.MaskPrefix + "key]"}, "masked_secret"},
		{args{"path": "f/x", "content": "x"}, "not_found"},
	} {
		_, err := b.call("write_file", c.args)
		b.refused(err, c.code)
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "n")); err == nil {
		t.Error("a refused file was made")
	}
}

// TestOverwriteSaysForm: the model is told of what it overwrote without seeing it.
func TestOverwriteSaysForm(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a\r\nb\r\n", "c\nd\n", "Overwrote f (4 bytes). Line ends were CRLF and are LF now."},
		{"a\nb\n", "c\r\nd\r\n", "Overwrote f (6 bytes). Line ends were LF and are CRLF now."},
		{"a\r\nb\n", "c\nd\n", "Overwrote f (4 bytes). Line ends were CRLF and LF mixed and are LF now."},
		{"\uFEFFa\r\n", "b\n", "Overwrote f (2 bytes). Line ends were CRLF and are LF now. The byte order mark is gone."},
		{"a\n", "\uFEFFb\n", "Overwrote f (5 bytes). It begins with a byte order mark now."},
		{"\uFEFFa\r\n", "\uFEFFb\r\n", "Overwrote f (6 bytes)."},
		{"a\r\n", "b", "Overwrote f (1 byte)."},
	} {
		b := setUp(t, map[string]string{"f": c.before})
		b.must("read_file", args{"path": "f"})
		if r := b.must("write_file", args{"path": "f", "content": c.after}); r.Content != c.want || b.file("f") != c.after {
			t.Errorf("%q to %q: %q, file %q", c.before, c.after, r.Content, b.file("f"))
		}
	}
}

// TestEditSaysLines: lines are counted once each.
func TestEditSaysLines(t *testing.T) {
	b := setUp(t, map[string]string{"f": "x x\nx\n"})
	for _, c := range []struct{ old, with, want string }{
		{"x x", "y y", "1 replacement, at line 1."}, {"y", "z", "2 replacements, at line 1."}, {"\nx", "\nz", "1 replacement, at line 1."}, {"z", "x", "3 replacements, at lines 1, 2."},
	} {
		if r := b.must("edit_file", args{"path": "f", "old_string": c.old, "new_string": c.with, "replace_all": true}); r.Content != "Edited f: "+c.want {
			t.Errorf("%q: %q", c.old, r.Content)
		}
	}
}

// TestLinkSwapped: the path that is checked is the path that is written.
func TestLinkSwapped(t *testing.T) {
	b := setUp(t, map[string]string{"plain/f": "a\n", ".git/hooks/f": "a\n", "ln": "-> plain"})
	outside := filepath.Join(filepath.Dir(b.dir), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	b.must("read_file", args{"path": "ln/f"})
	for to, code := range map[string]string{".git/hooks": "changed", outside: "outside"} {
		for name, a := range map[string]args{
			"edit_file":  {"path": "ln/f", "old_string": "a", "new_string": "b"},
			"write_file": {"path": "ln/new", "content": "b"},
			"read_file":  {"path": "ln/f"},
		} {
			p, err := b.prepare(name, a)
			if err != nil {
				t.Fatal(err)
			}
			b.relink("ln", to)
			_, err = p.Run(t.Context(), &host{})
			b.refused(err, code)
			b.relink("ln", "plain")
		}
	}
	if b.file(".git/hooks/f") != "a\n" || b.file("plain/f") != "a\n" {
		t.Error("a file was changed")
	}
	for _, dir := range []string{outside, filepath.Join(b.dir, "plain"), filepath.Join(b.dir, ".git/hooks")} {
		if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
			t.Errorf("a file was made in %s", dir)
		}
	}
}

func (b *bench) relink(name, to string) {
	b.Helper()
	p := filepath.Join(b.dir, name)
	if err := os.Remove(p); err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink(to, p); err != nil {
		b.Fatal(err)
	}
}

// TestSecretFile: until it is allowed, nothing tells what is in it, and its content is in no record.
func TestSecretFile(t *testing.T) {
	b := setUp(t, map[string]string{".env": "KEY=hunter2\n"})
	for _, old := range []string{"hunter2", "not there"} {
		p, err := b.prepare("edit_file", args{"path": ".env", "old_string": old, "new_string": "x"})
		if err != nil {
			t.Fatalf("preparing tells: %v", err)
		}
		if p.Preview != "edit .env" {
			t.Errorf("preview %q", p.Preview)
		}
	}
	r := b.must("edit_file", args{"path": ".env", "old_string": "KEY=", "new_string": "TOKEN="})
	if f := changed(t, r); f.Diff != "" || f.After == "" || b.file(".env") != "TOKEN=hunter2\n" {
		t.Errorf("fact %+v", f)
	}
	if d := policy.Decide(policy.Rules{Profile: policy.Auto}, policy.Action{Tool: "edit_file", Effects: []policy.Effect{{Kind: policy.Write, Target: ".env"}}}); d.Verdict != policy.Ask {
		t.Errorf("got %+v", d)
	}
}

func TestConcurrentCalls(t *testing.T) {
	b := setUp(t, map[string]string{"f": "a\nb\n"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := b.call("read_file", args{"path": "f"}); err != nil {
				t.Error(err)
			}
			if _, err := b.call("search_text", args{"pattern": "a"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.must("edit_file", args{"path": "f", "old_string": "a", "new_string": "c"})
}
