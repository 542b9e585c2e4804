package store

import (
	"sync"

	"overt/internal/event"
)

// Bounds of a tail.
const (
	tailFacts = 128
	tailText  = 256 << 10 // bytes of long texts in one batch; beyond it the tail begins anew
)

// tail holds the newest facts of this process in memory, so that a follower need not read back what was just written.
// They have consecutive numbers.
type tail struct {
	mu    sync.Mutex
	facts []event.Fact
}

// add takes a batch that was committed. Batches may come in another order than their commits: an older one is passed over.
func (t *tail) add(facts []event.Fact, long int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := len(t.facts); {
	case len(facts) == 0 || n > 0 && facts[0].Seq <= t.facts[n-1].Seq:
		return
	case long > tailText:
		t.facts = nil
		return
	case n > 0 && facts[0].Seq != t.facts[n-1].Seq+1: // another process came in between
		t.facts = nil
	}
	t.facts = append(t.facts, facts...)
	if over := len(t.facts) - tailFacts; over > 0 {
		t.facts = append([]event.Fact(nil), t.facts[over:]...)
	}
}

// forget drops all facts, because some of them are no longer what is stored.
func (t *tail) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.facts = nil
}

// after gives the facts with a number above seq, as far as they are known. known: there was nothing newer at some moment
// during the call, as far as this process has written; else they must be read.
func (t *tail) after(seq event.Seq) (facts []event.Fact, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.facts)
	if n == 0 || seq+1 < t.facts[0].Seq || seq > t.facts[n-1].Seq {
		return nil, false
	}
	return append([]event.Fact(nil), t.facts[seq+1-t.facts[0].Seq:]...), true
}
