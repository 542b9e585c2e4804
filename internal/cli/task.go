package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/trace"
)

// task runs `overt [PROMPT...]`: one input, or one line after another.
func (p *program) task(cmd *cobra.Command, args []string) (err error) {
	if p.flags.goOn && p.flags.resume+p.flags.fork != "" || p.flags.resume != "" && p.flags.fork != "" {
		return usageError{errors.New(p.say.Say("config.continue"))}
	}
	if err := p.meant(cmd, args); err != nil {
		return err
	}
	root, err := p.rootDir()
	if err != nil {
		return err
	}
	conf, err := p.config(root)
	if err != nil {
		return p.nearby(cmd.Context(), err)
	}
	text := strings.Join(args, " ")
	if conf.Input == "text" {
		if text, err = p.prompt(args); err != nil {
			return err
		}
	}
	p.checkText(text)
	lines := text == "" && p.InTTY && p.OutTTY && conf.Output == "text" && conf.Input == "text"
	if text == "" && !lines && conf.Input == "text" {
		if len(p.flags.images) > 0 {
			return &config.Error{Code: "task.picture", Hint: "task.picture.hint", Usage: true}
		}
		return session.ErrEmpty
	}
	talks := conf.Input == "stream-json"
	person := p.InTTY && p.ErrTTY && conf.Output == "text" && !talks || talks && conf.Output == "stream-json"
	state, end, err := p.records(conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if p.flags.goOn || p.flags.resume != "" || p.flags.fork != "" {
		// There is nothing to go on with in a record that is begun only now, least of all in the place of one that was lost.
		record, err := app.OpenRecord(cmd.Context(), state, root, p.Env)
		if errors.Is(err, app.ErrNoRecord) {
			return trace.ErrNoTask
		}
		if err != nil {
			return err
		}
		if err := record.Close(); err != nil {
			return err
		}
	}
	a, err := p.open(cmd.Context(), conf, root, state, person)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := a.Close(context.WithoutCancel(cmd.Context())); cerr != nil && err == nil {
			err = fmt.Errorf("%s", p.say.Say("error.record", cerr))
		}
	}()
	in := session.Input{Text: text, Origin: "person", Limits: limits(conf)}
	if in.Task, in.Fork, err = p.chosen(cmd.Context(), a); err != nil {
		return err
	}
	if err = p.probeFirst(cmd.Context(), a, conf, len(p.flags.images) > 0); err != nil {
		return err
	}
	for _, n := range a.Dropped() {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(n.Code, n.Args...)))
	}
	if in.Images, err = a.Pictures(cmd.Context(), in, p.Dir, p.flags.images); err != nil {
		return err
	}
	if in.Task != "" {
		if err = p.sayModel(cmd.Context(), a, conf, in.Task); err != nil {
			return err
		}
		var told []string
		if told, err = p.sayUnsent(cmd.Context(), a, in.Task); err != nil {
			return err
		}
		if len(told) > 0 {
			defer func() { // once the task has gone on: a start that is refused has told nobody
				if derr := a.Dismiss(context.WithoutCancel(cmd.Context()), in.Task, told); derr != nil && err == nil {
					err = fmt.Errorf("%s", p.say.Say("error.record", derr))
				}
			}()
		}
	}
	switch {
	case lines:
		return p.lines(cmd.Context(), a, conf, in)
	case talks:
		return exitStatus(p.converse(cmd.Context(), a, conf, in))
	}
	v := p.view(conf.Output, a.Trace)
	if person {
		v = &askingView{view: v, p: p, session: a.Session, lines: p.readLines(cmd.Context())}
	}
	return exitStatus(p.run(cmd.Context(), a, in, v))
}

// meant stops a mistyped command before it becomes a prompt, and costs money. Words after "--" are always a prompt.
func (p *program) meant(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args[0]) < 4 || cmd.ArgsLenAtDash() >= 0 || strings.ContainsAny(args[0], " \n?!.,:") {
		return nil
	}
	for _, like := range cmd.SuggestionsFor(args[0]) {
		command := append([]string{like}, args[1:]...)
		// With more words it is a command only if the next one is one of its own.
		if found, _, err := cmd.Find(command); len(args) == 1 || err == nil && found.Name() == args[1] {
			return usageError{errors.New(p.say.Say("usage.meant", strings.Join(command, " "), strings.Join(args, " ")))}
		}
	}
	return nil
}

