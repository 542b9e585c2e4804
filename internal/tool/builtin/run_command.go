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
	return spec("run_command", runCommandText, `{"type":"object","properties":{"command":{"type":"string"},"intent":{"type":"string","description":"why, in a few words, for the person"},"timeout":{"type":"integer","description":"seconds, default 120, at most 3600"},"cwd":{"type":"string","description":"folder to run in; default: the workspace"},"risk":{"type":"string","enum":["low","medium","high"],"description":"your own grade"},"unconfined":{"type":"boolean","description":"ask the person to run it outside the sandbox, which stopped it"}},"required":["command"]}`)
}

// Prepare implements [tool.Tool].
func (r runCommand) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Command, Intent, Cwd, Risk string
		Timeout                    int
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
	if limit := int(shell.MaxTimeout / time.Second); a.Timeout < 0 || a.Timeout > limit {
		return nil, &tool.Refusal{Code: tool.CodeBadArguments, Text: fmt.Sprintf("timeout is %d; it takes 1 to %d seconds", a.Timeout, limit)}
	}
	t, err := r.locate(orRoot(a.Cwd))
	if err != nil {
		return nil, err
	}
	run := &commandRun{core: r.core, dir: t, options: shell.Options{
		Command: a.Command, Dir: filepath.Join(r.tree.Root(), filepath.FromSlash(t.real)), Env: r.env,
		Timeout: time.Duration(a.Timeout) * time.Second,
	}}
	text := policy.InDir(t.real, a.Command)
	risk := policy.Command(a.Command, t.real, Files(r.tree))
	return &tool.Prepared{
		Action:  policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: text}}, Own: policy.Grade(a.Risk), Risk: &risk, Outside: a.Unconfined},
		Preview: text, Intent: strings.Join(strings.Fields(a.Intent), " "), Dir: t.real, Launch: run.launch, Release: run.release, Run: run.run,
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
func (f files) Script(path string) ([]byte, error) {
	real, err := f.Resolve(path)
	if err != nil {
		return nil, err
	}
	data, size, err := f.tree.Head(path, real, maxScript)
	var p *workspace.PathError
	switch {
	case errors.As(err, &p) && p.Code == workspace.CodeMissing:
		return nil, fs.ErrNotExist
	case err == nil && size > maxScript:
		return nil, errors.New("too large")
	}
	return data, err
}

// commandRun is one call on its way from launch to outcome.
type commandRun struct {
	*core
	dir     target
	options shell.Options
	held    *shell.Held
}

func (r *commandRun) launch(_ context.Context, confined bool) (*event.Group, error) {
	if err := r.recheck(r.dir); err != nil {
		return nil, err
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
	held, err := shell.Start(r.options)
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

func (r *commandRun) run(ctx context.Context, h tool.Host) (*tool.Result, error) {
	if r.held == nil {
		return nil, errors.New("the command was not launched")
	}
	var whole io.Writer
	keeper := h.Keep(true)
	if keeper != nil {
		whole = keeper
	}
	o, err := r.held.Go(ctx, h.Show, whole)
	if err != nil {
		return nil, err
	}
	result, err := outcome(o, r.options.Sandbox != nil)
	if err != nil {
		return nil, err
	}
	note := ""
	if keeper != nil && o.Total > 0 && !o.Exact {
		if kept, err := keeper.Keep(); err == nil {
			result.Output = &kept
			note = "; read_output " + kept.ID + " shows all"
			if kept.Capped {
				note = fmt.Sprintf("; read_output %s shows the first %d MiB of all", kept.ID, kept.Bytes>>20)
			}
		} else {
			note = "; they could not be kept: " + err.Error()
		}
	}
	result.Content += excerpt(o.Output, note)
	return result, nil
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

// outcome says how a command ended.
func outcome(o shell.Outcome, confined bool) (*tool.Result, error) {
	meta, err := json.Marshal(struct {
		Exit   int    `json:"exit"`
		Signal string `json:"signal,omitempty"`
		Left   int    `json:"left,omitempty"`
		MS     int64  `json:"ms"`
	}{o.Exit, o.Signal, o.Left, o.Took.Milliseconds()})
	if err != nil {
		return nil, err
	}
	r := &tool.Result{Meta: meta, Bytes: o.Total, Cut: o.Omitted > 0}
	var first string
	switch {
	case o.TimedOut:
		r.Status, r.Code = event.StatusTimedOut, "timed_out"
		first = fmt.Sprintf("timed out after %d s; the command and what it had started were ended", int(o.Took.Seconds()))
	case o.Cancelled:
		r.Status, r.Code = event.StatusCancelled, "cancelled"
		first = "cancelled while it ran; the command and what it had started were ended"
	case o.Signal != "":
		r.Status, r.Code = event.StatusError, "signal"
		first = "ended by signal: " + o.Signal
	case o.Exit != 0:
		r.Status, r.Code = event.StatusError, fmt.Sprintf("exit_%d", o.Exit)
		first = fmt.Sprintf("exit %d", o.Exit)
	default:
		first = "exit 0"
	}
	var b strings.Builder
	b.WriteString(first)
	if o.Left > 0 {
		fmt.Fprintf(&b, "; %s left behind %s ended", count(o.Left, "process", "processes"), was(o.Left))
	}
	if o.Open {
		b.WriteString("; a process that it started holds the output still, what that writes from now on is not shown")
	}
	if o.Head == "" {
		b.WriteString("; no output")
	}
	if confined && o.Exit != 0 && stopped(o.Output) {
		b.WriteString("; it ran in the sandbox, which may be why: no network, no secrets, and nothing is written outside the workspace and temporary folders, nor to protected files. If so, call again with unconfined: true, and the person is asked")
	}
	r.Content = b.String() + "\n"
	return r, nil
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
