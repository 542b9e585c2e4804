package policy_test

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"overt/internal/policy"
)

func rule(t testing.TB, v policy.Verdict, text string) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule(v, text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func command(text string) policy.Action {
	return policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: text}}}
}

func file(tool, path string) policy.Action {
	kind := policy.Write
	if tool == "read_file" || tool == "list_files" || tool == "search_text" {
		kind = policy.Read
	}
	return policy.Action{Tool: tool, Effects: []policy.Effect{{Kind: kind, Target: path}}}
}

func TestParseRule(t *testing.T) {
	for _, text := range []string{
		"*", "run_command", "run_command(go test:*)", "run_command(go vet ./...)", `run_command(git commit -m "a b")`, "write_file(docs/**)",
		"edit_file(a.go)", "read_file(./x/{a,b}.txt)", "search_text(src)", "mcp__server__do", " write_file(a b) ", "run_command(echo '(')",
	} {
		r, err := policy.ParseRule(policy.Allow, text)
		if err != nil || r.Text != strings.TrimSpace(text) {
			t.Errorf("%q: %q, %v", text, r.Text, err)
		}
	}
	for _, text := range []string{
		"", "(", "run_command(", "run_command()", "run_command(a b", "run_command(a b) c", "run_command(go test; rm:*)", "run_command(:*)", "run_command(*)",
		"run_command(echo $HOME)", "run_command(ls *.go)", "run_command(a | b)", "run_command(X=1 a)", "run_command(a >b)", "run_command('')",
		"write_file(/etc/**)", "write_file(../x)", "write_file([a)", "mcp__server__do(x)", "*(x)", "run command", "run_command (x)",
	} {
		if r, err := policy.ParseRule(policy.Allow, text); err == nil {
			t.Errorf("%q was taken: %+v", text, r)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error of several lines", text)
		}
	}
	if _, err := policy.ParseRule("maybe", "*"); err == nil {
		t.Error("an unknown verdict was taken")
	}
}

// covers L133
func TestProfiles(t *testing.T) {
	none := policy.Action{Tool: "update_plan"}
	for _, c := range []struct {
		profile policy.Profile
		action  policy.Action
		want    policy.Verdict
		reason  string
	}{
		{policy.Plan, file("read_file", "a"), policy.Allow, policy.ReasonPlan},
		{policy.Plan, file("write_file", "a"), policy.Deny, policy.ReasonPlan},
		{policy.Plan, command("ls"), policy.Allow, policy.ReasonLow},
		{policy.Plan, command("touch x"), policy.Deny, policy.ReasonPlan},
		{policy.Plan, policy.Action{Tool: "run_command", Effects: command("ls").Effects, Outside: true}, policy.Allow, policy.ReasonLow}, // as a job
		{policy.Plan, policy.Action{Tool: "run_command", Effects: command("ls").Effects, Outside: true, Open: true}, policy.Deny, policy.ReasonPlan},
		{policy.AskFirst, policy.Action{Tool: "run_command", Effects: command("ls").Effects, Outside: true, Open: true}, policy.Allow, policy.ReasonLow},
		{policy.Plan, none, policy.Allow, policy.ReasonNoEffect},
		{policy.AskFirst, file("read_file", "a"), policy.Allow, policy.ReasonAsk},
		{policy.AskFirst, file("write_file", "a"), policy.Ask, policy.ReasonAsk},
		{policy.AskFirst, command("ls"), policy.Allow, policy.ReasonLow},
		{policy.AskFirst, command("touch x"), policy.Ask, policy.ReasonCommand},
		{policy.AskFirst, command("rm -rf x"), policy.Ask, policy.ReasonHigh},
		{policy.Auto, file("read_file", "a"), policy.Allow, policy.ReasonAuto},
		{policy.Auto, file("edit_file", "a"), policy.Allow, policy.ReasonAuto},
		{policy.Auto, command("ls"), policy.Allow, policy.ReasonLow},
		{policy.Auto, command("touch x"), policy.Ask, policy.ReasonCommand},
		{policy.Full, file("write_file", ".git/config"), policy.Allow, policy.ReasonFull},
		{policy.Full, file("read_file", ".env"), policy.Allow, policy.ReasonFull},
		{policy.Full, command("rm -rf /; ("), policy.Allow, policy.ReasonFull},
		{"", file("write_file", "a"), policy.Ask, policy.ReasonAsk},
		{"what", file("read_file", "a"), policy.Allow, policy.ReasonAsk},
		{policy.AskFirst, policy.Action{Tool: "x", Effects: []policy.Effect{{Kind: "launch", Target: "a"}}}, policy.Ask, policy.ReasonAsk},
		{policy.Plan, policy.Action{Tool: "x", Effects: []policy.Effect{{Kind: "launch", Target: "a"}}}, policy.Deny, policy.ReasonPlan},
		{policy.AskFirst, command("echo \u202e"), policy.Ask, policy.ReasonHidden},
		{policy.AskFirst, command("if"), policy.Ask, policy.ReasonUnparsed},
		{policy.AskFirst, command("cat .env \u202e"), policy.Ask, policy.ReasonHidden},
		// The strictest effect counts.
		{policy.Auto, policy.Action{Tool: "x", Effects: []policy.Effect{{policy.Write, "a"}, {policy.Run, "b"}}}, policy.Ask, policy.ReasonCommand},
		{policy.Auto, policy.Action{Tool: "write_file", Effects: []policy.Effect{{policy.Write, "hooks/x"}, {policy.Write, ".git/hooks/x"}}}, policy.Ask, policy.ReasonProtected},
	} {
		d := policy.Decide(policy.Rules{Profile: c.profile}, c.action)
		if d.Verdict != c.want || !slices.Contains(d.Reasons, c.reason) || d.Rule != "" {
			t.Errorf("%s %+v: got %+v, want %s %s", c.profile, c.action, d, c.want, c.reason)
		}
	}
}