// exitStatus turns a status into an error for cobra.
func exitStatus(status int, err error) error {
	if err != nil || status == 0 {
		return err
	}
	return exit(status)
}

// prompt is the words of the command line with what was piped in after them.
func (p *program) prompt(args []string) (string, error) {
	text := strings.Join(args, " ")
	if p.InTTY || p.In == nil {
		return text, nil
	}
	info, err := p.In.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 { // closed, or /dev/null: nothing is piped
		return text, nil
	}
	piped, err := io.ReadAll(io.LimitReader(p.In, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("%s", p.say.Say("task.input.read", err))
	}
	if len(piped) > maxInput {
		return "", usageError{errors.New(p.say.Say("task.input.large", maxInput>>20))}
	}
	if text == "" || strings.TrimSpace(string(piped)) == "" {
		return text + strings.TrimSpace(string(piped)), nil
	}
	return text + "\n\n" + string(piped), nil
}

// checkText says once that an input is not as it was given: facts and requests are UTF-8.
func (p *program) checkText(text string) {
	if !p.garbled && !utf8.ValidString(text) {
		p.garbled = true
		fmt.Fprintf(p.Err, "overt: %s\n", p.say.Say("task.input.garbled"))
	}
}

// maxInput bounds, in bytes, what is taken from standard input.
const maxInput = 8 << 20

// chosen is the task that --continue or --resume names, or what --fork does; neither: a new task.
func (p *program) chosen(ctx context.Context, a *app.App) (string, *session.Fork, error) {
	ref, message := p.flags.resume, ""
	switch {
	case p.flags.goOn:
		t, err := a.Trace.Active(ctx)
		return t.ID, nil, err
	case p.flags.fork != "":
		ref, message, _ = strings.Cut(p.flags.fork, "@")
	case ref == "":
		return "", nil, nil
	}
	t, err := a.Trace.Find(ctx, ref)
	if err != nil {
		return "", nil, p.named(ref, err)
	}
	if p.flags.fork != "" {
		return "", &session.Fork{Task: t.ID, Message: message}, nil
	}
	return t.ID, nil, nil
}

// named puts the reference that fits no task into the error.
func (p *program) named(ref string, err error) error {
	if errors.Is(err, trace.ErrNoTask) && ref != "last" {
		return &config.Error{Code: "task.unknown", Args: []any{ref}, Hint: "task.unknown.hint", Usage: true}
	}
	return err
}

// open builds the application and says what there is to say of the configuration.
func (p *program) open(ctx context.Context, conf *config.Config, root, state string, person bool) (*app.App, error) {
	// An answer is a chain of short waits. On one processor it costs a seventh less CPU and no more time, since no thread
	// is woken only to look for work. Tools get them all back, see show.
	_, p.processors = p.Env("GOMAXPROCS")
	if !p.processors {
		runtime.GOMAXPROCS(1)
	}
	o := app.Options{Config: conf, Root: root, State: state, Env: p.Environ, Version: p.Version, Client: "cli", Interactive: person}
	if person && p.InTTY && p.ErrTTY && canLend {
		o.Terminal = p.keys.lend
	}
	a, err := app.Open(ctx, o)
	if len(conf.Untrusted) > 0 {
		fmt.Fprintln(p.Err, "overt: "+visible(p.say.Say("config.untrusted", strings.Join(conf.Untrusted, ", "))))
	}
	for _, n := range conf.Notices {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(n.Code, n.Args...)))
	}
	if err == nil && conf.DryRun {
		fmt.Fprintf(p.Err, "overt: %s\n", p.say.Say("dry.banner"))
	}
	return a, err
}

// nearby names the model servers on this machine where a task is about to fail for want of a model. None is chosen: that is
// for the person to say.
func (p *program) nearby(ctx context.Context, err error) error {
	e, ok := errors.AsType[*config.Error](err)
	if !ok || e.Code != "config.no_key" && e.Code != "config.no_prefix" {
		return err
	}
	var found []string
	example := ""
	for _, f := range app.LocalServers(ctx, p.Env) {
		found = append(found, p.say.Say("config.no_key.server", f.Name, f.BaseURL))
		if example == "" && len(f.Models) > 0 {
			example = p.Program + " -m " + quote(f.Name+"/"+f.Models[0])
		}
	}
	switch {
	case example != "":
		e.Hint, e.HintArgs = "config.no_key.local", []any{strings.Join(found, ", "), example}
	case len(found) > 0:
		e.Hint, e.HintArgs = "config.no_key.unloaded", []any{strings.Join(found, ", ")}
	}
	return e
}

