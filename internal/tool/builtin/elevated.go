package builtin

import (
	"context"
	"errors"
	"io"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
)

// elevate prepares a command that runs as root. It is always of grade high, and it runs in a shell of its own, of which
// nothing lasts. Without a terminal nobody could type a password, so it is refused before anybody is asked.
func (r *commandRun) elevate(intent string, own policy.Grade, dir string) (*tool.Prepared, error) {
	if r.terminal == nil {
		return nil, &tool.Refusal{Code: "no_terminal", Text: "elevated needs a person at a terminal, and there is none; nothing was run. Go on without it, or say what a person is to run"}
	}
	sudo, err := r.shell.Sudo()
	if err != nil {
		return nil, &tool.Refusal{Code: "not_started", Text: err.Error() + "; nothing was run"}
	}
	text := policy.Elevated(shell.Path(), r.options.Command)
	preview := policy.InDir(dir, sudo+strings.TrimPrefix(text, "sudo")) // the person sees which one it is
	text = policy.InDir(dir, text)
	risk := policy.Command(text, ".", Files(r.tree)).Raise(policy.High)
	if r.options.Dir == "" {
		r.options.Dir = r.shell.Dir()
	}
	return &tool.Prepared{
		Action:  policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: text}}, Own: own, Risk: &risk},
		Preview: preview, Intent: strings.Join(strings.Fields(intent), " "), Dir: dir, Launch: r.launchElevated, Release: r.release, Run: r.runElevated,
	}, nil
}

func (r *commandRun) launchElevated(_ context.Context, confined bool) (*event.Group, error) {
	if confined {
		return nil, errors.New("a command of grade high was allowed in the sandbox")
	}
	if r.to != nil {
		if err := r.recheck(*r.to); err != nil {
			return nil, err
		}
	}
	held, err := r.shell.StartElevated(r.options)
	if err != nil {
		return nil, &tool.Refusal{Code: "not_started", Text: err.Error() + "; nothing was run"}
	}
	r.held = held
	g := event.Group(held.Group())
	return &g, nil
}

func (r *commandRun) runElevated(ctx context.Context, h tool.Host) (*tool.Result, error) {
	tty, back, err := r.terminal()
	if err != nil {
		r.held.Release()
		return nil, &tool.Refusal{Code: "no_terminal", Text: "the terminal could not be had: " + err.Error() + "; nothing was run"}
	}
	var whole io.Writer
	keeper := h.Keep(true)
	if keeper != nil {
		whole = keeper
	}
	o, err := r.held.GoAt(ctx, tty, h.Show, whole)
	back()
	if err != nil {
		return nil, err
	}
	result, err := r.outcome(o)
	if err != nil {
		return nil, err
	}
	result.Content += excerpt(o.Output, keep(keeper, o.Output, result))
	return result, nil
}
