package store

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"

	"overt/internal/event"
)

// keptBody is a body that was found whole.
type keptBody struct {
	bytes int64
	sum   string
	mask  int
}

func (c *checking) capturesFile(d *database) error {
	pack := &packer{}
	err := c.phase("chunk", func() error {
		return d.each(c.ctx, `SELECT id, hash, bytes, enc, data FROM main.chunk WHERE id > ? ORDER BY id LIMIT 64`, func(id int64, hash []byte, size int64, enc int, data []byte) {
			c.content(pack, "chunk", ProblemBytes, id, hash, size, enc, data)
		})
	})
	if err != nil {
		return err
	}
	b := &bodies{c: c, d: d, pack: pack, whole: map[int64]keptBody{}}
	if err := c.phase("body", b.all); err != nil {
		return err
	}
	if err := c.phase("capture", b.captures); err != nil {
		return err
	}
	return c.phase("output", func() error {
		if c.is.Older {
			if ok, err := d.one(c.ctx, `SELECT count(*) FROM main.sqlite_schema WHERE name = 'output'`); err != nil || ok == 0 {
				return err
			}
		}
		n, err := d.one(c.ctx, `SELECT count(*) FROM main.output`)
		c.is.Rows += n
		return err
	})
}

// bodies checks bodies against their hashes. Requests of a lane repeat each other's beginning; what was hashed of the one
// before is not read and hashed again.
type bodies struct {
	c     *checking
	d     *database
	pack  *packer
	whole map[int64]keptBody

	ids  []int64 // of the last long body
	sums []hash.Cloner
	size []int64
}

// all checks every body: requests in the order of their lanes, then the others.
func (b *bodies) all() error {
	ids, err := b.numbers(`SELECT b.id FROM main.body b LEFT JOIN (SELECT request, min(lane) AS lane FROM main.capture GROUP BY request) c
		ON c.request = b.id ORDER BY c.lane IS NULL, c.lane, b.id`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.body(id); err != nil {
			return err
		}
	}
	return nil
}

