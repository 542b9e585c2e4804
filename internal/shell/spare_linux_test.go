//go:build linux && (amd64 || arm64)

package shell

import (
	"os"
	"testing"
)

// TestSpareOfConfined: no shell is started ahead after a confined command, for which it would be of no use.
func TestSpareOfConfined(t *testing.T) {
	c := newConfined(t)
	s := NewSession(c.root, Environ(os.Environ()))
	defer s.Close()
	for _, box := range []*Sandbox{nil, c.box, nil} {
		h, err := s.Start(Options{Command: "true", Sandbox: box})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := h.Go(t.Context(), nil, nil); err != nil || o.Exit != 0 {
			t.Fatal(o, err)
		}
		s.prepare()
		s.spare.mu.Lock()
		if made := s.spare.held != nil; made != (box == nil) {
			t.Errorf("confined %v, a spare shell %v", box != nil, made)
		}
		s.spare.mu.Unlock()
	}
}
