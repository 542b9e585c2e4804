package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxFile bounds, in bytes, a configuration file.
const maxFile = 1 << 20

// Document is the text of a configuration file: JSON, with comments and trailing commas (JWCC).
type Document struct {
	Path string
	Text []byte
}

// ReadFile reads a configuration file. Without one, the error is fs.ErrNotExist; a link that leads nowhere is another error. Only
// a file that a person has named may be something else than a plain one, as a pipe.
func ReadFile(path string, named bool) (*Document, error) {
	info, err := os.Stat(path)
	if _, lerr := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && lerr == nil {
		return nil, errors.New("it is a link to nothing")
	}
	if err != nil {
		return nil, err
	}
	if !named && !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d KB", path, maxFile>>10)
	}
	if err != nil {
		return nil, err
	}
	return &Document{path, text}, nil
}

// file is what a configuration file says.
type file struct {
	path      string
	values    map[string]Setting
	providers []Entry
	passed    []string // keys that were passed over
	variables []string // that its keys are made of
	broken    bool     // something in it does not hold, so that it can't be known where its keys belong
}

// parser reads one configuration file.
type parser struct {
	doc  *Document
	env  func(string) (string, bool)
	only []string // the keys that count; nil: all, and others are an error
	out  file
	bad  []*Error

	secret bool   // the value that is being read is a key
	within *Entry // that is being read; nil: none
}

// parse reads a document. What is wrong with it is told with line and column; the rest of it counts all the same. With only,
// nothing but these keys is looked at, and variables are not put in: the file is not the person's.
func parse(doc *Document, layer Layer, env func(string) (string, bool), only ...string) (file, []*Error) {
	p := parser{doc: doc, env: env, only: only, out: file{path: doc.Path, values: map[string]Setting{}}}
	text := bytes.TrimPrefix(doc.Text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return p.out, nil
	}
	p.doc = &Document{doc.Path, text}
	root, err := hujson.Parse(ended(text))
	if err != nil {
		p.syntax(err)
		p.out.broken = true
		return p.out, p.bad
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		p.fail(root.StartOffset, "config.file.object")
		p.out.broken = true
		return p.out, p.bad
	}
	p.section(object, "", layer)
	if a, b := p.out.values[APIKey], p.out.values[APIKeyCommand]; a.set() && b.set() {
		p.bad = append(p.bad, &Error{Code: "config.file.two_keys", Args: []any{"the file"}, Path: doc.Path, Line: b.Source.Line, Column: b.Source.Column})
	}
	p.out.broken = len(p.bad) > 0
	return p.out, p.bad
}

// position is line and column, both from 1; columns count characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
}

func (p *parser) fail(offset int, code string, args ...any) {
	line, column := position(p.doc.Text, offset)
	p.bad = append(p.bad, &Error{Code: code, Args: args, Path: p.doc.Path, Line: line, Column: column})
}

// syntax turns an error of hujson, "hujson: line 3, column 7: …", into one of ours.
func (p *parser) syntax(err error) {
	e := &Error{Code: "config.file.syntax", Path: p.doc.Path, Line: 1, Column: 1}
	text := strings.TrimPrefix(err.Error(), "hujson: ")
	if _, serr := fmt.Sscanf(text, "line %d, column %d:", &e.Line, &e.Column); serr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	if line, column := position(p.doc.Text, len(p.doc.Text)); e.Line > line {
		e.Line, e.Column = line, column // the end that was put behind it
	} else { // which counts bytes
		text := bytes.Split(p.doc.Text, []byte("\n"))[e.Line-1]
		e.Column = len([]rune(string(text[:min(e.Column-1, len(text))]))) + 1
	}
	e.Args = []any{text}
	p.bad = append(p.bad, e)
}

// ended is a text with a line end behind a comment that closes it, without which the format takes it for cut.
func ended(text []byte) []byte {
	if bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(bytes.Clone(text), '\n')
}

// section reads an object whose keys begin with a prefix: "" or "retention.".
func (p *parser) section(o *hujson.Object, prefix string, layer Layer) {
	seen := map[string]bool{}
	for i := range o.Members {
		m := &o.Members[i]
		name := prefix + text(m.Name)
		at := m.Name.StartOffset
		if strings.Contains(text(m.Name), ".") { // a section is an object
			p.unknown(at, name)
			continue
		}
		if seen[name] {
			p.fail(at, "config.file.twice", name)
			continue
		}
		seen[name] = true
		if name == "$schema" {
			continue
		}
		if p.only != nil && !slices.Contains(p.only, name) {
			p.out.passed = append(p.out.passed, name)
			continue
		}
		if object, ok := m.Value.Value.(*hujson.Object); ok && isSection(name+".") {
			p.section(object, name+".", layer)
			continue
		}
		if name == "providers" {
			p.entries(m.Value, layer)
			continue
		}
		key, known := lookup(name)
		if !known {
			p.unknown(at, name)
			continue
		}
		if s, ok := p.value(m.Value, key, layer); ok {
			p.out.values[name] = s
		}
	}
}

func isSection(prefix string) bool {
	return slices.ContainsFunc(Keys(), func(k Key) bool { return strings.HasPrefix(k.Name, prefix) })
}

