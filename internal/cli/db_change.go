package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/i18n"
)

func (p *program) dbBackupCommand() *cobra.Command {
	var asJSON, noCaptures bool
	cmd := &cobra.Command{
		Use: "backup [DIR]", Short: "Copy the record while it is in use, and check the copy",
		Long: `Copy the record while others may write to it, and check the copy. A backup is a
folder with overt.db, captures.db and manifest.json; without DIR it lies beside
the record, named after the time. DIR must not exist: nothing is overwritten.`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MaximumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := p.db()
			if err != nil {
				return err
			}
			to := ""
			if len(args) > 0 {
				if to = args[0]; to == "" {
					return usageError{errors.New(p.say.Say("db.backup.empty"))}
				}
			}
			b, err := db.Backup(cmd.Context(), to, noCaptures)
			if err != nil {
				return err
			}
			if asJSON {
				return p.writeJSON(savedJSON(b))
			}
			fmt.Fprintln(p.Out, visible(b.Path))
			_, err = fmt.Fprintln(p.Err, visible(p.backupLine(b)))
			if b.Captures == nil && !noCaptures {
				_, err = fmt.Fprintln(p.Err, p.say.Say("db.backup.bare"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&noCaptures, "no-captures", false, "leave out what crossed the wire and whole outputs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) dbRestoreCommand() *cobra.Command {
	var asJSON, force bool
	cmd := &cobra.Command{
		Use: "restore [BACKUP]", Short: "Put a backup in the place of the record, which is moved aside",
		Long: `Put a backup in the place of the record. BACKUP is a folder, or the name of one
that "overt db status" lists. The backup is checked first; the present files are
moved to a folder that is named, and nothing is removed. Nobody may be at work
here, or have the record open. A task that was erased after the backup was made
comes back with it.

Without BACKUP a restore that was interrupted is finished.`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MaximumNArgs(1)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			db, err := p.db()
			if err != nil {
				return err
			}
			backup := ""
			if len(args) > 0 {
				if backup = args[0]; backup == "" {
					return usageError{errors.New(p.say.Say("db.backup.empty"))}
				}
			}
			r, err := db.Restore(cmd.Context(), backup, force)
			if errors.Is(err, app.ErrNotRestoring) {
				return p.whichBackup(cmd.Context(), db)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return p.writeJSON(r)
			}
			fmt.Fprintln(p.Out, visible(p.say.Say("db.restored", i18n.Number(r.Facts), r.From)))
			if r.Bare {
				fmt.Fprintln(p.Out, p.say.Say("db.restored.bare"))
			}
			if r.Kept {
				fmt.Fprintln(p.Out, p.say.Say("db.restored.kept"))
			}
			if r.Aside != "" {
				fmt.Fprintln(p.Out, visible(p.say.Say("db.aside", r.Aside)))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also a backup of another workspace, without a manifest or with its captures.db lost, or over a record of a newer overt")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) dbPruneCommand() *cobra.Command {
	var asJSON bool
	var older, size, filesOlder, filesMax string
	prune := app.DBPrune{Backups: -1}
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old captures, states of files, backups and what was set aside; facts are never removed", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var ok bool
			if prune.OlderThan, ok = config.ParseDuration(older); !ok || cmd.Flags().Changed("captures-older-than") && prune.OlderThan == 0 {
				return usageError{errors.New(p.say.Say("db.prune.age", older))}
			}
			if prune.MaxBytes, ok = config.ParseSize(size); !ok || cmd.Flags().Changed("captures-max") && prune.MaxBytes == 0 {
				return usageError{errors.New(p.say.Say("db.prune.size", size))}
			}
			if prune.FilesOlder, ok = config.ParseDuration(filesOlder); !ok || cmd.Flags().Changed("files-older-than") && prune.FilesOlder == 0 {
				return usageError{errors.New(p.say.Say("db.prune.files_age", filesOlder))}
			}
			if prune.FilesMax, ok = config.ParseSize(filesMax); !ok || cmd.Flags().Changed("files-max") && prune.FilesMax == 0 {
				return usageError{errors.New(p.say.Say("db.prune.files_size", filesMax))}
			}
			if cmd.Flags().Changed("backups-keep") && prune.Backups < 0 {
				return usageError{errors.New(p.say.Say("db.prune.keep", prune.Backups))}
			}
			if prune.OlderThan == 0 && prune.MaxBytes == 0 && prune.FilesOlder == 0 && prune.FilesMax == 0 && prune.Backups < 0 && !prune.Aside {
				return usageError{errors.New(p.say.Say("db.prune.what"))}
			}
			db, err := p.db()
			if err != nil {
				return err
			}
			done, err := db.Prune(cmd.Context(), prune)
			if err != nil {
				return err
			}
			if asJSON {
				return p.writeJSON(done)
			}
			return p.showPruned(done)
		},
	}
	f := cmd.Flags()
	f.StringVar(&older, "captures-older-than", "0", "remove captures and outputs older than `DUR`, e.g. 90d or 12h")
	f.StringVar(&size, "captures-max", "0", "then the oldest, until they take at most `SIZE`, e.g. 500MB or 2GB")
	f.StringVar(&filesOlder, "files-older-than", "0", "remove states of files older than `DUR`; their changes can't be undone then")
	f.StringVar(&filesMax, "files-max", "0", "then the oldest, until all take at most `SIZE`")
	f.IntVar(&prune.Backups, "backups-keep", -1, "keep the newest `N` backups beside the record")
	f.BoolVar(&prune.Aside, "aside", false, "remove what restores have set aside, and what was put back after confined commands")
	f.BoolVar(&prune.DryRun, "dry-run", false, "only say what would go")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	f.Lookup("files-older-than").DefValue, f.Lookup("files-max").DefValue = "", ""
	f.Lookup("captures-older-than").DefValue, f.Lookup("captures-max").DefValue, f.Lookup("backups-keep").DefValue = "", "", "0" // unsaid
	return cmd
}

func (p *program) showPruned(done app.DBPruned) error {
	if done.DryRun {
		fmt.Fprintln(p.Err, p.say.Say("db.dry"))
	}
	fmt.Fprintln(p.Out, p.say.Say("db.pruned", i18n.Number(done.Exchanges), i18n.Number(done.Outputs), i18n.Number(done.Pruned.Bytes)))
	if done.Checkpoints > 0 {
		fmt.Fprintln(p.Out, p.say.Say("db.pruned.files", i18n.Number(done.Checkpoints), i18n.Number(done.FilesPruned.Bytes)))
	}
	for _, b := range done.Backups {
		fmt.Fprintln(p.Out, visible(p.say.Say("db.pruned.backup", b)))
	}
	for _, path := range done.Aside {
		fmt.Fprintln(p.Out, visible(p.say.Say("db.pruned.aside", path)))
	}
	return nil
}

// whichBackup names the backups that there are.
func (p *program) whichBackup(ctx context.Context, db *app.DB) error {
	st, err := db.Status(ctx)
	if err != nil && !errors.Is(err, app.ErrNoRecord) {
		return err
	}
	var names []string
	if st != nil {
		for _, b := range st.Backups {
			names = append(names, filepath.Base(b.Path))
		}
	}
	if len(names) == 0 {
		return usageError{errors.New(p.say.Say("db.restore.none"))}
	}
	return usageError{errors.New(p.say.Say("db.restore.which", strings.Join(names, ", ")))}
}
