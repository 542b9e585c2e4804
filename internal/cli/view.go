package cli

import (
	"context"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"

	"overt/internal/app"
	"overt/internal/event"
	"overt/internal/session"
	"overt/internal/trace"
)

// view shows a run. Its methods are not called at once from two goroutines; an error of theirs means that the output
// can't be written.
type view interface {
	// refused says that the input was not accepted, or that the record of its run could not be kept, and gives the error
	// to end with.
	refused(m message, err error) error
	event(e trace.Event) error
	delta(d event.Delta) error
	// follows tells whether the view shows text while it arrives; a view that does not is given none.
	follows() bool
}

// view makes the view of an output form.
func (p *program) view(output string, record *trace.Reader) view {
	switch output {
	case "json":
		return &resultView{p: p, r: newResult()}
	case "stream-json":
		return &streamView{p: p}
	}
	return &textView{p: p, record: record, tools: map[string]*toolLine{}}
}

// show feeds the view until the run ends, and gives the payload of its end. A delta is shown only once the fact that it
// follows has been.
func (p *program) show(ctx context.Context, a *app.App, r session.Receipt, v view, deltas iter.Seq[event.Delta]) (event.Payload, error) {
	f := &merger{v: v, ended: map[string]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for d := range deltas {
			if f.delta(d) != nil {
				cancel()
				return
			}
		}
	}()
	for e, err := range a.Trace.Run(ctx, r.Run, r.Before) {
		if err == nil {
			err = f.event(e)
		}
		if e.Kind == event.KindToolStarted && !p.processors {
			p.processors = true
			runtime.SetDefaultGOMAXPROCS()
		}
		if e.Kind == event.KindCallStarted && e.Step == longTask {
			// From here on memory counts more than time: half the garbage, for one percent of the time. At the start it
			// is the other way round, since a small heap would be collected all the time.
			debug.SetGCPercent(50)
		}
		if err != nil {
			return nil, err
		}
		if e.Kind.Ends() && e.Run == r.Run {
			return e.Payload, nil
		}
	}
	return nil, context.Cause(ctx)
}

// longTask is the step at which a task counts as long.
const longTask = 32

// maxEnded bounds what a merger remembers of the past.
const maxEnded = 256

// merger puts deltas between the facts that they belong between: after the fact that they follow, and not after the end
// of what they are about, which has the whole text.
type merger struct {
	mu    sync.Mutex
	v     view
	last  event.Seq
	ended map[string]bool // subjects
	held  []event.Delta
	err   error
}

func (m *merger) event(e trace.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.last = event.Seq(e.Seq)
	switch e.Payload.(type) {
	case event.CallCompleted, event.CallFailed, event.ToolCompleted:
		if len(m.ended) > maxEnded { // deltas are not late by that much
			clear(m.ended)
		}
		m.ended[e.Subject] = true
	}
	if m.err = m.v.event(e); m.err != nil {
		return m.err
	}
	held := m.held
	m.held = nil
	for _, d := range held {
		if m.pass(d); m.err != nil {
			return m.err
		}
	}
	return nil
}

func (m *merger) delta(d event.Delta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass(d)
	return m.err
}

func (m *merger) pass(d event.Delta) {
	switch {
	case m.err != nil || m.ended[d.Subject]:
	case d.After > m.last:
		m.held = append(m.held, d)
	default:
		m.err = m.v.delta(d)
	}
}
