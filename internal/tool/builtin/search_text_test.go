package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overt/internal/policy"
	"overt/internal/tool/builtin"
)

// covers L194
func TestListAndSearch(t *testing.T) {
	b := setUp(t, map[string]string{"a.go": "foo\n", "sub/b.go": "one\nfoo\nthree\n", ".env": "foo", "evil\nname": "foo", "ln": "-> sub"})
	os.Remove(filepath.Join(b.dir, ".keep"))
	if r := b.must("list_files", args{"depth": 0}); r.Content != ".env\tfile\t3\na.go\tfile\t4\n\"evil\\nname\"\tfile\t3\nln -> sub\tlink\nsub/\tfolder\n" {
		t.Errorf("got %q", r.Content)
	}
	if r := b.must("list_files", args{"glob": "*.go"}); r.Content != "a.go\tfile\t4\nsub/b.go\tfile\t14\n" {
		t.Errorf("got %q", r.Content)
	}
	if r := b.must("list_files", args{"glob": "*.rs"}); r.Content != "[nothing there]\n" {
		t.Errorf("got %q", r.Content)
	}
	if r := b.must("search_text", args{"pattern": "^foo$", "glob": "*.go", "context": 1}); r.Content != "a.go:1:foo\n--\nsub/b.go-1-one\nsub/b.go:2:foo\nsub/b.go-3-three\n" {
		t.Errorf("got %q", r.Content)
	}
	if r := b.must("search_text", args{"pattern": "FOO", "ignore_case": true}); r.Content != "a.go:1:foo\n\"evil\\nname\":1:foo\nsub/b.go:2:foo\n[not searched, since they may hold secrets or rules forbid it: .env]\n" {
		t.Errorf("got %q", r.Content)
	}
	if r := b.must("search_text", args{"pattern": "zzz", "path": "sub"}); r.Content != "[no match in 1 file]\n" {
		t.Errorf("got %q", r.Content)
	}
	_, err := b.call("search_text", args{"pattern": "("})
	b.refused(err, "invalid", "RE2")
	_, err = b.call("search_text", args{"pattern": ""})
	b.refused(err, "bad_arguments", "empty")
	_, err = b.call("list_files", args{"path": "a.go"})
	b.refused(err, "not_regular")
}

func TestSearchObeysDenyRules(t *testing.T) {
	b := setUp(t, map[string]string{"a": "foo\n", "private/b": "foo\n"})
	deny, err := policy.ParseRule(policy.Deny, "read_file(private/**)")
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.Rules{Profile: policy.Full, List: []policy.Rule{deny}}
	for _, tl := range builtin.Core(builtin.Options{Tree: b.tree, Rules: func() policy.Rules { return rules }}) {
		b.tools[tl.Spec().Name] = tl
	}
	if r := b.must("search_text", args{"pattern": "foo"}); r.Content != "a:1:foo\n[not searched, since they may hold secrets or rules forbid it: private/b]\n" {
		t.Errorf("got %q", r.Content)
	}
	for _, p := range []string{"private", "private/b"} {
		prepared, err := b.prepare("search_text", args{"pattern": "foo", "path": p})
		if err != nil {
			t.Fatal(err)
		}
		if d := policy.Decide(rules, prepared.Action); d.Verdict != policy.Deny {
			t.Errorf("%s: got %+v", p, d)
		}
	}
}

