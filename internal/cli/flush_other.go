//go:build !linux

package cli

import "os"

// flushInput drops what was typed before a question; where the system offers no way, lines read so far are set aside.
func flushInput(*os.File) {}

// waiting is not known here.
func waiting(*os.File) int { return 0 }
