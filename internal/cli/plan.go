package cli

import (
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/trace"
)

// lastPlan is the plan of a task as its events leave it, if it has one.
func lastPlan(events []trace.Event) (plan event.PlanChanged, ok bool) {
	for _, e := range slices.Backward(events) {
		if plan, ok = e.Payload.(event.PlanChanged); ok {
			return plan, true
		}
	}
	return plan, false
}

// plan is a to-do list for people, an item a line. The caller makes it fit to be shown.
func (p *program) plan(d event.PlanChanged) []string {
	if len(d.Items) == 0 {
		return []string{p.say.Say("task.plan.empty")}
	}
	var out []string
	for _, item := range d.Items {
		line := planMark(item.State) + " " + strings.Join(strings.Fields(item.Text), " ")
		if open := d.Open(item); len(open) > 0 && item.State == event.PlanPending {
			line += " " + p.say.Say("task.plan.needs", texts(d, open))
		}
		out = append(out, line)
	}
	return out
}

func planMark(state string) string {
	switch state {
	case event.PlanDone:
		return "[x]"
	case event.PlanActive:
		return "[>]"
	case event.PlanDropped:
		return "[-]"
	}
	return "[ ]"
}

// texts names items by what is to be done, not by the ids that the model gave them.
func texts(d event.PlanChanged, ids []string) string {
	var out []string
	for _, item := range d.Items {
		if slices.Contains(ids, item.ID) {
			out = append(out, strings.Join(strings.Fields(item.Text), " "))
		}
	}
	return strings.Join(out, ", ")
}
