package app

import (
	"fmt"
	"slices"
	"strings"

	"overt/internal/config"
	"overt/internal/policy"
	"overt/internal/tool/builtin"
)

// Rules reads the rules of the settings. The error is a *config.Error. A rule on a tool that does not exist is one, since a
// misspelt deny rule would forbid nothing; only where a project made it, perhaps for a newer program, it becomes a notice.
func Rules(c *config.Config) ([]policy.Rule, error) {
	var names []string
	if len(c.Allow)+len(c.Deny) > 0 {
		names = toolNames()
	}
	var out []policy.Rule
	for _, group := range []struct {
		verdict policy.Verdict
		rules   []config.Setting
	}{{policy.Allow, c.Allow}, {policy.Deny, c.Deny}} {
		for _, s := range group.rules {
			tool, _, _ := strings.Cut(s.Value, "(")
			known := tool == "*" || slices.Contains(names, tool)
			if !known && s.Source.Layer == config.Project {
				c.Notices = append(c.Notices, config.Notice{Code: "config.rule_project", Args: []any{s.Source, s.Value, tool}})
				continue
			}
			r, err := policy.ParseRule(group.verdict, s.Value)
			bad := &config.Error{Code: "config.rule", Args: []any{err}, Source: s.Source}
			if err == nil && !known {
				bad.Code, bad.Args = "config.rule_tool", []any{r.Text, r.Tool(), strings.Join(names, ", ")}
				err = bad
			}
			if err != nil {
				return nil, bad.In(s.Source)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// Rule reads a rule that a person gives. A tool that does not exist is an error, since a misspelt rule would do nothing.
func Rule(v policy.Verdict, text string) (policy.Rule, error) {
	r, err := policy.ParseRule(v, text)
	if err != nil {
		return r, err
	}
	if names := toolNames(); r.Tool() != "*" && !slices.Contains(names, r.Tool()) {
		return r, fmt.Errorf("rule %q: there is no tool %s; there are %s", r.Text, r.Tool(), strings.Join(names, ", "))
	}
	return r, nil
}

// toolNames lists the tools that rules may be about.
func toolNames() (names []string) {
	for _, t := range builtin.Core(builtin.Options{Look: &builtin.Looking{}}) {
		names = append(names, t.Spec().Name)
	}
	return names
}
