package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// opDelete is a kind of change that only a patch makes.
const opDelete = "delete"

//go:embed apply_patch.md
var applyPatchText string

type applyPatch struct{ *core }

// Spec implements [tool.Tool].
func (applyPatch) Spec() event.ToolSpec {
	return spec("apply_patch", applyPatchText, `{"type":"object","properties":{"patch":{"type":"string"}},"required":["patch"]}`)
}

// patched is what a patch does with one file, and where.
type patched struct {
	workspace.FilePatch
	from target
	to   *target // of a file that gets another name
}

// Prepare implements [tool.Tool].
func (a applyPatch) Prepare(ctx context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var in struct{ Patch string }
	if err := decode(args, &in); err != nil {
		return nil, err
	}
	if err := unmasked(in.Patch); err != nil {
		return nil, err
	}
	files, err := workspace.ParsePatch(in.Patch)
	if err != nil {
		return nil, patchRefusal(err)
	}
	p := &tool.Prepared{Action: policy.Action{Tool: "apply_patch"}}
	var list []patched
	var words []string
	hidden := false
	for _, f := range files {
		one := patched{FilePatch: f}
		if one.from, err = a.locate(f.Path); err != nil {
			return nil, err
		}
		places := []target{one.from}
		words = append(words, f.Op+" "+shown(one.from.rel))
		if f.To != "" {
			to, err := a.locate(f.To)
			if err != nil {
				return nil, err
			}
			one.to = &to
			places = append(places, to)
			words[len(words)-1] = "rename " + shown(one.from.rel) + " to " + shown(to.rel)
		}
		for _, t := range places {
			if slices.Contains(p.Paths, t.real) {
				return nil, &tool.Refusal{Code: "bad_patch", Text: t.rel + " is in the patch twice, by different names; put all its hunks under one header"}
			}
			action := a.does("apply_patch", policy.Write, t)
			p.Action.Effects = append(p.Action.Effects, action.Effects...)
			p.Paths = append(p.Paths, t.real)
			hidden = hidden || a.hidden(t, action)
		}
		list = append(list, one)
	}
	p.Preview = strings.Join(words, "\n")
	seen := map[string]string{}
	p.Run = func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return a.run(ctx, list, seen) }
	if hidden {
		return p, nil // until it is allowed, not even an error tells what is in a file
	}
	made, err := a.make(ctx, list)
	if err != nil {
		return nil, err
	}
	var previews []string
	for _, m := range made {
		seen[m.from.real] = m.before.sum
		previews = append(previews, strings.TrimSuffix(m.preview(), "\n"))
	}
	p.Preview = strings.Join(previews, "\n") + "\n"
	return p, nil
}

// patchRefusal puts errors about patches in the model's hands.
func patchRefusal(err error) error {
	if p, ok := errors.AsType[*workspace.PatchError](err); ok {
		return &tool.Refusal{Code: p.Code, Text: p.Text + "; nothing was changed"}
	}
	return refusal(err)
}

// state is what a file holds at one end of a change; sum "" is no file.
type state struct {
	data []byte
	sum  string
}

// patchChange is what becomes of one file.
type patchChange struct {
	patched
	before, after state
	enc           workspace.Encoding
	known         bool // the model knows what is in it
	how           string
	moved         bool
	hidden        bool
}

// make computes every change from what the files hold now.
func (a applyPatch) make(ctx context.Context, list []patched) ([]patchChange, error) {
	var out []patchChange
	for _, p := range list {
		c, err := a.change(ctx, p)
		if err != nil {
			return nil, patchRefusal(err)
		}
		out = append(out, c)
	}
	return out, nil
}

func (a applyPatch) change(ctx context.Context, p patched) (patchChange, error) {
	c := patchChange{patched: p, hidden: a.hidden(p.from, a.does("apply_patch", policy.Write, p.from))}
	if p.to != nil {
		c.hidden = c.hidden || a.hidden(*p.to, a.does("apply_patch", policy.Write, *p.to))
		if err := a.absent(*p.to); err != nil {
			return c, err
		}
	}
	if p.Op == workspace.PatchCreate {
		if err := a.absent(p.from); err != nil {
			return c, err
		}
		data, err := p.Created()
		if err == nil {
			err = workspace.Placeholder("the new file "+p.Path, string(data), "")
		}
		c.after, c.known = state{data, workspace.Sum(data)}, true
		return c, err
	}
	f, err := a.tree.Read(p.from.rel, p.from.real, workspace.MaxFile)
	if err != nil {
		return c, err
	}
	if err := a.current(p.from, f.SHA256); err != nil {
		return c, err
	}
	c.before = state{f.Bytes, f.SHA256}
	saw, known := a.remembered(p.from)
	c.enc, c.known = saw.enc, known || len(p.Hunks) > 0
	unseen := &tool.Refusal{Code: "not_read", Text: p.from.rel + " exists and you have not read it, and the patch holds no line of it; read it first with read_file"}
	if p.Whole { // deleted, whatever it holds
		if !known {
			return c, unseen
		}
		return c, nil
	}
	c.after = c.before
	if len(p.Hunks) > 0 {
		out, err := p.Apply(ctx, f.Bytes, saw.enc, known)
		if errors.Is(err, workspace.ErrUnseen) {
			return c, unseen
		}
		if err != nil {
			return c, err
		}
		c.after = state{out.Bytes, workspace.Sum(out.Bytes)}
		c.enc, c.how, c.moved = out.Encoding, out.How, out.Moved
	}
	if p.Op == workspace.PatchDelete {
		if len(c.after.data) > 0 {
			return c, &tool.Refusal{Code: "conflict", Text: p.from.rel + " holds more than the patch deletes, so it is not deleted; read it again. Nothing was changed"}
		}
		c.after = state{}
	}
	return c, nil
}