// records is the folder of the record, and what is to be done once it is closed: one that is to leave nothing behind goes.
func (p *program) records(conf *config.Config) (string, func() error, error) {
	if !conf.Ephemeral {
		state, err := p.state()
		return state, func() error { return nil }, err
	}
	if p.flags.goOn || p.flags.resume != "" || p.flags.fork != "" {
		return "", nil, usageError{errors.New(p.say.Say("config.ephemeral"))}
	}
	return app.Ephemeral(p.Env)
}

// run submits an input, shows its run to the end, and returns the exit status. The first interrupt stops the run, the
// second leaves at once: the record says then that it was interrupted. One that refuses what is asked does not count.
func (p *program) run(ctx context.Context, a *app.App, in session.Input, v view) (int, error) {
	w := p.watch(ctx, a, v)
	defer w.end()
	receipt, err := a.Session.Submit(ctx, in)
	if err != nil {
		return 0, v.refused(p.explain(err), err)
	}
	return w.follow(receipt)
}

// watch looks at what happens from now on, so that nothing of a run that is accepted after it is missed.
func (p *program) watch(ctx context.Context, a *app.App, v view) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{p, a, v, ctx, cancel, p.Interrupts(ctx), func(func(event.Delta) bool) {}}
	if v.follows() {
		w.deltas = a.Session.Watch(ctx)
	}
	return w
}

// watch is the look at one run.
type watch struct {
	p       *program
	a       *app.App
	v       view
	ctx     context.Context
	end     context.CancelFunc
	signals <-chan os.Signal
	deltas  iter.Seq[event.Delta]
}

// follow shows a run to its end, and returns the exit status.
func (w *watch) follow(receipt session.Receipt) (int, error) {
	p, a, v, ctx, cancel, signals, deltas := w.p, w.a, w.v, w.ctx, w.end, w.signals, w.deltas
	go func() {
		for n := 0; ; n++ {
			for refused := true; refused; {
				select {
				case s := <-signals:
					asking, ok := v.(*askingView)
					refused = ok && s == os.Interrupt && asking.refuse()
				case <-ctx.Done():
					return
				}
			}
			if n > 0 {
				// A running command is being ended; leaving before that would leave it behind.
				soon, done := context.WithTimeout(ctx, endWithin)
				a.Session.Wait(soon, receipt.Run)
				done()
				p.Exit(statusInterrupted)
			}
			fmt.Fprintf(p.Err, "\n%s\n", p.say.Say("run.stopping"))
			a.Session.Stop(receipt.Run)
		}
	}()
	lost := make(chan error, 1)
	go func() {
		err := a.Session.Wait(ctx, receipt.Run)
		if err != nil {
			lost <- err
			cancel() // no end will come into the record
		}
	}()
	end, err := p.show(ctx, a, receipt, v, deltas)
	if err != nil {
		select {
		case err = <-lost:
			err = errors.New(p.say.Say("error.record", err))
			return 0, v.refused(p.explain(err), err)
		default:
		}
		a.Session.Stop(receipt.Run)
		a.Session.Wait(context.WithoutCancel(ctx), receipt.Run)
		return 0, fmt.Errorf("%s", p.say.Say("error.output", err))
	}
	if err := a.Session.Wait(ctx, receipt.Run); err != nil {
		return 0, fmt.Errorf("%s", p.say.Say("error.record", err))
	}
	return statusOf(end), nil
}

// endWithin is how long a second interrupt waits for the commands to end: a little longer than they get to end by
// themselves.
const endWithin = 400 * time.Millisecond

// statusOf is the exit status of a run's end.
func statusOf(end event.Payload) int {
	switch e := end.(type) {
	case event.RunCompleted:
		if e.Denied > 0 {
			return statusDenied
		}
		return 0
	case event.RunFailed:
		switch {
		case e.Class == "auth":
			return statusConfig
		case strings.HasPrefix(e.Code, "limit."):
			return statusLimit
		}
		return statusFailed
	}
	return statusInterrupted
}
