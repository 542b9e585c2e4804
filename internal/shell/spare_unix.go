//go:build unix && !linux

package shell

// spare is never there: a shell that has no memory without a name gets its command as an argument.
type spare struct{}

func (*Session) prepare() {}

func (*Session) prepared(Options) *Held { return nil }

func (*Session) drop() {}
