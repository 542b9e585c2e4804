package workspace

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnoreFile bounds how much of a .gitignore is read.
const maxIgnoreFile = 1 << 20

// ignoreRule is one line of a .gitignore (gitignore(5), "Pattern format").
type ignoreRule struct {
	pattern string // for doublestar, against the path below the file's folder; or, if plain or ending, a name
	plain   bool   // the pattern is a name without special characters, at any depth
	ending  bool   // it is what such a name ends with
	folder  bool   // matches folders only
	keep    bool   // began with "!"
}

// Names of files with rules for the folder that they lie in. Both have the same form; .ignore is for tools that search.
const (
	gitIgnoreFile = ".gitignore"
	ignoreFile    = ".ignore"
)

// ruleFile is a stack of such files of one name, innermost first.
type ruleFile struct {
	dir    string // folder of the file, "." for the root
	rules  []ignoreRule
	parent *ruleFile
}

// ignores is all rules that hold in a folder: what a .ignore says counts before what a .gitignore says, and that before
// .git/info/exclude.
type ignores struct{ ignore, git, exclude *ruleFile }

// parseIgnore reads the lines of a .gitignore. Lines that are no pattern are left out.
func parseIgnore(text string) []ignoreRule {
	var out []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		if r, ok := parseIgnoreLine(strings.TrimRight(line, "\r\n")); ok {
			out = append(out, r)
		}
	}
	return out
}

func parseIgnoreLine(line string) (ignoreRule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	var r ignoreRule
	switch {
	case line == "" || line[0] == '#':
		return r, false
	case line[0] == '!':
		r.keep, line = true, line[1:]
	}
	line, r.folder = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	// Braces mean nothing to Git, but they do to the matcher.
	pattern := strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	if !strings.Contains(line, "/") {
		if !strings.ContainsAny(line, `*?[\{}`) {
			r.plain, r.pattern = true, line
			return r, true
		}
		if rest := line[1:]; line[0] == '*' && !strings.ContainsAny(rest, `*?[\{}`) {
			r.ending, r.pattern = true, rest
			return r, true
		}
		r.pattern = "**/" + pattern
	} else {
		r.pattern = strings.TrimPrefix(pattern, "/")
	}
	if inside, ok := strings.CutSuffix(r.pattern, "/**"); ok {
		r.pattern = inside + "/**/*" // all that is inside, not the folder itself
	}
	return r, doublestar.ValidatePattern(r.pattern)
}

// ignored tells whether a search leaves out what lies at the path. Rules about folders above are not asked: who walks does
// not go into an ignored folder.
func (g ignores) ignored(p, name string, folder bool) bool {
	for _, f := range [...]*ruleFile{g.ignore, g.git, g.exclude} {
		if rule := f.match(p, name, folder); rule != nil {
			return !rule.keep
		}
	}
	return false
}

// match gives the rule that decides on a path: the last that matches, in the innermost file that has one.
func (f *ruleFile) match(p, name string, folder bool) *ignoreRule {
	for ; f != nil; f = f.parent {
		rel := p
		if f.dir != "." {
			rel = p[len(f.dir)+1:]
		}
		for i := len(f.rules) - 1; i >= 0; i-- {
			if r := &f.rules[i]; (folder || !r.folder) && r.matches(rel, name) {
				return r
			}
		}
	}
	return nil
}

func (r *ignoreRule) matches(rel, name string) bool {
	switch {
	case r.plain:
		return r.pattern == name
	case r.ending:
		return strings.HasSuffix(name, r.pattern)
	}
	return doublestar.MatchUnvalidated(r.pattern, rel)
}
