package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"overt/internal/event"
)

// found is what a folder has of a file of a record before anything is made in it.
type found struct {
	path  string
	there bool     // there is something in it
	stray []string // logs beside a file that is gone or empty; SQLite would remove them
}

// survey looks for the files of a record, and changes nothing.
func survey(dir string) (facts, captures found, err error) {
	for i, to := range []*found{&facts, &captures} {
		to.path = filepath.Join(dir, recordFiles()[i].name)
		// First the logs: they are made once their file is begun.
		wal, walErr := os.Lstat(to.path + "-wal")
		journal, pages := rollback(to.path + "-journal")
		info, err := plain(to.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return facts, captures, err
		case info.Size() > 0:
			to.there = true
			continue
		default:
			journal = pages > 0 // that of a file that is just being begun has none
		}
		if walErr == nil && wal.Size() > 0 {
			to.stray = append(to.stray, to.path+"-wal")
		}
		if journal {
			to.stray = append(to.stray, to.path+"-journal")
		}
	}
	return facts, captures, nil
}

// rollback tells whether a journal is there, and how many pages its file had (sqlite.org/fileformat2.html#the_rollback_journal).
func rollback(path string) (there bool, pages uint32) {
	f, err := openPlain(path)
	if err != nil {
		return false, 0
	}
	defer f.Close()
	var head [20]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false, 0
	}
	return true, binary.BigEndian.Uint32(head[16:])
}

// setAside moves stray logs out of SQLite's way, and gives the folder where they are; "": there are none. It has the lease meanwhile,
// since whoever else begins the record must not have a log of its own moved.
func setAside(ctx context.Context, dir string) (aside string, err error) {
	lock, err := takeLease(ctx, dir, holder{os.Getpid(), "open", time.Now().UTC(), ""})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, releaseLease(lock)) }()
	facts, captures, err := survey(dir) // somebody may have been quicker
	if err != nil {
		return "", err
	}
	for _, path := range append(facts.stray, captures.stray...) {
		if aside == "" {
			aside = freeName(filepath.Join(dir, asideFolder, time.Now().UTC().Format(stamp)+"-log"))
		}
		if err := moveAside(path, aside); err != nil {
			return "", err
		}
	}
	return aside, nil
}

// AbsentError says that a folder has no record: overt.db is not there, or there is nothing in it. It is fs.ErrNotExist.
type AbsentError struct{ Path string }

// Error implements error.
func (e *AbsentError) Error() string { return e.Path + ": there is no record" }

// Unwrap gives the kind of the error.
func (e *AbsentError) Unwrap() error { return fs.ErrNotExist }

// Lost is what was found where a record was begun anew although there had been one.
type Lost struct {
	Captures int64    // exchanges that are kept of the lost record
	Backups  []string // paths, the one to restore first
	Log      string   // the folder that its last log is in; "": there was none
}

// any tells whether there are signs that there was a record.
func (l *Lost) any() bool { return l.Captures > 0 || len(l.Backups) > 0 || l.Log != "" }

// missFacts notes, where overt.db was just begun, what there is of an earlier one.
func (s *Store) missFacts(ctx context.Context, captures *database) error {
	facts, err := s.facts.one(ctx, `SELECT EXISTS (SELECT 1 FROM fact)`)
	if err != nil || facts != 0 { // it is of a program that gave no numbers
		return err
	}
	lost := Lost{Log: s.log}
	if lost.Captures, err = captures.one(ctx, `SELECT count(*) FROM capture`); err != nil {
		return captures.explain(err)
	}
	if lost.Backups, err = restorable(s.dir); err == nil && lost.any() {
		s.lost = &lost
	}
	return err
}

// missCaptures notes, where captures.db was just begun, how many exchanges the facts name, and in the file how far the facts went.
func (s *Store) missCaptures(ctx context.Context, captures *database) error {
	kept, err := captures.one(ctx, `SELECT EXISTS (SELECT 1 FROM capture)`)
	if err != nil || kept != 0 {
		return err
	}
	last, err := s.facts.one(ctx, `SELECT coalesce(max(seq), 0) FROM fact`)
	if err != nil {
		return s.facts.explain(err)
	}
	if _, err := captures.conn.ExecContext(ctx, fmt.Sprint(`PRAGMA application_id = `, min(last, math.MaxInt32))); err != nil {
		return err
	}
	named, err := s.facts.exchanges(ctx)
	if damaged(err) {
		return nil // that is for a check to tell
	}
	s.lostExchanges = int64(len(named))
	return err
}

// CaptureWent tells whether what crossed the wire of a call was kept and went with a captures.db that was here before; else it was
// pruned, or nothing was sent.
func (s *Store) CaptureWent(ctx context.Context, call string) (bool, error) {
	s.captures.db.mu.Lock()
	begun, err := s.captures.db.begun(ctx)
	s.captures.db.mu.Unlock()
	if err != nil {
		return false, s.captures.db.explain(err)
	}
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	named, err := s.facts.exchanges(ctx)
	seq, is := named[call]
	return is && (s.standIn || seq <= begun), err
}

