package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"overt/internal/wire"
)

// ErrNoCapture is what is wrong when nothing was kept under an id, or it was pruned.
var ErrNoCapture = errors.New("nothing is kept of it")

// Capture is one exchange as it was kept.
type Capture struct {
	Call, Lane, Method string
	URL                string // without credentials
	Sent               time.Time
	RequestHeader      http.Header // without credentials
	Request            Body
	Prev               string // the call before on the lane; "": none, or pruned
	Shared             int    // leading parts of Request that Prev's began with too
	SharedBytes        int64

	Status         *int // nil: no response came
	ResponseHeader http.Header
	Response       *Body        // nil: nothing came
	Chunks         []wire.Chunk // lengths and times as received; the lengths add up to Response.Bytes unless it is masked
	Ended          *time.Time   // nil: the exchange is under way, or its process died
	Error          *string      // why it ended early
}

// Body is a body as it was kept. Masked counts the secrets that were replaced in it: not 0, and it is not what crossed
// the wire.
type Body struct {
	Bytes  int64
	SHA256 [32]byte
	Masked int
	Parts  []wire.Part // of a response: pieces without an owner
}

// Join gives the whole body.
func (b *Body) Join() []byte {
	out := make([]byte, 0, b.Bytes)
	for _, p := range b.Parts {
		out = append(out, p.Bytes...)
	}
	return out
}

// Capture gives the exchange of a call, or [ErrNoCapture].
func (c *Captures) Capture(ctx context.Context, call string) (*Capture, error) {
	out := &Capture{Call: call}
	var sent int64
	var url, header, request int64
	var ended, responseHeader, response sql.NullInt64
	var timing []byte
	err := c.db.read.QueryRowContext(ctx, `SELECT c.lane, c.method, c.url, c.sent, c.request_headers, c.request, coalesce(p.call, ''), c.shared, c.shared_bytes,
		c.status, c.response_headers, c.response, c.timing, c.ended, c.error
		FROM capture c LEFT JOIN capture p ON p.id = c.prev WHERE c.call = ?`, call).
		Scan(&out.Lane, &out.Method, &url, &sent, &header, &request, &out.Prev, &out.Shared, &out.SharedBytes,
			&out.Status, &responseHeader, &response, &timing, &ended, &out.Error)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("call %s: %w", call, ErrNoCapture)
	}
	if err == nil {
		out.Sent = time.UnixMilli(sent).UTC()
		if ended.Valid {
			t := time.UnixMilli(ended.Int64).UTC()
			out.Ended = &t
		}
		err = c.fill(ctx, out, url, header, request, responseHeader, response, timing)
	}
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", call, c.db.explain(err))
	}
	return out, nil
}

// fill reads what a capture's row refers to.
func (c *Captures) fill(ctx context.Context, out *Capture, url, header, request int64, responseHeader, response sql.NullInt64, timing []byte) error {
	parts, err := c.parts(ctx, []run{{url, 1}})
	if err != nil {
		return err
	}
	out.URL = string(parts[0].Bytes)
	if out.RequestHeader, err = c.header(ctx, header); err != nil {
		return err
	}
	b, err := c.body(ctx, request)
	if err != nil {
		return err
	}
	out.Request = *b
	if responseHeader.Valid {
		if out.ResponseHeader, err = c.header(ctx, responseHeader.Int64); err != nil {
			return err
		}
	}
	if !response.Valid {
		return nil
	}
	if out.Response, err = c.body(ctx, response.Int64); err != nil {
		return err
	}
	if len(timing) == 0 {
		return errTiming
	}
	times, err := c.pack.unpack(int(timing[0]), timing[1:])
	if err != nil {
		return err
	}
	out.Chunks, err = readTiming(times)
	return err
}

func (c *Captures) header(ctx context.Context, part int64) (http.Header, error) {
	parts, err := c.parts(ctx, []run{{part, 1}})
	if err != nil {
		return nil, err
	}
	var h http.Header
	err = json.Unmarshal(parts[0].Bytes, &h)
	return h, err
}

func (c *Captures) body(ctx context.Context, id int64) (*Body, error) {
	b := &Body{}
	var sum, list []byte
	var enc int
	err := c.db.read.QueryRowContext(ctx, `SELECT bytes, sha256, masked, enc, parts FROM body WHERE id = ?`, id).
		Scan(&b.Bytes, &sum, &b.Masked, &enc, &list)
	if err != nil {
		return nil, fmt.Errorf("body %d: %w", id, err)
	}
	copy(b.SHA256[:], sum)
	runs, err := c.runs(enc, list)
	if err == nil {
		b.Parts, err = c.parts(ctx, runs)
	}
	return b, err
}

// runs reads a part list.
func (c *Captures) runs(enc int, list []byte) ([]run, error) {
	list, err := c.pack.unpack(enc, list)
	if err != nil {
		return nil, err
	}
	return readRuns(list)
}

// parts reads parts in the order of a list.
func (c *Captures) parts(ctx context.Context, runs []run) ([]wire.Part, error) {
	var out []wire.Part
	for _, r := range runs {
		rows, err := c.db.read.QueryContext(ctx, `SELECT p.owner, c.enc, c.data FROM part p JOIN chunk c ON c.id = p.chunk
			WHERE p.id BETWEEN ? AND ? ORDER BY p.id`, r.first, r.first+r.n-1)
		if err != nil {
			return nil, err
		}
		got, err := c.scanParts(rows)
		if err != nil {
			return nil, err
		}
		if int64(len(got)) != r.n {
			return nil, fmt.Errorf("%d of the parts %d to %d are missing", r.n-int64(len(got)), r.first, r.first+r.n-1)
		}
		out = append(out, got...)
	}
	return out, nil
}

func (c *Captures) scanParts(rows *sql.Rows) ([]wire.Part, error) {
	defer rows.Close()
	var out []wire.Part
	for rows.Next() {
		var p wire.Part
		var enc int
		var data []byte
		if err := rows.Scan(&p.Owner, &enc, &data); err != nil {
			return nil, err
		}
		var err error
		if p.Bytes, err = c.pack.unpack(enc, data); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
