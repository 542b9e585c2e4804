package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"overt/internal/event"
	"overt/internal/llm"
	"overt/internal/prompt"
)

// maxWait is the longest wait that a server may ask for; beyond it the person decides.
const maxWait = time.Minute

// call sends the thread's request, again where that may help, and commits the answer. Each attempt is a call of its
// own, and none follows once text has been shown.
func (t *turn) call(ctx context.Context) (*llm.Response, error) {
	req, manifest, err := prompt.Build(t.Thread)
	if err != nil {
		return nil, err
	}
	if n := prompt.Pictures(req); n > 0 && t.Info.Images != nil && !*t.Info.Images { // of before, when there was another model
		if err := t.append(ctx, event.Draft{Data: event.PicturesLeft{Count: n}}); err != nil {
			return nil, err
		}
		if req, manifest, err = prompt.Build(t.Thread); err != nil {
			return nil, err
		}
	}
	req.Lane = t.scope.Task
	plain := req
	var tried []llm.Mend
	mended := 0 // attempts that followed because something was changed
	for attempt := 1; ; attempt++ {
		req = t.mends.apply(plain)
		req.ID = t.id("cal", attempt)
		started := event.CallStarted{
			Lane: req.Lane, Purpose: "chat", Attempt: attempt, Provider: t.Info.Provider, Protocol: t.Info.Protocol, Model: t.Info.Model,
			Head: t.Thread.HeadNode(), Leaf: t.Thread.Leaf(), Estimate: manifest.Estimate, Repairs: len(manifest.Repairs),
			Prices: prices(t.Info.Prices),
		}
		facts, err := t.Log.Append(context.WithoutCancel(ctx), event.Batch{Scope: t.scope, Facts: []event.Draft{{Subject: req.ID, Data: started}}})
		if err != nil {
			return nil, err
		}
		show := &shower{feed: t.Feed, scope: t.scope, call: req.ID, after: facts[len(facts)-1].Seq}
		r, err := t.Model.Stream(ctx, req, show.delta)
		if err == nil || r.Exchange.HTTP/100 == 2 { // what was never answered has used nothing
			t.usage.add(r.Usage, cost(t.Info.Prices, r.Usage))
			t.budget.add(r.Usage, manifest.Estimate, r.Blocks)
		}
		if err == nil {
			return r, t.completed(ctx, req.ID, r, manifest.Estimate)
		}
		var e *llm.Error
		if !errors.As(err, &e) {
			e = &llm.Error{Class: llm.Internal, Message: err.Error(), Err: err}
		}
		e, left := pictures(e, req, show.shown)
		wait, again := t.again(e, attempt-mended, show.shown)
		switch {
		case left != nil:
			mended, wait, again = mended+1, 0, true
		case !show.shown && t.mends.learn(e, req, tried):
			tried, mended, wait, again = append(tried, e.Mend), mended+1, 0, true
		}
		if ferr := t.failed(ctx, req.ID, r, e, wait, again, left...); ferr != nil {
			return nil, ferr
		}
		if !again {
			return nil, &failure{code: code(e), class: e.Class, http: e.HTTP, detail: detail(e)}
		}
		if left != nil {
			if plain, manifest, err = prompt.Build(t.Thread); err != nil {
				return nil, err
			}
			plain.Lane = t.scope.Task
		}
		if err := t.Wait(ctx, attempt, wait); err != nil {
			return nil, err
		}
	}
}

// pictures gives what is recorded when a server refuses a request over its pictures: from then on they are left out, so this
// happens once. In a request without any, the words that led to the class are about something else.
func pictures(e *llm.Error, r *llm.Request, shown bool) (*llm.Error, []event.Draft) {
	if e.Class != llm.Pictures {
		return e, nil
	}
	n := prompt.Pictures(r)
	switch {
	case n == 0:
		other := *e
		other.Class = llm.Invalid
		return &other, nil
	case shown:
		return e, nil
	}
	return e, []event.Draft{{Subject: r.ID, Data: event.PicturesLeft{Count: n, Reason: e.Message}}}
}

// detail is what is said of a failure: the server's words, and for how long it wants to be left alone where that is too long to
// wait for without being told to.
func detail(e *llm.Error) string {
	if e.RetryAfter <= maxWait {
		return e.Error()
	}
	return fmt.Sprintf("%s (the server asks to wait %s)", e.Error(), e.RetryAfter.Round(time.Second))
}

func code(e *llm.Error) string {
	if e.Class == llm.Storage {
		return "storage"
	}
	return "provider"
}

// again decides whether another attempt follows, and after how long.
func (t *turn) again(e *llm.Error, attempt int, shown bool) (time.Duration, bool) {
	if shown || attempt > t.Retries || e.RetryAfter > maxWait {
		return 0, false
	}
	// A hosted endpoint that fell silent gets one more try; a local one is likely still at work on the prompt.
	silent := e.Class == llm.Timeout && e.Code == "idle" && attempt == 1 && !t.Info.Local
	if !silent && !e.Retryable() {
		return 0, false
	}
	return t.Backoff(attempt, e.RetryAfter), true
}

