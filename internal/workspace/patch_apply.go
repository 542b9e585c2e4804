package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Patched is what a patch makes of a file.
type Patched struct {
	Bytes    []byte
	Encoding Encoding
	How      string // the strictest step of the ladder at which every hunk is found
	Moved    bool   // a hunk stood elsewhere than its header says
}

// ErrUnseen says that a hunk holds no line of the file that it changes, so that nothing shows that the file is what the patch
// was made for.
var ErrUnseen = errors.New("no line of the file")

// Apply makes the changes of a patch in what a file holds; nil is an empty file. was is the encoding in which it was last seen.
//
// The old lines of each hunk are looked for behind the hunk before, and behind its anchors: on the line that the header names,
// else, if they stand there once, anywhere; as they are, else with the tolerance of [Replace]. Everything outside the lines that a
// hunk changes stays to the byte; new lines get the line ends of their place, and a missing newline at the end stays missing
// unless the patch says otherwise.
//
// The error is a *PatchError that names the hunk, an *EditError about the file's text, or [ErrUnseen], unless seen says that the
// file is known.
func (f FilePatch) Apply(ctx context.Context, data []byte, was Encoding, seen bool) (Patched, error) {
	src, enc, err := DecodeAs(was, data)
	if err != nil {
		return Patched{}, err
	}
	out := Patched{Encoding: enc, How: HowExact}
	t := newText(src)
	var changes []change
	cursor, shift := 0, 0 // the offset behind the last hunk; how many lines later than said that one stood
	for i, h := range f.Hunks {
		h.Old, h.New = strings.ReplaceAll(h.Old, "\r\n", "\n"), strings.ReplaceAll(h.New, "\r\n", "\n")
		if err := Placeholder("the new text", h.New, h.Old); err != nil {
			return Patched{}, err
		}
		conflict := func(format string, a ...any) error {
			return &PatchError{codeConflict, fmt.Sprintf("hunk %d of %s: ", i+1, f.Path) + fmt.Sprintf(format, a...)}
		}
		if cursor, err = t.behind(h.Anchors, cursor); err != nil {
			return Patched{}, conflict("%v", err)
		}
		if h.Old == "" {
			if len(data) > 0 && !seen {
				return Patched{}, ErrUnseen
			}
			at, with, err := t.insertion(h, cursor)
			if err != nil {
				return Patched{}, conflict("%v", err)
			}
			changes = append(changes, change{at, at, with})
			cursor = at
			continue
		}
		line := h.Line
		if line > 0 {
			line += shift
		}
		m, old, with, how, err := t.locate(ctx, h, cursor, line)
		if err != nil {
			return Patched{}, conflict("%v", err)
		}
		c, bad := t.changes(m, hunks(old, with))
		if bad > 0 {
			return Patched{}, conflict("it fits line %d but for its indentation, and its line %d can't be fitted; read the file and indent as it does", t.line(m.from), bad)
		}
		changes = append(changes, c...)
		cursor = m.to
		if h.Line > 0 {
			shift = t.line(m.from) - h.Line
			out.Moved = out.Moved || shift != 0
		}
		if slices.Index(steps(), how) > slices.Index(steps(), out.How) {
			out.How = how
		}
	}
	if out.Bytes, err = t.splice(data, enc, changes); err != nil {
		return Patched{}, refuse(codeEncoding, "the file is %s and can't hold the new text: %v", enc.name, err)
	}
	return out, nil
}

func steps() []string { return []string{HowExact, HowEnds, HowUnicode, HowSpace, HowIndent} }

// behind gives the offset behind the lines that the anchors name, in order.
func (t *text) behind(anchors []string, from int) (int, error) {
	for _, a := range anchors {
		found := false
		for n := t.line(from); n <= t.lines(); n++ {
			start, end := t.starts[n-1], len(t.data)
			if n < len(t.starts) {
				end = t.starts[n]
			}
			if start >= from && squeeze(string(t.data[start:end])) == squeeze(a) {
				from, found = end, true
				break
			}
		}
		if !found {
			return 0, fmt.Errorf("the line %.80q after @@ is not in the file, or not behind the hunk before; copy it whole, or leave it out", a)
		}
	}
	return from, nil
}

