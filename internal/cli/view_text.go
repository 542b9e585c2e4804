package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/i18n"
	"overt/internal/policy"
	"overt/internal/provider"
	"overt/internal/tool"
	"overt/internal/trace"
)

// Rules of this view. Standard output gets the answer: streamed to a terminal, whole and byte for byte to anything
// else, and nothing of a reply that turns out to be no answer. Standard error gets the rest, one line a thing. Content
// is never trusted on a terminal. Only diffs are coloured, and each thing is said once.

// textView is the view for people.
type textView struct {
	p      *program
	record *trace.Reader
	tools  map[string]*toolLine // by call id

	task  string // the task that was shown
	text  string // of the last message of the model
	shown int    // characters of the text that is arriving which are on the terminal
	open  bool   // the terminal's line is not ended
	demo  bool   // how to look at the record is said in the end, with the folder

	model      string // of the call under way
	estimate   int    // tokens of the request that is under way, estimated
	toldUnread bool   // it was said that the server reads only a part
}

// toolLine is a call as it is shown.
type toolLine struct {
	event.ToolDecided
	title string
	shown bool
	asked bool // the person saw what it would do
}

func (v *textView) refused(_ message, err error) error { return err }

func (v *textView) event(e trace.Event) error {
	if e.Prev >= 0 {
		v.task = e.Task
	}
	switch d := e.Payload.(type) {
	case event.RunInterrupted:
		return v.interrupted(context.Background(), e.Task, d)
	case event.CallStarted:
		v.shown, v.estimate, v.model = 0, d.Estimate, d.Model
		clear(v.tools)
		if d.Repairs > 0 {
			v.note(v.p.say.Say("run.repaired", d.Repairs))
		}
	case event.CallCompleted:
		v.unread(d)
		v.http(strconv.Itoa(d.HTTP), d.Exchange)
	case event.CallFailed:
		v.failedCall(d)
	case event.PicturesLeft:
		v.leftOut(d)
	case event.MessageAdded:
		return v.message(d)
	case event.ToolDecided:
		v.decided(e.Subject, d)
	case event.ToolStarted:
		if t := v.tools[e.Subject]; t != nil && !d.ReadOnly {
			v.title(t)
		}
	case event.FileChanged, event.CheckpointClosed:
		v.changed(e.Subject, d)
	case event.QuestionAnswered:
		if t := v.tools["tcl_"+strings.TrimPrefix(e.Subject, "qst_")]; t != nil && d.Choice == event.AnswerNone {
			t.asked = false
			v.unasked(t.ToolDecided)
		}
	case event.ToolCompleted:
		v.completed(e.Subject, d)
	case event.PlanChanged:
		v.block(v.p.plan(d), math.MaxInt, nil)
	case event.RunCompleted:
		return v.done(d, e.Task)
	case event.RunFailed:
		v.failed(d, e.Task)
	case event.RunCancelled:
		v.note(v.p.say.Say("run.cancelled"))
	}
	return nil
}

// changed shows the diffs of what was changed, unless the person saw them.
func (v *textView) changed(id string, p event.Payload) {
	if c, ok := p.(event.CheckpointClosed); ok {
		id = c.Call
	}
	for _, c := range fileChanges(p) {
		if t := v.tools[id]; c.Diff != "" && (t == nil || !t.asked) {
			v.block(strings.Split(strings.TrimRight(c.Diff, "\n"), "\n"), 40, v.p.painted)
		}
	}
}

func (v *textView) follows() bool { return v.p.OutTTY }

// delta shows text on a terminal while it arrives. After a gap the rest waits for the message.
func (v *textView) delta(d event.Delta) error {
	if n, err := strconv.ParseInt(d.Text, 10, 64); d.Part == "checkpoint" && err == nil {
		v.note(v.p.say.Say("undo.first", i18n.Number(n)))
	}
	if d.Part != "text" || !v.p.OutTTY || d.From != v.shown {
		return nil
	}
	v.shown += utf8.RuneCountInString(d.Text)
	v.open = true
	_, err := io.WriteString(v.p.Out, visible(d.Text))
	return err
}

