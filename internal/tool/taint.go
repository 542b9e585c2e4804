package tool

import (
	"net/url"
	"strings"

	"overt/internal/event"
	"overt/internal/policy"
)

// minTaint is how many bytes of a command must stand elsewhere word for word for it to count as repeated.
const minTaint = 20

// taint looks for what a command that uses the network repeats of texts that no person wrote: the address that it goes to, or,
// where it names none, the whole of it. Who can write into a file, a page or an output must not choose where data goes.
func (b *batch) taint(j *job) {
	risk, graded := j.prepared.Action.Graded()
	if b.Seen == nil || !graded {
		return
	}
	add := func(text string) {
		for _, t := range j.taint {
			if t.Text == text {
				return
			}
		}
		if from := b.Seen(text); from != "" {
			j.taint = append(j.taint, event.Taint{Text: text, From: from})
		}
	}
	network, named := false, false
	for _, t := range risk.Effects {
		if t.Kind != policy.Fetch && t.Kind != policy.Send {
			continue
		}
		network = true
		if host := hostOf(t.Target); strings.Contains(host, ".") {
			named = true
			add(host)
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

// hostOf is the host that an address names, as an address is written: a URL, or HOST:PATH of scp and Git.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	_, host, ok := strings.Cut(address, "@")
	if !ok {
		host = address
	}
	if i := strings.IndexAny(host, ":/"); i >= 0 {
		host = host[:i]
	}
	return host
}
