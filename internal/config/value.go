package config

import (
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// day and maxTime: a time is far beyond any run, and within what a timer can hold.
const (
	day     = 24 * time.Hour
	maxTime = 100 * 365 * day
)

// check tells whether a value can be one of the key's.
func (k Key) check(s Setting) *Error {
	var ok bool
	switch k.Kind {
	case Choice:
		_, err := strconv.ParseBool(s.Value)
		ok = slices.Contains(k.Choices, s.Value) || k.switches() && err == nil
	case Bool:
		_, err := strconv.ParseBool(s.Value)
		ok = err == nil
	case Count:
		n, err := strconv.Atoi(s.Value)
		ok = err == nil && n >= 0 && (k.Max == 0 || n <= int(k.Max))
	case Number:
		n, err := strconv.ParseFloat(s.Value, 64)
		ok = s.Value == "" || err == nil && n >= 0 && n <= k.Max
	case Duration:
		_, ok = ParseDuration(s.Value)
	case Size:
		_, ok = ParseSize(s.Value)
	case Names:
		_, ok = k.names(s.Value)
	case Text:
		switch {
		case s.Value == "" && s.Source.Layer == BuiltIn:
			ok = true
		case k.Name == BaseURL:
			ok = origin(s.Value) != ""
		case k.Name == Proxy:
			u, err := url.Parse(s.Value)
			ok = s.Value == Off || err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
		default:
			ok = true
		}
	default:
		ok = true
	}
	if ok {
		return nil
	}
	e := &Error{Code: "config.value", Args: []any{k.Name, s.Value, Form(k)}, Source: s.Source}
	switch k.Name { // they may hold what is secret
	case BaseURL:
		e.Code, e.Args = "config.base_url", []any{s.Source}
		if meant := schemed(s.Value); meant != "" {
			e.Hint, e.HintArgs = "config.base_url.like", []any{meant}
		}
	case Proxy:
		e.Code, e.Args = "config.proxy", []any{s.Source}
	}
	return e
}

// schemed is an address with the scheme that was left out, where nothing else is wrong with it and nothing in it may be secret; else "".
func schemed(s string) string {
	if strings.Contains(s, "://") || strings.ContainsAny(s, "@?# ") {
		return ""
	}
	s = strings.TrimLeft(s, "/")
	u, err := url.Parse("http://" + s)
	if err != nil || origin("http://"+s) == "" {
		return ""
	}
	_, noIP := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost", noIP == nil:
		return "http://" + s
	case strings.Contains(u.Hostname(), "."):
		return "https://" + s
	case u.Port() != "": // a name of one's own network
		return "http://" + s
	}
	return ""
}

// Form says in words what values a key takes.
func Form(k Key) string {
	switch k.Kind {
	case Choice:
		return "one of " + strings.Join(k.Choices, ", ")
	case Bool:
		return "true or false"
	case Count:
		if k.Max != 0 {
			return "a whole number from 0 to " + strconv.Itoa(int(k.Max))
		}
		return "a whole number, 0 or more"
	case Number:
		return "a number from 0 to " + strconv.FormatFloat(k.Max, 'f', -1, 64)
	case Duration:
		return "0 or a time from 1s on, such as \"90s\", \"1h30m\" or \"30d\""
	case Size:
		return "bytes, or a size such as \"500MB\" or \"2GB\""
	case List:
		return "a list of texts"
	case Command:
		return "a list: a program and its arguments"
	case Names:
		return "one or more of " + strings.Join(k.Choices, ", ") + ", with commas between, or false for none"
	}
	return "a text"
}

// names reads some of the choices, and gives them in the order of those, each once.
func (k Key) names(s string) ([]string, bool) {
	if b, err := strconv.ParseBool(s); err == nil {
		if !b {
			return nil, true
		}
		s = k.Default
	}
	var said []string
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(k.Choices, name) {
			return nil, false
		}
		said = append(said, name)
	}
	return slices.DeleteFunc(slices.Clone(k.Choices), func(name string) bool { return !slices.Contains(said, name) }), true
}

// ParseDuration reads a time: 0, or from a second to a hundred years, also in whole days ("30d").
func ParseDuration(s string) (time.Duration, bool) {
	if s == "0" {
		return 0, true
	}
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int64
		n, err = strconv.ParseInt(days, 10, 32)
		d = min(time.Duration(n), 1+maxTime/day) * day
	}
	return d, err == nil && d >= time.Second && d <= maxTime
}

// ParseSize reads a number of bytes, with or without a unit of 1,024 steps ("500MB", "2 gb").
func ParseSize(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BKMGTbkmgt")
	unit, ok := map[string]int64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[strings.ToUpper(s[len(digits):])]
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