// TestDenyFromAbove: what a rule keeps from a tool, the tool does not tell when it is asked about a folder above.
func TestDenyFromAbove(t *testing.T) {
	files := map[string]string{"private/f": "word\n", "private/deep/g": "word\n", "f": "word\n", "sub/private": "word\n"}
	for _, c := range []struct{ rule, search, list string }{
		{"search_text(private/**)", "f:1:word\nsub/private:1:word\n[not searched, since they may hold secrets or rules forbid it: private/deep/g, private/f]\n", ""},
		{"read_file(private/**)", "f:1:word\nsub/private:1:word\n[not searched, since they may hold secrets or rules forbid it: private/deep/g, private/f]\n", "f\tfile\t5\nsub/\tfolder\nsub/private\tfile\t5\n[not listed, since rules forbid it: private]\n"},
		{"list_files(private/**)", "", "f\tfile\t5\nsub/\tfolder\nsub/private\tfile\t5\n[not listed, since rules forbid it: private]\n"},
		{"list_files(private/deep)", "", "f\tfile\t5\nprivate/\tfolder\nprivate/f\tfile\t5\nsub/\tfolder\nsub/private\tfile\t5\n[not listed, since rules forbid it: private/deep]\n"},
		{"read_file", "[no match in 0 files]\n[not searched, since they may hold secrets or rules forbid it: f, private/deep/g, private/f, sub/private]\n", ""},
		{"edit_file(private/**)", "", ""},
	} {
		rule, err := policy.ParseRule(policy.Deny, c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if c.search == "" {
			c.search = "f:1:word\nprivate/deep/g:1:word\nprivate/f:1:word\nsub/private:1:word\n"
		}
		if c.list == "" {
			c.list = "f\tfile\t5\nprivate/\tfolder\nprivate/deep/\tfolder\nprivate/deep/g\tfile\t5\nprivate/f\tfile\t5\nsub/\tfolder\nsub/private\tfile\t5\n"
		}
		p := piped(t, policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{rule}}, files)
		os.Remove(filepath.Join(p.dir, ".keep"))
		if _, out := p.send("search_text", `{"pattern": "word"}`); out.Content != c.search {
			t.Errorf("%s: search gives %q, want %q", c.rule, out.Content, c.search)
		}
		if _, out := p.send("list_files", `{}`); out.Content != c.list {
			t.Errorf("%s: list gives %q, want %q", c.rule, out.Content, c.list)
		}
	}
}

// TestLimitsAreSaid: what is left out of an answer is said in it.
func TestLimitsAreSaid(t *testing.T) {
	files := map[string]string{
		"many": strings.Repeat("hit\n", 150), "image.png": "\x89PNG\x00hit", "wide": strings.Repeat("x", 3000) + "needle" + strings.Repeat("y", 3000) + "\n",
		"gbk": "\xd6\xd0\xce\xc4\xd6\xd0\xb9\xfa\xc8\xcb hit\n",
	}
	for i := range 1001 {
		files[fmt.Sprintf("d/%04d", i)] = ""
	}
	b := setUp(t, files)
	for _, c := range []struct {
		tool string
		args args
		cut  bool
		says []string
		rows int // lines that are not notes
	}{
		{"search_text", args{"pattern": "hit", "path": "many"}, true, []string{"many:100:hit\n[the first 100 matches; narrow pattern, path or glob for the rest]\n"}, 100},
		{"search_text", args{"pattern": "hit", "path": "many", "limit": 5}, true, []string{"many:5:hit\n[the first 5 matches;"}, 5},
		{"search_text", args{"pattern": "hit", "path": "many", "limit": 500}, true, []string{"[the first 100 matches;"}, 100},
		{"search_text", args{"pattern": "hit", "glob": "g*"}, false, []string{"gbk:1:中文中国人 hit\n"}, 1},
		{"search_text", args{"pattern": "hit", "glob": "*.png"}, false, []string{"[no match in 0 files]\n[not searched, binary: image.png]\n"}, 0},
		{"search_text", args{"pattern": "hit", "path": "image.png"}, false, []string{"[not searched, binary: image.png]\n"}, 0},
		{"search_text", args{"pattern": "needle"}, false, []string{"wide:1:…xxx", "yyy…\n"}, 1},
		{"list_files", args{}, true, []string{"[the first 1000 entries; narrow path, depth or glob for the rest]\n"}, 1000},
		{"list_files", args{"path": "d", "glob": "00*"}, false, []string{"d/0099\tfile\t0\n"}, 100},
		{"list_files", args{"depth": 0, "glob": "d"}, false, []string{"d/\tfolder\n"}, 1},
	} {
		r := b.must(c.tool, c.args)
		rows := 0
		for l := range strings.Lines(r.Content) {
			if !strings.HasPrefix(l, "[") {
				rows++
			}
		}
		if r.Cut != c.cut || rows != c.rows || len(r.Content) > 50_000 {
			t.Errorf("%s %v: cut %v, %d rows, %d bytes", c.tool, c.args, r.Cut, rows, len(r.Content))
		}
		for _, s := range c.says {
			if !strings.Contains(r.Content, s) {
				t.Errorf("%s %v: no %q in %.300q", c.tool, c.args, s, r.Content)
			}
		}
	}
}
