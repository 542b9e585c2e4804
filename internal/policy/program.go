package policy

import "strings"

// namesProgram looks at what is given to a variable that names a program, or options by which a program runs others.
func (g *grader) namesProgram(name string, a arg) {
	if a.text == "" && a.how == exact {
		return
	}
	switch {
	case name == "PATH":
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
			if strings.HasPrefix(a.text, dir) || strings.Contains(a.text, ":"+dir) {
				g.add(High, RiskVariable) // anybody puts programs there
			}
		}
	case strings.HasPrefix(name, "GIT_CONFIG") && name != "GIT_CONFIG_NOSYSTEM" && a.text != "/dev/null":
		g.add(High, RiskVariable)
	case holdsCommand(name):
		if text := strings.TrimLeft(a.text, "|-"); text != "" || a.how == unknown {
			g.shellText(arg{text: text, how: a.how})
		}
	default:
		for _, w := range codeOptions(name) {
			if a.how == unknown || strings.Contains(a.text, w) {
				g.add(High, RiskVariable)
			}
		}
	}
}

// holdsCommand tells whether programs run what stands in a variable of that name.
func holdsCommand(name string) bool {
	switch name {
	case "VISUAL", "BROWSER", "CC", "CXX", "LESSOPEN", "LESSCLOSE":
		return true
	}
	for _, suffix := range []string{"PAGER", "EDITOR", "_WRAPPER", "_RSH"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// codeOptions gives what stands in the options that a variable holds for a program where these make it run other code.
func codeOptions(name string) []string {
	switch name {
	case "GOFLAGS":
		return []string{"exec", "vettool", "overlay"}
	case "NODE_OPTIONS":
		return []string{"-r", "import", "loader"}
	case "PERL5OPT", "RUBYOPT":
		return []string{"-M", "-m", "-r", "-I", "-d"}
	case "PYTHONSTARTUP":
		return []string{""}
	case "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS":
		return []string{"agent"}
	case "TAR_OPTIONS":
		return []string{"command", "action", "prog", "-I", "-F"}
	case "MAKEFLAGS":
		return []string{"eval", "-f"}
	}
	return nil
}
