package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/redact"
	"overt/internal/wire"
)

// MaxOutput is how many bytes are kept of one output; the rest is dropped, and the output is marked as capped.
const MaxOutput = 64 << 20

// What is wrong with the id of an output.
var (
	ErrNoOutput   = errors.New("no output of the task has this id")
	ErrOutputGone = errors.New("the output was kept once and has been pruned")
)

// Spool takes an output while it arrives, and keeps it in little memory: what fills a chunk goes into captures.db at once,
// under the name of the output. So a process that dies leaves the part that had come, which is read and pruned like any
// other; there is no temporary file that somebody would have to find. An output that never fills a chunk is kept only if
// [Spool.Keep] is called. A Spool belongs to one goroutine at a time.
type Spool struct {
	c        *Captures
	id, task string
	raw      bool

	mask   *redact.Stream
	took   int64  // bytes written that were not over the limit
	capped bool   // some were
	held   []byte // masked, and not kept yet
	size   int64  // bytes kept
	sum    hash.Hash
	parts  []int64
	body   int64 // 0: nothing is kept yet
	err    error // ended the keeping
}

// Spool begins the output of a tool call of a task. raw says that it comes as a command writes it, control characters and all.
func (c *Captures) Spool(task, call string, raw bool) *Spool {
	return &Spool{c: c, id: outputPrefix + strings.TrimPrefix(call, "tcl_"), task: task, raw: raw, mask: c.mask.Stream(), sum: sha256.New()}
}

// outputPrefix begins the id of an output, which is otherwise that of its call.
const outputPrefix = "out_"

// Write implements [io.Writer]. It never fails; [Spool.Keep] says what went wrong.
func (s *Spool) Write(p []byte) (int, error) {
	n := len(p)
	if room := MaxOutput - s.took; int64(n) > room {
		p, s.capped = p[:room], true
	}
	s.took += int64(len(p))
	if s.err == nil && len(p) > 0 {
		s.add(s.mask.Write(string(p)))
	}
	return n, nil
}

// Keep ends the output, keeps what is not kept yet, and names it. After an error the output is not whole, and what is
// kept of it goes when it is pruned.
func (s *Spool) Keep() (event.Output, error) {
	if s.err == nil {
		s.add(s.mask.Flush())
	}
	if s.err == nil {
		s.err = s.put(s.held)
	}
	if s.err != nil {
		return event.Output{}, fmt.Errorf("keep the output %s: %w", s.id, s.err)
	}
	return event.Output{ID: s.id, Bytes: s.size, Capped: s.capped}, nil
}

// add takes masked text, and keeps the chunks that it fills.
func (s *Spool) add(text string) {
	s.held = append(s.held, text...)
	rest := s.held
	for len(rest) >= chunkBytes && s.err == nil {
		s.err = s.put(rest[:chunkBytes])
		rest = rest[chunkBytes:]
	}
	s.held = append(s.held[:0], rest...)
}

// put keeps a piece, and the list of all pieces so far.
func (s *Spool) put(piece []byte) error {
	return s.c.db.do(context.Background(), false, func() error {
		part, err := s.c.putPart("", piece)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, part)
		s.sum.Write(piece) // never fails
		s.size += int64(len(piece))
		kept := wire.Kept{Bytes: s.size, SHA256: [32]byte(s.sum.Sum(nil)), Masked: s.mask.Masked()}
		if s.body != 0 {
			enc, list := s.c.pack.pack(appendRuns(nil, s.parts))
			if err := s.c.db.exec(`UPDATE body SET bytes = ?, sha256 = ?, masked = ?, enc = ?, parts = ? WHERE id = ?`,
				kept.Bytes, kept.SHA256[:], kept.Masked, enc, list, s.body); err != nil {
				return err
			}
			return s.c.db.exec(`UPDATE output SET capped = ? WHERE id = ?`, s.capped, s.id)
		}
		if s.body, err = s.c.putBody(kept, s.parts); err != nil {
			return err
		}
		return s.c.db.exec(`INSERT INTO output (id, task, body, raw, capped, time) VALUES (?, ?, ?, ?, ?, ?)`,
			s.id, s.task, s.body, s.raw, s.capped, s.c.now().UnixMilli())
	})
}

// Output is a kept output.
type Output struct {
	event.Output
	Raw   bool // as a command wrote it, secrets masked
	c     *Captures
	parts []run
}

// Output finds an output of a task, or of one that its thread began in. The errors for one that can't be had are [ErrNoOutput] and [ErrOutputGone].
func (s *Store) Output(ctx context.Context, task, id string) (*Output, error) {
	c := s.captures
	o := &Output{c: c}
	var enc int
	var list []byte
	tasks, err := s.lineage(ctx, task)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", id, err)
	}
	among, err := json.Marshal(tasks)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", id, err)
	}
	err = c.db.read.QueryRowContext(ctx, `SELECT o.id, o.raw, o.capped, b.bytes, b.enc, b.parts FROM output o JOIN body b ON b.id = o.body
		WHERE o.id = ? AND o.task IN (SELECT value FROM json_each(?))`, id, string(among)).Scan(&o.ID, &o.Raw, &o.Capped, &o.Bytes, &enc, &list)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, s.missing(ctx, tasks, id)
	}
	if err == nil {
		o.parts, err = c.runs(enc, list)
	}
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", id, c.db.explain(err))
	}
	return o, nil
}

// lineage gives a task and those that its thread began in, the nearest first.
func (s *Store) lineage(ctx context.Context, task string) ([]string, error) {
	before, err := collect(ctx, s.facts, `WITH RECURSIVE l (id, n) AS (SELECT id, 0 FROM name WHERE text = ?
		UNION ALL SELECT f.task, l.n + 1 FROM l JOIN task t ON t.id = l.id JOIN fact f ON f.seq = t.forked)
		SELECT n.text FROM l JOIN name n ON n.id = l.id WHERE l.n > 0 ORDER BY l.n`, []any{task},
		func(rows *sql.Rows) (id string, err error) {
			err = rows.Scan(&id)
			return id, err
		})
	return append([]string{task}, before...), err
}

// missing tells an output that was pruned from one that never was.
func (s *Store) missing(ctx context.Context, tasks []string, id string) error {
	rest, ok := strings.CutPrefix(id, outputPrefix)
	if !ok {
		return ErrNoOutput
	}
	letters, _, _ := strings.Cut(rest, "-")
	for _, task := range tasks {
		for f, err := range s.Facts(ctx, task, "run_"+letters) {
			if err != nil {
				return err
			}
			if done, ok := f.Data.(event.ToolCompleted); ok && done.Output != nil && done.Output.ID == id {
				return ErrOutputGone
			}
		}
	}
	return ErrNoOutput
}

// Open reads the output from its beginning, chunk by chunk. Reading fails where the output is pruned meanwhile.
func (o *Output) Open(ctx context.Context) io.Reader {
	return &outputReader{ctx: ctx, c: o.c, parts: slices.Clone(o.parts)}
}

type outputReader struct {
	ctx   context.Context
	c     *Captures
	parts []run
	chunk []byte
}

// Read implements [io.Reader].
func (r *outputReader) Read(p []byte) (int, error) {
	for len(r.chunk) == 0 {
		if len(r.parts) == 0 {
			return 0, io.EOF
		}
		next := &r.parts[0]
		got, err := r.c.parts(r.ctx, []run{{next.first, 1}})
		if err != nil {
			return 0, r.c.db.explain(err)
		}
		r.chunk = got[0].Bytes
		next.first++
		if next.n--; next.n == 0 {
			r.parts = r.parts[1:]
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}
