package cli

import (
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
)

// all is what a person types to see what is cut of a question.
const all = "d"

// meantAnswer is the option that a line means, if it is one.
func meantAnswer(line string) string {
	switch s := strings.ToLower(strings.TrimSpace(line)); s {
	case "y":
		return event.AnswerYes
	case "n":
		return event.AnswerNo
	case "a":
		return event.AnswerAlways
	case "p":
		return event.AnswerPattern
	case "w":
		return event.AnswerWorkspace
	case "u":
		return event.AnswerUser
	default: // never has no short form: n is no
		return s
	}
}

// options names what may be typed.
func (v *askingView) options(options []string, cut bool) string {
	words := slices.Clone(options)
	for i, w := range words {
		if w == event.AnswerNo {
			words[i] = v.p.say.Say("question.no")
		}
	}
	if cut {
		words = append(words, v.p.say.Say("question.all"))
	}
	last := len(words) - 1
	return v.p.say.Say("question.or", strings.Join(words[:last], ", "), words[last])
}

// about says what a question is about, beyond the call's own line: what would be changed or run, why the model wants it,
// why it is asked, and what the answers that last would cover.
// more is how many lines of it are left out.
func (v *askingView) about(q event.QuestionAsked, show []string, more int) {
	v.shows(q, show)
	if more > 0 {
		fmt.Fprintf(v.p.Err, "  │ %s\n", v.p.say.Say("question.cut", more))
	}
	if q.Intent != "" {
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("question.intent", exposed(q.Intent)))
	}
	for _, line := range v.p.riskLines(q.Grade, q.Risk, q.Found, maxEffects) {
		fmt.Fprintf(v.p.Err, "  %s\n", line)
	}
	if line := v.p.undoLine(q); line != "" {
		fmt.Fprintf(v.p.Err, "  %s\n", line)
	}
	for _, t := range q.Taint {
		fmt.Fprintf(v.p.Err, "  %s\n", exposed(v.p.say.Say("risk.taint", t.Text, t.From)))
	}
	for _, r := range q.Reasons {
		if code := "reason." + r; v.p.say.Has(code) {
			fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say(code))
		}
	}
	rule := exposed(q.Rule)
	switch q.Rule {
	case q.Name + "(" + q.Target + ")": // it was said already
		rule = v.p.say.Say("question.this")
	case q.Name:
		rule = v.p.say.Say("question.every", rule)
	}
	switch {
	case slices.Contains(q.Options, event.AnswerPattern):
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("question.saved", rule))
	case slices.Contains(q.Options, event.AnswerAlways):
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("question.lasting", rule))
	case slices.Contains(q.Options, event.AnswerNever):
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("question.never", rule))
	}
}

// shows writes what a person consents to.
func (v *askingView) shows(q event.QuestionAsked, lines []string) {
	for _, line := range lines {
		line = exposed(line)
		if q.Name != "run_command" {
			line = v.p.painted(line)
		}
		fmt.Fprintf(v.p.Err, "  │ %s\n", line)
	}
}

// beyond is what a preview says that the line of the call does not: all of a diff and of a script, nothing of a command of one
// line, and of "create PATH" the verb.
func beyond(preview, target string) []string {
	preview, target = strings.TrimRight(preview, "\n"), strings.TrimRight(target, "\n")
	if rest, ok := strings.CutSuffix(preview, target); ok && !strings.Contains(preview, "\n") && (rest == "" || strings.HasSuffix(rest, " ")) {
		preview = strings.TrimSpace(rest) // not of a path whose last part the target is
	}
	if preview == "" {
		return nil
	}
	return strings.Split(preview, "\n")
}

// painted colours a line of a diff, whose text is fit for a terminal, where colour is wanted: with SGR 30 to 37 alone.
func (p *program) painted(line string) string {
	if !p.colour() || line == "" {
		return line
	}
	switch line[0] {
	case '+':
		return "\x1b[32m" + line + "\x1b[0m"
	case '-':
		return "\x1b[31m" + line + "\x1b[0m"
	case '@':
		return "\x1b[36m" + line + "\x1b[0m"
	}
	return line
}

// colour tells whether standard error is a terminal that takes colour, and nobody minds (no-color.org).
func (p *program) colour() bool { return p.takesColour(p.ErrTTY) }

// takesColour tells it of any output.
func (p *program) takesColour(tty bool) bool {
	minds, _ := p.Env("NO_COLOR")
	kind, _ := p.Env("TERM")
	return tty && minds == "" && kind != "" && kind != "dumb"
}
