package cli

import (
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/trace"
)

// taskCommand lists and shows tasks.
func (p *program) taskCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "task", Short: "List and show tasks", RunE: func(cmd *cobra.Command, args []string) error {
		return usageError{errors.New(p.say.Say("task.which"))}
	}, Args: cobra.ArbitraryArgs}
	var listJSON, showJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the tasks of this workspace, the last changed first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listTasks(cmd, listJSON) },
	}
	list.Flags().BoolVar(&listJSON, "json", false, "as JSON")
	show := &cobra.Command{
		Use: "show [TASK]", Short: "Show a task: its runs, messages, tools and changes",
		Args: p.oneTask,
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
		fmt.Fprintln(p.Err, p.say.Say("task.missing"))
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ID, text(t.LastRun), t.Changed.Local().Format(time.DateTime), visible(text(t.Title)))
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
	if len(runs) > 0 {
		task.LastRun = &runs[len(runs)-1].Status
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
	fmt.Fprintf(p.Out, "%s  %s  %s\n", task.ID, text(task.LastRun), visible(text(task.Title)))
	if plan, ok := lastPlan(events); ok {
		for _, line := range p.plan(plan) {
			fmt.Fprintln(p.Out, "  "+visible(line))
		}
	}
	for _, e := range events {
		if line := p.story(e); line != "" {
			fmt.Fprintln(p.Out, strconv.FormatInt(e.Seq, 10)+"  "+visible(line))
		}
	}
	return nil
}
