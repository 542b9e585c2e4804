package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/workspace"
)

//go:embed run_command.md
var runCommandText string

type runCommand struct{ *core }

// Spec implements [tool.Tool].
func (runCommand) Spec() event.ToolSpec {
	return spec("run_command", runCommandText, `{"type":"object","properties":{"command":{"type":"string"},"intent":{"type":"string","description":"why, in a few words, for the person"},"timeout":{"type":"integer","description":"seconds, default 120, at most 3600"},"cwd":{"type":"string","description":"folder of the workspace to go to first, as by cd"},"background":{"type":"boolean","description":"start it as a job and do not wait"},"elevated":{"type":"boolean","description":"as root by sudo, in a shell of its own; a person must be there"},"risk":{"type":"string","enum":["low","medium","high"],"description":"your own grade"},"unconfined":{"type":"boolean","description":"ask the person to run it outside the sandbox, which stopped it"}},"required":["command"]}`)
}

// Prepare implements [tool.Tool].
func (r runCommand) Prepare(ctx context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Command, Intent, Cwd, Risk string
		Timeout                    int
		Background, Elevated       bool
		Unconfined                 bool
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Command) == "" {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: "command is empty"}
	}
	if err := unmasked(a.Command, a.Cwd); err != nil {
		return nil, err
	}
	limit := int(shell.MaxTimeout / time.Second)
	switch {
	case a.Timeout < 0 || a.Timeout > limit:
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("timeout is %d; it takes 1 to %d seconds", a.Timeout, limit)}
	case a.Elevated && a.Background:
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: "elevated and background do not go together: nobody could be asked for the password"}
	}
	run := &commandRun{core: r.core, background: a.Background, options: shell.Options{Command: a.Command, Timeout: time.Duration(a.Timeout) * time.Second}}
	if a.Background && a.Timeout == 0 {
		run.options.Timeout = shell.MaxTimeout
	}
	dir, err := run.place(ctx, a.Cwd)
	if err != nil {
		return nil, err
	}
	if a.Elevated {
		return run.elevate(a.Intent, policy.Grade(a.Risk), dir)
	}
	known := r.shell.Known()
	if !policy.OnlyFunctions(known.Functions) { // as bash printed them, they would do more than that when it reads them
		r.shell.Forget()
		known.Functions = ""
		run.notes = append(run.notes, "its functions could not be kept")
	}
	text := policy.InDir(dir, a.Command)
	risk := policy.CommandIn(a.Command, policy.Shell{
		Dir: dir, Functions: known.Functions, Aliases: known.Aliases, Vars: known.Vars, Odd: known.Odd, Set: known.Set, Options: known.Options, Path: known.Path,
	}, Files(r.tree))
	return &tool.Prepared{
		Action:  policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: text}}, Own: policy.Grade(a.Risk), Risk: &risk, Outside: a.Unconfined || a.Background, Open: a.Unconfined}, // a job would outlive the look at what it has made
		Preview: text, Intent: strings.Join(strings.Fields(a.Intent), " "), Dir: dir, Launch: run.launch, Release: run.release, Run: run.run,
	}, nil
}

// maxScript bounds, in bytes, a script that is read to grade a command.
const maxScript = 256 << 10

// Files gives grading its look at a workspace.
func Files(t *workspace.Tree) policy.Files { return files{t} }

type files struct{ tree *workspace.Tree }

// Resolve implements [policy.Files].
func (f files) Resolve(path string) (string, error) {
	rel, err := f.tree.Rel(path)
	if err != nil {
		return "", err
	}
	return f.tree.Resolve(rel)
}

// Script implements [policy.Files].
func (f files) Script(path string) ([]byte, error) { return f.read(path, maxScript) }

// Index implements [policy.Files].
func (f files) Index(path string) ([]byte, error) { return f.read(path, workspace.MaxFile) }

// Linked implements [policy.Files].
func (f files) Linked(path string) string {
	rel, err := f.tree.Rel(path)
	if err != nil {
		return ""
	}
	if real, err := f.tree.Resolve(rel); err == nil {
		rel = real
	}
	return f.tree.Linked(rel, policy.Secret)
}

func (f files) read(path string, most int64) ([]byte, error) {
	real, err := f.Resolve(path)
	if err != nil {
		return nil, err
	}
	data, size, err := f.tree.Head(path, real, most)
	var p *workspace.PathError
	switch {
	case errors.As(err, &p) && p.Code == workspace.CodeMissing:
		return nil, fs.ErrNotExist
	case err == nil && size > most:
		return nil, errors.New("too large")
	}
	return data, err
}

// commandRun is one call on its way from launch to outcome.
type commandRun struct {
	*core
	to         *target // where cwd leads
	background bool
	options    shell.Options
	held       *shell.Held
	notes      []string // for the first line of the result
}

