package shell

// For tests of what is only used inside.
const (
	Kept       = keptEach
	MaxCommand = maxCommand
)

// Unquote and Quote are for tests of what is only used inside.
func Unquote(s string) (string, bool) { return unquote(s) }

// Quote is the opposite of Unquote.
func Quote(s string) string { return quote(s) }

// Declared names the variables that a text declares.
func Declared(s string) (out []string) {
	for _, d := range declarations(s) {
		out = append(out, d.name)
	}
	return out
}
