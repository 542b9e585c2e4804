package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"overt/internal/config"
	"overt/internal/wire"
)

// keyStep is how long the command that gives the key may take here: nobody waits for a diagnosis for a minute.
const keyStep = 10 * time.Second

// shortKey is the length, in bytes, below which a secret is not masked wherever it turns up.
const shortKey = 12

// endpoint says which endpoint and key are in force, whether they belong together, and then goes the way to the server.
func (d *doctor) endpoint(ctx context.Context, f *findings) {
	c := d.c
	switch {
	case d.unsure():
		f.skip("doctor.endpoint.unsure")
		return
	case c.BaseURL.Value == "":
		d.noEndpoint(ctx, f)
		return
	}
	f.ok("doctor.endpoint", c.Provider, d.mask.URL(c.BaseURL.Value), c.BaseURL.Source, c.Protocol.Value)
	if c.Model.Value != "" {
		f.ok("doctor.model.named", c.Model.Value, c.Model.Source)
	}
	d.measured(f)
	fits := d.key(ctx, f)
	f.section = "network"
	d.network(ctx, f, fits)
}

// measured says what a probe has found of the model, and when.
func (d *doctor) measured(f *findings) {
	if d.c.Model.Value == "" {
		return
	}
	p, ok := readProbed(d.o.Places.State, d.c, d.c.Model.Value)
	if !ok {
		return
	}
	found := p.measured().Found()
	on := p.At.Local().Format(time.DateOnly)
	if found == "" {
		f.ok("doctor.probe.same", on)
	} else {
		f.ok("doctor.probe", on, found)
	}
}

// unsure tells whether a setting that does not hold may decide the endpoint. What there is instead is not the one that the
// person means, and a key for this run must not go to it.
func (d *doctor) unsure() bool {
	harmless := func(e *config.Error) bool {
		switch e.Code {
		case "config.value", "config.file.type":
			key, _ := e.Args[0].(string)
			return !slices.Contains([]string{config.Model, config.BaseURL, config.APIKey, config.APIKeyCommand, config.Protocol}, key) && !strings.HasPrefix(key, "providers")
		case "config.system_file":
			return true
		}
		return slices.Contains(endpointCodes(), e.Code) || d.o.Sources.Project != nil && e.Path == d.o.Sources.Project.Path
	}
	for _, e := range slices.Concat(d.o.Broken, d.c.Problems) {
		// A file says nothing against an address and a key that were said for this run.
		if !harmless(e) && (e.Path == "" || d.c.BaseURL.Source.Layer < config.Environment) {
			return true
		}
	}
	return false
}

// noEndpoint names local servers that could be one.
func (d *doctor) noEndpoint(ctx context.Context, f *findings) {
	if i := slices.IndexFunc(d.c.Problems, func(e *config.Error) bool {
		return slices.Contains([]string{"config.no_key", "config.no_prefix", "config.model_alone"}, e.Code)
	}); i >= 0 {
		f.setting(d.c.Problems[i])
	}
	if d.o.Offline {
		f.skip("doctor.local.offline")
		return
	}
	list := LocalServers(ctx, d.o.Sources.Env)
	for _, s := range list {
		models := strings.Join(s.Models[:min(len(s.Models), 3)], ", ")
		c := f.add(VerdictOK, "doctor.local", s.Name, s.BaseURL, len(s.Models), models)
		if len(s.Models) > 0 {
			c.next("doctor.local.next", s.BaseURL, s.Models[0])
		}
	}
	if len(list) == 0 {
		f.skip("doctor.local.none")
	}
}

// key says what key is in force, and tells whether it may be sent to the endpoint.
func (d *doctor) key(ctx context.Context, f *findings) bool {
	c := d.c
	if i := slices.IndexFunc(c.Problems, func(e *config.Error) bool { return e.Code == "config.preset_key" }); i >= 0 {
		f.setting(c.Problems[i])
		return false
	}
	if len(c.KeyCommand.List) > 0 {
		if d.o.Offline {
			f.skip("doctor.key.command.offline", c.KeyCommand.List[0])
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, keyStep)
		defer cancel()
		var bad *config.Error
		if err := askKey(ctx, d.c, d.o.Env, d.mask); errors.As(err, &bad) {
			f.setting(bad.In(bad.Source))
			return false
		}
	}
	key := c.APIKey.Value
	vendor, owner, local := config.VendorOf(key), config.Owner(c.BaseURL.Value), wire.Local(c.BaseURL.Value)
	switch {
	case key == "" && local:
		f.ok("doctor.key.none")
		return true
	case key == "":
		f.warn("doctor.key.missing").next("doctor.key.missing.next")
		return true
	case vendor != "":
		f.ok("doctor.key.vendor", len([]rune(key)), c.APIKey.Source, vendor)
	default:
		f.ok("doctor.key.set", len([]rune(key)), c.APIKey.Source)
	}
	if strings.Trim(key, "\"' \t\r\n") != key || strings.ContainsFunc(key, unicode.IsControl) {
		f.problem("doctor.key.blank").next("doctor.key.blank.next", c.APIKey.Source)
		return false
	}
	if len(key) < shortKey {
		f.warn("doctor.key.short", len(key), shortKey).next("doctor.key.short.next")
	}
	if strings.HasPrefix(c.BaseURL.Value, "http:") && !local {
		f.warn("doctor.key.open").next("doctor.key.open.next", c.BaseURL.Source)
	}
	switch {
	case vendor == "" || vendor == owner:
		return true
	case owner != "":
		next := d.c.CheckKey()
		f.problem("doctor.key.wrong", vendor, owner).next(next.Hint, next.HintArgs...)
	default:
		f.warn("doctor.key.foreign", vendor, c.Provider).next("doctor.key.foreign.next", c.APIKey.Source)
	}
	return false
}