func TestRuleOrder(t *testing.T) {
	allow, ask, deny := rule(t, policy.Allow, "write_file(docs/**)"), rule(t, policy.Ask, "write_file(docs/a*)"), rule(t, policy.Deny, "write_file(docs/ab)")
	for _, order := range [][]policy.Rule{{allow, ask, deny}, {deny, ask, allow}, {ask, allow, deny}} {
		for p, want := range map[string]policy.Verdict{"docs/x/y": policy.Allow, "docs/ax": policy.Ask, "docs/ab": policy.Deny, "src/x": policy.Ask} {
			if d := policy.Decide(policy.Rules{Profile: policy.AskFirst, List: order}, file("write_file", p)); d.Verdict != want {
				t.Errorf("%s: got %+v, want %s", p, d, want)
			}
		}
	}
	for _, c := range []struct {
		profile policy.Profile
		list    []policy.Rule
		action  policy.Action
		want    policy.Verdict
		why     string
	}{
		{policy.Full, []policy.Rule{deny}, file("edit_file", "docs/ab"), policy.Deny, "a deny rule on writing holds for every tool that writes"},
		{policy.Full, []policy.Rule{rule(t, policy.Deny, "read_file(x/**)")}, file("search_text", "x/y"), policy.Deny, "a deny rule on reading holds for every tool that reads"},
		{policy.Full, []policy.Rule{rule(t, policy.Deny, "list_files(x/**)")}, file("read_file", "x/y"), policy.Allow, "listing is not reading"},
		{policy.AskFirst, []policy.Rule{allow}, file("edit_file", "docs/x"), policy.Ask, "an allow rule holds for its tool only"},
		{policy.Full, []policy.Rule{ask}, file("write_file", "docs/ab"), policy.Ask, "ask rules hold under full"},
		{policy.Plan, []policy.Rule{rule(t, policy.Allow, "*")}, file("write_file", "docs/ab"), policy.Deny, "plan changes nothing, whatever is allowed"},
		{policy.Plan, []policy.Rule{rule(t, policy.Allow, "run_command(touch x)")}, command("touch x"), policy.Deny, "plan changes nothing, whatever is allowed"},
		{policy.Plan, []policy.Rule{rule(t, policy.Deny, "read_file(x)")}, file("read_file", "x"), policy.Deny, "deny rules hold for reads"},
		{policy.AskFirst, []policy.Rule{rule(t, policy.Deny, "run_command(ls)")}, command("ls"), policy.Deny, "deny rules hold for commands that only read"},
		{policy.AskFirst, []policy.Rule{rule(t, policy.Ask, "run_command(ls)")}, command("ls"), policy.Ask, "ask rules hold for commands that only read"},
		{policy.Full, []policy.Rule{rule(t, policy.Deny, "update_plan")}, policy.Action{Tool: "update_plan"}, policy.Deny, "deny rules hold without effects"},
		{policy.AskFirst, []policy.Rule{rule(t, policy.Allow, "*")}, file("write_file", "x"), policy.Allow, "everything"},
	} {
		if d := policy.Decide(policy.Rules{Profile: c.profile, List: c.list}, c.action); d.Verdict != c.want {
			t.Errorf("%s: got %+v, want %s", c.why, d, c.want)
		}
	}
}

