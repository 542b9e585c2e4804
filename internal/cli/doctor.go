package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
)

// doctorCommand says what keeps tasks from working.
func (p *program) doctorCommand() *cobra.Command {
	var offline, asJSON bool
	cmd := &cobra.Command{
		Use: "doctor [FLAGS]", Short: "Look at each link from the settings to the model server, and say what to do",
		Long: `Look at each link that a task needs: files, settings, key, proxy, name, connection,
TLS, model list, shell, git, folders, disk and databases. Each problem comes with
what to do about it. Nothing is changed and no prompt is sent; the key goes to the
server only where it belongs there.

It takes the flags of a task, and looks at what these come to. The status is 1
with a problem, and 0 without, warnings or not.`,
		Example:               "  overt doctor\n  overt doctor --offline\n  overt doctor -u http://127.0.0.1:8080/v1 -m NAME",
		Args:                  noArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.doctor(cmd.Context(), offline, asJSON)
		},
	}
	if p.mayBe("doctor") {
		p.addTaskFlags(cmd)
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "make no connection")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) doctor(ctx context.Context, offline, asJSON bool) error {
	o := app.DoctorOptions{
		Version: p.Version, Places: p.places(), Env: p.Environ, Offline: offline, InTTY: p.InTTY, OutTTY: p.OutTTY,
	}
	keep := func(err error) { // what keeps a source from being read
		if bad, ok := errors.AsType[*config.Error](err); ok {
			o.Broken = append(o.Broken, bad)
		}
	}
	var err error
	if o.Root, err = p.rootDir(); err != nil && p.flags.cd != "" {
		return err
	}
	keep(err)
	o.Sources, err = p.sources(o.Root)
	keep(err)
	if err != nil && o.Sources.Project == nil && o.Root != "" { // the person's file stood in the way, perhaps
		if o.Sources.Project, err = projectFile(o.Root); len(o.Broken) == 0 {
			keep(err)
		}
	}
	o.Config, err = config.Resolve(o.Sources)
	if err == nil {
		keep(p.systemText(o.Config))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := stopOn(ctx, p.Interrupts(ctx), cancel)
	checks := app.Doctor(ctx, o)
	if err := p.writeChecks(checks, asJSON); err != nil {
		return err
	}
	cancel()
	if <-stopped {
		return exit(statusInterrupted)
	}
	for _, c := range checks {
		if c.Verdict == app.VerdictProblem {
			return exit(statusFailed)
		}
	}
	return nil
}

// stopOn calls stop with the first signal. What comes back tells, once ctx has ended, whether there was one.
func stopOn(ctx context.Context, signals <-chan os.Signal, stop func()) <-chan bool {
	stopped := make(chan bool, 1)
	go func() {
		select {
		case <-signals:
			stop()
			stopped <- true
		case <-ctx.Done():
			stopped <- false
		}
	}()
	return stopped
}

// shownDoctor is what overt doctor --json gives.
type shownDoctor struct {
	Version  string       `json:"version"`
	Problems int          `json:"problems"` // how many checks are one
	Warnings int          `json:"warnings"` // how many are one
	Checks   []shownCheck `json:"checks"`
}

// shownCheck is one of the checks. Null is not known or does not apply.
type shownCheck struct {
	Section string  `json:"section"` // what it is about, as endpoint or network
	Check   string  `json:"check"`   // which one of the section
	Status  string  `json:"status"`  // ok, warning, problem, skipped, unknown
	Text    string  `json:"text"`
	Next    *string `json:"next"` // what to do about it
	Path    *string `json:"path"` // of the file that it is about, if that is one of settings
	Line    *int    `json:"line"`
	Column  *int    `json:"column"`
}

// writeChecks writes what was found. The first line is the version.
func (p *program) writeChecks(checks []app.Check, asJSON bool) error {
	problems, warnings := 0, 0
	list := []shownCheck{}
	for _, c := range checks {
		switch c.Verdict {
		case app.VerdictProblem:
			problems++
		case app.VerdictWarning:
			warnings++
		}
		list = append(list, p.shownCheck(c))
	}
	if asJSON {
		return p.writeJSON(shownDoctor{p.Version, problems, warnings, list})
	}
	if err := p.writeVersion(); err != nil {
		return err
	}
	section := ""
	for _, c := range list {
		if c.Section == "build" { // the version line says it
			continue
		}
		if c.Section != section {
			section = c.Section
			fmt.Fprintf(p.Out, "\n%s\n", p.say.Say("doctor.section."+section))
		}
		fmt.Fprintf(p.Out, "  %s %s\n", p.mark(c.Status), visible(oneLine(c.Text)))
		if c.Next != nil {
			fmt.Fprintf(p.Out, "       -> %s\n", visible(oneLine(*c.Next)))
		}
	}
	_, err := fmt.Fprintf(p.Out, "\n%s\n", p.summary(problems, warnings))
	return err
}

// oneLine keeps a check in its line, whatever a server or a file put into it.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (p *program) summary(problems, warnings int) string {
	count := func(code string, n int) string {
		switch n {
		case 0:
			return p.say.Say(code + ".none")
		case 1:
			return p.say.Say(code + ".one")
		}
		return p.say.Say(code, n)
	}
	return count("doctor.problems", problems) + ", " + count("doctor.warnings", warnings)
}

// mark is the verdict in four characters, coloured on a terminal that takes it.
func (p *program) mark(status string) string {
	marks := map[string][2]string{"ok": {"[ok]", "32"}, "warning": {"[! ]", "33"}, "problem": {"[x ]", "31"}, "skipped": {"[- ]", "2"}, "unknown": {"[? ]", "33"}}
	m := marks[status]
	if !p.takesColour(p.OutTTY) {
		return m[0]
	}
	return "\x1b[" + m[1] + "m" + m[0] + "\x1b[0m"
}

func (p *program) shownCheck(c app.Check) shownCheck {
	out := shownCheck{Section: c.Section, Check: "setting", Status: string(c.Verdict), Text: p.say.Say(c.Code, c.Args...)}
	if name, ok := strings.CutPrefix(c.Code, "doctor."); ok {
		out.Check, _, _ = strings.Cut(name, ".")
	}
	if c.Next != "" {
		next := p.say.Say(c.Next, c.NextArgs...)
		out.Next = &next
	}
	if c.Path != "" {
		at := config.Error{Path: c.Path, Line: c.Line, Column: c.Column}
		out.Text, out.Path = at.At()+out.Text, &c.Path
	}
	if c.Line > 0 {
		out.Line, out.Column = &c.Line, &c.Column
	}
	return out
}
