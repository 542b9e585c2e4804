package main

import "testing"

// TestPrefix: every request of a task begins with the one before it, so that a server's cache of prefixes is of use.
func TestPrefix(t *testing.T) {
	s := startStrictFunc(t, job)
	p := jobPlace(newPlace(t))
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "go").want(t, 0)
	p.run("-u", s.URL, "-m", "strict", "--permission", "full", "--continue", "and once more").want(t, 0)
	s.valid(t)
	list := s.exchanges()
	if len(list) != jobSteps+2 {
		t.Fatalf("%d requests, want %d", len(list), jobSteps+2)
	}
	for i := 1; i < len(list); i++ {
		if !extends(list[i].Request, list[i-1].Request) {
			t.Errorf("request %d does not extend the one before:\n%s\n%s", i+1, list[i-1].Request, list[i].Request)
		}
	}
	for step, n := range jobEffects(p) {
		if n != 1 {
			t.Errorf("step %s took effect %d times", step, n)
		}
	}
}
