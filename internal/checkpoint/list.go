package checkpoint

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"overt/internal/event"
)

// Entry is a change of a task that can be taken back, or could.
type Entry struct {
	ID        string            `json:"id"` // of its checkpoint
	Task      string            `json:"task"`
	Turn      string            `json:"turn"`  // "": of an undo
	Call      string            `json:"call"`  // the tool call; "": an undo
	Tool      string            `json:"tool"`  // its name; undo, redo; the jobs
	About     string            `json:"about"` // the path or the command
	Time      time.Time         `json:"time"`
	Changes   int               `json:"changes"` // paths
	Paths     []string          `json:"paths"`   // some of them
	Uncovered []event.Uncovered `json:"uncovered"`
	State     string            `json:"state"` // done; undone; part: some of it is; left: an undo could take nothing of it back; pruned: it is not kept, or not any more
	Undo      bool              `json:"undo"`
	Targets   []string          `json:"targets"` // of an undo
	Jobs      []string          `json:"jobs"`    // that were at work while this changed outside any call, see [event.CheckpointClosed]; else none
	Killed    bool              `json:"killed"`  // the process was, so others may have changed some of it since

	reach  effect // of an undo: what it does to its targets while it is in force
	base   effect // what undos that changed no file made of it; they are in no list
	is     effect // what the undos after it made of it
	cut    bool   // an undo that did not come to its end
	unkept bool   // nothing of the workspace was kept, so that nobody knows what was changed
}

// effect is what undos make of an entry.
type effect struct {
	taken uint8 // how much of it is taken back
	rest  bool  // what was left alone can't be had by asking again
	none  bool  // and that is all there is: nothing was taken back
}

// How much of an entry is taken back.
const (
	takenNone  = iota // it is in force
	takenPart         // the rest can be asked for
	takenWhole        // there is nothing to ask for
)

// and puts two effects on the same entry together. Where one has taken all of it back, the other came before that.
func (e effect) and(o effect) effect {
	if whole := (effect{taken: takenWhole}); e == whole || o == whole {
		return whole
	}
	none := e.none && (o.none || o.taken == takenNone) || o.none && e.taken == takenNone
	return effect{max(e.taken, o.taken), e.rest || o.rest, none}
}

// on is what an undo does to its targets, where e is what became of the undo.
func (e effect) on(reach effect) effect {
	switch e.taken {
	case takenWhole:
		return effect{rest: e.rest}
	case takenPart:
		return effect{min(reach.taken, takenPart), reach.rest || e.rest, reach.none}
	}
	return effect{reach.taken, reach.rest || e.rest, reach.none}
}

// state says it as [Entry] does.
func (e effect) state() string {
	switch {
	case e.none:
		return StateLeft
	case e.taken == takenPart || e.rest:
		return StatePart
	case e.taken == takenWhole:
		return StateUndone
	}
	return StateDone
}

// reached is what an undo did to its targets. What was never kept can't come back however often one asks; so the undo is whole
// without it, and without a folder that something has come into.
func reached(p event.UndoCompleted, changed bool) effect {
	open := p.Interrupted || p.Left > len(p.Conflicts) && len(p.Conflicts) < maxListed
	out := effect{taken: takenWhole, none: !changed && len(p.Conflicts) > 0}
	for _, c := range p.Conflicts {
		open = open || remains(c)
		out.rest = out.rest || c.Why == whyNotEmpty
	}
	switch {
	case open && changed:
		return effect{taken: takenPart}
	case open:
		return effect{}
	}
	return out
}

// remains tells whether a path that was left alone can be asked for once more.
func remains(c event.Conflict) bool { return c.Why != whyNotKept && c.Why != whyNotEmpty }

// effects says what became of every entry if those that are taken were taken back now. An entry depends on newer ones alone.
func effects(list []Entry, at map[string]int, taken map[int]bool) []effect {
	out := make([]effect, len(list))
	for i, e := range slices.Backward(list) {
		out[i] = out[i].and(e.base)
		if taken[i] {
			out[i] = effect{taken: takenWhole}
		}
		for _, id := range e.Targets {
			if t, ok := at[id]; ok {
				out[t] = out[t].and(out[i].on(e.reach))
			}
		}
	}
	return out
}

