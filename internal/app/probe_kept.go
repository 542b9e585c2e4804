package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"overt/internal/config"
)

// Measured is what is kept of a model behind an endpoint, and obeyed.
type Measured struct {
	Endpoint, Protocol, Model string
	At                        time.Time
	By                        string         // what measured it: probe (overt probe), first (before a first request), server (a refusal in a task)
	Quirks                    map[string]any // that differ from what is known of the server
	Images                    *bool
}

// Found words it: "no_effort true, images false"; "": nothing differs from what is known.
func (m Measured) Found() string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(m.Quirks)) {
		if text, err := json.Marshal(m.Quirks[name]); err == nil {
			found = append(found, name+" "+string(text))
		}
	}
	if m.Images != nil {
		found = append(found, fmt.Sprint("images ", *m.Images))
	}
	return strings.Join(found, ", ")
}

func (p probed) measured() Measured {
	m := Measured{Endpoint: p.Endpoint, Protocol: p.Protocol, Model: p.Model, At: p.At, By: p.By, Images: p.Images}
	if len(p.Quirks) > 0 {
		_ = json.Unmarshal(p.Quirks, &m.Quirks) // it was read before
	}
	return m
}

// Kept lists what is kept of the endpoint: of the model that the settings name, of all if they name none.
func Kept(c *config.Config, state string) ([]Measured, error) {
	files, err := os.ReadDir(probeFolder(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []Measured
	for _, f := range files {
		path := filepath.Join(probeFolder(state), f.Name())
		p, ok := readProbedFile(path)
		want := newProbed(c, p.Model, "")
		if ok && want.file(state) == path && p.Endpoint == want.Endpoint && p.Protocol == want.Protocol && (c.Model.Value == "" || c.Model.Value == p.Model) {
			out = append(out, p.measured())
		}
	}
	slices.SortFunc(out, func(a, b Measured) int { return strings.Compare(a.Model, b.Model) })
	return out, nil
}

// Forget forgets what [Kept] lists, and gives what it has forgotten.
func Forget(c *config.Config, state string) (gone []Measured, err error) {
	list, err := Kept(c, state)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if err := os.Remove(newProbed(c, m.Model, "").file(state)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, err
		}
		gone = append(gone, m)
	}
	return gone, nil
}
