package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/workspace"
)

// flags is what the command line said.
type flags struct {
	set     map[string][]string // settings, by config key
	file    string
	cd      string
	goOn    bool
	resume  string
	fork    string
	images  []string
	version bool
}

// noneValue is the switch by which a setting that is a list of names has none, or one of several is off.
type noneValue struct{ settingValue }

// Type, IsBoolFlag and Set are those of a switch.
func (noneValue) Type() string     { return "bool" }
func (noneValue) IsBoolFlag() bool { return true }

// Set implements pflag.Value.
func (v noneValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	switch {
	case err != nil:
	case b:
		v.into[v.key.Name] = []string{v.key.OffValue()}
	case v.key.Kind == config.Names:
		v.into[v.key.Name] = []string{"true"}
	default:
		v.into[v.key.Name] = []string{v.key.Default}
	}
	return err
}

// settingValue is a pflag.Value that writes into the map of settings.
type settingValue struct {
	key  config.Key
	into map[string][]string
}

func (v settingValue) String() string { return "" }

// Type names the value in the help; a switch has none.
func (v settingValue) Type() string {
	if v.key.Kind == config.Bool {
		return "bool"
	}
	return v.key.Arg
}

// IsBoolFlag lets a switch stand without a value.
func (v settingValue) IsBoolFlag() bool { return v.key.Kind == config.Bool }

// Set implements pflag.Value. A list grows, another value replaces the one before, and a switch of the form --no-x takes
// the opposite of x.
func (v settingValue) Set(s string) error {
	switch {
	case v.key.Kind == config.List:
		v.into[v.key.Name] = append(v.into[v.key.Name], s)
	case v.key.Kind == config.Bool && v.key.Default == "true":
		b, err := strconv.ParseBool(s)
		if err != nil {
			return err
		}
		v.into[v.key.Name] = []string{strconv.FormatBool(!b)}
	default:
		v.into[v.key.Name] = []string{s}
	}
	return nil
}

func (p *program) addFlags(root *cobra.Command) {
	p.flags.set = map[string][]string{}
	all := root.PersistentFlags()
	all.StringVarP(&p.flags.cd, "cd", "C", "", "work in the folder `DIR`")
	all.StringVarP(&p.flags.file, "config", "c", "", "read the settings in `FILE` instead of the usual place")
	p.addSettings(root.Flags())
	f := root.Flags()
	f.BoolVar(&p.flags.goOn, "continue", false, "go on with the active task of this workspace that was changed last")
	f.StringVar(&p.flags.resume, "resume", "", "go on with a `TASK`: an id, or at least 4 of its closing characters")
	f.StringVar(&p.flags.fork, "fork", "", "begin a new task with what was said in `TASK[@MESSAGE]`: all of it, or up to a message (its number in overt task show)")
	f.StringArrayVar(&p.flags.images, "image", nil, "send a picture along with the prompt, a `FILE` (PNG, JPEG, GIF, WebP); repeatable")
	f.BoolVarP(&p.flags.version, "version", "V", false, "show the version")
}

// mayBe tells whether the command line may be about a command: one that runs, is explained or is completed is named in it. The flags of the
// settings are many, and nobody asks for them of another.
func (p *program) mayBe(command string) bool {
	return p.args == nil || slices.Contains(p.args, command)
}

// addSettings gives a command the flags of all settings.
func (p *program) addSettings(f *pflag.FlagSet) {
	for _, k := range config.Keys() {
		name := k.Flag()
		if name == "" {
			continue
		}
		usage := k.Doc
		switch {
		case strings.HasPrefix(name, "no-"):
			usage = k.Off
		case k.Kind == config.Choice:
			usage += ": " + strings.Join(k.Choices, ", ") + " (default " + k.Default + ")"
		case k.Kind == config.Names:
			usage += ": " + strings.Join(k.Choices, ", ") + " (default " + k.Default + ")"
		case k.Kind == config.List:
			usage += "; repeatable"
		}
		flag := f.VarPF(settingValue{k, p.flags.set}, name, k.Short, usage)
		if k.Kind == config.Bool {
			flag.NoOptDefVal = "true"
		}
		if off := k.OffFlag(); off != "" {
			f.VarPF(noneValue{settingValue{k, p.flags.set}}, off, "", k.Off).NoOptDefVal = "true"
		}
	}
}

// addTaskFlags gives a command the flags of all settings. Its help shows its own flags, and where the others are explained.
func (p *program) addTaskFlags(cmd *cobra.Command) {
	p.addSettings(cmd.Flags())
	cmd.Annotations = map[string]string{taskFlags: ""}
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		hideTaskFlags(c)
		c.Root().HelpFunc()(c, args)
		fmt.Fprintf(c.OutOrStdout(), "\n%s\n", taskFlags)
	})
}

// taskFlags is what the help of such a command says after its own flags. It marks the command, too.
const taskFlags = "And the flags of a task: overt --help"

