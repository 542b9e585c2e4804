package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
)

// refold makes the projections anew from the facts, given one by one in order, in tables that are empty. It goes through
// the same code as the batches that wrote the facts, but for two things: it keeps the rows of tasks until the end, and
// since nothing says whether a node was hung below the task's head or, beside it, below a parent that its batch named, it
// takes a node for the new head if its parent is the head.
type refold struct {
	a     *appending
	tasks map[string]*refoldedTask
	order []string
}

type refoldedTask struct {
	row              taskRow
	created, changed time.Time
	last             event.Seq
}

func newRefold(s *Store, d *database) *refold {
	return &refold{a: &appending{s: s, db: d, names: map[string]int64{}}, tasks: map[string]*refoldedTask{}}
}

// apply takes the next fact.
func (r *refold) apply(f event.Fact) error {
	a := r.a
	a.batch.Scope, a.time, a.row = f.Scope, f.Time, scopeRow{}
	if err := a.scope(); err != nil {
		return err
	}
	if f.Scope.Task == "" {
		a.task = taskRow{}
		return a.project(f)
	}
	t := r.tasks[f.Scope.Task]
	if t == nil {
		t = &refoldedTask{row: taskRow{found: true, state: event.TaskActive}, created: f.Time}
		r.tasks[f.Scope.Task] = t
		r.order = append(r.order, f.Scope.Task)
	}
	a.task = t.row
	if f.Kind.Node() && f.Parent == a.task.head {
		a.task.head = f.Seq
	}
	err := a.project(f)
	t.row, t.changed, t.last = a.task, f.Time, f.Seq
	return err
}

// finish writes the rows of the tasks.
func (r *refold) finish() error {
	a := r.a
	for _, name := range r.order {
		t := r.tasks[name]
		a.batch.Scope, a.row = event.Scope{Task: name}, scopeRow{}
		if err := a.scope(); err != nil {
			return err
		}
		a.facts = []event.Fact{{Seq: t.last}}
		a.task, a.time = t.row, t.created
		a.task.found = false
		if err := a.storeTask(); err != nil {
			return err
		}
		a.task.found, a.time = true, t.changed
		if err := a.storeTask(); err != nil {
			return err
		}
	}
	return nil
}

// projections are the tables that can be made anew from the facts.
func projections() []string { return []string{"task", "run", "call", "queue"} }

