package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool/builtin"
	"overt/internal/workspace"
)

// maxEffects is how many effects of a command a question shows; a command that does more is read, not counted.
const maxEffects = 5

// riskCommand grades a shell command without running it.
func (p *program) riskCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "risk [FLAGS] COMMAND|-", Short: "Grade a shell command without running it",
		Long: "Say what a shell command would do, how much may go wrong, and under which profiles it would run unasked here.\n" +
			"It is read as a shell would read it, with the scripts of the workspace that it runs; - reads it from standard input.\n" +
			"The rules in force count.",
		Example: "  overt risk 'git status && rm -rf build'\n  overt risk --json --allow 'run_command(go test:*)' 'go test ./...'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New(p.say.Say("risk.command", strings.Join(args, " ")))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.risk(cmd.Context(), args[0], asJSON) },
	}
	if p.mayBe("risk") {
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		p.addSettings(all)
		for _, name := range []string{"allow", "deny", "no-sandbox"} {
			cmd.Flags().AddFlag(all.Lookup(name))
		}
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// shownRisk is a risk in JSON, and under which profiles the command runs without a question.
type shownRisk struct {
	Grade   policy.Grade            `json:"grade"`
	Effects []shownEffect           `json:"effects"`
	Reasons []string                `json:"reasons"`
	Unasked map[policy.Profile]bool `json:"unasked"`

	forbidden string // the rule that does
}

type shownEffect struct {
	Kind       policy.EffectKind `json:"kind"`
	Target     string            `json:"target"`
	Reversible bool              `json:"reversible"`
}

func (p *program) risk(ctx context.Context, command string, asJSON bool) error {
	if command == "-" {
		text, err := io.ReadAll(io.LimitReader(p.In, maxText))
		if err != nil {
			return usageError{errors.New(p.say.Say("risk.input", err))}
		}
		command = strings.TrimSuffix(string(text), "\n")
	}
	if strings.TrimSpace(command) == "" {
		return usageError{errors.New(p.say.Say("risk.empty"))}
	}
	list, sandbox, err := p.rules(ctx)
	if err != nil {
		return err
	}
	tree, dir, err := p.here()
	if err != nil {
		return err
	}
	defer tree.Close()
	risk := policy.Command(command, dir, builtin.Files(tree))
	action := policy.Action{
		Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: policy.InDir(dir, command)}}, Risk: &risk,
	}
	confine := sandbox && risk.Grade != policy.High && shell.SandboxSupport() == nil // looked for only where it counts
	out := shownRisk{Grade: risk.Grade, Effects: []shownEffect{}, Reasons: append([]string{}, risk.Reasons...), Unasked: map[policy.Profile]bool{}}
	for _, profile := range []policy.Profile{policy.Plan, policy.AskFirst, policy.Auto, policy.Full} {
		d := policy.Decide(policy.Rules{Profile: profile, List: list, Sandbox: profile == policy.Auto && confine}, action)
		out.Unasked[profile] = d.Verdict == policy.Allow
		if d.Verdict == policy.Deny && d.Rule != "" {
			out.forbidden = d.Rule
		}
	}
	for _, t := range risk.Effects {
		out.Effects = append(out.Effects, shownEffect(t))
	}
	if asJSON {
		return p.writeJSON(out)
	}
	return p.writeRisk(out)
}

// rules are those in force, also the permissions for the workspace and the person, and whether commands are to be confined where they can. Where there is no model server to go to, they hold all
// the same.
func (p *program) rules(ctx context.Context) (list []policy.Rule, sandbox bool, err error) {
	c, err := p.resolved()
	if err != nil && !p.onlyEndpoint(c, err) {
		return nil, false, err
	}
	if list, err = app.Rules(c); err != nil {
		return nil, false, err
	}
	root, state, err := p.workspace()
	if err != nil {
		return nil, false, err
	}
	kept, err := app.SavedRules(ctx, app.Options{Config: c, Root: root, State: state, Env: p.Environ, Version: p.Version, Client: "cli"})
	return append(list, kept...), c.Sandbox, err
}

// onlyEndpoint tells whether nothing is wrong with the settings but that there is no model server to go to.
func (p *program) onlyEndpoint(c *config.Config, err error) bool {
	e, ok := errors.AsType[*config.Error](err)
	return ok && c != nil && slices.Contains([]string{"config.no_key", "config.no_prefix", "config.model_alone", "config.preset_key", "config.no_provider", "config.wrong_key"}, e.Code)
}

// here opens the workspace and gives the current folder in it.
func (p *program) here() (*workspace.Tree, string, error) {
	root, err := p.rootDir()
	if err != nil {
		return nil, "", err
	}
	tree, err := workspace.Open(root)
	if err != nil {
		return nil, "", err
	}
	dir := p.flags.cd
	if dir == "" {
		dir = p.Dir
	}
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = tree.Rel(dir)
	}
	if err != nil {
		return nil, "", errors.Join(err, tree.Close())
	}
	return tree, dir, nil
}

func (p *program) writeRisk(r shownRisk) error {
	var found []event.Effect
	for _, e := range r.Effects {
		found = append(found, event.Effect{Kind: string(e.Kind), Target: e.Target, Reversible: e.Reversible})
	}
	lines := p.riskLines(string(r.Grade), r.Reasons, found, len(found))
	var unasked []string
	for _, profile := range []policy.Profile{policy.Plan, policy.AskFirst, policy.Auto, policy.Full} {
		if r.Unasked[profile] {
			unasked = append(unasked, string(profile))
		}
	}
	switch {
	case r.forbidden != "":
		lines = append(lines, exposed(p.say.Say("risk.forbidden", r.forbidden)))
	case len(unasked) == 0:
		lines = append(lines, p.say.Say("risk.unasked.none"))
	default:
		lines = append(lines, p.say.Say("risk.unasked", strings.Join(unasked, ", ")))
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.Out, l); err != nil {
			return err
		}
	}
	return nil
}

// riskLines says the grade of a command with its reasons, and what it does, at most so many effects; what it reads is
// left out where it does more. The lines are fit for a terminal. Without a grade there are none.
func (p *program) riskLines(grade string, reasons []string, found []event.Effect, most int) []string {
	if grade == "" {
		return nil
	}
	var why []string
	for _, r := range reasons {
		why = append(why, p.say.Say("reason."+r))
	}
	lines := []string{p.say.Say("risk.grade", exposed(grade))}
	if len(why) > 0 {
		lines[0] = p.say.Say("risk.grade.why", exposed(grade), strings.Join(why, "; "))
	}
	shown := found
	if grade != string(policy.Low) {
		shown = nil
		for _, e := range found {
			if e.Kind != string(policy.Read) {
				shown = append(shown, e)
			}
		}
		if len(shown) == 0 {
			shown = found
		}
	}
	for i, e := range shown {
		if i == most {
			lines = append(lines, "  "+p.say.Say("risk.more", len(shown)-most))
			break
		}
		target := exposed(strings.ReplaceAll(e.Target, "\n", " "))
		if target == "" {
			target = p.say.Say("risk.somewhere")
		}
		line := p.say.Say("reason.does."+e.Kind, target)
		if changes := e.Kind == string(policy.Write) || e.Kind == string(policy.Delete); changes && !e.Reversible {
			line = p.say.Say("risk.final", line)
		}
		lines = append(lines, "  "+line)
	}
	return lines
}
