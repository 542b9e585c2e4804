package config

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// remove takes a member out of an object. Comments beside it and in it stay: they may be what it was, or is to be once more.
func remove(o *hujson.Object, name string) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return literal(m.Name) == name })
	if i < 0 {
		return
	}
	m := o.Members[i]
	kept := around(m.Name.BeforeExtra, within(slices.Concat(m.Name.AfterExtra, m.Value.BeforeExtra), m.Value)...)
	comma := o.Members[len(o.Members)-1].Value.AfterExtra != nil // after the last one
	o.Members = slices.Delete(o.Members, i, i+1)
	if i < len(o.Members) {
		o.Members[i].Name.BeforeExtra = join(kept, o.Members[i].Name.BeforeExtra)
		return
	}
	o.AfterExtra = join(kept, o.AfterExtra)
	if i > 0 {
		o.Members[i-1].Value.AfterExtra = trailing(o.Members[i-1].Value.AfterExtra, comma)
	}
}

// relist makes the texts of an array others. What stays keeps its place in the layout and the comments beside it, and those beside what
// goes stay too.
func relist(a *hujson.Array, texts []string) {
	old := a.Elements
	comma := len(old) > 0 && old[len(old)-1].AfterExtra != nil
	before := hujson.Extra(" ") // the layout of what is added
	if len(old) == 0 {
		before = nil
	} else if i := bytes.LastIndexByte(old[0].BeforeExtra, '\n'); i >= 0 && !bytes.ContainsRune(old[0].BeforeExtra[i:], '/') {
		before = bytes.Clone(old[0].BeforeExtra[i:])
	}
	a.Elements = nil
	var pending hujson.Extra
	var rest []string
	for _, v := range old {
		if i := slices.Index(texts, literal(v)); i >= 0 && !slices.ContainsFunc(a.Elements, func(e hujson.Value) bool { return literal(e) == literal(v) }) {
			v.BeforeExtra, pending = join(pending, v.BeforeExtra), nil
			v.AfterExtra = trailing(v.AfterExtra, true)
			a.Elements = append(a.Elements, v)
		} else {
			pending = join(pending, around(v.BeforeExtra, within(nil, v)...))
		}
	}
	for _, s := range texts {
		if !slices.ContainsFunc(a.Elements, func(e hujson.Value) bool { return literal(e) == s }) {
			rest = append(rest, s)
		}
	}
	for _, s := range rest {
		extra := before
		if len(a.Elements) == 0 && len(before) == 1 {
			extra = nil
		}
		a.Elements = append(a.Elements, hujson.Value{BeforeExtra: bytes.Clone(extra), Value: hujson.String(s)})
	}
	if len(pending) > 0 {
		a.AfterExtra = join(pending, a.AfterExtra)
	}
	if n := len(a.Elements); n > 0 {
		a.Elements[n-1].AfterExtra = trailing(a.Elements[n-1].AfterExtra, comma)
	}
}

// above moves comments to before the name of a member, whose value was replaced.
func above(o *hujson.Object, name string, comments []hujson.Extra) {
	for i := range o.Members {
		if m := &o.Members[i]; literal(m.Name) == name && len(comments) > 0 {
			before := m.Name.BeforeExtra
			m.Name.BeforeExtra = slices.Concat(around(before, comments...), []byte("\n"), bytes.TrimLeft(before[bytes.LastIndexByte(before, '\n')+1:], "\r"))
			return
		}
	}
}

// literal is the text that a value is; "": it is none.
func literal(v hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		return l.String()
	}
	return ""
}

// commented tells whether there is a comment in what stands between values.
func commented(extra hujson.Extra) bool { return bytes.ContainsRune(extra, '/') }

// hasComments tells whether there is one in a value.
func hasComments(v *hujson.Value) bool { return len(within(nil, *v)) > 0 }

// within gives the comments of what stands before a value, as far as it is given, in the value and after it, in order.
func within(before hujson.Extra, v hujson.Value) (out []hujson.Extra) {
	add := func(extra hujson.Extra) {
		if commented(extra) {
			out = append(out, bytes.TrimSpace(extra))
		}
	}
	add(before)
	var inside func(v hujson.Value)
	inside = func(v hujson.Value) {
		switch c := v.Value.(type) {
		case *hujson.Array:
			for _, e := range c.Elements {
				add(e.BeforeExtra)
				inside(e)
			}
			add(c.AfterExtra)
		case *hujson.Object:
			for _, m := range c.Members {
				add(m.Name.BeforeExtra)
				add(m.Name.AfterExtra)
				add(m.Value.BeforeExtra)
				inside(m.Value)
			}
			add(c.AfterExtra)
		}
		add(v.AfterExtra)
	}
	inside(v)
	return out
}

// around is what stood before something that goes, as far as there are comments in it, and then the comments that stood after that and
// in it, each on a line of its own.
func around(before hujson.Extra, comments ...hujson.Extra) (out hujson.Extra) {
	indent := before[bytes.LastIndexByte(before, '\n')+1:]
	if len(bytes.TrimSpace(indent)) > 0 {
		indent = nil
	}
	if commented(before) {
		out = bytes.Clone(bytes.TrimRight(before, " \t\r\n"))
	}
	for _, c := range comments {
		out = append(append(append(out, '\n'), indent...), c...)
	}
	return out
}

// join puts what is kept before what stands there; a comment to the end of a line ends with one.
func join(kept, extra hujson.Extra) hujson.Extra {
	if len(kept) == 0 {
		return extra
	}
	if last := kept[bytes.LastIndexByte(kept, '\n')+1:]; bytes.Contains(last, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(extra, " \t\r"), []byte("\n")) {
		indent := last[:len(last)-len(bytes.TrimLeft(last, " \t"))]
		return slices.Concat(kept, []byte("\n"), indent, bytes.TrimLeft(extra, " \t\r"))
	}
	return slices.Concat(kept, extra)
}

// trailing is what stands after the last of several, so that a comma follows, or none.
func trailing(extra hujson.Extra, comma bool) hujson.Extra {
	switch {
	case comma && extra == nil:
		return hujson.Extra{}
	case !comma && !commented(extra):
		return nil
	}
	return extra
}
