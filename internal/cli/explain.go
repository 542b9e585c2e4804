package cli

import (
	"errors"
	"io/fs"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/session"
	"overt/internal/trace"
)

// message is an error as a person reads it.
type message struct {
	text, hint string
	status     int
}

// explain turns an error into a sentence, what to do about it where that is known, and the exit status.
func (p *program) explain(err error) message {
	var (
		bad       usageError
		conf      *config.Error
		held      *session.HeldError
		ambiguous *trace.AmbiguousError
		noCall    *trace.NoCallError
		path      *fs.PathError
	)
	switch {
	case errors.As(err, &bad):
		return message{p.say.Say("usage.error", bad.error), p.say.Say("usage.hint"), statusUsage}
	case errors.As(err, &conf):
		m := message{text: p.say.Say(conf.Code, conf.Args...), status: statusConfig}
		if conf.Hint != "" {
			m.hint = p.say.Say(conf.Hint)
		}
		if conf.Usage {
			m.status = statusUsage
		}
		return m
	case errors.As(err, &held) && held.PID == 0:
		return message{p.say.Say("run.busy.unknown"), p.say.Say("run.busy.hint"), statusFailed}
	case errors.As(err, &held):
		return message{p.say.Say("run.busy", held.PID, held.What, held.Since.Local().Format("15:04:05")), p.say.Say("run.busy.hint"), statusFailed}
	case errors.Is(err, session.ErrEmpty):
		return message{p.say.Say("task.empty"), p.say.Say("task.empty.hint"), statusUsage}
	case errors.Is(err, app.ErrNoRecord):
		return message{p.say.Say("task.missing"), p.say.Say("task.empty.hint"), statusFailed}
	case errors.As(err, &ambiguous):
		return message{p.say.Say("task.ambiguous", ambiguous.Ref, strings.Join(ids(ambiguous.Candidates), ", ")), p.say.Say("task.unknown.hint"), statusUsage}
	case errors.Is(err, trace.ErrNoTask):
		return message{p.say.Say("task.missing"), p.say.Say("task.empty.hint"), statusUsage}
	case errors.As(err, &noCall):
		m := message{p.say.Say("task.no_call", noCall.Ref, noCall.Calls), p.say.Say("task.calls.hint"), statusUsage}
		if noCall.Calls == 1 {
			m.text = p.say.Say("task.no_call.one", noCall.Ref)
		}
		return m
	case errors.Is(err, trace.ErrNoCapture):
		return message{p.say.Say("trace.absent"), "", statusFailed}
	case errors.As(err, &path):
		state, _ := p.state()
		if state == "" || !strings.HasPrefix(path.Path, state) {
			break // standard output, say
		}
		return message{err.Error(), p.say.Say("error.record.hint", state), statusFailed}
	}
	return message{err.Error(), "", statusFailed}
}

func ids(tasks []trace.Task) []string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.ID)
	}
	return out
}
