package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

const (
	// maxItems and maxItemText, in characters, bound a plan.
	maxItems, maxItemText = 50, 300
	// maxItemID bounds the id of an item, in bytes.
	maxItemID = 40
)

//go:embed update_plan.md
var updatePlanText string

type updatePlan struct{ *core }

// Spec implements [tool.Tool].
func (updatePlan) Spec() event.ToolSpec {
	return spec("update_plan", updatePlanText, `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","description":"short"},"text":{"type":"string"},"state":{"type":"string","enum":["pending","active","done","dropped"]},"needs":{"type":"array","items":{"type":"string"},"description":"ids that come first"}},"required":["id","text","state"]}}},"required":["items"]}`)
}

// Prepare implements [tool.Tool].
func (updatePlan) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var plan event.PlanChanged
	if err := decode(args, &plan); err != nil {
		return nil, err
	}
	if plan.Items == nil {
		plan.Items = []event.PlanItem{}
	}
	if wrong := wrongPlan(plan.Items); wrong != "" {
		return nil, &tool.Refusal{Code: "bad_plan", Text: wrong + "; the plan is as it was. Send the whole list again"}
	}
	return &tool.Prepared{
		Action: policy.Action{Tool: "update_plan"}, Preview: count(len(plan.Items), "item", "items"), // not parallel: the last of several counts
		Run: func(context.Context, tool.Host) (*tool.Result, error) {
			return &tool.Result{Content: standing(plan), Trusted: true, Facts: []event.Payload{plan}}, nil
		},
	}, nil
}

// wrongPlan says what is wrong with a plan, "" if nothing is. Ids are plain words: the reply repeats them.
func wrongPlan(items []event.PlanItem) string {
	if len(items) > maxItems {
		return fmt.Sprintf("the plan has %d items; at most %d are taken", len(items), maxItems)
	}
	seen := map[string]bool{}
	for i, item := range items {
		at := fmt.Sprintf("item %d", i+1)
		switch n := utf8.RuneCountInString(item.Text); {
		case item.ID == "":
			return at + " has an empty id"
		case len(item.ID) > maxItemID || strings.ContainsFunc(item.ID, notPlain):
			return fmt.Sprintf("the id of %s is not plain: at most %d of the characters A-Z a-z 0-9 . _ -", at, maxItemID)
		case seen[item.ID]:
			return fmt.Sprintf("two items have the id %s", item.ID)
		case strings.TrimSpace(item.Text) == "":
			return fmt.Sprintf("the text of %s is empty", item.ID)
		case n > maxItemText:
			return fmt.Sprintf("the text of %s has %d characters; at most %d are taken", item.ID, n, maxItemText)
		}
		seen[item.ID] = true
	}
	for _, item := range items {
		for _, need := range item.Needs {
			switch {
			case need == item.ID:
				return fmt.Sprintf("%s needs itself", item.ID)
			case !seen[need]:
				return fmt.Sprintf("%s needs %q, which is no item of the plan", item.ID, clipped(need))
			}
		}
	}
	if round := cycle(items); round != nil {
		return "items need each other in a circle: " + strings.Join(round, " needs ")
	}
	return ""
}

func notPlain(r rune) bool {
	return !(r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
}

func clipped(s string) string {
	if len(s) > maxItemID {
		return strings.ToValidUTF8(s[:maxItemID], "") + "…"
	}
	return s
}

// cycle gives ids that need each other, the first again as the last; nil if there are none.
func cycle(items []event.PlanItem) []string {
	needs := map[string][]string{}
	for _, item := range items {
		needs[item.ID] = item.Needs
	}
	done := map[string]bool{}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		if i := slices.Index(path, id); i >= 0 {
			return append(slices.Clone(path[i:]), id)
		}
		if done[id] {
			return nil
		}
		path = append(path, id)
		for _, need := range needs[id] {
			if round := visit(need); round != nil {
				return round
			}
		}
		path = path[:len(path)-1]
		done[id] = true
		return nil
	}
	for _, item := range items {
		if round := visit(item.ID); round != nil {
			return round
		}
	}
	return nil
}

// standing says how a plan stands, by ids: the model knows the texts.
func standing(plan event.PlanChanged) string {
	if len(plan.Items) == 0 {
		return "The plan is empty.\n"
	}
	by := map[string][]string{}
	for _, item := range plan.Items {
		what := item.State
		open := plan.Open(item)
		switch {
		case plan.Ready(item):
			what = "ready"
		case item.State == event.PlanPending:
			what = "waiting"
		}
		name := item.ID
		if len(open) > 0 && item.State != event.PlanDropped {
			name += " (needs " + strings.Join(open, ", ") + ")"
		}
		by[what] = append(by[what], name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Plan: %d of %s done", len(by[event.PlanDone]), count(len(plan.Items)-len(by[event.PlanDropped]), "item", "items"))
	for _, what := range []string{"active", "ready", "waiting", "dropped"} {
		if len(by[what]) > 0 {
			b.WriteString("; " + what + ": " + strings.Join(by[what], ", "))
		}
	}
	b.WriteString(".\n")
	return b.String()
}
