//go:build !linux

package cli

import "os"

// flushInput drops what was typed before a question; where the system offers no way, lines read so far are set aside.
func flushInput(*os.File) {}
