package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/checkpoint"
	"overt/internal/event"
	"overt/internal/trace"
)

// undoFlags are what `overt undo` takes.
type undoFlags struct {
	wish           checkpoint.Wish
	list, force    bool
	dryRun, asJSON bool
}

// undoCommand takes changes to files back.
func (p *program) undoCommand() *cobra.Command {
	var o undoFlags
	cmd := &cobra.Command{
		Use: "undo [TASK]", Short: "Take back what a task changed in the workspace, by files or by commands",
		Long: `Take back what a task changed in the workspace, by file tools or by commands:
the last change or redo that is not undone yet, a turn, or all back to a change.

What was changed since is left alone and named; the status is 1 then. An undo can
be undone itself, with --redo. What can't be taken back is what happened outside
the workspace, in the network and to processes, and what --list names. What was
changed while a job ran outside any call may be others' work, and is taken back
only with --to.`,
		Example: `  overt undo
  overt undo --turn --dry-run
  overt undo --list
  overt undo --redo`,
		Args: p.oneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.undo(cmd, args, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.list, "list", false, "list the changes, the newest first, and what of them can't be taken back")
	f.StringVar(&o.wish.To, "to", "", "back to before the change or redo `ID`, or its closing characters")
	f.BoolVar(&o.wish.Turn, "turn", false, "all changes of the last turn that has any")
	f.BoolVar(&o.wish.Redo, "redo", false, "take the last undo back")
	f.BoolVar(&o.force, "force", false, "overwrite what was changed since; it is kept, and --redo brings it back")
	f.BoolVar(&o.dryRun, "dry-run", false, "only say what would be done")
	f.BoolVar(&o.asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) undo(cmd *cobra.Command, args []string, o undoFlags) error {
	wishes := 0
	for _, is := range []bool{o.wish.To != "", o.wish.Turn, o.wish.Redo, o.list} {
		if is {
			wishes++
		}
	}
	if wishes > 1 || o.list && (o.force || o.dryRun) {
		return usageError{errors.New(p.say.Say("undo.which"))}
	}
	ref := "last"
	if len(args) == 1 {
		ref = args[0]
	}
	return p.act(cmd, ref, func(ctx context.Context, tasks *app.Tasks, t trace.Task) error {
		var err error
		switch {
		case t.Erased():
			return p.undoErased(t, o)
		case o.list:
			err = p.listChanges(ctx, tasks, t, o.asJSON)
		case o.dryRun:
			err = p.previewUndo(ctx, tasks, t, o)
		default:
			err = p.doUndo(ctx, tasks, t, o)
		}
		if n := tasks.LostChanges(); n > 0 {
			fmt.Fprintln(p.Err, p.plural("db.files.lost", int(n)))
		}
		return p.explainUndo(err, t, o)
	})
}

// undoErased says that nothing is known of what a task had changed; to look is no failure.
func (p *program) undoErased(t trace.Task, o undoFlags) error {
	if o.list && o.asJSON {
		return p.writeJSON([]checkpoint.Entry{})
	}
	fmt.Fprintf(p.Err, "overt: %s\n", p.say.Say("undo.erased", t.ID))
	if o.list {
		return nil
	}
	return exit(statusFailed)
}

// undoReport is what an undo did, or would do, as JSON.
type undoReport struct {
	Task      string           `json:"task"`
	Targets   []string         `json:"targets"`
	Redo      bool             `json:"redo"`
	DryRun    bool             `json:"dry_run"`
	Restored  []string         `json:"restored"`
	Deleted   []string         `json:"deleted"`
	Conflicts []event.Conflict `json:"conflicts"`
	Killed    bool             `json:"killed"` // see [checkpoint.Result]
}

func (p *program) doUndo(ctx context.Context, tasks *app.Tasks, t trace.Task, o undoFlags) error {
	done, err := tasks.Undo(ctx, t.ID, o.wish, o.force)
	if err != nil {
		return err
	}
	return p.report(undoReport{
		t.ID, orEmpty(done.Targets), o.wish.Redo, false, orEmpty(done.PutBack), orEmpty(done.Removed), orEmpty(done.Conflicts), done.Killed,
	}, done.Left, o)
}

func (p *program) previewUndo(ctx context.Context, tasks *app.Tasks, t trace.Task, o undoFlags) error {
	plan, targets, err := tasks.PreviewUndo(ctx, t.ID, o.wish, o.force)
	if err != nil {
		return err
	}
	return p.report(undoReport{
		t.ID, targets, o.wish.Redo, true, orEmpty(plan.Restore), orEmpty(plan.Delete), orEmpty(plan.Conflicts), plan.Killed,
	}, len(plan.Conflicts), o)
}

// maxShown is how many paths of a kind are shown.
const maxShown = 50

// report says what was done, or would be; what was left alone is status 1.
func (p *program) report(r undoReport, left int, o undoFlags) error {
	if o.asJSON {
		if err := p.writeJSON(r); err != nil {
			return err
		}
		return p.leftAlone(left)
	}
	var lines []string
	say := func(code string, args ...any) { lines = append(lines, p.say.Say(code, args...)) }
	if r.DryRun {
		say("undo.would")
	}
	paths := func(code string, list []string) {
		for _, at := range list[:min(len(list), maxShown)] {
			say(code, at)
		}
		if more := len(list) - maxShown; more > 0 {
			say("undo.more", more)
		}
	}
	paths("undo.restored", r.Restored)
	paths("undo.deleted", r.Deleted)
	for _, c := range r.Conflicts[:min(len(r.Conflicts), maxShown)] {
		say("undo.left", c.Path, p.say.Say("undo.why."+c.Why))
	}
	switch {
	case len(r.Restored)+len(r.Deleted) == 0 && left == 0:
		say("undo.same")
	case r.DryRun:
		say("undo.plan", len(r.Restored), len(r.Deleted))
	case r.Redo:
		say("undo.redone", len(r.Restored), len(r.Deleted))
	default:
		say("undo.done", len(r.Restored), len(r.Deleted))
	}
	forced := slices.ContainsFunc(r.Conflicts, func(c event.Conflict) bool { return c.Why == "changed" || c.Why == "unsure" })
	switch {
	case left > 0 && forced:
		say("undo.left.sum", left)
	case left > 0:
		say("undo.left.kept", left)
	}
	inTheWay := slices.ContainsFunc(r.Conflicts, func(c event.Conflict) bool { return c.Why == "not_empty" })
	if inTheWay && !r.Redo && len(r.Targets) > 0 {
		say("undo.reopen", r.Targets[len(r.Targets)-1])
	}
	if r.Killed && len(r.Restored)+len(r.Deleted) > 0 {
		say("undo.killed")
	}
	if !r.DryRun && !r.Redo && len(r.Restored)+len(r.Deleted) > 0 {
		say("undo.again")
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.Out, visible(strings.ReplaceAll(l, "\n", " "))); err != nil {
			return err
		}
	}
	return p.leftAlone(left)
}

func (p *program) leftAlone(n int) error {
	if n > 0 {
		return exit(statusFailed)
	}
	return nil
}

func (p *program) listChanges(ctx context.Context, tasks *app.Tasks, t trace.Task, asJSON bool) error {
	list, err := tasks.Changes(ctx, t.ID)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	if asJSON {
		return p.writeJSON(orEmpty(list))
	}
	if len(list) == 0 {
		fmt.Fprintln(p.Err, p.say.Say("undo.list.none", t.ID))
		return nil
	}
	for _, e := range list {
		about, _, _ := strings.Cut(strings.TrimSpace(e.Tool+"  "+e.About), "\n")
		line := p.say.Say("undo.list.line", e.ID, e.Time.Local().Format(time.DateTime), p.say.Say("undo.state."+e.State), about, p.plural("undo.paths", e.Changes))
		if _, err := fmt.Fprintln(p.Out, visible(line)); err != nil {
			return err
		}
		if len(e.Jobs) > 0 {
			fmt.Fprintln(p.Out, "  "+visible(p.say.Say("undo.list.jobs", e.ID)))
		}
		if e.Killed {
			fmt.Fprintln(p.Out, "  "+p.say.Say("undo.list.killed"))
		}
		if len(e.Uncovered) > 0 {
			fmt.Fprintln(p.Out, "  "+visible(p.say.Say("undo.list.lost", p.lacks(e.Uncovered))))
		}
	}
	return nil
}

// lacks says what undo does not cover.
func (p *program) lacks(list []event.Uncovered) string {
	var words []string
	for _, u := range list {
		code := "undo.lacks." + u.What
		switch {
		case u.N == 0 || u.Whole() || u.What == "git-objects":
			words = append(words, p.say.Say(code))
		default:
			words = append(words, p.plural(code, u.N))
		}
	}
	return strings.Join(words, ", ")
}

// undoLine says in a question what undo will cover; "": nothing would be changed.
func (p *program) undoLine(q event.QuestionAsked) string {
	switch {
	case !q.Undo && len(q.Uncovered) == 0:
		return ""
	case !q.Undo:
		return p.say.Say("undo.covers.none", p.lacks(q.Uncovered[:1]))
	case len(q.Uncovered) == 0:
		return p.say.Say("undo.covers.all")
	}
	return p.say.Say("undo.covers", p.lacks(q.Uncovered))
}

// explainUndo says what is wrong with a wish.
func (p *program) explainUndo(err error, t trace.Task, o undoFlags) error {
	var none *checkpoint.NoChangeError
	said := func(status int, hint, code string, args ...any) error {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(code, args...)))
		if hint != "" {
			fmt.Fprintf(p.Err, "  %s\n", p.say.Say(hint))
		}
		return exit(status)
	}
	switch {
	case errors.Is(err, checkpoint.ErrNothing):
		return said(statusFailed, "undo.unknown.hint", "undo.nothing", t.ID)
	case errors.Is(err, checkpoint.ErrNoRedo):
		return said(statusFailed, "undo.unknown.hint", "undo.nothing.redo", t.ID)
	case errors.Is(err, checkpoint.ErrUnkept):
		return said(statusFailed, "undo.unkept.hint", "undo.unkept")
	case errors.Is(err, app.ErrFilesLost):
		return said(statusFailed, "", "undo.lost")
	case errors.Is(err, checkpoint.ErrPruned):
		return said(statusFailed, "undo.pruned.hint", "undo.pruned")
	case errors.As(err, &none):
		return said(statusUsage, "undo.unknown.hint", "undo.unknown", t.ID, none.ID)
	}
	return err
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
