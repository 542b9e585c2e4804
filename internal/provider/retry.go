package provider

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// retryAfter gives the wait that a server asks for, 0 if it asks for none: from its headers, else from its words. A
// date counts from the Date of the same reply, so that clocks need not agree; from ours if it has none. Sources: RFC 9110 section 10.2.3; the
// headers of OpenAI; texts of OpenAI, Gemini and others.
func retryAfter(h http.Header, search string, body []byte) time.Duration {
	return min(asked(h, search, body), longest)
}

func asked(h http.Header, search string, body []byte) time.Duration {
	if d := number(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	if s := h.Get("Retry-After"); s != "" {
		if d := number(s, time.Second); d > 0 {
			return d
		}
		if at, err := http.ParseTime(s); err == nil {
			now, err := http.ParseTime(h.Get("Date"))
			if err != nil {
				now = time.Now()
			}
			return max(at.Sub(now), 0)
		}
	}
	var wait time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			d, _ := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what))
			wait = max(wait, d)
		}
	}
	if wait > 0 {
		return wait
	}
	return spoken(search, body)
}

// longest is the longest wait that is told of: there is room for sums.
const longest = 10 * 365 * 24 * time.Hour

// number reads a count of units, which may have a fraction. What is larger than any count of seconds is none: it is a date.
func number(s string, unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f > 0) || f > 1e9 {
		return 0
	}
	return time.Duration(min(f*float64(unit), float64(longest)))
}

// spokenWait and retryDelay are waits in words, lower case, and in a body of Google's.
var (
	spokenWait = sync.OnceValue(func() *regexp.Regexp {
		const unit = `(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)`
		return regexp.MustCompile(`(?:try again in|retry in|retry after|reset after|reset in) (\d[0-9.hms]*) ?` + unit + `?\b`)
	})
	retryDelay = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+s)"`) })
)

// spoken finds a wait in words: "try again in 1.2s", "retry in 20ms", "reset after 39s", "in 2m30s", "in 5 seconds".
func spoken(search string, body []byte) time.Duration {
	if m := spokenWait().FindStringSubmatch(search); m != nil {
		count := strings.TrimRight(m[1], ".") // the end of the sentence
		if d, err := time.ParseDuration(count); err == nil {
			return d
		}
		return number(count, unitOf(m[2]))
	}
	if m := retryDelay().FindSubmatch(body); m != nil {
		d, _ := time.ParseDuration(string(m[1]))
		return d
	}
	return 0
}

func unitOf(s string) time.Duration {
	switch {
	case s == "ms" || strings.HasPrefix(s, "milli"):
		return time.Millisecond
	case strings.HasPrefix(s, "m"):
		return time.Minute
	case strings.HasPrefix(s, "h"):
		return time.Hour
	}
	return time.Second
}
