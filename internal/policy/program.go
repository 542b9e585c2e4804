package policy

import (
	"slices"
	"strings"
)

// namesProgram looks at what is given to a variable that names a program, or options by which a program runs others.
func (g *grader) namesProgram(name string, a arg) {
	if a.text == "" && a.how == exact {
		return
	}
	g.through(name, a)
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

// project looks at what programs of the project's own tools do beside running its code: where they write, and what they
// send or destroy.
func (g *grader) project(name string, args []arg) {
	text := strings.ToLower(strings.Join(texts(args), " "))
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	changes := slices.ContainsFunc(args, func(a arg) bool {
		return slices.Contains([]string{"-w", "-i", "--write", "--fix", "--in-place"}, a.text)
	})
	n := 0
	for i, a := range args {
		option, value, joined := strings.Cut(a.text, "=")
		switch out := strings.HasPrefix(option, "--out") || option == "-o" || option == "--dest"; {
		case out && joined:
			g.write(arg{text: value, how: a.how})
		case out && i+1 < len(args):
			g.write(args[i+1])
		case strings.HasPrefix(a.text, "-o") && outsideText(a.text[2:]):
			g.write(arg{text: a.text[2:], how: a.how})
		case !a.option():
			if n++; n < 4 {
				g.act(name, a.text)
			}
			if outsideText(a.text) && (changes || i == len(args)-1 && slices.Contains([]string{"ffmpeg", "convert", "magick", "black", "isort"}, name)) {
				g.write(a)
			}
		}
		g.suspect(a)
	}
	switch name {
	case "sqlite3":
		if has("drop ", "delete ", "update ", "alter ", "replace ") {
			g.add(High, RiskDestroys)
		}
		if has(".sh", ".sy", ".o", ".im", ".lo", ".sa", ".ba", ".ex", "|", "writefile", "load_extension", "edit(") && has(" .", "writefile", "load_extension", "edit(") {
			g.add(High, RiskUnseen)
		}
	case "cmake":
		if strings.HasPrefix(text, "-e rm ") || strings.HasPrefix(text, "-e remove") {
			g.add(High, RiskDestroys)
		}
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		if has("-wrapper", "-fplugin", "-specs") {
			g.add(High, RiskUnseen)
		}
	case "cargo":
		if hostOf(args) == "install" || hostOf(args) == "uninstall" {
			g.add(High, RiskOutside)
		}
	case "serve", "http-server":
		g.network(Send, "")
	}
	if has("--expunge") {
		g.add(High, RiskDestroys)
	}
}

// act looks at an operand that may say what to do: to publish, or to throw data away.
func (g *grader) act(name, word string) {
	word = word[strings.LastIndexAny(word, ".:")+1:]
	switch word {
	case "publish", "deploy", "upload", "push", "login", "release", "yank":
		g.network(Send, "")
	case "drop", "reset", "flush", "purge", "dropAll", "downgrade", "down", "rollback":
		g.add(High, RiskDestroys)
	case "clean":
		if name == "flyway" {
			g.add(High, RiskDestroys)
		}
	}
}
