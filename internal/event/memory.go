package event

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Memory is a [Log] in memory: the same promises, without files and without masking. The zero value is ready.
// Kernel tests use it, and so does replay.
type Memory struct {
	// Now stamps facts; nil: each fact is one millisecond after the one before it, from the Unix epoch on.
	Now func() time.Time

	mu    sync.Mutex
	facts []Fact
	heads map[string]Seq
	tasks map[string]memoryTask
	keys  map[string]memoryKey
}

type memoryTask struct {
	state string
	runs  map[string]bool // without an end
}

type memoryKey struct {
	fingerprint string
	facts       []Fact
}

// Append implements [Log].
func (m *Memory) Append(ctx context.Context, b Batch) ([]Fact, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if k, ok := m.keys[b.Key]; ok && b.Key != "" {
		if k.fingerprint != b.Fingerprint {
			return nil, ErrKeyReused
		}
		return k.facts, nil
	}
	head := m.heads[b.Scope.Task]
	if b.Guard != nil && b.Guard.Head != head {
		return nil, ErrMoved
	}
	task := m.tasks[b.Scope.Task]
	if err := b.If.Met(b.Scope.Task, task.state, len(task.runs) > 0); err != nil {
		return nil, err
	}
	out := make([]Fact, 0, len(b.Facts))
	for _, d := range b.Facts {
		f := Fact{
			Seq: Seq(len(m.facts) + len(out) + 1), Kind: d.Data.Kind(), Scope: b.Scope, Subject: d.Subject,
		}
		f.V = f.Kind.Version()
		f.Time = time.UnixMilli(int64(f.Seq)).UTC()
		if m.Now != nil {
			f.Time = m.Now().UTC().Truncate(time.Millisecond)
		}
		// The payload goes through its stored form, so that nothing shared with the caller is kept.
		data, err := Encode(d.Data, nil, nil)
		if err != nil {
			return nil, err
		}
		if f.Data, err = Decode(f.Kind, f.V, data, nil); err != nil {
			return nil, err
		}
		if f.Kind.Node() {
			f.Parent = head
			if b.Scope.Task == "" {
				return nil, fmt.Errorf("%s needs a task", f.Kind)
			}
			if d.Parent != nil {
				if f.Parent = *d.Parent; f.Parent < 0 || f.Parent >= f.Seq {
					return nil, fmt.Errorf("the parent %d of %s is not there", f.Parent, f.Kind)
				}
			} else {
				head = f.Seq
			}
		}
		if moved, ok := f.Data.(HeadMoved); ok {
			head = moved.To
		}
		out = append(out, f)
	}
	m.facts = append(m.facts, out...)
	if m.heads == nil {
		m.heads, m.keys, m.tasks = map[string]Seq{}, map[string]memoryKey{}, map[string]memoryTask{}
	}
	m.heads[b.Scope.Task] = head
	m.follow(b.Scope.Task, out)
	if b.Key != "" && len(out) > 0 {
		m.keys[b.Key] = memoryKey{b.Fingerprint, out}
	}
	return out, nil
}

// follow keeps what conditions ask for.
func (m *Memory) follow(id string, facts []Fact) {
	if len(facts) == 0 || id == "" {
		return
	}
	task, known := m.tasks[id]
	if !known {
		task = memoryTask{TaskActive, map[string]bool{}}
	}
	for _, f := range facts {
		switch p := f.Data.(type) {
		case TaskChanged:
			task.state = cmp.Or(p.State, task.state)
		case RunAccepted:
			task.runs[f.Scope.Run] = true
		}
		if f.Kind.Ends() {
			delete(task.runs, f.Scope.Run)
		}
	}
	m.tasks[id] = task
}

// Read implements [Log].
func (m *Memory) Read(_ context.Context, p Path) iter.Seq2[Fact, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Fact
	if p.Facts {
		for _, f := range m.facts {
			if f.Scope.Task == p.Task && f.Seq > p.After {
				out = append(out, f)
			}
		}
	} else {
		leaf := p.Leaf
		if leaf == 0 {
			leaf = m.heads[p.Task]
		}
		for s := leaf; s != 0; {
			if s < 0 || int(s) > len(m.facts) {
				return func(yield func(Fact, error) bool) { yield(Fact{}, fmt.Errorf("no fact %d", s)) }
			}
			f := m.facts[s-1]
			out = append(out, f)
			s = f.Parent
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return func(yield func(Fact, error) bool) {
		for _, f := range out {
			if !yield(f, nil) {
				return
			}
		}
	}
}
