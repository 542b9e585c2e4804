package policy

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// absent tells whether an error says that there is no such file.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// packages looks at managers of packages: they run scripts of the project and of what they fetch.
func (g *grader) packages(name string, args []arg) {
	command, rest := "", []arg(nil)
	for i, a := range args {
		if a.how != exact {
			g.add(Medium, RiskUnresolved)
		}
		if !a.option() {
			command, rest = a.text, args[i+1:]
			break
		}
		if name != "npm" && a.text != "-v" && a.text != "-q" { // logs, other interpreters, other settings
			g.add(Medium, RiskOption)
			if option, value, ok := strings.Cut(a.text, "="); ok && strings.HasPrefix("--log", option) {
				g.write(arg{text: value, how: a.how})
			}
		}
		if slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd", "--directory"}, a.text) && i+1 < len(args) {
			saved := g.at.clone()
			defer func() { g.at = saved }()
			g.chdir("cd", args[i+1:i+2])
			g.look(arg{text: "."})
			g.packages(name, args[i+2:])
			return
		}
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		if slices.ContainsFunc(rest, func(a arg) bool {
			_, value, _ := strings.Cut(a.text, "=")
			return outsideText(a.text) || outsideText(value)
		}) {
			g.add(Medium, RiskReads)
		}
		if name == "npm" && (command == "" || listsPackages(command) || command == "version" && len(rest) == 0) { // yarn and pnpm run what the project has for them
			return
		}
		g.npm(name, command, rest)
		return
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda", "mamba", "gem", "bundle", "composer":
		if slices.Contains([]string{"list", "show", "freeze", "check", "help", "licenses", "version"}, command) && slices.Contains([]string{"pip", "pip3", "gem", "conda", "mamba"}, name) &&
			!slices.ContainsFunc(rest, func(a arg) bool {
				return a.option() && (strings.Contains(a.text, "o") && a.text != "--format=json" && a.text != "--format=freeze" || a.text == "-r" || a.text == "-b" || a.text == "--remote")
			}) {
			return
		}
	}
	g.add(Medium, RiskProject)
	g.effect(Run, strings.TrimSpace(name+" "+command), false)
	switch command {
	case "install", "i", "add", "download", "sync", "update", "upgrade", "lock", "get", "restore", "fetch", "pip", "tool":
		g.network(Fetch, "")
		for _, a := range rest {
			if strings.Contains(a.text, "://") || slices.Contains([]string{"-g", "--user", "--global", "--system", "--break-system-packages", "-t", "--target", "--prefix", "--root", "--index-url", "-i", "--extra-index-url"}, a.text) {
				g.add(High, RiskOutside)
			}
		}
	case "publish", "upload", "push", "yank", "deploy", "login", "unpublish":
		g.network(Send, "")
	case "run", "exec":
		for i, a := range rest {
			if !a.option() {
				g.run(rest[i:])
				break
			}
		}
	}
	for _, a := range rest {
		g.suspect(a)
	}
}

// listsPackages names what only shows something.
func listsPackages(command string) bool {
	return slices.Contains([]string{"ls", "list", "ll", "la", "why", "explain", "root", "prefix", "bin", "help", "licenses", "query"}, command)
}

// npm looks at the commands of npm and its like: scripts of package.json, and those that installing runs.
func (g *grader) npm(name, command string, rest []arg) {
	g.effect(Run, strings.TrimSpace(name+" "+command), false)
	g.add(Medium, RiskProject)
	var scripts []string
	switch command {
	case "run", "run-script", "rum", "urn", "task":
		for _, a := range rest {
			if !a.option() {
				scripts = []string{a.text}
				break
			}
		}
	case "test", "t", "tst":
		scripts = []string{"test"}
	case "start", "stop", "restart":
		scripts = []string{command}
	case "publish", "unpublish", "deprecate", "login", "adduser", "token", "owner", "access", "dist-tag", "logout", "star":
		g.network(Send, "")
		scripts = []string{"prepublishOnly", "prepare", "publish"}
	case "install", "i", "ci", "add", "", "update", "up", "upgrade", "rebuild", "link", "dedupe", "audit", "remove", "uninstall", "rm", "un", "pack", "install-test", "it", "clean-install", "isntall":
		g.network(Fetch, "")
		scripts = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "prepack", "postpack"}
		for _, a := range rest {
			if a.text == "-g" || a.text == "--global" || a.text == "--location=global" {
				g.add(High, RiskOutside)
			}
			if strings.Contains(a.text, "://") || strings.HasPrefix(a.text, "git+") || strings.HasPrefix(a.text, "--registry") || strings.HasPrefix(a.text, "--script-shell") {
				g.add(High, RiskDownloaded)
			}
		}
	case "exec", "x", "dlx", "create", "init":
		g.fetchAndRun("npx", rest)
		if command == "dlx" || command == "create" || command == "init" && len(rest) > 0 && !rest[0].option() {
			g.add(High, RiskDownloaded)
		}
		return
	case "config", "set", "cache":
		g.add(Medium, RiskChanges)
	default:
		if name == "npm" {
			g.add(Medium, RiskUnknown)
			return
		}
		scripts = []string{command}
	}
	if g.fetched {
		g.add(High, RiskDownloaded)
	}
	g.npmScripts(scripts)
	for _, a := range rest {
		g.suspect(a)
	}
}

// npmScripts grades scripts of package.json, with what runs before and after them.
func (g *grader) npmScripts(names []string) {
	if g.files == nil {
		return
	}
	for _, d := range g.at.dirs {
		file := path.Join(d, "package.json")
		data, err := g.files.Script(file)
		if err != nil {
			continue
		}
		if slices.Contains(g.written, file) {
			g.add(High, RiskUnseen)
		}
		var p struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal(data, &p) != nil {
			g.add(Medium, RiskUnparsed)
			continue
		}
		for _, n := range names {
			for _, s := range []string{"pre" + n, n, "post" + n} {
				if text, ok := p.Scripts[s]; ok && !slices.Contains(g.making, file+":"+s) {
					g.nested(file+":"+s, text)
				}
			}
		}
	}
}
