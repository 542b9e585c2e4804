package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/i18n"
	"overt/internal/provider"
)

// probeCommand measures how a server differs from its protocol.
func (p *program) probeCommand() *cobra.Command {
	var asJSON, show, forget bool
	cmd := &cobra.Command{
		Use: "probe [FLAGS]", Short: "Measure what the endpoint and model can do, and obey it from now on",
		Long: fmt.Sprintf(`Send small requests to the configured endpoint and model, at most %d and fewer as a
rule, through the same code as a task, and say of each thing whether it is supported,
taken (not refused, though nothing shows an effect), not supported, or unknown, and
what was seen: answers and streams with their usage, tools, parallel calls, ids,
results, reasoning, pictures, thinking, effort, limits, stop reasons, the list of
models and the window.

What is refused counts only because a plain question is answered; what can't be
measured is shown as unknown, and treated as supported. Where the server differs from
what is known of it, the difference is kept for this base URL, protocol and model, and
obeyed from then on, unless providers.NAME.quirks says otherwise. An earlier
measurement is replaced. The requests cost what they cost; they belong to no task.

The status is 1 if the plain question is not answered, and then nothing is kept.`, provider.MaxProbeCalls),
		Example:               "  overt probe\n  overt probe -u http://127.0.0.1:8080/v1 -m NAME --json\n  overt probe --show",
		Args:                  noArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case show && forget:
				return usageError{errors.New(p.say.Say("probe.which"))}
			case show || forget:
				return p.kept(forget, asJSON)
			}
			return p.probe(cmd.Context(), asJSON)
		},
	}
	p.addTaskFlags(cmd)
	cmd.Flags().BoolVar(&show, "show", false, "show what is kept of the endpoint, of the model alone if one is named; send nothing")
	cmd.Flags().BoolVar(&forget, "forget", false, "forget it; send nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) probe(ctx context.Context, asJSON bool) error {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	c, err := p.config(root)
	if err != nil {
		return err
	}
	begin := func(r *app.ProbeReport) {
		for _, n := range c.Notices {
			fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(n.Code, n.Args...)))
		}
		fmt.Fprintln(p.Err, visible(p.say.Say("probe.begin", r.Model, r.Endpoint, r.Protocol, provider.MaxProbeCalls, i18n.Number(provider.MaxProbeTokens))))
	}
	show := func(f provider.Finding) {
		if !asJSON {
			p.writeFinding(f)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := stopOn(ctx, p.Interrupts(ctx), cancel)
	r, err := app.Probe(ctx, app.Options{Config: c, State: state, Env: p.Environ, Version: p.Version}, begin, show)
	cancel()
	if <-stopped {
		return exit(statusInterrupted)
	}
	if err != nil {
		return err
	}
	if asJSON {
		if err := p.writeJSON(p.shownProbe(r)); err != nil {
			return err
		}
	}
	if r.Err != nil {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say("probe.ended", r.Provider, r.Err)))
		return exit(statusFailed)
	}
	if !asJSON {
		p.writeProbed(r)
	}
	return nil
}

// shownKept is what overt probe --show and --forget give a list of: what is kept of a model.
type shownKept struct {
	BaseURL  string         `json:"base_url"`
	Protocol string         `json:"protocol"`
	Model    string         `json:"model"`
	At       time.Time      `json:"at"`
	By       string         `json:"by"` // probe, first, server
	Quirks   map[string]any `json:"quirks"`
	Images   *bool          `json:"images"`
}

// kept shows what is kept of the endpoint, or forgets it.
func (p *program) kept(forget, asJSON bool) error {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	c, err := p.keyless(root)
	if err != nil {
		return err
	}
	look, code := app.Kept, "probe.kept"
	if forget {
		look, code = app.Forget, "probe.forgotten"
	}
	list, err := look(c, state)
	if err != nil {
		return err
	}
	if asJSON {
		out := []shownKept{}
		for _, m := range list {
			quirks := m.Quirks
			if quirks == nil {
				quirks = map[string]any{}
			}
			out = append(out, shownKept{m.Endpoint, m.Protocol, m.Model, m.At, m.By, quirks, m.Images})
		}
		return p.writeJSON(out)
	}
	for _, m := range list {
		found := m.Found()
		if found == "" {
			found = p.say.Say("probe.kept.same")
		}
		fmt.Fprintln(p.Out, visible(p.say.Say(code, m.Model, m.Endpoint, m.Protocol, m.At.Local().Format(time.DateTime), p.say.Say("probe.by."+m.By), found)))
	}
	if len(list) == 0 {
		fmt.Fprintln(p.Err, visible(p.say.Say("probe.kept.none", app.Place(c))))
	}
	return nil
}

