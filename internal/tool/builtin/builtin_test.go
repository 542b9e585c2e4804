package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
	"overt/internal/workspace"
)

// bench is a workspace with the core tools of one task.
type bench struct {
	*testing.T
	dir   string
	tree  *workspace.Tree
	tools map[string]tool.Tool
	look  builtin.Looking
}

func setUp(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{T: t, dir: filepath.Join(t.TempDir(), "ws")}
	b.lay(map[string]string{".keep/": ""})
	b.lay(files)
	tree, err := workspace.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	b.tree = tree
	b.restart()
	return b
}

// restart gives tools that remember nothing.
func (b *bench) restart() {
	b.tools = map[string]tool.Tool{}
	for _, t := range builtin.Tools(builtin.Options{Tree: b.tree, Shell: b.shell(), Env: shell.Environ(os.Environ()), Look: &b.look}, builtin.Sets()...) {
		b.tools[t.Spec().Name] = t
	}
}

func (b *bench) shell() *shell.Session {
	s := shell.NewSession(b.tree.Root(), shell.Environ(os.Environ()))
	b.Cleanup(s.Close)
	return s
}

// lay writes files; a name that ends with a slash is a folder, text that begins with "-> " a link.
func (b *bench) lay(files map[string]string) {
	b.Helper()
	for name, text := range files {
		p := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			b.Fatal(err)
		}
		var err error
		switch to, link := strings.CutPrefix(text, "-> "); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		case link:
			err = os.Symlink(to, p)
		default:
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (b *bench) file(name string) string {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

type args map[string]any

func (b *bench) prepare(name string, a args) (*tool.Prepared, error) {
	b.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	return b.tools[name].Prepare(b.Context(), raw)
}

// call takes a call through prepare, launch and run, as the dispatcher does.
func (b *bench) call(name string, a args) (*tool.Result, error) {
	b.Helper()
	p, err := b.prepare(name, a)
	if err != nil {
		return nil, err
	}
	return b.run(b.Context(), p, &host{})
}

func (b *bench) run(ctx context.Context, p *tool.Prepared, h *host) (*tool.Result, error) {
	b.Helper()
	if p.Launch != nil {
		if _, err := p.Launch(ctx, false); err != nil {
			return nil, err
		}
	}
	return p.Run(ctx, h)
}

func (b *bench) must(name string, a args) *tool.Result {
	b.Helper()
	r, err := b.call(name, a)
	if err != nil {
		b.Fatalf("%s %v: %v", name, a, err)
	}
	return r
}

// refused fails unless the call is refused with the code and in one line that says all of these.
func (b *bench) refused(err error, code string, says ...string) {
	b.Helper()
	var r *tool.Refusal
	if !errors.As(err, &r) || r.Code != code {
		b.Errorf("got %v, want a refusal with %s", err, code)
		return
	}
	if strings.Contains(r.Text, "\n") || r.Text == "" {
		b.Errorf("text is not one line: %q", r.Text)
	}
	for _, s := range says {
		if !strings.Contains(r.Text, s) {
			b.Errorf("%q does not say %q", r.Text, s)
		}
	}
}

type host struct {
	show func(string)
	keep tool.Keeper
}

func (h *host) Trace() string { return "00-1-2-01" }

func (h *host) Keep(bool) tool.Keeper { return h.keep }

func (h *host) Show(text string) {
	if h.show != nil {
		h.show(text)
	}
}

func TestSpecs(t *testing.T) {
	b := setUp(t, nil)
	var names []string
	size := 0
	for _, tl := range builtin.Core(builtin.Options{Tree: b.tree, Look: &b.look}) {
		s := tl.Spec()
		names = append(names, s.Name)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		var sch jsonschema.Schema
		if err := json.Unmarshal(s.Schema, &sch); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		} else if _, err := sch.Resolve(nil); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if s.Description == "" || len(s.Name) > 24 {
			t.Errorf("%s: bad spec", s.Name)
		}
		portable(t, s.Name, s.Schema)
		var compact bytes.Buffer
		if err := json.Compact(&compact, s.Schema); err != nil || compact.Len() != len(s.Schema) {
			t.Errorf("%s: schema is not compact", s.Name)
		}
	}
	if want := []string{"read_file", "list_files", "search_text", "edit_file", "write_file", "run_command", "read_output", "stop_job", "update_plan", "read_image"}; !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
	t.Logf("all tools: %d bytes", size)
	if size > 4750 {
		t.Errorf("%d bytes: more than fit into a first request", size)
	}
}

// portable allows the words that every provider takes in a schema.
func portable(t *testing.T, name string, schema json.RawMessage) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(schema, &m); err != nil {
		t.Fatal(err)
	}
	for key, v := range m {
		switch key {
		case "type", "description", "required":
		case "enum":
			if string(m["type"]) != `"string"` {
				t.Errorf("%s: an enumeration of something else than strings is not portable", name)
			}
		case "items":
			portable(t, name, v)
		case "properties":
			var props map[string]json.RawMessage
			if err := json.Unmarshal(v, &props); err != nil {
				t.Fatal(err)
			}
			for _, p := range props {
				portable(t, name, p)
			}
		default:
			t.Errorf("%s: %s is not portable", name, key)
		}
	}
	if m["type"] == nil || m["type"][0] != '"' {
		t.Errorf("%s: a schema without a single type: %s", name, schema)
	}
}

