package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func envelope(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// TestPatch applies patches of both forms to a file f, and looks at every byte.
//
// covers F152
func TestPatch(t *testing.T) {
	const abc = "a\nb\nc\nd\ne\n"
	head := "--- a/f\n+++ b/f\n"
	for name, x := range map[string]struct{ file, patch, want string }{
		"unified":                   {abc, head + "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n", "a\nb\nC\nd\ne\n"},
		"two hunks":                 {abc, head + "@@ -1 +1,2 @@\n-a\n+A\n+AA\n@@ -5 +6 @@ after\n-e\n+E\n", "A\nAA\nb\nc\nd\nE\n"},
		"wrong line":                {abc, head + "@@ -40,2 +40,2 @@\n c\n-d\n+D\n", "a\nb\nc\nD\ne\n"},
		"the line decides":          {"x\ny\nx\ny\n", head + "@@ -3,1 +3,1 @@\n-x\n+X\n", "x\ny\nX\ny\n"},
		"no numbers":                {abc, head + "@@\n-c\n+C\n\n", "a\nb\nC\nd\ne\n"},
		"mail":                      {abc, "From: me\nSubject: x\n\n---\n f | 2 +-\ndiff --git a/f b/f\nindex 1..2 100644\n" + head + "@@ -1 +1 @@\n-a\n+A\n-- \n2.39\n", "A\nb\nc\nd\ne\n"},
		"no prefixes":               {abc, "--- f\t2020-01-01\n+++ f\t2020-01-02\n@@ -1 +1 @@\n-a\n+A\n", "A\nb\nc\nd\ne\n"},
		"empty line without sign":   {"a\n\nb\n", head + "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"},
		"dashes in the text":        {"-- x\nb\n", head + "@@ -1,2 +1,2 @@\n--- x\n+++ y\n b\n", "++ y\nb\n"},
		"crlf stays":                {"a\r\nb\r\nc\r\n", head + "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n", "a\r\nB\r\nBB\r\nc\r\n"},
		"crlf in the patch":         {abc, strings.ReplaceAll(head+"@@ -1 +1 @@\n-a\n+A\n", "\n", "\r\n"), "A\nb\nc\nd\ne\n"},
		"byte order mark":           {"\uFEFFa\nb\n", head + "@@ -1 +1 @@\n-a\n+A\n", "\uFEFFA\nb\n"},
		"no newline stays":          {"a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n", "a\nB"},
		"no newline unsaid":         {"a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"},
		"newline comes":             {"a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
		"newline goes":              {"a\nb\n", head + "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		"insertion by number":       {abc, head + "@@ -2,0 +3,1 @@\n+x\n", "a\nb\nx\nc\nd\ne\n"},
		"insertion at the top":      {abc, head + "@@ -0,0 +1,1 @@\n+x\n", "x\na\nb\nc\nd\ne\n"},
		"insertion behind the mark": {"\uFEFFa\r\n", head + "@@ -0,0 +1,1 @@\n+x\n", "\uFEFFx\r\na\r\n"},
		"indentation":               {"\tif x {\n\t\ty()\n\t}\n", envelope("*** Update File: f", "@@", "-y()", "+z()"), "\tif x {\n\t\tz()\n\t}\n"},
		"white space":               {"a  \nb\n", envelope("*** Update File: f", " a", "-b", "+B"), "a  \nB\n"},
		"anchors":                   {"f1:\nx\nf2:\nx\n", envelope("*** Update File: f", "@@ f2:", "-x", "+X"), "f1:\nx\nf2:\nX\n"},
		"at the end":                {"x\ny\nx\n", envelope("*** Update File: f", "-x", "+X", "*** End of File"), "x\ny\nX\n"},
		"only new lines":            {"x\ny", envelope("*** Update File: f", "@@", "+z"), "x\ny\nz"},
		"in order":                  {"x\nx\nx\n", envelope("*** Update File: f", "@@ x", "-x", "+1", "@@", "-x", "+2"), "x\n1\n2\n"},
	} {
		files, err := ParsePatch(x.patch)
		if err != nil || len(files) != 1 || files[0].Path != "f" {
			t.Errorf("%s: %v %+v", name, err, files)
			continue
		}
		out, err := files[0].Apply(t.Context(), []byte(x.file), Encoding{}, true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(out.Bytes) != x.want {
			t.Errorf("%s: %q, want %q", name, out.Bytes, x.want)
		}
	}
}

// TestPatchRefused: what can't be read or does not fit is told by line, file and hunk.
func TestPatchRefused(t *testing.T) {
	head := "--- a/f\n+++ b/f\n"
	for name, x := range map[string]struct{ file, patch, says string }{
		"nothing":            {"", "", "changes no file"},
		"prose":              {"", "do it\n", "changes no file"},
		"cut":                {"", "*** Begin Patch\n*** Add File: a\n+x\n", "may have been cut"},
		"behind the end":     {"", envelope("*** Delete File: a") + "x\n", "line 4 of the patch: something stands behind"},
		"no plus":            {"", envelope("*** Add File: a", "x"), "every line of a new file begins with +"},
		"no name":            {"", envelope("*** Update File: ", "-x", "+y"), "a name is missing"},
		"no hunk":            {"", envelope("*** Update File: f"), "no hunk follows"},
		"twice":              {"", envelope("*** Delete File: f", "*** Add File: f", "+x"), "f is in the patch twice"},
		"too many lines":     {"a\n", head + "@@ -1 +1 @@\n-a\n-b\n+c\n", "more lines than its header says"},
		"too few lines":      {"a\n", head + "@@ -1,3 +1,2 @@\n-a\n b\n", "its header says 1 more old and 1 more new"},
		"no sign":            {"a\n", head + "@@ -1,2 +1,2 @@\n-a\nb\n", "begins with none of space, - and +"},
		"same":               {"a\n", head + "@@ -1 +1 @@\n a\n", "changes nothing"},
		"binary":             {"", "diff --git a/f b/f\nindex 1..2\nBinary files a/f and b/f differ\n", "a binary file is not patched"},
		"git binary":         {"", "diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 3\n", "a binary file is not patched"},
		"link":               {"", "diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "120000 is that of no plain file"},
		"copy":               {"", "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", "copies are not taken"},
		"hunk first":         {"", "@@ -1 +1 @@\n-a\n+b\n", "a hunk stands before any file"},
		"NUL":                {"", "a\x00", "NUL"},
		"conflict":           {"alpha\nbeta\ngamma\n", head + "@@ -1,3 +1,3 @@\n alpha\n-beto\n+x\n gamma\n", "hunk 1 of f: its old lines are not in the file; the closest is lines 1-3"},
		"before the other":   {"a\nb\n", head + "@@ -2 +2 @@\n-b\n+B\n@@ -1 +1 @@\n-a\n+A\n", "hunk 2 of f: its old lines are on line 1, but not behind"},
		"over the other":     {"a\nb\nc\n", envelope("*** Update File: f", "-a", "+A", " b", "@@", " b", "-c", "+C"), "put hunks in the order of the file, and make one of two that overlap"},
		"before an anchor":   {"x\nf\ny\n", envelope("*** Update File: f", "@@ f", "-x", "+z"), "its old lines are on line 1, but not behind"},
		"in the rest":        {"a\nb\n", envelope("*** Update File: f", "-a", "+A", "@@", "-none", "+z"), "hunk 2 of f: its old lines are not in the file from line 2 on"},
		"several":            {"x\ny\nx\n", envelope("*** Update File: f", "-x", "+z"), "hunk 1 of f: it fits 2 places, starting on lines 1, 3"},
		"no anchor":          {"x\n", envelope("*** Update File: f", "@@ func f()", "-x", "+z"), "after @@ is not in the file"},
		"past the end":       {"x\n", head + "@@ -7,0 +8 @@\n+z\n", "it goes behind line 7, but the file has only 1 line"},
		"placeholder":        {"x\ny\n", envelope("*** Update File: f", "-x", "+// ... existing code ..."), "left out"},
		"not at the end":     {"x\ny\n", envelope("*** Update File: f", "-x", "+z", "*** End of File"), "its old lines are not in the file"},
		"no line in its way": {"x\n", head + "@@ -1,0 +2 @@\n+z\n", "no line of the file"},
	} {
		files, err := ParsePatch(x.patch)
		if err == nil && len(files) == 1 {
			_, err = files[0].Apply(t.Context(), []byte(x.file), Encoding{}, name == "past the end")
		}
		if err == nil || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
}

// TestPatchHeaders: what a diff says of names and modes.
func TestPatchHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n":                                                                          "edit x y +x",
		"diff --git a/x b/z\nsimilarity index 90%\nrename from x\nrename to z\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n":                       "edit x>z 1",
		"diff --git \"a/\\303\\244\\t\" \"b/\\303\\244\\t\"\n--- \"a/\\303\\244\\t\"\n+++ \"b/\\303\\244\\t\"\n@@ -1 +1 @@\n-a\n+b\n":         "edit ä\t 1",
		"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n":                                               "create n +x 1",
		"diff --git a/n b/n\nnew file mode 100644\nindex 000..e69\n":                                                                          "create n -x",
		"diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n":                                           "delete d 1",
		"--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n+b\n":                                                                                            "edit x 1",
		envelope("*** Update File: a", "*** Move to: b", "*** Delete File: c", "*** Add File: d", "+x"):                                       "edit a>b, delete c whole, create d whole",
		"--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/two b/two\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n": "edit one 1, edit two 2",
	} {
		files, err := ParsePatch(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, f := range files {
			s := f.Op + " " + f.Path
			if f.To != "" {
				s += ">" + f.To
			}
			if f.Executable != nil {
				s += map[bool]string{true: " +x", false: " -x"}[*f.Executable]
			}
			if f.Whole {
				s += " whole"
			}
			if n := len(f.Hunks); n > 0 {
				s += fmt.Sprint(" ", n)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

// TestPatchRoundTrip: what Diff says of two texts makes the one of the other, whatever line ends the file has.
func TestPatchRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := func(label string) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", " c", "-- d", "++ e", "@@ -1 +1 @@", "\\ f", "diff --git a/x b/x"}), 0, 12).Draw(r, label)
			s := strings.Join(lines, "\n")
			if len(lines) > 0 && rapid.Bool().Draw(r, label+" ends") {
				s += "\n"
			}
			return s
		}
		before, after := text("before"), text("after")
		if before == "" || before == after {
			return
		}
		diff := Diff("f", []byte(before), []byte(after))
		files, err := ParsePatch(diff)
		if err != nil {
			r.Fatalf("%v\n%s", err, diff)
		}
		out, err := files[0].Apply(t.Context(), []byte(before), Encoding{}, true)
		if err != nil || string(out.Bytes) != after {
			r.Fatalf("%v: %q, want %q\n%s", err, out.Bytes, after, diff)
		}
		if rapid.Bool().Draw(r, "crlf") && !strings.Contains(before+after, "\r") && strings.Count(before, "\n") > 0 {
			dos := strings.ReplaceAll(before, "\n", "\r\n")
			out, err := files[0].Apply(t.Context(), []byte(dos), Encoding{}, true)
			if err != nil || strings.ReplaceAll(string(out.Bytes), "\r\n", "\n") != after || strings.Count(string(out.Bytes), "\n") != strings.Count(string(out.Bytes), "\r\n") {
				r.Fatalf("CRLF: %v: %q, want %q\n%s", err, out.Bytes, after, diff)
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "a\n")
	f.Add("diff --git a/x b/z\nrename from x\nrename to z\n", "a\n")
	f.Add(envelope("*** Update File: f", "@@ x", " a", "-b", "+c", "*** End of File"), "x\na\nb\n")
	f.Add(envelope("*** Add File: f", "+a"), "")
	f.Fuzz(func(t *testing.T, patch, file string) {
		files, err := ParsePatch(patch)
		if err != nil {
			if _, ok := errors.AsType[*PatchError](err); !ok || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v is no error in one line", err)
			}
			return
		}
		for _, p := range files {
			if p.Path == "" {
				t.Error("a file without a name")
			}
			_, _ = p.Created()
			_, _ = p.Apply(t.Context(), []byte(file), Encoding{}, true)
		}
	})
}

// TestFailedNamesTheFile: what can't be linked or renamed is told by the name of the file, without that of the temporary one.
func TestFailedNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	temp := filepath.Join(dir, ".b.overt-1-0.tmp")
	for name, err := range map[string]error{"rename": os.Rename(temp, dir), "link": os.Link(dir, temp)} {
		if err == nil || !strings.Contains(err.Error(), temp) {
			t.Fatalf("%s: %v", name, err)
		}
		if got := failed("b", err).Error(); strings.Contains(got, "overt-") || !strings.HasPrefix(got, "b") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestWriteAll: where one of several writes fails, the others are as if they had not been, with modes and folders.
func TestWriteAll(t *testing.T) {
	dir := t.TempDir()
	lay := map[string]string{"edit": "1\n", "gone": "2\n", "ro": "3\n", "run.sh": "4\n"}
	for name, text := range lay {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"ro": 0o444, "run.sh": 0o750} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	is := func() string {
		var b strings.Builder
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			info, _ := d.Info()
			text, _ := os.ReadFile(p)
			fmt.Fprintln(&b, strings.TrimPrefix(p, dir), info.Mode(), string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	yes, no := true, false
	before := is()
	list := []FileWrite{
		{Rel: "edit", Real: "edit", Seen: Sum([]byte("1\n")), Data: []byte("one\n"), Executable: &yes},
		{Rel: "run.sh", Real: "run.sh", Seen: Sum([]byte("4\n")), Data: []byte("4\n"), Executable: &no},
		{Rel: "new/deep/f", Real: "new/deep/f", Data: []byte("5\n"), Like: "run.sh"},
		{Rel: "gone", Real: "gone", Seen: Sum([]byte("2\n")), Remove: true},
	}
	bad := map[string]FileWrite{
		"read-only": {Rel: "ro", Real: "ro", Seen: Sum([]byte("3\n")), Data: []byte("x")},
		"changed":   {Rel: "ro", Real: "ro", Seen: Sum([]byte("x")), Remove: true},
		"there":     {Rel: "ro", Real: "ro", Data: []byte("x")},
		"no folder": {Rel: "ro/x", Real: "ro/x", Data: []byte("x")},
	}
	for name, w := range bad {
		if err := tree.WriteAll(append(list[:len(list):len(list)], w)); err == nil {
			t.Errorf("%s: written", name)
		}
		if now := is(); now != before {
			t.Errorf("%s:\n%s\nwant\n%s", name, now, before)
		}
	}
	if err := tree.WriteAll(list); err != nil {
		t.Fatal(err)
	}
	now := is()
	for _, want := range []string{"/edit -rwxr-x--- one", "/run.sh -rw-r----- 4", "/new/deep/f -rw-r----- 5"} {
		if !strings.Contains(now, want) {
			t.Errorf("%s is missing in\n%s", want, now)
		}
	}
	if strings.Contains(now, "/gone") {
		t.Error("gone is there")
	}
}
