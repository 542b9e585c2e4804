package config

import (
	"net/url"
	"slices"
	"strings"
)

// given takes the endpoint of a base URL that was configured. The model is taken as it stands: a name may well contain "/". What
// names a provider all the same is for [resolver.prefixed] to tell.
func (r *resolver) given() {
	e, p := r.served()
	if named, ok := r.prefixed(); ok {
		e = named
		r.c.Provider = e.Name
		p, _ = preset(e.Name)
	}
	r.take(e, p)
}

// prefixed looks whether the model names a provider with this very base URL, whose entry is given: then the model is what follows.
// A model from below, which names a provider, was never meant for the base URL of this run, and is not taken where that is
// another one's.
func (r *resolver) prefixed() (Entry, bool) {
	c := r.c
	name, model, ok := strings.Cut(c.Model.Value, "/")
	if !ok {
		return Entry{}, false
	}
	e := r.entry(name)
	p, known := preset(name)
	home := or(e.BaseURL, Setting{Value: p.BaseURL}).Value
	if e.astray {
		home = ""
	}
	if e.Name != "" && strings.TrimRight(home, "/") == strings.TrimRight(c.BaseURL.Value, "/") {
		c.Model.Value = model
		if model == "" {
			c.Model = Setting{Key: Model, Value: e.Model.Value, Source: e.Model.Source}
		}
		return e, true
	}
	if e.Name == "" && !known || c.BaseURL.Source.Layer < Environment || c.Model.Source.Layer >= c.BaseURL.Source.Layer || r.otherURL() {
		return Entry{}, false
	}
	if home != "" && origin(home) == origin(c.BaseURL.Value) || known && e.Name == "" && p.serves(c.BaseURL.Value) {
		c.Model.Value = model
		return Entry{}, false
	}
	c.Notices = append(c.Notices, Notice{"config.model_elsewhere", []any{c.Model.Value, c.Model.Source, name}})
	c.Model = Setting{Key: Model}
	r.values[Model] = c.Model
	return Entry{}, false
}

// otherURL tells whether a layer below has a base URL too, so that a model there is one that was meant as it stands.
func (r *resolver) otherURL() bool {
	i := slices.IndexFunc(r.c.Settings, func(s Explained) bool { return s.Key == BaseURL })
	return i >= 0 && len(r.c.Settings[i].Over) > 0
}

// served finds the entry or preset whose base URL is the one that was given.
func (r *resolver) served() (Entry, Preset) {
	c := r.c
	if u, err := url.Parse(c.BaseURL.Value); err == nil {
		c.Provider = u.Hostname()
	}
	bare := func(s string) string { return strings.TrimRight(s, "/") }
	for _, same := range []func(string, string) bool{
		func(a, b string) bool { return bare(a) == bare(b) },
		func(a, b string) bool { return origin(a) == origin(b) },
	} {
		for _, e := range r.user.providers {
			if p, _ := preset(e.Name); !e.astray && same(or(e.BaseURL, Setting{Value: p.BaseURL}).Value, c.BaseURL.Value) {
				c.Provider = e.Name
				return e, p
			}
		}
	}
	owner := Owner(c.BaseURL.Value)
	for _, p := range r.presets() {
		if !p.Local() && p.serves(c.BaseURL.Value) && (owner == "" || owner == p.Name) {
			c.Provider = p.Name
			return Entry{}, p
		}
	}
	return Entry{}, Preset{}
}