// place says where the command will run: relative to the workspace, or absolute. A folder that is gone leaves the
// workspace itself.
func (r *commandRun) place(ctx context.Context, cwd string) (string, error) {
	r.resumed(ctx)
	if cwd != "" {
		t, err := r.locate(cwd)
		if err != nil {
			return "", err
		}
		r.to, r.options.Dir = &t, r.absolute(t.real)
		return t.real, nil
	}
	if r.shell.Gone() {
		r.notes = append(r.notes, "the folder "+r.relative(r.shell.Dir())+" is gone, so this ran in the workspace")
		r.options.Dir = r.tree.Root()
		return ".", nil
	}
	return r.relative(r.shell.Dir()), nil
}

func (c *core) absolute(rel string) string {
	return filepath.Join(c.tree.Root(), filepath.FromSlash(rel))
}

// relative names a folder by its way from the workspace, if it is in it.
func (c *core) relative(dir string) string {
	rel, err := c.tree.Rel(dir)
	if err != nil {
		return dir
	}
	return rel
}

// resumed puts a shell that has run nothing yet where the last command of the task left the one before.
func (r *commandRun) resumed(ctx context.Context) {
	r.mu.Lock()
	resume := r.resume
	r.resume = nil
	r.mu.Unlock()
	if resume == nil {
		return
	}
	dir, before := resume(ctx)
	if !before {
		return
	}
	if dir != "" {
		if !filepath.IsAbs(dir) {
			dir = r.absolute(dir)
		}
		r.shell.Move(dir)
	}
	r.notes = append(r.notes, "in a new shell, since the program was started again: variables and functions of before are gone")
}

func (r *commandRun) launch(_ context.Context, confined bool) (*event.Group, error) {
	if r.to != nil {
		if err := r.recheck(*r.to); err != nil {
			return nil, err
		}
	}
	if confined {
		if r.box == nil {
			return nil, errors.New("there is no sandbox for a command that was allowed in one only")
		}
		box, err := r.box()
		if err != nil {
			return nil, &tool.Refusal{Code: "not_started", Text: "the sandbox could not be prepared: " + err.Error() + "; nothing was run"}
		}
		r.options.Sandbox = box
	}
	held, err := r.shell.Start(r.options)
	if err != nil {
		return nil, &tool.Refusal{Code: "not_started", Text: err.Error() + "; nothing was run"}
	}
	r.held = held
	g := event.Group(held.Group())
	return &g, nil
}

func (r *commandRun) release() {
	if r.held != nil {
		r.held.Release()
	}
}

// moment is how long a command in the background is looked at before the call returns.
const moment = 300 * time.Millisecond

func (r *commandRun) run(ctx context.Context, h tool.Host) (*tool.Result, error) {
	if r.held == nil {
		return nil, errors.New("the command was not launched")
	}
	r.held.Trace(h.Trace())
	if r.background {
		o, err := r.held.Background(ctx, moment, h.Show)
		if err != nil {
			return nil, err
		}
		result, err := r.outcome(o)
		if err != nil {
			return nil, err
		}
		result.Content += excerpt(o.Output, "")
		return result, nil
	}
	var whole io.Writer
	keeper := h.Keep(true)
	if keeper != nil {
		whole = keeper
	}
	before := r.shell.Dir()
	o, err := r.held.Go(ctx, h.Show, whole)
	if err != nil {
		return nil, err
	}
	if now := r.shell.Dir(); now != before {
		r.notes = append(r.notes, "now in "+r.relative(now))
	}
	result, err := r.outcome(o)
	if err != nil {
		return nil, err
	}
	result.Content += excerpt(o.Output, keep(keeper, o.Output, result))
	return result, nil
}

// keep keeps the whole of an output of which the model gets something else, and gives what to say of it.
func keep(keeper tool.Keeper, o shell.Output, result *tool.Result) string {
	if keeper == nil || o.Total == 0 || o.Exact {
		return ""
	}
	kept, err := keeper.Keep()
	if err != nil {
		return "; they could not be kept: " + err.Error()
	}
	result.Output = &kept
	if kept.Capped {
		return fmt.Sprintf("; read_output %s shows the first %d MiB of all", kept.ID, kept.Bytes>>20)
	}
	return "; read_output " + kept.ID + " shows all"
}

// excerpt shows both ends of an output, to whole lines if there are ends of lines near, and says what lies between.
func excerpt(o shell.Output, note string) string {
	if o.Omitted == 0 {
		return o.Head
	}
	head, tail := o.Head, o.Tail
	if i := strings.LastIndexByte(head, '\n') + 1; i > 0 && len(head)-i <= maxBroken {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n') + 1; i > 0 && i <= maxBroken && i < len(tail) {
		tail = tail[i:]
	}
	shown := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail)
	all := utf8.RuneCountInString(o.Head) + o.Omitted + utf8.RuneCountInString(o.Tail)
	if note != "" {
		note = fmt.Sprintf(", from line %d on%s", strings.Count(head, "\n")+1, note)
	}
	between := fmt.Sprintf("[%d of %d characters left out%s]\n", all-shown, all, note)
	if !strings.HasSuffix(head, "\n") {
		between = "\n" + between
	}
	return head + between + tail
}

