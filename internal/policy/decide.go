package policy

import "slices"

// Reasons of a [Decision], for people.
const (
	ReasonDenyRule  = "rule.deny"
	ReasonAskRule   = "rule.ask"
	ReasonAllowRule = "rule.allow"
	ReasonPlan      = "profile.plan"
	ReasonAsk       = "profile.ask"
	ReasonAuto      = "profile.auto"
	ReasonFull      = "profile.full"
	ReasonProtected = "protected" // the path is one that others run or obey later
	ReasonSecret    = "secret"    // the path is one that usually holds credentials
	ReasonCommand   = "command"   // no rule covers the command
	ReasonLow       = "low"       // the command only reads
	ReasonSandbox   = "sandbox"   // the command is confined to the workspace
	ReasonHigh      = "high"      // no allow rule covers a command of grade high
	ReasonUnparsed  = "unparsed"  // the command can't be read as shell
	ReasonUnclear   = "unclear"   // what the command runs is known only when it runs, and a rule may forbid it
	ReasonHidden    = "hidden"    // the command holds characters that a person would not see
	ReasonNoEffect  = "no_effect"
)

// Decide tells whether the action may run. Each effect is decided on its own; the strictest verdict counts.
//
// Deny rules come first, then what the plan profile forbids, then ask rules, also where nobody can say whether one
// covers a command. Below full, protected and secret paths ask unless an allow rule names exactly that path, or the
// whole command that holds it; a command of grade low only reads, and what it reads is known, so its words do not count.
// Then allow rules, which never cover a command of grade high, nor one that the shell makes another than its words say; where it
// would run programs that the repository brings along, only a rule on every command does, and any other lets it run confined.
// Then the profile. A profile that is not known is taken for ask.
func Decide(r Rules, a Action) Decision {
	if len(a.Effects) == 0 {
		return decideBare(r, a)
	}
	var out Decision
	risk, _ := a.Graded()
	for _, e := range a.Effects {
		d := decideEffect(r, a, e, risk)
		switch {
		case out.Verdict == "" || strictness(d.Verdict) > strictness(out.Verdict):
			out = d
		case d.Verdict == out.Verdict:
			for _, reason := range d.Reasons {
				if !slices.Contains(out.Reasons, reason) {
					out.Reasons = append(out.Reasons, reason)
				}
			}
			if out.Rule == "" {
				out.Rule, out.Origin = d.Rule, d.Origin
			}
			out.Confined = out.Confined || d.Confined
		}
	}
	return out
}

