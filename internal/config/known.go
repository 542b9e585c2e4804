package config

import (
	"slices"
	"strings"
)

// Owner is the vendor whose own address a base URL is, by the name of its preset; "" for any other address.
func Owner(baseURL string) string {
	for _, p := range Presets() {
		if !p.Local() && p.serves(baseURL) {
			return p.Name
		}
	}
	return ""
}

// LocalPresets lists the presets of local servers as the environment moves them.
func LocalPresets(env func(string) (string, bool)) []Preset {
	r := resolver{src: Sources{Env: env}}
	return slices.DeleteFunc(r.presets(), func(p Preset) bool { return !p.Local() })
}

// Nearest lists those of the names that differ least from one, at most n and only those that may have been meant: a few
// letters are wrong, or one is a part of the other.
func Nearest(name string, names []string, n int) []string {
	type near struct {
		name string
		far  int
	}
	var list []near
	small := strings.ToLower(name)
	for _, c := range names {
		other := strings.ToLower(c)
		far := distance(small, other)
		if strings.Contains(other, small) || strings.Contains(small, other) && other != "" {
			far = min(far, 2)
		}
		if far <= max(2, len(small)/3) {
			list = append(list, near{c, far})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.far - b.far })
	var out []string
	for _, c := range list[:min(n, len(list))] {
		out = append(out, c.name)
	}
	return out
}

// distance is the edit distance of Levenshtein, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			last, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, last+cost)
		}
	}
	return row[len(b)]
}
