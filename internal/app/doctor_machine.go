package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/shell"
	"overt/internal/store"
)

// machine looks at what tools need of this machine.
func (d *doctor) machine(ctx context.Context, f *findings) {
	d.shell(ctx, f)
	if err := shell.SandboxSupport(); err != nil {
		f.warn("doctor.sandbox.none", err).next("doctor.sandbox.next")
	} else {
		f.ok("doctor.sandbox")
	}
	d.git(ctx, f)
	named := func(names ...string) string {
		if v, ok := d.env(d.first(names...)); ok {
			return v
		}
		return "-"
	}
	code := "doctor.terminal.none"
	switch {
	case d.o.InTTY && d.o.OutTTY:
		code = "doctor.terminal.both"
	case d.o.InTTY || d.o.OutTTY:
		code = "doctor.terminal.one"
	}
	f.ok(code, named("TERM"), named("LC_ALL", "LC_CTYPE", "LANG"))
}

// shell starts a process in the way that run_command does.
func (d *doctor) shell(ctx context.Context, f *findings) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	dir := d.o.Root
	if dir == "" {
		dir = "/"
	}
	held, err := shell.Start(shell.Options{Command: `printf '%s %s' "$0" "${BASH_VERSION-}"`, Dir: dir, Env: shell.Environ(d.o.Env), Timeout: stepTime})
	var out shell.Outcome
	if err == nil {
		out, err = held.Go(ctx, nil, nil)
	}
	switch {
	case err != nil:
		f.problem("doctor.shell.none", err).next("doctor.shell.next")
	case out.Cancelled || out.TimedOut:
		f.unknown("doctor.shell.late")
	case out.Exit != 0:
		f.problem("doctor.shell.none", strings.TrimSpace(out.Head)).next("doctor.shell.next")
	default:
		f.ok("doctor.shell", strings.TrimSpace(out.Head))
	}
}

func (d *doctor) git(ctx context.Context, f *findings) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	out, err := shell.Capture(ctx, []string{"git", "--version"}, d.o.Env)
	switch {
	case ctx.Err() != nil:
		f.unknown("doctor.git.late")
	case err != nil:
		f.warn("doctor.git.none", err).next("doctor.git.next")
	default:
		version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		f.ok("doctor.git", version)
	}
}

// What is little room on the disk, and too little, in bytes.
const (
	littleRoom = 100 << 20
	noRoom     = 5 << 20
)

// record looks at the folder of records, the disk that holds it, and the workspace's databases.
func (d *doctor) record(ctx context.Context, f *findings) {
	state := d.o.Places.State
	if state == "" {
		f.problem("config.home").next("config.home.hint")
		return
	}
	real, ok := d.folder(f, state)
	d.room(f, real)
	if !ok {
		f.skip("doctor.record.skipped")
		return
	}
	if d.o.Root == "" {
		return
	}
	dir := folder(state, d.o.Root)
	if _, err := os.Stat(dir); err == nil {
		d.open(f, dir)
	}
	d.databases(ctx, f, dir)
}

// folder looks at the folder of records, or at where it would be made. It gives what is there, and tells whether records
// can be looked for in it.
func (d *doctor) folder(f *findings, state string) (real string, ok bool) {
	real = state
	for {
		info, err := os.Stat(real)
		switch {
		case err == nil && !info.IsDir():
			f.problem("doctor.state.file", real).next("doctor.state.file.next", real)
			return filepath.Dir(real), false
		case os.IsPermission(err):
			f.problem("doctor.state.closed", real).next("doctor.state.closed.next", state)
			return filepath.Dir(real), false
		case err == nil:
		case filepath.Dir(real) == real:
			return real, false
		default:
			real = filepath.Dir(real)
			continue
		}
		break
	}
	ok = true
	if !writable(real) {
		f.problem("doctor.state.closed", real).next("doctor.state.closed.next", state)
		ok = real == state
	} else if real != state {
		f.ok("doctor.state.none", state)
	} else if d.open(f, state) {
		f.ok("doctor.state", state)
	}
	return real, ok
}

// open looks at who else can change a folder of ours, and tells whether nobody can.
func (d *doctor) open(f *findings, dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return true
	}
	if owner, known := ownerOf(info); known && owner != os.Geteuid() {
		f.problem("doctor.state.owner", dir, owner).next("doctor.state.owner.next", d.o.Places.State)
		return false
	}
	if _, writes := others(info); writes {
		f.problem("doctor.state.open", dir, info.Mode().Perm()).next("doctor.chmod", "700", dir)
		return false
	}
	return true
}

// room looks at what the disk, and a limit on this process, leave to be written.
func (d *doctor) room(f *findings, dir string) {
	disk, err := diskOf(dir)
	if err != nil {
		f.unknown("doctor.disk.unknown", dir)
	} else {
		free := int(disk.free >> 20)
		switch {
		case disk.free < noRoom || disk.full:
			f.problem("doctor.disk.full", dir, free).next("doctor.disk.next")
		case disk.free < littleRoom:
			f.warn("doctor.disk.little", dir, free).next("doctor.disk.next")
		default:
			f.ok("doctor.disk", dir, free)
		}
		if disk.network != "" {
			f.warn("doctor.disk.network", dir, disk.network).next("doctor.disk.network.next")
		}
	}
	switch limit, ok := fileLimit(); {
	case !ok:
	case limit < noRoom:
		f.problem("doctor.disk.limit", int(limit>>10)).next("doctor.disk.limit.next")
	case limit < littleRoom:
		f.warn("doctor.disk.limit", int(limit>>10)).next("doctor.disk.limit.next")
	}
}

