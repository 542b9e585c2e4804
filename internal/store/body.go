package store

import (
	"encoding/binary"
	"errors"
)

// A body's part list is kept as runs of consecutive part ids: for each run the distance of its first id from the end of
// the run before (a signed varint; the first run counts from 0), then its length (an unsigned varint), as encoding/binary
// writes them. Ids are given out in order, so that a request costs about two bytes for each step before it.

// appendRuns writes a list of part ids.
func appendRuns(out []byte, ids []int64) []byte {
	end := int64(0)
	for i := 0; i < len(ids); {
		n := 1
		for i+n < len(ids) && ids[i+n] == ids[i]+int64(n) {
			n++
		}
		out = binary.AppendVarint(out, ids[i]-end)
		out = binary.AppendUvarint(out, uint64(n))
		end = ids[i] + int64(n)
		i += n
	}
	return out
}

var errRuns = errors.New("a list of parts is damaged")

// run is a number of consecutive part ids.
type run struct{ first, n int64 }

// readRuns reads what appendRuns wrote.
func readRuns(list []byte) ([]run, error) {
	var out []run
	end := int64(0)
	for len(list) > 0 {
		by, k := binary.Varint(list)
		if k <= 0 {
			return nil, errRuns
		}
		n, m := binary.Uvarint(list[k:])
		if m <= 0 || n == 0 || n > 1<<31 || by > 1<<40 || by < -(1<<40) || end+by < 0 {
			return nil, errRuns
		}
		out = append(out, run{end + by, int64(n)})
		end += by + int64(n)
		list = list[k+m:]
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
