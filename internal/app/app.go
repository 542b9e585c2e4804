// Package app builds a running Overt from its configuration: the record of a workspace, the wire to the model, the kit
// of each task.
//
// [Open] gives everything a front end needs to act and read; [OpenRecord] gives what is needed to read alone; [Doctor]
// examines all of it, since only this package knows every part. It presents nothing and parses no flags. An App may be used by several
// goroutines.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"overt/internal/checkpoint"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/instruction"
	"overt/internal/llm"
	"overt/internal/policy"
	"overt/internal/prompt"
	"overt/internal/provider"
	"overt/internal/redact"
	"overt/internal/session"
	"overt/internal/shell"
	"overt/internal/store"
	"overt/internal/tool"
	"overt/internal/tool/builtin"
	"overt/internal/trace"
	"overt/internal/wire"
	"overt/internal/workspace"
)

// Options is what a front end knows.
type Options struct {
	Config      *config.Config
	Root        string   // the workspace
	State       string   // the folder that holds the records of all workspaces
	Env         []string // the environment; commands get it without the keys in it
	Version     string
	Client      string // cli
	Interactive bool   // a person can be asked
	// Terminal lends the person's terminal, raw and read by nobody else, until the function is called; nil: there is none.
	Terminal func() (*os.File, func(), error)
}

// App is a running Overt on one workspace.
type App struct {
	Session *session.Session
	Trace   *trace.Reader
	Model   string // the model that tasks run with

	o       Options
	store   *store.Store
	mask    *redact.Masker
	list    []policy.Rule // of the settings
	user    *userRecord
	tree    *workspace.Tree
	client  *wire.Client
	learner *learner
	keeper  *checkpoint.Keeper // nil: this system keeps no states of files

	looked firstLook // at whether the model takes pictures

	mu    sync.Mutex
	tools map[string]*tool.Set // by task: tools remember what the model has read
	shell []*shell.Session     // theirs
}

// Record is a workspace's record, open for reading.
type Record struct {
	Trace *trace.Reader
	store *store.Store
}

// Close closes the record.
func (r *Record) Close() error { return r.store.Close() }

// folder is where the record of a workspace lives below the state folder.
func folder(state, root string) string {
	return filepath.Join(state, "workspaces", store.Name(root))
}

// ErrNoRecord says that nothing was ever recorded for a workspace.
var ErrNoRecord = errors.New("nothing is recorded for this workspace")

// OpenRecord opens what is recorded of a workspace; without a record it makes none, and the error is [ErrNoRecord], or says
// that there was one. env looks up variables.
func OpenRecord(ctx context.Context, state, root string, env func(string) (string, bool)) (*Record, error) {
	s, err := existing(ctx, store.Options{Dir: folder(state, root)}, env)
	if err != nil {
		return nil, err
	}
	return &Record{trace.New(s), s}, nil
}

// Open opens a workspace for work. It sends nothing, but for a look at the model list when the endpoint is given and
// the model is not.
func Open(ctx context.Context, o Options) (*App, error) {
	rules, err := Rules(o.Config)
	if err != nil {
		return nil, err
	}
	if _, bad := profileOf(o.Config, "", o.Config.Model.Value); bad != nil { // before anything is recorded
		return nil, bad
	}
	a := &App{o: o, list: rules, mask: redact.New(), learner: newLearner(), tools: map[string]*tool.Set{}}
	learnSecrets(a.mask, o.Config, o.Env)
	if err := askKey(ctx, o.Config, o.Env, a.mask); err != nil {
		return nil, err
	}
	a.user = newUserRecord(o, a.mask)
	sweepEphemeral(variables(o.Env))
	if a.store, err = store.Open(ctx, store.Options{Dir: folder(o.State, o.Root), Mask: a.mask, Version: o.Version}); err != nil {
		return nil, err
	}
	if err = a.sayLost(ctx); err == nil {
		err = a.build(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.release())
	}
	return a, nil
}

func (a *App) build(ctx context.Context) (err error) {
	if a.tree, err = workspace.Open(a.o.Root); err != nil {
		return err
	}
	if a.keeper, err = keeper(a.o, a.tree.Root(), a.store, a.o.Config.FilesMax); err != nil {
		return err
	}
	link, bad := transport(a.o.Config)
	if bad != nil {
		return bad
	}
	a.client = wire.New(wire.Options{
		Sink: a.store.Captures(), UserAgent: "overt", Timeout: a.o.Config.RequestTimeout, Idle: a.o.Config.IdleTimeout, Transport: link,
	})
	if a.Model, err = chooseModel(ctx, a.o.Config, a.client.HTTP(), a.mask); err != nil {
		return err
	}
	a.Trace = trace.New(a.store)
	a.Session = session.Open(session.Options{
		Store: a.store, Mask: a.mask, Kit: a.kit, NewID: newID, Client: a.o.Client, Version: a.o.Version, Dir: a.o.Root, PID: os.Getpid(),
		Interactive: a.o.Interactive, User: a.user.open, DryRun: a.o.Config.DryRun,
		EndGroup: func(g event.Group) bool { return shell.EndGroup(shell.Group(g)) },
		Alive:    func(g event.Group) bool { return shell.Alive(shell.Group(g)) },
		Wait:     wait, Backoff: backoff, Checkpoints: checkpoints(a.keeper),
	})
	return nil
}

