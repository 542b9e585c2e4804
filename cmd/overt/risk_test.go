package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// riskCase is a line of testdata/risk/cases.jsonl: commands with the grades that are right for them.
type riskCase struct {
	ID    string
	Setup struct {
		Rules string `json:"user_rules"`
		Files []struct{ Path, Content string }
	}
	Action struct {
		Commands []string `json:"classify_each_on_its_own"`
	}
	Expected struct {
		Grades  []string `json:"risk_ok"`
		Unasked bool     `json:"auto_approve"`
		Must    any
	}
}

func riskCases(t *testing.T) []riskCase {
	t.Helper()
	data, err := os.ReadFile("testdata/risk/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []riskCase
	for line := range strings.Lines(string(data)) {
		var c riskCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// graded is what overt risk --json says.
type graded struct {
	Grade   string
	Effects []struct {
		Kind, Target string
		Reversible   bool
	}
	Reasons []string
	Unasked map[string]bool
}

func (p *place) risk(command string, flags ...string) graded {
	p.t.Helper()
	var g graded
	out := p.run(append(append([]string{"risk", "--json"}, flags...), "--", command)...).want(p.t, 0).out
	if err := json.Unmarshal([]byte(out), &g); err != nil {
		p.t.Fatalf("%q: %v", out, err)
	}
	if len(g.Unasked) != 4 || g.Grade != "low" && len(g.Reasons) == 0 || g.Effects == nil {
		p.t.Errorf("%q: %s", command, out)
	}
	return g
}

// TestRiskCases: the grades of the cases, and that what must not run unasked does not, through the program.
//
// covers A035 A037 A039 A040 A041
func TestRiskCases(t *testing.T) {
	for _, c := range riskCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for _, f := range c.Setup.Files {
				p.make(filepath.Dir(f.Path))
				p.write(f.Path, f.Content)
			}
			var flags []string
			if rule, ok := strings.CutPrefix(c.Setup.Rules, "allow: "); ok {
				flags = []string{"--allow", "run_command(" + rule + ":*)"}
			}
			for _, command := range c.Action.Commands {
				g := p.risk(command, flags...)
				if !slices.Contains(c.Expected.Grades, g.Grade) || g.Unasked["ask"] != c.Expected.Unasked || !g.Unasked["full"] {
					t.Errorf("%q: %+v, want %v", command, g, c.Expected.Grades)
				}
				if g.Grade == "high" && (g.Unasked["plan"] || g.Unasked["auto"]) {
					t.Errorf("%q: high, and runs unasked: %+v", command, g)
				}
				if must, _ := c.Expected.Must.(string); strings.Contains(must, "rm is") && p.risk(command, "--deny", "run_command(rm)").Unasked["full"] {
					t.Errorf("%q: a rule that denies rm does not see it", command)
				}
				if c.ID == "B-rm-double-dash" && slices.Contains(g.Reasons, "risk.destroys") {
					t.Errorf("%q: %v", command, g.Reasons)
				}
			}
		})
	}
}

// TestRiskContrasts: what the cases say of commands that look alike.
func TestRiskContrasts(t *testing.T) {
	p := newPlace(t)
	p.make(".git")
	p.write(".git/config", "[core]\n\tbare = false\n")
	for command, want := range map[string]string{
		"echo a#b; rm -rf build": "high", "git branch": "low", "git tag": "low", "git remote -v": "low", "git stash list": "low", "bash -c 'ls'": "low",
		"for f in *.go; do wc -l \"$f\"; done": "low", "git status": "low", "git diff": "low", "git log -p -1": "low", "awk 'BEGIN{print (1 > 2)}'": "low",
		"cat .env": "medium", "touch .gitignore": "medium", "touch .git/hooks/pre-commit": "high",
	} {
		g := p.risk(command)
		if g.Grade != want || g.Unasked["ask"] != (want == "low") || g.Unasked["plan"] != (want == "low") {
			t.Errorf("%q: %+v", command, g)
		}
	}
	// Files that run later are at least not automatic, by whatever means (G-git-metadata-writes).
	if err := os.Symlink(".git/hooks", filepath.Join(p.dir, "hooks")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/x", ".GIT/hooks/x", "hooks/pre-commit", ".git", ".husky/pre-commit", ".envrc", ".vscode/tasks.json",
		".overt/config.json", ".github/workflows/ci.yml",
	} {
		for _, command := range []string{"echo x > F", "cp a F", "mv a F", "tee F < a", "sed -i s/a/b/ F"} {
			command = strings.ReplaceAll(command, "F", file)
			if g := p.risk(command, "--allow", "run_command"); g.Grade != "high" || g.Unasked["auto"] || g.Unasked["ask"] {
				t.Errorf("%q: %+v", command, g)
			}
		}
	}
}
