package config

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// openAIBaseURL is a variable that other programs share; it moves the preset "openai", and nothing else.
const openAIBaseURL = "OPENAI_BASE_URL"

// ollamaHost is Ollama's own variable for the address of its server, [scheme://]host[:port].
const ollamaHost = "OLLAMA_HOST"

// ollama is the base URL that OLLAMA_HOST stands for, read as Ollama's envconfig does, or the usual one where it can't be
// understood: [scheme://][host][:port][/path], perhaps in quotes. A server that listens on every address is reached on this
// machine's own.
func ollama(value, usual string) string {
	value = strings.Trim(strings.TrimSpace(value), "\"'")
	port := map[string]string{"http": "80", "https": "443"}
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok {
		scheme, rest, port = "http", value, map[string]string{"http": "11434"}
	}
	host, path, _ := strings.Cut(rest, "/")
	if strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") { // an IPv6 address alone
		host = "[" + host + "]"
	}
	u, err := url.Parse(scheme + "://" + host)
	if value == "" || err != nil || port[scheme] == "" {
		return usual
	}
	name := u.Hostname()
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	p := u.Port()
	if p == "" {
		p = port[scheme]
	}
	if path = strings.Trim(path, "/"); path == "" {
		path = "v1"
	}
	return scheme + "://" + name + ":" + p + "/" + path
}

// presets lists the presets as the environment and the person's file move them.
func (r *resolver) presets() []Preset {
	all := Presets()
	for i, p := range all {
		if p.Name == "ollama" {
			if v, ok := r.src.Env(ollamaHost); ok {
				all[i].BaseURL = ollama(v, p.BaseURL)
			}
		}
		if p.Name != "openai" {
			continue
		}
		if v, ok := r.src.Env(openAIBaseURL); ok && origin(v) != "" {
			moved := Preset{Name: p.Name, BaseURL: v, Variable: p.Variable}
			if p.serves(v) {
				moved = p
				moved.BaseURL = v
			}
			all[i] = moved
		}
	}
	return all
}

// endpoint settles provider, base URL, model, protocol and key.
func (r *resolver) endpoint() {
	c := r.c
	defer r.dormant()
	switch e := r.entry(c.Model.Value); {
	case c.BaseURL.Value != "":
		r.given()
	case e.Name != "":
		r.key(Preset{}, Entry{})
		r.alone(or(e.Model, Setting{Value: modelOf(e.Name)}).Value)
		return
	case !r.named() && !r.selected():
		r.key(Preset{}, Entry{})
		if r.stranger(Preset{}) || len(c.Problems) > 0 { // which may have kept one out
			return
		}
		p, known := preset(c.Model.Value)
		switch some, more := variables(); {
		case known:
			r.alone(p.Model)
		case c.Model.Value != "":
			r.bad((&Error{Code: "config.no_prefix", Args: []any{c.Model.Value, strings.Join(r.names(), ", ")}, Hint: "config.no_prefix.hint", HintArgs: []any{c.Model.Value}}).In(c.Model.Source))
		default:
			r.bad(&Error{Code: "config.no_key", Args: []any{some, more}, Hint: "config.no_key.hint"})
		}
		return
	}
	if v, ok := r.src.Env(openAIBaseURL); ok && v != "" && origin(v) == "" && c.Preset.Name == "openai" && c.BaseURL.Source.Layer <= Vendor {
		r.bad(&Error{Code: "config.base_url", Args: []any{Source{Layer: Environment, Name: openAIBaseURL}}})
	}
}

// modelOf is the model of a preset, "" where there is none.
func modelOf(name string) string {
	p, _ := preset(name)
	return p.Model
}

// alone says that the model is the name of a provider, whose own model is another word.
func (r *resolver) alone(own string) {
	m := r.c.Model
	e := &Error{Code: "config.model_alone", Args: []any{m.Value, m.Value}}
	if own != "" {
		e.Hint, e.HintArgs = "config.model_alone.own", []any{m.Value, own}
	}
	r.bad(e.In(m.Source))
}

// dormant notes what is wrong with entries that are not in use.
func (r *resolver) dormant() {
	for _, e := range r.user.providers {
		if e.Name == r.used || e.Disabled {
			continue
		}
		for _, u := range e.unset {
			r.c.Dormant = append(r.c.Dormant, Notice{"config.dormant", []any{u.At(), u.Args[0], e.Name}})
		}
	}
}

