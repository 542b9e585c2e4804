package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/provider"
)

// configCommand shows, checks and changes settings.
func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show where each setting comes from, check and change them", Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error { return usageError{errors.New(p.say.Say("config.which"))} },
	}
	var asJSON, unset bool
	show := &cobra.Command{
		Use: "show [FLAGS]", Short: "Show every setting and where it came from; keys are masked", Args: noArgs,
		Long: "Show every setting, where it came from, and what it has overridden; keys are masked.\n" +
			"It takes the flags of a task, and shows what these come to.",
		RunE: func(*cobra.Command, []string) error { return p.showConfig(asJSON) },
	}
	show.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	get := &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting; of a key, only whether there is one",
		Args: p.known(1, 1), RunE: func(_ *cobra.Command, args []string) error { return p.getConfig(args[0]) },
	}
	if p.mayBe("config") {
		p.addSettings(show.Flags())
		p.addSettings(get.Flags())
	}
	set := &cobra.Command{
		Use: "set KEY VALUE...", Short: "Set a setting in the person's file, whose comments stay; - reads the value from standard input",
		Example: "  overt config set model deepseek/deepseek-v4-pro\n  overt config set deny 'run_command(git push:*)' 'write_file(docs/**)'\n" +
			"  overt config set api_key -\n  overt config set model --unset",
		Args: p.known(1, -1), RunE: func(_ *cobra.Command, args []string) error { return p.setConfig(args[0], args[1:], unset) },
	}
	set.Flags().BoolVar(&unset, "unset", false, "take the setting out of the file")
	cmd.AddCommand(show, get, set,
		&cobra.Command{
			Use: "path", Short: "Print the path of the person's file, whether it is there or not", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return p.configPath() },
		},
		&cobra.Command{
			Use: "check", Short: "Say whether the settings hold", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return p.checkConfig() },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of configuration files", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return p.configSchema() },
		})
	return cmd
}

// known wants the first argument to be a setting.
func (p *program) known(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return usageError{errors.New(p.say.Say("config.key"))}
		}
		if strings.HasPrefix(args[0], "providers") {
			return &config.Error{Code: "config.providers", Args: []any{p.places().Config}, Hint: "config.providers.hint", Usage: true}
		}
		if !slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Name == args[0] }) {
			return &config.Error{Code: "config.unknown", Args: []any{args[0]}, Hint: "config.unknown.hint", Usage: true}
		}
		return nil
	}
}

// shownSetting is a setting in JSON. Value is null where there is none, and of a secret.
type shownSetting struct {
	Key        string         `json:"key"`
	Value      *string        `json:"value"`
	List       []string       `json:"list,omitempty"`
	Set        bool           `json:"set"`
	Source     string         `json:"source"`
	Overridden []shownSetting `json:"overridden,omitempty"`
}

// resolved is the configuration as far as it holds, and its first problem.
func (p *program) resolved() (*config.Config, error) {
	root, err := p.rootDir()
	if err != nil {
		return nil, err
	}
	src, err := p.sources(root)
	if err != nil {
		return nil, err
	}
	c, err := config.Resolve(src)
	p.mask = app.Mask(c, p.Environ)
	if _, bad := app.Rules(c); bad != nil {
		if e, ok := errors.AsType[*config.Error](bad); ok {
			c.Problems = append(c.Problems, e)
		}
		if err == nil {
			err = bad
		}
	}
	return c, err
}

// shownAnyway is the configuration for those who only look at it: that there is no endpoint to go to is a notice, not an error.
func (p *program) shownAnyway() (*config.Config, error) {
	c, err := p.resolved()
	if e, _ := errors.AsType[*config.Error](err); p.onlyEndpoint(c, err) {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.explain(e).text))
		return c, nil
	}
	return c, err
}

// showConfig shows all settings, also where something does not hold.
func (p *program) showConfig(asJSON bool) error {
	c, err := p.shownAnyway()
	if c == nil {
		return err
	}
	if asJSON {
		out := []shownSetting{}
		for _, s := range c.Settings {
			one := p.shown(s.Setting)
			for _, o := range s.Over {
				one.Overridden = append(one.Overridden, p.shown(o))
			}
			out = append(out, one)
		}
		for _, s := range c.Described {
			out = append(out, p.shown(s))
		}
		if werr := p.writeJSON(out); werr != nil {
			return werr
		}
		return err
	}
	places := p.places()
	file := places.Config
	if _, serr := os.Stat(file); errors.Is(serr, fs.ErrNotExist) {
		file = p.say.Say("config.file.absent", file)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%s\n%s\t%s\n", p.say.Say("config.show.file"), visible(file), p.say.Say("config.show.state"), visible(places.State))
	fmt.Fprintf(w, "%s\t%s\n", p.say.Say("config.show.language"), "en")
	if c.Provider != "" {
		fmt.Fprintf(w, "%s\t%s\n", p.say.Say("config.show.provider"), visible(c.Provider))
	}
	fmt.Fprintln(w)
	for _, s := range c.Settings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, visible(p.value(s.Setting)), visible(s.Source.String()))
		for _, o := range s.Over {
			if o.Source.Layer != config.BuiltIn {
				fmt.Fprintf(w, "\t%s\t%s\n", visible(p.value(o)), visible(p.say.Say("config.show.overridden", o.Source)))
			}
		}
	}
	for _, s := range c.Described {
		fmt.Fprintf(w, "%s\t%s\t%s\n", visible(s.Key), visible(p.value(s)), visible(s.Source.String()))
	}
	if ferr := w.Flush(); ferr != nil {
		return ferr
	}
	for _, s := range c.Withheld {
		if !app.LacksKey(c) { // nobody misses it
			break
		}
		fmt.Fprintln(p.Err, "overt: "+visible(p.say.Say("config.withheld", s.Source)))
	}
	if len(c.Untrusted) > 0 {
		fmt.Fprintln(p.Err, "overt: "+visible(p.say.Say("config.untrusted", strings.Join(c.Untrusted, ", "))))
	}
	if len(c.Ignored) > 0 {
		fmt.Fprintln(p.Err, "overt: "+visible(p.say.Say("config.ignored", strings.Join(c.Ignored, ", "))))
	}
	return err
}

