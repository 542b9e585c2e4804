package builtin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
)

func enveloped(lines ...string) args {
	return args{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// TestApplyPatchFacts: every file is a fact, a path of the checkpoint and an effect; what was written counts as read, and what is
// gone as never seen.
//
// covers F152
func TestApplyPatchFacts(t *testing.T) {
	b := setUp(t, map[string]string{"a": "one\n", "b": "x\n", "l": "-> a"})
	a := enveloped("*** Update File: l", "-one", "+two", "*** Update File: b", "*** Move to: d/c", "*** Add File: n", "+n")
	p, err := b.prepare("apply_patch", a)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "d/c", "n"}; !slices.Equal(p.Paths, want) {
		t.Errorf("paths %q, want %q", p.Paths, want)
	}
	for _, want := range []string{"-one\n+two\n", "rename b to d/c\n", "+++ b/n\n"} {
		if !strings.Contains(p.Preview, want) {
			t.Errorf("%q is not in the preview\n%s", want, p.Preview)
		}
	}
	out, err := b.run(t.Context(), p, &host{})
	if err != nil {
		t.Fatal(err)
	}
	var facts []string
	for _, f := range out.Facts {
		c := f.(event.FileChanged)
		facts = append(facts, c.Op+" "+c.Path)
	}
	if want := []string{"edit a", "delete b", "create d/c", "create n"}; !slices.Equal(facts, want) {
		t.Errorf("facts %q, want %q", facts, want)
	}
	b.must("write_file", args{"path": "n", "content": "again\n"})
	_, err = b.call("write_file", args{"path": "d/c", "content": "y\n"})
	b.refused(err, "not_read")
	b.must("write_file", args{"path": "b", "content": "new\n"})
	b.must("edit_file", args{"path": "b", "old_string": "new", "new_string": "newer"})
}

// TestApplyPatchChecksAgain: what has changed since a person has seen the patch is not overwritten, and then no file is.
func TestApplyPatchChecksAgain(t *testing.T) {
	for name, meanwhile := range map[string]func(dir string) error{
		"content": func(dir string) error { return os.WriteFile(filepath.Join(dir, "b"), []byte("one\nmore\n"), 0o644) },
		"gone":    func(dir string) error { return os.Remove(filepath.Join(dir, "b")) },
		"a link": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "b")); err != nil {
				return err
			}
			return os.Symlink("c", filepath.Join(dir, "b"))
		},
		"there": func(dir string) error { return os.WriteFile(filepath.Join(dir, "n"), nil, 0o644) },
	} {
		b := setUp(t, map[string]string{"a": "one\n", "b": "one\n", "c": "one\n"})
		p, err := b.prepare("apply_patch", enveloped("*** Update File: a", "-one", "+two", "*** Update File: b", "-one", "+two", "*** Add File: n", "+n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := meanwhile(b.dir); err != nil {
			t.Fatal(err)
		}
		if out, err := b.run(t.Context(), p, &host{}); err == nil {
			t.Errorf("%s: %s", name, out.Content)
		}
		if b.file("a") != "one\n" || b.file("c") != "one\n" {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestApplyPatchRefused: what can't be done is refused before anything is asked.
func TestApplyPatchRefused(t *testing.T) {
	b := setUp(t, map[string]string{"a": "one\n", "b": "one\ntwo\n", "l": "-> a", "bin": "a\x00b", ".env": "KEY=v\n"})
	for name, x := range map[string]struct {
		a          args
		code, says string
	}{
		"unread":       {enveloped("*** Delete File: a"), "not_read", "read it first"},
		"no context":   {enveloped("*** Update File: a", "@@", "+x"), "not_read", "no line of it"},
		"there":        {enveloped("*** Add File: a", "+x"), "exists", "exists already"},
		"a target":     {enveloped("*** Update File: a", "*** Move to: b", "-one", "+x"), "exists", "b exists already"},
		"not there":    {enveloped("*** Update File: none", "-x", "+y"), "not_found", "none does not exist"},
		"twice":        {enveloped("*** Update File: a", "-one", "+1", "*** Update File: l", "-one", "+2"), "bad_patch", "by different names"},
		"outside":      {args{"patch": "--- /dev/null\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n"}, "outside", "outside the workspace"},
		"not all":      {args{"patch": "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"}, "conflict", "holds more than the patch deletes"},
		"binary":       {enveloped("*** Update File: bin", "-a", "+b"), "binary", "NUL"},
		"a file twice": {enveloped("*** Delete File: a", "*** Delete File: a"), "bad_patch", "twice"},
	} {
		_, err := b.prepare("apply_patch", x.a)
		b.refused(err, x.code, x.says)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	p, err := b.prepare("apply_patch", enveloped("*** Update File: .env", "-KEY=v", "+KEY=w"))
	if err != nil || strings.Contains(p.Preview, "KEY") {
		t.Errorf("a secret is shown: %v %q", err, p.Preview)
	}
	_, err = b.prepare("apply_patch", enveloped("*** Update File: .env", "-KEY=nothing", "+KEY=w"))
	if err != nil {
		t.Errorf("before it is allowed, an error tells what is in the file: %v", err)
	}
}
