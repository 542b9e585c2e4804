package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"overt/internal/config"
	"overt/internal/store"
)

// What package store says of the files of a record, for front ends.
type (
	DBStatus  = store.Status
	DBFile    = store.FileStatus
	DBReport  = store.Report
	DBProblem = store.Problem
	DBBackup  = store.Saved

	DBRestoring = store.RestoringError
	DBUnread    = store.UnreadJournalError
)

// DB works on the files of a workspace's record, whatever condition they are in. Where nothing was ever recorded its errors
// are [ErrNoRecord].
type DB struct {
	dir, root, version string
	env                func(string) (string, bool)
}

// OpenDB names the record of a workspace; it opens and makes nothing. env looks up variables.
func OpenDB(state, root, version string, env func(string) (string, bool)) *DB {
	return &DB{folder(state, root), root, version, env}
}

// Status says how the files stand. It makes nothing.
func (d *DB) Status(ctx context.Context) (*DBStatus, error) {
	st, err := store.Inspect(ctx, d.dir)
	return st, d.none(ctx, err)
}

// Check reads everything, changes nothing, and says what is wrong.
func (d *DB) Check(ctx context.Context) (*DBReport, error) {
	r, err := store.Check(ctx, d.dir)
	return r, d.none(ctx, err)
}

// none turns the error for files that are not there into one that says whether they ever were.
func (d *DB) none(ctx context.Context, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if gone := store.Gone(ctx, d.dir); gone != nil {
		return gone
	}
	return ErrNoRecord
}

// existing opens a record that is there; it makes none. The error is [ErrNoRecord], or says that there was one.
func existing(ctx context.Context, o store.Options, env func(string) (string, bool)) (*store.Store, error) {
	sweepEphemeral(env)
	o.Existing = true
	s, err := store.Open(ctx, o)
	if absent, ok := errors.AsType[*store.AbsentError](err); ok {
		err = (&DB{dir: o.Dir}).none(ctx, absent)
	}
	return s, err
}

// Other is the workspace that a record is of, by what its facts say, where that is another one; else "".
func (d *DB) Other(root string) string {
	if root == "" || store.IsRoot(root, d.root) {
		return ""
	}
	return root
}

// HasBackup tells whether there is a backup beside the record that can be relied on.
func (d *DB) HasBackup() bool {
	list, err := store.Backups(d.dir)
	return err == nil && len(list) > 0 && list[0].Problem == "" // those with a problem come last
}

// Copies lists the folders beside the record that hold it as it was, see [store.Copies]. Erasing does not reach them.
func (d *DB) Copies() ([]string, error) { return store.Copies(d.dir) }

// sayLost makes notices of a record that was begun anew, or of which a file was, though there had been one, and of one that was another
// workspace's until now. They are said once: the first task notes that it is this one's.
func (a *App) sayLost(ctx context.Context) error {
	say := func(code string, args ...any) {
		a.o.Config.Notices = append(a.o.Config.Notices, config.Notice{Code: code, Args: args})
	}
	if l := a.store.Lost(); l != nil {
		if len(l.Backups) > 0 {
			say("db.lost.backups", l.Captures, strings.Join(l.Backups, ", "))
		} else {
			say("db.lost", l.Captures)
		}
		if l.Log != "" {
			say("db.lost.log", l.Log)
		}
	}
	if n := a.store.LostExchanges(); n > 0 {
		say("db.captures.lost", n)
	}
	if err := a.store.MissFiles(ctx); err != nil {
		return err
	}
	switch n := a.store.LostChanges(); {
	case n == 1:
		say("db.files.lost.one")
	case n > 1:
		say("db.files.lost", n)
	}
	root, err := a.store.Root(ctx)
	if err == nil && root != "" && !store.IsRoot(root, a.o.Root) {
		say("db.other", root)
	}
	return err
}

// ErrNotRestoring says that a backup is to be named, since no restore was interrupted.
var ErrNotRestoring = store.ErrNotRestoring

// ErrNotRebuildable says that more is wrong with a record than what can be made anew.
var ErrNotRebuildable = errors.New("more than the tables that are made from the facts is damaged, so they were not rebuilt")

// ErrForeignRecord says that overt.db is of another workspace.
var ErrForeignRecord = errors.New("overt.db is of another workspace, so the tables were not rebuilt; move it away, or restore a backup over it (overt db status lists them)")

// ErrForeignFile says that captures.db is not of the record.
var ErrForeignFile = errors.New("captures.db is not of this record, so the tables were not rebuilt; move it away and try again (exchanges of before are then missing)")

// ErrNewerRecord says that a newer program has written a record.
var ErrNewerRecord = errors.New("the record was written by a newer overt, so its tables were not rebuilt; use that one or a newer one")

// DBRebuilt is what a rebuild did.
type DBRebuilt struct {
	Found  *DBReport `json:"found"`  // what was wrong
	Backup *DBBackup `json:"backup"` // of the record as it was; null: nothing had to be done
	After  *DBReport `json:"after"`  // what is wrong now; null: likewise
}

