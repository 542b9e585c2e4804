package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTimeout is far beyond any run, and within what a timer can hold.
const maxTimeout = 365 * 24 * time.Hour

// check tells whether a value can be one of the key's.
func (k Key) check(s Setting) *Error {
	var ok bool
	switch k.Kind {
	case Choice:
		ok = slices.Contains(k.Choices, s.Value)
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
		_, ok = duration(s.Value)
	case Size:
		_, ok = size(s.Value)
	case Text:
		ok = k.Name != BaseURL || s.Value == "" || origin(s.Value) != ""
	default:
		ok = true
	}
	if ok {
		return nil
	}
	e := &Error{Code: "config.value", Args: []any{k.Name, s.Value, Form(k)}, Source: s.Source}
	if k.Name == BaseURL { // it may hold a key
		e.Code, e.Args = "config.base_url", []any{s.Source}
	}
	return e
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
		return "0 or a time from 1s to a year, such as \"90s\" or \"1h30m\""
	case Size:
		return "bytes, or a size such as \"500MB\" or \"2GB\""
	case List:
		return "a list of texts"
	case Command:
		return "a list: a program and its arguments"
	}
	return "a text"
}

// duration reads a time: 0, or from a second to a year.
func duration(s string) (time.Duration, bool) {
	if s == "0" {
		return 0, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= time.Second && d <= maxTimeout
}

// size reads a number of bytes, with or without a unit of 1,024 steps.
func size(s string) (int64, bool) {
	digits := strings.TrimRight(s, "BKMGTbkmgt")
	unit, ok := map[string]int64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[strings.ToUpper(s[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
