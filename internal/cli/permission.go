package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/policy"
)

// permissionCommand shows and changes the rules that last.
func (p *program) permissionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "permission", Short: "List, add and remove the rules of what runs unasked: list, add, rm, trust, untrust",
		Long: "List, add and remove the rules of what runs unasked. Those of the settings are listed too, with where they stand.\n" +
			"Rules of a workspace are kept in your own state folder, never in the workspace.",
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New(p.say.Say("permission.which"))}
		}, Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(p.permissionListCommand(), p.permissionAddCommand(), p.permissionRemoveCommand(), p.trustCommand(), p.untrustCommand())
	return cmd
}

// shownPermission is a rule in JSON.
type shownPermission struct {
	ID      *string    `json:"id"` // null: of the settings
	Scope   string     `json:"scope"`
	Task    string     `json:"task,omitempty"`
	Verdict string     `json:"verdict"`
	Rule    string     `json:"rule"`
	Given   []string   `json:"given,omitempty"`
	Granted *time.Time `json:"granted"`
	Source  string     `json:"source"`
}

func (p *program) permissionListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules in force, with their scope and where they come from", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.permissions(cmd, false, func(ctx context.Context, list *app.Permissions, conf *config.Config) error {
				all, err := list.List(ctx)
				if err != nil {
					return err
				}
				return p.showPermissions(append(ofSettings(conf), all...), asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// ofSettings are the rules of the settings.
func ofSettings(c *config.Config) (out []app.Permission) {
	for _, group := range []struct {
		verdict policy.Verdict
		rules   []config.Setting
	}{{policy.Deny, c.Deny}, {policy.Allow, c.Allow}} {
		for _, s := range group.rules {
			out = append(out, app.Permission{Source: s.Source, PermissionGranted: event.PermissionGranted{Rule: s.Value, Verdict: string(group.verdict), Scope: "settings"}})
		}
	}
	return out
}

func (p *program) showPermissions(list []app.Permission, asJSON bool) error {
	if asJSON {
		out := []shownPermission{}
		for _, x := range list {
			s := shownPermission{Scope: x.Scope, Task: x.Task, Verdict: x.Verdict, Rule: x.Rule, Given: x.Given, Source: p.permissionSource(x)}
			if x.ID != "" {
				s.ID, s.Granted = &x.ID, &x.Time
			}
			out = append(out, s)
		}
		return p.writeJSON(out)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.Err, p.say.Say("permission.none"))
		return err
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, x := range list {
		id, scope := x.ID, x.Scope
		if id == "" {
			id = "-"
		}
		if x.Task != "" && x.Scope == event.ScopeTask {
			scope += " " + x.Task
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", id, visible(scope), x.Verdict, visible(x.Rule), visible(p.permissionSource(x)))
	}
	return w.Flush()
}

// permissionSource says where a rule comes from.
func (p *program) permissionSource(x app.Permission) string {
	switch {
	case x.ID == "":
		return fmt.Sprint(x.Source)
	case x.Question != "":
		return p.say.Say("permission.answer", x.Time.Local().Format(time.DateTime))
	}
	return p.say.Say("permission.added", x.Time.Local().Format(time.DateTime))
}

func (p *program) permissionAddCommand() *cobra.Command {
	var deny, user bool
	cmd := &cobra.Command{
		Use: "add [--deny] [--user] RULE", Short: "Allow, or with --deny forbid, what a rule matches, in this workspace or with --user everywhere",
		Example: "  overt permission add 'run_command(go test:*)'\n  overt permission add --deny --user 'read_file(**/*.pem)'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New(p.say.Say("permission.rule"))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			g := event.PermissionGranted{Verdict: string(policy.Allow), Scope: event.ScopeWorkspace, By: "person"}
			if deny {
				g.Verdict = string(policy.Deny)
			}
			if user {
				g.Scope = event.ScopeUser
			}
			rule, err := app.Rule(policy.Verdict(g.Verdict), args[0])
			if err != nil {
				return usageError{err}
			}
			g.Rule = rule.Text
			return p.permissions(cmd, !user, func(ctx context.Context, list *app.Permissions, _ *config.Config) error {
				id, made, err := list.Grant(ctx, g)
				if err != nil {
					return err
				}
				said := p.say.Say("permission.kept."+g.Verdict+"."+g.Scope, id, g.Rule)
				if !made {
					said = p.say.Say("permission.kept.before", said)
				}
				if _, err := fmt.Fprintln(p.Out, visible(said)); err != nil {
					return err
				}
				if rule.Verdict == policy.Allow && rule.Vain() {
					_, err = fmt.Fprintln(p.Err, "overt: "+p.say.Say("permission.vain"))
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&deny, "deny", false, "forbid instead of allow; stronger than every rule that allows")
	cmd.Flags().BoolVar(&user, "user", false, "in every workspace")
	return cmd
}

func (p *program) permissionRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID|RULE…", Short: "Remove rules that were added or answered, by their ids or as they read",
		Example: "  overt permission rm 'run_command(go test:*)'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New(p.say.Say("permission.id"))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.permissions(cmd, false, func(ctx context.Context, list *app.Permissions, _ *config.Config) error {
				var ids []string // all of them before the first is removed
				for _, named := range args {
					id, err := list.Find(ctx, named)
					if err != nil {
						return err
					}
					if !slices.Contains(ids, id) {
						ids = append(ids, id)
					}
				}
				for _, id := range ids {
					if err := list.Revoke(ctx, id); err != nil {
						return err
					}
					if _, err := fmt.Fprintln(p.Out, visible(p.say.Say("permission.removed", id))); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// permissions opens what was granted.
func (p *program) permissions(cmd *cobra.Command, begin bool, do func(context.Context, *app.Permissions, *config.Config) error) (err error) {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	conf, err := p.resolved()
	if err != nil && !p.onlyEndpoint(conf, err) { // what is missing for a task to run does not matter here
		return err
	}
	ctx := cmd.Context()
	list, err := app.OpenPermissions(ctx, app.Options{Config: conf, Root: root, State: state, Env: p.Environ, Version: p.Version, Client: "cli"}, begin)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := list.Close(); cerr != nil && err == nil {
			err = errors.New(p.say.Say("error.record", cerr))
		}
	}()
	return do(ctx, list, conf)
}
