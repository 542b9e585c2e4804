package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"overt/internal/event"
)

// pageSize is how many facts are read at a time. Between pages no transaction is open.
const pageSize = 256

const factColumns = `SELECT f.seq, f.time, f.kind, f.v, f.session, f.task, f.turn, f.run, f.step, f.subject, f.parent, f.enc, f.data
	FROM fact f WHERE `

// factRow is a row of the table.
type factRow struct {
	seq                      event.Seq
	time                     int64
	kind                     sql.NullInt64
	v                        int
	session, task, turn, run sql.NullInt64
	step                     sql.NullInt64
	subject                  sql.NullString
	parent                   sql.NullInt64
	enc                      int
	data                     []byte
}

// Read implements [event.Log]. It gives what was committed when it began.
func (s *Store) Read(ctx context.Context, p event.Path) iter.Seq2[event.Fact, error] {
	if p.Facts {
		return s.selected(ctx, p.Task, "", p.After)
	}
	return func(yield func(event.Fact, error) bool) {
		path, err := s.path(ctx, p.Task, p.Leaf)
		if err != nil {
			yield(event.Fact{}, s.facts.explain(err))
			return
		}
		for chunk := range slices.Chunk(path, pageSize) {
			list, _ := json.Marshal(chunk) // numbers always encode
			facts, err := s.page(ctx, s.facts.read, `f.seq IN (SELECT value FROM json_each(?)) ORDER BY f.seq`, string(list))
			if !give(facts, s.facts.explain(err), yield) {
				return
			}
		}
	}
}

// Facts gives the facts of a task that belong to a run, or all of them if run is empty, in order.
func (s *Store) Facts(ctx context.Context, task, run string) iter.Seq2[event.Fact, error] {
	return s.selected(ctx, task, run, 0)
}

// Head is the node that a task stands on: 0, the root, for one that has no node or is not known.
func (s *Store) Head(ctx context.Context, task string) (event.Seq, error) {
	var head event.Seq
	err := s.facts.read.QueryRowContext(ctx, `SELECT t.head FROM task t JOIN name n ON n.id = t.id WHERE n.text = ?`, task).Scan(&head)
	if err == sql.ErrNoRows {
		err = nil
	}
	return head, s.facts.explain(err)
}

