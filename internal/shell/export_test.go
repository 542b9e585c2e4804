package shell

import "strings"

// For tests of what is only used inside.
const (
	Kept       = keptEach
	MaxCommand = maxCommand
)

// Clean is the cleaner for a text that is there as a whole.
func Clean(b []byte) string {
	var out strings.Builder
	c := cleaner{emit: func(s string) { out.WriteString(s) }}
	c.write(b)
	c.flush()
	return out.String()
}
