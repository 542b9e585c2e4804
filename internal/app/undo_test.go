package app

import (
	"math"
	"testing"
)

// TestRoom: a setting bounds what is kept of the files that are there to its half, 0 bounds nothing, and a run that leaves nothing
// behind keeps little whatever the setting is.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		max       int64
		ephemeral bool
		want      int64
	}{
		{1 << 30, false, 512 << 20},
		{1, false, 1},
		{0, false, math.MaxInt64},
		{0, true, 64 << 20},
		{1 << 40, true, 64 << 20},
	} {
		if got := room(c.max, c.ephemeral); got != c.want {
			t.Errorf("%d, ephemeral %t: %d, want %d", c.max, c.ephemeral, got, c.want)
		}
	}
}
