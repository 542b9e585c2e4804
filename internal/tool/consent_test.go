package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/policy"
	"overt/internal/tool"
)

// deed is a tool that does what it is told to a target, as far as policy is concerned.
type deed struct {
	name string
	kind policy.EffectKind
	done *[]string
}

func (d deed) Spec() event.ToolSpec {
	return event.ToolSpec{Name: d.name, Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"on":{"type":"string"}},"required":["on"]}`)}
}

func (d deed) Prepare(_ context.Context, args json.RawMessage) (*tool.Prepared, error) {
	var a struct{ On string }
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	return &tool.Prepared{
		Action:  policy.Action{Tool: d.name, Effects: []policy.Effect{{Kind: d.kind, Target: a.On}}},
		Preview: "all of " + a.On, Intent: "try",
		Run: func(context.Context, tool.Host) (*tool.Result, error) {
			*d.done = append(*d.done, a.On)
			return &tool.Result{Content: "done"}, nil
		},
	}, nil
}

// person answers what is in the script, and keeps the questions.
type person struct {
	answers []string
	asked   []event.QuestionAsked
}

func (p *person) Ask(_ context.Context, _ event.Scope, _ string, q event.QuestionAsked, record func() error) (tool.Reply, error) {
	if err := record(); err != nil {
		return tool.Reply{}, err
	}
	p.asked = append(p.asked, q)
	if len(p.answers) < len(p.asked) {
		return tool.Reply{}, errors.New("asked once more: " + q.Target)
	}
	choice := p.answers[len(p.asked)-1]
	if choice == event.AnswerNone {
		return tool.Reply{Choice: choice, By: "runtime"}, nil
	}
	return tool.Reply{Choice: choice, By: "person"}, nil
}

// asking is a task with tools that have effects.
type asking struct {
	t    *testing.T
	d    *tool.Dispatcher
	log  event.Memory
	done []string
	next int // call

	saved []event.PermissionGranted
}

func newAsking(t *testing.T, who tool.Asker, rules ...string) *asking {
	a := &asking{t: t}
	set, err := tool.NewSet(
		deed{"run_command", policy.Run, &a.done}, deed{"edit_file", policy.Write, &a.done}, deed{"read_file", policy.Read, &a.done})
	if err != nil {
		t.Fatal(err)
	}
	list := []policy.Rule{}
	for _, text := range rules {
		r, err := policy.ParseRule(policy.Deny, text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	a.d = &tool.Dispatcher{
		Set: set, Ask: who, Grants: &tool.Grants{},
		Rules: func() policy.Rules {
			return policy.Rules{Profile: policy.AskFirst, List: append(slices.Clip(list), a.rules()...)}
		},
		Save: func(_ context.Context, _ event.Scope, g event.PermissionGranted) error {
			a.saved = append(a.saved, g)
			return nil
		},
	}
	return a
}

// rules are those that were saved, as they are read again.
func (a *asking) rules() (out []policy.Rule) {
	for _, g := range a.saved {
		r, err := policy.ParseRule(policy.Verdict(g.Verdict), g.Rule)
		if err != nil {
			a.t.Fatal(err)
		}
		r = r.Within(g.Given)
		r.Origin = g.Question
		out = append(out, r)
	}
	return out
}

// does takes calls, each "TOOL TARGET", through the pipeline in one batch and gives the outcomes in order.
func (a *asking) does(turn string, calls ...string) ([]event.ToolCompleted, tool.Summary) {
	a.t.Helper()
	var batch []event.ToolCall
	for _, c := range calls {
		name, on, _ := strings.Cut(c, " ")
		args, err := json.Marshal(map[string]string{"on": on})
		if err != nil {
			a.t.Fatal(err)
		}
		a.next++
		batch = append(batch, event.ToolCall{ID: fmt.Sprintf("tcl_%d", a.next), Name: name, Args: string(args)})
	}
	sum, err := a.d.Dispatch(context.Background(), event.Scope{Task: "t", Turn: turn}, &a.log, batch)
	if err != nil {
		a.t.Fatal(err)
	}
	var out []event.ToolCompleted
	for _, c := range batch {
		out = append(out, factOf[event.ToolCompleted](a, c.ID))
	}
	return out, sum
}

// factOf is the one payload of its type about a subject.
func factOf[P event.Payload](a *asking, subject string) (out P) {
	a.t.Helper()
	n := 0
	for f, err := range a.log.Read(context.Background(), event.Path{Task: "t", Facts: true}) {
		if err != nil {
			a.t.Fatal(err)
		}
		if p, ok := f.Data.(P); ok && f.Subject == subject {
			out = p
			n++
		}
	}
	if n != 1 {
		a.t.Fatalf("%d of %T about %s", n, out, subject)
	}
	return out
}

// covers L129 L130 L132
func TestAnswers(t *testing.T) {
	const all, short = "yes no always never pattern workspace user", "yes no never"
	for _, tt := range []struct {
		answer, call     string
		options, rule    string
		choice, scope    string // on record
		ran              bool
		again, nextTurn  string // what happens to the call: ran, asked, denied
		like, like2      string // another call, and what happens to it in this turn
		wantLike, wantL2 string
	}{
		{answer: "yes", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "yes", ran: true, again: "asked", nextTurn: "asked"},
		{answer: "no", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "no", again: "asked", nextTurn: "asked"},
		{answer: "sure", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "no", again: "asked", nextTurn: "asked"},
		{
			answer: "always", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "always", scope: "turn", ran: true, again: "ran", nextTurn: "asked",
			like: "run_command touch b c", wantLike: "ran", like2: "run_command touch b && rm c", wantL2: "asked",
		},
		{
			answer: "pattern", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "pattern", scope: "task", ran: true, again: "ran", nextTurn: "ran",
			like: "run_command touch .git/hooks/x", wantLike: "asked", like2: "run_command touch .env", wantL2: "asked",
		},
		{
			answer: "workspace", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "workspace", scope: "workspace", ran: true, again: "ran", nextTurn: "ran",
			like: "run_command touch --date=now a", wantLike: "asked", like2: "run_command touch /etc/x", wantL2: "asked",
		},
		{
			answer: "user", call: "edit_file src/a", options: all, rule: "edit_file(src/**)", choice: "user", scope: "user", ran: true, again: "ran", nextTurn: "ran",
			like: "edit_file other/a", wantLike: "asked", like2: "edit_file src/.git/b", wantL2: "asked",
		},
		{answer: "user", call: "run_command sudo ls", options: short, rule: "run_command(sudo ls)", choice: "no", again: "asked", nextTurn: "asked"},
		{
			answer: "never", call: "run_command touch a", options: all, rule: "run_command(touch:*)", choice: "never", scope: "turn", again: "denied", nextTurn: "asked",
			like: "run_command cd b && touch c", wantLike: "denied", like2: "run_command rm c", wantL2: "asked",
		},
		{
			answer: "always", call: "edit_file src/a", options: all, rule: "edit_file(src/**)", choice: "always", scope: "turn", ran: true, again: "ran", nextTurn: "asked",
			like: "edit_file src/x/b", wantLike: "ran", like2: "edit_file src/.git/b", wantL2: "asked",
		},
		{answer: "always", call: "edit_file .git/config", options: short, rule: "edit_file(.git/config)", choice: "no", again: "asked", nextTurn: "asked"},
		{answer: "pattern", call: "read_file .env", options: short, rule: "read_file(.env)", choice: "no", again: "asked", nextTurn: "asked"},
		{
			answer: "never", call: "read_file .env", options: short, rule: "read_file(.env)", choice: "never", scope: "turn", again: "denied", nextTurn: "asked",
			like: "read_file a", wantLike: "ran", like2: "read_file b.pem", wantL2: "asked",
		},
		{answer: "always", call: "run_command touch 'a", options: short, rule: "run_command", choice: "no", again: "asked", nextTurn: "asked"},
		{
			answer: "never", call: "run_command touch a | tee b", options: short, rule: "run_command", choice: "never", scope: "turn", again: "denied", nextTurn: "asked",
			like: "run_command ls", wantLike: "denied", like2: "edit_file a", wantL2: "asked",
		},
	} {
		t.Run(tt.answer+" "+tt.call, func(t *testing.T) {
			who := &person{answers: []string{tt.answer}}
			a := newAsking(t, who)
			out, sum := a.does("one", tt.call)
			if ran := len(a.done) == 1; ran != tt.ran || (out[0].Status == event.StatusOK) != tt.ran || sum.Unasked != 0 {
				t.Errorf("ran %t: %+v, %+v", ran, out[0], sum)
			}
			q := who.asked[0]
			if got := strings.Join(q.Options, " "); got != tt.options || q.Rule != tt.rule || q.Intent != "try" || !strings.HasPrefix(q.Show, "all of ") {
				t.Errorf("question %+v", q)
			}
			answer := factOf[event.QuestionAnswered](a, "qst_1")
			rule := tt.rule
			if tt.scope == "" {
				rule = ""
			}
			if want := (event.QuestionAnswered{Choice: tt.choice, By: "person", Scope: tt.scope, Rule: rule}); answer != want {
				t.Errorf("answer %+v, want %+v", answer, want)
			}
			if tt.answer == "never" && !strings.Contains(out[0].Content, "conclude now") {
				t.Errorf("the model reads %q", out[0].Content)
			}
			for _, next := range []struct{ turn, call, want string }{
				{"one", tt.call, tt.again}, {"one", tt.like, tt.wantLike}, {"one", tt.like2, tt.wantL2}, {"two", tt.call, tt.nextTurn},
			} {
				if next.call == "" {
					continue
				}
				who.asked, who.answers = nil, []string{"no"}
				out, _ := a.does(next.turn, next.call)
				got := "denied"
				switch {
				case len(who.asked) > 0:
					got = "asked"
				case out[0].Status == event.StatusOK:
					got = "ran"
				}
				if got != next.want {
					t.Errorf("then %s in turn %s: %s, want %s", next.call, next.turn, got, next.want)
				}
				d := factOf[event.ToolDecided](a, fmt.Sprintf("tcl_%d", a.next))
				if byAnswer := got != "asked" && tt.scope != "" && next.call != "read_file a"; (d.By == "qst_1") != byAnswer || byAnswer && d.Rule != tt.rule {
					t.Errorf("%s is on record as %+v", next.call, d)
				}
			}
		})
	}
}

// TestAnswersInOneBatch: an answer holds for the calls behind it, and a rule that denies is stronger.
func TestAnswersInOneBatch(t *testing.T) {
	who := &person{answers: []string{"always", "no"}}
	a := newAsking(t, who, "run_command(touch secret)")
	out, sum := a.does("one", "run_command touch a", "run_command touch secret", "run_command touch b", "run_command rm a")
	if got := strings.Join(a.done, ", "); got != "touch a, touch b" || sum.Denied != 2 || sum.Unasked != 0 {
		t.Errorf("ran %s; %+v", got, sum)
	}
	if d := factOf[event.ToolDecided](a, "tcl_2"); out[1].Status != event.StatusDenied || d.Rule != "run_command(touch secret)" || d.By != "" {
		t.Errorf("%+v, %+v", out[1], d)
	}
}

// TestNobodyThere: the end of a front end's input is as if there never had been one.
func TestNobodyThere(t *testing.T) {
	a := newAsking(t, &person{answers: []string{event.AnswerNone}})
	out, sum := a.does("one", "run_command touch a")
	if sum.Denied != 1 || sum.Unasked != 1 || len(a.done) != 0 {
		t.Errorf("%+v, did %v", sum, a.done)
	}
	if got := factOf[event.QuestionAnswered](a, "qst_1"); got != (event.QuestionAnswered{Choice: "none", By: "runtime"}) {
		t.Errorf("answer %+v", got)
	}
	a.d.Ask = nil
	alone, _ := a.does("one", "run_command touch a")
	if alone[0].Content != out[0].Content {
		t.Errorf("%+v, without a front end %+v", out[0], alone[0])
	}
}

// TestNothingLasts: without a place to keep answers there are two.
func TestNothingLasts(t *testing.T) {
	who := &person{answers: []string{"always"}}
	a := newAsking(t, who)
	a.d.Grants = nil
	if _, sum := a.does("one", "run_command touch a"); sum.Denied != 1 || !slices.Equal(who.asked[0].Options, []string{"yes", "no"}) || who.asked[0].Rule != "" {
		t.Errorf("%+v, %+v", sum, who.asked[0])
	}
}

// TestDryRun: what has an effect is not done and not asked about; what reads is; what is denied stays denied.
func TestDryRun(t *testing.T) {
	who := &person{answers: []string{"yes"}}
	a := newAsking(t, who, "run_command(rm)")
	a.d.DryRun = true
	out, sum := a.does("one", "run_command ls", "edit_file a", "edit_file .git/config", "read_file a", "run_command rm a", "read_file .env")
	var got []string
	for _, o := range out {
		got = append(got, o.Status+" "+o.Code)
	}
	want := []string{"skipped dry_run", "skipped dry_run", "skipped dry_run", "ok ", "denied denied", "ok "}
	if !slices.Equal(got, want) || !slices.Equal(a.done, []string{"a", ".env"}) || sum != (tool.Summary{Denied: 1}) {
		t.Errorf("outcomes %q, done %q, %+v", got, a.done, sum)
	}
	if !out[0].Trusted || !strings.Contains(out[0].Content, "dry run") {
		t.Errorf("the model reads %+v", out[0])
	}
	if d := factOf[event.ToolDecided](a, "tcl_2"); d.Preview != "all of a" || d.Verdict != "ask" {
		t.Errorf("on record %+v", d)
	}
	if len(who.asked) != 1 || who.asked[0].Target != ".env" {
		t.Errorf("asked %+v", who.asked)
	}
	a.d.Ask = nil
	if out, sum := a.does("one", "run_command ls"); out[0].Code != tool.CodeDryRun || sum.Unasked != 0 {
		t.Errorf("without anybody: %+v, %+v", out, sum)
	}
}
