package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"overt/internal/redact"
	"overt/internal/wire"
)

// Captures keeps what crossed the wire: each request as parts, and each response with the times at which it
// came. It is a [wire.Sink].
//
// Equal bytes are kept once. Requests of a lane usually begin with the parts of the one before, in the same memory; such
// parts are neither read nor hashed again, so a request costs what is new in it. Known secrets are masked in what is
// kept and counted; credential headers are left out.
type Captures struct {
	db   *database
	mask *redact.Masker
	pack *packer
	now  func() time.Time

	mu    sync.Mutex // held through Sent
	lanes []*lane    // the last used last
}

const (
	laneCount  = 4        // lanes whose last request is remembered
	chunkBytes = 64 << 10 // largest piece of a response
)

// lane is the last request of a lane. The parts are as the caller gave them: they keep its memory alive. What is known of
// each part stands in columns, since all of a long request is walked for each one that follows it.
type lane struct {
	name    string
	epoch   int // of the masker
	capture int64
	call    string
	parts   []wire.Part
	ids     []int64
	sizes   []int64       // of the body as kept, up to and with each part
	masked  []int         // secrets in it, likewise
	sums    []hash.Cloner // of it, likewise, for the last parts: there the next request begins to differ
}

// keptSums is for how many of the last parts the hash is kept. Each takes 200 bytes.
const keptSums = 8

// cut forgets all parts from n on, or all of them if the hash of what is left is not known.
func (l *lane) cut(n int) {
	if gone := len(l.parts) - n; gone < len(l.sums) {
		l.sums = l.sums[:len(l.sums)-gone]
	} else {
		n, l.sums = 0, nil
	}
	clear(l.parts[n:])
	l.parts, l.ids, l.sizes, l.masked = l.parts[:n], l.ids[:n], l.sizes[:n], l.masked[:n]
}

// Sent implements [wire.Sink].
func (c *Captures) Sent(ctx context.Context, s wire.Sent) (wire.Kept, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lane(s.Lane)
	var kept wire.Kept
	err := c.db.do(ctx, false, func() (err error) {
		kept, err = c.sent(l, s)
		return err
	})
	if err != nil {
		l.cut(0) // what it holds may have been rolled back
		return wire.Kept{}, fmt.Errorf("keep the request of %s: %w", s.ID, err)
	}
	return kept, nil
}

// lane finds or begins what is remembered of a lane.
func (c *Captures) lane(name string) *lane {
	i := slices.IndexFunc(c.lanes, func(l *lane) bool { return l.name == name })
	var l *lane
	if i >= 0 {
		l = c.lanes[i]
		c.lanes = slices.Delete(c.lanes, i, i+1)
	} else {
		l = &lane{name: name}
		if len(c.lanes) == laneCount {
			c.lanes = slices.Delete(c.lanes, 0, 1)
		}
	}
	c.lanes = append(c.lanes, l)
	return l
}

