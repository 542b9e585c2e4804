package app

import (
	"testing"
	"time"
)

// TestBackoff: waits grow, stay bounded, and are not the same for all; what the server asks for is kept to.
//
// covers L238
func TestBackoff(t *testing.T) {
	seen := map[time.Duration]bool{}
	for n, whole := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 3: 2 * time.Second, 5: 8 * time.Second, 60: 8 * time.Second} {
		for range 50 {
			d := backoff(n, 0)
			if d > whole || d <= whole*3/4 {
				t.Errorf("attempt %d waits %s, want up to a quarter less than %s", n, d, whole)
			}
			seen[d] = true
		}
		if d := backoff(n, 7*time.Second); d != 7*time.Second {
			t.Errorf("attempt %d waits %s, and was asked to wait 7s", n, d)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d different waits", len(seen))
	}
}