// probeFirst has what is wanted measured before the first request of a task, and says what came out in one line.
func (p *program) probeFirst(ctx context.Context, a *app.App, conf *config.Config, pictures bool) error {
	if conf.Probe == config.Off || conf.Probe != config.ProbeAlways && !pictures {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := stopOn(ctx, p.Interrupts(ctx), cancel)
	r, err := a.ProbeFirst(ctx, pictures)
	cancel()
	switch {
	case <-stopped:
		return exit(statusInterrupted)
	case err != nil || r == nil:
		return err
	}
	text := p.say.Say("probe.first.failed", r.Err)
	if r.Err == "" {
		var parts []string
		if r.Tools != "" {
			parts = append(parts, p.say.Say("probe.first.tools."+r.Tools))
		}
		if r.Images != "" {
			parts = append(parts, p.say.Say("probe.first.pictures."+r.Images))
		}
		text = strings.Join(parts, "; ")
	}
	line := "overt: " + visible(oneLine(p.say.Say("probe.first", r.Model, text)))
	if p.takesColour(p.ErrTTY) {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	fmt.Fprintln(p.Err, line)
	return nil
}

// findingText is what was seen.
func (p *program) findingText(f provider.Finding) string {
	args := slices.Clone(f.Args)
	for i, a := range args {
		if n, is := a.(int); is && f.Check == "window" {
			args[i] = i18n.Number(int64(n))
		}
	}
	return p.say.Say(f.Code, args...)
}

// writeFinding writes a line.
func (p *program) writeFinding(f provider.Finding) {
	mark := map[string]string{provider.Supported: "ok", provider.Taken: "ok", provider.Not: "problem", provider.Unmeasured: "unknown"}[f.Result]
	fmt.Fprintf(p.Out, "%s %-24s %-10s %s\n", p.mark(mark), p.say.Say("probe.check."+f.Check), p.say.Say("probe.result."+f.Result), visible(oneLine(p.findingText(f))))
}

// writeProbed writes what is done about what was found.
func (p *program) writeProbed(r *app.ProbeReport) {
	fmt.Fprintf(p.Out, "\n%s\n", p.plural("probe.requests", r.Calls))
	if len(r.Quirks) == 0 {
		fmt.Fprintln(p.Out, p.say.Say("probe.same"))
	} else {
		fmt.Fprintln(p.Out, visible(p.say.Say("probe.quirks", quirksText(r.Quirks))))
	}
	if r.Images != nil && !*r.Images {
		fmt.Fprintln(p.Out, p.say.Say("probe.images.hidden"))
	}
	if len(r.Overruled) > 0 {
		fmt.Fprintln(p.Out, p.say.Say("probe.overruled", strings.Join(r.Overruled, ", ")))
	}
}

// quirksText is "ids alnum9, no_stream_usage true".
func quirksText(quirks map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(quirks)) {
		text, err := json.Marshal(quirks[name])
		if err != nil {
			continue
		}
		parts = append(parts, name+" "+string(text))
	}
	return strings.Join(parts, ", ")
}

// shownProbe is what overt probe --json gives. Null is unknown, or that there is none.
type shownProbe struct {
	Provider string         `json:"provider"`
	BaseURL  string         `json:"base_url"`
	Protocol string         `json:"protocol"`
	Model    string         `json:"model"`
	At       time.Time      `json:"at"`
	Requests int            `json:"requests"`
	Kept     bool           `json:"kept"`  // it is in force from now on
	Error    *string        `json:"error"` // why it ended early
	Checks   []shownFinding `json:"checks"`
	Quirks   map[string]any `json:"quirks"` // that differ from what was known
	Images   *bool          `json:"images"`
}

// shownFinding is one of the checks.
type shownFinding struct {
	Check  string   `json:"check"`
	Result string   `json:"result"` // supported, taken, not, unknown
	Text   string   `json:"text"`
	Calls  []string `json:"calls"` // the requests that show it
}

func (p *program) shownProbe(r *app.ProbeReport) shownProbe {
	out := shownProbe{
		Provider: r.Provider, BaseURL: r.Endpoint, Protocol: r.Protocol, Model: r.Model, At: r.At, Requests: r.Calls, Kept: r.Kept,
		Checks: []shownFinding{}, Quirks: r.Quirks, Images: r.Images,
	}
	if r.Err != nil {
		text := r.Err.Error()
		out.Error = &text
	}
	for _, f := range r.Findings {
		calls := f.Calls
		if calls == nil {
			calls = []string{}
		}
		out.Checks = append(out.Checks, shownFinding{f.Check, f.Result, p.findingText(f), calls})
	}
	return out
}
