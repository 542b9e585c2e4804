package app

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"overt/internal/config"
	"overt/internal/redact"
)

// Verdict is how a check of [Doctor] came out.
type Verdict string

// Verdicts.
const (
	VerdictOK      Verdict = "ok"
	VerdictWarning Verdict = "warning" // it works, perhaps not as meant
	VerdictProblem Verdict = "problem" // a task will fail, or what is kept is not safe
	VerdictSkipped Verdict = "skipped" // not looked at, since something before it does not hold or nobody wanted it
	VerdictUnknown Verdict = "unknown" // looked at, without an answer
)

// Check is one thing that [Doctor] looked at. Code and Next are messages of package i18n; no argument holds a secret.
type Check struct {
	Section      string // build, files, settings, endpoint, network, machine, record
	Verdict      Verdict
	Code         string
	Args         []any
	Next         string // what to do; "": nothing
	NextArgs     []any
	Path         string // of the file that is at fault, if one is
	Line, Column int    // in it, from 1; 0: not known
}

// DoctorOptions is what a front end knows.
type DoctorOptions struct {
	Version string
	Places  config.Places
	Sources config.Sources
	Config  *config.Config  // what Resolve made of the sources, holding or not
	Broken  []*config.Error // what kept the front end from reading a source
	Root    string          // the workspace; "": there is none
	Env     []string
	Offline bool // make no connection
	InTTY   bool // a person types
	OutTTY  bool
}

// How long Doctor looks in all, and at one thing that this machine does.
const (
	doctorTime = 15 * time.Second
	stepTime   = 5 * time.Second
)

// Doctor looks at all that a task needs, link by link, and says what it found in the order in which it matters. It changes
// nothing, makes no file, and sends no prompt: it lists models, with the key only where the key belongs to the endpoint. It
// needs neither settings that hold nor a record that can be opened, and takes at most 15 seconds. Once ctx has ended, the
// rest is unknown.
func Doctor(ctx context.Context, o DoctorOptions) []Check {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	d := &doctor{o: o, c: o.Config}
	d.mask = redact.New()
	learnSecrets(d.mask, d.c, d.o.Env)
	type part struct {
		section string
		look    func(context.Context, *findings)
	}
	known := []part{{"build", d.build}, {"files", d.files}, {"settings", d.settings}}
	slow := []part{{"endpoint", d.endpoint}, {"machine", d.machine}, {"record", d.record}}
	found := make([]findings, len(known)+len(slow))
	var all sync.WaitGroup
	for i, p := range slices.Concat(known, slow) {
		found[i].section = p.section
		if i < len(known) {
			p.look(ctx, &found[i])
		} else { // they share nothing
			all.Go(func() { p.look(ctx, &found[i]) })
		}
	}
	all.Wait()
	var out []Check
	for _, f := range found {
		out = append(out, f.checks...)
	}
	for i := range out {
		d.clean(out[i].Args)
		d.clean(out[i].NextArgs)
	}
	return out
}

// doctor is one examination.
type doctor struct {
	o    DoctorOptions
	c    *config.Config
	mask *redact.Masker
}

// clean makes texts of arguments, with secrets masked.
func (d *doctor) clean(args []any) {
	for i, a := range args {
		if _, number := a.(int); !number {
			args[i] = d.mask.String(fmt.Sprint(a))
		}
	}
}

// env looks a variable up.
func (d *doctor) env(name string) (string, bool) {
	v, ok := d.o.Sources.Env(name)
	return v, ok && v != ""
}

// first is the first of some variables that is set.
func (d *doctor) first(names ...string) string {
	i := slices.IndexFunc(names, func(n string) bool { _, ok := d.env(n); return ok })
	if i < 0 {
		return ""
	}
	return names[i]
}

// findings are the checks of a section.
type findings struct {
	section string
	checks  []Check
}

func (f *findings) add(v Verdict, code string, args ...any) *Check {
	f.checks = append(f.checks, Check{Section: f.section, Verdict: v, Code: code, Args: args})
	return &f.checks[len(f.checks)-1]
}

func (f *findings) ok(code string, args ...any)          { f.add(VerdictOK, code, args...) }
func (f *findings) warn(code string, args ...any) *Check { return f.add(VerdictWarning, code, args...) }

