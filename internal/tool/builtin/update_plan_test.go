package builtin_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
)

func TestUpdatePlan(t *testing.T) {
	p := piped(t, policy.Rules{Profile: policy.Plan}, nil)
	for _, c := range []struct{ items, want string }{
		{`[]`, "The plan is empty.\n"},
		{`[{"id":"a","text":"Read","state":"active"}]`, "Plan: 0 of 1 item done; active: a.\n"},
		{
			`[{"id":"a","text":"Read","state":"done"},{"id":"b","text":"Change","state":"pending","needs":["a"]},{"id":"c","text":"Test","state":"pending","needs":["a","b"]},
			{"id":"d","text":"Tell","state":"dropped"},{"id":"e","text":"Lint","state":"pending"}]`,
			"Plan: 1 of 4 items done; ready: b, e; waiting: c (needs b); dropped: d.\n",
		},
		{
			`[{"id":"a","text":"Read","state":"dropped"},{"id":"b","text":"Change","state":"active","needs":["a"]},{"id":"c","text":"Test","state":"done","needs":["b"]}]`,
			"Plan: 1 of 2 items done; active: b; dropped: a.\n",
		},
		{`"[{\"id\":\"1\",\"text\":\"as text\",\"state\":\"pending\"}]"`, "Plan: 0 of 1 item done; ready: 1.\n"},
	} {
		facts, out := p.send("update_plan", `{"items": `+c.items+`}`)
		if out.Status != event.StatusOK || !out.Trusted || out.Content != c.want {
			t.Errorf("%s: %s %q, want %q", c.items, out.Status, out.Content, c.want)
		}
		if _, ok := facts[len(facts)-1].Data.(event.PlanChanged); !ok {
			t.Errorf("%s: the last fact is %s", c.items, facts[len(facts)-1].Kind)
		}
	}
	facts, _ := p.send("update_plan", `{"items": [{"id":"a","text":"Read","state":"done"},{"id":"b","text":"Change","state":"pending","needs":["a"],"owner":"me"}]}`)
	want := event.PlanChanged{Items: []event.PlanItem{{ID: "a", Text: "Read", State: "done"}, {ID: "b", Text: "Change", State: "pending", Needs: []string{"a"}}}}
	if got := facts[len(facts)-1].Data; !reflect.DeepEqual(got, want) {
		t.Errorf("recorded %+v", got)
	}
}

// TestWrongPlans: each wrong plan has an answer of its own, and changes nothing.
func TestWrongPlans(t *testing.T) {
	p := piped(t, policy.Rules{Profile: policy.AskFirst}, nil)
	item := func(id, needs string) string {
		return fmt.Sprintf(`{"id":%q,"text":"x","state":"pending","needs":[%s]}`, id, needs)
	}
	many := make([]string, 51)
	for i := range many {
		many[i] = item(fmt.Sprint("n", i), "")
	}
	for _, c := range []struct{ arguments, code, says string }{
		{`{}`, "bad_arguments", "items is missing"},
		{`{"items": null}`, "bad_arguments", "items must be an array"},
		{`{"items": "read, change, test"}`, "bad_arguments", "items must be an array"},
		{`{"items": ["read"]}`, "bad_arguments", "items[0] must be an object"},
		{`{"items": [{"text":"x","state":"done"}]}`, "bad_arguments", "items[0].id is missing"},
		{`{"items": [{"id":1,"text":"x","state":"done"}]}`, "bad_arguments", "items[0].id must be a string"},
		{`{"items": [{"id":"a","state":"done"}]}`, "bad_arguments", "items[0].text is missing"},
		{`{"items": [{"id":"a","text":"x"}]}`, "bad_arguments", "items[0].state is missing"},
		{`{"items": [{"id":"a","text":"x","state":"blocked"}]}`, "bad_arguments", "items[0].state must be one of pending, active, done, dropped"},
		{`{"items": [{"id":"a","text":"x","state":"done","needs":"b"}]}`, "bad_arguments", "items[0].needs must be an array"},
		{`{"items": [` + item("", "") + `]}`, "bad_plan", "item 1 has an empty id"},
		{`{"items": [` + item("a", "") + `,` + item("b b", "") + `]}`, "bad_plan", "the id of item 2 is not plain"},
		{`{"items": [` + item(strings.Repeat("a", 41), "") + `]}`, "bad_plan", "the id of item 1 is not plain"},
		{`{"items": [` + item("a", "") + `,` + item("b", "") + `,` + item("a", "") + `]}`, "bad_plan", "two items have the id a"},
		{`{"items": [{"id":"a","text":" ","state":"done"}]}`, "bad_plan", "the text of a is empty"},
		{`{"items": [{"id":"a","text":"` + strings.Repeat("é", 301) + `","state":"done"}]}`, "bad_plan", "the text of a has 301 characters; at most 300"},
		{`{"items": [` + item("a", `"a"`) + `]}`, "bad_plan", "a needs itself"},
		{`{"items": [` + item("a", `"z"`) + `]}`, "bad_plan", `a needs "z", which is no item of the plan`},
		{`{"items": [` + item("a", `"b"`) + `,` + item("b", `"a"`) + `]}`, "bad_plan", "in a circle: a needs b needs a"},
		{`{"items": [` + item("x", `"a"`) + `,` + item("a", `"b"`) + `,` + item("b", `"c"`) + `,` + item("c", `"a"`) + `]}`, "bad_plan", "in a circle: a needs b needs c needs a"},
		{`{"items": [` + strings.Join(many, ",") + `]}`, "bad_plan", "the plan has 51 items; at most 50"},
	} {
		facts, out := p.send("update_plan", c.arguments)
		if out.Status != event.StatusError || out.Code != c.code || !strings.Contains(out.Content, c.says) {
			t.Errorf("%s: %s %s %q, want %q", c.arguments, out.Status, out.Code, out.Content, c.says)
		}
		for _, f := range facts {
			if f.Kind == event.KindPlanChanged {
				t.Errorf("%s: the plan was changed", c.arguments)
			}
		}
	}
}
