package app

import (
	"slices"
	"testing"

	"overt/internal/config"
	"overt/internal/tool/builtin"
)

// TestToolSets: the sets that settings may name are those that there are.
func TestToolSets(t *testing.T) {
	if a, b := config.ToolSets(), builtin.Sets(); !slices.Equal(a, b) {
		t.Errorf("settings name %q, the tools come in %q", a, b)
	}
	for _, set := range builtin.Sets() {
		if len(builtin.Tools(builtin.Options{}, set)) == 0 {
			t.Errorf("the set %s is empty", set)
		}
	}
}
