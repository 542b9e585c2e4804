// Command overt is a local coding agent whose every step is in the open. See README.md and `overt --help`.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"overt/internal/cli"
	"overt/internal/shell"
)

func main() {
	if err := shell.Reexec(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	// The HTTP client logs what servers send out of turn, unmasked and whatever the output form; what matters of it is
	// in the record.
	log.SetOutput(io.Discard)
	os.Exit(cli.Main(os.Args[1:], cli.Process()))
}
