package workspace

import "io"

// Head reads the first bytes of a regular file, at most max, and says how large it is. The error is a *PathError.
func (t *Tree) Head(rel string, max int64) (data []byte, size int64, err error) {
	real, err := t.Resolve(rel)
	if err != nil {
		return nil, 0, err
	}
	f, info, err := t.open(rel, real)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, max)); err != nil {
		return nil, 0, failed(rel, err)
	}
	return data, info.Size(), nil
}
