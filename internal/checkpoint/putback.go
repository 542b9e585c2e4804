package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"overt/internal/event"
)

// Watch knows the changes that a confined command may not make, since others run or obey later what it has made. Paths are
// relative to the workspace.
type Watch struct {
	// May tells by a path alone whether a change of it may be such.
	May func(path string) bool
	// Planted tells which of the changes that may be such are. A folder comes before what is in it; there tells whether
	// something stands at a path now.
	Planted func(changes []event.Change, there func(path string) bool) []bool
}

// PutBack puts back, where [Options].Watch says so, what has changed since [Keeper.Before], and gives these paths. It is called
// before [Keeper.After], which then finds nothing changed there. left are such paths that could not be put back.
func (k *Keeper) PutBack(ctx context.Context, id string) (back, left []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.open
	switch {
	case o == nil || o.id != id:
		return nil, nil, fmt.Errorf("checkpoint %s is not open", id)
	case o.nothing:
		return nil, nil, nil
	}
	return k.putBack(ctx, id, o.paths)
}

func (k *Keeper) putBack(ctx context.Context, id string, paths []string) (back, left []string, err error) {
	list, _, err := k.survey(ctx, paths)
	if errors.Is(err, errMany) {
		list, err = k.surveyWatched(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	p := &Plan{}
	for _, n := range k.planted(list) {
		s := step{path: n.path, want: n.before()}
		if s.have, s.stat, err = k.present(ctx, n.path, s.want.hashed()); err != nil || s.want.kind == kindOther || s.want.hashed() && !s.want.kept {
			left = append(left, n.path)
			continue
		}
		p.steps = append(p.steps, s)
		back = append(back, n.path)
	}
	if len(p.steps) == 0 {
		return nil, left, nil
	}
	done, err := k.restore(ctx, id, p)
	if err != nil {
		return nil, append(left, back...), err
	}
	for _, c := range done.Conflicts {
		if i := slices.IndexFunc(back, func(b string) bool { return recorded(b) == c.Path }); i >= 0 {
			left, back = append(left, back[i]), slices.Delete(back, i, i+1)
		}
	}
	slices.Sort(back)
	slices.Sort(left)
	return back, left, nil
}

// surveyWatched finds in a workspace that has too many paths what may be planted. It takes no more room for many than for few,
// and less time than it took to make them.
func (k *Keeper) surveyWatched(ctx context.Context) ([]difference, error) {
	if k.o.Watch.May == nil {
		return nil, nil
	}
	s, err := k.scan(ctx, k.o.Watch.May)
	if err != nil {
		return nil, err
	}
	return k.read(ctx, s.found)
}

// planted chooses from what was found what a confined command may not make.
func (k *Keeper) planted(list []difference) []difference {
	if k.o.Watch.May == nil {
		return nil
	}
	var may []difference
	for _, n := range list {
		if n.changed() && k.o.Watch.May(n.path) {
			may = append(may, n)
		}
	}
	slices.SortFunc(may, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	changes := make([]event.Change, len(may))
	for i, n := range may {
		changes[i] = n.change()
		changes[i].Path = n.path
	}
	is := k.o.Watch.Planted(changes, func(path string) bool {
		s, err := k.stat(path)
		return err != nil || s.kind != kindNone
	})
	var out []difference
	for i, n := range may {
		if is[i] {
			out = append(out, n)
		}
	}
	return out
}