// Rebuild makes the projections of a record anew from its facts, in one transaction. The caller holds the lease, has seen
// the facts checked, and has made a backup.
func (l *Lease) Rebuild(ctx context.Context) error {
	s := l.s
	err := s.facts.do(ctx, true, func() error {
		for _, table := range projections() {
			if err := s.facts.exec(`DELETE FROM ` + table); err != nil {
				return err
			}
		}
		r := newRefold(s, s.facts)
		err := eachFact(ctx, s, s.facts, func(row *factRow, f event.Fact, err error) error {
			if err == nil {
				err = r.apply(f)
			}
			if err != nil {
				return fmt.Errorf("fact %d: %w", row.seq, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.finish()
	})
	if err != nil {
		return fmt.Errorf("rebuild the tables of tasks, runs, calls and queued inputs; nothing was changed: %w", err)
	}
	return nil
}

// eachFact gives all facts in order to f, on the connection that writes, or looks. err says why one can't be read whole.
func eachFact(ctx context.Context, s *Store, d *database, f func(row *factRow, fact event.Fact, err error) error) error {
	for after := event.Seq(-1 << 62); ; {
		rows, err := d.conn.QueryContext(ctx, factColumns+`f.seq > ? ORDER BY f.seq LIMIT ?`, after, pageSize)
		if err != nil {
			return err
		}
		list, err := scanFacts(rows)
		for i := range list { // what was read before an error counts
			fact, err := s.fact(ctx, d.conn, &list[i])
			if err := f(&list[i], fact, err); err != nil {
				return err
			}
			after = list[i].seq
		}
		if err != nil || len(list) < pageSize {
			return err
		}
	}
}

func scanFacts(rows *sql.Rows) (list []factRow, err error) {
	defer rows.Close()
	for rows.Next() {
		var r factRow
		if err := rows.Scan(&r.seq, &r.time, &r.kind, &r.v, &r.session, &r.task, &r.turn, &r.run, &r.step, &r.subject, &r.parent,
			&r.enc, &r.data); err != nil {
			return list, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// shadow puts empty tables of the connection's own before the projections of a file.
func (d *database) shadow(ctx context.Context) error {
	for _, table := range projections() {
		var text string
		if err := d.conn.QueryRowContext(ctx, `SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?`, table).Scan(&text); err != nil {
			return err
		}
		text, ok := strings.CutPrefix(text, "CREATE TABLE ")
		if !ok {
			return fmt.Errorf("the table %s is none", table)
		}
		if _, err := d.conn.ExecContext(ctx, "CREATE TEMP TABLE "+text); err != nil {
			return err
		}
	}
	return nil
}

// difference is a row of a projection that is not what the facts say.
type difference struct {
	table, row, what string
}

// differences compares the projections of a file with what shadows them. It gives at most limit.
func (d *database) differences(ctx context.Context, limit int) (out []difference, err error) {
	for _, table := range projections() {
		key := map[string]string{"call": "seq"}[table]
		if key == "" {
			key = "id"
		}
		keys, err := d.texts(ctx, fmt.Sprintf(`SELECT DISTINCT %[2]s FROM (SELECT * FROM (SELECT * FROM main.%[1]s EXCEPT SELECT * FROM temp.%[1]s)
			UNION ALL SELECT * FROM (SELECT * FROM temp.%[1]s EXCEPT SELECT * FROM main.%[1]s)) ORDER BY 1 LIMIT %[3]d`, table, key, limit))
		if err != nil {
			return out, err
		}
		for _, k := range keys {
			what, err := d.differ(ctx, table, key, k)
			if err != nil {
				return out, err
			}
			name := k
			if table == "task" || table == "run" {
				if names, err := d.texts(ctx, `SELECT text FROM name WHERE id = ?`, k); err == nil && len(names) == 1 {
					name = names[0]
				}
			}
			out = append(out, difference{table, name, what})
		}
	}
	return out, nil
}

// differ says in what a row differs.
func (d *database) differ(ctx context.Context, table, key, k string) (string, error) {
	is, columns, err := d.row(ctx, fmt.Sprintf(`SELECT * FROM main.%s WHERE %s = ?`, table, key), k)
	if err != nil {
		return "", err
	}
	should, _, err := d.row(ctx, fmt.Sprintf(`SELECT * FROM temp.%s WHERE %s = ?`, table, key), k)
	switch {
	case err != nil:
		return "", err
	case is == nil:
		return "is missing", nil
	case should == nil:
		return "is of no fact", nil
	}
	var out []string
	for i, c := range columns {
		if is[i] != should[i] {
			out = append(out, fmt.Sprintf("%s is %s, by the facts %s", c, is[i], should[i]))
		}
	}
	return strings.Join(out, "; "), nil
}

// row reads a row in text form; nil: there is none.
func (d *database) row(ctx context.Context, query, key string) (values, columns []string, err error) {
	rows, err := d.conn.QueryContext(ctx, query, key)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil || !rows.Next() {
		return nil, columns, errors.Join(err, rows.Err())
	}
	cells := make([]sql.NullString, len(columns))
	to := make([]any, len(columns))
	for i := range cells {
		to[i] = &cells[i]
	}
	err = rows.Scan(to...)
	for _, c := range cells {
		if !c.Valid {
			c.String = "NULL"
		}
		values = append(values, c.String)
	}
	return values, columns, err
}

// texts reads a column of texts.
func (d *database) texts(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := d.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return out, err
		}
		out = append(out, text)
	}
	return slices.Clip(out), rows.Err()
}