// selected gives the facts of a task, or of a run of it, that have a number above after.
func (s *Store) selected(ctx context.Context, task, run string, after event.Seq) iter.Seq2[event.Fact, error] {
	return func(yield func(event.Fact, error) bool) {
		where, args, known, err := s.selection(ctx, task, run)
		var until event.Seq
		if err == nil && known {
			err = s.facts.read.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM fact`).Scan(&until)
		}
		if err != nil {
			yield(event.Fact{}, s.facts.explain(err))
			return
		}
		for known {
			facts, err := s.page(ctx, s.facts.read, where+` AND f.seq > ? AND f.seq <= ? ORDER BY f.seq LIMIT ?`,
				append(slices.Clone(args), after, until, pageSize)...)
			if !give(facts, s.facts.explain(err), yield) || len(facts) < pageSize {
				return
			}
			after = facts[len(facts)-1].Seq
		}
	}
}

// selection is the condition for a task's facts; known is false if there can be none.
func (s *Store) selection(ctx context.Context, task, run string) (where string, args []any, known bool, err error) {
	where = `f.task IS NULL`
	if task != "" {
		id, ok, err := s.names.find(ctx, s.facts.read, task)
		if err != nil || !ok {
			return "", nil, false, err
		}
		where, args = `f.task = ?`, []any{id}
	}
	if run != "" {
		id, ok, err := s.names.find(ctx, s.facts.read, run)
		if err != nil || !ok {
			return "", nil, false, err
		}
		where, args = `f.run = ? AND +`+where, append([]any{id}, args...) // + keeps SQLite to the index of the run
	}
	return where, args, true, nil
}

// path gives the numbers of the nodes from the root to leaf, or to the task's head if leaf is 0.
func (s *Store) path(ctx context.Context, task string, leaf event.Seq) ([]event.Seq, error) {
	if leaf == 0 {
		var err error
		if leaf, err = s.Head(ctx, task); err != nil || leaf == 0 {
			return nil, err
		}
	}
	rows, err := s.facts.read.QueryContext(ctx, `WITH RECURSIVE p (seq, parent) AS (
		SELECT seq, parent FROM fact WHERE seq = ? UNION ALL SELECT f.seq, f.parent FROM p JOIN fact f ON f.seq = p.parent)
		SELECT seq, parent FROM p`, leaf)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []event.Seq
	next := leaf
	for rows.Next() {
		var seq event.Seq
		var parent sql.NullInt64
		if err := rows.Scan(&seq, &parent); err != nil {
			return nil, err
		}
		out = append(out, seq)
		next = event.Seq(parent.Int64)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if next != 0 {
		return nil, fmt.Errorf("no fact %d", next)
	}
	slices.Reverse(out)
	return out, nil
}

// give yields a page and tells whether to go on.
func give(facts []event.Fact, err error, yield func(event.Fact, error) bool) bool {
	if err != nil {
		yield(event.Fact{}, err)
		return false
	}
	for _, f := range facts {
		if !yield(f, nil) {
			return false
		}
	}
	return true
}

// ever tells whether there may be facts of a kind. It asks the connection that writes, since most runs need none that only reads,
// which takes a millisecond to open.
func (s *Store) ever(kind event.Kind) (bool, error) {
	return s.facts.any(`SELECT 1 FROM name WHERE text = '` + string(kind) + `'`)
}

// page reads the facts that a condition selects, whole.
func (s *Store) page(ctx context.Context, q querier, where string, args ...any) ([]event.Fact, error) {
	rows, err := q.QueryContext(ctx, factColumns+where, args...)
	if err != nil {
		return nil, err
	}
	return s.collect(ctx, q, rows)
}

// collect reads the facts of rows, whole.
func (s *Store) collect(ctx context.Context, q querier, rows *sql.Rows) ([]event.Fact, error) {
	defer rows.Close()
	var list []factRow
	for rows.Next() {
		var r factRow
		if err := rows.Scan(&r.seq, &r.time, &r.kind, &r.v, &r.session, &r.task, &r.turn, &r.run, &r.step, &r.subject, &r.parent,
			&r.enc, &r.data); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rows.Close() // names and texts are read next, perhaps on the same connection
	out := make([]event.Fact, 0, len(list))
	for i := range list {
		f, err := s.fact(ctx, q, &list[i])
		if err != nil {
			return nil, fmt.Errorf("fact %d: %w", list[i].seq, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// fact makes a fact of its row.
func (s *Store) fact(ctx context.Context, q querier, r *factRow) (event.Fact, error) {
	f := event.Fact{
		Seq: r.seq, Time: time.UnixMilli(r.time).UTC(), V: r.v, Parent: event.Seq(r.parent.Int64),
		Scope: event.Scope{Step: int(r.step.Int64)},
	}
	var kind string
	for _, n := range []struct {
		to *string
		id sql.NullInt64
	}{{&kind, r.kind}, {&f.Scope.Session, r.session}, {&f.Scope.Task, r.task}, {&f.Scope.Turn, r.turn}, {&f.Scope.Run, r.run}} {
		var err error
		if *n.to, err = s.names.text(ctx, q, n.id); err != nil {
			return f, err
		}
	}
	f.Kind = event.Kind(kind)
	if r.subject.Valid {
		f.Subject = longSubject(r.subject.String, f.Scope.Run)
	}
	if r.data == nil {
		f.Data = event.Erased{K: f.Kind}
		return f, nil
	}
	data, err := s.pack.unpack(r.enc, r.data)
	if err != nil {
		return f, err
	}
	f.Data, err = event.Decode(f.Kind, f.V, data, func(id int64) ([]byte, error) {
		var enc int
		var text []byte
		if err := q.QueryRowContext(ctx, `SELECT enc, data FROM blob WHERE id = ?`, id).Scan(&enc, &text); err != nil {
			return nil, fmt.Errorf("text %d: %w", id, err)
		}
		return s.pack.unpack(enc, text)
	})
	return f, err
}
