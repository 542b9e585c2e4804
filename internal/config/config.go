// Package config resolves settings: built-in values < environment < flags, each with the source that it came from.
//
// Use [Resolve] with what the command line gave and a look-up of the environment. The package reads nothing by itself,
// and holds no state. Presets of endpoints are in [Presets].
package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Keys of settings. Each has a flag, and the environment variable OVERT_ with the key in capitals.
const (
	Model      = "model"
	BaseURL    = "base_url"
	APIKey     = "api_key"
	Protocol   = "protocol"
	System     = "system"
	Permission = "permission"
	MaxSteps   = "max_steps"
	Tokens     = "budget_tokens"
	Files      = "budget_files"
	Timeout    = "timeout"
	Stream     = "stream"
	Output     = "output"
	Input      = "input"
)

// Setting is a value and where it came from: "built-in", "environment OVERT_MODEL", "flag --model", "preset deepseek".
type Setting struct{ Value, Source string }

// Config is every setting, resolved and checked.
type Config struct {
	Provider   string // name of the preset, or of the host that BaseURL names
	Model      Setting
	BaseURL    Setting
	APIKey     Setting
	Protocol   Setting
	System     Setting
	Permission Setting
	MaxSteps   int
	Tokens     int
	Files      int
	Timeout    time.Duration // of a run; whole seconds
	Stream     bool
	Output     string
	Input      string // text, stream-json
	Notices    []Notice
}

// Notice is something that a person should know of how the configuration came about.
type Notice struct {
	Code string // a message of package i18n
	Args []any
}

// Error is a setting that does not hold. Code is a message of package i18n, Hint another one or "".
type Error struct {
	Code  string
	Args  []any
	Hint  string
	Usage bool // it was said on the command line, so the command line is at fault
}

// Error implements error; views show the message of the code instead.
func (e *Error) Error() string { return fmt.Sprintf("%s %v", e.Code, e.Args) }

// Preset is a known endpoint.
type Preset struct {
	Name, BaseURL, Variable, Model string
}

