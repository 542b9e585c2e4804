package app

import (
	"context"
	"reflect"
	"sync"
	"time"

	"overt/internal/llm"
)

// lastLook is how long the end of the program waits for a look that is under way.
const lastLook = 300 * time.Millisecond

// learner finds out what a server of one's own has loaded the model with. It asks once, beside the work, when the first answer has
// come: before, nothing may be loaded, and nobody is to wait for it. What it learns counts from the next run on, in this process
// and in later ones; a run keeps the window that it began with.
type learner struct {
	once   sync.Once
	under  sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

func newLearner() *learner {
	l := &learner{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// close waits a moment for a look that is under way, and then ends it.
func (l *learner) close() {
	t := time.AfterFunc(lastLook, l.cancel)
	l.under.Wait()
	t.Stop()
	l.cancel()
}

// curious is a model whose server is looked at after its first answer.
type curious struct {
	llm.Model
	l    *learner
	look func(context.Context)
}

// Stream implements [llm.Model].
func (m curious) Stream(ctx context.Context, r *llm.Request, show func(llm.Delta)) (*llm.Response, error) {
	out, err := m.Model.Stream(ctx, r, show)
	if err == nil {
		m.l.once.Do(func() { m.l.under.Go(func() { m.look(m.l.ctx) }) })
	}
	return out, err
}

// lookAt asks a server of a kind what the model is loaded with, and keeps the answer where it is news. What goes wrong is no harm: it
// stays as little known as it was.
func (a *App) lookAt(ctx context.Context, server string) {
	c := a.o.Config
	f, err := loadedFacts(ctx, c, a.client.HTTP(), server, a.Model)
	if err != nil || reflect.ValueOf(f).IsZero() {
		return
	}
	k := readKnown(a.o.State, c.BaseURL.Value)
	before, listed := k.of(a.Model)
	f = f.Over(before)
	if k.Server == server && reflect.DeepEqual(before, f) {
		return
	}
	k.Endpoint, k.Server = plainURL(c.BaseURL.Value), server
	k.put(a.Model, f, listed)
	_ = k.write(a.o.State)
}