// sent writes a request. It changes l, which is of no use after an error.
func (c *Captures) sent(l *lane, s wire.Sent) (wire.Kept, error) {
	before, err := c.remember(l)
	if err != nil {
		return wire.Kept{}, err
	}
	l.cut(l.same(s.Body))
	shared := len(l.parts)
	before = slices.Clone(before[shared:]) // what follows is written over it
	for _, p := range s.Body[shared:] {
		if err := c.add(l, p); err != nil {
			return wire.Kept{}, err
		}
	}
	for shared < len(l.ids) && len(before) > 0 && l.ids[shared] == before[0] {
		shared, before = shared+1, before[1:]
	}
	kept := l.kept()
	body, err := c.putBody(kept, l.ids)
	if err != nil {
		return wire.Kept{}, err
	}
	url, err := c.putPart("", []byte(c.mask.URL(s.URL)))
	if err != nil {
		return wire.Kept{}, err
	}
	header, err := c.putHeader(s.Header)
	if err != nil {
		return wire.Kept{}, err
	}
	var prev any
	if l.capture != 0 {
		prev = l.capture
	}
	var sharedBytes int64
	if shared > 0 {
		sharedBytes = l.sizes[shared-1]
	}
	l.call = s.ID
	l.capture, err = c.db.insert(`INSERT INTO capture (call, lane, prev, shared, shared_bytes, method, url, request_headers, request, sent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, s.ID, s.Lane, prev, shared, sharedBytes, s.Method, url, header, body, s.At.UnixMilli())
	return kept, err
}

// remember brings l up to date and gives the part ids of the lane's last request. What l knows is of no use once another
// request went out on the lane, the request is gone, or more secrets are known; the ids are then read.
func (c *Captures) remember(l *lane) ([]int64, error) {
	var capture, body int64
	var call string
	found, err := c.db.get(`SELECT id, call, request FROM capture WHERE lane = ? ORDER BY id DESC LIMIT 1`,
		[]any{l.name}, &capture, &call, &body)
	if err != nil {
		return nil, err
	}
	if !found {
		capture, call = 0, ""
	}
	if len(l.parts) > 0 && capture == l.capture && call == l.call && l.epoch == c.mask.Epoch() {
		return l.ids, nil
	}
	l.cut(0)
	l.epoch = c.mask.Epoch()
	l.capture, l.call = capture, call
	var enc int
	var list []byte
	if _, err := c.db.get(`SELECT enc, parts FROM body WHERE id = ?`, []any{body}, &enc, &list); err != nil {
		return nil, err
	}
	runs, err := c.runs(enc, list)
	return idsOf(runs), err
}

// same is the number of leading parts that are those of the last request, in the same memory.
func (l *lane) same(body []wire.Part) int {
	n := 0
	for n < min(len(body), len(l.parts)) && samePart(&body[n], &l.parts[n]) {
		n++
	}
	return n
}

func samePart(a, b *wire.Part) bool {
	return a.Owner == b.Owner && len(a.Bytes) == len(b.Bytes) && (len(a.Bytes) == 0 || &a.Bytes[0] == &b.Bytes[0])
}

// add puts a part at the end of l.
func (c *Captures) add(l *lane, p wire.Part) error {
	var sum hash.Hash = sha256.New()
	var size int64
	var masked int
	if n := len(l.parts); n > 0 {
		clone, err := l.sums[len(l.sums)-1].Clone()
		if err != nil {
			return err
		}
		sum, size, masked = clone, l.sizes[n-1], l.masked[n-1]
	}
	data, found := c.mask.Bytes(p.Bytes)
	sum.Write(data) // never fails
	cloner, ok := sum.(hash.Cloner)
	if !ok {
		return errors.New("SHA-256 can't be cloned") // hash.Cloner is promised for all of the standard library
	}
	id, err := c.putPart(p.Owner, data)
	if err != nil {
		return err
	}
	if len(l.sums) == keptSums {
		l.sums = slices.Delete(l.sums, 0, 1)
	}
	l.parts, l.ids, l.sums = append(l.parts, p), append(l.ids, id), append(l.sums, cloner)
	l.sizes, l.masked = append(l.sizes, size+int64(len(data))), append(l.masked, masked+found)
	return nil
}

// kept describes the whole body.
func (l *lane) kept() wire.Kept {
	if len(l.parts) == 0 {
		return wire.Kept{SHA256: sha256.Sum256(nil)}
	}
	last := len(l.parts) - 1
	sum := l.sums[len(l.sums)-1].Sum(nil)
	return wire.Kept{Bytes: l.sizes[last], SHA256: [32]byte(sum), Masked: l.masked[last]}
}

// Received implements [wire.Sink]. A secret that spans chunks is masked too; then the chunks' lengths no longer add up to
// the body's, which a Masked above 0 says.
func (c *Captures) Received(ctx context.Context, r wire.Received) (wire.Kept, error) {
	body, masked := c.mask.Bytes(r.Body)
	kept := wire.Kept{Bytes: int64(len(body)), SHA256: sha256.Sum256(body), Masked: masked}
	err := c.db.do(ctx, false, func() error {
		var id int64
		var ended sql.NullInt64
		found, err := c.db.get(`SELECT id, ended FROM capture WHERE call = ?`, []any{r.ID}, &id, &ended)
		switch {
		case err != nil:
			return err
		case !found:
			return errors.New("no such request was kept")
		case ended.Valid:
			return errors.New("its response was kept before")
		}
		return c.received(id, r, kept, body)
	})
	if err != nil {
		return wire.Kept{}, fmt.Errorf("keep the response of %s: %w", r.ID, err)
	}
	return kept, nil
}

func (c *Captures) received(id int64, r wire.Received, kept wire.Kept, body []byte) error {
	var status, header, response, timing, failure any
	if r.Status != 0 || len(body) > 0 {
		ids, err := c.putChunks(body)
		if err != nil {
			return err
		}
		if response, err = c.putBody(kept, ids); err != nil {
			return err
		}
		enc, data := c.pack.pack(appendTiming(nil, r.Chunks))
		timing = append([]byte{byte(enc)}, data...)
	}
	if r.Status != 0 {
		var err error
		if header, err = c.putHeader(r.Header); err != nil {
			return err
		}
		status = r.Status
	}
	if r.Err != nil {
		failure = c.mask.String(r.Err.Error())
	}
	return c.db.exec(`UPDATE capture SET status = ?, response_headers = ?, response = ?, timing = ?, ended = ?, error = ? WHERE id = ?`,
		status, header, response, timing, r.At.UnixMilli(), failure, id)
}

// putChunks keeps a body that came in one piece.
func (c *Captures) putChunks(body []byte) ([]int64, error) {
	var ids []int64
	for piece := range slices.Chunk(body, chunkBytes) {
		id, err := c.putPart("", piece)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (c *Captures) putBody(k wire.Kept, ids []int64) (int64, error) {
	enc, list := c.pack.pack(appendRuns(nil, ids))
	return c.db.insert(`INSERT INTO body (bytes, sha256, masked, enc, parts) VALUES (?, ?, ?, ?, ?)`,
		k.Bytes, k.SHA256[:], k.Masked, enc, list)
}

// putHeader keeps headers as JSON, without those that carry credentials, and addresses as those of requests are kept.
func (c *Captures) putHeader(h http.Header) (int64, error) {
	kept := make(http.Header, len(h))
	for name, values := range h {
		switch {
		case redact.CredentialHeader(name):
		case name == "Location" || name == "Content-Location":
			for _, v := range values {
				v, _, _ = strings.Cut(v, "#") // some servers put a token there
				kept.Add(name, c.mask.URL(v))
			}
		default:
			kept[name] = values
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(kept); err != nil {
		return 0, err
	}
	data, _ := c.mask.Bytes(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return c.putPart("", data)
}

// putPart keeps bytes for an owner, once.
func (c *Captures) putPart(owner string, data []byte) (int64, error) {
	hash := sha256.Sum256(data)
	var chunk, id int64
	found, err := c.db.get(`SELECT id FROM chunk WHERE substr(hash, 1, 16) = ?`, []any{hash[:16]}, &chunk)
	if err != nil {
		return 0, err
	}
	if found {
		found, err = c.db.get(`SELECT id FROM part WHERE chunk = ? AND owner = ?`, []any{chunk, owner}, &id)
		if err != nil || found {
			return id, err
		}
	} else {
		enc, packed := c.pack.pack(data)
		chunk, err = c.db.insert(`INSERT INTO chunk (hash, bytes, enc, data) VALUES (?, ?, ?, ?)`, hash[:], len(data), enc, packed)
		if err != nil {
			return 0, err
		}
	}
	return c.db.insert(`INSERT INTO part (owner, chunk) VALUES (?, ?)`, owner, chunk)
}