// Presets lists the known endpoints in the order in which their variables select them.
func Presets() []Preset {
	return []Preset{
		{"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-flash"},
		{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.6"},
	}
}

// Profiles lists the permission profiles.
func Profiles() []string { return []string{"plan", "ask", "auto", "full"} }

// Outputs lists the forms of output.
func Outputs() []string { return []string{"text", "json", "stream-json"} }

// Inputs lists the forms of input.
func Inputs() []string { return []string{"text", "stream-json"} }

// Protocols lists the protocols.
func Protocols() []string { return []string{"openai-chat"} }

// maxTimeout is far beyond any run, and within what a timer can hold.
const maxTimeout = 365 * 24 * time.Hour

// Resolve puts the layers together. flags holds what the command line gave, by key; env looks a variable up.
// The error is an *[Error].
func Resolve(flags map[string]string, env func(string) (string, bool)) (*Config, error) {
	r := resolver{flags, env}
	c := &Config{
		Model: r.get(Model, ""), BaseURL: r.get(BaseURL, ""), APIKey: r.get(APIKey, ""), Protocol: r.get(Protocol, "openai-chat"),
		System: r.get(System, ""), Permission: r.get(Permission, "ask"), Output: r.get(Output, "text").Value,
		Input: r.get(Input, "text").Value,
	}
	for _, choice := range []struct {
		key     string
		set     Setting
		allowed []string
	}{{Permission, c.Permission, Profiles()}, {Protocol, c.Protocol, Protocols()}, {Output, r.get(Output, "text"), Outputs()}, {Input, r.get(Input, "text"), Inputs()}} {
		if !slices.Contains(choice.allowed, choice.set.Value) {
			return nil, choice.set.bad("config.one_of", choice.key, strings.Join(choice.allowed, ", "))
		}
	}
	for _, n := range []struct {
		key string
		to  *int
	}{{MaxSteps, &c.MaxSteps}, {Tokens, &c.Tokens}, {Files, &c.Files}} {
		s := r.get(n.key, "0")
		var err error
		if *n.to, err = strconv.Atoi(s.Value); err != nil || *n.to < 0 {
			return nil, s.bad("config.number", n.key)
		}
	}
	var err error
	if s := r.get(Timeout, "0"); s.Value != "0" {
		if c.Timeout, err = time.ParseDuration(s.Value); err != nil || c.Timeout < time.Second || c.Timeout > maxTimeout {
			return nil, s.bad("config.duration", Timeout)
		}
	}
	stream := r.get(Stream, "true")
	if c.Stream, err = strconv.ParseBool(stream.Value); err != nil {
		return nil, stream.bad("config.bool", Stream)
	}
	if err := r.endpoint(c); err != nil {
		return nil, err
	}
	return c, nil
}

// bad is the error of a setting whose value does not hold.
func (s Setting) bad(code, key string, more ...any) *Error {
	return &Error{Code: code, Args: append([]any{key, s.Value}, more...), Usage: strings.HasPrefix(s.Source, "flag")}
}

type resolver struct {
	flags map[string]string
	env   func(string) (string, bool)
}

func (r resolver) get(key, builtin string) Setting {
	if v, ok := r.flags[key]; ok {
		return Setting{v, "flag --" + strings.ReplaceAll(key, "_", "-")}
	}
	name := "OVERT_" + strings.ToUpper(key)
	if v, ok := r.env(name); ok && v != "" {
		return Setting{v, "environment " + name}
	}
	return Setting{builtin, "built-in"}
}

// endpoint settles provider, base URL, model and key.
func (r resolver) endpoint(c *Config) error {
	if c.BaseURL.Value != "" {
		u, err := url.Parse(c.BaseURL.Value)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return &Error{Code: "config.base_url", Args: []any{c.BaseURL.Source}, Usage: strings.HasPrefix(c.BaseURL.Source, "flag")}
		}
		c.Provider = u.Hostname()
		for _, p := range Presets() {
			if serves(p, u) {
				c.Provider = p.Name
				r.vendorKey(c, p)
			}
		}
		return nil // the model is taken as it stands: a name may well contain "/"
	}
	p, ok := r.preset(c)
	if !ok {
		return &Error{Code: "config.no_key", Args: []any{variables()}, Hint: "config.no_key.hint"}
	}
	c.Provider, c.BaseURL = p.Name, Setting{p.BaseURL, "preset " + p.Name}
	if c.Model.Value == "" {
		c.Model = Setting{p.Model, "preset " + p.Name}
	}
	r.vendorKey(c, p)
	if c.APIKey.Value == "" {
		return &Error{Code: "config.preset_key", Args: []any{p.Name, p.Variable}, Hint: "config.no_key.hint"}
	}
	return nil
}

// preset picks a known endpoint: the one that the model names, else the first whose variable is set.
func (r resolver) preset(c *Config) (Preset, bool) {
	if name, model, ok := strings.Cut(c.Model.Value, "/"); ok {
		for _, p := range Presets() {
			if p.Name == name {
				c.Model.Value = model
				return p, true
			}
		}
	}
	var chosen *Preset
	for _, p := range Presets() {
		if v, ok := r.env(p.Variable); !ok || v == "" {
			continue
		}
		if chosen != nil {
			c.Notices = append(c.Notices, Notice{"config.several_keys", []any{chosen.Variable, p.Variable}})
			continue
		}
		chosen = &p
	}
	if chosen == nil && c.APIKey.Value != "" {
		chosen = &Presets()[0]
	}
	if chosen == nil {
		return Preset{}, false
	}
	return *chosen, true
}

// vendorKey takes the vendor's own variable where no key was given. It is called only for the vendor's own endpoint.
func (r resolver) vendorKey(c *Config, p Preset) {
	if c.APIKey.Value != "" {
		return
	}
	if v, ok := r.env(p.Variable); ok && v != "" {
		c.APIKey = Setting{v, "environment " + p.Variable}
	}
}

// serves tells whether u is the preset's own endpoint: the host is the same, to the letter, and so is the scheme, so
// that no key travels unencrypted or to a host that merely looks alike.
func serves(p Preset, u *url.URL) bool {
	own, err := url.Parse(p.BaseURL)
	return err == nil && u.Scheme == own.Scheme && strings.EqualFold(u.Host, own.Host)
}

func variables() string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Variable)
	}
	return strings.Join(names, ", ")
}
