package cli

import (
	"errors"
	"io/fs"
	"strings"

	"overt/internal/app"
	"overt/internal/config"
	"overt/internal/event"
	"overt/internal/prompt"
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
		restoring *app.DBRestoring
		unread    *app.DBUnread
		ambiguous *trace.AmbiguousError
		noCall    *trace.NoCallError
		path      *fs.PathError
		noRule    *session.NoPermissionError
		severalOf *app.SeveralPermissionsError
		user      *app.UserRecordError
		onTask    message
	)
	switch {
	case errors.As(err, &bad):
		return message{p.say.Say("usage.error", bad.error), p.say.Say("usage.hint", p.command), statusUsage}
	case errors.As(err, &conf):
		m := message{text: conf.At() + p.say.Say(conf.Code, conf.Args...), status: statusConfig}
		if conf.Hint != "" {
			m.hint = p.say.Say(conf.Hint, conf.HintArgs...)
		}
		if conf.OnCommandLine() {
			m.status = statusUsage
		}
		return m
	case p.explainTask(err, &onTask):
		return onTask
	case errors.As(err, &held) && held.PID == 0:
		return message{p.say.Say("run.busy.unknown"), p.say.Say("run.busy.hint"), statusFailed}
	case errors.As(err, &held):
		return message{p.say.Say("run.busy", held.PID, held.What, held.Since.Local().Format("15:04:05")), p.say.Say("run.busy.hint"), statusFailed}
	case errors.As(err, &restoring) && restoring.Alive:
		return message{p.say.Say("db.restoring.now", restoring.From), p.say.Say("db.restoring.now.hint"), statusFailed}
	case errors.As(err, &restoring):
		return message{p.say.Say("db.restoring.left", restoring.From), p.say.Say("db.restoring.hint"), statusFailed}
	case errors.As(err, &unread):
		return message{p.say.Say("db.unread", unread.Path, unread.Err), p.say.Say("db.unread.hint"), statusFailed}
	case errors.As(err, &user):
		return message{p.say.Say("permission.record", user.Path), p.say.Say("permission.record.hint", user.Path), statusFailed}
	case errors.As(err, &noRule):
		return message{p.say.Say("permission.unknown", noRule.ID), p.say.Say("permission.unknown.hint"), statusUsage}
	case errors.As(err, &severalOf):
		return message{p.say.Say("permission.several", severalOf.Rule, strings.Join(severalOf.IDs, ", ")), p.say.Say("permission.several.hint"), statusUsage}
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
	case errors.Is(err, trace.ErrCaptureLost):
		return message{p.say.Say("trace.lost"), "", statusFailed}
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

// explainTask explains what can't be done to a task; false: it is something else.
func (p *program) explainTask(err error, m *message) bool {
	var (
		active   *session.ActiveError
		state    *session.StateError
		none     *trace.NoActiveError
		forked   *session.ForkedError
		scrub    *session.ScrubError
		noAnswer *prompt.MessageError
	)
	switch {
	case errors.As(err, &active) && active.Held.PID == 0:
		*m = message{p.say.Say("task.active.unknown", active.Task), p.say.Say("run.busy.hint"), statusFailed}
	case errors.As(err, &active):
		h := active.Held
		*m = message{p.say.Say("task.active", active.Task, h.PID, h.Since.Local().Format("15:04:05")), p.say.Say("run.busy.hint"), statusFailed}
	case errors.As(err, &state):
		*m = message{p.say.Say("task.state", state.Task, state.State), p.goOn(state.Task, state.State), statusFailed}
	case errors.As(err, &none):
		*m = message{p.say.Say("task.none_active", none.Last.ID, none.Last.State), p.goOn(none.Last.ID, none.Last.State), statusUsage}
	case errors.As(err, &forked):
		*m = message{p.say.Say("task.forked", forked.Task, strings.Join(forked.Forks, ", ")), p.say.Say("task.forked.hint", forked.Forks[0]), statusFailed}
	case errors.As(err, &scrub):
		*m = message{p.say.Say("task.scrub", scrub.Path, scrub.Err), p.say.Say("task.scrub.hint"), statusFailed}
	case errors.As(err, &noAnswer) && len(noAnswer.Candidates) > 0:
		*m = message{p.say.Say("task.message.several", noAnswer.Ref, strings.Join(noAnswer.Candidates, ", ")), p.say.Say("task.message.hint"), statusUsage}
	case errors.As(err, &noAnswer):
		*m = message{p.say.Say("task.message", noAnswer.Ref), p.say.Say("task.message.hint"), statusUsage}
	case errors.Is(err, session.ErrNoReason):
		*m = message{p.say.Say("task.reason"), p.say.Say("task.reason.hint"), statusUsage}
	case errors.Is(err, session.ErrNoTitle):
		*m = message{p.say.Say("task.title"), p.say.Say("task.title.hint"), statusUsage}
	default:
		return false
	}
	return true
}

// goOn says what can be done with a task in a state.
func (p *program) goOn(task, state string) string {
	switch {
	case state == event.TaskPaused:
		return p.say.Say("task.state.paused", task)
	case state == event.TaskActive:
		return p.say.Say("task.state.active", strings.Join(session.Moves(state), "|"), task)
	case len(session.Moves(state)) == 0:
		return p.say.Say("task.state.erased")
	}
	return p.say.Say("task.state.ended", task, task)
}

func ids(tasks []trace.Task) []string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.ID)
	}
	return out
}