func (b *bodies) numbers(query string) (out []int64, err error) {
	rows, err := b.d.conn.QueryContext(b.c.ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return out, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func (b *bodies) body(id int64) error {
	var size int64
	var masked, enc int
	var sum, list []byte
	row := b.d.conn.QueryRowContext(b.c.ctx, `SELECT bytes, sha256, masked, enc, parts FROM main.body WHERE id = ?`, id)
	if err := row.Scan(&size, &sum, &masked, &enc, &list); err != nil {
		return err
	}
	list, err := b.pack.unpack(enc, list)
	var runs []run
	if err == nil {
		runs, err = readRuns(list)
	}
	if err != nil {
		b.c.add(ProblemBytes, "body", id, "%v", err)
		return nil
	}
	got, n, err := b.hash(idsOf(runs))
	switch {
	case code(err) != 0 || b.c.ctx.Err() != nil:
		return err
	case err != nil:
		b.c.add(ProblemBytes, "body", id, "%v", err)
	case n != size:
		b.c.add(ProblemBytes, "body", id, "has %d bytes, not the %d that were kept", n, size)
	case !bytes.Equal(got, sum):
		b.c.add(ProblemBytes, "body", id, "its bytes are not those that were kept: their SHA-256 is another one")
	default:
		b.whole[id] = keptBody{size, hex.EncodeToString(sum), masked}
	}
	return nil
}

// hash gives the SHA-256 and the length of a list of parts.
func (b *bodies) hash(ids []int64) ([]byte, int64, error) {
	same := 0
	for same < len(ids) && same < len(b.ids) && ids[same] == b.ids[same] {
		same++
	}
	b.ids, b.sums, b.size = b.ids[:same], b.sums[:same], b.size[:same]
	for _, id := range ids[same:] {
		var sum hash.Hash = sha256.New()
		var size int64
		if n := len(b.sums); n > 0 {
			clone, err := b.sums[n-1].Clone()
			if err != nil {
				return nil, 0, err
			}
			sum, size = clone, b.size[n-1]
		}
		data, err := b.part(id)
		if err != nil {
			return nil, 0, err
		}
		sum.Write(data) // never fails
		cloner, ok := sum.(hash.Cloner)
		if !ok {
			return nil, 0, errors.New("SHA-256 can't be cloned")
		}
		b.ids, b.sums, b.size = append(b.ids, id), append(b.sums, cloner), append(b.size, size+int64(len(data)))
	}
	if len(ids) == 0 {
		sum := sha256.Sum256(nil)
		return sum[:], 0, nil
	}
	return b.sums[len(ids)-1].Sum(nil), b.size[len(ids)-1], nil
}

// part reads the bytes of a part.
func (b *bodies) part(id int64) ([]byte, error) {
	st, err := b.d.prepared(`SELECT c.enc, c.data FROM main.part p JOIN main.chunk c ON c.id = p.chunk WHERE p.id = ?`)
	if err != nil {
		return nil, err
	}
	var enc int
	var data []byte
	err = st.QueryRowContext(b.c.ctx, id).Scan(&enc, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("its part %d is missing", id)
	}
	if err != nil {
		return nil, err
	}
	return b.pack.unpack(enc, data)
}

// captureRow is what the check reads of a capture.
type captureRow struct {
	id                            int64
	call                          string
	url, requestHeader, request   int64
	responseHeader, response, end sql.NullInt64
	timing                        []byte
}

func (b *bodies) captures() error {
	for after, n := int64(-1<<62), pageSize; n == pageSize; {
		list, err := b.page(after)
		if err != nil {
			return err
		}
		for i := range list {
			if err := b.capture(&list[i]); err != nil {
				return err
			}
			after = list[i].id
		}
		n = len(list)
	}
	return nil
}

func (b *bodies) page(after int64) (out []captureRow, err error) {
	rows, err := b.d.conn.QueryContext(b.c.ctx, `SELECT id, call, url, request_headers, request, response_headers, response, ended, timing
		FROM main.capture WHERE id > ? ORDER BY id LIMIT ?`, after, pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r captureRow
		if err := rows.Scan(&r.id, &r.call, &r.url, &r.requestHeader, &r.request, &r.responseHeader, &r.response, &r.end, &r.timing); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func (b *bodies) capture(r *captureRow) error {
	b.c.is.Rows++
	b.c.kept[r.call] = true
	parts := []struct {
		what string
		id   sql.NullInt64
		json bool
	}{{"address", sql.NullInt64{Int64: r.url, Valid: true}, false}, {"request headers", sql.NullInt64{Int64: r.requestHeader, Valid: true}, true}, {"response headers", r.responseHeader, true}}
	for _, p := range parts {
		if !p.id.Valid {
			continue
		}
		data, err := b.part(p.id.Int64)
		if code(err) != 0 || b.c.ctx.Err() != nil {
			return err
		}
		var h http.Header
		if err == nil && p.json {
			err = json.Unmarshal(data, &h)
		}
		if err != nil {
			b.c.add(ProblemBytes, "capture", r.call, "its %s: %v", p.what, err)
		}
	}
	response, whole := b.whole[r.response.Int64]
	if r.response.Valid && whole {
		if err := b.times(r.timing, response); err != nil {
			b.c.add(ProblemBytes, "capture", r.call, "the times of its response: %v", err)
		}
	}
	if fact, ok := b.c.sent[r.call]; ok {
		b.compare(r.call, "response", fact.Response, response, r.response.Valid && whole)
		request, whole := b.whole[r.request]
		b.compare(r.call, "request", fact.Request, request, whole)
	}
	return nil
}

// times checks that the times of a response are of all its bytes.
func (b *bodies) times(timing []byte, body keptBody) error {
	if len(timing) == 0 {
		return errTiming
	}
	data, err := b.pack.unpack(int(timing[0]), timing[1:])
	if err != nil {
		return err
	}
	chunks, err := readTiming(data)
	if err != nil || body.mask > 0 || len(chunks) == 0 {
		return err
	}
	n := int64(0)
	for _, c := range chunks {
		n += int64(c.Bytes)
	}
	if n != body.bytes {
		return fmt.Errorf("they are of %d bytes, it has %d", n, body.bytes)
	}
	return nil
}

// compare checks a body that was found whole against the fact of its call.
func (b *bodies) compare(call, what string, fact event.Body, kept keptBody, whole bool) {
	if whole && fact.SHA256 != "" && fact.SHA256 != kept.sum {
		b.c.add(ProblemExchange, "capture", call, "its %s is not the one that the record names", what)
	}
}
