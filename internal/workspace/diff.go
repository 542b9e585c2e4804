package workspace

import (
	"bytes"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	maxDiffInput  = 4 << 20
	maxDiffOutput = 256 << 10
	// maxDiffWork bounds edits times bytes: laying out a unified diff takes time in proportion to it.
	maxDiffWork = 2 << 30
)

// Diff gives the unified diff of a file's content, with three lines of context. A nil before or after is a file that
// does not exist. Both are
// shown in UTF-8, by the encoding of before if there is one. It is "" where nothing differs, where
// either side is binary, and where the diff would be too large to be read (256 KiB) or to be made.
func Diff(name string, before, after []byte) string {
	if len(before)+len(after) > maxDiffInput {
		return ""
	}
	first := before
	if first == nil {
		first = after
	}
	_, enc, err := Decode(first)
	if err != nil {
		return ""
	}
	before, after = enc.decode(before), enc.decode(after)
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
		return ""
	}
	edits := udiff.Lines(string(before), string(after))
	if len(edits)*len(before) > maxDiffWork {
		return ""
	}
	from, to := "a/"+name, "b/"+name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	out, err := udiff.ToUnified(from, to, string(before), edits, udiff.DefaultContextLines)
	if err != nil || len(out) > maxDiffOutput {
		return ""
	}
	return strings.ToValidUTF8(out, "\uFFFD")
}
