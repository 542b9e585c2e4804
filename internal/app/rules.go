package app

import (
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
		for _, t := range builtin.Core(builtin.Options{}) {
			names = append(names, t.Spec().Name)
		}
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
