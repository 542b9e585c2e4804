package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/shell"
	"overt/internal/tool"
)

//go:embed stop_job.md
var stopJobText string

type stopJob struct{ *core }

// Spec implements [tool.Tool].
func (stopJob) Spec() event.ToolSpec {
	return spec("stop_job", stopJobText, `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)
}

// Prepare implements [tool.Tool]. To end what the task itself has started is within what was agreed on then.
func (s stopJob) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ ID string }
	if err := decode(args, &a); err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action: policy.Action{Tool: "stop_job"}, Preview: a.ID,
		Run: func(context.Context, tool.Host) (*tool.Result, error) { return s.run(a.ID) },
	}, nil
}

func (s stopJob) run(id string) (*tool.Result, error) {
	j := s.shell.Job(id)
	if j == nil {
		return nil, &tool.Refusal{Code: "no_job", Text: s.noJob(id)}
	}
	did := "was over already"
	if j.Running() {
		j.Stop()
		if did = "was ended, with all that it had started"; j.Running() {
			return nil, &tool.Refusal{Code: "not_stopped", Text: id + " was told to end and has not ended; its processes can't be killed now"}
		}
	}
	ended, facts := s.endedJobs()
	first := id + " " + did
	for _, line := range ended {
		if !strings.HasPrefix(line, id+" ") {
			first += "; " + line
		}
	}
	return &tool.Result{Content: first + "\n", Trusted: true, Facts: facts}, nil
}

// noJob says which jobs there are.
func (c *core) noJob(id string) string {
	var list []string
	for _, j := range c.shell.Jobs() {
		list = append(list, j.ID+" ("+j.State()+")")
	}
	if len(list) == 0 {
		return fmt.Sprintf("there is no job %q; none was started since the program began", id)
	}
	return fmt.Sprintf("there is no job %q; there are %s", id, strings.Join(list, ", "))
}

// endedJobs gives, once, what to say of jobs that have ended, and the facts.
func (c *core) endedJobs() (say []string, facts []event.Payload) {
	for _, j := range c.shell.Ended() {
		_, _, total := j.Log()
		state := j.State()
		if state != "ended" {
			state = "ended (" + state + ")"
		}
		say = append(say, j.ID+" "+state)
		facts = append(facts, event.JobEnded{Job: j.ID, State: j.State(), Bytes: total})
	}
	return say, facts
}

// started is the fact of a job.
func started(j *shell.Job) event.Payload {
	group, owner := event.Group(j.Group), event.Group(shell.Self())
	return event.JobStarted{Job: j.ID, Command: j.Command, Group: &group, Owner: &owner}
}

// jobLog gives what a job has written so far, as an output.
func (c *core) jobLog(j *shell.Job) (k Kept, head string) {
	_, size, total := j.Log()
	head = fmt.Sprintf("[%s: %s", j.ID, j.State())
	if int64(size) < total {
		head += fmt.Sprintf("; of %d bytes the last %d are kept", total, size)
	}
	return Kept{Bytes: int64(size), Raw: true, Open: func(context.Context) io.Reader { log, _, _ := j.Log(); return log }}, head + "]\n"
}
