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
	ReasonUnparsed  = "unparsed"  // the command can't be read as shell
	ReasonUnclear   = "unclear"   // what the command runs is known only when it runs, and a rule may forbid it
	ReasonHidden    = "hidden"    // the command holds characters that a person would not see
	ReasonNoEffect  = "no_effect"
)

// Decide tells whether the action may run. Each effect is decided on its own; the strictest verdict counts.
//
// Deny rules come first, then what the plan profile forbids, then ask rules, also where nobody can say whether one
// covers a command. Below full, protected and secret paths ask unless an allow rule names exactly that path, or the
// whole command that holds it. Then allow rules, then the profile. A profile that is not known is taken for ask.
func Decide(r Rules, a Action) Decision {
	if len(a.Effects) == 0 {
		return decideBare(r, a)
	}
	var out Decision
	for _, e := range a.Effects {
		d := decideEffect(r, a.Tool, e)
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
				out.Rule = d.Rule
			}
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
				return Decision{v, rule.Text, []string{"rule." + string(v)}}
			}
		}
	}
	return Decision{Allow, "", []string{ReasonNoEffect}}
}

func decideEffect(r Rules, tool string, e Effect) Decision {
	find := func(v Verdict, match func(Rule) bool) (Rule, bool) {
		i := slices.IndexFunc(r.List, func(rule Rule) bool { return rule.Verdict == v && match(rule) })
		if i < 0 {
			return Rule{}, false
		}
		return r.List[i], true
	}
	forbids := func(rule Rule) bool { return rule.forbids(tool, e) }
	allows := func(rule Rule) bool { return rule.allows(tool, e) }

	if rule, ok := find(Deny, forbids); ok {
		return Decision{Deny, rule.Text, []string{ReasonDenyRule}}
	}
	if r.Profile == Plan && e.Kind != Read {
		return Decision{Deny, "", []string{ReasonPlan}}
	}
	if rule, ok := find(Ask, forbids); ok {
		return Decision{Ask, rule.Text, []string{ReasonAskRule}}
	}
	exact := func(rule Rule) bool { return rule.allows(tool, e) && (rule.names(e.Target) || rule.whole(tool, e)) }
	if rule, ok := find(Allow, exact); ok {
		return Decision{Allow, rule.Text, []string{ReasonAllowRule}}
	}
	if reason := mayBeForbidden(r, e); reason != "" {
		return Decision{Ask, "", askReasons(reason, e)}
	}
	if r.Profile == Full {
		return Decision{Allow, "", []string{ReasonFull}}
	}
	if reason := sensitive(e); reason != "" {
		return Decision{Ask, "", askReasons(reason, e)}
	}
	if rule, ok := find(Allow, allows); ok {
		return Decision{Allow, rule.Text, []string{ReasonAllowRule}}
	}
	return decideProfile(r.Profile, e)
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
	case e.Kind == Write && protected(e.Target):
		return ReasonProtected
	case (e.Kind == Write || e.Kind == Read) && Secret(e.Target):
		return ReasonSecret
	}
	return ""
}

func decideProfile(p Profile, e Effect) Decision {
	reason := ReasonAsk
	switch p {
	case Plan:
		reason = ReasonPlan
	case Auto:
		reason = ReasonAuto
	}
	switch {
	case e.Kind == Read, e.Kind == Write && p == Auto:
		return Decision{Allow, "", []string{reason}}
	case e.Kind == Run:
		reason = ReasonCommand
	}
	return Decision{Ask, "", askReasons(reason, e)}
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
