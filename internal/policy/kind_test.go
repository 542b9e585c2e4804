package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"overt/internal/policy"
)

// TestKind: what an answer that lasts is about, and whether it may allow.
func TestKind(t *testing.T) {
	for _, c := range []struct {
		action  policy.Action
		kind    string
		lasting bool
	}{
		{command("go test ./internal/x"), "run_command(go test:*)", true},
		{command("go run ./x"), "run_command(go run ./x)", true},
		{command("mkdir x"), "run_command(mkdir:*)", true},
		{command("echo"), "run_command(echo:*)", false}, // asks nobody
		{command("git status"), "run_command(git status:*)", true},
		{command("git push"), "run_command(git push)", true},
		{command("git push --force"), "run_command(git push --force)", false}, // high
		{command("git -C .. status"), "run_command(git -C .. status)", true},
		{command("./go test"), "run_command(./go test)", true},
		{command("rm -rf build"), "run_command(rm -rf build)", false}, // high
		{command("touch 'a b'"), "run_command(touch:*)", true},
		{command("make 'a b'"), "run_command(make 'a b')", true},
		{command("a 'x:*'"), "run_command(a 'x:*')", true},
		{command("npm test"), "run_command(npm test)", true},
		// more than one rule can say
		{command("touch a && touch b"), "run_command", false},
		{command("echo x > a"), "run_command", false},
		{command("cat $HOME/x"), "run_command", false},
		{command(policy.InDir("sub", "go test")), "run_command", false},
		// can't be read, or runs what can't be seen
		{command("echo 'x"), "run_command", false},
		{command("sh x.sh"), "run_command(sh x.sh)", false},
		{command("python3 -c 'print(1)'"), "run_command(python3 -c 'print(1)')", false},
		{command("echo a\u202eb"), "run_command", false},
		// protected, secret
		{command("cat .env"), "run_command(cat:*)", false},
		{command("touch .git/hooks/pre-commit"), "run_command(touch:*)", false},
		{file("write_file", ".git/hooks/x"), "write_file(.git/hooks/x)", false},
		{file("edit_file", "sub/.env"), "edit_file(sub/.env)", false},
		{file("edit_file", "a.go"), "edit_file(*)", true},
		{file("edit_file", "src/x/a.go"), "edit_file(src/x/**)", true},
		{file("write_file", "pages/[id]/a"), `write_file(pages/\[id\]/**)`, true},
		{policy.Action{Tool: "read_file", Effects: []policy.Effect{{Kind: policy.Read, Target: ".env"}}}, "read_file(.env)", false},
		{policy.Action{Tool: "read_file", Effects: []policy.Effect{{Kind: policy.Read, Target: "a"}}}, "read_file(a)", false}, // asks nobody
		{policy.Action{Tool: "edit_file", Effects: []policy.Effect{{Kind: policy.Write, Target: "sub/a"}, {Kind: policy.Write, Target: "in/a"}}}, "edit_file(sub/**)", false},
		{policy.Action{Tool: "other", Effects: []policy.Effect{{Kind: policy.Write, Target: "a"}}}, "other", true},
		{policy.Action{Tool: "other"}, "other", false},
	} {
		if got := policy.Kind(c.action); got != c.kind {
			t.Errorf("%+v: kind %s, want %s", c.action, got, c.kind)
		}
		rule, ok := policy.Lasting(policy.Rules{Profile: policy.AskFirst}, c.action)
		if ok != c.lasting || ok && rule.Text != c.kind {
			t.Errorf("%+v: lasting %t, %q", c.action, ok, rule.Text)
		}
	}
	strict := policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{rule(t, policy.Ask, "run_command(go test)")}}
	if _, ok := policy.Lasting(strict, command("go test")); ok {
		t.Error("an answer outlasts a rule that asks")
	}
}