// missFiles notes, where files.db was just begun, how many changes the facts name, and in the file how far the facts went.
func (s *Store) missFiles(ctx context.Context, files *database) error {
	used, err := files.one(ctx, `SELECT EXISTS (SELECT 1 FROM checkpoint) OR (SELECT generation > 0 FROM scan)`)
	if err != nil || used != 0 { // it is of a program that gave no numbers
		return err
	}
	s.facts.mu.Lock()
	defer s.facts.mu.Unlock()
	last, err := s.facts.one(ctx, `SELECT coalesce(max(seq), 0) FROM fact`)
	if err != nil {
		return s.facts.explain(err)
	}
	if _, err := files.conn.ExecContext(ctx, fmt.Sprint(`PRAGMA application_id = `, min(last, math.MaxInt32))); err != nil {
		return err
	}
	named, err := s.facts.changes(ctx)
	if damaged(err) {
		return nil // that is for a check to tell
	}
	s.lostChanges = int64(len(named))
	return err
}

// changes gives the checkpoints whose facts say that files changed under them, and which facts those are.
func (d *database) changes(ctx context.Context) (map[string]event.Seq, error) {
	s := &Store{pack: &packer{}}
	out := map[string]event.Seq{}
	for after, n := event.Seq(0), pageSize; n == pageSize; {
		facts, err := s.page(ctx, d.conn, `f.kind = (SELECT id FROM name WHERE text = ?) AND f.seq > ? ORDER BY f.seq LIMIT ?`,
			string(event.KindCheckpointClosed), after, pageSize)
		if err != nil {
			return nil, d.explain(err)
		}
		for _, f := range facts {
			if after = f.Seq; changed(f) {
				out[f.Subject] = f.Seq
			}
		}
		n = len(facts)
	}
	return out, nil
}

// changed tells whether a fact says that files changed.
func changed(f event.Fact) bool {
	c, ok := f.Data.(event.CheckpointClosed)
	return ok && len(c.Changes) > 0
}

// exchanges gives the calls whose facts say that something crossed the wire, and which facts those are.
func (d *database) exchanges(ctx context.Context) (map[string]event.Seq, error) {
	s := &Store{pack: &packer{}}
	out := map[string]event.Seq{}
	for after, n := event.Seq(0), pageSize; n == pageSize; {
		facts, err := s.page(ctx, d.conn, `f.kind IN (SELECT id FROM name WHERE text IN (?, ?)) AND f.seq > ? ORDER BY f.seq LIMIT ?`,
			string(event.KindCallCompleted), string(event.KindCallFailed), after, pageSize)
		if err != nil {
			return nil, d.explain(err)
		}
		for _, f := range facts {
			if after = f.Seq; crossed(f) {
				out[f.Subject] = f.Seq
			}
		}
		n = len(facts)
	}
	return out, nil
}

// calls gives the calls whose exchanges a file of a record names, with the fact, or has.
func (d *database) calls(ctx context.Context, name string) (map[string]event.Seq, error) {
	if name == factsFile {
		return d.exchanges(ctx)
	}
	list, err := d.texts(ctx, `SELECT call FROM main.capture`)
	out := make(map[string]event.Seq, len(list))
	for _, call := range list {
		out[call] = 0
	}
	return out, err
}

// gone counts what of the exchanges that facts name is not kept, and how much of it went with a captures.db: one that was there
// before the present one was begun, or any, where there is none.
func gone(named map[string]event.Seq, kept func(call string) bool, there bool, begun event.Seq) (missing, lost int64) {
	for call, seq := range named {
		if there && kept(call) {
			continue
		}
		if missing++; !there || seq <= begun {
			lost++
		}
	}
	return missing, lost
}

// crossed tells whether a fact names bytes that crossed the wire.
func crossed(f event.Fact) bool {
	switch e := f.Data.(type) {
	case event.CallCompleted:
		return e.Exchange.Request.SHA256 != ""
	case event.CallFailed:
		return e.Exchange.Request.SHA256 != ""
	}
	return false
}

// LostError says that overt.db is gone, or empty, although there was one.
type LostError struct {
	Path  string
	Empty bool
	Lost
}

// Error implements error.
func (e *LostError) Error() string {
	text := e.Path + " is gone"
	if e.Empty {
		text = e.Path + " is empty"
	}
	switch {
	case e.Captures > 0:
		text += fmt.Sprintf(", though %d exchanges of it are kept", e.Captures)
	case e.Log != "":
		text += ", though its log is there (" + e.Log + ")"
	}
	if len(e.Backups) == 0 {
		return text + "; there is no backup: the next task begins a new record"
	}
	return text + "; restore it with: overt db restore " + e.Backups[0]
}

// Gone says of a folder whose overt.db is gone or empty whether it has lost it: a *[LostError], or a *[RestoringError]; nil if
// nothing was ever there.
func Gone(ctx context.Context, dir string) error {
	if err := unrestored(dir); err != nil {
		return err
	}
	facts, captures, err := survey(dir)
	if err != nil {
		return err
	}
	lost := Lost{}
	if lost.Backups, err = restorable(dir); err != nil {
		return err
	}
	if len(facts.stray) > 0 {
		lost.Log = facts.stray[0]
	}
	if captures.there {
		look(ctx, captures.path, func(d *database) (err error) { // what can't be read can't be counted
			lost.Captures, err = d.one(ctx, `SELECT count(*) FROM main.capture`)
			return err
		})
	}
	if !lost.any() {
		return nil
	}
	_, err = os.Lstat(facts.path)
	return &LostError{facts.path, err == nil, lost}
}

// restorable lists the folders among the backups that have an overt.db, the best first.
func restorable(dir string) (paths []string, err error) {
	list, err := Backups(dir)
	for _, b := range list {
		if _, err := plainHere(filepath.Join(b.Path, factsFile)); err == nil {
			paths = append(paths, b.Path)
		}
	}
	return paths, err
}