// unknown names the key that may have been meant.
func (p *parser) unknown(at int, name string) {
	names := []string{"providers"}
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	if like := Nearest(name, names, 1); len(like) > 0 {
		p.fail(at, "config.file.unknown.like", name, like[0])
		return
	}
	p.fail(at, "config.file.unknown", name)
}

// text is the string of a literal.
func text(v hujson.Value) string {
	var s string
	if l, ok := v.Value.(hujson.Literal); ok && json.Unmarshal(l, &s) == nil {
		return s
	}
	return ""
}

// value reads the value of a key in the form that it has as a text, and checks it.
func (p *parser) value(v hujson.Value, key Key, layer Layer) (Setting, bool) {
	s := Setting{Key: key.Name, Source: p.at(v, layer)}
	p.secret = key.Name == APIKey || key.Name == APIKeyCommand
	var fits bool
	switch key.Kind {
	case List, Command:
		known := p.said()
		s.List, s.places, fits = p.list(v, layer)
		if p.said() > known { // what is wrong has been said
			return s, false
		}
		fits = fits && (key.Kind != Command || len(s.List) > 0 && s.List[0] != "")
	case Names:
		known := p.said()
		s.Value, fits = p.names(v, key, layer)
		if p.said() > known {
			return s, false
		}
	default:
		known := p.said()
		s.Value, fits = p.scalar(v, key)
		if p.said() > known {
			return s, false
		}
	}
	if !fits {
		p.fail(v.StartOffset, "config.file.type", key.Name, Form(key))
		return s, false
	}
	if err := key.check(s); err != nil {
		if raw := text(v); strings.Contains(raw, "${") && len(err.Args) > 1 {
			err.Args[1] = raw // never what a variable holds
		} else if strings.Contains(raw, "${") {
			err.Hint, err.HintArgs = "", nil
		}
		p.bad = append(p.bad, err.In(s.Source))
		return s, false
	}
	return s, true
}

// said is how much was found wrong by now.
func (p *parser) said() int {
	n := len(p.bad)
	if p.within != nil {
		n += len(p.within.unset)
	}
	return n
}

// names is the text of names, which are a list, or a text or truth value as elsewhere.
func (p *parser) names(v hujson.Value, key Key, layer Layer) (string, bool) {
	if _, ok := v.Value.(*hujson.Array); !ok {
		return p.scalar(v, key)
	}
	list, _, ok := p.list(v, layer)
	if ok && len(list) == 0 {
		return "false", true
	}
	return strings.Join(list, ","), ok
}

// scalar is the text of a value of the JSON type that a key takes.
func (p *parser) scalar(v hujson.Value, key Key) (string, bool) {
	l, ok := v.Value.(hujson.Literal)
	if !ok {
		return "", false
	}
	switch kind := l.Kind(); {
	case kind == '"' && key.Kind != Bool && key.Kind != Count && key.Kind != Number:
		return p.expand(v, text(v))
	case kind == '0' && (key.Kind == Count || key.Kind == Number || key.Kind == Size || key.Kind == Duration && string(l) == "0"):
		return string(l), true
	case (kind == 't' || kind == 'f') && (key.Kind == Bool || key.Kind == Names || key.switches()):
		return string(l), true
	}
	return "", false
}

// at is the place of a value.
func (p *parser) at(v hujson.Value, layer Layer) Source {
	line, column := position(p.doc.Text, v.StartOffset)
	return Source{Layer: layer, Name: p.doc.Path, Line: line, Column: column}
}

// list reads a list of texts, and the place of each.
func (p *parser) list(v hujson.Value, layer Layer) (out []string, places []Source, ok bool) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, nil, false
	}
	for _, e := range array.Elements {
		if l, ok := e.Value.(hujson.Literal); !ok || l.Kind() != '"' {
			return nil, nil, false
		}
		s, ok := p.expand(e, text(e))
		if !ok {
			return nil, nil, false
		}
		out, places = append(out, s), append(places, p.at(e, layer))
	}
	return out, places, true
}

// variable is ${NAME}; $${NAME} stands for the text ${NAME}.
const variable = `\$?\$\{[^}]*\}`

// expand puts in the environment variables that a text names. One that is not set is an error: an empty key or host would
// mean something else.
func (p *parser) expand(v hujson.Value, s string) (string, bool) {
	if p.only != nil || !strings.Contains(s, "${") {
		return s, true
	}
	ok := true
	s = regexp.MustCompile(variable).ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		name := m[2 : len(m)-1]
		if p.secret {
			p.out.variables = append(p.out.variables, name)
		}
		value, set := p.env(name)
		if !set || value == "" { // which would mean another host, or no key
			ok = false
			p.unset(v.StartOffset, name)
		}
		return value
	})
	return s, ok
}

// unset tells of a variable that is not set. That one entry of providers needs it is no reason to keep others from being used.
func (p *parser) unset(offset int, name string) {
	line, column := position(p.doc.Text, offset)
	e := &Error{Code: "config.file.variable", Args: []any{name}, Hint: "config.file.variable.hint", HintArgs: []any{name}, Path: p.doc.Path, Line: line, Column: column}
	if p.within == nil {
		p.bad = append(p.bad, e)
		return
	}
	e.Hint, e.HintArgs = "config.file.variable.entry", []any{name, p.within.Name}
	p.within.unset = append(p.within.unset, e)
}
