package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/prompt"
	"overt/internal/provider"
	"overt/internal/session"
	"overt/internal/tool/builtin"
	"overt/internal/workspace"
)

// takes tells whether pictures may be sent to a model: where it is not known, they may.
func takes(images *bool) bool { return images == nil || *images }

func (a *App) pictureLimits() builtin.Pictures {
	return builtin.Pictures(provider.PicturesOf(a.o.Config.Protocol.Value, a.o.Config.BaseURL.Value))
}

// pictures counts the pictures of a thread, and their bytes as they are sent. left: they are not.
func (a *App) pictures(ctx context.Context, p event.Path) (n int, encoded int64, left bool, err error) {
	var t prompt.Thread
	for f, err := range a.store.Read(ctx, p) {
		if err != nil {
			return 0, 0, false, err
		}
		t.Apply(f)
		for _, i := range event.Images(f.Data) {
			n, encoded = n+1, encoded+builtin.Encoded(i.Bytes)
		}
	}
	c := a.o.Config
	return n, encoded, t.Left(c.Provider, c.Protocol.Value, a.Model), nil
}

// Pictures reads the files that a person sends along with an input, whose task they join. What can't be sent is an error of the
// command line, and nothing is sent.
func (a *App) Pictures(ctx context.Context, in session.Input, dir string, names []string) ([]event.Image, error) {
	if len(names) == 0 {
		return nil, nil
	}
	k := readKnown(a.o.State, a.o.Config.BaseURL.Value)
	if m := modelOf(a.o.Config, &k, a.Model); !takes(m.Images) {
		return nil, &config.Error{Code: "image.none", Args: []any{a.Model, m.From["images"]}, Hint: "image.none.hint", Usage: true}
	}
	n, encoded, left, err := a.before(ctx, in)
	if err != nil {
		return nil, err
	}
	if left {
		return nil, &config.Error{Code: "image.refused", Hint: "image.refused.hint", Usage: true}
	}
	limits := a.pictureLimits()
	var out []event.Image
	for _, name := range names {
		bad := func(why any) error {
			return &config.Error{Code: "image.bad", Args: []any{name, why}, Usage: true}
		}
		path, shown := filepath.Join(dir, name), filepath.ToSlash(name)
		if filepath.IsAbs(name) {
			path, shown = name, filepath.Base(name)
		}
		data, err := readPicture(path, limits.One)
		if err != nil {
			return nil, bad(err)
		}
		p, err := builtin.Sniff(data)
		if err != nil {
			return nil, bad(err)
		}
		size := int64(len(data))
		if why := limits.Refuse(p, size, n, encoded); why != "" {
			return nil, bad(why)
		}
		n, encoded = n+1, encoded+builtin.Encoded(size)
		out = append(out, event.Image{Hash: workspace.Sum(data), Media: p.Media, Bytes: size, Name: shown, Data: data})
	}
	return out, nil
}

// before counts the pictures of the thread that an input goes on with.
func (a *App) before(ctx context.Context, in session.Input) (n int, encoded int64, left bool, err error) {
	switch {
	case in.Fork != nil:
		leaf, err := prompt.After(a.store.Read(ctx, event.Path{Task: in.Fork.Task}), in.Fork.Message)
		if err != nil {
			return 0, 0, false, err
		}
		return a.pictures(ctx, event.Path{Task: in.Fork.Task, Leaf: leaf})
	case in.Task != "":
		return a.pictures(ctx, event.Path{Task: in.Task})
	}
	return 0, 0, false, nil
}

// readPicture reads a file of the person's. One of more bytes than most is an error that says so; of one that has grown meanwhile
// one byte more is read, so that it is found to be too large all the same.
func readPicture(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err == nil && info.Size() > most {
		err = fmt.Errorf("it has %.1f MB, and the model's server takes %.1f MB at most", float64(info.Size())/(1<<20), float64(most)/(1<<20))
	}
	if err != nil {
		return nil, plainReason(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainReason(err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// plainReason is an error of the file system without the path, which is said beside it.
func plainReason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
