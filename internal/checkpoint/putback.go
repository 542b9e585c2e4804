package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// PutBack puts back what has changed since [Keeper.Before] at the paths that match, and gives them. It is called before
// [Keeper.After], which then finds nothing changed there. match is also told whether the path is new, and of a folder before what is in it. left are paths that
// match and could not be put back.
func (k *Keeper) PutBack(ctx context.Context, id string, match func(path string, created bool) bool) (back, left []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.open
	switch {
	case o == nil || o.id != id:
		return nil, nil, fmt.Errorf("checkpoint %s is not open", id)
	case o.nothing:
		return nil, nil, nil
	}
	list, _, err := k.survey(ctx, o.paths)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, func(a, b difference) int { return strings.Compare(a.path, b.path) }) // a folder before what is in it
	p := &Plan{}
	for _, n := range list {
		if !n.changed() || !match(n.path, n.old == nil) {
			continue
		}
		s := step{path: n.path, want: n.before()}
		if s.have, s.stat, err = k.present(n.path); err != nil || s.want.kind == kindOther || s.want.hashed() && !s.want.kept {
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
