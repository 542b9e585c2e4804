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
	// Read gives the content of a file of the workspace, or an error that is fs.ErrNotExist if there is none.
	Read func(name string) ([]byte, error)
}

// Gather implements [prompt.Source]. No file, or an empty one, offers nothing.
func (a Agents) Gather(context.Context) ([]prompt.Fragment, error) {
	data, err := a.Read(AgentsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", AgentsFile, err)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if text == "" {
		return nil, nil
	}
	reason := "root"
	if len(text) > maxText {
		n := maxText
		for !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n] + fmt.Sprintf("\n(cut here: %d bytes in all; read the file for the rest)", len(data))
		reason = "root, cut"
	}
	return []prompt.Fragment{{
		Source: "instructions", Name: AgentsFile, Version: prompt.Version(text), Reason: reason,
		Place: prompt.PlaceHead, Text: text, Priority: 50, Untrusted: true,
	}}, nil
}
