package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
)

// Append implements [event.Log]. Every text is masked; the facts that come back have their texts whole, long ones too.
// After an error nothing of the batch is kept. The context bounds the wait for other writers, not the write.
func (s *Store) Append(ctx context.Context, b event.Batch) ([]event.Fact, error) {
	full := slices.ContainsFunc(b.Facts, func(d event.Draft) bool { return event.Barrier(d.Data) })
	var a *appending
	err := s.facts.do(ctx, full, func() error {
		a = s.appending(b)
		return a.write()
	})
	if err != nil {
		return nil, err
	}
	s.committed(a)
	return a.facts, nil
}

// committed makes a batch known in this process.
func (s *Store) committed(a *appending) {
	for text, id := range a.names {
		s.names.learn(text, id)
	}
	long := 0
	for _, text := range a.blobs {
		long += len(text)
	}
	s.tail.add(a.facts, long)
	s.wakeAll()
}

// appending is one batch on its way into the file.
type appending struct {
	s     *Store
	db    *database
	batch event.Batch
	time  time.Time
	names map[string]int64 // found or made in this transaction
	blobs map[int64][]byte // texts kept in this transaction
	row   scopeRow
	task  taskRow
	facts []event.Fact
}

func (s *Store) appending(b event.Batch) *appending {
	return &appending{s: s, db: s.facts, batch: b, names: map[string]int64{}, blobs: map[int64][]byte{}}
}

// scopeRow is a scope in numbers.
type scopeRow struct{ session, task, turn, run, step any }

func (a *appending) write() error {
	b := a.batch
	if known, err := a.repeated(); known || err != nil {
		return err
	}
	a.time = a.s.now().UTC().Truncate(time.Millisecond)
	var last event.Seq
	if _, err := a.db.get(`SELECT coalesce(max(seq), 0) FROM fact`, nil, &last); err != nil {
		return err
	}
	if err := a.loadTask(); err != nil {
		return err
	}
	if b.Guard != nil && b.Guard.Head != a.task.head {
		return event.ErrMoved
	}
	if err := a.met(); err != nil {
		return err
	}
	if len(b.Facts) > 0 {
		if err := a.scope(); err != nil {
			return err
		}
	}
	for i, d := range b.Facts {
		if err := a.fact(last+event.Seq(i)+1, d); err != nil {
			return err
		}
	}
	if len(b.Facts) > 0 {
		if err := a.storeTask(); err != nil {
			return err
		}
	}
	if b.Key == "" || len(b.Facts) == 0 {
		return nil
	}
	return a.db.exec(`INSERT INTO key (key, fingerprint, first, last, time) VALUES (?, ?, ?, ?, ?)`,
		b.Key, []byte(b.Fingerprint), last+1, last+event.Seq(len(b.Facts)), a.time.UnixMilli())
}

// repeated looks the batch's key up. If it is known, it reads the facts of the first time.
func (a *appending) repeated() (bool, error) {
	if a.batch.Key == "" {
		return false, nil
	}
	var fingerprint []byte
	var first, last event.Seq
	known, err := a.db.get(`SELECT fingerprint, first, last FROM key WHERE key = ?`, []any{a.batch.Key}, &fingerprint, &first, &last)
	if err != nil || !known {
		return false, err
	}
	if string(fingerprint) != a.batch.Fingerprint {
		return false, event.ErrKeyReused
	}
	a.facts, err = a.s.page(context.Background(), a.db.conn, `f.seq BETWEEN ? AND ? ORDER BY f.seq`, first, last)
	return true, err
}

// scope puts the batch's scope into numbers.
func (a *appending) scope() error {
	s := a.batch.Scope
	for _, f := range []struct {
		to   *any
		text string
	}{{&a.row.session, s.Session}, {&a.row.task, s.Task}, {&a.row.turn, s.Turn}, {&a.row.run, s.Run}} {
		id, err := a.nameOrNull(f.text)
		if err != nil {
			return err
		}
		*f.to = id
	}
	if s.Step != 0 {
		a.row.step = s.Step
	}
	return nil
}

