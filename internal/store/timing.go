package store

import (
	"encoding/binary"
	"errors"
	"time"

	"overt/internal/wire"
)

// The times of a response are kept as unsigned varints, as encoding/binary writes them: the number of chunks, the length of
// each, then for each the microseconds since the chunk before (the first: since the request was sent). Lengths together
// and differences compress well; pairs of lengths and times do not. In the file a byte with the form of the rest comes first.

func appendTiming(out []byte, chunks []wire.Chunk) []byte {
	out = binary.AppendUvarint(out, uint64(len(chunks)))
	for _, c := range chunks {
		out = binary.AppendUvarint(out, uint64(c.Bytes))
	}
	last := int64(0)
	for _, c := range chunks {
		at := max(c.After.Microseconds(), last)
		out = binary.AppendUvarint(out, uint64(at-last))
		last = at
	}
	return out
}

// longest bounds the microseconds that are believed: a century, far from what a Duration can't hold.
const longest = 100 * 366 * 24 * 3600 * 1_000_000

var errTiming = errors.New("the times of a response are damaged")

func readTiming(data []byte) ([]wire.Chunk, error) {
	next := func() (uint64, bool) {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, false
		}
		data = data[n:]
		return v, true
	}
	n, ok := next()
	if !ok || n > uint64(len(data)) {
		return nil, errTiming
	}
	out := make([]wire.Chunk, n)
	for i := range out {
		v, ok := next()
		if !ok {
			return nil, errTiming
		}
		if v > maxValue {
			return nil, errTiming
		}
		out[i].Bytes = int(v)
	}
	var at uint64
	for i := range out {
		v, ok := next()
		if !ok {
			return nil, errTiming
		}
		if at += v; v > longest || at > longest {
			return nil, errTiming
		}
		out[i].After = time.Duration(at) * time.Microsecond
	}
	return out, nil
}
