// Package store keeps the record of a workspace in a folder: facts in overt.db, what crossed the wire in captures.db, states
// of the workspace's files in files.db, and the lease file that says who may run.
//
// Begin with [Open]. The [Store] is an [event.Log]: [Store.Append] returns after the commit, [Store.Read] gives threads
// and tasks, [Store.Follow] goes on as facts are committed, by other processes too. Lists and sums come from
// [Store.Tasks], [Store.Runs] and [Store.Calls]. [Store.Captures] is the [wire.Sink]. Whoever runs something takes the
// [Lease] first and lets it recover what a dead process left open.
//
// What is promised: facts are only ever added, numbered without gaps, and a batch is there whole or not at all. What
// [event.Barrier] names is on the disk when Append returns; the rest survives the death of the process, though the last
// of it not a power cut. Known secrets are masked before anything is written. Files are readable by their owner only.
//
// What is not: there is no transaction over both files, so content is to be kept before the fact that names it. The
// package hands nobody anything uncommitted, knows no messages of models, and reads nothing of what it keeps except
// where a projection needs it.
//
// A Store may be used by several goroutines, and a folder by several processes. Each file has one writer at a time;
// readers are never blocked by it and keep no transaction open while their caller thinks.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"overt/internal/redact"
)

// Options of [Open].
type Options struct {
	Dir     string           // the folder of the workspace's record; it is made if need be
	Mask    *redact.Masker   // nil: nothing is masked
	Now     func() time.Time // stamps facts; nil: time.Now
	Version string           // of the program, for the backup before a migration; "": not known

	// Existing: there must be a record. Nothing is made: where there is none the error is an *[AbsentError], and without captures.db
	// nothing that crossed the wire is found. Who only looks opens it so: what was lost is left to be told to who begins to work.
	Existing bool
}

// Store is an open record. Close it.
type Store struct {
	dir      string
	now      func() time.Time
	mask     *redact.Masker
	pack     *packer
	facts    *database
	captures *Captures
	names    names

	filesMu sync.Mutex
	files   *Files // nil until somebody needs it

	log           string // the folder that a log without its file was moved to
	lost          *Lost
	standIn       bool // there is no captures.db, and an empty one in memory is read
	lostExchanges int64
	lostChanges   int64 // guarded by filesMu

	mu     sync.Mutex
	wake   chan struct{} // closed and replaced with each commit
	closed bool

	tail tail

	poll     sync.Mutex // guards what follows
	pollConn *sql.Conn  // sees commits of every other connection; nil until somebody follows
	pollStmt *sql.Stmt
}

// Open opens the record in a folder, making what is missing and bringing the files to the form that this program
// writes; what holds facts is backed up before. A file that a newer program has written is left as it is, and so is one that
// is not ours: both are errors, and then the other file is not begun either. While a restore has not come to its end the error is
// a *[RestoringError].
func Open(ctx context.Context, o Options) (*Store, error) {
	dir, err := folder(o)
	if err != nil {
		return nil, err
	}
	if err := unrestored(dir); err != nil {
		return nil, err
	}
	s := &Store{dir: dir, now: o.Now, mask: o.Mask, pack: &packer{}, wake: make(chan struct{})}
	if s.now == nil {
		s.now = time.Now
	}
	if s.mask == nil {
		s.mask = redact.New()
	}
	captures, err := s.open(ctx, o)
	if err == nil {
		err = unrestored(dir) // once more: now that they are open, none can begin
	}
	if err == nil {
		err = s.pair(ctx, captures, o.Existing)
	}
	if err != nil {
		for _, d := range []*database{s.facts, captures} {
			if d != nil {
				d.close() // nothing was written; what is wrong is err
			}
		}
		return nil, err
	}
	s.captures = &Captures{db: captures, mask: s.mask, pack: s.pack, now: s.now}
	return s, nil
}

// folder makes the folder of the record, closed to others, unless it must be there already.
func folder(o Options) (string, error) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil && !o.Existing {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if o.Existing && errors.Is(err, fs.ErrNotExist) {
		return "", &AbsentError{dir}
	}
	if err != nil {
		return "", fmt.Errorf("folder of the record: %w", err)
	}
	return dir, nil
}

// open opens both files, or gives an error and those that are open.
func (s *Store) open(ctx context.Context, o Options) (captures *database, err error) {
	seenFacts, seenCaptures, err := survey(s.dir)
	switch {
	case err != nil:
		return nil, err
	case o.Existing && !seenFacts.there:
		return nil, &AbsentError{seenFacts.path}
	case !o.Existing && len(seenFacts.stray)+len(seenCaptures.stray) > 0:
		if s.log, err = setAside(ctx, s.dir); err != nil {
			return nil, err
		}
	}
	opened := s.now()
	openFacts := func() (err error) {
		s.facts, err = openDatabase(ctx, seenFacts.path, opening{
			steps: factMigrations(), now: opened, existing: o.Existing,
			before: func(d *database) (func(), error) { return beforeMigration(ctx, d, factMigrations(), o.Version, opened) },
		})
		return err
	}
	openCaptures := func() (err error) {
		absent := error(&AbsentError{seenCaptures.path})
		if !o.Existing || seenCaptures.there {
			captures, absent = openDatabase(ctx, seenCaptures.path, opening{steps: captureMigrations(), now: opened, existing: o.Existing})
		}
		if _, is := errors.AsType[*AbsentError](absent); is {
			s.standIn = true
			captures, absent = standIn(ctx, seenCaptures.path, captureMigrations(), opened)
		}
		return absent
	}
	// What is there is opened before its other half is made.
	switch {
	case seenFacts.there == seenCaptures.there: // both at once: making a file waits for the disk several times
		var capturesErr error
		var both sync.WaitGroup
		both.Go(func() { capturesErr = openCaptures() })
		err = openFacts()
		both.Wait()
		err = cmp.Or(err, capturesErr)
	case seenFacts.there:
		if err = openFacts(); err == nil {
			err = openCaptures()
		}
	default:
		if err = openCaptures(); err == nil {
			err = openFacts()
		}
	}
	return captures, err
}

// Lost says what is left of a record whose overt.db was gone or empty when it was opened, so that this one was begun anew; nil:
// none was. It is said once: afterwards there is a record.
func (s *Store) Lost() *Lost { return s.lost }

// LostExchanges is how many exchanges the facts name whose bytes are gone because captures.db was, or was empty; it is said once.
func (s *Store) LostExchanges() int64 { return s.lostExchanges }

// Captures gives the record of what crossed the wire. It lives as long as the store.
func (s *Store) Captures() *Captures { return s.captures }

// Close ends all reading and writing and lets go of the files. Followers end. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.wake)
	s.mu.Unlock()

	s.poll.Lock()
	if s.pollConn != nil {
		s.pollStmt.Close()
		s.pollConn.Close() // a reader: there is nothing that it could lose
	}
	s.poll.Unlock()
	s.filesMu.Lock()
	defer s.filesMu.Unlock()
	if s.files != nil {
		return errors.Join(s.facts.close(), s.captures.db.close(), s.files.db.close())
	}
	return errors.Join(s.facts.close(), s.captures.db.close())
}