func strictness(v Verdict) int {
	switch v {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// decideBare decides on an action without effects, which only a rule on the tool itself can hold up.
func decideBare(r Rules, a Action) Decision {
	for _, v := range []Verdict{Deny, Ask} {
		for _, rule := range r.List {
			if rule.Verdict == v && rule.pattern == "" && (rule.tool == "*" || rule.tool == a.Tool) {
				return Decision{Verdict: v, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{"rule." + string(v)}}
			}
		}
	}
	return Decision{Verdict: Allow, Reasons: []string{ReasonNoEffect}}
}

func decideEffect(r Rules, a Action, e Effect, risk Risk) Decision {
	tool := a.Tool
	find := func(v Verdict, match func(Rule) bool) (Rule, bool) {
		i := slices.IndexFunc(r.List, func(rule Rule) bool { return rule.Verdict == v && match(rule) })
		if i < 0 {
			return Rule{}, false
		}
		return r.List[i], true
	}
	forbids := func(rule Rule) bool { return rule.forbids(tool, e) }
	high := e.Kind == Run && risk.Grade == High
	low := e.Kind == Run && risk.Grade == Low
	altered := e.Kind == Run && risk.Altered
	named := func(rule Rule) bool { return !high && !altered && rule.allows(tool, e) }
	brought := e.Kind == Run && risk.Brought
	allows := func(rule Rule) bool { return named(rule) && (!brought || rule.pattern == "") }

	if rule, ok := find(Deny, forbids); ok {
		return Decision{Verdict: Deny, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{ReasonDenyRule}}
	}
	if r.Profile == Plan && e.Kind != Read && (!low || a.Open) {
		return Decision{Verdict: Deny, Reasons: []string{ReasonPlan}}
	}
	if rule, ok := find(Ask, forbids); ok {
		return Decision{Verdict: Ask, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{ReasonAskRule}}
	}
	exact := func(rule Rule) bool { return allows(rule) && (rule.names(e.Target) || rule.whole(tool, e)) }
	if rule, ok := find(Allow, exact); ok {
		return Decision{Verdict: Allow, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{ReasonAllowRule}}
	}
	if reason := mayBeForbidden(r, e); reason != "" {
		return Decision{Verdict: Ask, Reasons: askReasons(reason, e)}
	}
	if r.Profile == Full {
		return Decision{Verdict: Allow, Reasons: []string{ReasonFull}}
	}
	if reason := sensitive(e); reason != "" && !low {
		return Decision{Verdict: Ask, Reasons: askReasons(reason, e)}
	}
	if rule, ok := find(Allow, allows); ok {
		return Decision{Verdict: Allow, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{ReasonAllowRule}}
	}
	if high {
		return Decision{Verdict: Ask, Reasons: askReasons(ReasonHigh, e)}
	}
	if r.Profile == Auto && r.Sandbox && e.Kind == Run && !a.Outside {
		if low || risk.confinable() {
			return Decision{Verdict: Allow, Reasons: []string{ReasonAuto, ReasonSandbox}, Confined: true}
		}
		if rule, ok := find(Allow, named); ok && brought && risk.without(RiskConfig).confinable() {
			return Decision{Verdict: Allow, Rule: rule.Text, Origin: rule.Origin, Reasons: []string{ReasonAllowRule, ReasonSandbox}, Confined: true}
		}
	}
	return decideProfile(r.Profile, e, low)
}

// confinable tells whether a sandbox holds all that may go wrong with a command, and lets it do its work: one that wants
// the network, or another process, would only fail in it, perhaps half-way. What the repository has others run without their
// saying so, by its Git configuration and hooks, asks all the same.
func (r Risk) confinable() bool {
	return r.Grade == Medium &&
		!slices.ContainsFunc(r.Reasons, func(reason string) bool {
			return slices.Contains([]string{RiskUnparsed, RiskHidden, RiskSecret, RiskProtected, RiskNetwork, RiskProcesses, RiskConfig}, reason)
		}) &&
		!slices.ContainsFunc(r.Effects, func(t Touch) bool { return t.Kind == Fetch || t.Kind == Send || t.Kind == Elevate })
}

// without gives the risk without one of its reasons.
func (r Risk) without(reason string) Risk {
	r.Reasons = slices.DeleteFunc(slices.Clone(r.Reasons), func(have string) bool { return have == reason })
	return r
}

// mayBeForbidden says why nobody can tell whether a rule forbids a command, "" if none does.
func mayBeForbidden(r Rules, e Effect) string {
	if e.Kind != Run || !slices.ContainsFunc(r.List, func(rule Rule) bool { return rule.Verdict != Allow && rule.tool == commandTool }) {
		return ""
	}
	s := readScript(e.Target)
	switch {
	case !slices.ContainsFunc(r.List, func(rule Rule) bool { return rule.mayForbid(s) }):
		return ""
	case parses(e.Target):
		return ReasonUnclear
	}
	return ReasonUnparsed
}

func sensitive(e Effect) string {
	switch {
	case e.Kind == Run:
		return readScript(e.Target).sensitiveWord()
	case e.Kind == Write && Protected(e.Target):
		return ReasonProtected
	case (e.Kind == Write || e.Kind == Read) && Secret(e.Target):
		return ReasonSecret
	}
	return ""
}

func decideProfile(p Profile, e Effect, low bool) Decision {
	reason := ReasonAsk
	switch p {
	case Plan:
		reason = ReasonPlan
	case Auto:
		reason = ReasonAuto
	}
	switch {
	case low:
		return Decision{Verdict: Allow, Reasons: []string{reason, ReasonLow}}
	case e.Kind == Read, e.Kind == Write && p == Auto:
		return Decision{Verdict: Allow, Reasons: []string{reason}}
	case e.Kind == Run:
		reason = ReasonCommand
	}
	return Decision{Verdict: Ask, Reasons: askReasons(reason, e)}
}

// askReasons adds to a reason what else a person should know of a command.
func askReasons(reason string, e Effect) []string {
	reasons := []string{reason}
	if e.Kind == Run && hidden(e.Target) {
		reasons = append(reasons, ReasonHidden)
	}
	if e.Kind == Run && reason != ReasonUnparsed && !parses(e.Target) {
		reasons = append(reasons, ReasonUnparsed)
	}
	return reasons
}
