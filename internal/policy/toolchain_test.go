package policy_test

import (
	"runtime"
	"testing"

	"overt/internal/policy"
)

// TestToolchain: go that a project has replaced by one from elsewhere is not only reading, whatever it is asked for.
func TestToolchain(t *testing.T) {
	for name, c := range map[string]struct {
		tree files
		want policy.Grade
	}{
		"none":               {files{}, policy.Low},
		"older":              {files{"go.mod": "module m\n\ngo 1.21\n\ntoolchain go1.21.3\n"}, policy.Low},
		"ours":               {files{"go.mod": "module m\ntoolchain " + runtime.Version() + "\n"}, policy.Low},
		"the default":        {files{"go.mod": "module m\ngo 1.21\ntoolchain default\n"}, policy.Low},
		"a comment":          {files{"go.mod": "module m\n// toolchain go1.999.0\n"}, policy.Low},
		"a newer one":        {files{"go.mod": "module m\n\tgo\t1.999 // x\n"}, policy.Medium},
		"a newer toolchain":  {files{"go.mod": "module m\ngo 1.21\ntoolchain go1.999.0\n"}, policy.Medium},
		"of a name":          {files{"go.mod": "module m\ngo 1.21\ntoolchain go1.21.0-mine\n"}, policy.Medium},
		"of no version":      {files{"go.mod": "module m\ntoolchain mine\n"}, policy.Medium},
		"of a workspace":     {files{"go.work": "go 1.999\n"}, policy.Medium},
		"what leads outside": {files{"go.mod": "->../../m"}, policy.Medium},
	} {
		for _, command := range []string{"go version", "go env GOPATH", "go list ./...", "go doc fmt", "go help"} {
			for _, dir := range []string{".", "sub"} {
				if r := policy.Command(command, dir, c.tree); r.Grade != c.want {
					t.Errorf("%s: %s in %s: %s %v", name, command, dir, r.Grade, r.Reasons)
				}
			}
		}
		risk := policy.Command("go test ./...", ".", c.tree)
		a := policy.Action{Tool: "run_command", Effects: []policy.Effect{{Kind: policy.Run, Target: "go test ./..."}}, Risk: &risk}
		if d := policy.Decide(policy.Rules{Profile: policy.Auto, Sandbox: true}, a); d.Confined != (c.want == policy.Low) {
			t.Errorf("%s: a test, which needs the network for it: %+v", name, d)
		}
	}
}
