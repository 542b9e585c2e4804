package policy

import (
	"slices"
	"strings"
)

// git looks at a command of git.
func (g *grader) git(args []arg) {
	saved := g.at.clone()
	defer func() { g.at = saved }()
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if a.how != exact && a.option() {
			g.add(High, RiskUnseen)
			return
		}
		if !strings.HasPrefix(a.text, "-") {
			break
		}
		used, done := g.gitGlobal(a, args[i+1:])
		if done {
			return
		}
		i += used
	}
	if i >= len(args) {
		return
	}
	g.gitCommand(args[i], args[i+1:])
	if i+1 < len(args) && slices.ContainsFunc(args[i+1:], func(a arg) bool { return slices.ContainsFunc(pathsIn(a.text), Secret) || secretPattern(a.text) }) && args[i].text != "commit" {
		g.add(Medium, RiskSecret)
	}
}

// gitGlobal looks at an option before the subcommand.
func (g *grader) gitGlobal(a arg, rest []arg) (used int, done bool) {
	name, value, joined := strings.Cut(a.text, "=")
	switch name {
	case "--version", "--help", "-h", "-v", "--exec-path", "--html-path", "--man-path", "--info-path":
		if joined {
			g.add(High, RiskUnseen)
		}
		return 0, true
	case "--no-pager", "-P", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-advice", "--no-lazy-fetch":
	case "-p", "--paginate":
		g.add(Medium, RiskOption)
	case "-C":
		if len(rest) > 0 {
			g.shifted(rest[0])
			g.chdir("cd", rest[:1])
		}
		return 1, false
	case "-c":
		if len(rest) > 0 {
			g.gitSetting(rest[0])
		}
		return 1, false
	case "--git-dir", "--work-tree", "--namespace":
		g.add(Medium, RiskOption)
		if !joined && len(rest) > 0 {
			return 1, false
		}
		g.suspect(arg{text: value})
	default:
		g.add(Medium, RiskOption)
		if name == "--config-env" {
			g.add(High, RiskUnseen)
		}
	}
	return 0, false
}

// gitSetting looks at a setting that is given for one command. Many name programs; those that are known not to are low.
func (g *grader) gitSetting(a arg) {
	name, _, _ := strings.Cut(strings.ToLower(a.text), "=")
	switch name {
	case "color.ui", "core.quotepath", "core.autocrlf", "user.name", "user.email", "log.showsignature", "diff.renames", "diff.noprefix", "advice.detachedhead", "core.abbrev", "log.date",
		"commit.gpgsign", "init.defaultbranch", "merge.conflictstyle", "pull.rebase", "core.fscache", "color.status", "color.diff", "column.ui", "status.short", "core.filemode", "grep.linenumber":
		if a.how != unknown && name != "log.showsignature" {
			return
		}
	case "core.fsmonitor":
		if a.text == name+"=false" || a.text == name+"=" {
			return
		}
	}
	g.add(High, RiskUnseen)
}

// gitCommand looks at the subcommand.
func (g *grader) gitCommand(sub arg, args []arg) {
	if sub.how != exact {
		g.add(High, RiskUnseen)
		return
	}
	if s, ok := gitReads(sub.text, args); ok {
		g.apply(s, args)
		g.gitConfig()
		if slices.Contains([]string{"ls-files", "grep", "diff"}, sub.text) {
			g.names = []arg{{text: "*", how: pattern, every: !slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.text, "*.") })}}
		}
		return
	}
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a arg) bool {
			name, _, _ := strings.Cut(a.text, "=")
			return slices.ContainsFunc(options, func(o string) bool {
				if strings.HasPrefix(o, "--") || !strings.HasPrefix(o, "-") {
					return name == o || begins(name, o)
				}
				return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, o[1:])
			})
		})
	}
	for _, a := range args {
		if a.option() && a.how != exact {
			g.add(Medium, RiskUnresolved)
		}
		name, _, _ := strings.Cut(a.text, "=")
		for _, o := range []string{"--exec", "--upload-pack", "--receive-pack", "--extcmd", "--gpg-sign=", "--template"} {
			if a.text == o || strings.HasPrefix(a.text, o+"=") || begins(name, o) {
				g.add(High, RiskUnseen)
			}
		}
		if strings.Contains(a.text, "ext::") || strings.HasPrefix(a.text, "fd::") {
			g.add(High, RiskUnseen)
		}
	}
	g.gitPlaces(sub.text, args)
	g.gitChanges(sub.text, args, has)
}

