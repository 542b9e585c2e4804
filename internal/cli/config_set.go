package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
)

// setConfig changes the person's file. What the file would then be is checked before it is written.
func (p *program) setConfig(name string, values []string, unset bool) error {
	switch {
	case unset && len(values) > 0, !unset && len(values) == 0:
		return usageError{errors.New(p.say.Say("config.set"))}
	case len(values) == 1 && values[0] == "-":
		text, err := io.ReadAll(io.LimitReader(p.In, maxText+1))
		if err != nil || len(text) > maxText {
			return usageError{errors.New(p.say.Say("task.input.large", maxText>>20))}
		}
		values = []string{strings.TrimRight(string(text), "\r\n")}
	}
	places := p.places()
	if places.Config == "" {
		return &config.Error{Code: "config.home", Hint: "config.home.hint"}
	}
	path, err := linked(places.Config)
	if err != nil {
		return err
	}
	unlock, err := config.Lock(path)
	if err != nil {
		return &config.Error{Code: "config.file.write", Args: []any{reason(err)}, Path: path}
	}
	defer unlock()
	doc, err := config.ReadFile(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		doc, err = &config.Document{Path: path}, nil
	}
	if err != nil {
		return unread(path, places.Named, err)
	}
	text, err := config.Set(doc, p.Env, name, values...)
	if err != nil {
		return err
	}
	if err := holds(name, values); err != nil {
		return err
	}
	if name == config.Model && !unset {
		if err := p.provided(path, text); err != nil {
			return err
		}
	}
	before := p.inFile(doc, name)
	if unset && bytes.Equal(text, doc.Text) {
		_, err := fmt.Fprintln(p.Err, visible(p.say.Say("config.unset.nothing", name, places.Config)))
		return err
	}
	if err := replaceFile(path, text, name == config.APIKey); err != nil {
		return &config.Error{Code: "config.file.write", Args: []any{reason(err)}, Path: places.Config}
	}
	said := "config.set.done"
	if unset {
		said = "config.unset.done"
	}
	fmt.Fprintln(p.Err, visible(p.say.Say(said, name, places.Config, before)))
	doc.Text = text
	c, _ := config.Resolve(config.Sources{User: doc, Env: p.Env})
	for _, e := range c.Problems {
		if e.Path != "" { // what was wrong in the file before
			fmt.Fprintf(p.Err, "overt: %s\n", visible(p.explain(e).text))
		}
	}
	if !unset {
		p.unused(c, config.InFile(doc, p.Env, name))
	}
	return nil
}

// unused says of a setting that was just written where another one is in force instead.
func (p *program) unused(c *config.Config, s config.Setting) {
	same := func(o config.Setting) bool { return o.Source == s.Source }
	for _, in := range c.Settings {
		if in.Key == s.Key && !same(in.Setting) && slices.ContainsFunc(in.Over, same) {
			fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say("config.set.unused", s.Key, in.Source)))
			return
		}
	}
}

// holds makes sure that rules are rules, before a file has them in which nothing would run any more.
func holds(name string, values []string) error {
	var c config.Config
	for _, v := range values {
		s := config.Setting{Key: name, Value: v, Source: config.Source{Layer: config.Flag}}
		switch name {
		case config.Allow:
			c.Allow = append(c.Allow, s)
		case config.Deny:
			c.Deny = append(c.Deny, s)
		}
	}
	_, err := app.Rules(&c)
	return err
}

// provided makes sure that a model of a file names no provider that is not there, before the file has it. That depends on where
// requests go, as the file and the environment say by now.
func (p *program) provided(path string, text []byte) error {
	c, _ := config.Resolve(config.Sources{User: &config.Document{Path: path, Text: text}, Env: p.Env})
	for _, e := range c.Problems {
		if e.Code == "config.no_provider" && e.Path != "" {
			return &config.Error{Code: e.Code, Args: e.Args, Hint: e.Hint, Usage: true}
		}
	}
	return nil
}

// inFile is what a file says of a setting, for people.
func (p *program) inFile(doc *config.Document, name string) string {
	c, _ := config.Resolve(config.Sources{User: doc, Env: p.Env}) // as far as it holds
	p.mask = app.Mask(c, p.Environ)
	s := config.InFile(doc, p.Env, name)
	s.Key = name
	return p.value(s)
}

// linked is the file that a path leads to, also where a link leads to a file that is not there yet.
func linked(path string) (string, error) {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // ".." is that of the folder itself
			if err != nil {
				return "", &config.Error{Code: "config.file.read", Args: []any{reason(err)}, Path: path}
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", &config.Error{Code: "config.file.read", Args: []any{"too many links"}, Path: path}
}

// replaceFile puts a whole file in the place of another: a reader sees the old or the new one. The rights of the file stay; a
// new one is for its owner alone, and so is one that gets a key.
func replaceFile(path string, text []byte, secret bool) error {
	mode := fs.FileMode(0o600)
	old, err := os.Stat(path)
	if err == nil && !secret {
		mode = old.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if old != nil && err == nil {
		err = sameOwner(f, old)
	}
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // the old file stands as it was
	}
	return err
}
