package workspace

import (
	"slices"
	"strings"
	"unicode"
)

// Placeholder refuses new text with a line that stands for text left out ("// ... existing code ...", "# rest of the file
// unchanged"), unless old text has that line too. The words that it takes for such a line are few, so that a comment which
// says something is none; they may be said in more ways where much of the old text would go. What stands in a fence of
// Markdown is an example. The error is an *EditError.
func Placeholder(what, with, old string) error {
	says := placeholder
	if strings.Count(old, "\n") > 2*strings.Count(with, "\n")+10 {
		says = likely
	}
	n, fenced := 0, false
	for line := range strings.Lines(with) {
		n++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		key := says(line)
		if fenced || key == "" || slices.ContainsFunc(strings.Split(old, "\n"), func(l string) bool { return says(l) == key }) {
			continue
		}
		return refuse(codePlaceholder, "line %d of %s, %q, stands for text that is left out, and would be put into the file as it is; nothing was written. Give the text itself, or change only the part that differs with edit_file", n, what, shorten(strings.TrimSpace(line), 80))
	}
	return nil
}

// placeholder gives what a line that stands for omitted text says, "" for any other line.
func placeholder(line string) string {
	body, ok := comment(strings.TrimSpace(line))
	if !ok {
		return ""
	}
	body = strings.ToLower(strings.ReplaceAll(body, "…", "..."))
	dots := strings.HasPrefix(body, "...") || strings.HasSuffix(body, "...") || strings.HasPrefix(body, "[...") || strings.HasPrefix(body, "(...")
	words := strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if !only(words, rests, others, wholes, parts, states, fillers) || strings.ContainsFunc(body, unicode.IsDigit) {
		return ""
	}
	switch {
	case len(words) == 0 && dots && strings.Trim(body, ".[]() ") == "":
	case dots && (some(words, rests) || some(words, others) || some(words, states)):
	case some(words, rests) && some(words, wholes) && some(words, states):
	default:
		return ""
	}
	return strings.Join(words, " ") + "..."
}

// likely gives what a line says that may well stand for omitted text, in a comment or between ellipses.
func likely(line string) string {
	if key := placeholder(line); key != "" {
		return key
	}
	line = strings.TrimSpace(strings.ReplaceAll(line, "…", "..."))
	body, ok := comment(line)
	if !ok && !strings.HasPrefix(line, "...") && !strings.HasPrefix(line, "[...") {
		return ""
	}
	if !ok {
		body = line
	}
	words := strings.FieldsFunc(strings.ToLower(body), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if len(words) < 2 || !only(words, rests, others, wholes, parts, states, fillers) || !some(words, rests) && !some(words, others) && !some(words, states) {
		return ""
	}
	return strings.Join(words, " ") + "..."
}

// The words that lines which stand for omitted text are made of: what there is more of, what it is, and what becomes of it.
const (
	rests   = "rest remaining remainder"
	others  = "existing other previous original"
	wholes  = "code file function method class content contents implementation script document module component imports styles markup logic body"
	parts   = "functions methods classes lines section sections text part parts modules components fields props properties tests cases html css stuff config configuration entries items definitions routes handlers everything"
	states  = "unchanged same omitted truncated unmodified untouched elided abbreviated"
	fillers = "the of is are as and a an in this all your my here above below before it for brevity stays stay remains remain goes go continues continue with no changes change needed keep kept else"
)

// only tells whether all words are in the lists.
func only(words []string, lists ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !slices.ContainsFunc(lists, func(l string) bool { return some([]string{w}, l) })
	})
}

// some tells whether one of the words is in the list.
func some(words []string, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(l string) bool { return slices.Contains(words, l) })
}

// comment gives what a line says that is nothing but a comment.
func comment(line string) (body string, ok bool) {
	for _, marks := range [][2]string{{"<!--", "-->"}, {"{/*", "*/}"}, {"/*", "*/"}, {"(*", "*)"}, {"{-", "-}"}, {"//", ""}, {"#", ""}, {"--", ""}, {";", ""}, {"%", ""}} {
		body, begins := strings.CutPrefix(line, marks[0])
		body, ends := strings.CutSuffix(body, marks[1])
		if begins && ends {
			return strings.Trim(body, " \t*/#-;%"), true
		}
	}
	return "", false
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
