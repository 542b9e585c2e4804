package policy

import (
	"bytes"
	"encoding/binary"
)

// Kinds of entries of an index (gitformat-index(5)).
const (
	indexFolder = 0o040000 // stands for all that is in it
	indexLink   = 0o160000 // a repository of its own
)

// gitlinks gives the paths in an index of Git at which it has other repositories, with hashes of so many bytes; false: it is not
// all there is, or nobody can read it.
func gitlinks(data []byte, hash int) ([]string, bool) {
	const head = 12
	if len(data) < head+hash || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	var (
		out  []string
		name []byte
		rest = data[head : len(data)-hash]
	)
	for range count {
		size := 40 + hash + 2
		if len(rest) < size+2 {
			return nil, false
		}
		mode := binary.BigEndian.Uint32(rest[24:])
		if rest[size-2]&0x40 != 0 { // it has more flags
			if version == 2 {
				return nil, false
			}
			size += 2
		}
		from := rest[size:]
		if version == 4 { // the path is told by how it differs from the one before
			drop, n := indexNumber(from)
			if n == 0 || drop > len(name) {
				return nil, false
			}
			name, from, size = name[:len(name)-drop], from[n:], size+n
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(from, 0)
		if end < 0 {
			return nil, false
		}
		name = append(name, from[:end]...)
		if size += end + 1; version < 4 {
			size = (size + 7) &^ 7
		}
		if size > len(rest) {
			return nil, false
		}
		rest = rest[size:]
		switch mode & 0o170000 {
		case indexFolder:
			return nil, false
		case indexLink:
			out = append(out, string(name))
		}
	}
	for len(rest) > 0 { // extensions
		if len(rest) < 8 || string(rest[:4]) == "link" { // the rest of the entries is in another file
			return nil, false
		}
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return nil, false
		}
		rest = rest[8+size:]
	}
	return out, true
}

// indexNumber reads a number of version 4, as offsets are written in packs; n is how many bytes it takes, 0: it is none.
func indexNumber(data []byte) (value, n int) {
	for i, c := range data {
		if i > 3 {
			break
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}
