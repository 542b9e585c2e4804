package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"overt/internal/policy"
)

// TestSavedRule: a rule that a question proposes says in its text what it matches. Written down and read again it decides
// every command as it did, it is what the question shows, and it lets nothing through that is high.
func TestSavedRule(t *testing.T) {
	line, work := anyLine(t), rapid.SampledFrom(lines(t, "work.txt"))
	action := func(command string) policy.Action {
		r := policy.Command(command, ".", files{})
		return policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: command}}, Risk: &r}
	}
	saved := 0
	rapid.Check(t, func(t *rapid.T) {
		agreed := action(work.Draw(t, "agreed"))
		rule, ok := policy.Lasting(policy.Rules{Profile: policy.AskFirst}, agreed)
		if !ok {
			return
		}
		saved++
		if rule.Text != policy.Kind(agreed) {
			t.Fatalf("the question shows %s, the rule is %s", policy.Kind(agreed), rule.Text)
		}
		again, err := policy.ParseRule(rule.Verdict, rule.Text)
		if err != nil {
			t.Fatal(err)
		}
		again = again.Within(rule.Given())
		for _, a := range []policy.Action{agreed, action(line.Draw(t, "other")), action(work.Draw(t, "work"))} {
			before := policy.Decide(policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{rule}}, a)
			after := policy.Decide(policy.Rules{Profile: policy.AskFirst, List: []policy.Rule{again}}, a)
			if before.Verdict != after.Verdict || before.Rule != after.Rule {
				t.Fatalf("%s on %q: %+v, read again %+v", rule.Text, a.Effects[0].Target, before, after)
			}
			if a.Risk.Grade == policy.High && after.Verdict == policy.Allow {
				t.Fatalf("%s lets %q through", rule.Text, a.Effects[0].Target)
			}
		}
	})
	if saved == 0 {
		t.Error("no rule was proposed")
	}
}