// hideTaskFlags leaves the flags of the settings out of a command's help.
func hideTaskFlags(cmd *cobra.Command) {
	for _, k := range config.Keys() {
		for _, name := range []string{k.Flag(), k.OffFlag()} {
			if f := cmd.Flags().Lookup(name); f != nil && name != "" {
				f.Hidden = true
			}
		}
	}
}

// limits are those of the run that follows.
func limits(c *config.Config) event.Limits {
	return event.Limits{
		Steps: c.MaxSteps, Tokens: int64(c.BudgetTokens), Files: c.BudgetFiles, Seconds: int((c.Timeout + time.Second - 1) / time.Second),
	}
}

// places says where the person's files are.
func (p *program) places() config.Places {
	return config.Locate(config.Launch{Arg0: p.Arg0, Self: p.Self, Dir: p.Dir, Home: p.Home, Env: p.Env, File: p.flags.file})
}

// sources reads what settings come from. A file that is named must be there; the usual one need not.
func (p *program) sources(root string) (config.Sources, error) {
	src := config.Sources{Env: p.Env, Flags: p.flags.set}
	places := p.places()
	if places.Config != "" {
		doc, err := config.ReadFile(places.Config, places.Named.Layer != config.BuiltIn)
		switch {
		case err == nil:
			src.User = doc
		case !errors.Is(err, fs.ErrNotExist), places.Named.Layer != config.BuiltIn:
			return src, unread(places.Config, places.Named, err)
		}
	}
	var err error
	if src.Project, err = projectFile(root); src.Project != nil {
		src.Trusted = p.trusts(root)
	}
	return src, err
}

// unread is the error for a file of the person's that can't be read: the command line is at fault where it names it.
func unread(path string, by config.Source, err error) error {
	if by.Layer == config.BuiltIn {
		return &config.Error{Code: "config.file.read", Args: []any{reason(err)}, Path: path}
	}
	return &config.Error{Code: "config.file.named", Args: []any{by, reason(err)}, Path: path, Source: by}
}

// projectFile reads the settings of the project, which anyone may have written: only a plain file inside it counts.
func projectFile(root string) (*config.Document, error) {
	const name, limit = ".overt/config.json", 1 << 20
	path := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) { // the usual case, without a look at the whole tree
		return nil, nil
	}
	bad := func(why any) error {
		return &config.Error{Code: "config.file.read", Args: []any{why}, Hint: "config.project.hint", Path: path}
	}
	tree, err := workspace.Open(root)
	if err != nil {
		return nil, bad(reason(err))
	}
	defer tree.Close()
	real, err := tree.Resolve(name)
	if err != nil {
		return nil, bad(err)
	}
	text, size, err := tree.Head(name, real, limit)
	if err == nil && size > limit {
		err = fmt.Errorf("it is larger than %d KB", limit>>10)
	}
	if err != nil {
		return nil, bad(err)
	}
	return &config.Document{Path: path, Text: text}, nil
}

// reason is an error of the file system without the path, which is said beside it.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// config resolves the settings for a workspace.
func (p *program) config(root string) (*config.Config, error) {
	src, err := p.sources(root)
	if err != nil {
		return nil, err
	}
	c, err := config.Resolve(src)
	if err != nil {
		return c, err
	}
	if err := p.systemText(c); err != nil {
		return c, err
	}
	p.conf = c
	return c, nil
}

// keyless resolves the settings for what can do without a key.
func (p *program) keyless(root string) (*config.Config, error) {
	c, err := p.config(root)
	bad, ok := errors.AsType[*config.Error](err)
	if !ok || bad.Code != "config.preset_key" {
		return c, err
	}
	for _, other := range c.Problems { // it may hide another one
		if other.Code != bad.Code {
			return c, other
		}
	}
	p.conf = c
	return c, nil
}

// systemText reads a system prompt that stands in a file, which a file of settings names as seen from itself.
func (p *program) systemText(c *config.Config) error {
	name, ok := strings.CutPrefix(c.System.Value, "@")
	if !ok {
		return nil
	}
	dir := p.Dir
	if c.System.Source.Layer == config.User {
		dir = filepath.Dir(c.System.Source.Name)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	text, err := readText(name)
	if err != nil {
		return &config.Error{Code: "config.system_file", Args: []any{err}, Source: c.System.Source}
	}
	c.System.Value = string(text)
	return nil
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

// state is the folder that holds all records.
func (p *program) state() (string, error) {
	if dir := p.places().State; dir != "" {
		return dir, nil
	}
	return "", &config.Error{Code: "config.home", Hint: "config.home.hint"}
}

// workspace is the folder worked in, and that of all records.
func (p *program) workspace() (root, state string, err error) {
	if root, err = p.rootDir(); err == nil {
		state, err = p.state()
	}
	return root, state, err
}

// record opens the workspace's record for reading.
func (p *program) record(cmd *cobra.Command) (*app.Record, error) {
	root, state, err := p.workspace()
	if err != nil {
		return nil, err
	}
	return app.OpenRecord(cmd.Context(), state, root, p.Env)
}
