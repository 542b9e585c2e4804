package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/session"
	"overt/internal/trace"
)

// moveCommands change the state of a task.
func (p *program) moveCommands() (out []*cobra.Command) {
	about := map[string][2]string{
		"pause":   {"[TASK] [REASON...]", "Let a task rest: it takes no input until it is resumed"},
		"resume":  {"[TASK] [REASON...]", "Let a paused task take inputs again"},
		"finish":  {"[TASK] [REASON...]", "Say that a task is completed: it takes no input until it is reopened"},
		"cancel":  {"[TASK] REASON...", "Give a task up, and say why: it takes no input until it is reopened"},
		"archive": {"[TASK] [REASON...]", "Put a task out of sight: it is listed with --all only"},
		"reopen":  {"[TASK] [REASON...]", "Let a completed, cancelled or archived task take inputs again"},
	}
	for _, name := range session.Moves("") {
		out = append(out, &cobra.Command{
			Use: name + " " + about[name][0], Short: about[name][1], DisableFlagsInUseLine: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				ref, words := target(args)
				return p.change(cmd, ref, session.Move{Name: name, Reason: words}, func(t trace.Task) {
					fmt.Fprintln(p.Out, p.say.Say("task.now", t.ID, t.State))
				})
			},
		})
	}
	return out
}

func (p *program) renameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename [TASK] TITLE...", Short: "Give a task another title", DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, words := target(args)
			return p.change(cmd, ref, session.Rename{Title: words}, func(t trace.Task) {
				fmt.Fprintln(p.Out, visible(p.say.Say("task.renamed", t.ID, text(t.Title))))
			})
		},
	}
}

// target is the task that is meant, and the words said about it. Words in one argument can't be an id, so the task may be
// left out before them; one word alone is taken for a task, since a mistyped id shall change nothing.
func target(args []string) (ref, words string) {
	if len(args) == 0 {
		return "last", ""
	}
	if strings.ContainsAny(args[0], " \n\t") {
		return "last", strings.Join(args, " ")
	}
	return args[0], strings.Join(args[1:], " ")
}

// change applies an operation to a task, and says what the task is then.
func (p *program) change(cmd *cobra.Command, ref string, op session.Op, said func(trace.Task)) error {
	return p.act(cmd, ref, func(ctx context.Context, tasks *app.Tasks, t trace.Task) error {
		if err := tasks.Session.Do(ctx, "", t.ID, op); err != nil {
			return err
		}
		t, err := tasks.Trace.Find(ctx, t.ID)
		if err != nil {
			return err
		}
		said(t)
		return nil
	})
}

// act opens the record for changes and finds a task.
func (p *program) act(cmd *cobra.Command, ref string, do func(context.Context, *app.Tasks, trace.Task) error) (err error) {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conf, _ := p.resolved() // for the keys in it; that it may not hold changes nothing here
	tasks, err := app.OpenTasks(ctx, app.Options{Config: conf, Root: root, State: state, Env: p.Environ, Version: p.Version, Client: "cli"})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := tasks.Close(context.WithoutCancel(ctx)); cerr != nil && err == nil {
			err = errors.New(p.say.Say("error.record", cerr))
		}
	}()
	t, err := tasks.Trace.Find(ctx, ref)
	if err != nil {
		return p.named(ref, err)
	}
	return do(ctx, tasks, t)
}

// sayCopies says where a task that was erased may still stand.
func (p *program) sayCopies() error {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	copies, err := app.OpenDB(state, root, p.Version, p.Env).Copies()
	if err == nil && len(copies) > 0 {
		fmt.Fprintln(p.Err, "overt: "+visible(p.say.Say("task.rm.copies", strings.Join(copies, ", "))))
	}
	return err
}

func (p *program) eraseCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm TASK", Short: "Erase a task for good, with all that was sent, received and answered in it",
		Long: `Erase a task for good: its messages, what was sent and received, outputs and
title. The numbers of its facts stay, with their times. It is refused while
anybody is at work in the workspace, and while forks begin with its messages.
Backups that were made before are not touched, and named.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New(p.say.Say("task.rm.which"))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.act(cmd, args[0], func(ctx context.Context, tasks *app.Tasks, t trace.Task) error {
				if !yes && !t.Erased() {
					if err := p.sure(t); err != nil {
						return err
					}
				}
				err := tasks.Session.Do(ctx, "", t.ID, session.Erase{})
				var scrub *session.ScrubError
				switch {
				case errors.As(err, &scrub): // it is erased; what is left of it is to be known all the more
				case err != nil:
					return err
				default:
					fmt.Fprintln(p.Out, p.say.Say("task.rm.done", t.ID))
				}
				return errors.Join(err, p.sayCopies())
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// sure asks whether a task is to be erased. Only yes is yes.
func (p *program) sure(t trace.Task) error {
	if !p.InTTY || !p.ErrTTY {
		return usageError{errors.New(p.say.Say("task.rm.yes"))}
	}
	fmt.Fprint(p.Err, visible(p.say.Say("task.rm.ask", t.ID, text(t.Title))))
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return errors.New(p.say.Say("task.input.read", err))
	}
	if strings.ToLower(strings.TrimSpace(line)) != "yes" {
		fmt.Fprintln(p.Err, p.say.Say("task.rm.no"))
		return exit(statusFailed)
	}
	return nil
}
