package workspace

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestClosestIsBounded: the lines compared do not multiply with each other.
func TestClosestIsBounded(t *testing.T) {
	want := make([]string, closestBlock)
	c := comparison{lines: make([]string, closestScan+closestBlock)}
	for i := range c.lines {
		c.lines[i] = "if err := step(ctx, value); err != nil {"
	}
	for i := range want {
		want[i] = "if err := step(ctx, values); err != nil {" + strings.Repeat(" ", i%2) + strings.Repeat("x", i/100)
	}
	if _, at := c.best(t.Context(), want); at < 0 {
		t.Error("nothing found")
	}
	if most := 2*closestScan + 2*closestTries*closestBlock; c.count > most {
		t.Errorf("%d lines compared, want at most %d", c.count, most)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.count = 0
	if _, at := c.best(ctx, want); at >= 0 || c.count > 512 {
		t.Errorf("cancelled: at %d after %d lines", at, c.count)
	}
}

// TestFind: every match, as a look at every offset would find them.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching("[ab]{1,4}")
		old := letters.Draw(t, "old")
		data := strings.Join(rapid.SliceOfN(letters, 0, 12).Draw(t, "data"), "")
		var want []int
		for i := range data {
			if strings.HasPrefix(data[i:], old) {
				want = append(want, i)
			}
		}
		if got := slices.Collect(find([]byte(data), old)); !slices.Equal(got, want) {
			t.Fatalf("%q in %q: got %v, want %v", old, data, got, want)
		}
	})
}

func BenchmarkClosest(b *testing.B) {
	t := newText([]byte(strings.Repeat("    if err := step(ctx, value); err != nil {\n", closestScan)))
	old := strings.Repeat("    if err := step(ctx, values); err != nil {\n", 60)
	for b.Loop() {
		t.closest(b.Context(), old)
	}
}
