package tool

import (
	"context"
	"slices"
	"strings"
	"sync"

	"overt/internal/event"
	"overt/internal/policy"
)

// scopeTurn is the scope of an answer that holds for the rest of a turn, as [event.QuestionAnswered] names it.
const scopeTurn = "turn"

// Grants is what the answers to earlier questions of a turn allow and forbid, beside the rules in force. The zero value
// is ready. It may be used by several goroutines.
type Grants struct {
	mu   sync.Mutex
	list []grant
}

type grant struct {
	rule     policy.Rule
	question string // its id
	turn     string
}

// of gives what holds in a turn.
func (g *Grants) of(turn string) []grant {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.list), func(x grant) bool { return x.turn != turn })
}

// add keeps a grant, and forgets those of turns that are over.
func (g *Grants) add(turn string, x grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(slices.DeleteFunc(g.list, func(x grant) bool { return x.turn != turn }), x)
}

// decide asks the rules and the answers so far. An answer is a rule like any other: those that deny are stronger, and
// what asks each time asks.
func (b *batch) decide(j *job) {
	rules := b.Rules()
	rules.List = slices.Clip(rules.List)
	grants := b.Grants.of(b.scope.Turn)
	for _, g := range grants {
		g.rule.Origin = g.question
		rules.List = append(rules.List, g.rule)
	}
	j.decision = policy.Decide(rules, j.prepared.Action)
	j.by = j.decision.Origin
	if j.decision.Verdict == policy.Ask && b.Ask != nil && b.Grants != nil {
		if rule, ok := policy.Lasting(rules, j.prepared.Action); ok {
			j.lasting = &rule
		}
	}
}

// consent gives the drafts that are still to be committed with what follows, and the outcome, if the call ends here.
func (b *batch) consent(ctx context.Context, j *job) ([]event.Draft, *Result) {
	dec := j.decision
	fact := event.ToolDecided{
		Name: j.call.Name, Args: j.args, Verdict: string(dec.Verdict), Rule: dec.Rule, By: j.by, Reasons: dec.Reasons, Preview: j.prepared.Preview,
	}
	if j.prepared.Dir != "." {
		fact.Dir = j.prepared.Dir
	}
	for _, e := range j.prepared.Action.Effects {
		fact.Effects = append(fact.Effects, event.Effect{Kind: string(e.Kind), Target: e.Target})
	}
	if risk, ok := j.prepared.Action.Graded(); ok {
		fact.Grade, fact.OwnGrade = string(risk.Grade), string(j.prepared.Action.Own)
		fact.Risk, fact.Taint = risk.Reasons, j.taint
		for _, t := range risk.Effects {
			fact.Found = append(fact.Found, event.Effect{Kind: string(t.Kind), Target: t.Target, Reversible: t.Reversible})
		}
	}
	dry := b.DryRun && !readOnly(j.prepared.Action) // nothing will happen, so there is nothing to consent to
	if dec.Verdict == policy.Ask && b.Ask == nil && !dry {
		fact.Verdict, fact.Unasked = string(policy.Deny), true
	}
	decided := []event.Draft{{Subject: j.call.ID, Data: fact}}
	switch {
	case fact.Unasked:
		return decided, b.unasked()
	case dec.Verdict == policy.Deny && strings.HasPrefix(j.by, "qst_"):
		return decided, never()
	case dec.Verdict == policy.Deny:
		return decided, denied("by the rules in force", "Do not try to reach the same by other means; go on without it or conclude.")
	case dry:
		return decided, &Result{
			Status: event.StatusSkipped, Code: CodeDryRun, Trusted: true,
			Content: "This is a dry run: the call was not carried out, and nothing was changed. Go on as far as that allows, and conclude with what would be done.",
		}
	case dec.Verdict == policy.Allow:
		return decided, nil
	}
	return b.question(ctx, j, decided, fact)
}

// CodeDryRun is the code of the outcome of a call that a dry run did not carry out.
const CodeDryRun = "dry_run"

