package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"overt/internal/event"
)

// maxProblems is how many problems of a file are told.
const maxProblems = 100

// Check reads all of a record, changes nothing, and says what is wrong: SQLite's own checks; facts without gaps, every
// payload and every text readable; parents in their own thread; projections equal to what the facts give; captured bytes
// as their hashes and the facts say. It needs neither the lease nor that files can be opened for work, and others may
// write meanwhile. The error is fs.ErrNotExist where no file of a record is, a *[RestoringError], or that of a system call.
//
// What it can't see is a change to a fact that leaves it a well-formed payload: facts carry no hash of their own.
func Check(ctx context.Context, dir string) (*Report, error) {
	if err := unrestored(dir); err != nil {
		return nil, err
	}
	r, err := check(ctx, dir, filepath.Base(dir), checkAll)
	if err != nil || r.Files[0].Present {
		return r, err
	}
	if gone := Gone(ctx, dir); gone != nil {
		r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool { return p.Code == ProblemAbsent }) // it is said better
		r.Problems = append([]Problem{{Code: ProblemAbsent, File: factsFile, Detail: gone.Error()}}, r.Problems...)
	}
	return r, nil
}

// How far a check goes.
const (
	checkSQLite  = iota // what SQLite finds
	checkContent        // all but the projections
	checkAll
)