// insertion says where lines go that a hunk adds without others, and in what form.
func (t *text) insertion(h Hunk, cursor int) (at int, with string, err error) {
	at = len(t.data)
	switch {
	case h.Line > t.lines():
		return 0, "", fmt.Errorf("it goes behind line %d, but the file has only %s", h.Line, count(t.lines(), "line"))
	case h.Line < 0 && bytes.HasPrefix(t.data, []byte(mark)):
		at = len(mark)
	case h.Line < 0:
		at = 0
	case h.Line > 0 && h.Line < len(t.starts):
		at = t.starts[h.Line]
	case h.Line == 0 && len(h.Anchors) > 0:
		at = cursor
	}
	if at < cursor {
		return 0, "", errors.New("it goes before the hunk before it; put hunks in the order of the file")
	}
	with = t.withEnds(h.New, at, at)
	if at == len(t.data) && at > 0 && t.data[at-1] != '\n' { // behind a last line without an end
		if with = strings.TrimSuffix(with, "\n"); t.crlf {
			return at, "\r\n" + strings.TrimSuffix(with, "\r"), nil
		}
		return at, "\n" + with, nil
	}
	return at, t.withMark(with, at), nil
}

// locate finds the place of a hunk, and gives its old and new text in the form that was found.
func (t *text) locate(ctx context.Context, h Hunk, cursor, line int) (m match, old, with, how string, err error) {
	forms := [][2]string{{h.Old, h.New}}
	if strings.HasSuffix(h.Old, "\n") { // the last line of the file may lack what the patch does not say that it lacks
		forms = append(forms, [2]string{strings.TrimSuffix(h.Old, "\n"), strings.TrimSuffix(h.New, "\n")})
	}
	before := 0 // a line above the cursor on which it would fit
	for _, form := range forms {
		old, with := form[0], form[1]
		atEnd := h.End || !strings.HasSuffix(old, "\n")
		if old == "" {
			continue
		}
		for s := range t.ladder(old, true) {
			var all matches
			var first, exact *match
			for m := range s.matches {
				if ctx.Err() != nil {
					return match{}, "", "", "", ctx.Err()
				}
				n := t.line(m.from)
				if !t.begins(m, n) || atEnd && m.to != len(t.data) {
					continue
				}
				if m.from < cursor {
					before = max(before, n)
					continue
				}
				all.add(n)
				if first == nil {
					first = &m
				}
				if n == line {
					exact = &m
				}
			}
			switch {
			case s.gaveUp:
				return match{}, "", "", "", fmt.Errorf("it fits too many places%s; copy its lines exactly", Apart(s.how))
			case exact != nil:
				return *exact, old, with, s.how, nil
			case all.count > 1 && len(h.Anchors) == 0:
				return match{}, "", "", "", fmt.Errorf("it fits %d places%s, starting on %s; add lines around it", all.count, Apart(s.how), all)
			case first != nil:
				return *first, old, with, s.how, nil
			}
		}
	}
	if before > 0 {
		return match{}, "", "", "", fmt.Errorf("its old lines are on line %d, but not behind the place of what stands before it in the patch; put hunks in the order of the file, and make one of two that overlap", before)
	}
	where := "the file"
	if cursor > 0 {
		where = fmt.Sprintf("the file from line %d on", t.line(cursor))
	}
	return match{}, "", "", "", fmt.Errorf("its old lines are not in %s; %s", where, t.closest(ctx, h.Old))
}

// Created gives the content of a new file.
func (f FilePatch) Created() ([]byte, error) {
	if f.Whole {
		return []byte(f.Content), nil
	}
	var b bytes.Buffer
	for i, h := range f.Hunks {
		if h.Old != "" {
			return nil, &PatchError{codeConflict, fmt.Sprintf("hunk %d of %s has old lines, but the file is to be new", i+1, f.Path)}
		}
		b.WriteString(h.New)
	}
	return b.Bytes(), nil
}
