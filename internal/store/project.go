package store

import (
	"cmp"
	"database/sql"

	"overt/internal/event"
)

// taskRow is the row of a batch's task.
type taskRow struct {
	found                 bool
	head                  event.Seq
	state, origin         string
	title, reason         sql.NullString
	model, parent, forked sql.NullInt64
}

// loadTask reads the row of the batch's task. A task that is not known stands at the root.
func (a *appending) loadTask() error {
	if a.batch.Scope.Task == "" {
		return nil
	}
	id, err := a.taskID()
	if err != nil || id == 0 {
		return err
	}
	t := &a.task
	t.found, err = a.db.get(`SELECT head, state, origin, title, reason, model, parent, forked FROM task WHERE id = ?`, []any{id},
		&t.head, &t.state, &t.origin, &t.title, &t.reason, &t.model, &t.parent, &t.forked)
	return err
}

// met checks the batch's condition.
func (a *appending) met() error {
	if a.batch.If == nil {
		return nil
	}
	open := false
	if a.batch.If.Idle && a.task.found {
		id, err := a.taskID()
		if err != nil {
			return err
		}
		var one int
		if open, err = a.db.get(`SELECT 1 FROM run WHERE task = ? AND ended IS NULL LIMIT 1`, []any{id}, &one); err != nil {
			return err
		}
	}
	return a.batch.If.Met(a.batch.Scope.Task, a.task.state, open)
}

// taskID is the number of the batch's task, 0 if it has none yet: a guard that fails shall leave no name behind.
func (a *appending) taskID() (int64, error) {
	if id, ok := a.s.names.id(a.batch.Scope.Task); ok {
		return id, nil
	}
	var id int64
	_, err := a.db.get(`SELECT id FROM name WHERE text = ?`, []any{a.batch.Scope.Task}, &id)
	return id, err
}

