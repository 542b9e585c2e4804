//go:build unix

package shell

// Drain is for tests of what is only used inside.
const Drain = drain
