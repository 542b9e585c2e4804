package policy_test

import (
	"slices"
	"testing"

	"overt/internal/policy"
)

// TestHardLink: a secret is one under each of its names.
func TestHardLink(t *testing.T) {
	tree := files{"a.txt": "", "notes.txt": "=.env", "d/b.txt": ""}
	for command, want := range map[string]policy.Grade{
		"cat notes.txt": policy.Medium, "cat n*": policy.Medium, "cat /home/dev/app/notes.txt": policy.Medium, "grep x notes.txt": policy.Medium, "cat a.txt": policy.Low, "cat a*": policy.Low, "ls notes.txt": policy.Low,
	} {
		r := policy.Command(command, ".", tree)
		if r.Grade != want || (want == policy.Medium) != slices.Contains(r.Reasons, policy.RiskSecret) {
			t.Errorf("%q: %s %v", command, r.Grade, r.Reasons)
		}
	}
}
