package workspace

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds of a patch.
const (
	maxPatch      = 4 << 20 // bytes
	maxPatchFiles = 200
	maxPatchHunks = 5000
)

// What a patch does with a file.
const (
	PatchCreate = "create"
	PatchEdit   = "edit" // also where only the name or the mode changes
	PatchDelete = "delete"
)

// FilePatch is what a patch does with one file.
type FilePatch struct {
	Op   string
	Path string // as written, without the a/ and b/ of Git
	To   string // the new name; "": it stays
	// Executable says whether the file is to be executable; nil: as it is.
	Executable *bool
	Hunks      []Hunk
	Content    string // of a new file that is given whole
	Whole      bool   // Content counts, or, where a file is deleted, nothing is said of what it holds
}

// Hunk is one place of a file that changes: lines that are there, and what takes their place. The last line of either lacks its
// line end where the file does.
type Hunk struct {
	Line     int      // of the old file, on which it begins, from 1; 0: not known. Of one without old lines, after which it goes; -1: before all.
	Anchors  []string // lines that stand before it, in order
	Old, New string
	End      bool // it is at the end of the file
}

// PatchError says why a patch can't be read or applied, and what to do.
type PatchError struct{ Code, Text string }

// Error implements error.
func (e *PatchError) Error() string { return e.Text }

// Codes of a [PatchError].
const (
	codeBadPatch = "bad_patch"
	codeConflict = "conflict"
)

func badPatch(line int, format string, a ...any) error {
	return &PatchError{codeBadPatch, fmt.Sprintf("line %d of the patch: ", line) + fmt.Sprintf(format, a...)}
}

// ParsePatch reads a patch in either of two forms: a unified diff, as diff and Git write it, of any number of files
// (git-diff(1), "Generating patch text with -p"); or the envelope, "*** Begin Patch" to "*** End Patch", in which hunks are
// found by what they hold, and have no numbers. No file comes twice. The error is a *PatchError.
func ParsePatch(text string) ([]FilePatch, error) {
	if len(text) > maxPatch {
		return nil, &PatchError{codeBadPatch, fmt.Sprintf("the patch has %s; at most %s are taken. Split it", bytesText(int64(len(text))), bytesText(maxPatch))}
	}
	if strings.ContainsRune(text, 0) {
		return nil, &PatchError{CodeBinary, "the patch holds a NUL byte; only text can be patched"}
	}
	p := &patchParser{lines: strings.SplitAfter(text, "\n")}
	if n := len(p.lines); p.lines[n-1] == "" {
		p.lines = p.lines[:n-1]
	}
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
	}
	parse := p.unified
	if p.head() == "*** Begin Patch" {
		parse = p.envelope
	}
	if err := parse(); err != nil {
		return nil, err
	}
	return p.files, p.check()
}

// patchParser goes over the lines of a patch.
type patchParser struct {
	lines  []string // with their ends
	at     int
	files  []FilePatch
	hunks  int
	header *regexp.Regexp // of a hunk of a unified diff
}

// head is the present line without its end, "" past the last.
func (p *patchParser) head() string {
	if p.at >= len(p.lines) {
		return ""
	}
	return strings.TrimRight(p.lines[p.at], "\r\n")
}

func (p *patchParser) more() bool { return p.at < len(p.lines) }

// bad is an error about the present line.
func (p *patchParser) bad(format string, a ...any) error {
	return badPatch(p.at+1, format, a...)
}

// add keeps a file's patch.
func (p *patchParser) add(f FilePatch) error {
	if len(p.files) == maxPatchFiles {
		return p.bad("more than %d files; split the patch", maxPatchFiles)
	}
	if p.hunks += len(f.Hunks); p.hunks > maxPatchHunks {
		return p.bad("more than %d hunks; split the patch", maxPatchHunks)
	}
	p.files = append(p.files, f)
	return nil
}

// check looks at the patch as a whole.
func (p *patchParser) check() error {
	if len(p.files) == 0 {
		return &PatchError{codeBadPatch, "the patch changes no file; it begins with --- and +++ lines, diff --git, or *** Begin Patch"}
	}
	seen := map[string]bool{}
	for _, f := range p.files {
		for _, name := range []string{f.Path, f.To} {
			if name == "" {
				continue
			}
			if seen[name] {
				return &PatchError{codeBadPatch, name + " is in the patch twice; put all its hunks under one header, or use two patches"}
			}
			seen[name] = true
		}
	}
	return nil
}

// body reads the lines of a hunk for as long as it goes on; old and new are what it takes them to be, or -1 where no header says
// how many lines there are. Every line begins with a space, - or +; an empty one is an empty line that stays, as mail makes it.
func (p *patchParser) body(h *Hunk, oldLines, newLines int, ends func() bool) error {
	var was, is strings.Builder
	last := byte(0)
	counted := oldLines >= 0
	for p.more() {
		line := p.lines[p.at]
		if strings.HasPrefix(line, `\`) { // "\ No newline at end of file"
			if last == 0 {
				return p.bad("nothing stands before the mark of a missing newline")
			}
			if last != '+' {
				cut(&was)
			}
			if last != '-' {
				cut(&is)
			}
			last = 0
			p.at++
			continue
		}
		if counted && oldLines == 0 && newLines == 0 || !counted && p.over(ends) {
			break
		}
		kind, rest := byte(' '), line
		if strings.TrimRight(line, "\r\n") != "" {
			kind, rest = line[0], line[1:]
		}
		if !strings.HasSuffix(rest, "\n") {
			rest += "\n"
		}
		switch kind {
		case ' ':
			was.WriteString(rest)
			is.WriteString(rest)
			oldLines--
			newLines--
		case '-':
			was.WriteString(rest)
			oldLines--
		case '+':
			is.WriteString(rest)
			newLines--
		default:
			return p.bad("%.40q begins with none of space, - and +, so it is no line of a hunk", strings.TrimRight(line, "\r\n"))
		}
		if counted && (oldLines < 0 || newLines < 0) {
			return p.bad("the hunk has more lines than its header says; correct the numbers, or write @@ alone")
		}
		last = kind
		p.at++
	}
	if counted && (oldLines > 0 || newLines > 0) {
		return p.bad("the hunk ends here, but its header says %d more old and %d more new lines; correct the numbers, or write @@ alone", oldLines, newLines)
	}
	h.Old, h.New = was.String(), is.String()
	return nil
}

// over tells whether a hunk without numbers ends here: at what begins something else, empty lines before it left out.
func (p *patchParser) over(ends func() bool) bool {
	at := p.at
	for p.more() && p.head() == "" {
		p.at++
	}
	if !p.more() || ends() {
		return true
	}
	p.at = at
	return false
}

// cut takes the last line end away.
func cut(b *strings.Builder) {
	s := strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r")
	b.Reset()
	b.WriteString(s)
}
