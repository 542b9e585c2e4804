package workspace

import (
	"fmt"
	"strings"
)

const (
	closestScan  = 20_000 // lines looked at
	closestBlock = 400    // lines of the wanted text compared
	closestAlike = 0.6    // below this likeness nothing is named
)

// closest says where the block that is most like the wanted text stands, and how it differs. It names lines and no
// text, so that nothing of the file gets into a message.
func (t *text) closest(old string) string {
	const none = "read the file again and copy the text exactly"
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if len(want) > closestBlock {
		want = want[:closestBlock]
	}
	lines := t.split()
	first := 0
	for first < len(want)-1 && strings.TrimSpace(want[first]) == "" {
		first++
	}
	anchor := newGrams(strings.TrimSpace(want[first]))
	best, at := 0.0, -1
	for i, l := range lines {
		if i >= closestScan {
			break
		}
		s := anchor.alike(strings.TrimSpace(l))
		if s < closestAlike || i-first < 0 {
			continue
		}
		if s = blockAlike(want, lines[i-first:]); s > best {
			best, at = s, i-first
		}
	}
	if at < 0 || best < closestAlike {
		return none
	}
	span := fmt.Sprintf("line %d", at+1)
	if len(want) > 1 {
		span = fmt.Sprintf("lines %d-%d", at+1, min(at+len(want), len(lines)))
	}
	if best == 1 {
		return fmt.Sprintf("%s differ only in white space. Read them and copy the text exactly", span)
	}
	return fmt.Sprintf("the closest is %s (%d %% alike). Read them and copy the text exactly", span, int(best*100))
}

func (t *text) split() []string {
	n := min(t.lines(), closestScan+closestBlock)
	out := make([]string, 0, n)
	for i := range n {
		end := len(t.data)
		if i+1 < len(t.starts) {
			end = t.starts[i+1] - 1
		}
		out = append(out, string(t.data[t.starts[i]:end]))
	}
	return out
}

// blockAlike is the mean likeness of lines, white space at their ends and repeated within left out.
func blockAlike(want, have []string) float64 {
	sum := 0.0
	for i, w := range want {
		if i < len(have) {
			sum += newGrams(squeeze(w)).alike(squeeze(have[i]))
		}
	}
	return sum / float64(len(want))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// grams counts the pairs of bytes of a string, for Dice's coefficient.
type grams struct {
	s     string
	pairs map[[2]byte]int
}

func newGrams(s string) grams {
	if len(s) > 1000 {
		s = s[:1000]
	}
	g := grams{s, make(map[[2]byte]int, len(s))}
	for i := 0; i+1 < len(s); i++ {
		g.pairs[[2]byte{s[i], s[i+1]}]++
	}
	return g
}

// alike is 1 for equal strings, 0 for those that share no pair.
func (g grams) alike(s string) float64 {
	if len(s) > 1000 {
		s = s[:1000]
	}
	if s == g.s {
		return 1
	}
	total := len(g.s) + len(s) - 2
	if len(g.s) < 2 || len(s) < 2 || len(s) > 3*len(g.s) || len(g.s) > 3*len(s) {
		return 0
	}
	used := make(map[[2]byte]int, len(s))
	shared := 0
	for i := 0; i+1 < len(s); i++ {
		p := [2]byte{s[i], s[i+1]}
		if used[p]++; used[p] <= g.pairs[p] {
			shared++
		}
	}
	// Equal pairs don't make equal strings; only those that are equal are called so.
	return min(2*float64(shared)/float64(total), 0.99)
}
