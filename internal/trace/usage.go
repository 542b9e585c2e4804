package trace

import (
	"context"

	"overt/internal/store"
)

// UsageReport is what `overt usage --json` gives.
type UsageReport struct {
	Task  *string     `json:"task"`  // the task whose calls are counted; null: all of the workspace
	By    string      `json:"by"`    // what a row is of: call, turn, task, session, model
	Rows  []UsageRow  `json:"rows"`  // in the order in which they began
	Total UsageFigure `json:"total"` // of all rows
}

// UsageRow is a group of calls.
type UsageRow struct {
	Key   string  `json:"key"`   // the id of the call, turn, task or session, or PROVIDER/MODEL
	Title *string `json:"title"` // of a task; null of anything else
	UsageFigure
}

// UsageFigure is what calls reported, every attempt counted. A figure is the sum over the calls that reported it; null: none
// did, and nothing is estimated. It is the whole only where complete and refused are all calls. Erased tasks are not in it.
type UsageFigure struct {
	Calls       int    `json:"calls"`       // all that were made
	Complete    int    `json:"complete"`    // that reported all their figures
	Partial     int    `json:"partial"`     // that reported some of them
	Refused     int    `json:"refused"`     // that ended without an answer, and so used nothing
	Unavailable int    `json:"unavailable"` // that reported none: the answer broke off, they are under way, or the server does not tell
	Input       *int64 `json:"input"`       // tokens that went in: fresh, cache_read and cache_write
	Fresh       *int64 `json:"fresh"`       // of these, neither read from a cache nor written to one
	CacheRead   *int64 `json:"cache_read"`
	CacheWrite  *int64 `json:"cache_write"`
	Output      *int64 `json:"output"`    // tokens that came out
	Reasoning   *int64 `json:"reasoning"` // of these, for reasoning
	Cost        *Cost  `json:"cost"`      // null: of no call it is known

	nano                   int64
	priced, told, unpriced int // calls, as of store.UsageSum
}

// Groupings lists what usage can be given by.
func Groupings() []string {
	return []string{store.ByCall, store.ByTurn, store.ByTask, store.BySession, store.ByModel}
}

// Usage sums up what the calls of a task reported, or those of the workspace if task is empty, by one of [Groupings].
func (r *Reader) Usage(ctx context.Context, task, by string) (*UsageReport, error) {
	sums, err := r.s.Usage(ctx, task, by)
	if err != nil {
		return nil, err
	}
	out := &UsageReport{By: by, Rows: make([]UsageRow, 0, len(sums))}
	if task != "" {
		out.Task = &task
	}
	titles := map[string]*string{}
	if by == store.ByTask {
		list, err := r.s.Tasks(ctx, 0)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			titles[t.ID] = t.Title
		}
	}
	for _, x := range sums {
		row := UsageRow{Key: x.Key, Title: titles[x.Key], UsageFigure: UsageFigure{
			Calls: x.Calls, Complete: x.Complete, Partial: x.Partial, Refused: x.Refused, Unavailable: x.Calls - x.Complete - x.Partial - x.Refused,
			Input: NewUsage(x.Usage).Input(), Fresh: x.Usage.Fresh, CacheRead: x.Usage.CacheRead, CacheWrite: x.Usage.CacheWrite,
			Output: x.Usage.Output, Reasoning: x.Usage.Reasoning,
			nano: x.Nano, priced: x.Priced, told: x.Told, unpriced: x.Unpriced,
		}}
		row.price()
		out.Rows = append(out.Rows, row)
		out.Total.add(row.UsageFigure)
	}
	out.Total.price()
	return out, nil
}

func (f *UsageFigure) add(x UsageFigure) {
	f.Calls += x.Calls
	f.Complete += x.Complete
	f.Partial += x.Partial
	f.Refused += x.Refused
	f.Unavailable += x.Unavailable
	f.nano, f.priced, f.told, f.unpriced = f.nano+x.nano, f.priced+x.priced, f.told+x.told, f.unpriced+x.unpriced
	for _, p := range []struct {
		to **int64
		n  *int64
	}{{&f.Input, x.Input}, {&f.Fresh, x.Fresh}, {&f.CacheRead, x.CacheRead}, {&f.CacheWrite, x.CacheWrite}, {&f.Output, x.Output}, {&f.Reasoning, x.Reasoning}} {
		if p.n == nil {
			continue
		}
		sum := *p.n
		if *p.to != nil {
			sum += **p.to
		}
		*p.to = &sum
	}
}

// price settles the cost.
func (f *UsageFigure) price() {
	if f.priced > 0 {
		f.Cost = &Cost{USD(f.nano), f.told < f.priced, f.unpriced}
	}
}
