package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
)

// trusts tells whether the person trusts the workspace as it is. One that can't be read is not trusted.
func (p *program) trusts(root string) bool {
	state, err := p.state()
	if err != nil {
		return false
	}
	t, err := app.ReadTrust(context.Background(), app.Options{Root: root, State: state, Version: p.Version})
	return err == nil && t.Holds()
}

func (p *program) trustCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Show what this workspace brings along, and let it count as it is", Args: noArgs,
		Long: "Show what stands in .overt of this workspace, or what has changed of it since it was trusted, and let its settings count: the\n" +
			"model and how it answers. Permissions, endpoints and keys are taken from your own settings alone, whatever you trust.\n" +
			"Any change there ends the trust.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, t, err := p.trust(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case len(t.Files) == 0:
				_, err := fmt.Fprintln(p.Err, p.say.Say("trust.nothing"))
				return err
			case t.Holds():
				_, err := fmt.Fprintln(p.Out, p.say.Say("trust.holds", t.Since.Local().Format(time.DateTime)))
				return err
			}
			if t.Before != nil {
				fmt.Fprintln(p.Err, p.say.Say("trust.changed", t.Since.Local().Format(time.DateTime)))
			}
			for _, c := range t.Changes() {
				fmt.Fprintln(p.Err, visible(p.say.Say("trust."+c.Op, c.Path)))
				for l := range strings.Lines(c.Diff) {
					fmt.Fprintln(p.Err, "  │ "+p.painted(exposed(strings.TrimRight(l, "\n"))))
				}
			}
			if !yes {
				if sure, err := p.confirm("trust.yes", "trust.ask", t.Root); err != nil || !sure {
					return err
				}
			}
			if err := app.SetTrust(cmd.Context(), o, t, true); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.Out, visible(p.say.Say("trust.done", t.Root)))
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (p *program) untrustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "untrust", Short: "Take back that this workspace is trusted", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, t, err := p.trust(cmd.Context())
			if err != nil {
				return err
			}
			if t.Before == nil {
				_, err := fmt.Fprintln(p.Err, p.say.Say("trust.none"))
				return err
			}
			if err := app.SetTrust(cmd.Context(), o, t, false); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.Out, visible(p.say.Say("trust.undone", t.Root)))
			return err
		},
	}
}

func (p *program) trust(ctx context.Context) (app.Options, *app.Trust, error) {
	root, state, err := p.workspace()
	if err != nil {
		return app.Options{}, nil, err
	}
	o := app.Options{Root: root, State: state, Version: p.Version}
	t, err := app.ReadTrust(ctx, o)
	if err != nil {
		return o, nil, errors.New(p.say.Say("trust.unread", err))
	}
	return o, t, nil
}

// confirm asks something that only a typed yes agrees to. Where nobody can be asked it is an error that says what to pass.
func (p *program) confirm(without, question string, args ...any) (bool, error) {
	if !p.InTTY || !p.ErrTTY {
		return false, usageError{errors.New(p.say.Say(without))}
	}
	fmt.Fprint(p.Err, visible(p.say.Say(question, args...)))
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, errors.New(p.say.Say("task.input.read", err))
	}
	if strings.ToLower(strings.TrimSpace(line)) != "yes" {
		fmt.Fprintln(p.Err, p.say.Say("trust.no"))
		return false, exit(statusFailed)
	}
	return true, nil
}
