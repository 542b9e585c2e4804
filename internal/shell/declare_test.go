package shell_test

import (
	"os/exec"
	"strings"
	"testing"

	"overt/internal/shell"
)

// FuzzUnquote: what is quoted for a shell is read back as it was, and no text makes the readers fail.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{"", "a", "it's", "a\nb=c", `"x" \ $HOME`, "\x01\x7f\xff", "declare -- a=\"b\nc\"\n", "declare -A m=([k]=\"v)\" )\ndeclare -x y\n", "$'\\n\\x41\\u00e9\\101'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := shell.Unquote(shell.Quote(s)); !ok || got != s {
			t.Errorf("%q became %q", s, got)
		}
		shell.Unquote(s)
		for _, name := range shell.Declared(s) {
			if strings.Contains(name, "\n") {
				t.Errorf("a name of two lines: %q", name)
			}
		}
	})
}

// TestDeclarations: values as bash prints them are read as they are.
func TestDeclarations(t *testing.T) {
	if shell.Path() != "/bin/bash" {
		t.Skip("needs bash")
	}
	for _, value := range []string{"", "plain", "it's", "two\nlines\n", `back\slash "quoted" $HOME`, "\x01\x1b\x7f", "é 中文", "\xff\xfe", " ( ) [ ] `x` $(y)", "a'b\"c\\'d\n"} {
		cmd := exec.Command(shell.Path(), "-c", "declare -p v")
		cmd.Env = []string{"v=" + value}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, quoted, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "=")
		if got, ok := shell.Unquote(quoted); !ok || got != value {
			t.Errorf("%q, printed as %s, is read as %q", value, quoted, got)
		}
	}
}