// covers L192 L196 L206 L207
func TestReadFile(t *testing.T) {
	long := strings.Repeat("0123456789abcdef\n", 20_000)
	b := setUp(t, map[string]string{
		"f": "one\ntwo\n\nfour\n", "nonl": "a\nb", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\n", "empty": "", "long": long, "bin": "ab\x00c", "latin": "\xe4\n", "bom": "\uFEFFa\r\n", "bare": "\uFEFF",
		"line": strings.Repeat("x", 300_000) + "\nend\n", "dir/": "", "link": "-> f",
	})
	for _, c := range []struct {
		args args
		want string
		cut  bool
	}{
		{args{"path": "f"}, "1\tone\n2\ttwo\n3\t\n4\tfour\n", false},
		{args{"path": "link"}, "1\tone\n2\ttwo\n3\t\n4\tfour\n", false},
		{args{"path": filepath.Join(b.dir, "f"), "offset": 2, "limit": 2}, "2\ttwo\n3\t\n[lines 2-3 of 4; go on with offset 4]\n", true},
		{args{"path": "f", "offset": 4}, "4\tfour\n[lines 4-4 of 4]\n", false},
		{args{"path": "nonl"}, "1\ta\n2\tb\n[no newline at the end]\n", false},
		{args{"path": "crlf"}, "1\ta\n2\tb\n[line ends are CRLF]\n", false},
		{args{"path": "mixed"}, "1\ta\n2\tb\n[line ends are CRLF and LF mixed]\n", false},
		{args{"path": "bom"}, "1\ta\n[a byte order mark stands before line 1, and edit_file keeps it. line ends are CRLF]\n", false},
		{args{"path": "bare"}, "[a byte order mark stands before line 1, and edit_file keeps it. no newline at the end. the file is empty]\n", false},
		{args{"path": "empty"}, "[the file is empty]\n", false},
		{args{"path": "latin"}, "1\tä\n[the encoding is Windows-1252, and edit_file and write_file keep it]\n", false},
	} {
		r := b.must("read_file", c.args)
		if r.Content != c.want || r.Cut != c.cut || r.Trusted {
			t.Errorf("%v: got %q, cut %v", c.args, r.Content, r.Cut)
		}
	}
	_, err := b.call("read_file", args{"path": "f", "offset": 9})
	b.refused(err, "past_end", "only 4 lines", "9")
	_, err = b.call("read_file", args{"path": "bin"})
	b.refused(err, "binary", "byte 3")
	_, err = b.call("read_file", args{"path": "dir"})
	b.refused(err, "not_regular", "list_files")
	_, err = b.call("read_file", args{"path": "none"})
	b.refused(err, "not_found", "none does not exist")
	_, err = b.call("read_file", args{"path": "../x"})
	b.refused(err, "outside")
	_, err = b.call("read_file", args{"path": "f", "offset": -1})
	b.refused(err, "bad_arguments")

	// A long file comes in pieces that join without a gap.
	var all strings.Builder
	offset := 1
	for range 10 {
		r := b.must("read_file", args{"path": "long", "offset": offset})
		if len(r.Content) > tool.MaxContent {
			t.Fatalf("%d bytes", len(r.Content))
		}
		for line := range strings.Lines(r.Content) {
			if n, text, ok := strings.Cut(line, "\t"); ok {
				if n != fmt.Sprint(offset) {
					t.Fatalf("line %s, want %d", n, offset)
				}
				all.WriteString(text)
				offset++
			}
		}
		if !r.Cut {
			break
		}
	}
	if all.String() != long {
		t.Errorf("the pieces of a long file give %d of %d bytes", all.Len(), len(long))
	}
	r := b.must("read_file", args{"path": "line"})
	if len(r.Content) > tool.MaxContent || !r.Cut || !strings.Contains(r.Content, "line 1 is cut") || !strings.Contains(r.Content, "go on with offset 2") {
		t.Errorf("a long line: %d bytes, cut %v, ends %q", len(r.Content), r.Cut, r.Content[len(r.Content)-120:])
	}
}

