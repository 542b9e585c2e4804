package store

import (
	"encoding/binary"
	"errors"
)

// A body's part list is kept as runs of consecutive part ids. Each entry is the distance of a run's first id from the end of
// the run before (a signed varint; the first run counts from 0), its length (an unsigned varint), and how many runs follow
// one another with this distance and length (an unsigned varint), as encoding/binary writes them. Ids are given out in
// order and steps resemble each other, so that a request costs a few bytes for each step that is unlike the one before it.

// maxParts is more than a request can have; a damaged list that claims more is refused before memory is taken for it.
const maxParts = 1 << 24

// appendRuns writes a list of part ids.
func appendRuns(out []byte, ids []int64) []byte {
	by, n, times := int64(0), int64(0), uint64(0)
	flush := func() {
		if times > 0 {
			out = binary.AppendVarint(out, by)
			out = binary.AppendUvarint(out, uint64(n))
			out = binary.AppendUvarint(out, times)
		}
	}
	end := int64(0)
	for i := 0; i < len(ids); {
		first := ids[i]
		from := i
		for i++; i < len(ids) && ids[i] == ids[i-1]+1; i++ {
		}
		if b, l := first-end, int64(i-from); b != by || l != n {
			flush()
			by, n, times = b, l, 0
		}
		times++
		end = ids[i-1] + 1
	}
	flush()
	return out
}

var errRuns = errors.New("a list of parts is damaged")

// run is a number of consecutive part ids.
type run struct{ first, n int64 }

// readRuns reads what appendRuns wrote.
func readRuns(list []byte) ([]run, error) {
	var out []run
	end, parts := int64(0), uint64(0)
	for len(list) > 0 {
		by, k := binary.Varint(list)
		if k <= 0 || by > 1<<40 || by < -(1<<40) {
			return nil, errRuns
		}
		list = list[k:]
		n, k := binary.Uvarint(list)
		if k <= 0 || n == 0 || n > maxParts {
			return nil, errRuns
		}
		list = list[k:]
		times, k := binary.Uvarint(list)
		if parts += n * times; k <= 0 || times == 0 || times > maxParts || parts > maxParts {
			return nil, errRuns
		}
		list = list[k:]
		for range times {
			first := end + by
			if first < 0 || first > 1<<50 {
				return nil, errRuns
			}
			out = append(out, run{first, int64(n)})
			end = first + int64(n)
		}
	}
	return out, nil
}

// idsOf gives the ids of runs one by one.
func idsOf(runs []run) []int64 {
	var out []int64
	for _, r := range runs {
		for id := r.first; id < r.first+r.n; id++ {
			out = append(out, id)
		}
	}
	return out
}
