package wire

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// guard cancels an exchange whose next byte is late.
//
// The reader only stores two numbers for each read; the timer looks at them when it fires and sleeps again for what is
// left. So a stream of many small reads costs no timer operation for each. Time that the reader spends elsewhere does
// not count: silence is measured while a read waits.
type guard struct {
	start  time.Time
	idle   time.Duration
	cancel context.CancelCauseFunc

	reading atomic.Bool
	began   atomic.Bool  // a byte has come
	last    atomic.Int64 // nanoseconds after start: when the current read began or the last one ended

	mu      sync.Mutex // guards timer and stopped
	timer   *time.Timer
	stopped bool
}

// newGuard starts a guard that counts from start; or, unless early, from the first byte.
func newGuard(start time.Time, idle time.Duration, early bool, cancel context.CancelCauseFunc) *guard {
	g := &guard{start: start, idle: idle, cancel: cancel}
	if early {
		g.arm(idle)
	}
	return g
}

func (g *guard) enter() {
	g.last.Store(int64(time.Since(g.start)))
	g.reading.Store(true)
}

// leave ends a read that gave n bytes and tells when, counted from the start.
func (g *guard) leave(n int) time.Duration {
	at := time.Since(g.start)
	g.last.Store(int64(at))
	g.reading.Store(false)
	if n > 0 && !g.began.Swap(true) {
		g.arm(g.idle)
	}
	return at
}

// computed tells that a header has come for whose body no model computes, such as that of an error. A guard that still waited
// for the first byte is armed then, with no more patience than for a host elsewhere. It must be called before the body is read.
func (g *guard) computed() {
	g.mu.Lock()
	armed := g.timer != nil
	if !armed {
		g.idle = min(g.idle, defaultIdle)
	}
	g.mu.Unlock()
	if !armed {
		g.arm(g.idle)
	}
}

func (g *guard) arm(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(d, g.check)
		return
	}
	g.timer.Reset(d)
}

func (g *guard) check() {
	if !g.began.Load() {
		g.cancel(&Error{Kind: Idle, Message: fmt.Sprintf("no answer came within %s", g.idle)})
		return
	}
	silent := time.Since(g.start) - time.Duration(g.last.Load())
	switch {
	case !g.reading.Load():
		g.arm(g.idle)
	case silent >= g.idle:
		g.cancel(&Error{Kind: Idle, Message: fmt.Sprintf("the reply went silent for %s", g.idle)})
	default:
		g.arm(g.idle - silent)
	}
}

func (g *guard) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	if g.timer != nil {
		g.timer.Stop()
	}
}