// gitReads gives the spec of uses of git that only read.
func gitReads(sub string, args []arg) (spec, bool) {
	const letters = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789? "
	const show = letters + "--stat|numstat|shortstat|dirstat|summary|name-only|name-status|no-ext-diff|no-textconv|no-color|no-patch|patch|raw|color|color-words|color-moved|word-diff|cached|staged|merge-base|" +
		"minimal|patience|histogram|ignore-all-space|ignore-space-change|ignore-blank-lines|ignore-space-at-eol|function-context|check|full-index|binary|abbrev|no-renames|find-renames|find-copies|" +
		"diff-filter|unified|inter-hunk-context|relative|text|exit-code|quiet|no-prefix|ws-error-highlight|compact-summary|diff-algorithm|pickaxe-all|pickaxe-regex|no-index|oneline|graph|" +
		"decorate|no-decorate|all|branches|tags|remotes|follow|reverse|date-order|topo-order|author-date-order|merges|no-merges|first-parent|pretty|format|date|abbrev-commit|no-abbrev-commit|since|" +
		"after|until|before|author|committer|grep|max-count|skip|left-right|cherry-pick|cherry-mark|cherry|walk-reflogs|simplify-by-decoration|full-history|ancestry-path|relative-date|parents|" +
		"children|boundary|source|no-walk|invert-grep|all-match|regexp-ignore-case|fixed-strings|extended-regexp|perl-regexp|notes|no-notes|expand-tabs|cc|combined-all-paths|diff-merges|" +
		"no-diff-merges|creation-factor? --output> --ext-diff|textconv|show-signature% ."
	switch sub {
	case "status":
		return "-sbuvz --short|branch|porcelain|long|verbose|untracked-files|ignored|ignore-submodules|column|no-column|ahead-behind|no-ahead-behind|renames|no-renames|find-renames|show-stash? #", true
	case "log", "show", "diff", "whatchanged", "shortlog", "range-diff", "diff-tree", "diff-index", "diff-files":
		return show, true
	case "blame", "annotate":
		return "-bcefhlnpstwMCLS? --root|show-stats|line-porcelain|porcelain|incremental|minimal|date|color-lines|color-by-age|abbrev|since|reverse|first-parent|ignore-rev? --contents|ignore-revs-file< #", true
	case "rev-parse", "rev-list", "merge-base", "describe", "name-rev", "for-each-ref", "show-ref", "ls-tree", "show-branch", "cherry", "count-objects", "check-ignore", "check-attr", "var", "verify-commit",
		"verify-tag", "cat-file", "fsck", "version", "help", "patch-id", "get-tar-commit-id":
		if sub == "help" || sub == "verify-commit" || sub == "verify-tag" || sub == "fsck" || sub == "cat-file" && slices.ContainsFunc(args, func(a arg) bool {
			return strings.HasPrefix(a.text, "--t") || strings.HasPrefix(a.text, "--f") || strings.HasPrefix(a.text, "--b")
		}) {
			return "", false
		}
		return spec(letters + allLong(args) + "#"), true
	case "ls-files":
		return "-cdmoikstuvzfrx? --cached|deleted|modified|others|ignored|stage|directory|no-empty-directory|unmerged|killed|exclude|exclude-standard|error-unmatch|full-name|abbrev|debug|deduplicate|format|eol|with-tree|recurse-submodules? --exclude-from|exclude-per-directory< #", true
	case "grep":
		return "-abcEFGhHiIlLnopPqrvwWzABCmt0123456789? -e# -f< --text|ignore-case|word-regexp|invert-match|full-name|extended-regexp|fixed-strings|perl-regexp|line-number|column|files-with-matches|name-only|count|color|no-color|break|heading|show-function|context|after-context|before-context|function-context|untracked|cached|no-index|recursive|no-recursive|and|or|not|all-match|quiet|max-depth|max-count|null|only-matching? -O^ --open-files-in-pager^ # .", true
	}
	return gitListing(sub, args)
}

