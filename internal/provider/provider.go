// Package provider speaks to model servers: it turns an [llm.Request] into the bytes of a protocol and a reply into an
// [llm.Response], or into an [llm.Error] with its class.
//
// [New] gives a model that speaks OpenAI's Chat Completions, streaming or not, to any of the many servers that take it
// for their own; [QuirksFor] knows where they differ. A call is one exchange on the wire: nothing is retried here.
//
// What a reply says is kept where servers agree on nothing: calls in any of the known shapes are put together, text
// and reasoning keep their order, and a reply that ends early is never taken for an answer. Texts that stand in a
// message of the system or of the user are joined with an empty line between them; texts of the model without.
//
// The protocol's facts are from openai/openai-openapi 2.3.0, from vendors' documents, and from reports of what servers
// really send; the tests carry the cases. Models may be used by several goroutines.
package provider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"overt/internal/llm"
	"overt/internal/wire"
)

// Options say whom to speak to.
type Options struct {
	Wire     *wire.Client
	Endpoint string // base URL, as people write it: see chatURL
	Key      string // "": none is sent
	Name     string // of the provider, for messages to people
	Model    string
	Stream   bool
	Quirks   Quirks
}

// New gives the model that o names. It does no I/O. A URL that can't be used fails the call, with class Invalid.
func New(o Options) llm.Model {
	m := &chat{o: o}
	m.url, m.urlErr = chatURL(o.Endpoint)
	if u, err := url.Parse(m.url); err == nil {
		m.host = u.Host
	}
	if o.Name == "" {
		m.o.Name = m.host
	}
	return m
}

// chat is a model behind Chat Completions.
type chat struct {
	o      Options
	url    string
	urlErr error
	host   string

	mu   sync.Mutex
	kept encoded // of the last request
}

// Stream implements [llm.Model].
func (m *chat) Stream(ctx context.Context, r *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	if m.urlErr != nil {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Code: "url", Message: m.urlErr.Error()}
	}
	body, err := m.encode(r)
	if err != nil {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Code: "request", Message: err.Error()}
	}
	if show == nil {
		show = func(llm.Delta) {}
	}
	req := wire.Request{
		ID: r.ID, Lane: r.Lane, Method: http.MethodPost, URL: m.url, Body: body,
		Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
	}
	if m.o.Stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	if m.o.Key != "" {
		req.Auth = http.Header{"Authorization": {"Bearer " + m.o.Key}}
	}
	h, err := m.o.Wire.Do(ctx, req)
	a := newAnswer(r.Tools, show)
	fail := (*llm.Error)(nil)
	if err != nil {
		fail = wireError(err, h, false)
	} else {
		fail = m.receive(h, a)
	}
	if err := h.Body.Close(); err != nil && (fail == nil || fail.Class != llm.Storage) {
		fail = wireError(err, h, true)
	}
	out := a.response(fail != nil)
	out.Exchange = exchange(h, a.id)
	if fail != nil {
		return out, fail
	}
	return out, nil
}

// receive reads a reply into a.
func (m *chat) receive(h *wire.Response, a *answer) *llm.Error {
	if h.Status < 200 || h.Status > 299 {
		return m.refused(h)
	}
	in, kind, err := sniff(h.Body)
	if err != nil {
		return m.broken(err, h, a)
	}
	switch kind {
	case bodyHTML:
		return m.page(h)
	case bodyJSON:
		return m.whole(in, h, a)
	case bodyEmpty:
		return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " sent an empty reply"}
	}
	return m.events(in, h, a)
}

// exchange says what is known of the exchange.
func exchange(h *wire.Response, id string) llm.Exchange {
	k := h.Kept()
	for _, name := range []string{"X-Request-Id", "Request-Id"} {
		if id == "" {
			id = h.Header.Get(name)
		}
	}
	return llm.Exchange{
		HTTP: h.Status, ProviderID: id, FirstByte: k.FirstByte, Duration: k.Duration,
		Request: body(k.Request), Response: body(k.Response),
	}
}

func body(k wire.Kept) llm.Body {
	b := llm.Body{Bytes: k.Bytes, Masked: k.Masked}
	if k.SHA256 != [32]byte{} {
		b.SHA256 = hexOf(k.SHA256)
	}
	return b
}

// broken says why a reply ended in the middle. A reply whose finish has come is whole: some servers end it rudely.
func (m *chat) broken(err error, h *wire.Response, a *answer) *llm.Error {
	e, ok := errors.AsType[*wire.Error](err)
	if ok && a.finished() && (e.Kind == wire.Network || e.Kind == wire.Idle || e.Kind == wire.Expired || e.Kind == wire.Timeout) {
		return nil
	}
	return wireError(err, h, true)
}

// wireError gives an error of the wire its class. begun: a reply had begun.
func wireError(err error, h *wire.Response, begun bool) *llm.Error {
	out := &llm.Error{Class: llm.Network, HTTP: h.Status, Message: oneLine(err.Error()), Err: err}
	if begun {
		out.Class = llm.Cut
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return out
	}
	switch e.Kind {
	case wire.Idle:
		out.Class, out.Code = llm.Timeout, "idle"
	case wire.Expired:
		out.Class, out.Code = llm.Timeout, "request"
	case wire.Limit:
		out.Class = llm.Malformed
	case wire.Redirect:
		out.Class = llm.Redirect
	case wire.Record:
		out.Class = llm.Storage
	case wire.Cancelled:
		out.Class = llm.Cancelled
	case wire.Invalid:
		out.Class = llm.Invalid
	}
	return out
}
