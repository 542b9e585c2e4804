package policy

import (
	"path"
	"slices"
	"strings"
)

// gitConfigure looks at what git config changes.
func (g *grader) gitConfigure(args []arg) {
	outside := false
	for _, a := range args {
		switch {
		case a.text == "--global" || a.text == "--system" || a.text == "-f" || strings.HasPrefix(a.text, "--file"):
			outside = true
		case a.text == "-e" || a.text == "--edit" || a.text == "edit":
			outside = true
		}
	}
	g.effect(Write, ".git/config", false)
	switch {
	case outside:
		g.add(High, RiskOutside)
	case len(args) > 0 && (strings.HasPrefix(args[0].text, "user.") || !strings.Contains(args[0].text, ".")) && len(args) <= 2 && !strings.HasPrefix(args[0].text, "-"):
		g.add(Medium, RiskProtected)
	default:
		g.add(High, RiskProtected)
	}
}

// gitConfig looks for what in the repository's own configuration names programs that reading commands run, too.
func (g *grader) gitConfig() {
	if g.files == nil {
		g.add(Medium, RiskConfig)
		return
	}
	for _, d := range g.at.dirs {
		if d == "?" || path.IsAbs(d) || strings.HasPrefix(d, "~") {
			g.add(Medium, RiskReads)
			continue
		}
		for { // the repository may begin in any folder above
			if !g.repository(path.Join(d, ".git")) {
				g.add(Medium, RiskConfig)
			}
			if d == "." || d == ".." || strings.HasPrefix(d, "../") {
				break
			}
			d = path.Dir(d)
		}
	}
}

// gitHooks looks for hooks of the repository, which commands that change something run (githooks(5)).
func (g *grader) gitHooks() {
	if g.files == nil {
		return
	}
	for _, d := range g.at.dirs {
		for {
			for _, name := range []string{
				"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit", "post-merge", "post-checkout", "pre-rebase", "post-rewrite",
				"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-auto-gc", "post-index-change", "reference-transaction", "pre-push", "fsmonitor-watchman",
			} {
				if _, err := g.files.Script(path.Join(d, ".git/hooks", name)); !absent(err) {
					g.add(Medium, RiskConfig)
				}
			}
			if d == "." || d == "?" || d == ".." || path.IsAbs(d) || strings.HasPrefix(d, "~") || strings.HasPrefix(d, "../") {
				break
			}
			d = path.Dir(d)
		}
	}
}

// repository tells whether the configuration in a folder for Git, if there is one, names no programs.
func (g *grader) repository(dir string) bool {
	for _, name := range []string{"config", "config.worktree"} {
		data, err := g.files.Script(path.Join(dir, name))
		if err != nil {
			if !absent(err) {
				return false
			}
			continue
		}
		if namesPrograms(string(data)) {
			return false
		}
	}
	if _, err := g.files.Script(dir); err == nil { // a file that leads elsewhere
		return false
	}
	modules, err := g.files.Script(path.Join(path.Dir(dir), ".gitmodules"))
	if err != nil {
		return absent(err)
	}
	for line := range strings.Lines(string(modules)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), `[submodule "`); ok {
			data, err := g.files.Script(path.Join(dir, "modules", strings.TrimSuffix(name, `"]`), "config"))
			if err == nil && namesPrograms(string(data)) || err != nil && !absent(err) {
				return false
			}
		}
	}
	return true
}

// namesPrograms tells whether a configuration of Git sets what may name a program to run, or takes settings from another
// file (git-config(1)).
func namesPrograms(text string) bool {
	section := ""
	for line := range strings.Lines(strings.ToLower(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			section = strings.TrimSpace(name)
			if i := strings.IndexAny(section, ` ".`); i >= 0 {
				section = section[:i]
			}
			line = strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch section {
		case "include", "includeif", "filter", "pager", "gpg", "trace2", "hook":
			return true
		case "core":
			if slices.Contains([]string{"fsmonitor", "hookspath", "pager", "sshcommand", "gitproxy", "askpass", "worktree", "attributesfile", "alternaterefscommand"}, key) && value != "false" && value != "" {
				return true
			}
		case "diff", "merge":
			if slices.Contains([]string{"external", "textconv", "command", "driver", "trustexitcode"}, key) {
				return true
			}
		case "log":
			if key == "showsignature" {
				return true
			}
		}
	}
	return false
}
