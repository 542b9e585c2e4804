package policy_test

import (
	"testing"

	"overt/internal/policy"
)

// TestBrought: a rule on a command does not mean the programs that the repository has Git run for it.
func TestBrought(t *testing.T) {
	const runs, confined, asks = "runs", "confined", "asks"
	monitor := files{".git/config": "[core]\n\tfsmonitor = \"touch p\"\n"}
	clean := files{".git/config": "[core]\n\tbare = false\n", "package.json": `{"scripts": {"test": "node t.js"}}`, "Makefile": "all:\n\ttouch a\n"}
	husky := files{".git/config": "[core]\n\thookspath = .husky/_\n", ".husky/_/pre-commit": "npm test"}
	for _, c := range []struct {
		tree                      files
		rule, command, ask, boxed string // under ask, and under auto with a sandbox
	}{
		{clean, "run_command(git commit:*)", "git commit -m x", runs, runs},
		{monitor, "run_command(git status:*)", "git status", asks, confined},
		{monitor, "run_command(git status)", "git status", asks, confined}, // the whole command says no more of it
		{monitor, "run_command(git:*)", "git -C sub diff", asks, confined},
		{monitor, "run_command(git commit:*)", "git commit -m x", asks, confined},
		{monitor, "run_command(git push:*)", "git push", asks, asks}, // it could not do its work confined
		{monitor, "run_command", "git commit -m x", runs, runs},      // every command is
		{monitor, "*", "git commit -m x", runs, runs},
		{monitor, "run_command(go build:*)", "go build ./...", asks, confined},
		{monitor, "run_command(go test:*)", "go test ./...", runs, runs},
		{files{".git/config": "[filter \"x\"]\nclean = touch p\n"}, "run_command(git add:*)", "git add .", asks, confined},
		{files{".git/config": "[alias]\nx = !touch p\n"}, "run_command(git x:*)", "git x", asks, confined},
		{clean, "run_command(git x:*)", "git x", runs, runs},
		{files{".git/config": "", ".git/hooks/pre-commit": ""}, "run_command(git commit:*)", "git commit -m x", asks, confined},
		{files{".git/config": "", ".git/hooks/pre-commit": ""}, "run_command(git status:*)", "git status", runs, runs},
		{husky, "run_command(git commit:*)", "git commit -m x", asks, confined},
		{husky, "run_command(git diff:*)", "git diff", runs, runs},
		{files{".git/config": "[core]\n\thookspath = h\n", "h/post-index-change": ""}, "run_command(git status:*)", "git status", asks, confined},
		{files{".git/config": "[core]\n\thookspath = ../h\n"}, "run_command(git status:*)", "git status", asks, confined},
		{files{".git/config": "[core]\n\thookspath = ~/h\n"}, "run_command(git status:*)", "git status", asks, confined},
		{clean, "run_command(git -C .. status)", "git -C .. status", asks, confined},
		// What a person has in mind who allows these are the project's own programs.
		{clean, "run_command(npm test:*)", "npm test", runs, runs},
		{clean, "run_command(make:*)", "make all", runs, runs},
	} {
		risk := policy.Command(c.command, ".", c.tree)
		a := policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: c.command}}, Risk: &risk}
		got := func(r policy.Rules) string {
			r.List = []policy.Rule{rule(t, policy.Allow, c.rule)}
			switch d := policy.Decide(r, a); {
			case d.Verdict != policy.Allow:
				return asks
			case d.Confined:
				return confined
			}
			return runs
		}
		if ask, boxed := got(policy.Rules{Profile: policy.AskFirst}), got(policy.Rules{Profile: policy.Auto, Sandbox: true}); ask != c.ask || boxed != c.boxed {
			t.Errorf("%s by %s in %v: %s, %s; want %s, %s (%s %v)", c.command, c.rule, c.tree, ask, boxed, c.ask, c.boxed, risk.Grade, risk.Reasons)
		}
		a.Outside = true
		if boxed := got(policy.Rules{Profile: policy.Auto, Sandbox: true}); boxed != c.ask {
			t.Errorf("%s by %s in %v outside: %s", c.command, c.rule, c.tree, boxed)
		}
		if _, ok := policy.Lasting(policy.Rules{Profile: policy.AskFirst}, a); ok && c.ask == asks {
			t.Errorf("%s in %v: an answer may last", c.command, c.tree)
		}
	}
}
