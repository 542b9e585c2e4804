package builtin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"overt/internal/policy"
	"overt/internal/tool"
)

// TestReadManyFiles: small files are whole, large ones share what is left, and the result says how to go on; every file is an
// effect of its own.
//
// covers F149
func TestReadManyFiles(t *testing.T) {
	long := strings.Repeat("0123456789\n", 20_000)
	b := setUp(t, map[string]string{"small": "a\nb", "x": long, "y": long, "bin": "a\x00b", "empty": "", ".env": "KEY=v\n", "link": "-> .env"})
	out := b.must("read_many_files", args{"paths": []any{"x", "small", "y", "bin", "empty"}})
	if len(out.Content) > tool.MaxContent || !out.Cut {
		t.Errorf("%d bytes, cut %v", len(out.Content), out.Cut)
	}
	for _, want := range []string{
		"==> small <==\n1\ta\n2\tb\n[no newline at the end]\n", "==> bin <==\n[bin is binary", "==> empty <==\n[the file is empty]\n", "==> y <==\n1\t0123456789\n",
	} {
		if !strings.Contains(out.Content, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, name := range []string{"x", "y"} {
		_, part, _ := strings.Cut(out.Content, "==> "+name+" <==\n")
		part, _, _ = strings.Cut(part, "==>")
		var next int
		_, note, _ := strings.Cut(part, "[cut before line ")
		if _, err := fmt.Sscanf(note, "%d", &next); err != nil || next < 2500 || !strings.Contains(part, fmt.Sprintf("\n%d\t0123456789\n[", next-1)) {
			t.Errorf("%s goes on at %d: %.100q", name, next, note)
		}
	}
	if _, err := b.prepare("read_many_files", args{"paths": []any{"x", "../out"}}); err == nil {
		t.Error("a path leads out, and is taken")
	}
	p, err := b.prepare("read_many_files", args{"paths": []any{"small", "link"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Effect{{Kind: policy.Read, Target: "small"}, {Kind: policy.Read, Target: ".env"}, {Kind: policy.Read, Target: "link"}}
	if !slices.Equal(p.Action.Effects, want) {
		t.Errorf("effects %v, want %v", p.Action.Effects, want)
	}
	// What was read may be overwritten.
	b.must("write_file", args{"path": "small", "content": "c\n"})
}

// TestStatPath: what a path is, and where a link leads, also out of the workspace.
func TestStatPath(t *testing.T) {
	b := setUp(t, map[string]string{"d/f": "x\r\ny\r\n", "l": "-> d/f", "gone": "-> nothing", "out": "-> /etc/passwd", "dl": "-> d", ".env": "K=v\n", "s": "-> .env"})
	for path, want := range map[string]string{
		"d/f": "lines: 2\n[line ends are CRLF]\n", "d": "type: folder\n", ".": "type: folder\n", "l": "path: l\ntype: link\n", "gone": "[nothing is at nothing]",
		"out": "[what it leads to is not in the workspace, or not there]", "dl/f": "size: 6 bytes\n",
	} {
		if out := b.must("stat_path", args{"path": path}); !strings.Contains(out.Content, want) {
			t.Errorf("%s: %q is not in %q", path, want, out.Content)
		}
	}
	p, err := b.prepare("stat_path", args{"path": "s"})
	if err != nil || policy.Decide(policy.Rules{Profile: policy.AskFirst}, p.Action).Verdict != policy.Ask {
		t.Errorf("a link to a secret: %v", err)
	}
	if _, err := b.call("stat_path", args{"path": "none"}); err == nil {
		t.Error("nothing is there, and it is described")
	}
}