func (p *program) shown(s config.Setting) shownSetting {
	out := shownSetting{Key: s.Key, Set: s.Value != "" || len(s.List) > 0, Source: s.Source.String()}
	for _, v := range s.List {
		out.List = append(out.List, p.mask.String(v))
	}
	if value := p.mask.String(bare(s)); value != "" && !secret(s) {
		out.Value = &value
	}
	return out
}

// secret tells whether the value is one: a key, or a field of the header, which may hold one.
func secret(s config.Setting) bool {
	return s.Key == config.APIKey || strings.HasPrefix(s.Key, "providers.") && strings.Contains(s.Key, ".headers.")
}

// value is a value for people: of what is secret, only how long it is.
func (p *program) value(s config.Setting) string {
	switch {
	case len(s.List) > 0:
		return p.mask.String(strings.Join(s.List, " · "))
	case s.Value == "" && s.Key == config.APIKey && s.Source.Layer != config.BuiltIn:
		return p.say.Say("config.show.asked")
	case s.Value == "":
		return "-"
	case secret(s):
		return p.say.Say("config.show.key", len([]rune(s.Value)))
	}
	first, rest, more := strings.Cut(p.mask.String(bare(s)), "\n")
	if more {
		return p.say.Say("config.show.lines", first, strings.Count(rest, "\n")+1)
	}
	return first
}

// bare is a value without what is secret in a URL: user, password and the values of its query.
func bare(s config.Setting) string {
	if s.Key != config.BaseURL {
		return s.Value
	}
	u, err := url.Parse(s.Value)
	if err != nil {
		return "?"
	}
	u.Fragment = ""
	if u.User != nil {
		u.User = url.User("…")
	}
	query := u.Query()
	for name := range query {
		query[name] = []string{"…"}
	}
	u.RawQuery = query.Encode()
	text, err := url.PathUnescape(u.String())
	if err != nil {
		return u.Redacted()
	}
	return text
}

func (p *program) getConfig(name string) error {
	c, err := p.shownAnyway()
	if c == nil {
		return err
	}
	for _, s := range c.Settings {
		switch {
		case s.Key != name:
		case len(s.List) > 0:
			for _, v := range s.List {
				fmt.Fprintln(p.Out, p.mask.String(v))
			}
		case s.Key == config.APIKey:
			fmt.Fprintln(p.Out, p.value(s.Setting))
		default:
			fmt.Fprintln(p.Out, p.mask.String(bare(s.Setting)))
		}
	}
	return err // the value is the one in force only if all hold
}

func (p *program) configPath() error {
	path := p.places().Config
	if path == "" {
		return &config.Error{Code: "config.home", Hint: "config.home.hint"}
	}
	_, err := fmt.Fprintln(p.Out, path)
	return err
}

func (p *program) checkConfig() error {
	c, err := p.resolved()
	if c == nil {
		return err
	}
	for _, n := range c.Dormant {
		fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(n.Code, n.Args...)))
	}
	problems := append(slices.Clone(c.Problems), app.CheckEntries(c)...)
	if bad, ok := errors.AsType[*config.Error](p.systemText(c)); ok {
		problems = append(problems, bad)
	}
	switch {
	case len(problems) == 1:
		return problems[0]
	case len(problems) > 1:
		for _, bad := range problems {
			m := p.explain(bad)
			fmt.Fprintf(p.Err, "overt: %s\n", visible(m.text))
			if m.hint != "" {
				fmt.Fprintf(p.Err, "  %s\n", visible(m.hint))
			}
		}
		return exit(statusConfig)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintln(p.Out, p.say.Say("config.fine"))
	return err
}

func (p *program) configSchema() error {
	quirks, err := provider.MembersSchema()
	if err != nil {
		return err
	}
	text, err := config.Schema(quirks)
	if err == nil {
		_, err = fmt.Fprintf(p.Out, "%s\n", text)
	}
	return err
}