func (f *findings) problem(code string, args ...any) *Check {
	return f.add(VerdictProblem, code, args...)
}

func (f *findings) unknown(code string, args ...any) *Check {
	return f.add(VerdictUnknown, code, args...)
}
func (f *findings) skip(code string, args ...any) { f.add(VerdictSkipped, code, args...) }

// next says what to do about a check.
func (c *Check) next(code string, args ...any) { c.Next, c.NextArgs = code, args }

// setting adds a setting that does not hold.
func (f *findings) setting(e *config.Error) {
	c := f.problem(e.Code, slices.Clone(e.Args)...)
	c.Path, c.Line, c.Column = e.Path, e.Line, e.Column
	switch s := e.Source; {
	case e.Hint != "":
		c.next(e.Hint, e.HintArgs...)
	case e.Line > 0:
		c.next("doctor.setting.line", e.Line, e.Path)
	case s.Layer == config.Flag || s.Layer == config.Environment:
		c.next("doctor.setting.source", s)
	case e.Path != "":
		c.next("doctor.setting.file", e.Path)
	default:
		c.next("doctor.setting.any")
	}
}

func (d *doctor) build(_ context.Context, f *findings) {
	f.ok("doctor.build", d.o.Version, runtime.GOOS+"/"+runtime.GOARCH, runtime.Version())
}

// files says where the person's files are, and who can read them.
func (d *doctor) files(_ context.Context, f *findings) {
	p := d.o.Places
	if p.Portable {
		f.ok("doctor.file.portable", p.State)
	}
	_, missing := os.Lstat(p.Config)
	switch {
	case p.Config == "":
		f.warn("doctor.file.nowhere").next("config.home.hint")
	case d.o.Sources.User == nil && missing != nil && p.Named.Layer == config.BuiltIn:
		f.ok("doctor.file.none", p.Config)
	case d.o.Sources.User == nil: // it is among the settings that do not hold
	case p.Named.Layer != config.BuiltIn:
		f.ok("doctor.file.named", p.Config, p.Named)
	default:
		f.ok("doctor.file.read", p.Config)
	}
	if to, err := os.Readlink(p.Config); err == nil {
		f.ok("doctor.file.link", p.Config, to)
	}
	if info, err := os.Stat(p.Config); err == nil && info.Mode().IsRegular() {
		reads, writes := others(info)
		switch {
		case writes:
			f.warn("doctor.file.writable", p.Config, info.Mode().Perm()).next("doctor.chmod", "600", p.Config)
		case reads && d.literalKey():
			f.warn("doctor.file.readable", p.Config, info.Mode().Perm()).next("doctor.chmod", "600", p.Config)
		}
	}
	d.project(f)
}

// literalKey tells whether a key stands in the person's file itself.
func (d *doctor) literalKey() bool {
	if d.o.Sources.User == nil {
		return false
	}
	var keys []config.Setting
	for _, s := range d.c.Settings {
		if s.Key == config.APIKey {
			keys = append(append(keys, s.Setting), s.Over...)
		}
	}
	for _, e := range d.c.Providers {
		keys = append(keys, e.APIKey)
	}
	text := string(d.o.Sources.User.Text)
	return slices.ContainsFunc(keys, func(s config.Setting) bool {
		return s.Source.Layer == config.User && s.Value != "" && strings.Contains(text, s.Value)
	})
}

// project says what counts of the settings of the workspace.
func (d *doctor) project(f *findings) {
	doc := d.o.Sources.Project
	if doc == nil {
		return
	}
	rules := 0
	for _, r := range d.c.Deny {
		if r.Source.Layer == config.Project {
			rules++
		}
	}
	f.ok("doctor.project.rules", doc.Path, rules)
	if len(d.c.Untrusted) > 0 {
		f.warn("doctor.project.untrusted", doc.Path, strings.Join(d.c.Untrusted, ", ")).next("doctor.project.trust")
	}
	if len(d.c.Ignored) > 0 {
		f.warn("doctor.project.ignored", doc.Path, strings.Join(d.c.Ignored, ", ")).next("doctor.project.ignored.next", d.o.Places.Config)
	}
}