// question commits the question with the decision, waits for the answer, and keeps it if it lasts.
func (b *batch) question(ctx context.Context, j *job, decided []event.Draft, d event.ToolDecided) ([]event.Draft, *Result) {
	id := "qst_" + strings.TrimPrefix(j.call.ID, "tcl_")
	q := event.QuestionAsked{
		About: "tool", ToolCall: j.call.ID, Name: j.call.Name, Options: []string{event.AnswerYes, event.AnswerNo},
		Show: j.prepared.Preview, Dir: d.Dir, Reasons: d.Reasons, Intent: j.prepared.Intent, Grade: d.Grade, Risk: d.Risk, Found: d.Found, Taint: d.Taint,
	}
	b.undone(j, &q)
	if e := j.prepared.Action.Effects; len(e) > 0 {
		q.Target = e[0].Target
	}
	if b.Grants != nil {
		q.Rule = policy.Kind(j.prepared.Action)
		q.Options = append(q.Options, event.AnswerNever)
		if j.lasting != nil {
			q.Options = []string{event.AnswerYes, event.AnswerNo, event.AnswerAlways, event.AnswerNever}
			if b.Save != nil {
				q.Options = append(q.Options, event.AnswerPattern, event.AnswerWorkspace, event.AnswerUser)
			}
		}
	}
	asked := false
	reply, err := b.Ask.Ask(ctx, b.scope, id, q, func() error {
		_, err := b.append(ctx, append(decided, event.Draft{Subject: id, Data: q}))
		asked = err == nil
		return err
	})
	if err != nil {
		if ctx.Err() == nil || !asked {
			b.fail(err)
		}
		if !asked {
			return nil, skipped()
		}
		return []event.Draft{{Subject: id, Data: event.QuestionAnswered{Choice: event.AnswerVoid, By: "runtime"}}}, skipped()
	}
	answer := event.QuestionAnswered{Choice: reply.Choice, By: reply.By}
	if reply.Choice != event.AnswerNone && !slices.Contains(q.Options, reply.Choice) {
		answer.Choice = event.AnswerNo // an asker that does not look lets nothing through
	}
	outcome := b.answered(ctx, id, j, &answer)
	return []event.Draft{{Subject: id, Data: answer}}, outcome
}

// answered gives the outcome that an answer means, nil for consent, and puts into the answer what lasts of it.
func (b *batch) answered(ctx context.Context, id string, j *job, a *event.QuestionAnswered) *Result {
	switch a.Choice {
	case event.AnswerYes:
		return nil
	case event.AnswerAlways:
		a.Scope, a.Rule = scopeTurn, j.lasting.Text
		b.Grants.add(b.scope.Turn, grant{*j.lasting, id, b.scope.Turn})
		return nil
	case event.AnswerPattern, event.AnswerWorkspace, event.AnswerUser:
		scope := a.Choice
		if a.Choice == event.AnswerPattern {
			scope = event.ScopeTask
		}
		// Saved before the call runs: whoever agreed to it for good is not asked again, whatever comes of the call.
		if err := b.Save(ctx, b.scope, event.PermissionGranted{
			Rule: j.lasting.Text, Verdict: string(policy.Allow), Given: j.lasting.Given(), Scope: scope, Question: id, By: a.By,
		}); err != nil {
			b.fail(err)
			return &Result{Status: event.StatusError, Code: "internal", Content: "The answer could not be kept; nothing was run.", Trusted: true}
		}
		a.Rule, a.Scope = j.lasting.Text, scope
		return nil
	case event.AnswerNever:
		rule, err := policy.ParseRule(policy.Deny, policy.Kind(j.prepared.Action))
		if err != nil {
			b.fail(err)
			return never()
		}
		a.Scope, a.Rule = scopeTurn, rule.Text
		b.Grants.add(b.scope.Turn, grant{rule, id, b.scope.Turn})
		return never()
	case event.AnswerNone:
		return b.unasked()
	}
	return denied("by the person", "Ask what they want instead, or conclude.")
}

func (b *batch) unasked() *Result {
	b.count(func(s *Summary) { s.Unasked++ })
	return denied("because it needs a person's consent and nobody can be asked in this run", "Go on without it or conclude, saying what was not done.")
}

func never() *Result {
	return denied("by the person, like every call of this kind for the rest of this turn", "Do not try it again, nor by other means: conclude now, and say what was not done.")
}

func denied(why, next string) *Result {
	return &Result{Status: event.StatusDenied, Code: "denied", Content: "Denied " + why + "; nothing was done. " + next, Trusted: true}
}

func skipped() *Result {
	return &Result{Status: event.StatusSkipped, Code: "not_run", Content: "The turn was stopped before this call; it did not run.", Trusted: true}
}