// message completes what a terminal shows of the model's text.
func (v *textView) message(d event.MessageAdded) error {
	if d.Role != "assistant" {
		return nil
	}
	v.text = messageText(d)
	if !v.p.OutTTY || v.text == "" {
		return nil
	}
	rest := string([]rune(v.text)[min(v.shown, utf8.RuneCountInString(v.text)):])
	v.open = false
	_, err := io.WriteString(v.p.Out, visible(rest)+"\n")
	if d.Cut != "" {
		v.note(v.p.say.Say("run.cut", d.Cut))
	}
	return err
}

// done writes the answer where it was not streamed, and the sums.
func (v *textView) done(d event.RunCompleted, task string) error {
	if !v.p.OutTTY {
		text := v.text
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if _, err := io.WriteString(v.p.Out, text); err != nil {
			return err
		}
	}
	v.sums(d.Steps, d.Usage, d.Cost, d.Denied, task)
	return nil
}

func (v *textView) sums(steps int, u event.Usage, c *event.Cost, denied int, task string) {
	parts := []string{v.p.plural("run.steps", steps), v.p.spent(u, c)}
	if denied > 0 {
		parts = append(parts, v.p.say.Say("run.denied", denied))
	}
	if v.p.conf.DryRun {
		parts = append([]string{v.p.say.Say("dry.end")}, parts...)
	}
	if !v.demo && !v.p.conf.Ephemeral {
		parts = append(parts, v.p.say.Say("run.trace", short(task)))
	}
	v.note(strings.Join(parts, " · "))
}

func (v *textView) failed(d event.RunFailed, task string) {
	if v.text != "" && !v.p.OutTTY {
		v.note(v.p.say.Say("run.partial"))
		v.block(strings.Split(v.text, "\n"), 20, nil)
	}
	v.sums(d.Steps, d.Usage, d.Cost, d.Denied, task)
	code := "run.failed"
	if strings.HasPrefix(d.Code, "limit.") {
		code = "run.limit"
	}
	detail := d.Detail
	if detail == "" {
		detail = d.Code
	}
	fmt.Fprintf(v.p.Err, "overt: %s\n", visible(v.p.say.Say(code, detail)))
	if c := v.p.conf; d.Class == "auth" && c.APIKey.Value == "" {
		d.Class = "auth.none"
		for _, s := range c.Withheld {
			fmt.Fprintf(v.p.Err, "  %s\n", visible(v.p.say.Say("config.withheld", s.Source)))
		}
	}
	if d.Class == "tools" && v.p.conf.Probe != config.Off { // it was kept, see app
		d.Class = "tools.kept"
	}
	for _, hint := range []string{"run.hint." + strings.TrimPrefix(d.Code, "limit."), "run.hint." + d.Class} {
		if v.p.say.Has(hint) {
			fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say(hint))
		}
	}
	if d.HTTP >= 400 && d.HTTP < 500 && d.Class == "invalid" && provider.Measurable(d.Detail) {
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("run.hint.measure"))
	}
	if d.Class == "network" || d.Class == "redirect" || strings.HasPrefix(d.Class, "auth") || d.HTTP == http.StatusNotFound {
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("run.hint.look", "overt doctor"))
	}
	// An address that is not there; a model that is not there is named.
	if (d.HTTP == http.StatusNotFound || d.HTTP == http.StatusMethodNotAllowed) && !names(d.Detail, v.model) {
		others := slices.DeleteFunc(config.Protocols(), func(name string) bool { return name == v.p.conf.Protocol.Value })
		fmt.Fprintf(v.p.Err, "  %s\n", v.p.say.Say("run.hint.protocol", strings.Join(others, ", --protocol ")))
	}
}

// names tells whether a text has a name as a word of its own.
func names(text, name string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" `\"'’,;()[]", r) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.TrimRight(w, ".:") == name })
}

