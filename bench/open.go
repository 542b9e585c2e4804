//go:build linux

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver, to make a large record quickly
)

// manyFacts is how many facts the large record has.
const manyFacts = 1_000_000

// open is the second half of block 4: what a large record costs at the start, over a small one.
func (b *bench) open() error {
	small, err := b.place(b.fast, "small")
	if err != nil {
		return err
	}
	large, err := b.place(b.fast, "large")
	if err != nil {
		return err
	}
	url := b.server.serve("open", script{answer: answer("done", 16)})
	for _, p := range []place{small, large} {
		if _, err := b.overt(p, url); err != nil {
			return err
		}
	}
	found, err := filepath.Glob(filepath.Join(large.state, "overt", "workspaces", "*", "overt.db"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("the records below %s are %v, %w", large.state, found, err)
	}
	if err := fill(found[0]); err != nil {
		return fmt.Errorf("make a large record: %w", err)
	}
	look := func(p place) func() (usage, error) {
		return func() (usage, error) { return run(p.work, b.environ(p), b.program("overt"), "trace") }
	}
	task := func(p place) func() (usage, error) { return func() (usage, error) { return b.overt(p, url) } }
	runs, err := rounds(b.rounds, look(small), look(large), task(small), task(large))
	if err != nil {
		return err
	}
	smallLook, _, _ := medians(runs[0])
	largeLook, _, _ := medians(runs[1])
	smallTask, _, _ := medians(runs[2])
	largeTask, _, _ := medians(runs[3])
	b.server.take("open")
	b.most("4 store", "start with 1,000,000 facts, over a small record: overt trace", ms(largeLook-smallLook), 15, " ms")
	b.most("4 store", "… one-word task", ms(largeTask-smallTask), 15, " ms")
	b.note("4 store", "… absolute", fmt.Sprintf("trace %.1f ms, task %.1f ms", ms(largeLook), ms(largeTask)))
	return nil
}

// fill copies the facts of a record under new numbers until it has a million, a thousand tasks among them.
func fill(path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{
		`INSERT INTO name (text) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'tsk_bench' || i FROM n`,
		`INSERT INTO task (id, root, origin, title, state, head, created, changed, last)
			SELECT n.id, n.id, t.origin, t.title, t.state, t.head, t.created, t.created - n.id, t.last FROM name n, task t WHERE n.text LIKE 'tsk_bench%'`,
		`WITH RECURSIVE n (i) AS (SELECT (SELECT max(seq) + 1 FROM fact) UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(manyFacts) + `)
			INSERT INTO fact (seq, time, kind, v, session, task, turn, run, step, subject, parent, enc, data)
			SELECT n.i, f.time, f.kind, f.v, f.session, (SELECT min(id) + n.i % 1000 FROM name WHERE text LIKE 'tsk_bench%'), f.turn, f.run, f.step, f.subject,
			f.parent, f.enc, f.data FROM n JOIN fact f ON f.seq = 1 + n.i % (SELECT max(seq) FROM fact)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
