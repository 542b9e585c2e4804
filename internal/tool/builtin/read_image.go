package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

//go:embed read_image.md
var readImageText string

type readImage struct{ *core }

// Looking is what read_image needs to know of the model's server and of the task.
type Looking struct {
	Pictures
	// Have counts the pictures that requests of the task hold, and their bytes after base64. Its error is [ErrLeft], or fatal.
	Have func(ctx context.Context) (n int, encoded int64, err error)
}

// ErrLeft says that the model's server has refused pictures of the task, so that they are sent no more.
var ErrLeft = errors.New("the model's server takes no pictures")

// Spec implements [tool.Tool].
func (readImage) Spec() event.ToolSpec {
	return spec("read_image", readImageText, `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
}

// Prepare implements [tool.Tool]. Calls don't run at once: each must count what the one before it has brought.
func (r readImage) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ Path string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	t, err := r.locate(a.Path)
	if err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: r.does("read_image", policy.Read, t), Preview: shown(t.rel),
		Run: func(ctx context.Context, _ tool.Host) (*tool.Result, error) { return r.run(ctx, t) },
	}, nil
}

func (r readImage) run(ctx context.Context, t target) (*tool.Result, error) {
	if err := r.recheck(t); err != nil {
		return nil, err
	}
	f, err := r.tree.Read(t.rel, t.real, r.look.One)
	var path *workspace.PathError
	if errors.As(err, &path) && path.Code == workspace.CodeTooLarge {
		return nil, refusedPicture(workspace.CodeTooLarge, t, fmt.Sprintf("it is larger than %s, which is what the model's server takes at most", megabytes(r.look.One)))
	}
	if err != nil {
		return nil, refusal(err)
	}
	p, err := Sniff(f.Bytes)
	var bad *PictureError
	switch {
	case errors.As(err, &bad) && bad.Text:
		return nil, &tool.Refusal{Code: "not_a_picture", Text: t.rel + " is no picture: " + bad.Why + "; read it with read_file"}
	case err != nil:
		return nil, &tool.Refusal{Code: "not_a_picture", Text: t.rel + " is no picture: " + err.Error()}
	}
	n, encoded, err := r.look.Have(ctx)
	switch {
	case errors.Is(err, ErrLeft):
		return nil, &tool.Refusal{Code: "not_shown", Text: t.rel + " can't be shown to you: the model's server has refused pictures of this task. Do without, and say so if it is needed"}
	case err != nil:
		return nil, err
	}
	size := int64(len(f.Bytes))
	if why := r.look.Refuse(p, size, n, encoded); why != "" {
		return nil, refusedPicture(workspace.CodeTooLarge, t, why)
	}
	return &tool.Result{
		Content: fmt.Sprintf("%s: %s, %d x %d pixels, %d bytes. It is shown after the results of this step.", t.rel, strings.TrimPrefix(p.Media, "image/"), p.Width, p.Height, size),
		Images:  []event.Image{{Hash: f.SHA256, Media: p.Media, Bytes: size, Name: t.rel, Data: f.Bytes}},
	}, nil
}

func refusedPicture(code string, t target, why string) error {
	return &tool.Refusal{Code: code, Text: t.rel + " was not taken: " + why + ". Make a smaller copy of it, or do without"}
}