// covers L208
func TestSizeBombs(t *testing.T) {
	b := setUp(t, map[string]string{"f": "needle\n", "zero": "-> /dev/zero"})
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	huge, err := os.Create(filepath.Join(b.dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	defer huge.Close()
	if err := huge.Truncate(1 << 40); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for p, code := range map[string]string{"pipe": "not_regular", "zero": "outside", "huge": "too_large"} {
			_, err := b.call("read_file", args{"path": p})
			b.refused(err, code)
			_, err = b.call("edit_file", args{"path": p, "old_string": "a", "new_string": "b"})
			b.refused(err, code)
			_, err = b.call("write_file", args{"path": p, "content": "b"})
			b.refused(err, code)
			_, err = b.call("search_text", args{"path": p, "pattern": "b"})
			b.refused(err, code)
		}
		r := b.must("search_text", args{"pattern": "needle"})
		if r.Content != "f:1:needle\n[not searched, over 32 MiB: huge]\n" {
			t.Errorf("got %q", r.Content)
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("blocked")
	}
}

func TestEffects(t *testing.T) {
	b := setUp(t, map[string]string{"f": "x\n", "sub/g": "x\n", "in": "-> sub", ".git/hooks/": "", "hooks": "-> .git/hooks", ".env": "KEY=1\n"})
	b.must("read_file", args{"path": "f"})
	for _, c := range []struct {
		tool     string
		args     args
		effects  []policy.Effect
		parallel bool
		auto     policy.Verdict
	}{
		{"read_file", args{"path": "f"}, []policy.Effect{{Kind: policy.Read, Target: "f"}}, true, policy.Allow},
		{"read_file", args{"path": "in/g"}, []policy.Effect{{Kind: policy.Read, Target: "sub/g"}, {Kind: policy.Read, Target: "in/g"}}, true, policy.Allow},
		{"read_file", args{"path": ".env"}, []policy.Effect{{Kind: policy.Read, Target: ".env"}}, true, policy.Ask},
		{"list_files", args{}, []policy.Effect{{Kind: policy.Read, Target: "."}}, true, policy.Allow},
		{"search_text", args{"pattern": "x", "path": "sub"}, []policy.Effect{{Kind: policy.Read, Target: "sub"}}, true, policy.Allow},
		{"edit_file", args{"path": "f", "old_string": "x", "new_string": "y"}, []policy.Effect{{Kind: policy.Write, Target: "f"}}, false, policy.Allow},
		{"write_file", args{"path": "f", "content": "y"}, []policy.Effect{{Kind: policy.Write, Target: "f"}}, false, policy.Allow},
		{"write_file", args{"path": "hooks/pre-commit", "content": "y"}, []policy.Effect{{Kind: policy.Write, Target: ".git/hooks/pre-commit"}, {Kind: policy.Write, Target: "hooks/pre-commit"}}, false, policy.Ask},
		{"write_file", args{"path": ".GIT/hooks/x", "content": "y"}, []policy.Effect{{Kind: policy.Write, Target: ".GIT/hooks/x"}}, false, policy.Ask},
		{"write_file", args{"path": ".gitignore", "content": "y"}, []policy.Effect{{Kind: policy.Write, Target: ".gitignore"}}, false, policy.Allow},
		{"edit_file", args{"path": ".env", "old_string": "KEY", "new_string": "y"}, []policy.Effect{{Kind: policy.Write, Target: ".env"}}, false, policy.Ask},
		{"run_command", args{"command": "go test"}, []policy.Effect{{Kind: policy.Run, Target: "go test"}}, false, policy.Ask},
	} {
		p, err := b.prepare(c.tool, c.args)
		if err != nil {
			t.Errorf("%s %v: %v", c.tool, c.args, err)
			continue
		}
		if p.Action.Tool != c.tool || !slices.Equal(p.Action.Effects, c.effects) || p.Parallel != c.parallel {
			t.Errorf("%s %v: got %+v, parallel %v", c.tool, c.args, p.Action, p.Parallel)
		}
		if d := policy.Decide(policy.Rules{Profile: policy.Auto}, p.Action); d.Verdict != c.auto {
			t.Errorf("%s %v: auto gives %+v", c.tool, c.args, d)
		}
		if strings.Contains(p.Preview, "KEY") {
			t.Errorf("%s: the preview shows a secret", c.tool)
		}
	}
	if got := b.file("f"); got != "x\n" {
		t.Errorf("preparing had an effect: %q", got)
	}
}