// fact writes one fact and what it projects.
func (a *appending) fact(seq event.Seq, d event.Draft) error {
	f := event.Fact{Seq: seq, Time: a.time, Kind: d.Data.Kind(), Scope: a.batch.Scope, Subject: d.Subject}
	f.V = f.Kind.Version()
	var parent sql.NullInt64
	if f.Kind.Node() {
		if err := a.place(&f, d.Parent); err != nil {
			return err
		}
		parent = sql.NullInt64{Int64: int64(f.Parent), Valid: true}
	}
	for _, i := range event.Images(d.Data) {
		if err := a.keepPicture(i); err != nil {
			return err
		}
	}
	data, err := event.Encode(d.Data, a.s.mask.String, a.keep)
	if err != nil {
		return err
	}
	kind, err := a.name(string(f.Kind))
	if err != nil {
		return err
	}
	var subject any
	if d.Subject != "" {
		subject = shortSubject(d.Subject, f.Scope.Run)
	}
	enc, packed := a.s.pack.pack(data)
	if err := a.db.exec(`INSERT INTO fact (seq, time, kind, v, session, task, turn, run, step, subject, parent, enc, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, f.Seq, f.Time.UnixMilli(), kind, f.V,
		a.row.session, a.row.task, a.row.turn, a.row.run, a.row.step, subject, parent, enc, packed); err != nil {
		return err
	}
	// The payload is taken from its stored form, so that what comes back is what will be read.
	if f.Data, err = event.Decode(f.Kind, f.V, data, a.load); err != nil {
		return err
	}
	a.facts = append(a.facts, f)
	return a.project(f)
}

// place hangs a node into the task's tree.
func (a *appending) place(f *event.Fact, parent *event.Seq) error {
	switch {
	case parent != nil && (*parent < 0 || *parent >= f.Seq):
		return fmt.Errorf("%s names the fact %d as its parent, which does not exist", f.Kind, *parent)
	case parent != nil:
		f.Parent = *parent
	case f.Scope.Task == "":
		return fmt.Errorf("%s belongs to no task", f.Kind)
	default:
		f.Parent = a.task.head
		a.task.head = f.Seq
	}
	return nil
}

// keep stores a long text, once.
func (a *appending) keep(text []byte) (int64, error) {
	hash := sha256.Sum256(text)
	id, err := a.blob(hash[:])
	if err == nil && id == 0 {
		enc, data := a.s.pack.pack(text)
		id, err = a.db.insert(`INSERT INTO blob (hash, bytes, enc, data) VALUES (?, ?, ?, ?)`, hash[:], len(text), enc, data)
	}
	a.blobs[id] = text
	return id, err
}

// blob gives the number of what is kept under a hash, 0 for nothing.
func (a *appending) blob(hash []byte) (id int64, err error) {
	_, err = a.db.get(`SELECT id FROM blob WHERE hash = ?`, []any{hash}, &id)
	return id, err
}

func (a *appending) load(id int64) ([]byte, error) {
	if text, ok := a.blobs[id]; ok {
		return text, nil
	}
	return nil, fmt.Errorf("text %d is not part of this batch", id)
}

// name gives the number of a name, making one if need be.
func (a *appending) name(text string) (int64, error) {
	if id, ok := a.s.names.id(text); ok {
		return id, nil
	}
	if id, ok := a.names[text]; ok {
		return id, nil
	}
	var id int64
	found, err := a.db.get(`SELECT id FROM name WHERE text = ?`, []any{text}, &id)
	if err == nil && !found {
		id, err = a.db.insert(`INSERT INTO name (text) VALUES (?)`, text)
	}
	if err != nil {
		return 0, err
	}
	a.names[text] = id
	return id, nil
}

func (a *appending) nameOrNull(text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	return a.name(text)
}

// shortSubject puts ~ in the place of the run's letters, which most subjects repeat. A subject for which that could not
// be reversed is kept whole, after "=".
func shortSubject(subject, run string) string {
	letters := runLetters(run)
	if strings.HasPrefix(subject, "=") || strings.Contains(subject, "~") {
		return "=" + subject
	}
	if letters == "" {
		return subject
	}
	return strings.Replace(subject, letters, "~", 1)
}

func longSubject(stored, run string) string {
	if whole, ok := strings.CutPrefix(stored, "="); ok {
		return whole
	}
	return strings.Replace(stored, "~", runLetters(run), 1)
}

// runLetters is the part of a run's id that the ids below it repeat.
func runLetters(run string) string {
	_, letters, _ := strings.Cut(run, "_")
	return letters
}