// Rebuild checks the record, and makes the tables of tasks, runs, calls and queued inputs anew where they are not what the
// facts say: under the lease, after a backup. The error is [ErrNotRebuildable] where more is wrong, [ErrNewerRecord], [ErrForeignRecord], or
// [ErrForeignFile]. What is wrong with files.db, which is not made from facts, is only told.
func (d *DB) Rebuild(ctx context.Context) (out DBRebuilt, err error) {
	if out.Found, err = d.Check(ctx); err != nil {
		return out, err
	}
	switch record := out.Found.Record(); {
	case record.OK():
		return out, nil
	case record.Newer():
		return out, ErrNewerRecord
	case record.StrangeFacts():
		return out, ErrForeignRecord
	case record.Strangers():
		return out, ErrForeignFile
	case !record.Rebuildable():
		return out, ErrNotRebuildable
	}
	err = d.leased(ctx, "rebuild", func(s *store.Store, l *store.Lease) error {
		b, err := store.Backup(ctx, d.dir, store.BackupOptions{Version: d.version, Root: d.root, Why: "rebuild", NoCaptures: true})
		if err != nil {
			return err
		}
		out.Backup = &b
		return l.Rebuild(ctx)
	})
	if err == nil {
		out.After, err = d.Check(ctx)
	}
	return out, err
}

// leased opens the record for work that needs the lease.
func (d *DB) leased(ctx context.Context, what string, f func(s *store.Store, l *store.Lease) error) error {
	s, err := existing(ctx, store.Options{Dir: d.dir, Version: d.version}, d.env)
	if err != nil {
		return err
	}
	l, err := s.Lease(ctx, what, "")
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return errors.Join(f(s, l), l.Release(), s.Close())
}

// Backup copies the record while others may write to it, and checks the copy. to is the folder to make; "": one beside the
// record, named after the time.
func (d *DB) Backup(ctx context.Context, to string, noCaptures bool) (DBBackup, error) {
	b, err := store.Backup(ctx, d.dir, store.BackupOptions{To: to, NoCaptures: noCaptures, Version: d.version, Root: d.root})
	if absent, ok := errors.AsType[*store.AbsentError](err); ok { // and not the folder that the backup is to be in
		err = d.none(ctx, absent)
	}
	return b, err
}

// Restore puts a backup in the place of the record; what was there is moved aside. force takes a backup of another workspace.
// With an empty backup it finishes a restore that was interrupted.
func (d *DB) Restore(ctx context.Context, backup string, force bool) (*store.Restored, error) {
	return store.Restore(ctx, d.dir, backup, force)
}

// DBPrune says what is to go. Facts never do.
type DBPrune struct {
	OlderThan  time.Duration // of exchanges and outputs; 0: any age may stay
	MaxBytes   int64         // that exchanges and outputs may take; 0: no limit
	FilesOlder time.Duration // of former states of files; 0: any age may stay
	FilesMax   int64         // that states of files may take; 0: no limit
	Backups    int           // that may stay, the newest; -1: all
	Aside      bool          // what restores have set aside
	DryRun     bool
}

// DBPruned says what went, or would go.
type DBPruned struct {
	store.Pruned
	store.FilesPruned
	Backups []string `json:"backups"` // paths
	Aside   []string `json:"aside"`   // paths
	DryRun  bool     `json:"dry_run"`
}

// Prune takes old exchanges, outputs and copies away, under the lease.
func (d *DB) Prune(ctx context.Context, o DBPrune) (DBPruned, error) {
	out := DBPruned{Backups: []string{}, Aside: []string{}, DryRun: o.DryRun}
	err := d.leased(ctx, "prune", func(s *store.Store, _ *store.Lease) (err error) {
		if o.OlderThan != 0 || o.MaxBytes != 0 {
			before := time.Time{}
			if o.OlderThan != 0 {
				before = time.Now().Add(-o.OlderThan)
			}
			if out.Pruned, err = s.Captures().PruneCounted(ctx, before, o.MaxBytes, o.DryRun); err != nil {
				return err
			}
		}
		if o.FilesOlder != 0 || o.FilesMax != 0 {
			if out.FilesPruned, err = pruneFiles(ctx, s, o); err != nil {
				return err
			}
		}
		if o.Backups >= 0 {
			gone, err := store.PruneBackups(d.dir, o.Backups, o.DryRun)
			for _, b := range gone {
				out.Backups = append(out.Backups, b.Path)
			}
			if err != nil {
				return err
			}
		}
		if o.Aside {
			gone, err := store.PruneAside(d.dir, o.DryRun)
			out.Aside = append(out.Aside, gone...)
			return err
		}
		return nil
	})
	return out, err
}

// Ephemeral makes a state folder that lives as long as the process: below the person's runtime folder or /dev/shm where these
// are in memory, else among the temporary files. What dead processes of the person left of the kind is removed. Call end once
// everything in it is closed. env looks up variables.
func Ephemeral(env func(string) (string, bool)) (state string, end func() error, err error) {
	in := append(memory(env), os.TempDir())
	store.SweepEphemeral(in)
	e, err := store.NewEphemeral(in)
	if err != nil {
		return "", nil, err
	}
	return e.Dir, e.Remove, nil
}

// sweepEphemeral removes what dead processes of the person left, where they usually are. Temporary files can be many, so that they are
// looked through only where there is no folder in memory.
func sweepEphemeral(env func(string) (string, bool)) {
	in := memory(env)
	if len(in) == 0 {
		in = []string{os.TempDir()}
	}
	store.SweepEphemeral(in)
}

// variables looks up variables in an environment.
func variables(env []string) func(string) (string, bool) {
	return func(name string) (value string, ok bool) {
		for _, kv := range env {
			if rest, is := strings.CutPrefix(kv, name+"="); is {
				value, ok = rest, true // the last one counts
			}
		}
		return value, ok
	}
}

// memory lists the folders for what is kept for now that are in memory.
func memory(env func(string) (string, bool)) (in []string) {
	runtime, _ := env("XDG_RUNTIME_DIR")
	for _, dir := range []string{runtime, "/dev/shm"} {
		if filepath.IsAbs(dir) && store.InMemory(dir) {
			in = append(in, dir)
		}
	}
	return in
}
