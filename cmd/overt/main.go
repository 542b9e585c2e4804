// Command overt is a local coding agent whose every step is in the open. See README.md and `overt --help`.
package main

import (
	"os"

	"overt/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Process()))
}
