package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

//go:embed edit_file.md
var editFileText string

type editFile struct{ *core }

// Spec implements [tool.Tool].
func (editFile) Spec() event.ToolSpec {
	return spec("edit_file", editFileText, `{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"lines":{"type":"array","items":{"type":"integer"},"description":"old_string starts on one of these lines"},"replace_all":{"type":"boolean"}},"required":["path","old_string","new_string"]}`)
}

// Prepare implements [tool.Tool].
func (e editFile) Prepare(ctx context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct {
		Path  string
		Old   string `json:"old_string"`
		New   string `json:"new_string"`
		Lines []int
		All   bool `json:"replace_all"`
	}
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	if err := unmasked(a.Path, a.Old, a.New); err != nil {
		return nil, err
	}
	t, err := e.locate(a.Path)
	if err != nil {
		return nil, err
	}
	edit := workspace.Edit{Old: a.Old, New: a.New, Lines: a.Lines, All: a.All}
	p := &tool.Prepared{Action: e.does("edit_file", policy.Write, t), Preview: opEdit + " " + shown(t.rel), Paths: []string{t.real}}
	p.Run = func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return e.run(ctx, t, edit, "") }
	if e.hidden(t, p.Action) {
		return p, nil // until it is allowed, not even an error tells what is in the file
	}
	ch, _, err := e.make(ctx, t, edit)
	if err != nil {
		return nil, err
	}
	p.Preview = ch.preview()
	p.Run = func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return e.run(ctx, t, edit, ch.seen) }
	return p, nil
}

// make computes the change from what the file holds now.
func (e editFile) make(ctx context.Context, t target, edit workspace.Edit) (change, workspace.Edited, error) {
	f, err := e.tree.Read(t.rel, t.real, workspace.MaxFile)
	if err != nil {
		return change{}, workspace.Edited{}, refusal(err)
	}
	if err := e.current(t, f.SHA256); err != nil {
		return change{}, workspace.Edited{}, err
	}
	saw, _ := e.remembered(t)
	edit.Was = saw.enc
	out, err := workspace.Replace(ctx, f.Bytes, edit)
	if err != nil {
		return change{}, workspace.Edited{}, refusal(err)
	}
	hidden := e.hidden(t, e.does("edit_file", policy.Write, t))
	return change{target: t, op: opEdit, before: f.Bytes, after: out.Bytes, seen: f.SHA256, enc: out.Encoding, hidden: hidden}, out, nil
}

// run makes the edit anew; prepared is the hash of the file that was shown, if one was.
func (e editFile) run(ctx context.Context, t target, edit workspace.Edit, prepared string) (*tool.Result, error) {
	if err := e.recheck(t); err != nil {
		return nil, err
	}
	ch, out, err := e.make(ctx, t, edit)
	if err != nil {
		return nil, err
	}
	if prepared != "" && ch.seen != prepared {
		return nil, refusal(&workspace.Changed{Path: t.rel})
	}
	fact, err := e.apply(ch)
	if err != nil {
		return nil, err
	}
	return t.done(fmt.Sprintf("Edited %s: %s, at %s.%s", shown(t.rel), count(out.Count, "replacement", "replacements"), some(out.Lines), tolerance(out)), fact), nil
}

// tolerance says what was overlooked to find the text.
func tolerance(out workspace.Edited) string {
	var words string
	if out.Numbered {
		words = " The line numbers were taken off old_string."
	}
	if out.How != workspace.HowExact {
		words += " It matched" + workspace.Apart(out.How) + "."
	}
	if out.How == workspace.HowIndent {
		words += " The new text was indented as the file is."
	}
	return words
}

func some(lines []int) string {
	const most = 20
	at := "line "
	if len(lines) > 1 {
		at = "lines "
	}
	s := make([]string, 0, most+1)
	for i, n := range lines {
		if i == most {
			s = append(s, "…")
			break
		}
		s = append(s, fmt.Sprint(n))
	}
	return at + strings.Join(s, ", ")
}
