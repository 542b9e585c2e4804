package workspace

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnoreFile bounds how much of a .gitignore is read.
const maxIgnoreFile = 1 << 20

// ignoreRule is one line of a .gitignore (gitignore(5), "Pattern format").
type ignoreRule struct {
	pattern string // for doublestar, against the path below the file's folder; or, if plain, a name
	plain   bool   // the pattern is a name without special characters, at any depth
	folder  bool   // matches folders only
	keep    bool   // began with "!"
}

// ignores is a stack of .gitignore files, innermost first.
type ignores struct {
	dir    string // folder of the file, "." for the root
	rules  []ignoreRule
	parent *ignores
}

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
		r.pattern = "**/" + pattern
	} else {
		r.pattern = strings.TrimPrefix(pattern, "/")
	}
	if inside, ok := strings.CutSuffix(r.pattern, "/**"); ok {
		r.pattern = inside + "/**/*" // all that is inside, not the folder itself
	}
	return r, doublestar.ValidatePattern(r.pattern)
}

// ignored tells whether Git would ignore what lies at the path. The last rule that matches decides, the innermost file
// first. Rules about folders above are not asked: who walks does not go into an ignored folder.
func (g *ignores) ignored(p string, folder bool) bool {
	for ; g != nil; g = g.parent {
		rel := p
		if g.dir != "." {
			rel = strings.TrimPrefix(p, g.dir+"/")
		}
		name := path.Base(rel)
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := &g.rules[i]
			switch {
			case r.folder && !folder:
			case r.plain && r.pattern == name, !r.plain && doublestar.MatchUnvalidated(r.pattern, rel):
				return !r.keep
			}
		}
	}
	return false
}
