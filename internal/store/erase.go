package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"overt/internal/event"
)

// ForkedError says that a task can't be erased, because threads of other tasks go on from its nodes.
type ForkedError struct {
	Task  string
	Forks []string // in the order in which they were made
}

// Error implements error.
func (e *ForkedError) Error() string {
	return fmt.Sprintf("task %s has forks that begin with its messages: %s; erase them first", e.Task, strings.Join(e.Forks, ", "))
}

// ScrubError says that what was erased is gone from the record, but that its bytes may still stand in the free space of a
// file. To erase the task again tries again.
type ScrubError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *ScrubError) Error() string {
	return fmt.Sprintf("the free space of %s may still hold what was erased: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *ScrubError) Unwrap() error { return e.Err }

// Erase takes away for good what is recorded of the batch's task: the data of its facts, the long texts and pictures that no
// other task's facts have too, its captures and outputs, what waited for it, and its title. The numbers of its facts stay, with
// kind, time and ids, and the last of them is task.erased. Both files are then written anew, which takes the time and, for
// a while, the space of a copy. It is the one change to facts that were written.
//
// The caller holds the lease, and gives scope and key of the batch but no facts. The error is an *[event.StateError] for
// a task that does not exist, [event.ErrActive] while a run on it is open, a *[ForkedError], or, with everything done but
// the last step, a *[ScrubError]. Of a task that is erased already only that step is done, and nothing is recorded.
func (s *Store) Erase(ctx context.Context, b event.Batch, by string) (event.TaskErased, error) {
	var done event.TaskErased
	b.If = &event.If{Idle: true, States: []string{
		event.TaskActive, event.TaskPaused, event.TaskCompleted, event.TaskCancelled, event.TaskArchived, event.TaskGone,
	}}
	erased := false
	check := func() error {
		a := s.appending(b)
		if err := a.loadTask(); err != nil {
			return err
		}
		erased = a.task.state == event.TaskGone
		if err := a.met(); err != nil || erased {
			return err
		}
		return a.unforked()
	}
	if err := s.facts.do(ctx, false, check); err != nil {
		return done, err
	}
	files, err := s.openFiles(ctx, true)
	if err != nil {
		return done, err
	}
	if !erased {
		// Captures first: whoever reads that a task is erased shall be able to rely on it.
		calls, err := s.Calls(ctx, b.Scope.Task)
		if err == nil {
			err = s.captures.erase(ctx, b.Scope.Task, calls)
		}
		if err == nil && files != nil {
			err = files.erase(ctx, b.Scope.Task)
		}
		if err != nil {
			return done, err
		}
		var a *appending
		err = s.facts.do(ctx, true, func() (err error) {
			if err := check(); err != nil {
				return err
			}
			a = s.appending(b)
			done, err = a.erase(by)
			return err
		})
		if err != nil {
			return done, err
		}
		s.tail.forget()
		s.committed(a)
	}
	if files != nil {
		err = files.db.scrub(ctx)
	}
	return done, errors.Join(s.captures.db.scrub(ctx), s.facts.scrub(ctx), err)
}

// unforked checks that no other task's thread goes on from a node of this one.
func (a *appending) unforked() error {
	id, err := a.taskID()
	if err != nil {
		return err
	}
	rows, err := a.db.conn.QueryContext(context.Background(), `SELECT n.text FROM task t
		JOIN fact p ON p.seq = t.forked JOIN name n ON n.id = t.id
		WHERE p.task = ? ORDER BY t.created, t.id`, id) // an erased fork goes on from nothing
	if err != nil {
		return err
	}
	defer rows.Close()
	forked := &ForkedError{Task: a.batch.Scope.Task}
	for rows.Next() {
		var fork string
		if err := rows.Scan(&fork); err != nil {
			return err
		}
		forked.Forks = append(forked.Forks, fork)
	}
	if err := rows.Err(); err != nil || len(forked.Forks) == 0 {
		return err
	}
	return forked
}

// erase writes task.erased and takes away what it says, inside a transaction.
func (a *appending) erase(by string) (event.TaskErased, error) {
	done := event.TaskErased{By: by}
	id, err := a.taskID()
	if err != nil {
		return done, err
	}
	if _, err := a.db.get(`SELECT count(*), coalesce(sum(length(data)), 0) FROM fact WHERE task = ? AND data IS NOT NULL`, []any{id},
		&done.Facts, &done.Bytes); err != nil {
		return done, err
	}
	texts, err := a.ownTexts(id)
	if err != nil {
		return done, err
	}
	for text := range texts {
		var n int64
		if _, err := a.db.get(`SELECT length(data) FROM blob WHERE id = ?`, []any{text}, &n); err != nil {
			return done, err
		}
		done.Bytes += n
	}
	a.batch.Facts = []event.Draft{{Subject: a.batch.Scope.Task, Data: done}}
	if err := a.write(); err != nil {
		return done, err
	}
	if err := a.db.secure(); err != nil {
		return done, err
	}
	seq := a.facts[0].Seq
	if err := a.db.exec(`UPDATE fact SET data = NULL WHERE task = ? AND seq < ?`, id, seq); err != nil {
		return done, err
	}
	for text := range texts {
		if err := a.db.exec(`DELETE FROM blob WHERE id = ?`, text); err != nil {
			return done, err
		}
	}
	if err := a.db.exec(`DELETE FROM key WHERE first < ? AND first IN (SELECT seq FROM fact WHERE task = ?)`, seq, id); err != nil {
		return done, err
	}
	for _, projection := range []string{`DELETE FROM call WHERE task = ?`, `DELETE FROM run WHERE task = ?`, `DELETE FROM queue WHERE task = ?`} {
		if err := a.db.exec(projection, id); err != nil {
			return done, err
		}
	}
	return done, nil
}

// ownTexts gives the long texts and pictures that only facts of a task refer to. It reads every fact of the record where there
// are any.
func (a *appending) ownTexts(task int64) (map[int64]bool, error) {
	own := map[int64]bool{}
	err := a.texts(`task = ?`, task, func(id int64) bool { own[id] = true; return true })
	if err != nil || len(own) == 0 {
		return own, err
	}
	err = a.texts(`(task IS NULL OR task <> ?)`, task, func(id int64) bool { delete(own, id); return len(own) > 0 })
	return own, err
}

// texts gives the long texts and pictures that the facts under a condition refer to, until give returns false.
func (a *appending) texts(where string, task int64, give func(id int64) bool) error {
	pictures := map[string]bool{}
	more, err := a.inFacts(where, task, give, pictures)
	for hash := range pictures {
		if err != nil || !more {
			break
		}
		var sum []byte
		if sum, err = hex.DecodeString(hash); err != nil {
			err = nil // no name of ours
			continue
		}
		var id int64
		if id, err = a.blob(sum); err == nil && id != 0 {
			more = give(id)
		}
	}
	return err
}

// inFacts gives the long texts until give returns false, which is what it returns then, and collects pictures by their hashes.
func (a *appending) inFacts(where string, task int64, give func(id int64) bool, pictures map[string]bool) (more bool, err error) {
	rows, err := a.db.conn.QueryContext(context.Background(), `SELECT enc, data FROM fact WHERE data IS NOT NULL AND `+where, task)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var enc int
		var packed []byte
		if err := rows.Scan(&enc, &packed); err != nil {
			return false, err
		}
		data, err := a.s.pack.unpack(enc, packed)
		if err != nil {
			return false, err
		}
		for _, hash := range event.Pictures(data) {
			pictures[hash] = true
		}
		if !bytes.Contains(data, []byte(`{"$blob":`)) {
			continue
		}
		ids, err := event.Blobs(data)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if !give(id) {
				return false, nil
			}
		}
	}
	return true, rows.Err()
}

