// Package i18n holds every sentence that Overt says to people.
//
// Use [New] for a language and [Printer.Say] with a code. Packages below the views speak in codes; only views turn them
// into sentences. The tables are data, checked by a test; what the model reads is not in here.
package i18n

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Printer says messages in one language.
type Printer struct{ tables []func() map[string]string }

// New gives the printer of a language; English is the only one so far, and unknown languages get it. A table is made when a
// sentence is looked for in it, the one with the most common ones first: most command lines need no other.
func New(string) Printer {
	var p Printer
	for _, table := range []func() map[string]string{english, englishConfig, englishPermission, englishRisk, englishUndo, englishImage, englishModels, englishProbe, englishDoctor} {
		p.tables = append(p.tables, sync.OnceValue(table))
	}
	return p
}

func (p Printer) sentence(code string) (string, bool) {
	for _, table := range p.tables {
		if s, ok := table()[code]; ok {
			return s, true
		}
	}
	return "", false
}

// Say gives the sentence of a code with its arguments put in. An unknown code is given as it is, with its arguments,
// so that nothing is ever hidden for want of a sentence.
func (p Printer) Say(code string, args ...any) string {
	format, ok := p.sentence(code)
	if !ok {
		return strings.TrimSpace(code + " " + strings.TrimSpace(fmt.Sprintln(args...)))
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Has tells whether there is a sentence for the code.
func (p Printer) Has(code string) bool { _, ok := p.sentence(code); return ok }

// Codes lists the codes that have a sentence, sorted.
func (p Printer) Codes() (out []string) {
	for _, table := range p.tables {
		for code := range table() {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return out
}

// Number writes n with a comma between groups of three digits.
func Number(n int64) string {
	s := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
