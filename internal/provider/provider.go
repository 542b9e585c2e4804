// Package provider speaks to model servers: it turns an [llm.Request] into the bytes of a protocol and a reply into an
// [llm.Response], or into an [llm.Error] with its class.
//
// [New] gives a model that speaks one of three protocols, streaming or not: OpenAI's Chat Completions, which many servers
// take for their own, OpenAI's Responses, and Anthropic's Messages. A [Profile] says how a server differs; [ProfileFor] has
// the known ones. A call is one exchange on the wire: nothing is retried here.
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
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"overt/internal/llm"
	"overt/internal/wire"
)

// Protocols.
const (
	Chat      = "openai-chat"
	Responses = "openai-responses"
	Messages  = "anthropic-messages"
)

// Options say whom to speak to.
type Options struct {
	Wire     *wire.Client
	Protocol string // one of the protocols; "": Chat
	Endpoint string // base URL, as people write it: see below
	Key      string // "": none is sent
	Name     string // of the provider, for messages to people
	Model    string
	Stream   bool
	Profile  Profile
	Header   http.Header // sent too, and never recorded: it may hold what is secret
	// MaxOutput is the model's own limit of an answer in tokens, for protocols that want one in each request; 0: not known.
	MaxOutput int64
	Images    llm.Images // nil: a request with pictures fails
}

// dialect is what a protocol knows.
type dialect interface {
	writer
	path() string                                       // below the base URL
	sign(key string, open, secret http.Header)          // adds what the protocol wants in the header
	reply(m *model, h *wire.Response, a *answer) reader // of one reply
}

// reader reads one reply into an answer.
type reader interface {
	// event takes a document of a stream, under the name of its event.
	event(name string, doc raw) *llm.Error
	// whole takes a reply that is one document.
	whole(doc raw) *llm.Error
	// end gives out what was held back. It is called once, however the reply ended.
	end()
}

// New gives the model that o names. It does no I/O. What can't be used of o fails the call, with class Invalid.
func New(o Options) llm.Model {
	m := &model{o: o}
	if m.d = newDialect(o); m.d == nil {
		m.invalid = errProtocol(o.Protocol)
		return m
	}
	m.url, m.invalid = below(o.Endpoint, m.d.path())
	if u, err := url.Parse(m.url); err == nil {
		m.host = u.Host
	}
	if o.Name == "" {
		m.o.Name = m.host
	}
	return m
}

// newDialect gives the protocol that o names, nil if there is none of the name.
func newDialect(o Options) dialect {
	origin := origin(o)
	switch o.Protocol {
	case Chat, "":
		return &chat{model: o.Model, origin: origin, stream: o.Stream, p: o.Profile}
	case Responses:
		return &responses{model: o.Model, origin: origin, stream: o.Stream, p: o.Profile}
	case Messages:
		return &messages{model: o.Model, origin: origin, stream: o.Stream, most: o.MaxOutput, p: o.Profile}
	}
	return nil
}

func errProtocol(name string) error { return errors.New("no protocol has the name " + name) }

// Header gives the fields with which a request of a protocol without a body is sent, such as that for the list of models:
// those that may be recorded, and the secret ones.
func Header(protocol string, p Profile, key string) (open, secret http.Header) {
	open, secret = http.Header{}, http.Header{}
	if d := newDialect(Options{Protocol: protocol, Profile: p}); d != nil {
		d.sign(key, open, secret)
	}
	return open, secret
}

// model is a model behind one of the protocols.
type model struct {
	o       Options
	d       dialect
	url     string
	invalid error  // why nothing can be sent
	host    string // with its port, for messages to people

	mu   sync.Mutex
	kept encoded // of the last request
}

// origin names the endpoint and model that a block came from. Behind one host there may be a server for each path, but a path
// may hold a key: scheme and path are told by a few digits of their hash.
func origin(o Options) string {
	where := ""
	if base, err := below(o.Endpoint, "/models"); err == nil {
		if u, err := url.Parse(base); err == nil {
			sum := sha256.Sum256([]byte(u.Scheme + u.Path))
			where = u.Host + " " + hex.EncodeToString(sum[:4])
		}
	}
	return orElse(o.Protocol, Chat) + " " + where + " " + o.Model
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, r *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	if m.invalid != nil {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Code: "url", Message: m.invalid.Error()}
	}
	var body []wire.Part
	sent, err := m.prepare(r)
	if err == nil {
		body, err = m.encode(ctx, sent)
	}
	if err != nil {
		return &llm.Response{}, &llm.Error{Class: llm.Invalid, Code: "request", Message: err.Error()}
	}
	if show == nil {
		show = func(llm.Delta) {}
	}
	h, err := m.o.Wire.Do(ctx, m.request(r, body))
	a := newAnswer(r.Tools, origin(m.o), show)
	a.scan = newScan(&m.o.Profile, r)
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
	out.Usage.Cost = reportedCost(out.Usage, h.Header)
	if fail != nil {
		if fail.HTTP == 0 {
			fail.HTTP = h.Status
		}
		return out, fail
	}
	return out, nil
}

// request puts a body into its envelope.
func (m *model) request(r *llm.Request, body []wire.Part) wire.Request {
	req := wire.Request{
		ID: r.ID, Lane: r.Lane, Method: http.MethodPost, URL: m.url, Body: body,
		Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
		Auth:   m.o.Header.Clone(),
	}
	if m.o.Stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	if req.Auth == nil {
		req.Auth = http.Header{}
	}
	m.d.sign(m.o.Key, req.Header, req.Auth)
	if name := m.o.Profile.LaneHeader; name != "" && r.Lane != "" {
		req.Header.Set(name, r.Lane)
	}
	return req
}

// receive reads a reply into a.
func (m *model) receive(h *wire.Response, a *answer) *llm.Error {
	if h.Status < 200 || h.Status > 299 {
		return m.refused(h)
	}
	if c := h.Header.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") { // of gzip, which was asked for, nothing is left here
		return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: fmt.Sprintf("%s sent its reply compressed as %s, which it was not asked for", m.o.Name, short(c))}
	}
	in, kind, err := sniff(h.Body)
	if err != nil {
		return m.broken(err, h, a)
	}
	to := m.d.reply(m, h, a)
	defer to.end()
	switch kind {
	case bodyHTML:
		return m.page(h)
	case bodyJSON:
		return m.whole(in, h, a, to)
	case bodyEmpty:
		return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " sent an empty reply"}
	}
	return m.events(in, h, a, to)
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
		HTTP: h.Status, ProviderID: short(id), FirstByte: k.FirstByte, Duration: k.Duration,
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
func (m *model) broken(err error, h *wire.Response, a *answer) *llm.Error {
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
