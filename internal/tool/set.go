package tool

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"overt/internal/event"
)

// Set is the tools of a task, in the order in which the model is told of them. It does not change.
type Set struct {
	names   []string
	entries map[string]*entry
}

type entry struct {
	tool   Tool
	spec   event.ToolSpec
	schema func() (*schema, error) // parsed on first use: most tools of a run are never called
}

// validName tells whether every protocol takes the name. No pattern: compiling one at each start takes 0.2 ms.
func validName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// NewSet makes a set of tools; a bad or repeated name is an error that names it.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{entries: map[string]*entry{}}
	for _, t := range tools {
		spec := t.Spec()
		if !validName(spec.Name) {
			return nil, fmt.Errorf("tool name %q: want lower-case letters, digits and _, at most 64", spec.Name)
		}
		if s.entries[spec.Name] != nil {
			return nil, fmt.Errorf("two tools are named %s", spec.Name)
		}
		s.names = append(s.names, spec.Name)
		s.entries[spec.Name] = &entry{tool: t, spec: spec, schema: sync.OnceValues(func() (*schema, error) { return parseSchema(spec.Schema) })}
	}
	return s, nil
}

// Specs lists the tools as the model is told of them.
func (s *Set) Specs() []event.ToolSpec {
	out := make([]event.ToolSpec, len(s.names))
	for i, n := range s.names {
		out[i] = s.entries[n].spec
	}
	return out
}

// lookup finds a tool, or refuses with the names that there are.
func (s *Set) lookup(name string) (*entry, *Refusal) {
	if e := s.entries[name]; e != nil {
		return e, nil
	}
	names := slices.Sorted(slices.Values(s.names))
	return nil, &Refusal{CodeUnknownTool, fmt.Sprintf("there is no tool named %q; the tools are: %s", name, strings.Join(names, ", "))}
}
