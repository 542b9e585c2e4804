package tool

import (
	"slices"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
)

// minTaint is how many bytes of a command must stand elsewhere word for word for it to count as repeated.
const minTaint = 20

// taint looks for what a command that uses the network repeats of texts that no person wrote: the hosts that it goes to and the
// domains that they are in, or, where it names none, the whole of it. Who can write into a file, a page or an output must not choose where data goes.
func (b *batch) taint(j *job) {
	risk, graded := j.prepared.Action.Graded()
	if b.Seen == nil || !graded {
		return
	}
	add := func(text string) bool {
		if slices.ContainsFunc(j.taint, func(t event.Taint) bool { return t.Text == text }) {
			return true
		}
		from := b.Seen(text)
		if from != "" {
			j.taint = append(j.taint, event.Taint{Text: text, From: from})
		}
		return from != ""
	}
	network, named := false, false
	for _, t := range risk.Effects {
		if t.Kind != policy.Fetch && t.Kind != policy.Send {
			continue
		}
		network = true
		host := policy.Host(t.Target)
		if !strings.ContainsAny(host, ".:") {
			continue
		}
		named = true
		for _, name := range policy.Hosts(host) {
			if add(name) {
				break
			}
		}
	}
	if network && !named {
		for _, e := range j.prepared.Action.Effects {
			if whole := strings.TrimSpace(e.Target); e.Kind == policy.Run && len(whole) >= minTaint {
				add(whole)
			}
		}
	}
	j.prepared.Action.Tainted = len(j.taint) > 0
}