// Close ends all runs, keeps the captures within their bound, and closes the record.
func (a *App) Close(ctx context.Context) error {
	return errors.Join(a.Session.Close(ctx), a.endJobs(ctx), a.retain(ctx), a.retainFiles(ctx), a.release())
}

// release closes what build opened, as far as it came.
func (a *App) release() error {
	var errs []error
	a.learner.close()
	a.mu.Lock()
	for _, sh := range a.shell {
		sh.Close()
	}
	a.mu.Unlock()
	if a.tree != nil {
		errs = append(errs, a.tree.Close())
	}
	if a.client != nil {
		a.client.Close()
	}
	if a.keeper != nil {
		errs = append(errs, a.keeper.Close())
	}
	return errors.Join(append(errs, a.user.close(), a.store.Close())...)
}

// Idle makes sure that nobody is at work in a workspace: a *session.HeldError says who is. It makes nothing.
func Idle(ctx context.Context, state, root string, env func(string) (string, bool)) error {
	record, err := OpenRecord(ctx, state, root, env)
	if errors.Is(err, ErrNoRecord) {
		return nil
	}
	if err != nil {
		return err
	}
	defer record.Close()
	lease, err := record.store.Lease(ctx, "look", "")
	if err != nil {
		return err
	}
	return lease.Release()
}

// retain forgets captures and outputs that are older, or take more, than the settings allow.
func (a *App) retain(ctx context.Context) error {
	info, err := os.Stat(filepath.Join(folder(a.o.State, a.o.Root), "captures.db"))
	if err != nil {
		return err
	}
	c := a.o.Config
	return a.prune(ctx, info.Size(), c.CapturesMax, c.CapturesAge, a.store.Captures().Prune)
}

// prune has what is older than age, or takes more than most of size, forgotten; 0 is no limit of either. Whoever runs meanwhile
// holds the lease, and then it is left to them: pruning takes away what a run under way would build on.
func (a *App) prune(ctx context.Context, size, most int64, age time.Duration, forget func(ctx context.Context, before time.Time, keep int64) error) error {
	large := most > 0 && size > most
	if !large && age == 0 {
		return nil
	}
	lease, err := a.store.Lease(ctx, "prune", "")
	var held *store.HeldError
	if errors.As(err, &held) {
		return nil
	}
	if err != nil {
		return err
	}
	var before time.Time
	if age > 0 {
		before = time.Now().Add(-age)
	}
	keep := int64(0) // no limit
	if large {
		keep = most * 3 / 4 // so that not every run has to
	}
	return errors.Join(forget(ctx, before, keep), lease.Release())
}

// kit is what a task runs with.
func (a *App) kit(_ context.Context, task string) (*session.Kit, error) {
	c := a.o.Config
	profile, bad := profileOf(c, a.o.State, a.Model)
	if bad != nil {
		return nil, bad
	}
	k := readKnown(a.o.State, c.BaseURL.Value)
	server, facts := serverKind(c, k.Server), modelOf(c, &k, a.Model)
	set, err := a.set(task, facts.Images)
	if err != nil {
		return nil, err
	}
	kit := &session.Kit{
		Model: provider.New(provider.Options{
			Wire: a.client, Endpoint: c.BaseURL.Value, Key: c.APIKey.Value, Name: c.Provider, Model: a.Model, Stream: c.Stream,
			Protocol: c.Protocol.Value, Profile: profile, Header: extraHeader(c), MaxOutput: facts.MaxOutput,
			Images: a.store.Picture,
		}),
		Info: llm.Info{
			Provider: c.Provider, Protocol: c.Protocol.Value, Model: a.Model, Local: wire.Local(c.BaseURL.Value), MayCut: provider.Cuts(server),
			Window: facts.Window, MaxOutput: facts.MaxOutput, Images: facts.Images, Prices: facts.Prices,
		},
		Set: set,
		Sources: []prompt.Source{
			prompt.System{Text: c.System.Value, Dir: a.o.Root, OS: runtime.GOOS + "/" + runtime.GOARCH, Date: time.Now().Format(time.DateOnly)},
			instruction.Agents{Read: a.read},
		},
		Rules:   func() policy.Rules { return a.rules(task) },
		Params:  llm.Params{Temperature: c.Temperature, MaxTokens: c.MaxTokens, Thinking: c.Thinking, Effort: c.Effort},
		Retries: c.Retries,
	}
	if server != "" && kit.Info.Local {
		kit.Model = curious{kit.Model, a.learner, func(ctx context.Context) { a.lookAt(ctx, server) }}
	}
	if c.Probe != config.Off {
		kit.Model = careful{kit.Model, a, &a.looked}
	}
	if a.keeper != nil {
		kit.Checkpoints = a.keeper
	}
	return kit, nil
}

