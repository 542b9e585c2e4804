package builtin

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
	"overt/internal/workspace"
)

// Kinds of change, as [event.FileChanged] names them.
const (
	opCreate    = "create"
	opEdit      = "edit"
	opOverwrite = "overwrite"
)

// change is a file's content before and after. A nil before is no file.
type change struct {
	target
	op            string
	before, after []byte
	was, is       string             // both as text
	seen          string             // SHA-256 of before, "" if there was no file
	enc           workspace.Encoding // of after
	hidden        bool               // what is in the file must not be recorded
}

// preview is the diff, for the question; or words, where it is too large.
func (c change) preview() string {
	if d := c.diff(); d != "" {
		return d
	}
	return c.op + " " + shown(c.rel)
}

func (c change) diff() string {
	if c.hidden {
		return ""
	}
	return workspace.Diff(shown(c.real), c.before, c.after)
}

// hidden tells whether what is in the file that an action would write must stay out of previews and records, and out of
// what a call is told before it is allowed: the file may hold secrets, or the rules forbid this action or to read it.
func (c *core) hidden(t target, write policy.Action) bool {
	if slices.ContainsFunc(write.Effects, func(e policy.Effect) bool { return policy.Secret(e.Target) }) {
		return true
	}
	if c.rules == nil {
		return false
	}
	rules := c.rules()
	return policy.Decide(rules, write).Verdict == policy.Deny || policy.Decide(rules, c.does("read_file", policy.Read, t)).Verdict == policy.Deny
}

// apply writes the change, remembers it as seen, and gives its fact.
func (c *core) apply(ch change) (event.FileChanged, error) {
	if err := c.tree.Write(ch.rel, ch.real, ch.after, ch.seen); err != nil {
		return event.FileChanged{}, refusal(err)
	}
	sum := workspace.Sum(ch.after)
	c.remember(ch.target, sum, ch.enc)
	return event.FileChanged{Path: recorded(ch.real), Op: ch.op, By: "agent", Before: ch.seen, After: sum, Diff: ch.diff()}, nil
}

// recorded is a path as facts hold it, which are UTF-8.
func recorded(path string) string {
	if !utf8.ValidString(path) {
		return shown(path)
	}
	return path
}

// current refuses a file that is not as the model saw it, if it ever did.
func (c *core) current(t target, sum string) error {
	if saw, ok := c.remembered(t); ok && saw.sum != sum {
		return refusal(&workspace.Changed{Path: t.rel})
	}
	return nil
}

// mark is the byte order mark.
const mark = "\uFEFF"

const (
	endsLF    = "LF"
	endsCRLF  = "CRLF"
	endsMixed = "CRLF and LF mixed"
)

// lineEnds says what line ends a text has, "" if none.
func lineEnds(text string) string {
	switch crlf, lf := strings.Count(text, "\r\n"), strings.Count(text, "\n"); {
	case lf == 0:
		return ""
	case crlf == 0:
		return endsLF
	case crlf < lf:
		return endsMixed
	}
	return endsCRLF
}

// form says how a change altered what nobody sees of a text: its line ends and its byte order mark.
func (c change) form() string {
	var out string
	if was, is := lineEnds(c.was), lineEnds(c.is); was != "" && is != "" && was != is {
		out = fmt.Sprintf(" Line ends were %s and are %s now.", was, is)
	}
	switch was, is := strings.HasPrefix(c.was, mark), strings.HasPrefix(c.is, mark); {
	case was && !is:
		out += " The byte order mark is gone."
	case is && !was:
		out += " It begins with a byte order mark now."
	}
	return out
}

// done is the result of a change. It is in our own words as long as the path reads as nothing but a path: a name may
// have been chosen to be read as an order.
func (t target) done(words string, facts ...event.Payload) *tool.Result {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@~#%=,()[]{}$", r)
	}
	trusted := !strings.ContainsFunc(t.rel, func(r rune) bool { return !plain(r) })
	return &tool.Result{Content: words, Trusted: trusted, Facts: facts}
}
