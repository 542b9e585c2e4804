package policy

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Suggest gives the command-line flags that would allow the action under any profile but plan, if no rule forbids it:
// one --allow for each effect, quoted for a shell, or --permission full where no rule can say it.
func Suggest(a Action) string {
	const last = "--permission full"
	var flags []string
	rules := Rules{Profile: AskFirst}
	for _, e := range a.Effects {
		text, ok := ruleFor(a.Tool, e)
		if !ok {
			return last
		}
		rule, err := ParseRule(Allow, text)
		if err != nil {
			return last
		}
		quoted, err := syntax.Quote(text, syntax.LangPOSIX)
		if err != nil {
			return last
		}
		if flag := "--allow " + quoted; !slices.Contains(flags, flag) {
			flags = append(flags, flag)
			rules.List = append(rules.List, rule)
		}
	}
	if len(flags) == 0 || Decide(rules, a).Verdict != Allow {
		return last
	}
	return strings.Join(flags, " ")
}

// ruleFor writes the narrowest rule that covers the effect.
func ruleFor(tool string, e Effect) (string, bool) {
	if _, ok := fileTools(tool); ok && e.Kind != Run {
		return tool + "(" + escapeGlob(e.Target) + ")", true
	}
	if tool != commandTool || e.Kind != Run {
		return tool, true
	}
	words, ok := literalCommand(e.Target)
	if !ok {
		return "", false
	}
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangPOSIX)
		if err != nil {
			return "", false
		}
		words[i] = q
	}
	return tool + "(" + strings.Join(words, " ") + ")", true
}

// InDir gives the text of a command that runs in a folder of the workspace, as one would type it at the root. So the
// folder is part of what is decided, shown and recorded, and no rule on the command alone covers it.
func InDir(dir, command string) string {
	if dir == "." || dir == "" {
		return command
	}
	quoted, err := syntax.Quote(dir, syntax.LangPOSIX)
	if err != nil { // what a person would not see is written as escapes
		if quoted, err = syntax.Quote(dir, syntax.LangBash); err != nil {
			quoted = strconv.Quote(dir)
		}
	}
	return "cd " + quoted + " && " + command
}
