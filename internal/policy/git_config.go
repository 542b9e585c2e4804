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
	for i, a := range args { // where it has Git go from now on
		for _, at := range addresses(a.text) {
			g.reaches(at)
		}
		if i > 0 && namesHost(args[i-1].text) {
			g.reaches(a.text)
		}
	}
	switch {
	case outside:
		g.add(High, RiskOutside)
	case len(args) > 0 && (strings.HasPrefix(args[0].text, "user.") || !strings.Contains(args[0].text, ".")) && len(args) <= 2 && !strings.HasPrefix(args[0].text, "-"):
		g.add(Medium, RiskProtected)
	default:
		g.add(High, RiskProtected)
	}
}

// maxRepositories bounds how many repositories one command is looked at for.
const maxRepositories = 64

// gitConfig looks for what reading commands of Git run for the repository that they find: programs that its configuration names,
// a hook, and the same of the repositories in it.
func (g *grader) gitConfig() {
	if g.files == nil {
		g.add(Medium, RiskConfig)
		return
	}
	brings, ok := g.brings()
	if brings {
		g.brought()
	}
	if !ok || slices.ContainsFunc(g.at.dirs, func(d string) bool { return strings.ContainsAny(d, "*?[") }) {
		g.add(Medium, RiskReads)
		g.risk.Brought = true
	}
}

// brings tells whether a repository that Git may find has it run programs; ok: all that it may find was looked at.
func (g *grader) brings() (brings, ok bool) {
	ok = g.upward(func(dir string) { // the repository may begin in any folder above
		brings = brings || g.bare(dir) || !g.repository(dir)
	})
	return brings, ok
}

// brought notes that programs of the repository run, which the command does not name.
func (g *grader) brought() {
	g.add(Medium, RiskConfig)
	g.risk.Brought = true
}

// otherRepositories looks for repositories of other programs, whose settings may name programs as well.
func (g *grader) otherRepositories() {
	g.upward(func(dir string) { // gitConfig has said where it can't be
		if g.thereAny(dir, ".hg .bzr .svn .fslckout _FOSSIL_") {
			g.brought()
		}
	})
}

// gitHooks looks for hooks of the repository, which commands that change something run (githooks(5)).
func (g *grader) gitHooks() {
	look := func(hooks string) {
		if g.thereAny(hooks, "pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge post-checkout "+
			"pre-rebase post-rewrite applypatch-msg pre-applypatch post-applypatch pre-auto-gc post-index-change reference-transaction pre-push fsmonitor-watchman") {
			g.brought()
		}
	}
	g.upward(func(folder string) {
		switch dir, ok := g.gitDir(folder); {
		case !ok:
			g.brought()
		case dir != "":
			look(path.Join(dir, "hooks"))
		}
	})
	for _, hooks := range g.hooks {
		look(hooks)
	}
}

// upward looks at each folder that the command may be in, and at those above it in the workspace; false: it may be elsewhere, or
// nobody can tell.
func (g *grader) upward(look func(dir string)) bool {
	if g.files == nil {
		return false
	}
	ok := true
	for _, d := range g.at.dirs {
		if d == "?" || path.IsAbs(d) || strings.HasPrefix(d, "~") {
			ok = false
			continue
		}
		at, err := g.resolve(d)
		if err != nil {
			ok = false
			continue
		}
		for look(at); at != "."; look(at) {
			at = path.Dir(at)
		}
	}
	return ok
}

// thereAny tells whether a folder has one of some names.
func (g *grader) thereAny(dir, names string) bool {
	for name := range strings.FieldsSeq(names) {
		if g.there(path.Join(dir, name)) {
			return true
		}
	}
	return false
}

// there tells whether a path leads to something, or to what nobody can tell.
func (g *grader) there(p string) bool {
	_, err := g.files.Script(p)
	return !absent(err)
}

// bare tells whether Git may take a folder itself for a repository: it needs objects and refs, or a file that says where they are
// (gitrepository-layout(5)). Such a one can lie among the files of any other.
func (g *grader) bare(dir string) bool {
	return g.there(path.Join(dir, "commondir")) || g.there(path.Join(dir, "objects")) && g.there(path.Join(dir, "refs"))
}

// gitDir says where the repository of a folder is, links and the file that may stand in its place followed; "": it has none. false:
// that can't be told, or is outside the workspace.
func (g *grader) gitDir(folder string) (string, bool) {
	p := path.Join(folder, ".git")
	text, err := g.files.Script(p)
	if absent(err) {
		return "", true
	}
	if err == nil {
		to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if !ok {
			return "", false
		}
		return g.from(folder, to)
	}
	dir, err := g.resolve(p)
	return dir, err == nil
}

// repository tells whether reading the repository of a folder, if it has one, runs nothing that it brings along.
func (g *grader) repository(folder string) bool {
	if safe, ok := g.looked[folder]; ok {
		return safe
	}
	if g.looked == nil {
		g.looked = map[string]bool{}
	}
	if len(g.looked) >= maxRepositories {
		return false
	}
	g.looked[folder] = true // should a repository lead back to itself
	dir, ok := g.gitDir(folder)
	g.looked[folder] = ok && (dir == "" || g.repositoryAt(dir, folder))
	return g.looked[folder]
}

func (g *grader) repositoryAt(dir, folder string) bool {
	if g.there(path.Join(dir, "commondir")) || g.there(path.Join(dir, "hooks/post-index-change")) {
		return false
	}
	hash := 20
	for _, name := range []string{"config", "config.worktree"} {
		data, err := g.files.Script(path.Join(dir, name))
		if absent(err) {
			continue
		}
		set, ok := gitSettings(string(data))
		if err != nil || !ok {
			return false
		}
		for _, s := range set {
			switch {
			case s.section == "extensions" && s.key == "objectformat" && strings.EqualFold(s.value, "sha256"):
				hash = 32
			case s.section == "core" && s.key == "worktree":
				top, err := g.resolve(folder)
				if to, ok := g.from(dir, s.value); err != nil || !ok || to != top {
					return false
				}
			case s.section == "core" && s.key == "hookspath" && !strings.HasPrefix(s.value, "~") && !strings.HasPrefix(s.value, "%"):
				hooks, ok := g.from(folder, s.value)
				if !ok || g.there(path.Join(hooks, "post-index-change")) {
					return false
				}
				g.hooks = append(g.hooks, hooks)
			case s.runs():
				return false
			case s.section == "alias":
				g.renames = true
			}
		}
	}
	data, err := g.files.Index(path.Join(dir, "index"))
	if err != nil {
		return absent(err)
	}
	links, ok := gitlinks(data, hash)
	if !ok {
		return false
	}
	for _, l := range links { // status and diff go into them
		if !g.repository(path.Join(folder, l)) {
			return false
		}
	}
	return true
}

// from says where a path leads that may be relative to a folder; false: nobody can tell, or it is outside the workspace.
func (g *grader) from(folder, p string) (string, bool) {
	if !path.IsAbs(p) {
		if g.aside(folder, p) {
			return "", false
		}
		p = path.Join(folder, p)
	} else if strings.Contains(p+"/", "/../") {
		return "", false
	}
	to, err := g.resolve(p)
	return to, err == nil
}