// named takes the entry or preset that the model names before its first "/".
func (r *resolver) named() bool {
	c := r.c
	name, model, ok := strings.Cut(c.Model.Value, "/")
	if !ok {
		return false
	}
	i := slices.IndexFunc(r.user.providers, func(e Entry) bool { return e.Name == name })
	j := slices.IndexFunc(r.presets(), func(p Preset) bool { return p.Name == name })
	if i < 0 && j < 0 {
		return false
	}
	c.Model.Value = model
	var e Entry
	var p Preset
	if i >= 0 {
		e = r.user.providers[i]
	}
	if j >= 0 {
		p = r.presets()[j]
	}
	r.use(e, p)
	return true
}

// selected takes the preset that a key selects: one in the file, which names no endpoint beside it, the first; else the
// first preset whose own variable is set; else the first, if there is a key at all.
func (r *resolver) selected() bool {
	c := r.c
	all := r.presets()
	if r.user.values[APIKey].set() || r.user.values[APIKeyCommand].set() {
		p := all[r.first(r.user.values[APIKey].Value)]
		r.use(r.entry(p.Name), p)
		r.stranger(p)
		return true
	}
	var chosen *Preset
	var by string
	for _, p := range all {
		name := p.Variable
		if v, ok := r.src.Env(name); name == "" || !ok || v == "" {
			if !p.moved() || p.Local() {
				continue
			}
			name = openAIBaseURL
		}
		if chosen != nil {
			c.Notices = append(c.Notices, Notice{"config.several_keys", []any{by, name}})
			continue
		}
		chosen, by = &p, name
	}
	if chosen == nil && c.APIKey.Value != "" {
		chosen = &all[r.first(c.APIKey.Value)]
	}
	if chosen == nil {
		return false
	}
	r.use(r.entry(chosen.Name), *chosen)
	r.stranger(*chosen)
	return true
}

// first is the place of the preset that a key alone stands for: its vendor's, where it begins as no other's does, else the
// first.
func (r *resolver) first(key string) int {
	vendor := VendorOf(key)
	return max(0, slices.IndexFunc(Presets(), func(p Preset) bool { return p.Name == vendor }))
}

// stranger keeps a model that names a provider which is not there from another one, whose models have no "/" in their names:
// what is meant for a server of one's own must not go to whichever vendor's variable is set.
func (r *resolver) stranger(p Preset) bool {
	name, _, ok := strings.Cut(r.c.Model.Value, "/")
	if !ok || p.Name != "" && (p.Model == "" || strings.Contains(p.Model, "/")) {
		return false
	}
	r.bad((&Error{Code: "config.no_provider", Args: []any{name, strings.Join(r.names(), ", ")}, Hint: "config.no_provider.hint"}).In(r.c.Model.Source))
	return true
}