func (v *textView) failedCall(d event.CallFailed) {
	status := v.p.say.Say("run.http.none")
	if d.HTTP != 0 {
		status = strconv.Itoa(d.HTTP)
	}
	v.http(status, d.Exchange)
	if d.RetryIn != nil && d.Class != "image" { // then it is said what was left out
		v.note(v.p.say.Say("run.retry", d.Message, strconv.FormatFloat(float64(*d.RetryIn)/1000, 'f', 1, 64)))
	}
}

func (v *textView) http(status string, x event.Exchange) {
	if v.p.conf.Verbose {
		v.note(v.p.say.Say("run.http", status, i18n.Number(x.Request.Bytes), i18n.Number(x.Response.Bytes), i18n.Number(x.DurationMS)))
	}
}

func (v *textView) decided(id string, d event.ToolDecided) {
	t := &toolLine{ToolDecided: d, title: toolTitle(d)}
	v.tools[id] = t
	if d.Verdict == "allow" {
		return
	}
	v.title(t)
	switch {
	case d.Verdict == "ask":
		t.asked = true
	case d.Unasked:
		v.unasked(d)
	case d.By != "":
		v.note("  " + v.p.say.Say("tool.denied.answer", d.Rule))
	case d.Rule != "":
		v.note("  " + v.p.say.Say("tool.denied.rule", d.Rule))
	default:
		v.note("  " + v.p.say.Say("tool.denied.profile"))
	}
}

// unasked says that a call was denied since nobody could be asked, and what would allow it.
func (v *textView) unasked(d event.ToolDecided) {
	d.Unasked = true
	v.note("  " + v.p.say.Say("tool.denied.unasked"))
	if allow := denied(d).Allow; strings.HasPrefix(allow, "--allow") {
		v.note("  " + v.p.say.Say("tool.allow.hint", allow))
	} else {
		v.note("  " + v.p.say.Say("tool.allow.none"))
	}
}

func (v *textView) completed(id string, d event.ToolCompleted) {
	t := v.tools[id]
	if t == nil { // it never came to a decision
		t = &toolLine{title: d.Name}
	}
	if d.Code == tool.CodeDryRun {
		v.title(t)
		target := ""
		if len(t.Effects) > 0 {
			target = t.Effects[0].Target
		}
		paint := v.p.painted
		if d.Name == "run_command" {
			paint = nil
		}
		v.block(beyond(apart(t.Preview, t.Dir), apart(target, t.Dir)), math.MaxInt, paint)
		v.note("  " + v.p.say.Say("dry.call"))
		return
	}
	switch d.Status {
	case event.StatusOK:
		v.title(t)
	case event.StatusDenied:
		if t.asked {
			v.note("  " + v.p.say.Say("tool.denied.person"))
		}
		return
	case event.StatusError:
		v.title(t)
		if d.Name != "run_command" {
			line, _, _ := strings.Cut(d.Content, "\n")
			v.note("  " + v.p.say.Say("tool.failed", line))
		}
	default:
		v.title(t)
		v.note("  " + v.p.say.Say("tool.status."+d.Status))
	}
	if d.Name == "run_command" && !v.p.conf.Quiet {
		v.block(strings.Split(strings.TrimRight(d.Content, "\n"), "\n"), 12, nil)
	}
}

// interrupted says what was under way when an earlier run died.
func (v *textView) interrupted(ctx context.Context, task string, d event.RunInterrupted) error {
	titles := map[string]string{}
	var after []string // what came of it since
	for e, err := range v.record.Events(ctx, task) {
		if err != nil {
			return err
		}
		switch p := e.Payload.(type) {
		case event.ToolDecided:
			titles[e.Subject] = v.p.toolTitle(p)
		case event.CallStarted:
			titles[e.Subject] = v.p.say.Say("run.open.call", p.Model)
		case event.CheckpointClosed:
			if slices.Contains(d.Open, p.Call) {
				after = append(after, v.p.putBack(p)...)
			}
		}
	}
	if len(d.Open) == 0 {
		v.note(v.p.say.Say("run.interrupted.idle", short(task)))
		return nil
	}
	v.note(v.p.say.Say("run.interrupted", short(task)))
	for _, id := range d.Open {
		line := titles[id]
		if slices.Contains(d.Ended, id) {
			line = v.p.say.Say("run.open.ended", line)
		}
		v.note("  " + line)
	}
	for _, line := range after {
		v.note(exposed(line))
	}
	v.note(v.p.say.Say("run.not_repeated"))
	return nil
}