// absent makes sure that a file is to be made where there is none.
func (a applyPatch) absent(t target) error {
	_, err := a.tree.Stat(t.rel, t.real)
	if p, ok := errors.AsType[*workspace.PathError](err); ok && p.Code == workspace.CodeMissing {
		return nil
	}
	if err != nil {
		return err
	}
	return &tool.Refusal{Code: "exists", Text: t.rel + " exists already; nothing was changed. Read it and update it, or choose another name"}
}

// preview is the diff of one file, or words.
func (c patchChange) preview() string {
	var head string
	if c.to != nil {
		head = "rename " + shown(c.from.rel) + " to " + shown(c.to.rel) + "\n"
	}
	if c.Executable != nil && c.Op == workspace.PatchEdit {
		head += mode(c) + "\n"
	}
	if d := c.diff(); d != "" {
		return head + d
	}
	if head != "" {
		return head
	}
	return c.Op + " " + shown(c.from.rel)
}

func mode(c patchChange) string {
	if *c.Executable {
		return "make " + shown(c.from.rel) + " executable"
	}
	return "make " + shown(c.from.rel) + " not executable"
}

func (c patchChange) diff() string {
	if c.hidden {
		return ""
	}
	before, after := c.before.data, c.after.data
	if c.Op == workspace.PatchCreate {
		before = nil
	}
	if c.Op == workspace.PatchDelete {
		after = nil
	}
	return workspace.Diff(shown(c.place().real), before, after)
}

// place is where the file is afterwards.
func (c patchChange) place() target {
	if c.to != nil {
		return *c.to
	}
	return c.from
}

// run computes the changes anew, and writes all of them or none. seen is what the files were when they were shown, if they were.
func (a applyPatch) run(ctx context.Context, list []patched, seen map[string]string) (*tool.Result, error) {
	for _, p := range list {
		if err := a.recheck(p.from); err != nil {
			return nil, err
		}
		if p.to != nil {
			if err := a.recheck(*p.to); err != nil {
				return nil, err
			}
		}
	}
	made, err := a.make(ctx, list)
	if err != nil {
		return nil, err
	}
	var writes, removals []workspace.FileWrite
	for _, c := range made {
		if was, ok := seen[c.from.real]; ok && was != c.before.sum {
			return nil, refusal(&workspace.Changed{Path: c.from.rel})
		}
		gone := workspace.FileWrite{Rel: c.from.rel, Real: c.from.real, Seen: c.before.sum, Remove: true}
		w := workspace.FileWrite{Rel: c.from.rel, Real: c.from.real, Seen: c.before.sum, Data: c.after.data, Executable: c.Executable}
		switch {
		case c.Op == workspace.PatchDelete:
			removals = append(removals, gone)
			continue
		case c.to != nil:
			w.Rel, w.Real, w.Seen, w.Like = c.to.rel, c.to.real, "", c.from.real
			removals = append(removals, gone)
		}
		writes = append(writes, w)
	}
	if err := a.tree.WriteAll(append(writes, removals...)); err != nil {
		return nil, refusal(err)
	}
	return a.told(made), nil
}

// forget forgets a file that may be gone.
func (c *core) forget(t target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, t.real)
}

// told says what was done, and gives the facts.
func (a applyPatch) told(made []patchChange) *tool.Result {
	out := &tool.Result{Trusted: true}
	var b strings.Builder
	for _, c := range made {
		place := c.place()
		a.forget(c.from)
		if c.Op != workspace.PatchDelete && c.known {
			a.remember(place, c.after.sum, c.enc)
		}
		fact := event.FileChanged{Path: recorded(place.real), Op: opEdit, By: "agent", Before: c.before.sum, After: c.after.sum, Diff: c.diff()}
		words := "Changed " + shown(place.rel)
		switch {
		case c.Op == workspace.PatchCreate:
			fact.Op, words = opCreate, "Created "+shown(place.rel)
		case c.Op == workspace.PatchDelete:
			fact.Op, words = opDelete, "Deleted "+shown(place.rel)
		case c.to != nil:
			words = "Renamed " + shown(c.from.rel) + " to " + shown(place.rel)
			fact.Op, fact.Before = opCreate, ""
			out.Facts = append(out.Facts, event.FileChanged{Path: recorded(c.from.real), Op: opDelete, By: "agent", Before: c.before.sum})
		}
		if n := len(c.Hunks); n > 0 && c.Op == workspace.PatchEdit {
			words += fmt.Sprintf(": %s", count(n, "hunk", "hunks"))
		}
		if c.how != "" && c.how != workspace.HowExact {
			words += ", matched" + workspace.Apart(c.how)
		}
		if c.moved {
			words += ", not on the lines that the patch says"
		}
		out.Facts = append(out.Facts, fact)
		out.Trusted = out.Trusted && place.done("").Trusted && c.from.done("").Trusted
		b.WriteString(words + ".\n")
	}
	out.Content = b.String()
	return out
}
