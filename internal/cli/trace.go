package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/i18n"
	"overt/internal/trace"
)

// traceCommand is the inspector in the terminal.
func (p *program) traceCommand() *cobra.Command {
	var call, raw string
	var asJSON, diff bool
	cmd := &cobra.Command{
		Use: "trace [TASK]", Short: "Show the model calls of a task, down to the byte",
		Long: `Show the model calls of a task: every attempt, in order.

TASK is an id, at least 4 of its closing characters, or "last" (the default).
--call N shows one call; with --raw it writes the exact bytes of a body and
nothing else. --diff shows how much of each request the one before had sent too, from
the first byte on, which is what a server can take from its cache, and why it is not
more.`,
		Args: p.oneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw != "" && (call == "" || raw != "request" && raw != "response") {
				return usageError{errors.New(p.say.Say("trace.raw"))}
			}
			if raw != "" && asJSON {
				return usageError{errors.New(p.say.Say("trace.raw.json"))}
			}
			if diff && raw != "" {
				return usageError{errors.New(p.say.Say("trace.diff.raw"))}
			}
			if diff {
				return p.traceDiff(cmd, args, call, asJSON)
			}
			return p.trace(cmd, args, call, raw, asJSON)
		},
	}
	cmd.Flags().StringVar(&call, "call", "", "one call, `N`: its position from 1, or its id")
	cmd.Flags().StringVar(&raw, "raw", "", "write a body of that call: `request|response`")
	cmd.Flags().BoolVar(&diff, "diff", false, "compare each request with the one before")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// traceDiff shows what requests have in common with those before.
func (p *program) traceDiff(cmd *cobra.Command, args []string, ref string, asJSON bool) error {
	record, task, err := p.find(cmd, args)
	if err != nil {
		return err
	}
	defer record.Close()
	diffs, err := record.Trace.Diffs(cmd.Context(), task.ID)
	if err != nil {
		return err
	}
	first := 0
	if ref != "" {
		calls, err := record.Trace.Calls(cmd.Context(), task.ID)
		if err != nil {
			return err
		}
		c, err := trace.FindCall(calls, ref)
		if err != nil {
			return err
		}
		first = slices.IndexFunc(diffs, func(d trace.Diff) bool { return d.Call == c.ID })
		diffs = diffs[first : first+1]
	}
	if asJSON {
		return p.writeJSON(diffs)
	}
	fmt.Fprintf(p.Out, "%s  %s\n", task.ID, visible(text(task.Title)))
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.ReplaceAll(p.say.Say("trace.diff.columns"), "|", "\t"))
	for i, d := range diffs {
		share := "–"
		if d.Shared != nil && *d.Sent > 0 {
			tenths := *d.Shared * 1000 / *d.Sent // not rounded: 100 % is all of it
			share = fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
		}
		why := p.say.Say("trace.why." + d.Cause)
		if len(d.Taken) > 0 && d.Before != nil {
			why = p.say.Say("trace.diff.taken", why, strings.Join(d.Taken, ", "))
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t  %s\n", first+i+1, number(d.Bytes), number(d.Shared), share, visible(why))
	}
	return w.Flush()
}

func (p *program) trace(cmd *cobra.Command, args []string, ref, raw string, asJSON bool) error {
	record, task, err := p.find(cmd, args)
	if err != nil {
		return err
	}
	defer record.Close()
	calls, err := record.Trace.Calls(cmd.Context(), task.ID)
	if err != nil {
		return err
	}
	if ref == "" {
		if asJSON {
			return p.writeJSON(calls)
		}
		return p.listCalls(task, calls)
	}
	c, err := trace.FindCall(calls, ref)
	if err != nil {
		return err
	}
	if asJSON {
		return p.writeJSON(c)
	}
	x, err := record.Trace.Exchange(cmd.Context(), c.ID)
	if err != nil {
		return err
	}
	if raw == "" {
		return p.showCall(c, x)
	}
	body := x.Request
	if raw == "response" {
		body = x.Response
	}
	_, err = p.Out.Write(body)
	return err
}

// oneTask takes at most one task; more words are likely a prompt.
func (p *program) oneTask(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return usageError{errors.New(p.say.Say("usage.one_task", name, name+" "+strings.Join(args, " ")))}
}

// find opens the record and finds the task that the arguments name.
func (p *program) find(cmd *cobra.Command, args []string) (*app.Record, trace.Task, error) {
	record, err := p.record(cmd)
	if err != nil {
		return nil, trace.Task{}, err
	}
	ref := "last"
	if len(args) > 0 {
		ref = args[0]
	}
	task, err := record.Trace.Find(cmd.Context(), ref)
	if err != nil {
		return nil, task, errors.Join(p.named(ref, err), record.Close())
	}
	return record, task, nil
}

func (p *program) listCalls(task trace.Task, calls []trace.Call) error {
	fmt.Fprintf(p.Out, "%s  %s\n", task.ID, visible(text(task.Title)))
	if len(calls) == 0 {
		said := "task.no_calls"
		if task.Erased() {
			said = "task.erased.calls"
		}
		_, err := fmt.Fprintln(p.Out, p.say.Say(said))
		return err
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.ReplaceAll(p.say.Say("trace.columns"), "|", "\t")+"\t")
	for i, c := range calls {
		in, out := tokens(c.Usage)
		fmt.Fprintf(w, "%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i+1, c.Step, c.Attempt, c.Status, number(c.HTTPStatus),
			number(c.RequestBytes), number(c.SharedBytes), number(c.ResponseBytes), in, out, p.cost(c.Cost), ms(c.FirstByteMS), ms(c.DurationMS))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, c := range calls {
		if c.Error != nil {
			fmt.Fprintf(p.Out, "%d: %s\n", i+1, visible(*c.Error))
		}
	}
	return nil
}

func (p *program) showCall(c trace.Call, x *trace.Exchange) error {
	line := func(code string, args ...any) { fmt.Fprintln(p.Out, visible(p.say.Say(code, args...))) }
	line("trace.call", c.ID, c.Step, c.Attempt, c.Status)
	line("trace.request", x.Method, x.URL)
	p.header(x.RequestHeader)
	line("trace.request.bytes", i18n.Number(int64(len(x.Request))), i18n.Number(x.Shared))
	if x.Status == nil {
		line("trace.response.none")
	} else {
		line("trace.response", *x.Status)
		p.header(x.ResponseHeader)
	}
	if x.Response != nil {
		line("trace.response.bytes", i18n.Number(int64(len(x.Response))), ms(c.FirstByteMS), ms(c.DurationMS))
	}
	if c.Masked != nil && *c.Masked > 0 {
		line("trace.masked", *c.Masked)
	}
	if c.Error != nil {
		line("trace.error", *c.Error)
	}
	_, err := fmt.Fprintln(p.Out, p.say.Say("trace.bodies"))
	return err
}

func (p *program) header(h map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(p.Out, "  %s: %s\n", visible(name), visible(strings.Join(h[name], ", ")))
	}
}

func tokens(u *trace.Usage) (in, out string) {
	if u == nil {
		return "–", "–"
	}
	return number(u.Input()), number(u.Output)
}

func number[N int | int64](n *N) string {
	if n == nil {
		return "–"
	}
	return i18n.Number(int64(*n))
}

func ms(n *int64) string {
	if n == nil {
		return "–"
	}
	return i18n.Number(*n) + " ms"
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
