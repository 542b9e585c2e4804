package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"overt/internal/event"
)

// How often the same call with the same result, with nothing new in between, ends in a word to the model, and in the end
// of the turn.
const (
	maxSame  = 5
	warnSame = 3
)

// progress notices a turn that goes in circles. Something new is a call that was not made before in this turn, or one whose
// result has changed since: polling what changes never ends a turn, nor does running the same test after each of several
// edits.
type progress struct {
	seen map[digest]*repeat // by call
	told bool               // since the last new thing
}

type digest = [sha256.Size]byte

type repeat struct {
	outcome digest
	times   int // since the last new thing
}

// step takes the outcomes of a step's calls, in call order, and gives how often the most repeated of them has come. What
// a step holds twice counts once, since the model had no result to learn from.
func (p *progress) step(calls []event.ToolCall, outcomes map[string]event.ToolCompleted) (times int, name string) {
	if p.seen == nil {
		p.seen = map[digest]*repeat{}
	}
	now := map[*repeat]string{}
	fresh := false
	for _, c := range calls {
		key := sha256.Sum256([]byte(c.Name + "\x00" + canonical(c.Args)))
		o := outcomes[c.ID]
		content := o.Content
		if o.Output != nil { // its name is new each time
			content = strings.ReplaceAll(content, o.Output.ID, "")
		}
		outcome := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", o.Status, o.Code, content))
		r := p.seen[key]
		switch {
		case r == nil:
			r = &repeat{}
			p.seen[key] = r
		case now[r] != "":
			continue
		}
		fresh = fresh || r.outcome != outcome
		r.outcome = outcome
		now[r] = c.Name
	}
	if fresh {
		p.told = false
		for _, r := range p.seen {
			r.times = 0
		}
	}
	for r, of := range now {
		if r.times++; r.times > times {
			times, name = r.times, of
		}
	}
	return times, name
}

// canonical makes arguments that say the same alike.
func canonical(args string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(args)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return args
	}
	out, err := json.Marshal(v) // keys of maps come sorted
	if err != nil {
		return args
	}
	return string(out)
}
