package store

import (
	"context"
	"database/sql"
	"fmt"

	"overt/internal/event"
)

// UsageSum is what the calls of one group reported, summed up. A sum is nil if no call reported it.
type UsageSum struct {
	Key                      string // of the group
	Calls, Complete, Partial int    // all calls; those that reported all figures, and some of them
	Refused                  int    // that ended without an answer of status 2xx, and so used nothing
	Usage                    event.Usage
	Nano                     int64 // what calls cost whose cost is known, in nano-dollars
	Priced, Told, Unpriced   int   // calls whose cost is known; of these, those whose server said it; answered calls whose cost is not
}

// Groups of calls.
const (
	ByCall    = "call"
	ByTurn    = "turn"
	ByTask    = "task"
	BySession = "session"
	ByModel   = "model" // PROVIDER/MODEL
)

// Usage sums up what the calls of a task reported, or of all tasks if task is empty, by a group, in the order in which the
// groups began. Every attempt is a call.
func (s *Store) Usage(ctx context.Context, task, by string) ([]UsageSum, error) {
	key, ok := map[string]string{
		ByCall: `f.subject || ' ' || coalesce(r.text, '')`, ByTurn: `coalesce(u.text, '')`, ByTask: `n.text`, BySession: `coalesce(o.text, '')`,
		ByModel: `coalesce(p.text, '') || '/' || coalesce(m.text, '')`,
	}[by]
	if !ok {
		return nil, fmt.Errorf("calls are not grouped by %q", by)
	}
	where, args := ``, []any{}
	if task != "" {
		where, args = `WHERE c.task = (SELECT id FROM name WHERE text = ?)`, []any{task}
	}
	return collect(ctx, s.facts, `SELECT `+key+` AS key, min(f.subject), min(coalesce(r.text, '')), count(*),
		count(*) FILTER (WHERE c.coverage = 'complete'), count(*) FILTER (WHERE c.coverage = 'partial'),
		count(*) FILTER (WHERE c.status = '`+CallFailed+`' AND coalesce(c.http, 0) NOT BETWEEN 200 AND 299),
		sum(c.fresh), sum(c.cache_read), sum(c.cache_write), sum(c.output), sum(c.reasoning),
		coalesce(sum(c.nano_usd), 0), count(c.nano_usd), count(*) FILTER (WHERE c.cost_reported), count(*) FILTER (WHERE c.nano_usd IS NULL AND c.http BETWEEN 200 AND 299)
		FROM call c JOIN fact f ON f.seq = c.seq JOIN name n ON n.id = c.task LEFT JOIN name r ON r.id = c.run LEFT JOIN name u ON u.id = f.turn
		LEFT JOIN name o ON o.id = f.session LEFT JOIN name p ON p.id = c.provider LEFT JOIN name m ON m.id = c.model
		`+where+` GROUP BY key ORDER BY min(c.seq)`, args,
		func(rows *sql.Rows) (sum UsageSum, err error) {
			var subject, run string
			u := &sum.Usage
			err = rows.Scan(&sum.Key, &subject, &run, &sum.Calls, &sum.Complete, &sum.Partial, &sum.Refused, &u.Fresh, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning,
				&sum.Nano, &sum.Priced, &sum.Told, &sum.Unpriced)
			if by == ByCall {
				sum.Key = longSubject(subject, run)
			}
			return sum, err
		})
}
