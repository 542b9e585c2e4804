package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// commandTool is the tool whose patterns are commands.
const commandTool = "run_command"

// fileTools are the tools whose patterns are paths, and what each does to them.
func fileTools(name string) (EffectKind, bool) {
	switch name {
	case "read_file", "read_image", "list_files", "search_text", "read_many_files", "stat_path", "summarize_workspace":
		return Read, true
	case "write_file", "edit_file", "apply_patch":
		return Write, true
	}
	return "", false
}

// Tool is the tool that the rule is about, "*" for every tool.
func (r Rule) Tool() string { return r.tool }

// ParseRule reads the written form of a rule: TOOL(PATTERN), TOOL, or * for every tool.
//
// The pattern of run_command is one simple command of literal words, taken as a whole, or with ":*" at its end as the
// program and leading arguments, anything after them. The pattern of a file tool is a path relative to the workspace
// in which *, ?, [abc], {a,b} match within a name and ** over folders; a backslash takes away their meaning.
//
// The error is one line that says what to write instead.
func ParseRule(v Verdict, text string) (Rule, error) {
	r := Rule{Verdict: v, Text: strings.TrimSpace(text)}
	switch v {
	case Allow, Ask, Deny:
	default:
		return Rule{}, fmt.Errorf("rule %q: verdict %q is none of allow, ask, deny", text, v)
	}
	name, rest, hasPattern := strings.Cut(r.Text, "(")
	if name != "*" && !toolName(name) {
		return Rule{}, fmt.Errorf("rule %q: write TOOL(PATTERN), TOOL or *", text)
	}
	r.tool = name
	if !hasPattern {
		return r, nil
	}
	pattern, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return Rule{}, fmt.Errorf("rule %q: the closing bracket is missing", text)
	}
	pattern = strings.TrimSpace(pattern)
	if pattern == "" {
		return Rule{}, fmt.Errorf("rule %q: the pattern is empty; leave out the brackets to match every use", text)
	}
	return r.withPattern(pattern)
}

func (r Rule) withPattern(pattern string) (Rule, error) {
	if r.tool == commandTool {
		text, prefix := strings.CutSuffix(pattern, ":*")
		words, ok := literalCommand(text)
		if !ok {
			return Rule{}, fmt.Errorf("rule %q: the pattern must be one simple command of plain or quoted words, optionally followed by :*, as run_command(go test:*)", r.Text)
		}
		r.pattern, r.words, r.prefix = pattern, words, prefix
		return r, nil
	}
	if _, ok := fileTools(r.tool); !ok {
		return Rule{}, fmt.Errorf("rule %q: %s is not one of the tools that take a pattern (run_command and those on files); leave out the brackets to match every use of a tool", r.Text, r.tool)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	if path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
		return Rule{}, fmt.Errorf("rule %q: the path must be relative to the workspace and stay in it", r.Text)
	}
	if !doublestar.ValidatePattern(pattern) {
		return Rule{}, fmt.Errorf("rule %q: the path pattern is malformed", r.Text)
	}
	r.pattern = pattern
	return r, nil
}

func toolName(s string) bool {
	for _, c := range s {
		if !(c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return s != ""
}

// allows tells whether an allow rule covers the effect. It takes the narrow reading everywhere.
func (r Rule) allows(tool string, e Effect) bool {
	if r.tool != "*" && r.tool != tool {
		return false
	}
	switch {
	case e.Kind == Run && r.pattern == "":
		return !hidden(e.Target) && parses(e.Target)
	case e.Kind == Run:
		words, ok := literalCommand(e.Target)
		return ok && !hidden(e.Target) && r.matchWords(words) && r.agreed(words)
	case r.pattern == "":
		return true
	}
	return doublestar.MatchUnvalidated(r.pattern, e.Target)
}

// forbids tells whether a deny or ask rule covers the effect. A command rule takes the wide reading: every command
// inside the text counts, by name wherever its program lies, more arguments or not. A rule on a tool that writes files,
// or on read_file, is a rule on the file, whichever tool does it; its pattern matches as an allow rule's would.
func (r Rule) forbids(tool string, e Effect) bool {
	if r.pattern == "" {
		return r.tool == "*" || r.tool == tool
	}
	if r.tool == commandTool {
		return e.Kind == Run && slices.ContainsFunc(readScript(e.Target).calls, func(c command) bool { return r.startsLike(c) == surely })
	}
	kind, _ := fileTools(r.tool)
	same := r.tool == tool || kind == Write || r.tool == "read_file"
	return same && e.Kind == kind && doublestar.MatchUnvalidated(r.pattern, e.Target)
}

// mayForbid tells whether nobody can say that a deny or ask rule on commands does not cover the text.
func (r Rule) mayForbid(s *script) bool {
	if r.Verdict == Allow || r.tool != commandTool || r.pattern == "" {
		return false
	}
	return s.opaque || slices.ContainsFunc(s.calls, func(c command) bool { return r.startsLike(c) != no })
}

// agreed tells whether a person who agreed to one command has agreed to this one.
func (r Rule) agreed(words []string) bool {
	return r.given == nil || !slices.ContainsFunc(words, func(w string) bool {
		return !slices.Contains(r.given, w) && (strings.HasPrefix(w, "-") || slices.ContainsFunc(pathsIn(w), leadsOut))
	})
}

// leadsOut tells whether a path may lead out of the folder that a command runs in.
func leadsOut(p string) bool {
	return path.IsAbs(p) || strings.HasPrefix(p, "~") || slices.Contains(strings.Split(p, "/"), "..")
}

func (r Rule) matchWords(words []string) bool {
	if r.prefix {
		return len(words) >= len(r.words) && slices.Equal(words[:len(r.words)], r.words)
	}
	return slices.Equal(words, r.words)
}

// answer is what can be said of a command before it runs.
type answer int

const (
	no answer = iota
	maybe
	surely
)

// startsLike tells whether the command begins with the rule's words. A word that the shell has yet to expand may become
// any words.
func (r Rule) startsLike(c command) answer {
	for i, w := range r.words {
		if i >= len(c) {
			return no
		}
		if !c[i].literal {
			return maybe
		}
		have := c[i].value
		if i == 0 {
			have, w = path.Base(have), path.Base(w)
		}
		if have != w {
			return between(c[i:], i, w)
		}
	}
	return surely
}

// between is the answer where a rule's word does not stand where it should: options may stand before it, as in
// "git -C . push".
func between(rest []word, i int, want string) answer {
	if i > 0 && strings.HasPrefix(rest[0].value, "-") && slices.ContainsFunc(rest, func(x word) bool { return !x.literal || x.value == want }) {
		return maybe
	}
	return no
}

// whole tells whether the rule is for this one command and nothing else.
func (r Rule) whole(tool string, e Effect) bool {
	return r.tool == commandTool && r.pattern != "" && !r.prefix && r.allows(tool, e)
}

// names tells whether the rule's pattern is exactly this path.
func (r Rule) names(target string) bool {
	return r.pattern != "" && r.tool != commandTool && r.pattern == escapeGlob(target)
}

// escapeGlob gives the pattern that matches exactly the path.
func escapeGlob(p string) string {
	return globEscaper().Replace(p)
}

func globEscaper() *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
}