// names lists what may stand before the "/" of a model, the person's own first.
func (r *resolver) names() (names []string) {
	for _, e := range r.user.providers {
		names = append(names, e.Name)
	}
	for _, p := range Presets() {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (r *resolver) entry(name string) Entry {
	i := slices.IndexFunc(r.user.providers, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}
	}
	return r.user.providers[i]
}

// use takes base URL, model and protocol from an entry, and what that leaves open from a preset.
func (r *resolver) use(e Entry, p Preset) {
	c := r.c
	c.Provider = p.Name
	if e.Name != "" {
		c.Provider = e.Name
	}
	from := Source{Layer: BuiltIn, Name: p.Name}
	if p.moved() {
		from = Source{Layer: Vendor, Name: openAIBaseURL}
		if p.Local() {
			from.Name = ollamaHost
		}
	}
	c.BaseURL = or(e.BaseURL, Setting{Value: p.BaseURL, Source: from})
	if e.astray {
		c.BaseURL = Setting{}
	}
	c.BaseURL.Key = BaseURL
	if c.Model.Value == "" {
		c.Model = or(e.Model, Setting{Value: p.Model, Source: Source{Layer: BuiltIn, Name: p.Name}})
		if e.BaseURL.set() && !p.serves(e.BaseURL.Value) && !e.Model.set() {
			c.Model = Setting{Source: c.Model.Source} // a preset's model is the vendor's
		}
		c.Model.Key = Model
	}
	r.take(e, p)
}

// take settles protocol and key for the endpoint.
func (r *resolver) take(e Entry, p Preset) {
	c := r.c
	r.used = e.Name
	if e.Disabled {
		r.bad(&Error{Code: "config.disabled", Args: []any{e.Name}, Source: c.Model.Source})
	} else {
		c.Problems = append(c.Problems, e.unset...)
	}
	if p.serves(c.BaseURL.Value) {
		c.Preset = p
	}
	switch {
	case c.Protocol.Source.Layer >= Environment:
	case e.Protocol.set():
		c.Protocol = e.Protocol
		c.Protocol.Key = Protocol
	case c.Preset.Protocol != "" && c.Protocol.Source.Layer == BuiltIn:
		c.Protocol = Setting{Key: Protocol, Value: c.Preset.Protocol, Source: Source{Layer: BuiltIn, Name: c.Preset.Name}}
	}
	if r.belongs(e) {
		c.Headers = e.Headers
	}
	c.Quirks, c.Models = e.Quirks, e.Models
	c.Described = slices.Concat(c.Headers, []Setting{e.Quirks, e.facts})
	c.Described = slices.DeleteFunc(c.Described, func(s Setting) bool { return !s.set() })
	for _, key := range entryOverrides() {
		if s := e.other[key]; s.set() && r.values[key].Source.Layer < Environment {
			s.Key = key
			r.values[key] = s
		}
	}
	r.key(c.Preset, e)
	for _, own := range Presets() {
		if !own.Local() && own.serves(c.BaseURL.Value) && !c.APIKey.set() && !c.KeyCommand.set() {
			r.bad(&Error{Code: "config.preset_key", Args: []any{own.Name, own.Variable}, Hint: "config.no_key.hint"})
		}
	}
	if e := c.CheckKey(); e != nil {
		r.bad(e)
	}
}

// key chooses the key for the endpoint: what was said for this run, else the file's, else the vendor's own. What belongs to
// another endpoint is withheld.
func (r *resolver) key(p Preset, e Entry) {
	c := r.c
	given := c.APIKey
	c.APIKey, c.KeyCommand = Setting{Key: APIKey}, Setting{Key: APIKeyCommand}
	if given.Source.Layer >= Environment && given.set() {
		c.APIKey = given
	}
	offer := func(s Setting, fits bool) {
		switch {
		case !s.set():
		case !fits:
			c.Withheld = append(c.Withheld, Setting{Key: s.Key, Source: s.Source})
		case c.APIKey.set() || c.KeyCommand.set():
		case len(s.List) > 0:
			c.KeyCommand = s
			c.KeyCommand.Key = APIKeyCommand
		default:
			c.APIKey = s
			c.APIKey.Key = APIKey
		}
	}
	offer(or(e.APIKey, e.KeyCommand), r.belongs(e))
	for _, other := range r.user.providers {
		if other.Name != e.Name {
			offer(or(other.APIKey, other.KeyCommand), false)
		}
	}
	offer(or(r.user.values[APIKey], r.user.values[APIKeyCommand]), origin(r.home()) == origin(c.BaseURL.Value) && c.BaseURL.Value != "")
	for _, v := range r.presets() {
		if value, ok := r.src.Env(v.Variable); ok && v.Variable != "" && value != "" {
			offer(Setting{Key: APIKey, Value: value, Source: Source{Layer: Vendor, Name: v.Variable}}, v.Name == p.Name)
		}
	}
}

// belongs tells whether an entry's key is for the endpoint.
func (r *resolver) belongs(e Entry) bool {
	if r.user.broken || e.astray {
		return false
	}
	p, _ := preset(e.Name)
	home := or(e.BaseURL, Setting{Value: p.BaseURL}).Value
	return home != "" && origin(home) == origin(r.c.BaseURL.Value)
}

// home is the endpoint that the person's file names beside its own key: its base URL, that of the provider that its model
// names, or the first preset's; "" where something in the file does not hold.
func (r *resolver) home() string {
	if r.user.broken {
		return ""
	}
	if u := r.user.values[BaseURL]; u.set() {
		return u.Value
	}
	alone := Presets()[r.first(r.user.values[APIKey].Value)]
	if name, _, ok := strings.Cut(r.user.values[Model].Value, "/"); ok {
		if e := r.entry(name); e.BaseURL.set() || e.astray {
			return e.BaseURL.Value
		}
		if p, ok := preset(name); ok {
			return p.BaseURL
		}
		if !strings.Contains(alone.Model, "/") { // a provider that is not there
			return ""
		}
	}
	return alone.BaseURL
}

// CheckKey makes sure that the key can be sent, and is not one of another vendor than the one whose own address the endpoint
// is. Resolve has done so; a key that a program gave afterwards is to be checked before it is sent.
func (c *Config) CheckKey() *Error {
	if strings.ContainsFunc(c.APIKey.Value, unicode.IsControl) {
		return &Error{Code: "config.bad_key", Args: []any{c.APIKey.Source}, Source: c.APIKey.Source}
	}
	owner, vendor := Owner(c.BaseURL.Value), VendorOf(c.APIKey.Value)
	if owner == "" || vendor == "" || owner == vendor {
		return nil
	}
	e := &Error{Code: "config.wrong_key", Args: []any{c.APIKey.Source, vendor, owner}, Hint: "config.wrong_key.hint", HintArgs: []any{owner, vendor}, Source: c.APIKey.Source}
	if _, known := preset(vendor); !known {
		e.Hint, e.HintArgs = "config.wrong_key.alone", []any{owner}
	}
	return e
}