func TestProtectedAndSecret(t *testing.T) {
	protected := []string{
		".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/x", ".GIT/hooks/x", ".git", "sub/.git", ".overt/config.json", ".Overt/x", ".husky/pre-commit",
		".envrc", "sub/.envrc", ".vscode/tasks.json", ".github/workflows/ci.yml", ".github/actions/x/action.yml", ".bashrc", ".profile", ".ssh/config", ".mcp.json",
		"a/../.git/config", "Jenkinsfile", ".gitmodules",
		"AGENTS.md", "sub/agents.MD", "CLAUDE.md", "x/OVERT.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md", "a/.GitHub/Copilot-Instructions.md",
		".cursor/rules/a/b.mdc", ".github/instructions/go.instructions.md",
	}
	plain := []string{".gitignore", ".gitattributes", "git/hooks/x", ".github/CODEOWNERS", "src/.github.go", "hooks/pre-commit", "a.git/x", "README.md", "docs/agents.go", ".github/ISSUE_TEMPLATE.md"}
	secret := []string{
		".env", "sub/.env", ".env.local", ".ENV", ".env.production", "cert.pem", "x/server.KEY", "id_rsa", "keys/id_ed25519", ".netrc", ".npmrc", "credentials",
		"credentials.json", "credentials-prod.yaml", ".aws/config", "home/.ssh/known_hosts", "secrets.yml", ".git-credentials",
	}
	open := []string{".env.example", ".env.sample", "env", "environment.go", "credentials.go", "src/credentials_test.py", "id_rsa.pub", "pem", "secretsanta.json", "a.pem.md"}
	for _, p := range protected {
		if !asksFor(policy.Write, p) {
			t.Errorf("%s is not protected", p)
		}
	}
	for _, p := range plain {
		if asksFor(policy.Write, p) {
			t.Errorf("%s is protected", p)
		}
	}
	for _, p := range secret {
		if !policy.Secret(p) {
			t.Errorf("%s is not secret", p)
		}
	}
	for _, p := range open {
		if policy.Secret(p) {
			t.Errorf("%s is secret", p)
		}
	}
}

// asksFor tells whether doing this to the path asks under a profile that asks for no other file.
func asksFor(kind policy.EffectKind, path string) bool {
	a := policy.Action{Tool: "x", Effects: []policy.Effect{{Kind: kind, Target: path}}}
	return policy.Decide(policy.Rules{Profile: policy.Auto}, a).Verdict == policy.Ask
}

