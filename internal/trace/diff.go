package trace

import (
	"cmp"
	"context"
	"errors"

	"overt/internal/event"
	"overt/internal/store"
)

// Diff says how the request of a call goes on from that of the call before. What a cache of the server can use again is Shared.
// Null is unknown: a capture is missing.
type Diff struct {
	Call   string   `json:"call"`
	Before *string  `json:"before"` // the call before in the same sequence; null: it is the first
	Bytes  *int64   `json:"bytes"`  // of the request
	Sent   *int64   `json:"sent"`   // bytes of the request before
	Shared *int64   `json:"shared"` // leading bytes that both have in common
	Owner  *string  `json:"owner"`  // the node of the record that the first different byte of the request before comes from; "": none, it is punctuation or a parameter
	Cause  string   `json:"cause"`  // first, goes_on, again, model, tools, system, pictures, mended, other; unsent: nothing left; unknown: a capture is missing
	Taken  []string `json:"taken"`  // texts that were taken since, SOURCE/NAME; one that was there before has changed
}

// Causes of a [Diff] beside those of a context.head.
const (
	CauseGoesOn   = "goes_on"  // something was added at the end
	CauseAgain    = "again"    // it is the same request
	CausePictures = "pictures" // pictures are left out from now on
	CauseMended   = "mended"   // the server refused the request before, and this one is another form of it
	CauseOther    = "other"
	CauseUnsent   = "unsent"  // the call ended before anything left; the next one is compared with the one before it
	CauseUnknown  = "unknown" // a capture is missing
)

// Diffs compares the request of each call of a task with that of the call before.
func (r *Reader) Diffs(ctx context.Context, task string) ([]Diff, error) {
	type started struct {
		id   string
		fact event.CallStarted
	}
	var calls []started
	heads, pictures := map[event.Seq]event.ContextHead{}, map[event.Seq]bool{}
	unsent := map[string]bool{}
	type text struct {
		at   event.Seq
		name string
	}
	var taken []text
	for f, err := range r.s.Read(ctx, event.Path{Task: task, Facts: true}) {
		if err != nil {
			return nil, err
		}
		switch p := f.Data.(type) {
		case event.CallStarted:
			calls = append(calls, started{f.Subject, p})
		case event.ContextHead:
			heads[f.Seq] = p
		case event.CallFailed:
			unsent[f.Subject] = p.Exchange.Request.Bytes == 0
		case event.PicturesLeft:
			pictures[f.Seq] = true
		case event.ContextTaken:
			taken = append(taken, text{f.Seq, p.Source + "/" + p.Name})
		}
	}
	out := []Diff{}
	last := map[string]started{} // by lane
	bodies := map[string]*store.Body{}
	for _, c := range calls {
		d := Diff{Call: c.id, Cause: "first", Taken: []string{}}
		before, ok := last[c.fact.Lane]
		for _, t := range taken {
			if t.at <= c.fact.Leaf && t.at > before.fact.Leaf {
				d.Taken = append(d.Taken, t.name)
			}
		}
		if unsent[c.id] {
			d.Cause = CauseUnsent
			out = append(out, d)
			continue
		}
		body, err := r.request(ctx, c.id)
		if err != nil {
			return nil, err
		}
		if body != nil {
			d.Bytes = &body.Bytes
		}
		if ok {
			d.Before = &before.id
			sent := bodies[c.fact.Lane]
			grown := d.compare(sent, body)
			switch left := leftBetween(pictures, before.fact.Leaf, c.fact.Leaf); {
			case before.fact.Head != c.fact.Head:
				d.Cause = cmp.Or(heads[c.fact.Head].Cause, CauseOther)
			case left:
				d.Cause = CausePictures
			case d.Shared == nil:
				d.Cause = CauseUnknown
			case *d.Shared == *d.Bytes && *d.Bytes == *d.Sent:
				d.Cause = CauseAgain
			case c.fact.Leaf == before.fact.Leaf:
				d.Cause = CauseMended
			case grown:
				d.Cause = CauseGoesOn
			default:
				d.Cause = CauseOther
			}
		}
		last[c.fact.Lane], bodies[c.fact.Lane] = c, body
		out = append(out, d)
	}
	return out, nil
}

func leftBetween(pictures map[event.Seq]bool, after, upTo event.Seq) bool {
	for at := range pictures {
		if at > after && at <= upTo {
			return true
		}
	}
	return false
}

// request gives a call's request; nil: its capture is missing.
func (r *Reader) request(ctx context.Context, call string) (*store.Body, error) {
	c, err := r.s.Captures().Capture(ctx, call)
	if errors.Is(err, store.ErrNoCapture) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &c.Request, nil
}

// compare fills in what two requests have in common. grown: they part in the closing part of the one before, so that the other
// one only goes on.
func (d *Diff) compare(sent, body *store.Body) (grown bool) {
	if sent == nil || body == nil {
		return false
	}
	a, b := sent.Join(), body.Join()
	shared := 0
	for shared < min(len(a), len(b)) && a[shared] == b[shared] {
		shared++
	}
	n := int64(shared)
	d.Shared, d.Sent = &n, &sent.Bytes
	at := 0
	for i, p := range sent.Parts {
		if at += len(p.Bytes); shared < at || i == len(sent.Parts)-1 {
			d.Owner = &p.Owner
			return i == len(sent.Parts)-1
		}
	}
	return true
}
