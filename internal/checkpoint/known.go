package checkpoint

import "path"

// Known gives the paths that match, of those that were there when the workspace was looked at last; none where it never was.
func (k *Keeper) Known(match func(path string) bool) (out []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index == nil {
		return nil
	}
	for dir, entries := range k.index.folders {
		for name := range entries {
			if p := path.Join(dir, name); match(p) {
				out = append(out, p)
			}
		}
	}
	return out
}