// check checks the files in a folder, which are of the record of a name.
func check(ctx context.Context, dir, name string, depth int) (*Report, error) {
	began := time.Now()
	out := &Report{Problems: []Problem{}}
	sent, named, changes := map[string]event.Exchange{}, map[string]event.Seq{}, map[string]event.Seq{}
	started := map[string]bool{}
	var last *checking // captures.db
	emptyFacts, strange, ids := false, false, map[string]int64{}
	for _, file := range recordFiles() {
		c := &checking{ctx: ctx, file: file, sent: sent, named: named, changes: changes, started: started, kept: map[string]bool{}, pictures: map[string]event.Seq{}, depth: depth}
		path := filepath.Join(dir, file.name)
		_, err := plain(path)
		switch {
		case errors.Is(err, errNotPlain):
			c.is.Present = true
			c.add(ProblemNotOurs, "", nil, "%v", err)
		case err == nil:
			c.is.Present = true
			if err := c.look(path); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		if ids[file.name] = c.id; strangers(ids[factsFile], ids[capturesFile]) {
			if elsewhere(name, out.Root) {
				out.Problems = append([]Problem{{Code: ProblemStranger, File: factsFile, Detail: "it " + strangeFacts(out.Root)}}, out.Problems...)
				strange = true
			} else {
				c.problems = append([]Problem{{Code: ProblemStranger, File: file.name, Detail: "it " + strangersText}}, c.problems...)
			}
		}
		c.is.Name = file.name
		emptyFacts = emptyFacts || err == nil && !c.is.Present && file.name == factsFile
		last = c
		if c.root != "" {
			out.Root = c.root
		}
		out.Files = append(out.Files, c.is)
		out.Problems = append(out.Problems, c.problems...)
		out.More += c.more
	}
	if !out.Files[0].Present && !out.Files[1].Present {
		return nil, &fs.PathError{Op: "check", Path: filepath.Join(dir, factsFile), Err: fs.ErrNotExist}
	}
	if facts := out.Files[0]; depth != checkSQLite && last.whole() && !strange && facts.Present && !slices.ContainsFunc(out.Problems, func(p Problem) bool {
		return p.File == factsFile && p.Code != ProblemProjection
	}) {
		for call := range last.kept {
			if !last.started[call] {
				out.Unknown++
			}
		}
	}
	if depth != checkSQLite && last.whole() && !strange {
		out.Missing, out.Lost = gone(named, func(call string) bool { return last.kept[call] }, last.is.Present, last.begun)
	}
	// A process that dies while it makes a record leaves empty files, but not beside one with something in it.
	if facts, captures := out.Files[0], out.Files[1]; emptyFacts && captures.Rows > 0 {
		out.Problems = append(out.Problems, Problem{Code: ProblemAbsent, File: facts.Name, Detail: "it is empty"})
	}
	if depth == checkAll {
		files, err := checkFiles(ctx, dir)
		if err != nil {
			return nil, err
		}
		if !strange && strangers(ids[factsFile], files.id) {
			files.problems = append([]Problem{{Code: ProblemStranger, File: filesFile, Detail: "it " + strangeFilesText}}, files.problems...)
		}
		if files.whole() && !strange {
			_, out.LostChanges = gone(changes, func(id string) bool { return files.kept[id] }, files.is.Present, files.begun)
		}
		if files.there || out.LostChanges > 0 {
			out.Files = append(out.Files, files.is)
			out.Problems = append(out.Problems, files.problems...)
			out.More += files.more
		}
	}
	out.TookMS = time.Since(began).Milliseconds()
	return out, nil
}

// checking is the check of one file.
type checking struct {
	ctx   context.Context
	file  recordFile
	sent  map[string]event.Exchange // by call: what the facts say; filled by the first file
	named map[string]event.Seq      // by call: the facts that say that something crossed the wire; likewise
	kept  map[string]bool           // calls of which there is a capture; checkpoints
	begun event.Seq                 // see [database.begun]
	there bool                      // files.db is, if only its name
	depth int

	started map[string]bool      // calls that facts know; likewise
	changes map[string]event.Seq // by checkpoint: the facts that say that files changed; filled by the first file

	pictures map[string]event.Seq // by hash, of those that were not found: a fact that names one

	is       CheckedFile
	id       int64  // of the record; 0: none yet, or not known
	root     string // the workspace that last worked in it
	problems []Problem
	more     int
}

// add notes a problem.
func (c *checking) add(code, table string, row any, detail string, args ...any) {
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
	text := ""
	if row != nil {
		text = fmt.Sprint(row)
	}
	c.problems = append(c.problems, Problem{Code: code, File: c.file.name, Table: table, Row: text, Detail: fmt.Sprintf(detail, args...)})
}

// whole tells whether all rows could be read.
func (c *checking) whole() bool {
	return !slices.ContainsFunc(c.problems, func(p Problem) bool {
		return p.Code == ProblemFile || p.Code == ProblemNotOurs || p.Code == ProblemNewer || p.Code == ProblemStranger
	})
}

// phase runs a part of the check. Damage that ends it is a problem; the next part is tried all the same.
func (c *checking) phase(table string, f func() error) error {
	err := f()
	if err != nil && damaged(err) {
		c.add(ProblemFile, table, nil, "%v", cause(err))
		return nil
	}
	return err
}

func (c *checking) look(path string) error {
	err := look(c.ctx, path, func(d *database) error {
		c.is, c.id, c.problems, c.more = CheckedFile{Present: true}, 0, nil, 0 // for the second look
		clear(c.kept)
		clear(c.pictures)
		if err := d.still(c.ctx); err != nil {
			return err
		}
		return c.all(d)
	})
	if err != nil && damaged(err) {
		c.add(ProblemNotOurs, "", nil, "%v", cause(err))
		return nil
	}
	return err
}

func (c *checking) all(d *database) error {
	form, err := d.formOf(c.ctx, c.file.steps)
	switch {
	case err != nil && damaged(err):
		c.add(ProblemNotOurs, "", nil, "%v", cause(err))
		return nil
	case err != nil:
		return err
	case form.empty:
		c.is.Present = false
		return nil
	case form.newer != "":
		c.add(ProblemNewer, "migration", form.newer, "only a newer program knows this")
		return nil
	}
	c.is.Form, c.is.Older = form.last, len(form.missing) > 0
	if !form.foreign {
		if c.id, err = d.identity(c.ctx); err != nil {
			return err
		}
		if c.begun, err = d.begun(c.ctx); err != nil {
			return err
		}
	}
	if err := c.phase("", func() error { return c.sqlite(d) }); err != nil {
		return err
	}
	if form.foreign {
		c.add(ProblemNotOurs, "", nil, foreignText)
		return nil
	}
	if err := c.phase("migration", func() error { return c.steps(d, form.missing) }); err != nil {
		return err
	}
	if c.depth == checkSQLite {
		return nil
	}
	if c.file.name == factsFile {
		return c.factsFile(d)
	}
	return c.capturesFile(d)
}

// steps looks whether the file can be brought to its form.
func (c *checking) steps(d *database, missing []migration) error {
	err := d.rehearse(c.ctx, missing)
	if step, ok := errors.AsType[*stepError](err); ok {
		c.add(ProblemFile, "migration", step.step, "%v", step)
		return nil
	}
	return err
}

// sqlite asks SQLite for what it finds.
func (c *checking) sqlite(d *database) error {
	lines, err := d.texts(c.ctx, fmt.Sprintf(`PRAGMA main.integrity_check(%d)`, maxProblems))
	for _, line := range lines {
		if line != "ok" {
			c.add(ProblemFile, "", nil, "%s", line)
		}
	}
	if err != nil {
		return err
	}
	rows, err := d.conn.QueryContext(c.ctx, `SELECT "table", coalesce(rowid, ''), parent FROM pragma_foreign_key_check(NULL, 'main')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, row, parent string
		if err := rows.Scan(&table, &row, &parent); err != nil {
			return err
		}
		c.add(ProblemFile, table, row, "refers to a row of %s that is not there", parent)
	}
	return rows.Err()
}

func (c *checking) factsFile(d *database) error {
	if err := c.phase("fact", func() error { return c.facts(d) }); err != nil {
		return err
	}
	return c.phase("blob", func() error { return c.blobs(d) })
}

// facts reads every fact, and compares the projections.
func (c *checking) facts(d *database) error {
	s := &Store{pack: &packer{}}
	var fold *refold
	if c.depth == checkAll && !c.is.Older {
		if err := d.shadow(c.ctx); err != nil {
			return err
		}
		fold = newRefold(s, d)
	}
	p := &parents{node: map[event.Seq]string{}, from: map[string]string{}}
	next := event.Seq(1)
	err := eachFact(c.ctx, s, d, func(row *factRow, f event.Fact, err error) error {
		if row.seq != next {
			c.add(ProblemGap, "fact", row.seq, "the facts from %d to %d are missing", next, row.seq-1)
		}
		next = row.seq + 1
		c.is.Rows++
		if err == nil && row.data != nil {
			err = c.wellFormed(s, row)
		}
		if err != nil {
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			c.add(ProblemFact, "fact", row.seq, "%v", err)
			fold = nil // what follows from a fact that can't be read is not known
			return nil
		}
		if what := p.apply(f); what != "" {
			c.add(ProblemParent, "fact", row.seq, "%s", what)
		}
		switch e := f.Data.(type) {
		case event.CallCompleted:
			c.sent[f.Subject] = e.Exchange
		case event.CallFailed:
			c.sent[f.Subject] = e.Exchange
		case event.SessionStarted:
			c.root = e.Dir
		}
		if f.Kind == event.KindCallStarted {
			c.started[f.Subject] = true
		}
		if crossed(f) {
			c.named[f.Subject] = row.seq
		}
		if changed(f) {
			c.changes[f.Subject] = row.seq
		}
		for _, i := range event.Images(f.Data) {
			c.pictures[i.Hash] = row.seq
		}
		if fold == nil {
			return nil
		}
		if err := fold.apply(f); err != nil {
			c.add(ProblemFact, "fact", row.seq, "its projection: %v", err)
			fold = nil
		}
		return nil
	})
	if err != nil || fold == nil {
		return err
	}
	if err := fold.finish(); err != nil {
		return err
	}
	list, err := d.differences(c.ctx, maxProblems)
	for _, x := range list {
		c.add(ProblemProjection, x.table, x.row, "%s", x.what)
	}
	return err
}

// wellFormed checks what decoding lets pass.
func (c *checking) wellFormed(s *Store, row *factRow) error {
	data, err := s.pack.unpack(row.enc, row.data)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("its text is not UTF-8")
	}
	return err
}

// each gives rows of contents, some at a time.
func (d *database) each(ctx context.Context, query string, f func(id int64, hash []byte, size int64, enc int, data []byte)) error {
	for after, n := int64(-1<<62), 64; n == 64; {
		rows, err := d.conn.QueryContext(ctx, query, after)
		if err != nil {
			return err
		}
		n = 0
		for rows.Next() {
			var size int64
			var enc int
			var hash, data []byte
			if err := rows.Scan(&after, &hash, &size, &enc, &data); err != nil {
				rows.Close()
				return err
			}
			f(after, hash, size, enc, data)
			n++
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// content checks bytes that are kept under their hash.
func (c *checking) content(p *packer, table, code string, id int64, hash []byte, size int64, enc int, data []byte) {
	text, err := p.unpack(enc, data)
	sum := sha256.Sum256(text)
	switch {
	case err != nil:
		c.add(code, table, id, "can't be read: %v", err)
	case int64(len(text)) != size:
		c.add(code, table, id, "has %d bytes, not the %d that it was kept with", len(text), size)
	case !bytes.Equal(sum[:], hash):
		c.add(code, table, id, "its bytes are not those that were kept: their SHA-256 is another one")
	}
}
