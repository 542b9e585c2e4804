package policy_test

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"overt/internal/policy"
)

func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		action policy.Action
		want   string
	}{
		{command(policy.InDir("sub", "go test")), "--permission full"},
		{command("sh test.sh"), "--allow 'run_command(sh test.sh)'"},
		{command("go test ./..."), "--allow 'run_command(go test ./...)'"},
		{command("a | b"), "--permission full"},
		{command("echo 'it is'"), `--allow "run_command(echo 'it is')"`},
		{command("echo $'x'"), "--permission full"},
		{command("echo \u202e"), "--permission full"},
		{command("("), "--permission full"},
		{file("write_file", "a.go"), "--allow 'write_file(a.go)'"},
		{file("edit_file", "pages/[id].tsx"), `--allow 'edit_file(pages/\[id\].tsx)'`},
		{file("write_file", ".git/config"), "--allow 'write_file(.git/config)'"},
		{policy.Action{Tool: "write_file", Effects: []policy.Effect{{policy.Write, "sub/a"}, {policy.Write, "in/a"}}}, "--allow 'write_file(sub/a)' --allow 'write_file(in/a)'"},
		{policy.Action{Tool: "other", Effects: []policy.Effect{{policy.Write, "a"}}}, "--allow other"},
		{policy.Action{Tool: "other", Effects: []policy.Effect{{policy.Write, ".git/x"}}}, "--permission full"},
		{policy.Action{Tool: "other"}, "--permission full"},
	} {
		if got := policy.Suggest(c.action); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.action, got, c.want)
		}
	}
}

// TestInDir: a rule on a command is for the root, a rule that forbids one for every folder.
func TestInDir(t *testing.T) {
	for _, c := range []struct{ dir, command, want string }{
		{".", "npm test", "npm test"},
		{"sub/a b", "npm test", "cd 'sub/a b' && npm test"},
		{"a\u202eb", "x", `cd $'a\u202eb' && x`},
		{"sub", "# c\nnpm test", "cd sub && # c\nnpm test"},
		{"-x", "npm test", "cd -x && npm test"},
	} {
		got := policy.InDir(c.dir, c.command)
		if got != c.want {
			t.Errorf("%q: got %q", c.dir, got)
		}
		r := policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{rule(t, policy.Allow, "run_command(npm test:*)"), rule(t, policy.Allow, "run_command(cd:*)")}}
		if d := policy.Decide(r, command(got)); (d.Verdict == policy.Allow) != (c.dir == ".") {
			t.Errorf("%q: %+v", got, d)
		}
		r = policy.Rules{Profile: policy.Full, List: []policy.Rule{rule(t, policy.Deny, "run_command(npm)")}}
		if d := policy.Decide(r, command(got)); strings.Contains(c.command, "npm") != (d.Verdict == policy.Deny) {
			t.Errorf("%q: %+v", got, d)
		}
	}
	r := policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{rule(t, policy.Allow, "*")}}
	if d := policy.Decide(r, command(policy.InDir("sub", "("))); d.Verdict != policy.Ask {
		t.Errorf("what does not parse: %+v", d)
	}
	if d := policy.Decide(r, command(policy.InDir(".git/hooks", "cp ../../x pre-commit"))); d.Verdict != policy.Ask {
		t.Errorf("a protected folder: %+v", d)
	}
}

// follow takes the flags apart as a shell would and gives the rules in force with them.
func follow(t interface{ Fatalf(string, ...any) }, flags string) policy.Rules {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader("overt "+flags), "")
	if err != nil || len(f.Stmts) != 1 {
		t.Fatalf("%q is not one command: %v", flags, err)
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		t.Fatalf("%q is no command", flags)
	}
	r := policy.Rules{Profile: policy.AskFirst}
	args := call.Args[1:]
	for i := 0; i+1 < len(args); i += 2 {
		value := plain(t, args[i+1])
		if args[i].Lit() == "--permission" {
			r.Profile = policy.Profile(value)
			continue
		}
		rule, err := policy.ParseRule(policy.Allow, value)
		if err != nil {
			t.Fatalf("%q: %v", flags, err)
		}
		r.List = append(r.List, rule)
	}
	return r
}

// plain removes quotes, independently of the package's own code.
func plain(t interface{ Fatalf(string, ...any) }, w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					t.Fatalf("%T in double quotes", q)
				}
				b.WriteString(strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, "$", "\\`", "`").Replace(l.Value))
			}
		default:
			t.Fatalf("%T in a flag", p)
		}
	}
	return b.String()
}

func TestSuggestionAllows(t *testing.T) {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"go", "test", "./...", "-x", "'a b'", `"q"`, `\*`, "*", "x:*", "':*'", "()", "'('", "a'b'c", "--", "=", "$X", "'$X'", "'it'\\''s'", "~", "''", "%", "!", "#"}),
		rapid.StringMatching(`[a-z'"\\ $*()]{0,6}`),
	)
	path := rapid.StringMatching(`[a-zA-Z.\[\]{}*?\\ '"$(),!-]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		var a policy.Action
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			a = command(strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), " "))
		case 1:
			a = file(rapid.SampledFrom([]string{"write_file", "edit_file", "read_file"}).Draw(t, "tool"), path.Draw(t, "path"))
		default:
			a = file("write_file", path.Draw(t, "path"))
			a.Effects = append(a.Effects, policy.Effect{Kind: policy.Write, Target: path.Draw(t, "link")})
		}
		flags := policy.Suggest(a)
		if d := policy.Decide(follow(t, flags), a); d.Verdict != policy.Allow {
			t.Fatalf("%+v: %s gives %+v", a, flags, d)
		}
	})
}
