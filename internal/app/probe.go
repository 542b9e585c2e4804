package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"overt/internal/config"
	"overt/internal/provider"
	"overt/internal/redact"
	"overt/internal/wire"
)

// probeLane is the lane of the exchanges of probes. They are kept in the person's own record: a probe is about an endpoint, and belongs to no task.
const probeLane = "probe"

// maxProbeCaptures bounds, in bytes, what is kept of the exchanges of probes.
const maxProbeCaptures = 16 << 20

// ProbeReport is what overt probe found.
type ProbeReport struct {
	Provider, Endpoint, Protocol, Model string // the base URL without what may be secret in it
	At                                  time.Time
	Calls                               int
	Findings                            []provider.Finding
	Quirks                              map[string]any // that differ from what was known, and are obeyed from now on
	Overruled                           []string       // of these, those that the person's file says otherwise
	Images                              *bool
	Err                                 error // why it ended before its end, masked; nil: it did not
	Kept                                bool  // what was found is in force from now on
}

// ProbeChecks lists the checks of Probe in their order.
func ProbeChecks() []string { return append(provider.ProbeChecks(), "models", "window") }

// Probe measures the endpoint's server with the model, and keeps what differs from what is known. begin is called once it is known what is
// probed, show with each finding. The error is of settings or of this machine; what the server does not answer is in the report.
func Probe(ctx context.Context, o Options, begin func(*ProbeReport), show func(provider.Finding)) (*ProbeReport, error) {
	c := o.Config
	mask := redact.New()
	learnSecrets(mask, c, o.Env)
	if err := askKey(ctx, c, o.Env, mask); err != nil {
		return nil, err
	}
	link, bad := transport(c)
	if bad != nil {
		return nil, bad
	}
	user := newUserRecord(o, mask)
	s, err := user.open(ctx)
	if err != nil {
		return nil, err
	}
	last := &lastReply{Sink: s.Captures()}
	w := wire.New(wire.Options{Sink: last, UserAgent: "overt", Timeout: c.RequestTimeout, Idle: c.IdleTimeout, Transport: link})
	defer w.Close()
	out, err := probe(ctx, o, mask, w, last, begin, show)
	if prune := s.Captures().Prune(context.WithoutCancel(ctx), time.Time{}, maxProbeCaptures); err == nil {
		err = prune
	}
	return out, errors.Join(err, user.close())
}

func probe(ctx context.Context, o Options, mask *redact.Masker, w *wire.Client, last *lastReply, begin func(*ProbeReport), show func(provider.Finding)) (*ProbeReport, error) {
	c := o.Config
	model, err := chooseModel(ctx, c, w.HTTP(), mask)
	if err != nil {
		return nil, err
	}
	po, bad := probeOptions(c, w, model)
	if bad != nil {
		return nil, bad
	}
	po.Reply = last.body
	r := &ProbeReport{Provider: c.Provider, Endpoint: plainURL(c.BaseURL.Value), Protocol: c.Protocol.Value, Model: model}
	begin(r)
	clean := func(f provider.Finding) provider.Finding {
		for i, a := range f.Args {
			if text, is := a.(string); is {
				f.Args[i] = mask.String(text)
			}
		}
		r.Findings = append(r.Findings, f)
		show(f)
		return f
	}
	po.Show = func(f provider.Finding) { clean(f) }
	found, err := provider.Probe(ctx, po)
	r.Calls, r.Quirks, r.Images, r.At = found.Calls, found.Quirks, found.Images, time.Now().UTC()
	if err != nil {
		r.Err = errors.New(mask.String(err.Error()))
		return r, nil // half of it would be kept as if it were all
	}
	k := readKnown(o.State, c.BaseURL.Value)
	for _, f := range listed(ctx, c, w.HTTP(), &k, model, mask) {
		clean(f)
	}
	if err := k.write(o.State); err != nil {
		return r, err
	}
	p := newProbed(c, model, byProbe)
	if err := p.learn(found); err != nil {
		return r, err
	}
	r.Overruled = overruled(c, found.Quirks)
	r.Kept = true
	return r, p.write(o.State)
}