// completed commits the end of the call and its message in one batch.
func (t *turn) completed(ctx context.Context, call string, r *llm.Response, estimate int) error {
	done := event.CallCompleted{
		HTTP: r.Exchange.HTTP, ProviderID: r.Exchange.ProviderID, Finish: string(r.Finish), RawFinish: r.RawFinish,
		Usage: usage(r.Usage), Exchange: exchange(r.Exchange), Cost: cost(t.Info.Prices, r.Usage), Unread: t.unread(r.Usage, estimate),
	}
	m, text := t.message(r)
	if r.Finish == llm.Length {
		m.Cut = "length"
	}
	t.answer, t.text = t.id("msg", 1), text
	return t.append(ctx, event.Draft{Subject: call, Data: done}, event.Draft{Subject: t.answer, Data: m})
}

// failed commits the end of a call that failed and, when none follows, the text that had come.
func (t *turn) failed(ctx context.Context, call string, r *llm.Response, e *llm.Error, wait time.Duration, again bool, also ...event.Draft) error {
	m, text := t.message(r)
	fact := event.CallFailed{
		Class: string(e.Class), Code: e.Code, HTTP: e.HTTP, Message: e.Message, Partial: text != "",
		Usage: usage(r.Usage), Exchange: exchange(r.Exchange), Cost: cost(t.Info.Prices, r.Usage),
	}
	drafts := []event.Draft{{Subject: call}}
	if again {
		ms := wait.Milliseconds()
		fact.RetryIn = &ms
	} else if text != "" {
		// Only the text stays: a call of a broken reply may be half of what was meant.
		kept := event.MessageAdded{Role: m.Role, Origin: m.Origin, Cut: "broken", Blocks: []event.Block{{Type: "text", Text: text}}}
		if e.Class == llm.Cancelled {
			kept.Cut = "cancelled"
		}
		t.answer, t.text = t.id("msg", 1), text
		drafts = append(drafts, event.Draft{Subject: t.answer, Data: kept})
	}
	drafts[0].Data = fact
	return t.append(ctx, append(drafts, also...)...)
}

// message turns an answer into the payload that is kept, and gives its text.
func (t *turn) message(r *llm.Response) (event.MessageAdded, string) {
	m := event.MessageAdded{Role: "assistant", Origin: "model", Blocks: []event.Block{}, Dropped: r.Dropped}
	text, calls := "", 0
	for _, b := range r.Blocks {
		switch b.Type {
		case llm.Text:
			text += b.Text
			m.Blocks = append(m.Blocks, event.Block{Type: "text", Text: b.Text, Opaque: b.Opaque, Origin: b.Origin})
		case llm.Reasoning:
			m.Blocks = append(m.Blocks, event.Block{Type: "reasoning", Text: b.Text, Carrier: b.Carrier, Opaque: b.Opaque, Origin: b.Origin})
		case llm.Call:
			calls++
			m.Blocks = append(m.Blocks, event.Block{Type: "call", Opaque: b.Opaque, Origin: b.Origin, Call: &event.ToolCall{
				ID: t.id("tcl", calls), Given: b.Call.ID, Name: b.Call.Name, Args: b.Call.Arguments,
			}})
		}
	}
	return m, text
}

func exchange(x llm.Exchange) event.Exchange {
	body := func(b llm.Body) event.Body { return event.Body{Bytes: b.Bytes, SHA256: b.SHA256, Masked: b.Masked} }
	return event.Exchange{
		Request: body(x.Request), Response: body(x.Response),
		FirstByteMS: x.FirstByte.Milliseconds(), DurationMS: x.Duration.Milliseconds(),
	}
}

// shower passes deltas on and remembers whether text was shown.
type shower struct {
	feed  event.Feed
	scope event.Scope
	call  string
	after event.Seq
	shown bool
}

func (s *shower) delta(d llm.Delta) {
	if s.feed == nil || d.Text == "" {
		return
	}
	seen := s.feed.Show(event.Delta{Scope: s.scope, After: s.after, Subject: s.call, Part: string(d.Part), Text: d.Text})
	s.shown = s.shown || seen && d.Part == llm.TextDelta
}

// folding is a Log that folds what was appended into the thread, under one lock, so that tools that run at once can't
// fold out of order.
type folding struct {
	event.Log
	mu      sync.Mutex
	thread  *prompt.Thread
	observe func(event.Fact)
}

// Append implements [event.Log].
func (l *folding) Append(ctx context.Context, b event.Batch) ([]event.Fact, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	facts, err := l.Log.Append(ctx, b)
	for _, f := range facts {
		l.thread.Apply(f)
		l.observe(f)
	}
	if err != nil {
		return nil, fmt.Errorf("the record could not be written: %w", err)
	}
	return facts, nil
}
