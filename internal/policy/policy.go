// Package policy decides what an agent may do: pure functions over profiles, rules and the effects of an action.
//
// [Decide] takes the [Rules] in force and an [Action] and gives a [Decision]; the strictest rule wins, and what is
// unknown asks. The package never asks, remembers or reads files, and knows nothing of tools: callers describe effects.
// Everything here may be used by several goroutines.
package policy

import (
	"slices"
	"strings"
)

// Verdict is the outcome of a decision, from loosest to strictest.
type Verdict string

// Verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Profile is the base on which rules stand.
type Profile string

// Profiles.
const (
	Plan     Profile = "plan" // reads run, commands of grade low too; nothing that changes anything does
	AskFirst Profile = "ask"  // the same run, the rest asks (default)
	Auto     Profile = "auto" // the same, edits in the workspace, and what can be confined run; the rest asks
	Full     Profile = "full" // nothing asks; everything is recorded
)

// EffectKind says what would happen to a target.
type EffectKind string

// Kinds of effects.
const (
	Read  EffectKind = "read"  // Target: a path relative to the workspace
	Write EffectKind = "write" // Target: a path relative to the workspace; creating counts
	Run   EffectKind = "run"   // Target: the command's text
)

// Effect is one thing that an action would do.
type Effect struct {
	Kind   EffectKind
	Target string
}

// Action is what a tool call would do. An action without effects changes and reveals nothing.
type Action struct {
	Tool    string
	Effects []Effect
	Tainted bool  // the command goes to an address that stands in a text of somebody else
	Own     Grade // the model's own grade of a command; "" if it gave none
	Risk    *Risk // of the command, as [Command] found it; nil: it is graded where it is needed, without a look at files
	Outside bool  // the command can do its work only outside a sandbox
	Open    bool  // it is asked for outside one, so it is to do more than read
}

// Graded gives the risk of a command, the model's own grade counted in; false: the action runs none.
func (a Action) Graded() (Risk, bool) {
	for _, e := range a.Effects {
		if e.Kind != Run {
			continue
		}
		risk := a.Risk
		if risk == nil {
			graded := Command(e.Target, ".", nil)
			risk = &graded
		}
		out := *risk
		if a.Tainted {
			out.Grade, out.Reasons = High, append(slices.Clip(out.Reasons), RiskTaint)
		}
		return out.Raise(a.Own), true
	}
	return Risk{}, false
}

// Rules are what is in force: a profile and the rules given by the person.
type Rules struct {
	Profile Profile
	List    []Rule
	Sandbox bool // commands can be confined to the workspace, without secrets and network
}

// Rule lets or forbids what it matches. See [ParseRule] for the written form.
type Rule struct {
	Verdict Verdict
	Text    string // as written, for people: "run_command(go test:*)"
	tool    string
	pattern string   // "" matches every use of the tool
	words   []string // of a command pattern, without quotes
	prefix  bool     // the command pattern ended with ":*"
	// given, if not nil, are the words of the command that a person has agreed to. The rule lets no other options through,
	// and no other path that leads out of the workspace: what an option does, or a path, nobody has agreed to.
	given []string
	// Origin is what the rule goes back to: a question or a permission, by its id; "": the settings.
	Origin string
}

// Given are the words of the command that a person has agreed to, where the rule comes from an answer; else nil.
func (r Rule) Given() []string { return r.given }

// Within gives the rule narrowed to what a person who agreed to a command of these words has agreed to. nil leaves it as it is.
func (r Rule) Within(given []string) Rule {
	r.given = given
	return r
}

// Vain tells whether the rule is on a command that is of grade high as it stands, which no rule allows.
func (r Rule) Vain() bool {
	return len(r.words) > 0 && Command(strings.TrimSuffix(r.pattern, ":*"), ".", nil).Grade == High
}

// Closed is the rule that denies everything, for one who can't tell what the rules are. Text says so to people.
func Closed(text string) Rule { return Rule{Verdict: Deny, Text: text, tool: "*"} }

// Decision is a verdict with its grounds.
type Decision struct {
	Verdict Verdict
	Rule    string   // text of the rule that decided, "" if the profile did
	Origin  string   // of that rule
	Reasons []string // codes for people: package i18n has the sentences
	// Confined says that the command may run unasked only in the sandbox.
	Confined bool
}