// places says where in a list every entry is.
func places(list []Entry) map[string]int {
	at := make(map[string]int, len(list))
	for i, e := range list {
		at[e.ID] = i
	}
	return at
}

// States of an [Entry].
const (
	StateDone   = "done"
	StateUndone = "undone"
	StatePart   = "part"
	StateLeft   = "left"
	StatePruned = "pruned"
)

// List reads the facts of a task, in order, and gives its changes, the newest last. kept tells which checkpoints there are
// still.
func List(facts iter.Seq2[event.Fact, error], kept map[string]bool) ([]Entry, error) {
	type call struct{ tool, about string }
	calls := map[string]call{}
	taken := map[string]event.Fact{}
	undos := map[string]event.UndoStarted{}
	jobs := map[string]string{} // their commands
	var out []Entry
	find := func(id string) *Entry {
		if i := slices.IndexFunc(out, func(e Entry) bool { return e.ID == id }); i >= 0 {
			return &out[i]
		}
		return &Entry{}
	}
	for f, err := range facts {
		if err != nil {
			return nil, err
		}
		switch p := f.Data.(type) {
		case event.ToolDecided:
			c := call{tool: p.Name, about: p.Preview}
			if len(p.Effects) > 0 {
				c.about = p.Effects[0].Target
			}
			calls[f.Subject] = c
		case event.JobStarted:
			jobs[p.Job] = p.Command
		case event.CheckpointTaken:
			taken[f.Subject] = f
		case event.UndoStarted:
			undos[f.Subject] = p
		case event.CheckpointClosed:
			unkept := slices.ContainsFunc(p.LeftOut, event.Uncovered.Whole)
			if len(p.Changes) == 0 && !unkept {
				continue
			}
			was := taken[f.Subject]
			t, _ := was.Data.(event.CheckpointTaken)
			e := Entry{
				ID: f.Subject, Task: f.Scope.Task, Turn: was.Scope.Turn, Call: t.Call, Tool: calls[t.Call].tool, About: calls[t.Call].about,
				Time: f.Time, Changes: len(p.Changes) + p.More, Paths: []string{}, Uncovered: p.LeftOut, State: StateDone, Targets: []string{}, Jobs: []string{}, Killed: p.Killed, unkept: unkept,
			}
			if len(p.Jobs) > 0 {
				e.Jobs, e.Tool = p.Jobs, strings.Join(p.Jobs, ", ")
				if len(p.Jobs) == 1 {
					e.About = jobs[p.Jobs[0]]
				}
			}
			if u, ok := undos[f.Subject]; ok {
				if e.Undo, e.Targets, e.Tool = true, u.Targets, "undo"; u.Redo {
					e.Tool = "redo"
				}
			}
			for _, c := range p.Changes[:min(len(p.Changes), maxNoted)] {
				e.Paths = append(e.Paths, c.Path)
			}
			if e.Uncovered == nil {
				e.Uncovered = []event.Uncovered{}
			}
			out = append(out, e)
		case event.UndoCompleted:
			own := find(f.Subject)
			own.cut, own.reach = p.Interrupted, reached(p, own.ID != "")
			if own.ID != "" {
				continue
			}
			for _, id := range p.Targets { // it is in force for good: nothing is there to take back
				t := find(id)
				t.base = t.base.and(own.reach)
			}
		}
	}
	for i, is := range effects(out, places(out), nil) {
		e := &out[i]
		if e.is, e.State = is, is.state(); e.unkept || !kept[e.ID] && is.taken != takenWhole {
			e.State = StatePruned
		}
	}
	return out, nil
}

// What is wrong with a wish for an undo.
var (
	ErrNothing = errors.New("nothing is left to undo")
	ErrNoRedo  = errors.New("nothing was undone")
	// ErrUnkept is of a change that was made while nothing of the workspace could be kept.
	ErrUnkept = errors.New("nothing of the workspace could be kept before this change, so it can't be undone")
)

// NoChangeError says that no change has an id.
type NoChangeError struct{ ID string }

// Error implements error.
func (e *NoChangeError) Error() string {
	return fmt.Sprintf("no change that can be undone is %s", e.ID)
}

// Wish says what is to be undone. The zero Wish is the last change, or the redo after it.
type Wish struct {
	To   string // back to before this change or redo: its id, or closing characters of it
	Turn bool   // all changes of the last turn that has any
	Redo bool   // the last undo
}

