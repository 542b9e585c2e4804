package shell

// For tests of what is only used inside.
const (
	Kept       = keptEach
	MaxCommand = maxCommand
)
