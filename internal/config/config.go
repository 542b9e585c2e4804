// Package config resolves settings in layers, each value with the source that it came from: built-in values < the
// person's file < environment < flags. A vendor's own variables stand below the file, and of a project's file only what
// tightens is taken.
//
// Use [Locate] and [ReadFile] to find and read the files, and [Resolve] to put the layers together. [Keys] is the table
// behind flags, variables, files, schema and reference alike; [Presets] are the known endpoints. Nothing is kept
// between calls, and the environment is read through the function that the caller gives.
//
// The rule for keys: a key goes to the endpoint that it belongs to, and to no other. What a person says for this very run
// (flag, OVERT_API_KEY) belongs to the endpoint of the run; a key in a file to the endpoint that the same file names beside
// it; a vendor's variable to the vendor.
package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Layer is where a value comes from; a greater one is stronger.
type Layer int

// Layers.
const (
	BuiltIn Layer = iota
	Vendor        // a variable that vendors made, or the preset that it selects
	Project       // .overt/config.json of the workspace
	User          // the person's file
	Environment
	Flag
)

// Source is a place that a value came from.
type Source struct {
	Layer  Layer
	Name   string // of the file, variable, flag or preset
	Line   int    // in a file, from 1
	Column int    // in its line, in characters, from 1
}

// String names the source for people: "built-in", "preset openai", "PATH:3", "environment OVERT_MODEL", "flag --model".
func (s Source) String() string {
	switch {
	case s.Layer == BuiltIn && s.Name == "":
		return "built-in"
	case s.Layer == BuiltIn:
		return "preset " + s.Name
	case s.Layer == Flag:
		return "flag --" + s.Name
	case s.Layer == User || s.Layer == Project:
		return s.Name + ":" + strconv.Itoa(s.Line)
	}
	return "environment " + s.Name
}

// Setting is a value of a key and where it came from.
type Setting struct {
	Key    string
	Value  string
	List   []string // of keys of kind List and Command
	Source Source

	places  []Source          // of the elements of List in a file
	members map[string]Source // of the members of an object in a file
}

// Member says where a member of an object stands, or the object where the member is not in it.
func (s Setting) Member(name string) Source {
	if at, ok := s.members[name]; ok {
		return at
	}
	return s.Source
}

// set tells whether there is a value.
func (s Setting) set() bool { return s.Value != "" || len(s.List) > 0 }

// Explained is a setting with what it has overridden, the strongest first. For a list, which nothing overrides, there is
// one for each layer.
type Explained struct {
	Setting
	Over []Setting
}

// Config is every setting, resolved and checked.
type Config struct {
	Provider       string // the name of a preset or an entry, or the host that BaseURL names
	Model          Setting
	BaseURL        Setting
	APIKey         Setting
	KeyCommand     Setting // its output is the key; APIKey is empty then
	Protocol       Setting
	System         Setting
	Temperature    *float64 // nil: none is sent
	MaxTokens      int
	Thinking       string // On, Off; "": left to the server
	Effort         string // one of Efforts; "": left to the server
	Stream         bool
	Probe          string   // Auto, ProbeAlways or Off
	Tools          []string // sets, in the order of ToolSets
	Permission     Setting
	Allow, Deny    []Setting // one rule each
	Sandbox        bool      // confine what auto runs unasked, where the system can
	DryRun         bool
	MaxSteps       int
	BudgetTokens   int
	BudgetFiles    int
	Timeout        time.Duration // of a run; whole seconds
	RequestTimeout time.Duration
	IdleTimeout    time.Duration // 0: the usual
	Retries        int
	Proxy          Setting      // a URL, or Off; "": as the environment has it
	CAFile         Setting      // "": none
	HTTP1          bool         // HTTP/2 is not spoken
	Headers        []Setting    // of the provider's entry, for its own endpoint; Key ends in the field's name
	Quirks         Setting      // of the provider's entry, a JSON object
	Models         []ModelFacts // of the provider's entry; see Said
	Described      []Setting    // what the provider's entry says in force beside the settings, for those who show it: headers, quirks, models
	Ephemeral      bool
	Output         string
	Input          string
	Quiet, Verbose bool
	CapturesMax    int64
	CapturesAge    time.Duration
	FilesMax       int64
	FilesAge       time.Duration

	Settings  []Explained // every key, in the order of Keys
	Providers []Entry
	Notices   []Notice
	Dormant   []Notice  // of entries of providers that are not in use here; a run has nothing to say of them
	Problems  []*Error  // everything that does not hold; Resolve returns the first
	Withheld  []Setting // keys that are at hand and belong to another endpoint; Value is empty
	Ignored   []string  // keys in the project's file that are never taken from there
	Untrusted []string  // keys in the project's file that count once the person trusts it
	Variables []string  // that keys in the person's file are made of
	// Preset is the preset whose endpoint this is; its Name is "" where it is none's.
	Preset Preset
}

