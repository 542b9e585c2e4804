package policy

// replaced looks for files by which a project chooses what a program does before it does anything, even say its version: another
// program in its place, or code that it loads.
func (g *grader) replaced(program string) {
	var names string
	switch program {
	case "go":
		g.toolchain()
		return
	case "cargo", "rustc", "rustdoc", "rustfmt":
		names = "rust-toolchain rust-toolchain.toml"
	case "dotnet":
		names = "global.json"
	case "pnpm", "yarn", "corepack":
		names = "package.json"
	case "composer":
		names = "composer.json"
	case "bundle":
		names = ".bundle Gemfile.lock gems.locked"
	case "rails":
		names = "bin/rails script/rails"
	case "mvn":
		names = ".mvn"
	case "gradle":
		names = "gradle.properties"
	case "bazel":
		names = "tools/bazel .bazelversion .bazeliskrc"
	case "pytest":
		names = "conftest.py pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg"
	case "tox":
		names = "toxfile.py tox.ini pyproject.toml setup.cfg"
	default:
		return
	}
	found := false
	if !g.upward(func(dir string) { found = found || g.thereAny(dir, names) }) || found {
		g.add(Medium, RiskProject)
		g.effect(Run, program, false)
	}
}
