package agent

import (
	"errors"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/tool"
)

// ErrTime is the cause with which a caller ends the context of a turn whose time is up. The turn then ends as limit.time,
// with everything recorded, as if a person had stopped it.
var ErrTime = errors.New("the time limit was reached")

// budget is what is left of the limits of a turn. A limit ends the turn with what was achieved; nothing is taken back.
type budget struct {
	event.Limits
	spent     int64 // tokens
	estimated bool  // some of them, for calls that did not report theirs
	changed   map[string]bool
	over      *failure // the limit of files was met in the middle of a step
}

// bytesPerToken is a rule of thumb for text that was not counted by anyone.
const bytesPerToken = 4

// add counts the tokens of a call: as reported, else the request as estimated and what came back by its size.
func (b *budget) add(u llm.Usage, request int, blocks []llm.Block) {
	if u.Fresh != nil && u.Output != nil {
		b.spent += *u.Fresh + *u.Output
		for _, n := range []*int64{u.CacheRead, u.CacheWrite} {
			if n != nil {
				b.spent += *n
			}
		}
		return
	}
	b.estimated = true
	size := 0
	for _, bl := range blocks {
		size += len(bl.Text)
		if bl.Call != nil {
			size += len(bl.Call.Arguments)
		}
	}
	b.spent += int64(request + size/bytesPerToken)
}

// next fails if no further model call may be made.
func (b *budget) next(steps int) error {
	switch {
	case b.over != nil:
		return b.over
	case b.Steps > 0 && steps >= b.Steps:
		return &failure{code: "limit.steps", detail: fmt.Sprintf("the limit of %s was reached", count(b.Steps, "step"))}
	case b.Tokens > 0 && b.spent >= b.Tokens:
		about := ""
		if b.estimated {
			about = "about " // the server did not report all of them
		}
		return &failure{code: "limit.tokens", detail: fmt.Sprintf("the limit of %s was reached: %s%d were used", count(int(b.Tokens), "token"), about, b.spent)}
	}
	return nil
}

// observe notes which files were changed. What a command changes does not count: nobody could know before.
func (b *budget) observe(f event.Fact) {
	if c, ok := f.Data.(event.CheckpointClosed); ok && len(c.Paths) == 0 {
		return
	}
	for _, c := range event.Changes(f.Data) {
		if c.Type != "" { // a folder that was made for it
			continue
		}
		if b.changed == nil {
			b.changed = map[string]bool{}
		}
		b.changed[c.Path] = true
	}
}

// files refuses a call that would change more files than the limit leaves. Calls are prepared while no other one runs.
func (b *budget) files(p *tool.Prepared) *tool.Refusal {
	effects := p.Action.Effects
	if b.Files == 0 || len(effects) == 0 || effects[0].Kind != "write" {
		return nil
	}
	names := p.Paths
	if names == nil {
		names = []string{effects[0].Target}
	}
	var more []string
	for _, path := range names {
		if !b.changed[path] {
			more = append(more, path)
		}
	}
	if len(more) == 0 || len(b.changed)+len(more) <= b.Files {
		return nil
	}
	left := b.Files - len(b.changed)
	b.over = &failure{code: "limit.files", detail: fmt.Sprintf("the limit of %s was reached; not changed: %s", count(b.Files, "changed file"), strings.Join(more, ", "))}
	if left <= 0 {
		return &tool.Refusal{Code: "limit.files", Text: fmt.Sprintf("this run may change %s and has done so; nothing was changed", count(b.Files, "file"))}
	}
	return &tool.Refusal{Code: "limit.files", Text: fmt.Sprintf("this run may change %s more, and this would change %d; nothing was changed", count(left, "file"), len(more))}
}

// count says how many of something there are.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
