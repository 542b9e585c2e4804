package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/i18n"
)

// dbCommand looks after the files of a record.
func (p *program) dbCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "db", Short: "Look after the record's files: status, check, backup, restore, prune",
		RunE: func(cmd *cobra.Command, args []string) error {
			return usageError{errors.New(p.say.Say("db.which"))}
		}, Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(p.dbStatusCommand(), p.dbCheckCommand(), p.dbBackupCommand(), p.dbRestoreCommand(), p.dbPruneCommand())
	return cmd
}

// db names the record of the workspace.
func (p *program) db() (*app.DB, error) {
	root, state, err := p.workspace()
	if err != nil {
		return nil, err
	}
	return app.OpenDB(state, root, p.Version, p.Env), nil
}

func (p *program) dbStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show sizes, contents and backups of the record, and who is at work", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := p.db()
			if err != nil {
				return err
			}
			st, err := db.Status(cmd.Context())
			if errors.Is(err, app.ErrNoRecord) {
				return p.nothing(asJSON)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return p.writeJSON(dbStatusJSON(st))
			}
			return p.showDB(db, st)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON; null: nothing is recorded")
	return cmd
}

// nothing says that there is no record, which is no error where one only looks.
func (p *program) nothing(asJSON bool) error {
	if asJSON {
		return p.writeJSON(nil)
	}
	_, err := fmt.Fprintln(p.Err, p.say.Say("db.nothing"))
	return err
}

