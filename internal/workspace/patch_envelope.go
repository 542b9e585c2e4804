package workspace

import "strings"

// envelope reads the form with *** headers.
func (p *patchParser) envelope() error {
	p.at++
	for p.more() {
		line := p.head()
		path := func(prefix string) (string, bool) {
			name, ok := strings.CutPrefix(line, prefix)
			return strings.TrimSpace(name), ok
		}
		var f FilePatch
		var err error
		if name, ok := path("*** Add File:"); ok {
			f = FilePatch{Op: PatchCreate, Path: name, Whole: true}
			p.at++
			f.Content, err = p.added()
		} else if name, ok := path("*** Delete File:"); ok {
			f = FilePatch{Op: PatchDelete, Path: name, Whole: true}
			p.at++
		} else if name, ok := path("*** Update File:"); ok {
			f = FilePatch{Op: PatchEdit, Path: name}
			p.at++
			err = p.update(&f)
		} else if line == "*** End Patch" {
			p.at++
			for ; p.more(); p.at++ {
				if p.head() != "" {
					return p.bad("something stands behind *** End Patch")
				}
			}
			return nil
		} else if line == "" {
			p.at++
			continue
		} else {
			return p.bad("%.40q is none of *** Add File: PATH, *** Update File: PATH, *** Delete File: PATH, *** End Patch", line)
		}
		if err == nil && f.Path == "" {
			p.at--
			err = p.bad("a name is missing")
		}
		if err == nil {
			err = p.add(f)
		}
		if err != nil {
			return err
		}
	}
	return p.bad("*** End Patch is missing, so the patch may have been cut")
}

// added reads the lines of a new file.
func (p *patchParser) added() (string, error) {
	var b strings.Builder
	for ; p.more() && !strings.HasPrefix(p.head(), "*** "); p.at++ {
		line, ok := strings.CutPrefix(p.lines[p.at], "+")
		if !ok {
			return "", p.bad("every line of a new file begins with +")
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// update reads the hunks of a file.
func (p *patchParser) update(f *FilePatch) error {
	if to, ok := strings.CutPrefix(p.head(), "*** Move to:"); ok {
		if f.To = strings.TrimSpace(to); f.To == "" || f.To == f.Path {
			return p.bad("*** Move to: names no other file")
		}
		p.at++
	}
	header := func() bool { return strings.HasPrefix(p.head(), "*** ") }
	for p.more() && !header() {
		var h Hunk
		begin := p.at
		for strings.HasPrefix(p.head(), "@@") {
			if anchor := strings.TrimSpace(strings.TrimPrefix(p.head(), "@@")); anchor != "" && anchor != "@@" {
				h.Anchors = append(h.Anchors, strings.TrimSpace(strings.TrimSuffix(anchor, "@@")))
			}
			p.at++
		}
		if err := p.body(&h, -1, -1, func() bool { return header() || strings.HasPrefix(p.head(), "@@") }); err != nil {
			return err
		}
		if p.head() == "*** End of File" {
			h.End = true
			p.at++
		}
		if h.Old == h.New {
			return badPatch(begin+1, "the hunk changes nothing")
		}
		f.Hunks = append(f.Hunks, h)
	}
	if len(f.Hunks) == 0 && f.To == "" {
		return p.bad("nothing changes in %s: no hunk follows", f.Path)
	}
	return nil
}
