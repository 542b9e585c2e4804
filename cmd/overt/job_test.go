package main

import (
	"fmt"
	"strings"
)

// jobSteps is how many steps the long job takes before its answer.
const jobSteps = 20

// job is a model that works through steps with edits and commands. It is told by the history alone where it stands, so
// it never asks for a step twice: what happens twice was repeated by the program.
//
// Commands write their step's number into steps.log; every second one leaves a child behind. Edits add it to notes.txt.
func job(r strictRequest, _ int) (strictReply, bool) {
	n := 1
	for _, m := range r.Messages {
		if len(m.ToolCalls) > 0 {
			n++
		}
	}
	call := func(name string, args map[string]any) strictCall { return strictCall{Name: name, Args: args} }
	read := call("read_file", map[string]any{"path": "notes.txt"})
	reply := strictReply{Text: fmt.Sprintf("Step %d.", n)}
	switch {
	case n > jobSteps:
		return strictReply{Text: "All steps are done."}, true
	case n%4 == 1:
		reply.Calls = []strictCall{call("run_command", map[string]any{"command": fmt.Sprintf("echo %d >> steps.log; sleep 0.02", n)})}
	case n%4 == 3:
		reply.Calls = []strictCall{call("run_command", map[string]any{"command": fmt.Sprintf("sleep 300 & echo %d >> steps.log; sleep 0.02", n)})}
	case n%4 == 2:
		reply.Calls = []strictCall{read, call("edit_file", map[string]any{"path": "notes.txt", "old_string": "(end)", "new_string": fmt.Sprintf("%d\n(end)", n)})}
	default:
		reply.Reasoning = "A file of its own for this step."
		reply.Calls = []strictCall{call("write_file", map[string]any{"path": fmt.Sprintf("out/%d.txt", n), "content": strings.Repeat("line\n", n)})}
	}
	return reply, true
}

// jobPlace is a place for the job.
func jobPlace(p *place) *place {
	p.write("notes.txt", "steps:\n(end)\n")
	return p
}

// jobEffects counts how often each step took effect.
func jobEffects(p *place) map[string]int {
	n := map[string]int{}
	for _, word := range strings.Fields(p.read("steps.log") + " " + strings.NewReplacer("steps:", "", "(end)", "").Replace(p.read("notes.txt"))) {
		n[word]++
	}
	for i := 4; i <= jobSteps; i += 4 {
		if p.exists(fmt.Sprintf("out/%d.txt", i)) {
			n[fmt.Sprint(i)]++
		}
	}
	return n
}

// extends tells whether a request is an earlier one with something added: all of the earlier body but the two brackets
// that close it stands at the beginning of the later one.
func extends(later, earlier []byte) bool {
	cut := len(earlier) - len("]}")
	return string(earlier[cut:]) == "]}" && len(later) > cut && string(later[:cut]) == string(earlier[:cut]) && later[cut] == ','
}