// storeTask writes the row of the batch's task.
func (a *appending) storeTask() error {
	if a.row.task == nil {
		return nil
	}
	ms, last, t := a.time.UnixMilli(), a.facts[len(a.facts)-1].Seq, a.task
	if t.found {
		return a.db.exec(`UPDATE task SET head = ?, state = ?, origin = ?, title = ?, reason = ?, model = ?, parent = ?, forked = ?, changed = ?, last = ?
			WHERE id = ?`, t.head, t.state, t.origin, t.title, t.reason, t.model, t.parent, t.forked, ms, last, a.row.task)
	}
	return a.db.exec(`INSERT INTO task (id, root, origin, title, state, reason, head, model, parent, forked, created, changed, last)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.row.task, a.row.task, t.origin, t.title, cmp.Or(t.state, event.TaskActive), t.reason, t.head, t.model, t.parent, t.forked, ms, ms, last)
}

// project writes what a fact changes in the tables of tasks, runs and calls.
func (a *appending) project(f event.Fact) error {
	ms := a.time.UnixMilli()
	switch p := f.Data.(type) {
	case event.TaskCreated:
		return a.createTask(p)
	case event.TaskChanged:
		if p.Title != "" {
			a.task.title = sql.NullString{String: p.Title, Valid: true}
		}
		if p.State != "" {
			a.task.state = p.State
			a.task.reason = sql.NullString{String: p.Reason, Valid: p.Reason != ""}
		}
	case event.TaskErased:
		a.task = taskRow{found: a.task.found, state: event.TaskGone}
	case event.HeadMoved:
		a.task.head = p.To
	case event.ContextHead:
		id, err := a.name(p.Model)
		a.task.model = sql.NullInt64{Int64: id, Valid: err == nil}
		return err
	case event.RunAccepted:
		if a.row.run == nil || a.row.task == nil {
			return nil
		}
		return a.db.exec(`INSERT INTO run (id, task, turn, kind, status, accepted) VALUES (?, ?, ?, ?, ?, ?)`,
			a.row.run, a.row.task, a.row.turn, p.RunKind, RunAccepted, ms)
	case event.RunStarted:
		return a.db.exec(`UPDATE run SET status = ? WHERE id = ?`, RunRunning, a.row.run)
	case event.RunCompleted:
		return a.endRun(RunCompleted, nil)
	case event.RunFailed:
		return a.endRun(RunFailed, p.Code)
	case event.RunCancelled:
		return a.endRun(RunCancelled, nil)
	case event.RunInterrupted:
		return a.endRun(RunInterrupted, p.Reason)
	case event.MessageAdded:
		if p.Queue == "" {
			return nil
		}
		return a.db.exec(`UPDATE queue SET state = ? WHERE id = ?`, event.QueueSent, p.Queue)
	case event.QueueAdded:
		return a.db.exec(`INSERT INTO queue (id, task, mode, state, added) VALUES (?, ?, ?, ?, ?)`,
			f.Subject, a.row.task, p.Mode, event.QueueQueued, f.Seq)
	case event.QueueChanged:
		return a.db.exec(`UPDATE queue SET state = ? WHERE id = ?`, p.State, f.Subject)
	case event.CallStarted:
		return a.startCall(f.Seq, p)
	case event.CallCompleted:
		return a.endCall(f, CallCompleted, p.HTTP, p.Usage, p.Cost, p.Exchange)
	case event.CallFailed:
		return a.endCall(f, CallFailed, p.HTTP, p.Usage, p.Cost, p.Exchange)
	}
	return nil
}

func (a *appending) createTask(p event.TaskCreated) error {
	a.task.origin = p.Origin
	a.task.title = sql.NullString{String: p.Title, Valid: true}
	if p.Parent == "" {
		return nil
	}
	id, err := a.name(p.Parent)
	a.task.parent = sql.NullInt64{Int64: id, Valid: err == nil}
	a.task.forked = sql.NullInt64{Int64: int64(p.From), Valid: p.From != 0}
	return err
}

func (a *appending) endRun(status string, reason any) error {
	return a.db.exec(`UPDATE run SET status = ?, reason = ?, ended = ? WHERE id = ?`, status, reason, a.time.UnixMilli(), a.row.run)
}

func (a *appending) startCall(seq event.Seq, p event.CallStarted) error {
	var ids [4]any
	for i, text := range []string{p.Lane, p.Provider, p.Protocol, p.Model} {
		id, err := a.name(text)
		if err != nil {
			return err
		}
		ids[i] = id
	}
	return a.db.exec(`INSERT INTO call (seq, task, run, step, attempt, lane, purpose, provider, protocol, model, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		seq, a.row.task, a.row.run, a.batch.Scope.Step, p.Attempt, ids[0], p.Purpose, ids[1], ids[2], ids[3], CallRunning)
}

// endCall completes the row of the call that the fact is about: the newest call.started of the run before it with its subject.
func (a *appending) endCall(f event.Fact, status string, http int, u event.Usage, c *event.Cost, x event.Exchange) error {
	kind, err := a.name(string(event.KindCallStarted))
	if err != nil {
		return err
	}
	var seq event.Seq
	found, err := a.db.get(`SELECT seq FROM fact INDEXED BY fact_run WHERE run = ? AND kind = ? AND subject = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
		[]any{a.row.run, kind, shortSubject(f.Subject, f.Scope.Run), f.Seq}, &seq)
	if err != nil || !found {
		return err
	}
	var code, first any
	if http != 0 {
		code = http
	}
	if x.FirstByteMS != 0 {
		first = x.FirstByteMS
	}
	var nano, reported any
	if c != nil {
		nano, reported = c.Nano, 0
		if c.Reported {
			reported = 1
		}
	}
	return a.db.exec(`UPDATE call SET status = ?, http = ?, fresh = ?, cache_read = ?, cache_write = ?, output = ?, reasoning = ?,
		coverage = ?, nano_usd = ?, cost_reported = ?, first_byte_ms = ?, duration_ms = ? WHERE seq = ?`,
		status, code, u.Fresh, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Coverage, nano, reported, first, x.DurationMS, seq)
}
