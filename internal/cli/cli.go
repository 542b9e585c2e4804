// Package cli is the command line: flags, subcommands, and what they print.
//
// [Main] runs one command line to its exit status. Standard output carries the answer and nothing else; everything
// besides goes to standard error. Front-end rules: act through package session, read through package trace, say only
// sentences of package i18n.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"overt/internal/config"
	"overt/internal/i18n"
	"overt/internal/redact"
)

// Exit statuses. Where several hold, the first of 130, 3, 6, 1, 4, 0.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusConfig      = 3
	statusDenied      = 4
	statusLimit       = 6
	statusInterrupted = 130
)

// System is what a command line sees of its process.
type System struct {
	In             *os.File
	Out, Err       io.Writer
	InTTY          bool // a person types
	OutTTY, ErrTTY bool
	Env            func(name string) (string, bool)
	Environ        []string
	Dir            string // "": unknown
	Home           string // "": unknown
	Version        string
	Arg0, Self     string                                 // how the program was called, and its own path; Self "": unknown
	Program        string                                 // how a person calls it: "overt", or the path they gave
	Interrupts     func(context.Context) <-chan os.Signal // SIGINT, SIGTERM, SIGHUP and SIGQUIT until the context ends
	Exit           func(status int)                       // ends the process at once
}

// Process is the system of the running program.
func Process() System {
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	self, _ := os.Executable()
	return System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: term.IsTerminal(int(os.Stdin.Fd())), OutTTY: term.IsTerminal(int(os.Stdout.Fd())), ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Env: os.LookupEnv, Environ: os.Environ(), Dir: dir, Home: home, Version: version(), Program: calledAs(os.Args[0]), Arg0: os.Args[0], Self: self, Interrupts: interrupts, Exit: os.Exit,
	}
}

// calledAs is what to type to call the program again.
func calledAs(arg0 string) string {
	if strings.ContainsRune(arg0, filepath.Separator) {
		return quote(arg0)
	}
	return "overt"
}

func interrupts(ctx context.Context) <-chan os.Signal {
	c, pipe := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	signal.Notify(pipe, syscall.SIGPIPE) // so that a reader that went away is an error of the write, not our death
	context.AfterFunc(ctx, func() { signal.Stop(c); signal.Stop(pipe) })
	return c
}

// exit is an error that has been said already, if there was anything to say.
type exit int

// Error implements error.
func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// program is one command line being run.
type program struct {
	System
	args  []string // of the command line; nil: not known
	say   i18n.Printer
	flags flags
	conf  *config.Config // in force, once it is resolved
	mask  *redact.Masker // of the settings, for those who show them
	// command is what was run, as "overt task list".
	command string
	keys    *keyboard
	garbled bool // it was said that an input is not UTF-8
	// processors says that all processors are in use, or as many as the person wants.
	processors bool
}

// Main runs a command line and returns its exit status.
func Main(args []string, sys System) int {
	p := &program{System: sys, args: args, say: i18n.New("en"), keys: newKeyboard(sys.In)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := p.root()
	cmd.SetArgs(args)
	cmd.SetIn(sys.In)
	cmd.SetOut(sys.Out)
	cmd.SetErr(sys.Err)
	ran, err := cmd.ExecuteContextC(ctx)
	p.command = ran.CommandPath()
	return p.status(err)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "overt [FLAGS] [PROMPT...]",
		Short: "A local coding agent whose every step is in the open",
		Long: `A local coding agent whose every step is in the open.

overt "what to do" works on one task in the current folder: it reads, edits and
runs, and answers on standard output. Standard input, when piped, is appended to
the prompt. Without a prompt, on a terminal, it asks for one task after another.
Everything that was sent, received, decided and done is on record: overt trace.`,
		Example: `  overt demo
  overt "make the failing test pass" --allow 'run_command(go test:*)'
  git diff | overt "review this change" --permission plan
  overt -u http://127.0.0.1:8080/v1 -m NAME "what does this project do?"`,
		Args:                       cobra.ArbitraryArgs,
		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.flags.version {
				return p.writeVersion()
			}
			return p.task(cmd, args)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	p.addFlags(root)
	root.AddCommand(p.demoCommand(), p.traceCommand(), p.taskCommand(), p.undoCommand(), p.dbCommand(), p.usageCommand(), p.modelsCommand(), p.probeCommand(), p.configCommand(), p.permissionCommand(), p.riskCommand(), p.doctorCommand(), p.versionCommand(), p.completionCommand())
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	return root
}

// knownTopic refuses help on what is no command; cobra would show the usage and call that a success.
func knownTopic(help *cobra.Command, args []string) error {
	c, rest, err := help.Root().Find(args)
	if err != nil || len(rest) > 0 || c == help.Root() && len(args) > 0 {
		return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
	}
	return nil
}

func (p *program) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: "Write a script that completes command lines of a shell",
		Long: "Write a script that completes the command lines of overt in a shell. To load it at once:",
		Example: `  source <(overt completion bash)
  source <(overt completion zsh)
  overt completion fish | source
  overt completion powershell | Out-String | Invoke-Expression`,
		DisableFlagsInUseLine: true,
		ValidArgs:             shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError{errors.New("overt completion takes bash, zsh, fish or powershell")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.Out, false)
			case "zsh":
				return root.GenZshCompletionNoDesc(p.Out)
			case "fish":
				return root.GenFishCompletion(p.Out, false)
			default:
				return root.GenPowerShellCompletion(p.Out)
			}
		},
	}
}

// usageError is a command line that can't be understood.
type usageError struct{ error }

// status says what is wrong, if that was not said yet, and gives the exit status.
func (p *program) status(err error) int {
	var e exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	}
	m := p.explain(err)
	fmt.Fprintf(p.Err, "overt: %s\n", visible(m.text))
	if m.hint != "" {
		fmt.Fprintf(p.Err, "  %s\n", visible(m.hint))
	}
	return m.status
}

// noArgs refuses arguments of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error { return usage(cobra.NoArgs(cmd, args)) }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}
