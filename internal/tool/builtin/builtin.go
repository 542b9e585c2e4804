// Package builtin has the tools, in sets: core (read_file, read_image, list_files, search_text, edit_file, write_file,
// run_command, read_output, stop_job, update_plan), and those that a person adds: patch, git, system.
//
// [Tools] makes them for one task. They share a memory of what the model has read: a file that exists is overwritten
// only if it was read, and no change is made to one that is not as the model saw it. The memory is lost with the
// process; edit_file then still works, since its old text must match.
//
// Each tool is a Go file and a text beside it, which is what the model reads. Tools ask nobody and record nothing: they
// name their effects, and give facts of what they changed to the dispatcher. What a path leads to is resolved when a
// call is prepared, named as an effect, and looked up again before it is used. They may be used by several goroutines.
package builtin

import (
	"bytes"
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// Options are what the tools work on.
type Options struct {
	Tree *workspace.Tree
	// Shell is what the commands of the task share; whoever made it closes it.
	Shell *shell.Session
	// Env is the environment of the programs that tools other than run_command start.
	Env []string
	// Resume says, once, where an earlier process of the task left its shell, relative to the workspace or absolute, and
	// whether it had one. nil: there was none.
	Resume func(ctx context.Context) (dir string, had bool)
	// Rules are those in force. A search leaves out the files that they forbid to read, besides those that may hold
	// secrets; a list leaves out what they forbid to list. nil: no rules.
	Rules func() policy.Rules
	// Output finds a kept output of the task. Its errors are [ErrNoOutput], [ErrOutputGone], or fatal. nil: there are none.
	Output func(ctx context.Context, id string) (Kept, error)
	// Look says what pictures the model's server takes. nil: none, and there is no read_image.
	Look *Looking
	// Terminal lends the person's terminal, raw and read by nobody else, until the function is called. nil: there is none.
	Terminal func() (*os.File, func(), error)
	// Confine says what a confined command may touch. nil: none can be confined.
	Confine func() (*shell.Sandbox, error)
}

// Names of the sets.
const (
	SetCore   = "core"
	SetPatch  = "patch"
	SetGit    = "git"
	SetSystem = "system"
)

// Sets lists the sets that there are, in the order in which a model is told of their tools.
func Sets() []string { return []string{SetCore, SetPatch, SetGit, SetSystem} }

// Core gives the core tools of one task.
func Core(o Options) []tool.Tool { return Tools(o, SetCore) }

// Tools gives the tools of some sets for one task, in the order in which a model is told of them. A set that does not exist has
// none.
func Tools(o Options, sets ...string) []tool.Tool {
	c := &core{
		tree: o.Tree, shell: o.Shell, env: o.Env, resume: o.Resume, rules: o.Rules, output: o.Output, box: o.Confine, terminal: o.Terminal,
		look: o.Look, seen: map[string]seen{},
	}
	var out []tool.Tool
	for _, set := range Sets() {
		if slices.Contains(sets, set) {
			out = append(out, c.set(set)...)
		}
	}
	return out
}

func (c *core) set(name string) []tool.Tool {
	switch name {
	case SetCore:
		tools := []tool.Tool{readFile{c}, listFiles{c}, searchText{c}, editFile{c}, writeFile{c}, runCommand{c}, readOutput{c}, stopJob{c}, updatePlan{c}}
		if c.look != nil {
			tools = append(tools, readImage{c})
		}
		return tools
	case SetPatch:
		return []tool.Tool{applyPatch{c}}
	case SetGit:
		return []tool.Tool{gitStatus{c}, gitDiff{c}, gitLog{c}, gitAdd{c}, gitCommit{c}}
	case SetSystem:
		return []tool.Tool{describeSystem{c}, statPath{c}, summarizeWorkspace{c}, readManyFiles{c}}
	}
	return nil
}

// core is what the tools of a task share.
type core struct {
	tree   *workspace.Tree
	shell  *shell.Session
	env    []string
	rules  func() policy.Rules
	output func(ctx context.Context, id string) (Kept, error)
	box    func() (*shell.Sandbox, error)
	look   *Looking

	terminal func() (*os.File, func(), error)

	mu     sync.Mutex
	seen   map[string]seen // by resolved path
	resume func(ctx context.Context) (dir string, had bool)
}

// seen is a file as the model last saw it.
type seen struct {
	sum string // SHA-256
	enc workspace.Encoding
}

func (c *core) remember(t target, sum string, enc workspace.Encoding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[t.real] = seen{sum, enc.Told()}
}

func (c *core) remembered(t target) (s seen, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok = c.seen[t.real]
	return s, ok
}

// target is a path as the model means it, and what it led to when the call was prepared. They differ where there are links.
type target struct{ rel, real string }

func (c *core) locate(path string) (target, error) {
	rel, err := c.tree.Rel(meant(path))
	if err != nil {
		return target{}, refusal(err)
	}
	real, err := c.tree.Resolve(rel)
	if err != nil {
		return target{}, refusal(err)
	}
	return target{rel, real}, nil
}

// recheck makes sure that a path still leads where it led when it was decided on.
func (c *core) recheck(t target) error {
	real, err := c.tree.Resolve(t.rel)
	if err != nil {
		return refusal(err)
	}
	if real != t.real {
		return &tool.Refusal{Code: "changed", Text: t.rel + " now leads elsewhere than when this call was checked; nothing was done. Send the call again"}
	}
	return nil
}

// action names what is done to the path, by both its names.
func (t target) action(name string, kind policy.EffectKind) policy.Action {
	a := policy.Action{Tool: name, Effects: []policy.Effect{{Kind: kind, Target: t.real}}}
	if t.rel != t.real {
		a.Effects = append(a.Effects, policy.Effect{Kind: kind, Target: t.rel})
	}
	return a
}

// forbidden tells which paths the rules in force keep from a tool that is asked about a folder above them.
func (c *core) forbidden(name string) func(path string) bool {
	var rules policy.Rules
	if c.rules != nil {
		rules = c.rules()
	}
	if !slices.ContainsFunc(rules.List, func(r policy.Rule) bool { return r.Verdict == policy.Deny }) {
		return func(string) bool { return false }
	}
	return func(path string) bool {
		a := policy.Action{Tool: name, Effects: []policy.Effect{{Kind: policy.Read, Target: path}}}
		return policy.Decide(rules, a).Verdict == policy.Deny
	}
}

// decode reads arguments that satisfy the tool's schema.
func decode(args json.RawMessage, into any) error {
	if err := json.Unmarshal(args, into); err != nil {
		return &tool.Refusal{Code: tool.CodeBadArguments, Text: "the arguments can't be read: " + err.Error()}
	}
	return nil
}

// unmasked refuses text in which a secret was replaced: it is not what was meant. Tools give it every decoded string
// that is run, written or looked for to be replaced.
func unmasked(texts ...string) error {
	for _, s := range texts {
		if strings.Contains(s, event.MaskPrefix) {
			return &tool.Refusal{Code: "masked_secret", Text: "the text holds " + event.MaskPrefix + "…], the placeholder of a masked secret, so it is not what was meant; nothing was done. Name the secret by its variable or file instead"}
		}
	}
	return nil
}

// refusal puts errors about files and edits in the model's hands.
func refusal(err error) error {
	var (
		path    *workspace.PathError
		edit    *workspace.EditError
		changed *workspace.Changed
	)
	switch {
	case errors.As(err, &path):
		return &tool.Refusal{Code: path.Code, Text: path.Text + hint(path.Code)}
	case errors.As(err, &edit):
		return &tool.Refusal{Code: edit.Code, Text: edit.Text}
	case errors.As(err, &changed):
		return &tool.Refusal{Code: "changed", Text: changed.Error()}
	}
	return err
}

func hint(code string) string {
	switch code {
	case workspace.CodeMissing:
		return "; list_files shows what there is"
	case workspace.CodeKind:
		return "; list_files shows folders"
	case workspace.CodeTooLarge:
		return "; use search_text, or run_command with sed -n, head or tail"
	case workspace.CodeOutside:
		return "; the file tools work inside it only"
	}
	return ""
}

// text refuses a file that is not text.
func text(t target, data []byte) error {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return &tool.Refusal{Code: workspace.CodeBinary, Text: fmt.Sprintf("%s is binary: byte %d is NUL. Use run_command (file, xxd, strings)", t.rel, i+1)}
	}
	return nil
}

func spec(name, description, schema string) event.ToolSpec {
	return event.ToolSpec{Name: name, Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

// count says how many of something there are.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