// TestSensitiveAsks: below full, only a rule that names exactly the path lets it through.
func TestSensitiveAsks(t *testing.T) {
	for _, c := range []struct {
		tool, path, rule string
		want             policy.Verdict
	}{
		{"write_file", ".git/config", "", policy.Ask},
		{"write_file", ".git/config", "*", policy.Ask},
		{"write_file", ".git/config", "write_file", policy.Ask},
		{"write_file", ".git/config", "write_file(**)", policy.Ask},
		{"write_file", ".git/config", "write_file(.git/*)", policy.Ask},
		{"write_file", ".git/config", "write_file(.git/config)", policy.Allow},
		{"write_file", ".git/config", "edit_file(.git/config)", policy.Ask},
		{"read_file", ".git/config", "", policy.Allow},
		{"read_file", ".env", "", policy.Ask},
		{"read_file", ".env", "read_file(**)", policy.Ask},
		{"read_file", ".env", "read_file(.env)", policy.Allow},
		{"edit_file", ".env", "", policy.Ask},
		{"read_file", "[x].pem", "read_file([x].pem)", policy.Ask},
		{"read_file", "[x].pem", `read_file(\[x\].pem)`, policy.Allow},
	} {
		for _, p := range []policy.Profile{policy.AskFirst, policy.Auto} {
			r := policy.Rules{Profile: p}
			if c.rule != "" {
				r.List = []policy.Rule{rule(t, policy.Allow, c.rule)}
			}
			if d := policy.Decide(r, file(c.tool, c.path)); d.Verdict != c.want {
				t.Errorf("%s: %s %s with %q: got %+v, want %s", p, c.tool, c.path, c.rule, d, c.want)
			}
		}
	}
}

func TestHidden(t *testing.T) {
	for _, r := range "\x00\x1b\r\x7f\u0085\u009b\u00ad\u061c\u180e\u200b\u200d\u200e\u202a\u202e\u2028\u2029\u2060\u2066\u2069\ufe00\ufe0f\ufeff\U000e0041\U000e0100\u3164\u034f" {
		if !policy.Hidden(r) {
			t.Errorf("%U is not hidden", r)
		}
	}
	for _, r := range "a \t\n\u00e9\u0301\u65e5\u05d0\u0627\U0001f600\ufffd\u00a0" {
		if policy.Hidden(r) {
			t.Errorf("%U is hidden", r)
		}
	}
}

// FuzzAllow: no rule allows text that does not parse, or that a person can't see.
func FuzzAllow(f *testing.F) {
	for _, s := range []string{"go test", "go test 'x", "go $'a\\'; rm #'", "a;b", "if", "echo \u202e", "x\x00", "a\\\nb", "<(x)", "(("} {
		f.Add(s)
	}
	var rules []policy.Rule
	for _, text := range []string{"*", "run_command", "run_command(go:*)", "run_command(echo:*)", "run_command(a)"} {
		rules = append(rules, rule(f, policy.Allow, text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := policy.Decide(policy.Rules{Profile: policy.Auto, List: rules}, command(text))
		if _, err := syntax.NewParser().Parse(strings.NewReader(text), ""); err != nil && d.Verdict == policy.Allow {
			t.Fatalf("%q does not parse and was allowed by %s", text, d.Rule)
		}
		if strings.ContainsAny(text, "\x00\x1b\r\u202e\u200b") && d.Verdict == policy.Allow {
			t.Fatalf("%q was allowed by %s", text, d.Rule)
		}
		if s := policy.Suggest(command(text)); strings.HasPrefix(s, "--allow") {
			if d := policy.Decide(follow(t, s), command(text)); d.Verdict != policy.Allow {
				t.Fatalf("%q: %s gives %+v", text, s, d)
			}
		}
	})
}

func FuzzParseRule(f *testing.F) {
	f.Add("run_command(go test:*)", "go test x")
	f.Add("write_file({a,b}/**)", "a/x")
	f.Fuzz(func(t *testing.T, text, target string) {
		r, err := policy.ParseRule(policy.Deny, text)
		if err != nil {
			return
		}
		rules := policy.Rules{Profile: policy.Full, List: []policy.Rule{r}}
		policy.Decide(rules, command(target))
		policy.Decide(rules, file("write_file", target))
		again, err := policy.ParseRule(policy.Deny, r.Text)
		if err != nil || again.Text != r.Text {
			t.Fatalf("%q is not read again: %v", r.Text, err)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	r := policy.Rules{Profile: policy.AskFirst}
	for _, text := range []string{"run_command(go test:*)", "run_command(go vet ./...)", "write_file(docs/**)"} {
		r.List = append(r.List, rule(b, policy.Allow, text))
	}
	a := command("go test ./internal/... -run 'TestX' -count=1")
	for b.Loop() {
		policy.Decide(r, a)
	}
}
