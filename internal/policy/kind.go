package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Kind gives, in the written form of a rule, what stands for the action and its like, for an answer that lasts: a
// command by the words that say what it does, a change of a file by its folder. What can't be said in general is named
// exactly; a command that no rule can name stands for every command.
func Kind(a Action) string {
	if len(a.Effects) == 0 {
		return a.Tool
	}
	e := a.Effects[0]
	switch _, isFile := fileTools(a.Tool); {
	case a.Tool == commandTool && e.Kind == Run:
		return commandKind(e.Target)
	case !isFile:
		return a.Tool
	case e.Kind != Write || sensitive(e) != "":
		return a.Tool + "(" + escapeGlob(e.Target) + ")"
	case path.Dir(e.Target) == ".":
		return a.Tool + "(*)"
	}
	return a.Tool + "(" + escapeGlob(path.Dir(e.Target)) + "/**)"
}

func commandKind(text string) string {
	words, ok := literalCommand(text)
	if !ok || hidden(text) {
		return commandTool
	}
	n := telling(words)
	quoted := make([]string, 0, len(words))
	for _, w := range words[:n] {
		q, err := syntax.Quote(w, syntax.LangPOSIX)
		if err != nil {
			return commandTool
		}
		quoted = append(quoted, q)
	}
	out := strings.Join(quoted, " ")
	if n < len(words) || general(words) > 0 {
		out += ":*"
	}
	return commandTool + "(" + out + ")"
}

// telling is how many leading words of a command say what it does, whatever follows: all of them, unless the program is
// known to do much the same with any other operands.
func telling(words []string) int {
	if n := general(words); n > 0 {
		return n
	}
	return len(words)
}

// general is how many words name a use of a program that does much the same with any operands; 0: none. It errs on the
// narrow side: programs that delete, send, change rights or run their operands are not here. What their options do is
// another matter ("go test -exec", "git diff --output"): an answer that lasts lets no new ones through, see [Rule].
func general(words []string) int {
	switch words[0] {
	case "ls", "cat", "head", "tail", "wc", "stat", "du", "df", "pwd", "echo", "printf", "which", "uname", "grep",
		"diff", "cmp", "basename", "dirname", "realpath", "readlink", "sha256sum", "md5sum", "touch", "mkdir", "gofmt", "pytest", "mypy":
		return 1
	}
	if len(words) < 2 {
		return 0
	}
	var uses []string
	switch words[0] {
	case "go":
		uses = []string{"build", "test", "vet", "list", "doc", "fmt"}
	case "cargo":
		uses = []string{"build", "check", "test", "clippy", "fmt", "doc"}
	case "dotnet":
		uses = []string{"build", "test"}
	case "git":
		uses = []string{"status", "diff", "log", "show", "blame", "ls-files", "add", "commit"}
	}
	if slices.Contains(uses, words[1]) {
		return 2
	}
	return 0
}

// Lasting gives the rule by which an answer may allow the action and its like from now on, if one may: not what touches
// protected or secret paths, can't be read as shell, runs what can't be seen, may be forbidden, or is held up by a rule
// that asks.
func Lasting(r Rules, a Action) (Rule, bool) {
	d := Decide(r, a)
	if d.Verdict != Ask || slices.ContainsFunc(d.Reasons, grave) {
		return Rule{}, false
	}
	for _, e := range a.Effects {
		if e.Kind == Run && readScript(e.Target).opaque {
			return Rule{}, false
		}
	}
	rule, err := ParseRule(Allow, Kind(a))
	if err != nil || rule.tool == commandTool && rule.pattern == "" {
		return Rule{}, false
	}
	for _, e := range a.Effects {
		if words, ok := literalCommand(e.Target); ok && e.Kind == Run {
			rule.given = append(rule.given, words...)
		}
	}
	r.List = append(slices.Clip(r.List), rule)
	return rule, Decide(r, a).Verdict == Allow
}

// grave tells whether what asks for this reason asks each time.
func grave(reason string) bool {
	switch reason {
	case ReasonProtected, ReasonSecret, ReasonUnparsed, ReasonUnclear, ReasonHidden, ReasonHigh, ReasonAskRule:
		return true
	}
	return false
}
