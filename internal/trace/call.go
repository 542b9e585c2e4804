package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"overt/internal/event"
	"overt/internal/store"
)

// Call is a call to a model as front ends see it. Null is unknown. Byte counts are of what was captured.
type Call struct {
	ID            string  `json:"call"`
	Turn          string  `json:"turn"`
	Run           string  `json:"run"`
	Step          int     `json:"step"`
	Attempt       int     `json:"attempt"`
	Purpose       string  `json:"purpose"`
	Provider      string  `json:"provider"`
	Model         string  `json:"model"`
	Status        string  `json:"status"`
	HTTPStatus    *int    `json:"http_status"`
	RequestBytes  *int64  `json:"request_bytes"`
	ResponseBytes *int64  `json:"response_bytes"`
	SharedBytes   *int64  `json:"shared_bytes"` // leading bytes of the request that the call before had sent too
	Masked        *int    `json:"masked"`       // secrets replaced in the stored bodies; not 0: they are not exact
	Usage         *Usage  `json:"usage"`
	Cost          *Cost   `json:"cost"`
	FirstByteMS   *int64  `json:"first_byte_ms"`
	DurationMS    *int64  `json:"duration_ms"`
	Error         *string `json:"error"`
}

// Usage is what a call, or a run, reported, in disjoint buckets (reasoning is part of output). Null is not reported.
type Usage struct {
	Fresh      *int64 `json:"fresh"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Output     *int64 `json:"output"`
	Reasoning  *int64 `json:"reasoning"`
	Coverage   string `json:"coverage"`
}

// Input is all that went in: fresh, read from the cache and written to it. Nil: not reported.
func (u *Usage) Input() *int64 {
	if u.Fresh == nil {
		return nil
	}
	n := *u.Fresh
	for _, x := range []*int64{u.CacheRead, u.CacheWrite} {
		if x != nil {
			n += *x
		}
	}
	return &n
}

// NewUsage gives the public form of usage figures.
func NewUsage(u event.Usage) *Usage {
	return &Usage{u.Fresh, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Coverage}
}

// Calls lists the calls of a task in order, every attempt. A capture that is missing leaves its figures unknown.
func (r *Reader) Calls(ctx context.Context, task string) ([]Call, error) {
	var rows []store.Call
	dead, err := r.dead(func() (open []string, err error) {
		rows, err = r.s.Calls(ctx, task)
		for _, x := range rows {
			if x.Status == store.CallRunning {
				open = append(open, x.ID)
			}
		}
		return open, err
	})
	if err != nil {
		return nil, err
	}
	failed, turns, err := r.ends(ctx, task)
	if err != nil {
		return nil, err
	}
	out := make([]Call, 0, len(rows))
	for _, x := range rows {
		if dead[x.ID] {
			x.Status = store.RunInterrupted
		}
		c := Call{
			ID: x.ID, Turn: turns[x.Run], Run: x.Run, Step: x.Step, Attempt: x.Attempt, Purpose: x.Purpose, Provider: x.Provider, Model: x.Model,
			Status: x.Status, HTTPStatus: x.HTTP, FirstByteMS: x.FirstByteMS, DurationMS: x.DurationMS,
		}
		if x.Usage.Coverage != "" {
			c.Usage = NewUsage(x.Usage)
		}
		c.Cost = NewCost(x.Cost)
		if f, ok := failed[x.ID]; ok {
			text := f.Class + ": " + f.Message
			c.Error = &text
		}
		sizes, err := r.s.Captures().Sizes(ctx, x.ID)
		switch {
		case err == nil:
			c.RequestBytes, c.SharedBytes, c.ResponseBytes, c.Masked = &sizes.Request, &sizes.Shared, sizes.Response, &sizes.Masked
		case !errors.Is(err, store.ErrNoCapture):
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// ends collects how calls failed, and the turns of runs.
func (r *Reader) ends(ctx context.Context, task string) (map[string]event.CallFailed, map[string]string, error) {
	failed, turns := map[string]event.CallFailed{}, map[string]string{}
	for f, err := range r.s.Read(ctx, event.Path{Task: task, Facts: true}) {
		if err != nil {
			return nil, nil, err
		}
		turns[f.Scope.Run] = f.Scope.Turn
		if p, ok := f.Data.(event.CallFailed); ok {
			failed[f.Subject] = p
		}
	}
	return failed, turns, nil
}

// NoCallError says that a task has no such call.
type NoCallError struct {
	Ref   string
	Calls int
}

// Error implements error.
func (e *NoCallError) Error() string { return fmt.Sprintf("no call %s among %d", e.Ref, e.Calls) }

// FindCall gives the call that a person means: its position from 1 over all attempts, or its id.
func FindCall(calls []Call, ref string) (Call, error) {
	if n, err := strconv.Atoi(ref); err == nil && n >= 1 && n <= len(calls) {
		return calls[n-1], nil
	}
	for _, c := range calls {
		if c.ID == ref {
			return c, nil
		}
	}
	return Call{}, &NoCallError{ref, len(calls)}
}

// ErrNoCapture says that nothing is kept of a call: it was pruned, or nothing was sent.
var ErrNoCapture = store.ErrNoCapture

// ErrCaptureLost says that what was kept of a call went with the captures.db that held it. It is an [ErrNoCapture].
var ErrCaptureLost = fmt.Errorf("captures.db is lost: %w", ErrNoCapture)

// Exchange is what was captured of a call. Headers are without credentials. Null and nil are unknown.
type Exchange struct {
	Method, URL                   string
	RequestHeader, ResponseHeader http.Header
	Status                        *int
	Request, Response             []byte // as stored; Response is nil if nothing came
	Shared                        int64  // leading bytes of Request that the call before had sent too
}

// Exchange gives the capture of a call. Without one the error is [ErrNoCapture], or [ErrCaptureLost].
func (r *Reader) Exchange(ctx context.Context, call string) (*Exchange, error) {
	c, err := r.s.Captures().Capture(ctx, call)
	if errors.Is(err, ErrNoCapture) {
		if lost, look := r.s.CaptureWent(ctx, call); lost || look != nil {
			return nil, cmp.Or(look, ErrCaptureLost)
		}
	}
	if err != nil {
		return nil, err
	}
	x := &Exchange{
		Method: c.Method, URL: c.URL, RequestHeader: c.RequestHeader, ResponseHeader: c.ResponseHeader, Status: c.Status,
		Request: c.Request.Join(), Shared: c.SharedBytes,
	}
	if c.Response != nil {
		x.Response = c.Response.Join()
	}
	return x, nil
}
