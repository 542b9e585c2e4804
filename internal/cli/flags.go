package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/workspace"
)

// flags is what the command line said.
type flags struct {
	set      map[string]string // settings, by config key
	cd       string
	allow    []string
	deny     []string
	goOn     bool
	resume   string
	fork     string
	noStream bool
	dryRun   bool
	quiet    bool
	verbose  bool
	version  bool
}

// setting is a flag whose value is a setting of package config.
type setting struct{ key, short, value, usage string }

func settings() []setting {
	return []setting{
		{config.Model, "m", "[PROVIDER/]MODEL", "the model"},
		{config.BaseURL, "u", "URL", "the address of a model server"},
		{config.APIKey, "k", "KEY", "the key of the model server (better: OVERT_API_KEY; a command line is visible to others)"},
		{config.Protocol, "", "P", "its protocol: " + strings.Join(config.Protocols(), ", ")},
		{config.System, "s", "TEXT|@FILE", "replaces the built-in system prompt"},
		{config.Permission, "", "PROFILE", "what runs unasked: " + strings.Join(config.Profiles(), ", ") + " (default ask)"},
		{config.Output, "", "FORM", "the form of the output: " + strings.Join(config.Outputs(), ", ")},
		{config.Input, "", "FORM", "the form of standard input: " + strings.Join(config.Inputs(), ", ")},
		{config.MaxSteps, "", "N", "the most model calls for this input; 0 is no limit"},
		{config.Tokens, "", "N", "no further model call once N tokens, in and out, were used for this input; 0 is no limit"},
		{config.Files, "", "N", "the most files that the file tools may change for this input; 0 is no limit"},
		{config.Timeout, "", "DUR", "the most time for this input, e.g. 90s or 1h30m; 0 is no limit"},
	}
}

// settingValue is a pflag.Value that writes into the map of settings.
type settingValue struct {
	setting
	into map[string]string
}

func (v settingValue) String() string     { return "" }
func (v settingValue) Type() string       { return v.value }
func (v settingValue) Set(s string) error { v.into[v.key] = s; return nil }

func (p *program) addFlags(root *cobra.Command) {
	p.flags.set = map[string]string{}
	all := root.PersistentFlags()
	all.StringVarP(&p.flags.cd, "cd", "C", "", "work in the folder `DIR`")
	f := root.Flags()
	for _, s := range settings() {
		f.VarP(settingValue{s, p.flags.set}, strings.ReplaceAll(s.key, "_", "-"), s.short, s.usage)
	}
	f.StringArrayVar(&p.flags.allow, "allow", nil, "allow what `RULE` matches, e.g. 'run_command(go test:*)'; repeatable")
	f.StringArrayVar(&p.flags.deny, "deny", nil, "deny what `RULE` matches; repeatable, stronger than --allow")
	f.BoolVar(&p.flags.goOn, "continue", false, "go on with the active task of this workspace that was changed last")
	f.StringVar(&p.flags.resume, "resume", "", "go on with a `TASK`: an id, or at least 4 of its closing characters")
	f.StringVar(&p.flags.fork, "fork", "", "begin a new task with what was said in `TASK[@MESSAGE]`: all of it, or up to a message (its number in overt task show)")
	f.BoolVar(&p.flags.dryRun, "dry-run", false, "change nothing and run no command: tools only say what they would do")
	f.BoolVar(&p.flags.noStream, "no-stream", false, "ask for whole answers instead of streams")
	f.BoolVarP(&p.flags.quiet, "quiet", "q", false, "show no tool output")
	f.BoolVarP(&p.flags.verbose, "verbose", "v", false, "show each HTTP exchange in a line")
	f.BoolVarP(&p.flags.version, "version", "V", false, "show the version")
}

// limits are those of the run that follows.
func limits(c *config.Config) event.Limits {
	return event.Limits{
		Steps: c.MaxSteps, Tokens: int64(c.Tokens), Files: c.Files, Seconds: int((c.Timeout + time.Second - 1) / time.Second),
	}
}

// config resolves the settings.
func (p *program) config() (*config.Config, error) {
	if p.flags.noStream {
		p.flags.set[config.Stream] = "false"
	}
	c, err := config.Resolve(p.flags.set, p.Env)
	if err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(c.System.Value, "@"); ok {
		text, err := readText(name)
		if err != nil {
			return nil, &config.Error{Code: "config.system_file", Args: []any{err}, Usage: true}
		}
		c.System.Value = string(text)
	}
	return c, nil
}

// maxText bounds, in bytes, a text that the command line names.
const maxText = 1 << 20

// readText reads a text of bounded size, from whatever is named.
func readText(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s is larger than %d KB", name, maxText>>10)
	}
	return text, err
}

// rules parses --allow and --deny.
func (p *program) rules() ([]policy.Rule, error) {
	var out []policy.Rule
	for _, group := range []struct {
		verdict policy.Verdict
		texts   []string
	}{{policy.Allow, p.flags.allow}, {policy.Deny, p.flags.deny}} {
		for _, text := range group.texts {
			r, err := policy.ParseRule(group.verdict, text)
			if err != nil {
				return nil, &config.Error{Code: "config.rule", Args: []any{err}, Usage: true}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// rootDir is the workspace: of -C, or of the current folder.
func (p *program) rootDir() (string, error) {
	dir := p.flags.cd
	if dir == "" {
		dir = p.Dir
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			err = &os.PathError{Op: "open", Path: abs, Err: os.ErrInvalid}
		}
	}
	if err != nil {
		return "", &config.Error{Code: "config.dir", Args: []any{dir, err}, Usage: true}
	}
	return workspace.FindRoot(abs, p.Home), nil
}

// state is the folder that holds all records: $XDG_STATE_HOME/overt, by the XDG Base Directory Specification 0.8, which
// wants a path that is not absolute to be ignored. Without it and without a home there is no such folder: never one below
// the current folder, where others might find the record.
func (p *program) state() (string, error) {
	dir, _ := p.Env("XDG_STATE_HOME")
	switch {
	case filepath.IsAbs(dir):
	case filepath.IsAbs(p.Home):
		dir = filepath.Join(p.Home, ".local", "state")
	default:
		return "", &config.Error{Code: "config.home", Hint: "config.home.hint"}
	}
	return filepath.Join(dir, "overt"), nil
}

// record opens the workspace's record for reading.
func (p *program) record(cmd *cobra.Command) (*app.Record, error) {
	root, err := p.rootDir()
	if err != nil {
		return nil, err
	}
	state, err := p.state()
	if err != nil {
		return nil, err
	}
	return app.OpenRecord(cmd.Context(), state, root)
}