// allLong makes every long option that is there harmless.
func allLong(args []arg) string {
	var b strings.Builder
	for _, a := range args {
		if name, _, _ := strings.Cut(a.text, "="); strings.HasPrefix(name, "--") && len(name) > 2 && !strings.ContainsAny(name[2:], " |<>$!%^#+&.") {
			b.WriteString(name + "? ")
		}
	}
	return b.String()
}

// gitListing gives the spec of subcommands that list where they are not told to change something.
func gitListing(sub string, args []arg) (spec, bool) {
	first := ""
	if len(args) > 0 {
		first = args[0].text
	}
	operands := slices.ContainsFunc(args, func(a arg) bool { return !strings.HasPrefix(a.text, "-") || a.how != exact })
	listing := slices.ContainsFunc(args, func(a arg) bool { return a.text == "--list" || a.text == "-l" })
	switch sub {
	case "branch":
		const s = "-arvlqi --all|remotes|verbose|list|show-current|color|no-color|column|no-column|ignore-case? --contains|no-contains|merged|no-merged|points-at|sort|format|abbrev? #"
		filters := slices.ContainsFunc(args, func(a arg) bool {
			return slices.ContainsFunc([]string{"--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}, func(o string) bool { return a.text == o })
		})
		return s, !operands || listing || filters && len(args) <= 3
	case "tag":
		return "-lni? --list|contains|no-contains|merged|no-merged|points-at|sort|format|column|no-column|color|ignore-case? #", !operands || listing || first == "-n"
	case "remote":
		return "-v --verbose #", len(args) == 0 || first == "-v" && len(args) == 1 || first == "get-url" || first == "--verbose" && len(args) == 1
	case "stash":
		return "-pu --stat|patch|name-only|name-status|include-untracked|oneline|date? --output> --ext-diff|textconv% #", first == "list" || first == "show"
	case "worktree":
		return "-vz --porcelain|verbose #", first == "list"
	case "reflog":
		return "-0123456789n? --all|date|oneline|format|max-count? --output> --ext-diff|textconv% #", first == "" || first == "show" || strings.HasPrefix(first, "-")
	case "config":
		i := 0
		for i < len(args) && slices.Contains([]string{"--global", "--local", "--system", "--worktree", "--show-origin", "--show-scope", "--name-only", "-z", "--null", "--includes"}, args[i].text) {
			i++
		}
		reads := i < len(args) && slices.Contains([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"}, args[i].text) ||
			i == len(args)-1 && args[i].how == exact && !args[i].option() && strings.Contains(args[i].text, ".")
		return "-lz --get|get-all|get-regexp|list|local|global|system|worktree|show-origin|show-scope|name-only|null|includes|no-includes|all|bool|int|type|default? --add|edit|replace-all|unset|unset-all|rename-section|remove-section% #", reads
	case "submodule":
		return "--cached|recursive|quiet #", first == "status" || first == "summary"
	case "notes":
		return "--ref? #", first == "" || first == "list" || first == "show"
	case "bisect":
		return "#", first == "log" || first == "terms"
	case "symbolic-ref":
		names := slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return a.text == "--short" || a.text == "-q" || a.text == "--quiet" })
		return "-q --short|quiet #", len(names) == 1 && names[0].how == exact && !names[0].option()
	}
	return "", false
}

// gitChanges looks at uses of git that do more than read.
func (g *grader) gitChanges(sub string, args []arg, has func(...string) bool) {
	first := ""
	if len(args) > 0 {
		first = args[0].text
	}
	destroys := false
	g.gitConfig()
	g.gitHooks()
	if sub == "init" { // which makes a configuration and hooks
		g.add(Medium, RiskProtected)
	}
	switch sub {
	case "add", "commit", "mv", "init", "merge", "rebase", "cherry-pick", "revert", "am", "apply", "notes", "rerere", "maintenance", "pack-refs", "commit-graph", "mergetool", "citool", "gui", "update-index", "read-tree",
		"write-tree", "commit-tree", "hash-object", "stage", "format-patch", "archive", "bundle", "sparse-checkout", "replace", "fast-import", "fast-export", "merge-file", "mktag", "mktree", "update-server-info", "help", "verify-commit", "verify-tag", "fsck", "cat-file", "repack", "difftool", "bugreport":
		g.add(Medium, RiskChanges)
		g.add(Medium, RiskProject) // hooks, filters, editors
		if sub == "rebase" && has("-x", "--exec") || sub == "mergetool" || sub == "difftool" {
			g.add(High, RiskUnseen)
		}
		destroys = sub == "repack" && has("-a", "-A", "-d") || sub == "read-tree" && has("--reset", "-u")
		if sub == "maintenance" && (first == "start" || first == "register") {
			g.add(High, RiskOutside)
		}
		if sub == "am" || sub == "apply" || sub == "fast-import" {
			g.fetched = true
		}
	case "rm":
		g.add(Medium, RiskChanges)
		destroys = has("-r", "-f", "--force") && !has("--cached")
	case "reset":
		g.add(Medium, RiskChanges)
		destroys = has("--hard", "--merge", "--keep")
	case "checkout":
		g.add(Medium, RiskChanges)
		g.add(Medium, RiskProject)
		destroys = has("-f", "--force", "-B", "--ours", "--theirs") || !has("-b", "-t", "--orphan", "--track") && twoOperands(args) || slices.ContainsFunc(args, func(a arg) bool {
			return a.text == "--" || a.text == "." || strings.HasPrefix(a.text, "./") || a.how == pattern || g.isFile(a)
		})
	case "switch":
		g.add(Medium, RiskChanges)
		g.add(Medium, RiskProject)
		destroys = has("-f", "--force", "-C", "--discard-changes", "--force-create")
	case "restore":
		g.add(Medium, RiskChanges)
		destroys = !only(args, "-SWpqm -s#U? --source|conflict|inter-hunk-context# --staged|no-staged|worktree|quiet|merge? --pathspec-from-file#", "-S", "--staged") || has("--worktree", "-W")
	case "clean":
		destroys = !only(args, "-dfiqxXn -e# --dry-run|no-dry-run|force|interactive|quiet --exclude#", "-n", "--dry-run")
	case "stash":
		g.add(Medium, RiskChanges)
		destroys = first == "drop" || first == "clear"
	case "branch":
		g.add(Medium, RiskChanges)
		destroys = has("-D", "-f", "-M", "-C", "--force")
	case "tag":
		g.add(Medium, RiskChanges)
		destroys = has("-d", "-f", "--delete", "--force")
	case "push":
		g.gitPush(args, has)
	case "fetch", "pull", "clone", "ls-remote", "remote", "submodule", "request-pull", "fetch-pack", "archimport", "svn", "lfs", "p4", "cvsimport":
		g.gitNetwork(sub, first, args, has)
	case "worktree":
		g.add(Medium, RiskChanges)
		destroys = first == "remove" || first == "prune"
	case "config":
		g.gitConfigure(args)
	case "checkout-index":
		g.add(Medium, RiskChanges)
		destroys = has("-f", "--force")
	case "reflog", "gc", "prune", "update-ref", "filter-branch", "filter-repo", "symbolic-ref", "prune-packed":
		g.add(Medium, RiskChanges)
		destroys = sub != "symbolic-ref" && sub != "gc" || sub == "gc" && has("--prune", "--aggressive")
	case "bisect":
		g.add(Medium, RiskChanges)
		if first == "run" {
			g.run(args[1:])
			g.add(Medium, RiskProject)
		}
	case "send-email", "imap-send", "daemon", "instaweb", "http-push", "send-pack", "shell", "credential", "credential-store", "credential-cache":
		g.add(High, RiskSends)
	default: // an alias, or a program named git-…
		g.add(Medium, RiskConfig)
		g.risk.Brought = g.risk.Brought || g.renames
	}
	if destroys {
		g.effect(Delete, "git "+sub, false)
		g.add(High, RiskDestroys)
	} else if g.reasons(RiskChanges) {
		g.effect(Write, "git "+sub, sub != "push")
	}
}

// isFile tells whether an argument names a file that is there.
func (g *grader) isFile(a arg) bool {
	if g.files == nil || a.how != exact || a.option() {
		return false
	}
	return slices.ContainsFunc(g.spots(a), func(s spot) bool {
		_, err := g.files.Script(s.path)
		return s.place == inside && err == nil
	})
}

func (g *grader) gitPush(args []arg, has func(...string) bool) {
	to := "git push"
	defer func() { g.effect(Send, to, false) }()
	g.add(Medium, RiskNetwork)
	if has("-f", "-d", "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune") {
		g.add(High, RiskDestroys)
	}
	if g.remotes || has("--repo") {
		g.add(High, RiskSends)
	}
	n := 0
	for _, a := range args {
		if a.option() {
			continue
		}
		if n++; n > 1 && (strings.HasPrefix(a.text, "+") || strings.HasPrefix(a.text, ":")) || a.how == unknown {
			g.add(High, RiskDestroys)
		}
		if n == 1 && strings.ContainsAny(a.text, ":/@") || a.how == unknown {
			g.add(High, RiskSends) // not one of the repository's remotes
			to = a.text
		}
	}
}

func (g *grader) gitNetwork(sub, first string, args []arg, has func(...string) bool) {
	switch {
	case sub == "remote" && first != "show" && first != "update" && first != "prune":
		g.add(Medium, RiskChanges)
		g.remotes = true // with what it leads to from now on
		if slices.Contains([]string{"set-url", "remove", "rm"}, first) {
			g.add(High, RiskDestroys)
		}
		return
	case sub == "submodule":
		g.add(Medium, RiskChanges)
		if i := slices.IndexFunc(args, func(a arg) bool { return a.text == "foreach" }); i >= 0 {
			rest := slices.DeleteFunc(slices.Clone(args[i+1:]), func(a arg) bool { return a.text == "--recursive" || a.text == "--quiet" })
			g.joined(rest)
			g.add(Medium, RiskProject)
			return
		}
		if first == "deinit" {
			g.add(High, RiskDestroys)
		}
	}
	address := ""
	for _, a := range args {
		switch {
		case a.option():
		case strings.ContainsAny(a.text, ".:") && strings.Contains(Host(a.text), "."):
			g.network(Fetch, a.text)
			address = a.text
		case address == "":
			address = a.text
		}
	}
	g.network(Fetch, address)
	if sub != "ls-remote" {
		g.add(Medium, RiskChanges)
	}
	if has("-u") && (sub == "clone" || sub == "ls-remote") || has("-c", "--config") && sub == "clone" {
		g.add(High, RiskUnseen)
	}
	if sub == "clone" {
		g.fetched = true
	}
	if slices.Contains([]string{"pull", "am", "apply"}, sub) {
		g.add(Medium, RiskProject)
	}
}
