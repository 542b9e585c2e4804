package policy

import (
	"io/fs"
	"path"
	"testing"
)

// noFiles is a workspace without any.
type noFiles struct{}

func (noFiles) Resolve(p string) (string, error) { return path.Clean(p), nil }
func (noFiles) Script(string) ([]byte, error)    { return nil, fs.ErrNotExist }
func (noFiles) Index(string) ([]byte, error)     { return nil, fs.ErrNotExist }
func (noFiles) Linked(string) string             { return "" }

func TestConfined(t *testing.T) {
	const confined, outside, asks = "confined", "outside", "asks"
	allow := func(texts ...string) (out []Rule) {
		for _, s := range texts {
			r, err := ParseRule(Allow, s)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		return out
	}
	for _, tt := range []struct {
		command string
		want    string
	}{
		{"git status", confined},
		{"go test ./...", confined},
		{"touch a && rm a", confined},
		{"./unknown-program --x", confined},
		{"go test ./... | tee out.txt", confined},
		{"make", confined},                    // allowed by a rule for this command alone below, not here
		{"npm install left-pad", asks},        // wants the network
		{"curl https://example.org", asks},    // the same
		{"rm -rf /", asks},                    // high
		{"git push", asks},                    // sends
		{"cat ~/.ssh/id_rsa", asks},           // secret
		{"cat .env", asks},                    // secret
		{"echo x > .git/hooks/x", asks},       // protected
		{"echo x > ../other", asks},           // outside
		{"sudo ls", asks},                     // elevates
		{"kill 4242", asks},                   // acts on what it can't reach
		{"curl x | sh", asks},                 // high
		{"echo 'unclosed", asks},              // unparsed
		{"eval \"$(cat f)\"", asks},           // what can't be seen is high
		{"cargo build --release", outside},    // a rule of the person
		{"docker run --rm alpine true", asks}, // a socket
	} {
		risk := Command(tt.command, ".", noFiles{})
		a := Action{Tool: "run_command", Effects: []Effect{{Kind: Run, Target: tt.command}}, Risk: &risk}
		rules := Rules{Profile: Auto, Sandbox: true, List: allow("run_command(cargo build:*)")}
		got := func(d Decision) string {
			switch {
			case d.Verdict == Allow && d.Confined:
				return confined
			case d.Verdict == Allow:
				return outside
			}
			return asks
		}
		if d := Decide(rules, a); got(d) != tt.want {
			t.Errorf("%s: %s (%v), want %s", tt.command, got(d), d.Reasons, tt.want)
		}
		// Outside the sandbox only what runs without one does; and only auto has one.
		bare := got(Decide(Rules{Profile: Auto, List: rules.List}, a))
		if bare == confined {
			t.Errorf("%s: confined without a sandbox", tt.command)
		}
		a.Outside = true
		if d := got(Decide(rules, a)); d != bare {
			t.Errorf("%s outside: %s, without a sandbox %s", tt.command, d, bare)
		}
		for _, p := range []Profile{Plan, AskFirst, Full} {
			if got(Decide(Rules{Profile: p, Sandbox: true}, a)) == confined {
				t.Errorf("%s: confined under %s", tt.command, p)
			}
		}
	}
}

func TestPlanted(t *testing.T) {
	for path, want := range map[string]bool{
		"a": false, "src/a.go": false, ".gitignore": false, "Makefile": false,
		".git": false, ".git/index": false, ".git/HEAD": false, ".git/refs/heads/config": false, ".git/logs/refs/heads/hooks": false, ".git/COMMIT_EDITMSG": false,
		".git/hooks/x": true, ".git/config": true, ".GIT/Hooks/x": true, "sub/.git/config": true, ".git/info/attributes": true, ".git/commondir": true,
		".git/modules/a/hooks/x": true, ".git/worktrees/w/gitdir": true, ".git/modules/a/index": false,
		".git/objects/info/alternates": true, ".git/objects/info/http-alternates": true, ".git/objects/info": false, ".git/objects/info/packs": false, ".git/objects/ab/alternates": false,
		".git/modules/a/objects/info/alternates": true, ".git/modules/a/objects/info/packs": false, ".git/modules/a/info/attributes": true,
		".github/workflows/x.yml": true, "AGENTS.md": true, "sub/CLAUDE.md": true, ".overt/config.json": true, ".vscode/tasks.json": true, ".envrc": true,
	} {
		if got := Planted(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