// dbHolder is who is at work, as JSON.
type dbHolder struct {
	PID   int       `json:"pid"` // 0: not known
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// dbSaved is a backup, as JSON.
type dbSaved struct {
	Path      string    `json:"path"`
	Made      time.Time `json:"made"`
	Version   string    `json:"version"`
	Why       string    `json:"why"`
	Automatic bool      `json:"automatic"`
	Bytes     int64     `json:"bytes"`
	Facts     int64     `json:"facts"`
	Captures  *int64    `json:"captures"`
	Problem   string    `json:"problem"`
}

func savedJSON(b app.DBBackup) dbSaved {
	return dbSaved{b.Path, b.Made, b.Version, b.Why, b.Automatic, b.Bytes, b.Facts, b.Captures, b.Problem}
}

func dbStatusJSON(st *app.DBStatus) any {
	out := struct {
		Dir       string       `json:"dir"`
		Files     []app.DBFile `json:"files"`
		Backups   []dbSaved    `json:"backups"`
		Holder    *dbHolder    `json:"holder"`
		Root      string       `json:"root"`      // the workspace that last worked in it
		Restoring string       `json:"restoring"` // the backup whose restoring was interrupted
		Unread    string       `json:"unread"`    // why it is not known how far a restore came
		Incoming  string       `json:"incoming"`  // the folder that a restore left which can't go on
	}{Dir: st.Dir, Files: st.Files, Backups: []dbSaved{}, Root: st.Root, Restoring: st.Restoring, Incoming: st.Incoming}
	if st.Unread != nil {
		out.Unread = st.Unread.Error()
	}
	for _, b := range st.Backups {
		out.Backups = append(out.Backups, savedJSON(b))
	}
	if h := st.Holder; h != nil {
		out.Holder = &dbHolder{h.PID, h.What, h.Since}
	}
	return out
}

func (p *program) showDB(db *app.DB, st *app.DBStatus) error {
	line := func(code string, args ...any) { fmt.Fprintln(p.Out, visible(p.say.Say(code, args...))) }
	fmt.Fprintln(p.Out, visible(st.Dir))
	if st.Files[0].Problem == "" { // else it says that no task goes on in it
		p.other(db.Other(st.Root))
	}
	for _, f := range st.Files {
		switch {
		case f.Present && f.Problem != "":
			line("db.file.unread", f.Name, i18n.Number(f.Bytes), f.Problem)
			if f.Damaged {
				line("db.file.damaged")
			}
			continue
		case f.Lost != nil && *f.Lost > 0:
			p.lost(f.Name, *f.Lost)
		case !f.Present:
			line("db.file.absent", f.Name)
			if f.Problem != "" {
				fmt.Fprintln(p.Out, visible("  "+f.Problem))
			}
		case f.Form == "":
			line("db.file.empty", f.Name)
		}
		if !f.Present || f.Form == "" {
			continue
		}
		line("db.file", f.Name, i18n.Number(f.Bytes), i18n.Number(f.LogBytes), number(f.FreeBytes), f.Form)
		switch {
		case f.Facts != nil:
			line("db.file.facts", number(f.Facts), number(f.Tasks), number(f.Calls))
		case f.Checkpoints != nil:
			line("db.file.files", number(f.Checkpoints), number(f.Contents))
		default:
			line("db.file.captures", number(f.Exchanges), number(f.Outputs))
		}
		if f.Missing != nil && f.Lost != nil {
			p.pruned(*f.Missing - *f.Lost)
		}
		if f.Oldest != nil {
			line("db.file.times", f.Oldest.Local().Format(time.DateTime), f.Newest.Local().Format(time.DateTime))
		}
	}
	if len(st.Backups) == 0 {
		line("db.backups.none")
	} else {
		line("db.backups")
		w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
		for _, b := range st.Backups {
			fmt.Fprintln(w, "  "+visible(b.Name)+"\t"+visible(p.backupLine(b)))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	switch h := st.Holder; {
	case h == nil:
		line("db.idle")
	case h.PID == 0:
		line("run.busy.unknown")
	default:
		line("db.busy", h.PID, h.What, h.Since.Local().Format(time.DateTime))
	}
	if st.Restoring != "" {
		line("db.restoring", st.Restoring)
	}
	if u, ok := errors.AsType[*app.DBUnread](st.Unread); ok {
		line("db.unread", u.Path, u.Err)
		line("db.unread.hint")
	}
	if st.Incoming != "" {
		line("db.incoming", st.Incoming)
	}
	return nil
}

// other says that the record is of another workspace.
func (p *program) other(root string) {
	if root != "" {
		fmt.Fprintln(p.Out, visible(p.say.Say("db.other", root)))
	}
}

// lost says that a captures.db or files.db was lost, in the words that a task has for it.
func (p *program) lost(file string, n int64) {
	if file == "files.db" {
		fmt.Fprintln(p.Out, p.plural("db.files.lost", int(n)))
		return
	}
	fmt.Fprintln(p.Out, p.say.Say("db.captures.lost", n))
}

// pruned says how many exchanges the facts name whose bytes are gone from a captures.db that is there.
func (p *program) pruned(n int64) {
	if n > 0 {
		fmt.Fprintln(p.Out, "  "+p.say.Say("db.missing", i18n.Number(n)))
	}
}

// backupLine says what a backup holds.
func (p *program) backupLine(b app.DBBackup) string {
	switch {
	case b.Problem != "":
		return b.Problem
	case b.Captures == nil:
		return p.say.Say("db.backup.facts", i18n.Number(b.Bytes), i18n.Number(b.Facts), p.why(b))
	}
	return p.say.Say("db.backup.all", i18n.Number(b.Bytes), i18n.Number(b.Facts), number(b.Captures), p.why(b))
}

// why says what a backup was made for.
func (p *program) why(b app.DBBackup) string {
	switch {
	case b.Why == "asked":
		return p.say.Say("db.why.asked")
	case b.Automatic, b.Why == "rebuild":
		return p.say.Say("db.why.before", b.Why)
	}
	return b.Why
}

func (p *program) dbCheckCommand() *cobra.Command {
	var asJSON, rebuild bool
	cmd := &cobra.Command{
		Use: "check", Short: "Read all of the record and say what is damaged", Args: noArgs,
		Long: `Read all of the record and say what is damaged, and where: SQLite's own checks,
facts without gaps, every payload and text, parents, the tables that are made
from the facts, and every captured byte against its hash. Nothing is changed, and
others may be at work meanwhile. The status is 1 where anything is damaged.

It finds damage, not forgery: facts carry no hash of their own, so a change that
leaves a fact well-formed, as other letters in a text do, is seen only where a
table made from the facts, or what is captured of a call, says otherwise.

--rebuild makes the tables of tasks, runs, calls and queued inputs anew from the
facts where only they are wrong, after a backup.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := p.db()
			if err != nil {
				return err
			}
			if rebuild {
				return p.rebuildDB(cmd, db, asJSON)
			}
			report, err := db.Check(cmd.Context())
			if errors.Is(err, app.ErrNoRecord) {
				return p.nothing(asJSON)
			}
			if err != nil {
				return err
			}
			if asJSON {
				err = p.writeJSON(report)
			} else {
				err = p.showReport(db, report)
			}
			return exitStatus(checkStatus(report), err)
		},
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "make what is derived from the facts anew")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON; null: nothing is recorded")
	return cmd
}

func checkStatus(r *app.DBReport) int {
	if r.OK() {
		return 0
	}
	return statusFailed
}

// showReport says what a check found, and what to do about it.
func (p *program) showReport(db *app.DB, r *app.DBReport) error {
	for _, f := range r.Files {
		n := 0
		for _, x := range r.Problems {
			if x.File == f.Name {
				n++
			}
		}
		lost := map[string]int64{"captures.db": r.Lost, "files.db": r.LostChanges}[f.Name]
		if lost > 0 {
			p.lost(f.Name, lost)
		}
		switch {
		case lost > 0 && f.Rows == 0: // all is said
		case !f.Present && n == 0:
			fmt.Fprintln(p.Out, p.say.Say("db.file.absent", f.Name))
		case n == 0 && f.Older:
			fmt.Fprintln(p.Out, p.say.Say("db.check.older", f.Name, i18n.Number(f.Rows), f.Form))
		case n == 0:
			fmt.Fprintln(p.Out, p.say.Say("db.check.fine", f.Name, i18n.Number(f.Rows)))
		}
		for _, x := range r.Problems {
			if x.File == f.Name {
				fmt.Fprintln(p.Out, problemLine(x))
			}
		}
	}
	p.pruned(r.Missing - r.Lost)
	if r.Unknown > 0 {
		fmt.Fprintln(p.Out, "  "+p.plural("db.unknown", int(r.Unknown)))
	}
	if !r.Elsewhere() {
		p.other(db.Other(r.Root))
	}
	if r.OK() {
		return nil
	}
	if r.More > 0 {
		fmt.Fprintln(p.Out, p.say.Say("db.check.more", r.More))
	}
	if next := nextOfRecord(db, r.Record()); next != "" {
		fmt.Fprintln(p.Err, p.say.Say(next))
	}
	switch states := r.States(); {
	case states.OK():
	case states.StrangeFiles():
		fmt.Fprintln(p.Err, p.say.Say("db.check.files.stranger"))
	case states.Newer():
		fmt.Fprintln(p.Err, p.say.Say("db.check.files.newer"))
	default:
		fmt.Fprintln(p.Err, p.say.Say("db.check.files"))
	}
	return nil
}

// nextOfRecord says what to do about a record that is damaged; "": nothing, or a problem says it.
func nextOfRecord(db *app.DB, r *app.DBReport) string {
	switch {
	case r.OK(), r.Gone():
		return ""
	case r.Newer():
		return "db.check.newer"
	case r.Rebuildable():
		return "db.check.derived"
	case r.StrangeFacts():
		return "db.check.strange"
	case r.Strangers():
		return "db.check.stranger"
	case db.HasBackup():
		return "db.check.damaged"
	case r.Captures():
		return "db.check.captures"
	}
	return "db.check.no_backup"
}

// problemLine is a problem in one line, harmless on a terminal: where, then what. A damaged file may say anything.
func problemLine(x app.DBProblem) string {
	where := []string{x.File}
	if at := strings.TrimSpace(x.Table + " " + x.Row); at != "" {
		where = append(where, at)
	}
	return visible(oneLine(strings.Join(where, ", ") + ": " + x.Detail))
}

func (p *program) rebuildDB(cmd *cobra.Command, db *app.DB, asJSON bool) error {
	done, err := db.Rebuild(cmd.Context())
	switch {
	case errors.Is(err, app.ErrNoRecord):
		return p.nothing(asJSON)
	case errors.Is(err, app.ErrNotRebuildable), errors.Is(err, app.ErrForeignFile), errors.Is(err, app.ErrForeignRecord), errors.Is(err, app.ErrNewerRecord):
		if !asJSON {
			p.showReport(db, done.Found)
		}
		return err
	case err != nil:
		return err
	case asJSON:
		err = p.writeJSON(done)
	case done.Backup == nil:
		err = p.showReport(db, done.Found)
	default:
		for _, x := range done.Found.Problems {
			fmt.Fprintln(p.Out, problemLine(x))
		}
		fmt.Fprintln(p.Out, visible(p.say.Say("db.rebuilt", done.Backup.Path)))
		err = p.showReport(db, done.After)
	}
	last := done.Found
	if done.After != nil {
		last = done.After
	}
	return exitStatus(checkStatus(last), err)
}