// Choose gives the ids of what a wish means, the newest first. An undo takes back the newest change or redo that is in force, and
// so on until what the wish names is taken back; a redo takes back the newest undo that is in force. An undo of the same that was
// cut short is among them, with all that it was to take back: what it has half done is like neither before nor after.
//
// What was changed while jobs were at work may be others' work: only to go back to before such a change takes any of them back.
//
// The error is [ErrUnkept] where that is, or has in it, a change of which nothing was kept. To go back to before an older one
// passes over these.
func Choose(list []Entry, w Wish) ([]string, error) {
	list = slices.Clone(list)
	reopened := map[int]bool{}
	for i, e := range list { // what was left alone for what stood in its way can be asked for by name, once that is gone
		if w.To != "" && e.stands() && e.is.taken == takenWhole && e.is.rest && e.named(w.To) {
			list[i].is.taken, reopened[i] = takenPart, true
		}
	}
	if w.Redo {
		for i, e := range slices.Backward(list) {
			if e.Tool == "undo" && e.is.taken != takenWhole {
				return finish(list, map[int]bool{i: true}), nil
			}
			if !e.Undo && len(e.Jobs) == 0 { // a change after an undo leaves nothing to redo
				break
			}
		}
		return nil, ErrNoRedo
	}
	goal, err := goals(list, w)
	if err != nil {
		return nil, err
	}
	at, now := places(list), make([]effect, len(list))
	for i, e := range list {
		now[i] = e.is
	}
	chosen, passed := map[int]bool{}, map[int]bool{}
	for i, e := range slices.Backward(list) {
		if !slices.ContainsFunc(goal, func(i int) bool { return now[i].taken != takenWhole }) {
			break
		}
		switch {
		case !e.stands() || now[i].taken == takenWhole || len(e.Jobs) > 0 && len(list[goal[0]].Jobs) == 0:
			continue
		case e.unkept && w.To == "":
			return nil, ErrUnkept
		case !e.unkept:
			chosen[i] = true
		}
		passed[i] = true
		now = effects(list, at, passed)
		for i := range reopened {
			if !passed[i] {
				now[i].taken = takenPart
			}
		}
	}
	return finish(list, chosen), nil
}

// named tells whether a text is the entry's id, or closing characters of it.
func (e *Entry) named(text string) bool {
	return e.ID == text || len(text) >= 3 && strings.HasSuffix(e.ID, text)
}

// stands tells whether an entry is one that an undo takes back: a change or a redo.
func (e *Entry) stands() bool { return e.Tool != "undo" || !e.Undo }

// goals gives the places of what must be taken back for a wish.
func goals(list []Entry, w Wish) ([]int, error) {
	var last int
	find := func(f func(e Entry) bool) (out []int) {
		for i, e := range list {
			if e.stands() && e.is.taken != takenWhole && f(e) {
				out, last = append(out, i), i
			}
		}
		return out
	}
	switch {
	case w.To != "":
		if len(find(func(e Entry) bool { return e.named(w.To) })) == 0 {
			return nil, &NoChangeError{w.To}
		}
		if list[last].unkept {
			return nil, ErrUnkept
		}
	case len(find(func(e Entry) bool { return len(e.Jobs) == 0 && (!w.Turn || !e.Undo) })) == 0:
		return nil, ErrNothing
	case w.Turn:
		turn := list[last].Turn
		return find(func(e Entry) bool { return len(e.Jobs) == 0 && !e.Undo && e.Turn == turn }), nil
	}
	return []int{last}, nil
}

// finish adds to what is chosen the undos of it that were cut short, and gives the ids in order.
func finish(list []Entry, chosen map[int]bool) (out []string) {
	at := places(list)
	for i, e := range slices.Backward(list) {
		if e.cut && e.is.taken != takenWhole && slices.ContainsFunc(e.Targets, func(id string) bool { t, ok := at[id]; return ok && chosen[t] }) {
			chosen[i] = true
			for _, id := range e.Targets {
				if t, ok := at[id]; ok {
					chosen[t] = true
				}
			}
		}
	}
	for i, e := range slices.Backward(list) {
		if chosen[i] && e.is.taken != takenWhole {
			out = append(out, e.ID)
		}
	}
	return out
}
