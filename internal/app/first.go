package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"overt/internal/config"
	"overt/internal/llm"
	"overt/internal/prompt"
	"overt/internal/provider"
	"overt/internal/wire"
)

// firstTime bounds a probe that a task waits for. What is not measured by then counts as supported.
const firstTime = time.Minute

// FirstProbe is what a probe before a task's requests found: one of the results of package provider, "" where it was not looked for.
type FirstProbe struct {
	Model         string
	Tools, Images string
	Err           string // why nothing was measured, masked; "": it was
}

// ProbeFirst measures, before the first request, what the settings want measured: under always whether tools and pictures are taken, and under auto
// whether pictures are, if some are about to be sent and nobody knows. What was measured before is not measured again. Nil: there was nothing to measure.
// The error is of this machine, or ctx's; what the server does not answer is no error.
func (a *App) ProbeFirst(ctx context.Context, pictures bool) (*FirstProbe, error) {
	c := a.o.Config
	kept, _ := readProbed(a.o.State, c, a.Model)
	k := readKnown(a.o.State, c.BaseURL.Value)
	m := modelOf(c, &k, a.Model)
	silent := m.Images == nil && !kept.Looked
	look := silent && pictures
	tools := false
	switch c.Probe {
	case config.Off:
		return nil, nil
	case config.ProbeAlways:
		look = !kept.Looked && m.From["images"] != FromConfig
		tools = !kept.Tools && len(c.Tools) > 0
	}
	if !look && !tools {
		return nil, nil
	}
	found, err := a.measure(ctx, tools, look)
	if found == nil {
		return nil, err
	}
	out := &FirstProbe{Model: a.Model, Tools: found.Result("tools"), Images: found.Result("images")}
	if err != nil {
		out.Err = a.mask.String(err.Error())
	}
	return out, ctx.Err()
}

// measure probes, and keeps what was found. Nothing found and an error is a fault of this machine; something found and an error, why there was no
// answer.
func (a *App) measure(ctx context.Context, tools, pictures bool) (*provider.Probed, error) {
	c := a.o.Config
	user, err := a.user.open(ctx)
	if err != nil {
		return nil, err
	}
	link, bad := transport(c)
	if bad != nil {
		return nil, bad
	}
	w := wire.New(wire.Options{Sink: user.Captures(), UserAgent: "overt", Timeout: c.RequestTimeout, Idle: c.IdleTimeout, Transport: link})
	defer w.Close()
	o, bad := probeOptions(c, w, a.Model)
	if bad != nil {
		return nil, bad
	}
	ctx, cancel := context.WithTimeout(ctx, firstTime)
	defer cancel()
	var found *provider.Probed
	if tools {
		found, err = provider.ProbeCapabilities(ctx, o, pictures)
	} else {
		found, err = provider.ProbeImages(ctx, o)
	}
	if err != nil {
		return found, err
	}
	p := a.remembered(byFirst)
	if err := p.learn(found); err != nil {
		return nil, err
	}
	if err := p.write(a.o.State); err != nil {
		return nil, err
	}
	return found, nil
}

// remembered is what was measured before, to add to.
func (a *App) remembered(by string) probed {
	p, ok := readProbed(a.o.State, a.o.Config, a.Model)
	if !ok {
		p = newProbed(a.o.Config, a.Model, by)
	}
	return p
}

// careful is a model of which it is found out whether it takes pictures before the first one is sent, and whose server's refusals are kept, as far as they
// say what to do otherwise.
type careful struct {
	llm.Model
	a *App

	look *firstLook // of the App
}

// firstLook is whether a model is known to take no pictures, as it was found out before the first one was sent. What can't be measured
// then is not tried again.
type firstLook struct {
	mu         sync.Mutex
	done, none bool
}

// refused tells whether pictures are not to be sent. Its error is of this machine.
func (l *firstLook) refused(ctx context.Context, a *App) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return l.none, nil
	}
	if _, err := a.ProbeFirst(ctx, true); err != nil {
		if ctx.Err() != nil { // the request ends likewise
			return false, nil
		}
		return false, err
	}
	k := readKnown(a.o.State, a.o.Config.BaseURL.Value)
	m := modelOf(a.o.Config, &k, a.Model)
	l.done, l.none = true, !takes(m.Images) && m.From["images"] == FromProbe
	return l.none, nil
}

// Stream implements [llm.Model].
func (m careful) Stream(ctx context.Context, r *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	if prompt.Pictures(r) > 0 {
		none, err := m.look.refused(ctx, m.a)
		switch {
		case err != nil:
			return &llm.Response{}, &llm.Error{Class: llm.Storage, Message: m.a.mask.String("whether the model takes pictures could not be measured and kept: " + err.Error()), Err: err}
		case none:
			return &llm.Response{}, &llm.Error{Class: llm.Pictures, Code: "probe", Message: "a small picture was refused when this was measured"}
		}
	}
	out, err := m.Model.Stream(ctx, r, show)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Class == llm.NoTools && len(r.Tools) > 0 {
		m.a.learnRefusal("tools", provider.InText)
	}
	if err == nil && r.Uncounted {
		m.a.learnRefusal("no_stream_usage", true)
	}
	return out, err
}

// learnRefusal keeps what a refusal of the server has shown: that tools are to be called in text, or that a stream can't be asked for its
// usage. It counts from the next run on. It is no harm if it can't be kept.
func (a *App) learnRefusal(quirk string, value any) {
	p := a.remembered(byServer)
	r := &provider.Probed{Quirks: map[string]any{quirk: value}}
	if p.learn(r) == nil {
		_ = p.write(a.o.State)
	}
}
