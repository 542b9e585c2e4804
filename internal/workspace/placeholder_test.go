package workspace_test

import (
	"errors"
	"strings"
	"testing"

	"overt/internal/workspace"
)

// TestPlaceholders: lines that stand for omitted text are told from comments that say something.
func TestPlaceholders(t *testing.T) {
	for _, line := range []string{
		"// ... existing code ...", "\t// … existing code …", "// ...existing code...", "# ... rest of the code", "# rest of file unchanged",
		"// Rest of the file remains unchanged", "/* ... */", "/* … */", "<!-- ... -->", "<!-- … rest of the content unchanged … -->", "<!-- existing content ... -->",
		"{/* ... existing components ... */}", "// ...", "# …", "-- ... remaining lines omitted", "-- ...", "; ...", "% ... rest of document ...",
		"// ... keep existing methods ...", "// [... rest of code unchanged ...]", "// ... (rest of the implementation stays the same)", "// ... other methods remain the same",
		"# ... previous code omitted for brevity ...", "// rest of the function unchanged", "/* the rest of the styles are unchanged */", "// ... truncated ...", "# ... unchanged ...",
		"// ... the remaining lines are as before ...", "  # ... same as above ...",
	} {
		var e *workspace.EditError
		if err := workspace.Placeholder("content", "a\n"+line+"\nb\n", ""); !errors.As(err, &e) || e.Code != "placeholder" || !strings.Contains(e.Text, "line 2 of content") {
			t.Errorf("%q: %v", line, err)
		}
		if err := workspace.Placeholder("content", line+"\nb", "x\n  "+line+"\n"); err != nil {
			t.Errorf("%q, which is there: %v", line, err)
		}
	}
	for _, line := range []string{
		"", "...", "…", "    ...", "    ...  # type: ignore", "func f(a ...int)", "f(x...)", "// wait for the rest...", "# loading existing data...", "// same as before", "// unchanged",
		"# The rest of the arguments are passed to the child", "// previous value is unchanged", `log("... existing code ...")`, "// TODO: handle remaining cases...",
		"// Remaining: 3 files", "// other fields are unchanged", "// the rest of the entries are omitted", "# existing methods stay the same", "// ... and so on", "# e.g. 1, 2, ...", "// see above...", "* ...", "- ... existing code ...", "... existing code ...", "//", "#", "/**/", "// --------", "# ======",
		"#!/bin/sh", "#include <stdio.h>", "#define REST(...) __VA_ARGS__", "/* the other file is read first */", "// existing code", "// Keep the original file", "// The rest of the code", "# same",
		"// the section below is omitted when empty", "// code unchanged since 2019", "<!-- more... -->", "// Read the file...", "// other methods", "x := 1 // ... existing code ...", "//...x", "// a...", "// Compute the rest ...",
		"-- remaining rows", "-- the rest is history", "; the existing configuration", "% ... and others", "// ok ...", "# Existing users keep access...", "/* [...] is a slice of */",
	} {
		if err := workspace.Placeholder("content", "a\n"+line+"\n", ""); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	_, err := workspace.Replace(t.Context(), []byte("a\nb\n"), workspace.Edit{Old: "a", New: "x\n// ... existing code ..."})
	if err == nil || !strings.Contains(err.Error(), "line 2 of new_string") {
		t.Errorf("%v", err)
	}
	if _, err := workspace.Replace(t.Context(), []byte("a\n// ...\n"), workspace.Edit{Old: "a\n// ...", New: "b\n// ..."}); err != nil {
		t.Error(err)
	}
}

// TestLikelyPlaceholders: where most of a file would go, less is enough; where little would, it is a comment like any.
func TestLikelyPlaceholders(t *testing.T) {
	old := strings.Repeat("a line of the file\n", 200)
	for _, line := range []string{
		"<!-- rest of the file -->", "# [remaining methods unchanged]", "... existing code ...", "// existing code here",
		"// keep everything else the same", "// ... rest of the file",
	} {
		var e *workspace.EditError
		if err := workspace.Placeholder("content", "a\n"+line+"\n", old); !errors.As(err, &e) || e.Code != "placeholder" {
			t.Errorf("%q: %v", line, err)
		}
	}
	for _, line := range []string{"// The rest of the arguments are passed to the child", "# same", "...", "// reads the existing file", "x = 1"} {
		if err := workspace.Placeholder("content", "a\n"+line+"\n", old); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if err := workspace.Placeholder("content", strings.Repeat("b\n", 150)+"// existing code here\n", old); err != nil {
		t.Errorf("most of it is there: %v", err)
	}
	if err := workspace.Placeholder("content", "Call it so:\n\n```go\nfunc f() {\n\t// ...\n}\n```\n", ""); err != nil {
		t.Errorf("an example: %v", err)
	}
}
