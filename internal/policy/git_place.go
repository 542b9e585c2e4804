package policy

import (
	"slices"
	"strings"
)

// gitPlaces looks at where subcommands of git write that are told a place.
func (g *grader) gitPlaces(sub string, args []arg) {
	for i, a := range args {
		name, value, joined := strings.Cut(a.text, "=")
		next := arg{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		short := strings.HasPrefix(name, "-o") && slices.Contains([]string{"archive", "format-patch", "bugreport"}, sub)
		switch {
		case begins(name, "--output-directory"), begins(name, "--separate-git-dir"), begins(name, "--directory"), begins(name, "--export-marks"):
			if joined {
				next = arg{text: value, how: a.how}
			}
			g.write(next)
		case short && len(a.text) > 2:
			g.write(arg{text: a.text[2:], how: a.how})
		case short:
			g.write(next)
		}
	}
	place := -1
	var p parsed
	switch sub {
	case "init":
		place, p = 0, spec("-b# --template|separate-git-dir|object-format|initial-branch#").takeApart(args)
	case "bundle":
		place, p = 1, spec("--version#").takeApart(args)
	case "clone":
		place, p = 1, spec("-buocj# --branch|origin|upload-pack|config|depth|reference|reference-if-able|shallow-since|shallow-exclude|template|filter|jobs|server-option|separate-git-dir|bundle-uri#").takeApart(args)
	case "worktree":
		place, p = 1, spec("-bB# --reason#").takeApart(args)
		if len(p.operands) > 0 && p.operands[0].text != "add" {
			return
		}
	}
	if place >= 0 && place < len(p.operands) {
		g.write(p.operands[place])
	}
}

// twoOperands tells whether something stands behind a first operand, as paths do behind a commit.
func twoOperands(args []arg) bool {
	n := 0
	for _, a := range args {
		if !a.option() {
			n++
		}
	}
	return n > 1
}

// begins tells whether a name may be short for an option: Git takes the beginning of a long name.
func begins(name, option string) bool { return len(name) > 4 && strings.HasPrefix(option, name) }

// only tells whether one of the options that make a subcommand harmless is there, and nothing takes it back.
func only(args []arg, s spec, names ...string) bool {
	p := s.takeApart(args)
	return !p.loose && slices.ContainsFunc(p.options, func(o option) bool { return slices.Contains(names, o.name) }) &&
		!slices.ContainsFunc(p.options, func(o option) bool { return strings.HasPrefix(o.name, "--no-") })
}