// maxBroken is how many bytes of a broken line are left out at either end of a gap; a longer one is shown broken.
const maxBroken = 1000

// outcome says how a command ended, what it leaves, and which jobs have ended meanwhile.
func (r *commandRun) outcome(o shell.Outcome) (*tool.Result, error) {
	first, result := ending(o)
	meta := struct {
		Exit   int    `json:"exit"`
		Signal string `json:"signal,omitempty"`
		Left   int    `json:"left,omitempty"`
		Job    string `json:"job,omitempty"`
		Dir    string `json:"dir,omitempty"` // of the shell from now on, where it is not the workspace
		MS     int64  `json:"ms"`
	}{Exit: o.Exit, Signal: o.Signal, Left: o.Left, MS: o.Took.Milliseconds()}
	if dir := r.relative(r.shell.Dir()); dir != "." {
		meta.Dir = dir
	}
	parts := []string{first}
	if o.Job != nil {
		meta.Job = o.Job.ID
		if r.background {
			parts[0] = "started as " + o.Job.ID
		} else {
			parts = append(parts, "what it left running is "+o.Job.ID)
		}
		parts[len(parts)-1] += fmt.Sprintf(" (process group %d)", o.Job.Group.ID)
		result.Facts = append(result.Facts, started(o.Job))
	}
	if o.Left > 0 {
		parts = append(parts, fmt.Sprintf("%s left behind %s ended", count(o.Left, "process", "processes"), was(o.Left)))
	}
	if o.Open {
		parts = append(parts, "a process that it started holds the output still, what that writes from now on is not shown")
	}
	if r.options.Sandbox != nil && o.Exit != 0 && stopped(o.Output) {
		parts = append(parts, "it ran in the sandbox, which may be why: no network, no socket files (AF_UNIX), no secrets, and nothing is written outside the workspace and temporary folders, nor to protected files. If so, call again with unconfined: true, and the person is asked")
	}
	if o.Lost && !r.background {
		parts = append(parts, "the shell ended without saying where it stood, as after exec, set -n or a kill, so folder and variables are those of before")
	}
	if o.Large {
		what := "so of its state only the folder was kept: variables and functions are those of before"
		if len(o.Unkept) > 0 {
			what = "so these were not kept: " + strings.Join(o.Unkept[:min(len(o.Unkept), 20)], ", ")
		}
		parts = append(parts, "the state of the shell was larger than 4 MB, "+what)
	}
	parts = append(parts, r.notes...)
	ended, facts := r.endedJobs()
	parts, result.Facts = append(parts, ended...), append(result.Facts, facts...)
	switch {
	case o.Total == 0:
		parts = append(parts, "no output")
	case o.Head == "":
		parts = append(parts, count(int(o.Total), "byte", "bytes")+" of output without any text; od -c shows such")
	}
	var err error
	result.Meta, err = json.Marshal(meta)
	result.Content = strings.Join(parts, "; ") + "\n"
	return result, err
}

// ending says how a command ended.
func ending(o shell.Outcome) (string, *tool.Result) {
	r := &tool.Result{Bytes: o.Total, Cut: o.Omitted > 0}
	switch {
	case o.TimedOut:
		r.Status, r.Code = event.StatusTimedOut, "timed_out"
		return fmt.Sprintf("timed out after %d s; the command and what it had started were ended", int(o.Took.Seconds())), r
	case o.Cancelled:
		r.Status, r.Code = event.StatusCancelled, "cancelled"
		return "cancelled while it ran; the command and what it had started were ended", r
	case o.Waiting:
		r.Status, r.Code = event.StatusError, "waiting"
		return fmt.Sprintf("ended, for it waited for input at a terminal of its own, where nobody types; its last line: %q", lastLine(o.Output)), r
	case o.Signal != "":
		r.Status, r.Code = event.StatusError, "signal"
		return "ended by signal: " + o.Signal, r
	case o.Exit != 0:
		r.Status, r.Code = event.StatusError, fmt.Sprintf("exit_%d", o.Exit)
		return fmt.Sprintf("exit %d", o.Exit), r
	}
	return "exit 0", r
}

// lastLine is what a program that waits has asked, most likely.
func lastLine(o shell.Output) string {
	text := strings.TrimSpace(o.Head + o.Tail)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return strings.ToValidUTF8(text[max(0, len(text)-200):], "")
}

// stopped tells whether an output speaks of what a sandbox does: it is how programs put EACCES, EPERM, EROFS, EXDEV,
// ENETUNREACH, and names that can't be looked up.
func stopped(o shell.Output) bool {
	text := strings.ToLower(o.Head + o.Tail)
	return slices.ContainsFunc([]string{
		"permission denied", "operation not permitted", "not permitted", "read-only file system", "cross-device link", "network is unreachable", "resource busy",
		"could not resolve", "couldn't resolve", "name resolution", "no such host", "name or service not known", "lookup ", "enotfound", "eai_again", "eacces", "eperm", "erofs",
	}, func(s string) bool { return strings.Contains(text, s) })
}
