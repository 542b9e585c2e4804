//go:build race

package main

// raceEnabled: these tests run under the race detector, so the program does too.
const raceEnabled = true
