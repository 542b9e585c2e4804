package workspace

import (
	"regexp"
	"strconv"
	"strings"
)

// hunkHeader matches "@@ -LINE,COUNT +LINE,COUNT @@ anything".
func hunkHeader() *regexp.Regexp {
	return regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)
}

const nowhere = "/dev/null"

// unified reads a unified diff. What stands before the first file, as in a mail, counts for nothing.
func (p *patchParser) unified() error {
	p.header = hunkHeader()
	for p.more() {
		switch line := p.head(); {
		case strings.HasPrefix(line, "diff --git "), p.pair():
			if err := p.file(); err != nil {
				return err
			}
		case strings.HasPrefix(line, "*** "):
			return p.bad("%.40q belongs to the other form of a patch, which begins with *** Begin Patch", line)
		case strings.HasPrefix(line, "@@"):
			return p.bad("a hunk stands before any file; put --- and +++ lines before it")
		case len(p.files) == 0 || line == "" || strings.HasPrefix(line, "Index: ") || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "diff "):
			p.at++
		case line == "-- ": // the signature of a mail
			return nil
		default:
			return p.bad("%.40q is neither a line of the hunk before it nor the beginning of a file", line)
		}
	}
	return nil
}

// pair tells whether a file begins here without a line of Git.
func (p *patchParser) pair() bool {
	return strings.HasPrefix(p.head(), "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ ")
}

// file reads what a diff does with one file.
func (p *patchParser) file() error {
	f, begin := FilePatch{Op: PatchEdit}, p.at
	var git [2]string // the names of the line "diff --git", where they are the same
	if names, ok := strings.CutPrefix(p.head(), "diff --git "); ok {
		git[0], git[1] = gitNames(names)
		p.at++
	}
	renamed := false
extended:
	for p.more() && begin < p.at { // the extended header of Git
		line := p.head()
		word, value, _ := strings.Cut(line, " ")
		switch {
		case word == "index" && (strings.HasSuffix(line, " 120000") || strings.HasSuffix(line, " 160000")):
			return p.bad("links and submodules are not patched")
		case strings.HasPrefix(line, "old mode "), strings.HasPrefix(line, "index "), word == "similarity", word == "dissimilarity":
		case strings.HasPrefix(line, "new mode "), strings.HasPrefix(line, "new file mode "), strings.HasPrefix(line, "deleted file mode "):
			mode := line[strings.LastIndexByte(line, ' ')+1:]
			if mode != "100644" && mode != "100755" {
				return p.bad("mode %s is that of no plain file; links and submodules are not patched", mode)
			}
			x := mode == "100755"
			switch word {
			case "deleted":
				f.Op = PatchDelete
			case "new":
				f.Executable = &x
				if strings.HasPrefix(line, "new file") {
					f.Op = PatchCreate
				}
			}
		case word == "rename":
			side, name, _ := strings.Cut(value, " ")
			name, err := p.name(name)
			if err != nil {
				return err
			}
			if side == "from" {
				git[0] = name
			} else {
				git[1] = name
			}
			renamed = true
		case word == "copy":
			return p.bad("copies are not taken; add the file with its whole content")
		case strings.HasPrefix(line, "Binary files "), line == "GIT binary patch":
			return p.bad("a binary file is not patched")
		default:
			break extended
		}
		p.at++
	}
	f.Path, f.To = git[0], git[1]
	if p.pair() {
		if err := p.names(&f, renamed); err != nil {
			return err
		}
	}
	if f.Path == "" {
		return badPatch(begin+1, "it does not say which file is meant; add --- and +++ lines")
	}
	if f.To == f.Path {
		f.To = ""
	}
	for strings.HasPrefix(p.head(), "@@") {
		if err := p.hunk(&f); err != nil {
			return err
		}
	}
	if f.Op == PatchEdit && f.To == "" && f.Executable == nil && len(f.Hunks) == 0 {
		return badPatch(begin+1, "nothing changes in %s: no hunk follows", f.Path)
	}
	return p.add(f)
}

// names reads the lines --- and +++.
func (p *patchParser) names(f *FilePatch, renamed bool) error {
	from, err := p.name(strings.TrimPrefix(p.head(), "--- "))
	if err != nil {
		return err
	}
	p.at++
	to, err := p.name(strings.TrimPrefix(p.head(), "+++ "))
	if err != nil {
		return err
	}
	p.at++
	a, isA := strings.CutPrefix(from, "a/")
	b, isB := strings.CutPrefix(to, "b/")
	if (isA || from == nowhere) && (isB || to == nowhere) {
		from, to = a, b
	}
	switch {
	case from == nowhere && to == nowhere:
		return p.bad("both names are %s", nowhere)
	case from == nowhere:
		f.Op, f.Path, f.To = PatchCreate, to, ""
	case to == nowhere:
		f.Op, f.Path, f.To = PatchDelete, from, ""
	case renamed:
	case from != to && f.Path == "": // diff of two files: the second is what is meant
		f.Path, f.To = to, ""
	default:
		f.Path, f.To = from, to
	}
	return nil
}

// name reads the name of a file: up to a tab, after which diff puts the time, or in quotes, as Git writes what is not plain.
func (p *patchParser) name(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		end := strings.LastIndexByte(s, '"')
		name, err := strconv.Unquote(s[:end+1])
		if err != nil {
			return "", p.bad("the quoted name %.60s can't be read", s)
		}
		return name, nil
	}
	s, _, _ = strings.Cut(s, "\t")
	if s = strings.TrimSpace(s); s == "" {
		return "", p.bad("a name is missing")
	}
	return s, nil
}

// gitNames gives the names in a line "diff --git a/X b/X". Names that differ, which may hold spaces, stand in other lines too.
func gitNames(s string) (from, to string) {
	if strings.HasPrefix(s, `"`) {
		first, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", ""
		}
		a, err := strconv.Unquote(first)
		b, err2 := strconv.Unquote(strings.TrimSpace(s[len(first):]))
		if err != nil || err2 != nil || len(a) < 3 || len(b) < 3 || a[2:] != b[2:] {
			return "", ""
		}
		return a[2:], b[2:]
	}
	half := len(s) / 2
	if len(s)%2 == 1 && s[half] == ' ' && strings.HasPrefix(s, "a/") && strings.HasPrefix(s[half+1:], "b/") && s[2:half] == s[half+3:] {
		return s[2:half], s[2:half]
	}
	return "", ""
}

// hunk reads one hunk, with its header.
func (p *patchParser) hunk(f *FilePatch) error {
	begin, old, is := p.at, -1, -1
	var h Hunk
	if m := p.header.FindStringSubmatch(p.head()); m != nil {
		h.Line, _ = strconv.Atoi(m[1])
		old, is = number(m[2]), number(m[4])
		switch {
		case h.Line == 0 && old > 0:
			return p.bad("lines are numbered from 1")
		case h.Line == 0:
			h.Line = -1
		}
	} else if strings.Trim(p.head(), "@ ") != "" {
		return p.bad("%.60q is no header of a hunk; write @@ -LINE,COUNT +LINE,COUNT @@, or @@ alone", p.head())
	}
	p.at++
	if err := p.body(&h, old, is, func() bool {
		return strings.HasPrefix(p.head(), "@@") || strings.HasPrefix(p.head(), "diff --git ") || p.pair() || p.head() == "-- "
	}); err != nil {
		return err
	}
	if h.Old == h.New {
		return badPatch(begin+1, "the hunk changes nothing")
	}
	f.Hunks = append(f.Hunks, h)
	return nil
}

// number is a count in the header of a hunk, 1 where it is left out.
func number(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}
