package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"overt/internal/config"
)

// endpointCodes are problems that are told with the endpoint.
func endpointCodes() []string {
	return []string{"config.no_key", "config.no_prefix", "config.model_alone", "config.preset_key", "config.wrong_key", "config.bad_key"}
}

// settings says which settings do not hold, which hide others, and which have no effect.
func (d *doctor) settings(_ context.Context, f *findings) {
	bad := slices.Concat(d.o.Broken, d.c.Problems)
	var rule *config.Error
	if _, err := Rules(d.c); errors.As(err, &rule) {
		bad = append(bad, rule)
	}
	bad = append(bad, CheckEntries(d.c)...)
	for _, e := range bad {
		if !slices.Contains(endpointCodes(), e.Code) {
			f.setting(e)
		}
	}
	for _, n := range slices.Concat(d.c.Notices, d.c.Dormant) {
		f.ok(n.Code, slices.Clone(n.Args)...)
	}
	if len(f.checks) == 0 {
		f.ok("doctor.setting.fine")
	}
	d.shadows(f)
	d.effects(f)
	d.names(f)
}

// shadows says which value hides another one.
func (d *doctor) shadows(f *findings) {
	for _, s := range d.c.Settings {
		for _, o := range s.Over {
			switch {
			case (o.Value == s.Value || s.Key == config.Model && o.Value == d.c.Provider+"/"+s.Value) && slices.Equal(o.List, s.List), o.Source.Layer < config.User:
			case s.Source.Layer == config.Environment:
				f.warn("doctor.shadow", s.Source, s.Key, o.Source).next("doctor.shadow.next", s.Source.Name)
			case s.Source.Layer == config.Flag:
				f.ok("doctor.shadow", s.Source, s.Key, o.Source)
			}
		}
	}
	own, key := d.c.Preset.Variable, d.c.APIKey
	if v, ok := d.env(own); ok && own != "" && key.Value != "" && key.Value != v {
		if key.Source.Layer == config.Environment {
			f.warn("doctor.shadow.key", key.Source, d.c.Provider, own).next("doctor.shadow.next", key.Source.Name)
		} else {
			f.ok("doctor.shadow.key", key.Source, d.c.Provider, own)
		}
	}
}

// effects says which values do nothing.
func (d *doctor) effects(f *findings) {
	c := d.c
	if v, ok := d.env("OPENAI_BASE_URL"); ok && c.BaseURL.Value != "" && c.BaseURL.Value != v {
		f.warn("doctor.unused.base_url", c.Provider, c.BaseURL.Source).next("doctor.unused.base_url.next")
	}
	lacks := LacksKey(c)
	for _, w := range c.Withheld {
		switch {
		case w.Source.Layer == config.Vendor:
			f.ok("doctor.unused.variable", w.Source.Name, c.Provider)
		case !lacks:
			f.ok("doctor.unused.key", w.Source)
		default:
			f.warn("doctor.unused.key", w.Source).next("doctor.unused.key.next")
		}
	}
	if name := d.first("ALL_PROXY", "all_proxy"); name != "" && d.first("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy") == "" {
		f.warn("doctor.unused.all_proxy", name).next("doctor.unused.all_proxy.next", name)
	}
	temperature := d.source(config.Temperature)
	d.thinks(f)
	if c.Temperature != nil {
		// Source: the vendors' documents as of autumn 2026. DeepSeek's models think unless told not to, and then leave it out
		// of account in silence; the others answer 400.
		switch owner, model := config.Owner(c.BaseURL.Value), c.Model.Value; {
		case owner == "deepseek" && c.Thinking != config.Off:
			f.warn("doctor.unused.temperature", temperature).next("doctor.unused.remove", temperature)
		case owner == "openai" && hasPrefix(model, "gpt-5", "o1", "o3", "o4"), owner == "moonshot" && hasPrefix(model, "kimi-"):
			f.warn("doctor.unused.temperature.refused", model, temperature).next("doctor.unused.remove", temperature)
		}
	}
	if c.Timeout > 0 && c.RequestTimeout >= c.Timeout {
		s := d.source(config.RequestTimeout)
		f.warn("doctor.unused.request_timeout", s, c.RequestTimeout, c.Timeout).next("doctor.unused.remove", s)
	}
	if len(c.Allow) > 0 && (c.Permission.Value == "full" || len(c.Tools) == 0) {
		f.warn("doctor.unused.allow", c.Allow[0].Source).next("doctor.unused.remove", c.Allow[0].Source)
	}
}

// thinks says which of the parameters do not reach the model, or not as they were said. What is known of the server, and what was measured,
// decides.
func (d *doctor) thinks(f *findings) {
	c := d.c
	sent, ok := effects(c, d.o.Places.State, c.Model.Value)
	if !ok {
		return
	}
	if c.Thinking != "" && !sent.Thinking {
		s := d.source(config.Thinking)
		f.warn("doctor.unused.thinking", s, c.Provider).next("doctor.unused.thinking.next", s)
	}
	switch s := d.source(config.Effort); {
	case c.Effort == "":
	case sent.Effort == "":
		f.warn("doctor.unused.effort", s, c.Provider).next("doctor.unused.remove", s)
	case sent.Effort != c.Effort:
		f.ok("doctor.unused.effort.other", c.Effort, s, sent.Effort, c.Provider)
	}
	if c.Temperature != nil && !sent.Temperature {
		s := d.source(config.Temperature)
		f.warn("doctor.unused.temperature.thinking", s).next("doctor.unused.remove", s)
	}
}

func hasPrefix(s string, any ...string) bool {
	return slices.ContainsFunc(any, func(p string) bool { return strings.HasPrefix(s, p) })
}

// source says where the value of a key comes from.
func (d *doctor) source(key string) config.Source { return sourceOf(d.c, key) }

func sourceOf(c *config.Config, key string) config.Source {
	i := slices.IndexFunc(c.Settings, func(s config.Explained) bool { return s.Key == key })
	if i < 0 {
		return config.Source{}
	}
	return c.Settings[i].Source
}

// names looks for variables that look like ours and are none.
func (d *doctor) names(f *findings) {
	ours := []string{"OVERT_CONFIG", "OVERT_GROUP"}
	for _, k := range config.Keys() {
		if v := k.Variable(); v != "" {
			ours = append(ours, v)
		}
	}
	for _, kv := range d.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "OVERT_") || value == "" || slices.Contains(ours, name) {
			continue
		}
		if like := config.Nearest(name, ours, 1); len(like) > 0 {
			f.warn("doctor.unused.name", name).next("doctor.unused.name.like", like[0])
		} else {
			f.warn("doctor.unused.name", name).next("doctor.unused.name.next", name)
		}
	}
}
