package store

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"overt/internal/event"
)

// pollEvery is how soon a commit of another process is seen.
const pollEvery = 250 * time.Millisecond

// Follow gives all facts with a number above after, in order, and goes on as they are committed, by this process at once
// and by others within a quarter of a second. It ends without an error when ctx does or the store is closed.
func (s *Store) Follow(ctx context.Context, after event.Seq) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		var next *sql.Stmt
		defer func() {
			if next != nil {
				next.Close() // a reader: there is nothing that it could lose
			}
		}()
		version := int64(-1) // of the file before the page was read; not known until it is asked for
		outside := false     // another process has committed, so memory does not have it all
		for {
			wake, open := s.waker() // before the page is read: what is committed while it is read ends the wait
			facts, known := s.tail.after(after)
			var err error
			if outside || !known {
				if next == nil {
					next, err = s.facts.read.PrepareContext(ctx, factColumns+`f.seq > ? ORDER BY f.seq LIMIT ?`)
				}
				if err == nil {
					facts, err = s.following(ctx, next, after)
				}
			}
			if ctx.Err() != nil || !open {
				return
			}
			if err != nil && s.isClosed() {
				return
			}
			if !give(facts, s.facts.explain(err), yield) {
				return
			}
			if len(facts) > 0 {
				after = facts[len(facts)-1].Seq
			}
			if outside = len(facts) == pageSize; outside {
				continue
			}
			if outside, open = s.await(ctx, wake, tick.C, &version); !open {
				return
			}
		}
	}
}

// following reads the next page. It is read with every commit, so the statement is prepared.
func (s *Store) following(ctx context.Context, next *sql.Stmt, after event.Seq) ([]event.Fact, error) {
	rows, err := next.QueryContext(ctx, after, pageSize)
	if err != nil {
		return nil, err
	}
	return s.collect(ctx, s.facts.read, rows)
}

// await waits for a commit, and brings version up to date. outside: it may be another process's. open is false if ctx
// ended.
func (s *Store) await(ctx context.Context, wake <-chan struct{}, tick <-chan time.Time, version *int64) (outside, open bool) {
	for {
		select {
		case <-ctx.Done():
			return false, false
		case <-wake:
			return false, true
		case <-tick:
			v, err := s.dataVersion(ctx)
			if err != nil || v != *version {
				*version = v
				return true, true // an error shows itself when the page is read
			}
		}
	}
}

// dataVersion changes with every commit to the file by whomever. It costs two microseconds.
func (s *Store) dataVersion(ctx context.Context) (int64, error) {
	s.poll.Lock()
	defer s.poll.Unlock()
	if s.pollConn == nil {
		if s.isClosed() {
			return 0, nil
		}
		// Detached: the connection serves all followers and outlives the first.
		conn, err := s.facts.read.Conn(context.WithoutCancel(ctx))
		if err != nil {
			return 0, err
		}
		stmt, err := conn.PrepareContext(context.WithoutCancel(ctx), `PRAGMA data_version`)
		if err != nil {
			return 0, errors.Join(err, conn.Close())
		}
		s.pollConn, s.pollStmt = conn, stmt
	}
	var v int64
	err := s.pollStmt.QueryRowContext(context.WithoutCancel(ctx)).Scan(&v)
	return v, err
}

func (s *Store) waker() (<-chan struct{}, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake, !s.closed
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// wakeAll tells all followers that something was committed.
func (s *Store) wakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		close(s.wake)
		s.wake = make(chan struct{})
	}
}
