package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

const (
	closestScan  = 20_000 // lines looked at
	closestBlock = 400    // lines of the wanted text compared
	closestTries = 50     // places compared whole, for each of two lines of the wanted text
	closestWidth = 300    // bytes of a line compared
	closestAlike = 0.6    // below this likeness nothing is named
)

// closest says where the block that is most like the wanted text stands, and how it differs. It names lines and no
// text, so that nothing of the file gets into a message. It compares no more than closestScan lines with two of the
// wanted text, and the blocks around the best of them; the end of ctx ends it.
func (t *text) closest(ctx context.Context, old string) string {
	const none = "read the file again and copy the text exactly"
	want := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	want = want[:min(len(want), closestBlock)]
	c := comparison{lines: t.split()}
	best, at := c.best(ctx, want)
	if at < 0 || best < closestAlike {
		return none
	}
	span, differ, them := fmt.Sprintf("line %d", at+1), "differs", "it"
	if last := min(at+len(want), len(c.lines)); last > at+1 {
		span, differ, them = fmt.Sprintf("lines %d-%d", at+1, last), "differ", "them"
	}
	if best == 1 {
		return fmt.Sprintf("%s %s only in white space. Read %s and copy the text exactly", span, differ, them)
	}
	return fmt.Sprintf("the closest is %s (%d %% alike). Read %s and copy the text exactly", span, int(best*100), them)
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

// comparison looks for a block among lines.
type comparison struct {
	lines []string
	pairs [1 << 16]uint16 // how often a pair of bytes is in the first of two lines; all 0 between comparisons
	count int             // lines compared
}

// place is where a block may start.
type place struct {
	at    int
	alike float64
}

// best gives the likeness of the block most like the wanted lines, and where it starts; -1 if there is none.
func (c *comparison) best(ctx context.Context, want []string) (alike float64, at int) {
	squeezed := make([]string, len(want))
	first, longest := -1, 0
	for i, w := range want {
		squeezed[i] = squeeze(w)
		if first < 0 && squeezed[i] != "" {
			first = i
		}
		if len(squeezed[i]) > len(squeezed[longest]) {
			longest = i
		}
	}
	at = -1
	if first < 0 {
		return 0, at
	}
	for _, anchor := range slices.Compact([]int{first, longest}) {
		for _, p := range c.places(ctx, squeezed[anchor], anchor) {
			if ctx.Err() != nil {
				return 0, -1
			}
			if s := c.block(squeezed, p.at); s > alike || s == alike && p.at < at {
				alike, at = s, p.at
			}
		}
	}
	return alike, at
}

// places gives the starts of the blocks whose line number anchor is most like the given one.
func (c *comparison) places(ctx context.Context, line string, anchor int) []place {
	var out []place
	least := closestAlike
	for i := anchor; i < min(len(c.lines), closestScan); i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return nil
		}
		s := c.alike(line, squeeze(c.lines[i]))
		if s < least || len(out) == closestTries && s == least {
			continue
		}
		n, _ := slices.BinarySearchFunc(out, s, func(p place, s float64) int { // after those that are as much alike
			if p.alike >= s {
				return -1
			}
			return 1
		})
		if len(out) == closestTries {
			out = out[:closestTries-1]
		}
		out = slices.Insert(out, n, place{i - anchor, s})
		if len(out) == closestTries {
			least = out[closestTries-1].alike
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	return out
}

// block is the mean likeness of the lines from at on.
func (c *comparison) block(want []string, at int) float64 {
	sum := 0.0
	for i := 0; i < len(want) && at+i < len(c.lines); i++ {
		sum += c.alike(want[i], squeeze(c.lines[at+i]))
	}
	return sum / float64(len(want))
}

// squeeze leaves out white space at the ends and repeated within.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// alike is Dice's coefficient over pairs of bytes: 1 for equal strings, 0 for those that share no pair.
func (c *comparison) alike(a, b string) float64 {
	c.count++
	if a == b {
		return 1
	}
	a, b = a[:min(len(a), closestWidth)], b[:min(len(b), closestWidth)]
	if len(a) < 2 || len(b) < 2 || len(a) > 3*len(b) || len(b) > 3*len(a) {
		return 0
	}
	pair := func(s string, i int) uint16 { return uint16(s[i])<<8 | uint16(s[i+1]) }
	for i := range len(a) - 1 {
		c.pairs[pair(a, i)]++
	}
	shared := 0
	for i := range len(b) - 1 {
		if p := pair(b, i); c.pairs[p] > 0 {
			c.pairs[p]--
			shared++
		}
	}
	for i := range len(a) - 1 {
		c.pairs[pair(a, i)] = 0
	}
	// Equal pairs don't make equal strings; only those that are equal are called so.
	return min(2*float64(shared)/float64(len(a)+len(b)-2), 0.99)
}