// Notice is something that a person should know of how the configuration came about.
type Notice struct {
	Code string // a message of package i18n
	Args []any
}

// Error is a setting that does not hold. Code is a message of package i18n, Hint another one or "".
type Error struct {
	Code         string
	Args         []any
	Hint         string
	HintArgs     []any
	Path         string // of a file, "" for none
	Line, Column int    // in the file, from 1
	Source       Source
	Usage        bool // the command line is at fault, whatever the source
}

// Error implements error; views show the message of the code instead.
func (e *Error) Error() string {
	return fmt.Sprintf("%s%s %v", e.At(), e.Code, e.Args)
}

// At says where in which file, "PATH:3:7: ", or "".
func (e *Error) At() string {
	switch {
	case e.Path == "":
		return ""
	case e.Line == 0:
		return e.Path + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", e.Path, e.Line, e.Column)
}

// In says that the error is about what stands at a place, if that is in a file.
func (e *Error) In(s Source) *Error {
	e.Source = s
	if s.Line > 0 {
		e.Path, e.Line, e.Column = s.Name, s.Line, s.Column
	}
	return e
}

// OnCommandLine tells whether the value was said on the command line, so that the command line is at fault.
func (e *Error) OnCommandLine() bool { return e.Usage || e.Source.Layer == Flag }

// Sources is what settings come from.
type Sources struct {
	User    *Document // nil: there is none
	Project *Document // nil: there is none
	Trusted bool      // the person has looked at the project's file as it is and lets it choose; see [Trustable]
	Env     func(string) (string, bool)
	Flags   map[string][]string // by key; more than one value only for lists
}

// Resolve puts the layers together. The error is the first of the problems, an *[Error]; the configuration is there all
// the same, as far as it holds, for those who explain it.
func Resolve(src Sources) (*Config, error) {
	c := &Config{}
	r := resolver{src: src, c: c}
	if src.User != nil {
		r.user, c.Problems = parse(src.User, User, src.Env)
		c.Providers, c.Variables = r.user.providers, r.user.variables
	}
	if src.Project != nil {
		var bad []*Error
		only := []string{Deny}
		if src.Trusted {
			only = append(only, Trustable()...)
		}
		r.project, bad = parse(src.Project, Project, src.Env, only...)
		c.Problems = append(c.Problems, bad...)
		for _, key := range r.project.passed {
			if slices.Contains(Trustable(), key) {
				c.Untrusted = append(c.Untrusted, key)
			} else {
				c.Ignored = append(c.Ignored, key)
			}
		}
	}
	for _, k := range Keys() {
		r.resolve(k)
	}
	c.Model, c.BaseURL, c.APIKey, c.KeyCommand = r.values[Model], r.values[BaseURL], r.values[APIKey], r.values[APIKeyCommand]
	c.Protocol = r.values[Protocol]
	r.endpoint()
	r.typed()
	settled := []Setting{c.Model, c.BaseURL, c.APIKey, c.KeyCommand, c.Protocol}
	for _, key := range entryOverrides() {
		settled = append(settled, r.values[key])
	}
	for i, s := range c.Settings { // what the endpoint has settled
		for _, settled := range settled {
			if s.Key == settled.Key {
				c.Settings[i] = explain(r.asSaid(settled), append([]Setting{s.Setting}, s.Over...))
			}
		}
	}
	if len(c.Problems) > 0 {
		return c, c.Problems[0]
	}
	return c, nil
}

// asSaid is a setting that the endpoint has settled for those who look at it: the model with the provider that was said before it, and a
// key that a program is asked for with the place that says so.
func (r *resolver) asSaid(s Setting) Setting {
	switch said := r.values[s.Key]; {
	case s.Key == Model && said.set():
		s.Value = said.Value
	case s.Key == APIKey && !s.set() && r.c.KeyCommand.set():
		s.Source = r.c.KeyCommand.Source
	}
	return s
}

// explain takes out of what was overridden what is the value itself.
func explain(s Setting, over []Setting) Explained {
	return Explained{s, slices.DeleteFunc(over, func(o Setting) bool { return !o.set() || o.Source == s.Source })}
}

type resolver struct {
	src           Sources
	user, project file
	values        map[string]Setting
	c             *Config
	used          string // the name of the entry that the endpoint is of
}

// layers gives what each layer says of a key, the strongest first; the built-in value is the last.
func (r *resolver) layers(k Key) []Setting {
	var out []Setting
	list := k.Kind == List || k.Kind == Command
	if v, ok := r.src.Flags[k.Name]; ok && k.Flag() != "" && !(k.Kind == Text && k.Name != BaseURL && v[len(v)-1] == "") {
		s := Setting{Key: k.Name, Source: Source{Layer: Flag, Name: k.Flag()}}
		if list {
			s.List = v
		} else if len(v) > 0 {
			s.Value = v[len(v)-1]
		}
		if off := k.OffFlag(); off != "" && s.Value == k.OffValue() {
			s.Source.Name = off
		}
		out = append(out, s)
	}
	if name := k.Variable(); name != "" {
		if v, ok := r.src.Env(name); ok && v != "" {
			s := Setting{Key: k.Name, Value: v, Source: Source{Layer: Environment, Name: name}}
			if list {
				s.Value, s.List = "", slices.DeleteFunc(strings.Split(v, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
			}
			out = append(out, s)
		}
	}
	for _, f := range []file{r.project, r.user} {
		if s, ok := f.values[k.Name]; ok {
			out = append(out, s)
		}
	}
	return append(out, Setting{Key: k.Name, Value: k.Default})
}

// resolve settles one key, and keeps what was said of it.
func (r *resolver) resolve(k Key) {
	if r.values == nil {
		r.values = map[string]Setting{}
	}
	all := r.layers(k)
	if k.Kind == List {
		for i, s := range all {
			if len(s.List) > 0 || i == len(all)-1 && i == 0 {
				r.c.Settings = append(r.c.Settings, Explained{Setting: s})
			}
			for i, rule := range s.List {
				one := Setting{Key: k.Name, Value: rule, Source: s.Source}
				if len(s.places) > 0 {
					one.Source = s.places[i]
				}
				r.rule(k, one)
			}
		}
		return
	}
	chosen := all[0]
	if err := k.check(chosen); err != nil {
		r.c.Problems = append(r.c.Problems, err)
		chosen = all[len(all)-1]
	}
	r.values[k.Name] = chosen
	r.c.Settings = append(r.c.Settings, explain(chosen, slices.Clone(all[1:])))
}

func (r *resolver) rule(k Key, s Setting) {
	if k.Name == Allow {
		r.c.Allow = append(r.c.Allow, s)
	} else {
		r.c.Deny = append(r.c.Deny, s)
	}
}

// typed puts the values, which were checked, into their fields.
func (r *resolver) typed() {
	c := r.c
	count := func(key string) int { n, _ := strconv.Atoi(r.values[key].Value); return n }
	truth := func(key string) bool { b, _ := strconv.ParseBool(r.values[key].Value); return b }
	span := func(key string) time.Duration { d, _ := ParseDuration(r.values[key].Value); return d }
	c.System, c.Permission = r.values[System], r.values[Permission]
	c.Thinking, c.Effort = onOff(r.values[Thinking].Value), r.values[Effort].Value
	if c.Effort == Auto {
		c.Effort = ""
	}
	c.Probe = r.values[Probe].Value
	c.IdleTimeout, c.Proxy, c.CAFile, c.HTTP1 = span(IdleTimeout), r.values[Proxy], r.values[CAFile], truth(HTTP1)
	if s := r.values[Temperature].Value; s != "" {
		if t, err := strconv.ParseFloat(s, 64); err == nil {
			c.Temperature = &t
		}
	}
	c.MaxTokens, c.MaxSteps, c.BudgetTokens, c.BudgetFiles = count(MaxTokens), count(MaxSteps), count(BudgetTokens), count(BudgetFiles)
	c.Retries = count(Retries)
	c.Stream, c.Sandbox, c.DryRun = truth(Stream), truth(Sandbox), truth(DryRun)
	tools, _ := lookup(Tools)
	c.Tools, _ = tools.names(r.values[Tools].Value)
	c.Ephemeral, c.Quiet, c.Verbose = truth(Ephemeral), truth(Quiet), truth(Verbose)
	c.Timeout, c.RequestTimeout, c.CapturesAge, c.FilesAge = span(Timeout), span(RequestTimeout), span(CapturesAge), span(FilesAge)
	c.CapturesMax, _ = ParseSize(r.values[CapturesMax].Value)
	c.FilesMax, _ = ParseSize(r.values[FilesMax].Value)
	c.Output, c.Input = r.values[Output].Value, r.values[Input].Value
}

// onOff is what a switch with a third value says; "" for the third.
func onOff(s string) string {
	if on, err := strconv.ParseBool(s); err == nil {
		if on {
			return On
		}
		return Off
	}
	if s == Auto {
		return ""
	}
	return s
}

// bad keeps a problem of the endpoint.
func (r *resolver) bad(e *Error) { r.c.Problems = append(r.c.Problems, e) }

// variables names some of the variables that select a preset, and how many more there are.
func variables() (some string, more int) {
	var names []string
	for _, p := range Presets() {
		if !p.Local() {
			names = append(names, p.Variable)
		}
	}
	return strings.Join(names[:3], ", "), len(names) - 3
}

// or is the first of two settings that has a value.
func or(a, b Setting) Setting {
	if a.set() {
		return a
	}
	return b
}