// TestKindCovers: whatever the action, a kind is a rule; as a deny rule it covers the action, and as an allow rule it
// lets no protected or secret path through.
func TestKindCovers(t *testing.T) {
	words := rapid.StringMatching(`(go test|touch|cat|rm|sh -c|echo|a=1|cd x &&|sudo)( [-a-z./*$'"é]{1,8}){0,3}`)
	paths := rapid.StringMatching(`([a-z\[\]*{}\\]{1,3}/){0,2}(a\.go|\.env|\.git/x|\*|x y)`)
	rapid.Check(t, func(t *rapid.T) {
		a := command(words.Draw(t, "command"))
		if rapid.Bool().Draw(t, "file") {
			a = file(rapid.SampledFrom([]string{"write_file", "edit_file"}).Draw(t, "tool"), paths.Draw(t, "path"))
		}
		deny, err := policy.ParseRule(policy.Deny, policy.Kind(a))
		if err != nil {
			t.Fatal(err)
		}
		if d := policy.Decide(policy.Rules{Profile: policy.Full, List: []policy.Rule{deny}}, a); d.Verdict != policy.Deny {
			t.Fatalf("%s does not deny %+v: %+v", deny.Text, a, d)
		}
		allow, ok := policy.Lasting(policy.Rules{Profile: policy.AskFirst}, a)
		if !ok {
			return
		}
		for _, other := range []policy.Action{
			command("cat .env"), command("touch .git/x"), command("rm -rf /"), command("sh -c 'x'"), file("write_file", ".git/x"), file("edit_file", "a/.env"),
		} {
			if d := policy.Decide(policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{allow}}, other); d.Verdict != policy.Ask {
				t.Fatalf("%s lets %+v through: %+v", allow.Text, other, d)
			}
		}
	})
}

// TestLastingIsBounded: an answer to one command lets no new option through, and no path out of the workspace.
func TestLastingIsBounded(t *testing.T) {
	for _, c := range []struct {
		agreed, then string
		want         policy.Verdict
	}{
		{"go test ./a", "go test ./b ./c/...", policy.Allow},
		{"go test -race ./a", "go test -race ./b", policy.Allow},
		{"go test ./a", "go test -exec ./evil ./a", policy.Ask},
		{"go test -race ./a", "go test -race -toolexec=x ./a", policy.Ask},
		{"go vet ./a", "go vet -vettool=./evil ./a", policy.Ask},
		{"go build ./a", "go build -o /home/u/bin/ls ./a", policy.Ask},
		{"git diff a", "git diff b", policy.Allow},
		{"git diff", "git diff --output=../outside", policy.Ask},
		{"git add a", "git add ../../x", policy.Ask},
		{"git commit -m x", "git commit -m y", policy.Allow},
		{"git commit -m x", "git commit --amend -F /etc/passwd", policy.Ask},
		{"cargo build", "cargo build --config build.rustc-wrapper=x", policy.Ask},
		{"pytest a", "pytest -p evil", policy.Ask},
		{"gofmt -w a", "gofmt -w b", policy.Allow},
		{"gofmt -w a", "gofmt -w /home/u/src", policy.Ask},
		{"touch a", "touch ~/x", policy.Ask},
		{"mkdir a", "mkdir b/../../c", policy.Ask},
		{"cat /srv/a", "cat /srv/a b", policy.Allow},
		{"cat /srv/a", "cat /srv/b", policy.Ask},
		{"grep a /srv/b", "grep -f/srv/c /srv/b", policy.Ask},
	} {
		r := policy.Rules{Profile: policy.AskFirst}
		rule, ok := policy.Lasting(r, command(c.agreed))
		if !ok {
			t.Errorf("%s: nothing lasts", c.agreed)
			continue
		}
		r.List = append(r.List, rule)
		if d := policy.Decide(r, command(c.then)); d.Verdict != c.want {
			t.Errorf("%s, then %s: %s, want %s", c.agreed, c.then, d.Verdict, c.want)
		}
	}
}
