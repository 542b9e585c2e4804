package store

import (
	"fmt"

	"overt/internal/event"
)

// parents follows which node belongs to which task.
type parents struct {
	node map[event.Seq]string // the task of each node
	from map[string]string    // the task that a task was forked from; "": not known any more
}

// apply takes a fact in order and says what is wrong with its parent.
func (p *parents) apply(f event.Fact) string {
	if t, ok := f.Data.(event.TaskCreated); ok && t.Parent != "" {
		p.from[f.Scope.Task] = t.Parent
	}
	if _, ok := f.Data.(event.Erased); ok && f.Kind == event.KindTaskCreated {
		p.from[f.Scope.Task] = "" // it may have been a fork
	}
	if !f.Kind.Node() {
		return ""
	}
	p.node[f.Seq] = f.Scope.Task
	if f.Parent == 0 {
		return ""
	}
	owner, ok := p.node[f.Parent]
	if !ok || f.Parent >= f.Seq {
		return fmt.Sprintf("its parent %d is no node before it", f.Parent)
	}
	for task, hops := f.Scope.Task, 0; task != owner; hops++ {
		from, forked := p.from[task]
		if forked && from == "" {
			return ""
		}
		if !forked || hops > len(p.from) {
			return fmt.Sprintf("its parent %d belongs to %s, which it was not forked from", f.Parent, owner)
		}
		task = from
	}
	return ""
}
