// Package instruction offers the texts that tell the agent how to work in a workspace. In this version that is the
// AGENTS.md at its root.
//
// [Agents] is a prompt source. The package reads through a function that it is given and never writes.
package instruction

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"overt/internal/prompt"
)

// AgentsFile is the name of the file with project instructions.
const AgentsFile = "AGENTS.md"

// maxText bounds, in bytes, what is taken of one file.
const maxText = 32 << 10

// Agents offers the AGENTS.md at the root of the workspace, which says how to work there and grants nothing.
type Agents struct {
	// Read gives the first bytes of a file of the workspace, at most max, and its size. The error is fs.ErrNotExist if
	// there is none, and a [Withheld] if it may not be read.
	Read func(name string, max int64) (data []byte, size int64, err error)
}

// Withheld says why a file is not read; the turn goes on without it.
type Withheld string

// Error implements error.
func (w Withheld) Error() string { return string(w) }

// Gather implements [prompt.Source]. No file, or an empty one, offers nothing.
func (a Agents) Gather(context.Context) ([]prompt.Fragment, error) {
	data, size, err := a.Read(AgentsFile, maxText+utf8.UTFMax)
	var withheld Withheld
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &withheld):
		return a.offer(fmt.Sprintf("(%s was not read: %s)", AgentsFile, withheld), "withheld"), nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", AgentsFile, err)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if text == "" {
		return nil, nil
	}
	reason := "root"
	if size > int64(len(data)) || len(text) > maxText {
		n := min(len(text), maxText)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + fmt.Sprintf("\n(cut here: %d bytes in all; read the file for the rest)", size)
		reason = "root, cut"
	}
	return a.offer(text, reason), nil
}

func (Agents) offer(text, reason string) []prompt.Fragment {
	return []prompt.Fragment{{
		Source: "instructions", Name: AgentsFile, Version: prompt.Version(text), Reason: reason,
		Place: prompt.PlaceHead, Text: text, Priority: 50, Untrusted: true,
	}}
}
