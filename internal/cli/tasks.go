package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/event"
	"overt/internal/i18n"
	"overt/internal/trace"
)

// taskCommand lists, shows and changes tasks.
func (p *program) taskCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "task", Short: "List, show, change and erase tasks",
		Long: `List, show, change and erase tasks. None of it makes a turn.

TASK is an id, at least 4 of its closing characters, or "last", the task that
was changed last. A task is active, paused, completed, cancelled or archived.
Only an active one takes an input; a new task can begin with what any of them
said: overt --fork TASK.`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return usageError{errors.New(p.say.Say("task.which", strings.Join(names, ", ")))}
	}
	cmd.AddCommand(p.listCommand(), p.showCommand())
	cmd.AddCommand(p.moveCommands()...)
	cmd.AddCommand(p.renameCommand(), p.eraseCommand())
	return cmd
}

func (p *program) listCommand() *cobra.Command {
	var q trace.TaskQuery
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the tasks of this workspace, the last changed first, without archived ones", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if states := taskStates(); q.State != "" && !slices.Contains(states, q.State) {
				return usageError{errors.New(p.say.Say("task.which_state", q.State, strings.Join(states, ", ")))}
			}
			if q.Limit < 0 {
				return usageError{errors.New(p.say.Say("task.limit", q.Limit))}
			}
			return p.listTasks(cmd, q, asJSON)
		},
	}
	f := list.Flags()
	f.BoolVar(&q.All, "all", false, "archived ones too")
	f.StringVar(&q.State, "state", "", "only those in `STATE`: "+strings.Join(taskStates(), ", "))
	f.StringVar(&q.Search, "search", "", "only those whose title holds `TEXT`")
	f.IntVar(&q.Limit, "limit", 0, "the most tasks, `N`; 0 is no limit")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	return list
}

func taskStates() []string {
	return []string{event.TaskActive, event.TaskPaused, event.TaskCompleted, event.TaskCancelled, event.TaskArchived}
}

func (p *program) listTasks(cmd *cobra.Command, q trace.TaskQuery, asJSON bool) error {
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
	list, err := record.Trace.Tasks(cmd.Context(), q)
	if err != nil {
		return err
	}
	if asJSON {
		if len(list.Tasks) < list.Matching {
			fmt.Fprintln(p.Err, p.total(list))
		}
		return p.writeJSON(list.Tasks)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, t := range list.Tasks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.State, text(t.LastRun), t.Changed.Local().Format(time.DateTime), visible(text(t.Title)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(p.Err, p.total(list))
	return nil
}

// total says how many tasks there are, and how many of them a list shows.
func (p *program) total(list *trace.TaskList) string {
	switch shown := len(list.Tasks); {
	case shown < list.Matching:
		return p.say.Say("task.total.limit", shown, list.Matching, list.Total)
	case shown < list.Total:
		return p.say.Say("task.total.part", shown, list.Total)
	default:
		return p.plural("task.total", shown)
	}
}

func (p *program) showCommand() *cobra.Command {
	var asJSON bool
	show := &cobra.Command{
		Use: "show [TASK]", Short: "Show a task: its state, runs, messages, tools and changes",
		Args: p.oneTask,
		RunE: func(cmd *cobra.Command, args []string) error { return p.showTask(cmd, args, asJSON) },
	}
	show.Flags().BoolVar(&asJSON, "json", false, "as JSON: the task, its runs, and every event")
	return show
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
	p.taskHead(task, events)
	if plan, ok := lastPlan(events); ok {
		for _, line := range p.plan(plan) {
			fmt.Fprintln(p.Out, "  "+visible(line))
		}
	}
	waiting, err := unsent(func(yield func(trace.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	p.showUnsent(task, waiting)
	for _, e := range events {
		if line := p.story(e); line != "" {
			fmt.Fprintln(p.Out, strconv.FormatInt(e.Seq, 10)+"  "+visible(line))
		}
	}
	return nil
}

// taskHead says what a task is.
func (p *program) taskHead(t trace.Task, events []trace.Event) {
	line := func(code string, args ...any) { fmt.Fprintln(p.Out, "  "+visible(p.say.Say(code, args...))) }
	fmt.Fprintln(p.Out, strings.TrimRight(strings.Join([]string{t.ID, t.State, text(t.LastRun), visible(text(t.Title))}, "  "), " "))
	if t.Reason != nil {
		line("task.reason.line", indent(*t.Reason))
	}
	if t.Parent != nil && t.From != nil {
		line("task.fork.line", *t.Parent, *t.From)
	}
	if n := len(events); n > 0 {
		if e, ok := events[n-1].Payload.(event.TaskErased); ok {
			line("task.erased.line", events[n-1].Time.Local().Format(time.DateTime), e.Facts, i18n.Number(e.Bytes))
		}
	}
}