// probeOptions are those of a probe of a model: with what is known of the server and what the person's file says of it, but without what
// was measured before.
func probeOptions(c *config.Config, w *wire.Client, model string) (provider.ProbeOptions, *config.Error) {
	profile, bad := profileOf(c, "", model)
	return provider.ProbeOptions{
		Options: provider.Options{
			Wire: w, Endpoint: c.BaseURL.Value, Key: c.APIKey.Value, Name: c.Provider, Model: model, Stream: c.Stream,
			Protocol: c.Protocol.Value, Profile: profile, Header: extraHeader(c),
		},
		NewID: func() string { return newID("cal_") }, Lane: probeLane,
	}, bad
}

// overruled gives those of the quirks that the person's file says, too.
func overruled(c *config.Config, quirks map[string]any) (out []string) {
	said := memberNames(c.Quirks.Value)
	for name := range quirks {
		if slices.Contains(said, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// listed asks for the list of models and for what the server has loaded, keeps it in k, and says what it found.
func listed(ctx context.Context, c *config.Config, client *http.Client, k *known, model string, mask *redact.Masker) (out []provider.Finding) {
	add := func(check, result, code string, args ...any) {
		out = append(out, provider.Finding{Check: check, Result: result, Code: code, Args: args})
	}
	list, err := k.ask(ctx, c, client, model)
	ids := list.IDs()
	switch {
	case err != nil:
		add("models", provider.Not, "probe.models.none", mask.String(err.Error()))
	case slices.ContainsFunc(ids, func(id string) bool { return same(id, model) }):
		add("models", provider.Supported, "probe.models", len(ids))
	default:
		add("models", provider.Supported, "probe.models.without", len(ids))
	}
	if m := modelOf(c, k, model); m.Window > 0 {
		add("window", provider.Supported, "probe.window", int(m.Window), m.From["window"])
	} else {
		add("window", provider.Unmeasured, "probe.window.unknown")
	}
	return out
}

// chooseModel is the model's name: as configured, or the only one that the endpoint lists.
func chooseModel(ctx context.Context, c *config.Config, client *http.Client, mask *redact.Masker) (string, error) {
	if c.Model.Value != "" {
		return c.Model.Value, nil
	}
	list, err := provider.Models(ctx, client, c.Protocol.Value, c.BaseURL.Value, requestHeader(c, c.APIKey.Value))
	ids := list.IDs()
	switch {
	case err != nil:
		return "", &config.Error{Code: "config.no_list", Args: []any{Place(c), mask.String(err.Error())}, Hint: "config.no_list.hint", HintArgs: []any{"overt doctor"}}
	case len(ids) == 1:
		c.Notices = append(c.Notices, config.Notice{Code: "config.one_model", Args: []any{ids[0], Place(c)}})
		return ids[0], nil
	case len(ids) == 0:
		return "", &config.Error{Code: "config.empty_list", Args: []any{Place(c)}, Hint: "config.no_model.hint"}
	}
	some := strings.Join(ids[:min(len(ids), 10)], ", ")
	if len(ids) > 10 {
		some += ", …"
	}
	return "", &config.Error{Code: "config.no_model", Args: []any{Place(c), len(ids), some}, Hint: "config.no_model.hint"}
}

// Place names the endpoint: by the name of its entry or preset, else by host and port.
func Place(c *config.Config) string {
	if u, err := url.Parse(c.BaseURL.Value); err == nil && u.Hostname() == c.Provider {
		return u.Host
	}
	return c.Provider
}

// lastReply is a sink that remembers the body of the last reply.
type lastReply struct {
	wire.Sink
	mu   sync.Mutex
	last []byte
}

// Received implements [wire.Sink].
func (l *lastReply) Received(ctx context.Context, r wire.Received) (wire.Kept, error) {
	l.mu.Lock()
	l.last = r.Body
	l.mu.Unlock()
	return l.Sink.Received(ctx, r)
}

func (l *lastReply) body() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}
