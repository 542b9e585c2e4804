package app

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"strings"
	"time"
)

// newID draws an id: the time, so that ids sort, and 40 random bits.
func newID(prefix string) string {
	b := make([]byte, 11)
	ms := time.Now().UnixMilli()
	for i := 5; i >= 0; i-- {
		b[i] = byte(ms)
		ms >>= 8
	}
	rand.Read(b[6:]) // never fails, by its documentation
	return prefix + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// backoff is half a second, doubled with each attempt up to 8 s, less up to a quarter so that clients that failed
// together do not return together; or what the server asked for.
func backoff(n int, after time.Duration) time.Duration {
	if after > 0 {
		return after
	}
	d := time.Duration(math.Min(float64(500*time.Millisecond)*math.Pow(2, float64(n-1)), float64(8*time.Second)))
	return d - time.Duration(mrand.Int64N(int64(d/4)))
}

func wait(ctx context.Context, _ int, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to try again: %w", ctx.Err())
	}
}