// erase forgets the exchanges and outputs of a task, with every part that no other one shares.
func (c *Captures) erase(ctx context.Context, task string, calls []Call) error {
	ids := make([]string, len(calls))
	for i, call := range calls {
		ids[i] = call.ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lanes = nil // they keep bodies in memory
	return c.db.do(ctx, true, func() error {
		if err := c.db.secure(); err != nil {
			return err
		}
		// The lane as well: an exchange may have been kept whose fact was not.
		if err := c.db.exec(`DELETE FROM capture WHERE lane = ? OR call IN (SELECT value FROM json_each(?))`, task, string(list)); err != nil {
			return err
		}
		if err := c.db.exec(`DELETE FROM output WHERE task = ?`, task); err != nil {
			return err
		}
		return c.sweep()
	})
}

// secure makes what this connection deletes from now on be overwritten with zeros.
func (d *database) secure() error {
	_, err := d.conn.ExecContext(context.Background(), `PRAGMA secure_delete = ON`)
	return err
}

// scrub writes a file anew, so that no bytes of what was deleted are left in it or in its log. Zeros written while deleting
// are not enough: pages that were split or merged before may keep copies of rows in their gaps.
func (d *database) scrub(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return fmt.Errorf("%s is closed", d.path)
	}
	_, err := d.conn.ExecContext(ctx, `VACUUM`)
	busy, pages, moved := 0, 0, 0
	if err == nil {
		err = d.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	}
	if err == nil && busy != 0 {
		err = errors.New("another process is reading it")
	}
	if err != nil {
		return &ScrubError{d.path, d.explain(err)}
	}
	return nil
}
