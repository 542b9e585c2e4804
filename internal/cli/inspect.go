package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/i18n"
	"overt/internal/trace"
)

// traceCommand is the inspector in the terminal.
func (p *program) traceCommand() *cobra.Command {
	var call, raw string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "trace [TASK]", Short: "Show the model calls of a task, down to the byte",
		Long: `Show the model calls of a task: every attempt, in order.

TASK is an id, at least 4 of its closing characters, or "last" (the default).
--call N shows one call; with --raw it writes the exact bytes of a body and
nothing else.`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MaximumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw != "" && (call == "" || raw != "request" && raw != "response") {
				return usageError{errors.New("--raw takes request or response, and needs --call")}
			}
			if raw != "" && asJSON {
				return usageError{errors.New("--raw and --json can't be used together")}
			}
			return p.trace(cmd, args, call, raw, asJSON)
		},
	}
	cmd.Flags().StringVar(&call, "call", "", "one call: its position from 1, or its id (`N`)")
	cmd.Flags().StringVar(&raw, "raw", "", "write a body of that call: `request|response`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
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
	body := x.Request.Join()
	if raw == "response" {
		body = nil
		if x.Response != nil {
			body = x.Response.Join()
		}
	}
	_, err = p.Out.Write(body)
	return err
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
		_, err := fmt.Fprintln(p.Out, p.say.Say("task.no_calls"))
		return err
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "call\tstep\tattempt\tstatus\thttp\tsent\tshared\treceived\ttokens in\tout\tfirst byte\ttime\t")
	for i, c := range calls {
		in, out := tokens(c.Usage)
		fmt.Fprintf(w, "%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i+1, c.Step, c.Attempt, c.Status, number(c.HTTPStatus),
			number(c.RequestBytes), number(c.SharedBytes), number(c.ResponseBytes), in, out, ms(c.FirstByteMS), ms(c.DurationMS))
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
	w := p.Out
	fmt.Fprintf(w, "%s  step %d, attempt %d, %s\n", c.ID, c.Step, c.Attempt, c.Status)
	fmt.Fprintf(w, "%s %s\n", x.Method, visible(x.URL))
	p.header(x.RequestHeader)
	fmt.Fprintf(w, "  %s bytes, %s shared with the call before\n", i18n.Number(x.Request.Bytes), i18n.Number(x.SharedBytes))
	if x.Status == nil {
		fmt.Fprintln(w, "no response")
	} else {
		fmt.Fprintf(w, "HTTP %d\n", *x.Status)
		p.header(x.ResponseHeader)
	}
	if x.Response != nil {
		fmt.Fprintf(w, "  %s bytes, first byte after %s, %s in all\n", i18n.Number(x.Response.Bytes), ms(c.FirstByteMS), ms(c.DurationMS))
	}
	if c.Masked != nil && *c.Masked > 0 {
		fmt.Fprintf(w, "  %d known secrets are masked in what is stored\n", *c.Masked)
	}
	if c.Error != nil {
		fmt.Fprintf(w, "  %s\n", visible(*c.Error))
	}
	_, err := fmt.Fprintln(w, "bodies: --raw request, --raw response")
	return err
}

func (p *program) header(h map[string][]string) {
	for _, name := range sortedKeys(h) {
		fmt.Fprintf(p.Out, "  %s: %s\n", visible(name), visible(strings.Join(h[name], ", ")))
	}
}

func tokens(u *trace.Usage) (in, out string) {
	if u == nil || u.Fresh == nil || u.Output == nil {
		return "–", "–"
	}
	n := *u.Fresh
	for _, x := range []*int64{u.CacheRead, u.CacheWrite} {
		if x != nil {
			n += *x
		}
	}
	return i18n.Number(n), i18n.Number(*u.Output)
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

// taskCommand lists and shows tasks.
func (p *program) taskCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "List and show tasks", RunE: func(cmd *cobra.Command, args []string) error {
		return usageError{errors.New("overt task takes list or show")}
	}, Args: cobra.ArbitraryArgs}
	var listJSON, showJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the tasks of this workspace, the last changed first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listTasks(cmd, listJSON) },
	}
	list.Flags().BoolVar(&listJSON, "json", false, "as JSON")
	show := &cobra.Command{
		Use: "show [TASK]", Short: "Show a task: its runs, messages, tools and changes",
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MaximumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error { return p.showTask(cmd, args, showJSON) },
	}
	show.Flags().BoolVar(&showJSON, "json", false, "as JSON: the task, its runs, and every event")
	cmd.AddCommand(list, show)
	return cmd
}

func (p *program) listTasks(cmd *cobra.Command, asJSON bool) error {
	record, err := p.record(cmd)
	if errors.Is(err, app.ErrNoRecord) {
		if asJSON {
			return p.writeJSON([]trace.Task{})
		}
		fmt.Fprintln(p.Err, p.say.Say("task.none"))
		return nil
	}
	if err != nil {
		return err
	}
	defer record.Close()
	tasks, err := record.Trace.Tasks(cmd.Context())
	if err != nil {
		return err
	}
	if asJSON {
		return p.writeJSON(tasks)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, t := range tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ID, t.State, t.Changed.Local().Format(time.DateTime), visible(text(t.Title)))
	}
	return w.Flush()
}

func (p *program) showTask(cmd *cobra.Command, args []string, asJSON bool) error {
	record, task, err := p.find(cmd, args)
	if err != nil {
		return err
	}
	defer record.Close()
	runs, err := record.Trace.Runs(cmd.Context(), task.ID)
	if err != nil {
		return err
	}
	events := []trace.Event{}
	for e, err := range record.Trace.Events(cmd.Context(), task.ID) {
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	if asJSON {
		return p.writeJSON(struct {
			trace.Task
			Runs   []trace.Run   `json:"runs"`
			Events []trace.Event `json:"events"`
		}{task, runs, events})
	}
	fmt.Fprintf(p.Out, "%s  %s  %s\n", task.ID, task.State, visible(text(task.Title)))
	for _, e := range events {
		if line := p.story(e); line != "" {
			fmt.Fprintln(p.Out, strconv.FormatInt(e.Seq, 10)+"  "+line)
		}
	}
	return nil
}