// confines tells whether commands can be confined: what they may not make is put back from a checkpoint, so there must be one.
func (a *App) confines() bool {
	return a.o.Config.Sandbox && a.keeper != nil && a.keeper.Whole() && shell.SandboxSupport() == nil
}

// rules is what is in force for a task; "": for none.
func (a *App) rules(task string) policy.Rules {
	profile := policy.Profile(a.o.Config.Permission.Value)
	return policy.Rules{Profile: profile, List: append(slices.Clip(a.list), saved(context.Background(), a.store, a.user, task)...), Sandbox: profile == policy.Auto && a.confines()}
}

// set gives the tools of a task. Who is known to take no pictures is offered no read_image.
func (a *App) set(task string, images *bool) (*tool.Set, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.tools[task]; s != nil {
		return s, nil
	}
	if len(a.o.Config.Tools) == 0 {
		return tool.NewSet()
	}
	env := shell.Environ(withoutSecrets(a.o.Env, a.o.Config))
	sh := shell.NewSession(a.tree.Root(), env)
	var look *builtin.Looking
	if takes(images) {
		look = &builtin.Looking{Pictures: a.pictureLimits(), Have: func(ctx context.Context) (int, int64, error) {
			n, encoded, left, err := a.pictures(ctx, event.Path{Task: task})
			if err == nil && left {
				err = builtin.ErrLeft
			}
			return n, encoded, err
		}}
	}
	s, err := tool.NewSet(builtin.Tools(builtin.Options{
		Tree: a.tree, Look: look, Shell: sh, Env: env, Rules: func() policy.Rules { return a.rules(task) }, Terminal: a.o.Terminal,
		Resume:  func(ctx context.Context) (string, bool) { return a.lastShell(ctx, task) },
		Confine: a.newBox().sandbox,
		Output:  func(ctx context.Context, id string) (builtin.Kept, error) { return a.output(ctx, task, id) },
	}, a.o.Config.Tools...)...)
	if err == nil {
		a.tools[task] = s
		a.shell = append(a.shell, sh)
	}
	return s, err
}

// lastShell says where the last command of a task left its shell, and whether there was one.
func (a *App) lastShell(ctx context.Context, task string) (dir string, had bool) {
	for f, err := range a.store.Read(ctx, event.Path{Task: task}) {
		if err != nil {
			return "", false // the run ends over the same error
		}
		done, ok := f.Data.(event.ToolCompleted)
		var meta struct {
			Exit *int
			Dir  string
		}
		if ok && done.Name == "run_command" && json.Unmarshal(done.Meta, &meta) == nil && meta.Exit != nil {
			dir, had = meta.Dir, true
		}
	}
	return dir, had
}

// output finds a kept output of a task.
func (a *App) output(ctx context.Context, task, id string) (builtin.Kept, error) {
	o, err := a.store.Output(ctx, task, id)
	switch {
	case errors.Is(err, store.ErrNoOutput):
		return builtin.Kept{}, builtin.ErrNoOutput
	case errors.Is(err, store.ErrOutputGone):
		return builtin.Kept{}, builtin.ErrOutputGone
	case err != nil:
		return builtin.Kept{}, err
	}
	return builtin.Kept{Open: o.Open, Bytes: o.Bytes, Raw: o.Raw, Capped: o.Capped}, nil
}

// read gives the beginning of a file of the workspace for the context, and its size. What the rules in force would not
// let a model read unasked is withheld: a link may lead anywhere.
func (a *App) read(name string, max int64) ([]byte, int64, error) {
	real, err := a.tree.Resolve(name)
	var p *workspace.PathError
	switch {
	case errors.As(err, &p):
		return nil, 0, instruction.Withheld(p.Text)
	case err != nil:
		return nil, 0, err
	}
	may := policy.Decide(a.rules(""), policy.Action{Tool: "read_file", Effects: []policy.Effect{{Kind: policy.Read, Target: real}}})
	if may.Verdict != policy.Allow {
		return nil, 0, instruction.Withheld("the rules do not let it be read unasked")
	}
	data, size, err := a.tree.Head(name, real, max)
	switch {
	case errors.As(err, &p) && p.Code == workspace.CodeMissing:
		return nil, 0, fs.ErrNotExist
	case errors.As(err, &p):
		return nil, 0, instruction.Withheld(p.Text)
	}
	return data, size, err
}
