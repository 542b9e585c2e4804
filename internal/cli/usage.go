package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"overt/internal/i18n"
	"overt/internal/trace"
)

// usageCommand sums up the tokens that model servers reported.
func (p *program) usageCommand() *cobra.Command {
	var by string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "usage [TASK]", Short: "Sum up the tokens that were reported",
		Long: `Sum up the tokens that model servers reported, every attempt counted; one that was
refused has used none. No tokens are estimated: what no call reported is unknown, and
a sum that lacks calls says so (≥). Costs are what servers said, or, with ~, tokens times the list
price of the model; calls whose price is not known are left out, and counted.

TASK is an id, at least 4 of its closing characters, or "last" (the default).
By task or session it is over all tasks of the workspace, unless one is named.`,
		Args: p.oneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if groups := trace.Groupings(); !slices.Contains(groups, by) {
				return usageError{errors.New(p.say.Say("usage.by", by, strings.Join(groups, ", ")))}
			}
			return p.showUsage(cmd, args, by, asJSON)
		},
	}
	cmd.Flags().StringVar(&by, "by", "model", "a row for each `GROUP`: "+strings.Join(trace.Groupings(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) showUsage(cmd *cobra.Command, args []string, by string, asJSON bool) error {
	record, task, err := p.find(cmd, args)
	if err != nil {
		return err
	}
	defer record.Close()
	if len(args) == 0 && (by == "task" || by == "session") {
		task = trace.Task{}
	}
	report, err := record.Trace.Usage(cmd.Context(), task.ID, by)
	if err != nil {
		return err
	}
	if asJSON {
		return p.writeJSON(report)
	}
	if task.ID == "" {
		fmt.Fprintln(p.Out, p.say.Say("usage.workspace"))
	} else {
		fmt.Fprintf(p.Out, "%s  %s\n", task.ID, visible(text(task.Title)))
	}
	switch t := report.Total; {
	case task.Erased():
		_, err = fmt.Fprintln(p.Out, p.say.Say("task.state.erased"))
		return err
	case t.Calls == 0:
		_, err = fmt.Fprintln(p.Out, p.say.Say("task.no_calls"))
		return err
	case t.Complete+t.Partial == 0:
		fmt.Fprintln(p.Out, p.say.Say("usage.none"))
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.ReplaceAll(p.say.Say("usage.columns"), "|", "\t")+"\t")
	for _, row := range report.Rows {
		p.usageRow(w, row.Key, row.UsageFigure)
	}
	p.usageRow(w, p.say.Say("usage.total"), report.Total)
	return w.Flush()
}

// usageRow writes a line of the table.
func (p *program) usageRow(w *tabwriter.Writer, key string, f trace.UsageFigure) {
	reported := p.say.Say("usage.of", f.Complete, f.Calls-f.Refused)
	if f.Partial > 0 {
		reported = p.say.Say("usage.of.part", f.Complete, f.Calls-f.Refused, f.Partial)
	}
	figure := func(n *int64) string {
		switch {
		case n == nil:
			return p.say.Say("usage.unknown")
		case f.Complete+f.Refused < f.Calls:
			return p.say.Say("usage.least", i18n.Number(*n))
		}
		return i18n.Number(*n)
	}
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", visible(key), f.Calls, reported,
		figure(f.Input), figure(f.CacheRead), figure(f.Output), figure(f.Reasoning), p.cost(f.Cost))
}
