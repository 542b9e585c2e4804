//go:build race

package store_test

// raceEnabled: the race detector looks at how goroutines meet, and makes SQLite ten times slower. What tries the same code on ever more
// bytes is done in part then; every kind of case stays.
const raceEnabled = true
