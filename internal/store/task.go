package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"overt/internal/event"
)

// Task is the present state of a task.
type Task struct {
	ID               string
	Origin           string  // person, demo; "" if its beginning was not recorded
	Title            *string // nil: none was given, or it was erased
	State            string  // event.TaskActive and the like
	Reason           *string // of the state; nil: none was given
	Parent           *string // the task that it was forked from
	Forked           *event.Seq
	Head             event.Seq
	Model            *string // of the head in force; nil: no head was taken yet
	Created, Changed time.Time
	Last             event.Seq // the newest fact of the task
}

// Statuses of a run.
const (
	RunAccepted    = "accepted"
	RunRunning     = "running"
	RunCompleted   = "completed"
	RunFailed      = "failed"
	RunCancelled   = "cancelled"
	RunInterrupted = "interrupted"
)

// Run is the present state of a run. While nobody holds the lease, one without an end was interrupted.
type Run struct {
	ID, Task string
	Turn     *string
	Kind     string
	Status   string
	Reason   *string // failed: the code; interrupted: why
	Accepted time.Time
	Ended    *time.Time
}

// Statuses of a call.
const (
	CallRunning   = "running"
	CallCompleted = "completed"
	CallFailed    = "failed"
)

// Call is the present state of a call to a model. What is nil was not reported, or is not known yet.
type Call struct {
	Seq                               event.Seq // of call.started
	ID                                string
	Task, Run                         string
	Step, Attempt                     int
	Lane, Purpose                     string
	Provider, Protocol, Model, Status string
	HTTP                              *int
	Usage                             event.Usage // without Raw
	Cost                              *event.Cost
	FirstByteMS, DurationMS           *int64
}

// ErrNoTask is what is wrong when no task fits.
var ErrNoTask = errors.New("there is no such task")

// AmbiguousError says that several tasks fit a reference.
type AmbiguousError struct {
	Ref        string
	Candidates []Task // newest first
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	ids := make([]string, len(e.Candidates))
	for i, t := range e.Candidates {
		ids[i] = t.ID
	}
	return fmt.Sprintf("%q fits %d tasks: %s; give more of the id", e.Ref, len(ids), strings.Join(ids, ", "))
}

const taskColumns = `SELECT n.text, t.origin, t.title, t.state, t.reason, p.text, t.forked, t.head, m.text, t.created, t.changed, t.last
	FROM task t JOIN name n ON n.id = t.id LEFT JOIN name p ON p.id = t.parent LEFT JOIN name m ON m.id = t.model `

// Tasks lists the tasks that are not erased, the last changed first, at most limit; 0 is no limit.
func (s *Store) Tasks(ctx context.Context, limit int) ([]Task, error) {
	if limit == 0 {
		limit = -1
	}
	return s.tasks(ctx, `WHERE t.state <> ? ORDER BY t.last DESC LIMIT ?`, event.TaskGone, limit)
}

// Task gives the task with an id, or [ErrNoTask].
func (s *Store) Task(ctx context.Context, id string) (Task, error) {
	list, err := s.tasks(ctx, `WHERE n.text = ?`, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: %q", ErrNoTask, id)
	}
	if err != nil {
		return Task{}, err
	}
	return list[0], nil
}

// refLength is how many closing characters of an id are needed to name a task.
const refLength = 4

// FindTask gives the task that a person means: by its id, by at least four closing characters of it, or by "last", the
// task that was last changed and is not erased. It returns [ErrNoTask] or an *[AmbiguousError].
func (s *Store) FindTask(ctx context.Context, ref string) (Task, error) {
	if ref == "last" {
		list, err := s.Tasks(ctx, 1)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%w: nothing was recorded here yet", ErrNoTask)
		}
		if err != nil {
			return Task{}, err
		}
		return list[0], nil
	}
	t, err := s.Task(ctx, ref)
	if !errors.Is(err, ErrNoTask) {
		return t, err
	}
	if len(ref) < refLength {
		return Task{}, fmt.Errorf("%w: %q; give at least %d closing characters of its id", ErrNoTask, ref, refLength)
	}
	list, err := s.tasks(ctx, `WHERE substr(n.text, -length(?1)) = ?1 ORDER BY t.last DESC`, ref)
	switch {
	case err != nil:
		return Task{}, err
	case len(list) == 0:
		return Task{}, fmt.Errorf("%w: %q", ErrNoTask, ref)
	case len(list) > 1:
		return Task{}, &AmbiguousError{ref, list}
	}
	return list[0], nil
}