// title writes a call's line once.
func (v *textView) title(t *toolLine) {
	if !t.shown {
		t.shown = true
		v.note("• " + exposed(t.title))
		if t.Dir != "" {
			v.note("  " + exposed(v.p.say.Say("tool.dir", t.Dir)))
		}
	}
}

// block writes lines behind a bar, at most n of them: the last ones count most. paint may colour them.
func (v *textView) block(lines []string, n int, paint func(string) string) {
	if v.p.conf.Quiet {
		return
	}
	if more := len(lines) - n; more > 0 {
		v.note("  │ " + v.p.say.Say("tool.more", more))
		lines = lines[more:]
	}
	for _, l := range lines {
		if l = visible(l); paint != nil {
			l = paint(l)
		}
		v.line("  │ " + l)
	}
}

// note writes a text to standard error, on a line of its own.
func (v *textView) note(text string) { v.line(visible(strings.ReplaceAll(text, "\n", " "))) }

// line writes a line that is fit for a terminal.
func (v *textView) line(line string) {
	if v.open {
		v.open = false
		io.WriteString(v.p.Out, "\n")
	}
	fmt.Fprintln(v.p.Err, line)
}

// apart is a command without the cd to the folder that it begins in, which is told beside it: the model may have written one, too.
func apart(command, dir string) string { return strings.TrimPrefix(command, policy.InDir(dir, "")) }

// toolTitle is a call in one line, its folder included.
func (p *program) toolTitle(d event.ToolDecided) string {
	title := toolTitle(d)
	if d.Dir != "" {
		title += " (" + p.say.Say("tool.dir", d.Dir) + ")"
	}
	return title
}

// toolTitle is a call in one line: its name and what it is about.
func toolTitle(d event.ToolDecided) string {
	about := ""
	if len(d.Effects) > 0 {
		about = d.Effects[0].Target
	}
	if d.Name == "search_text" || len(d.Effects) == 0 {
		about = d.Preview
	}
	line, rest, _ := strings.Cut(apart(about, d.Dir), "\n")
	if rest != "" {
		line += " …"
	}
	return d.Name + "  " + line
}

// denied is a denial as front ends show it.
func denied(d event.ToolDecided) denial {
	out := denial{Tool: d.Name, Reasons: d.Reasons}
	a := policy.Action{Tool: d.Name}
	for _, e := range d.Effects {
		a.Effects = append(a.Effects, policy.Effect{Kind: policy.EffectKind(e.Kind), Target: e.Target})
		out.What = e.Target
	}
	if d.Grade != "" {
		a.Risk = &policy.Risk{Grade: policy.Grade(d.Grade)}
	}
	if d.Unasked {
		out.Allow = policy.Suggest(a)
	}
	return out
}

// usage is a sentence on tokens as reported.
func (p *program) usage(reported event.Usage) string {
	u := trace.NewUsage(reported)
	in := u.Input()
	switch {
	case in == nil && u.Output == nil:
		return p.say.Say("run.usage.unknown")
	case in == nil || u.Output == nil:
		return p.say.Say("run.usage.half", number(in), number(u.Output))
	case u.Coverage == "partial":
		return p.say.Say("run.usage.partial", number(in), number(u.Output))
	case u.CacheRead != nil:
		return p.say.Say("run.usage", number(in), number(u.CacheRead), number(u.Output))
	}
	return p.say.Say("run.usage.plain", number(in), number(u.Output))
}

func (p *program) plural(code string, n int) string {
	switch {
	case n == 1:
		return p.say.Say(code + ".one")
	case n == 0 && p.say.Has(code+".none"):
		return p.say.Say(code + ".none")
	}
	return p.say.Say(code, n)
}

// short is enough of an id to name a task by.
func short(id string) string { return id[max(0, len(id)-6):] }
