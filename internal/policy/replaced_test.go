package policy_test

import (
	"testing"

	"overt/internal/policy"
)

// TestReplaced: a program that files of the project replace is one of the project's, whatever it is asked.
func TestReplaced(t *testing.T) {
	for file, command := range map[string]string{
		"rust-toolchain.toml": "rustc --version", "rust-toolchain": "cargo -V", "global.json": "dotnet --version", "package.json": "pnpm --version", "composer.json": "composer --version",
		".bundle/config": "bundle --version", "bin/rails": "rails --version", ".mvn/jvm.config": "mvn --version", "gradle.properties": "gradle --version", "tools/bazel": "bazel version",
		"conftest.py": "pytest --version", "toxfile.py": "tox --version",
	} {
		for _, dir := range []string{".", "sub"} {
			if r := policy.Command(command, dir, files{file: ""}); r.Grade != policy.Medium || len(r.Reasons) == 0 {
				t.Errorf("%q with %s in %s: %s", command, file, dir, r.Grade)
			}
			if r := policy.Command(command, dir, files{"other": ""}); r.Grade != policy.Low {
				t.Errorf("%q in %s: %s %v", command, dir, r.Grade, r.Reasons)
			}
		}
		if r := policy.Command("cd /elsewhere && "+command, ".", files{}); r.Grade == policy.Low {
			t.Errorf("%q elsewhere is low", command)
		}
	}
}
