package builtin_test

import (
	"os"
	"path/filepath"
	"testing"

	"overt/internal/policy"
	"overt/internal/tool/builtin"
)

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