func (s *Store) tasks(ctx context.Context, rest string, args ...any) ([]Task, error) {
	return collect(ctx, s.facts, taskColumns+rest, args, func(rows *sql.Rows) (t Task, err error) {
		var created, changed int64
		err = rows.Scan(&t.ID, &t.Origin, &t.Title, &t.State, &t.Reason, &t.Parent, &t.Forked, &t.Head, &t.Model, &created, &changed, &t.Last)
		t.Created, t.Changed = time.UnixMilli(created).UTC(), time.UnixMilli(changed).UTC()
		return t, err
	})
}

// Runs lists the runs of a task in the order in which they were accepted; an empty task means all tasks.
func (s *Store) Runs(ctx context.Context, task string) ([]Run, error) {
	return s.runs(ctx, `WHERE ?1 = '' OR n.text = ?1 ORDER BY r.accepted, r.id`, task)
}

func (s *Store) runs(ctx context.Context, rest string, args ...any) ([]Run, error) {
	return collect(ctx, s.facts, `SELECT i.text, n.text, u.text, r.kind, r.status, r.reason, r.accepted, r.ended
		FROM run r JOIN name i ON i.id = r.id JOIN name n ON n.id = r.task LEFT JOIN name u ON u.id = r.turn `+rest, args,
		func(rows *sql.Rows) (r Run, err error) {
			var accepted int64
			var ended sql.NullInt64
			err = rows.Scan(&r.ID, &r.Task, &r.Turn, &r.Kind, &r.Status, &r.Reason, &accepted, &ended)
			r.Accepted = time.UnixMilli(accepted).UTC()
			if ended.Valid {
				t := time.UnixMilli(ended.Int64).UTC()
				r.Ended = &t
			}
			return r, err
		})
}

// Calls lists the calls of a task in order.
func (s *Store) Calls(ctx context.Context, task string) ([]Call, error) {
	return collect(ctx, s.facts, `SELECT c.seq, coalesce(f.subject, ''), n.text, coalesce(r.text, ''), c.step, c.attempt, l.text, c.purpose,
		coalesce(p.text, ''), coalesce(o.text, ''), coalesce(m.text, ''), c.status, c.http, c.fresh, c.cache_read, c.cache_write,
		c.output, c.reasoning, coalesce(c.coverage, ''), c.nano_usd, coalesce(c.cost_reported, 0), c.first_byte_ms, c.duration_ms
		FROM name n JOIN call c ON c.task = n.id JOIN fact f ON f.seq = c.seq JOIN name l ON l.id = c.lane LEFT JOIN name r ON r.id = c.run
		LEFT JOIN name p ON p.id = c.provider LEFT JOIN name o ON o.id = c.protocol LEFT JOIN name m ON m.id = c.model
		WHERE n.text = ? ORDER BY c.seq`, []any{task},
		func(rows *sql.Rows) (c Call, err error) {
			var subject string
			u := &c.Usage
			var nano *int64
			var reported bool
			err = rows.Scan(&c.Seq, &subject, &c.Task, &c.Run, &c.Step, &c.Attempt, &c.Lane, &c.Purpose, &c.Provider, &c.Protocol,
				&c.Model, &c.Status, &c.HTTP, &u.Fresh, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Coverage,
				&nano, &reported, &c.FirstByteMS, &c.DurationMS)
			c.ID = longSubject(subject, c.Run)
			if nano != nil {
				c.Cost = &event.Cost{Nano: *nano, Reported: reported}
			}
			return c, err
		})
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, d *database, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := d.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, d.explain(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, d.explain(err)
		}
		out = append(out, v)
	}
	return out, d.explain(rows.Err())
}