// databases looks at the files of the workspace's record.
func (d *doctor) databases(ctx context.Context, f *findings, dir string) {
	short, cancel := context.WithTimeout(ctx, 2*stepTime)
	defer cancel()
	seen, err := store.Glance(short, dir, stepTime)
	switch present := func(g store.Glanced) bool { return g.State != store.Absent }; {
	case seen.Restoring != nil:
		f.restoring(seen.Restoring) // which files are there, and of which record, is settled by its end
	case slices.ContainsFunc(seen.Files, func(g store.Glanced) bool { return g.State == store.Absent && filepath.Base(g.Path) == "overt.db" }) && d.lost(short, f, dir):
	case !slices.ContainsFunc(seen.Files, present):
		f.ok("doctor.database.none", d.o.Root)
		return
	default:
		for _, g := range seen.Files {
			f.database(g, seen.Holder)
		}
		switch {
		case seen.Changes == 1:
			f.warn("doctor.files.lost.one").next("doctor.files.lost.next")
		case seen.Changes > 1:
			f.warn("doctor.files.lost", int(seen.Changes)).next("doctor.files.lost.next")
		}
	}
	switch holder := seen.Holder; {
	case err != nil:
		f.unknown("doctor.lease.unknown", err)
	case holder != nil && holder.PID != 0:
		f.ok("doctor.lease", holder.PID, holder.What)
	case holder != nil:
		f.ok("doctor.lease.somebody")
	}
}

// lost tells of a record whose facts are gone though there were some, which is more than a file that is not there.
func (d *doctor) lost(ctx context.Context, f *findings, dir string) bool {
	gone, is := errors.AsType[*store.LostError](store.Gone(ctx, dir))
	if is {
		c := f.problem("doctor.database.gone", gone)
		if len(gone.Backups) > 0 {
			c.next("doctor.database.absent.next")
		} else {
			c.next("doctor.database.gone.next")
		}
	}
	return is
}

// restoring tells of a restore that has not come to its end.
func (f *findings) restoring(err error) {
	r, known := errors.AsType[*store.RestoringError](err)
	switch {
	case !known:
		f.unreadRestore(err)
	case r.Alive:
		f.unknown("doctor.restoring.alive", r.From)
	default:
		f.problem("doctor.restoring", r.From).next("doctor.restoring.next")
	}
}

// unreadRestore tells of a restore of which it is not known how far it came, in the words of every command.
func (f *findings) unreadRestore(err error) {
	if u, ok := errors.AsType[*store.UnreadJournalError](err); ok {
		f.problem("doctor.restoring.unread", u.Path, u.Err).next("db.unread.hint")
		return
	}
	f.unknown("doctor.lease.unknown", err)
}

// database tells what was seen of a file.
func (f *findings) database(g store.Glanced, holder *store.HeldError) {
	pid := g.PID
	if pid == 0 && holder != nil {
		pid = holder.PID
	}
	states := filepath.Base(g.Path) == "files.db"
	switch g.State {
	case store.Fine:
		f.ok("doctor.database", g.Path, g.Form)
	case store.Older:
		f.ok("doctor.database.older", g.Path, g.Form)
	case store.Absent:
		f.warn("doctor.database.absent", g.Path).next("doctor.database.absent.next")
	case store.Newer:
		f.problem("doctor.database.newer", g.Path, g.Newer).next("doctor.database.newer.next")
	case store.Foreign:
		switch {
		case g.Err != nil && filepath.Base(g.Path) == "overt.db":
			f.problem("doctor.database.stranger", g.Path).next("doctor.database.strange.next")
		case g.Err != nil && states:
			f.problem("doctor.database.stranger", g.Path).next("doctor.files.next")
		case g.Err != nil:
			f.problem("doctor.database.stranger", g.Path).next("doctor.database.stranger.next")
		default:
			f.problem("doctor.database.foreign", g.Path).next("doctor.database.foreign.next")
		}
	case store.Damaged:
		c := f.problem("doctor.database.damaged", g.Path, g.Err)
		if states {
			c.next("doctor.files.next")
		} else {
			c.next("doctor.database.damaged.next")
		}
	case store.Locked:
		c := f.problem("doctor.database.locked", g.Path, int(stepTime.Seconds()))
		if pid != 0 {
			c.next("doctor.database.locked.by", pid)
		} else {
			c.next("doctor.database.locked.next", g.Path)
		}
	case store.Undecided:
		f.unknown("doctor.database.late", g.Path)
	default:
		c := f.problem("doctor.database.unread", g.Path, g.Err)
		switch link, is := errors.AsType[*store.NotPlainError](g.Err); {
		case is && link.To != "":
			c.next("doctor.database.link.next")
		case is:
			c.next("doctor.database.foreign.next")
		default:
			c.next("doctor.database.unread.next", g.Path)
		}
	}
}
