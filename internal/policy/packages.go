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
		if slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd", "--directory"}, a.text) && i+1 < len(args) {
			saved := g.at.clone()
			defer func() { g.at = saved }()
			g.chdir("cd", args[i+1:i+2])
			g.packages(name, args[i+2:])
			return
		}
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		if command == "" && name != "yarn" || listsPackages(command) {
			return
		}
		g.npm(name, command, rest)
		return
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda", "mamba", "gem", "bundle", "composer":
		if slices.Contains([]string{"list", "show", "freeze", "check", "help", "outdated", "info", "licenses", "env", "version"}, command) && name != "conda" && (name != "uv" || command == "version") && (name != "poetry" || command != "env") {
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
	return slices.Contains([]string{"ls", "list", "ll", "la", "outdated", "why", "explain", "root", "prefix", "bin", "help", "licenses", "version", "fund", "query", "pkg"}, command)
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

// make looks at the rules of a makefile that the targets need.
func (g *grader) make(args []arg) {
	var targets, files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a.text, "=")
		takes := func() string {
			if i+1 < len(args) {
				i++
				return args[i].text
			}
			return ""
		}
		switch {
		case a.how != exact:
			g.add(Medium, RiskUnresolved)
		case a.text == "-f" || a.text == "--file" && !joined || a.text == "--makefile" && !joined:
			files = append(files, takes())
		case name == "--file" || name == "--makefile":
			files = append(files, value)
		case a.text == "-C" || a.text == "--directory" && !joined:
			saved := g.at.clone()
			defer func() { g.at = saved }()
			g.chdir("cd", []arg{{text: takes()}})
		case a.text == "--eval", a.text == "-E", name == "--eval":
			g.add(High, RiskUnseen)
		case strings.HasPrefix(a.text, "-I"), a.text == "-j", a.text == "-l", a.text == "-o", a.text == "-W":
		case strings.HasPrefix(a.text, "-"):
		case joined:
			if name == "SHELL" || name == ".SHELLFLAGS" {
				g.add(High, RiskUnseen)
			}
			g.variable(name, true)
			if strings.ContainsAny(value, "$`;|&") {
				g.add(High, RiskUnseen)
			}
		default:
			targets = append(targets, a.text)
		}
	}
	g.effect(Run, strings.TrimSpace("make "+strings.Join(targets, " ")), false)
	g.add(Medium, RiskProject)
	if g.fetched {
		g.add(High, RiskDownloaded)
	}
	if len(files) == 0 {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	for _, d := range g.at.dirs {
		g.makefile(d, files, targets)
	}
}

// makefile reads the first of the files that is there.
func (g *grader) makefile(dir string, files, targets []string) {
	if g.files == nil {
		return
	}
	for _, f := range files {
		if !path.IsAbs(f) {
			f = path.Join(dir, f)
		}
		if slices.Contains(g.written, f) {
			g.add(High, RiskUnseen)
			return
		}
		data, err := g.files.Script(f)
		if err != nil {
			continue
		}
		m := parseMakefile(string(data))
		if len(targets) == 0 {
			targets = []string{m.first}
		}
		for _, text := range m.recipes(targets) {
			if !slices.Contains(g.making, f+":"+text) {
				g.nested(f+":"+text, text)
			}
		}
		for _, text := range m.always {
			g.nested(f+":"+text, text)
		}
		return
	}
	g.add(Medium, RiskUnresolved)
}

// makefile is what is read of a makefile (GNU make manual, "Makefile contents"): its rules, plain variables, and what
// runs whenever it is read.
type makefile struct {
	first  string
	rules  map[string]*makeRule
	vars   map[string]string
	always []string
}

type makeRule struct{ needs, lines []string }

func parseMakefile(text string) *makefile {
	m := &makefile{rules: map[string]*makeRule{}, vars: map[string]string{}}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	var current []*makeRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, r := range current {
				r.lines = append(r.lines, recipe)
			}
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m.shells(line)
		name, value, ok := assignment(line)
		if ok {
			m.vars[name] = value
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		needs, recipe, inline := strings.Cut(strings.TrimLeft(rest, ":"), ";")
		current = nil
		for target := range strings.FieldsSeq(m.expand(head)) {
			r := m.rules[target]
			if r == nil {
				r = &makeRule{}
				m.rules[target] = r
			}
			r.needs = append(r.needs, strings.Fields(m.expand(needs))...)
			if inline {
				r.lines = append(r.lines, recipe)
			}
			current = append(current, r)
			if m.first == "" && !strings.HasPrefix(target, ".") {
				m.first = target
			}
		}
	}
	return m
}

// assignment reads "NAME = VALUE" with any of make's operators.
func assignment(line string) (name, value string, ok bool) {
	i := strings.IndexByte(line, '=')
	if i < 0 || strings.Contains(strings.TrimRight(line[:i], ":?+! "), ":") {
		return "", "", false
	}
	name = strings.TrimSpace(strings.TrimRight(line[:i], ":?+! "))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "export "), "override ")
	return name, strings.TrimSpace(line[i+1:]), name != "" && !strings.ContainsAny(name, " \t")
}

// shells finds $(shell …) and NAME != …, which run when the file is read.
func (m *makefile) shells(line string) {
	rest := line
	for {
		_, after, ok := strings.Cut(rest, "$(shell ")
		if !ok {
			break
		}
		depth, end := 1, 0
		for end < len(after) && depth > 0 {
			switch after[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
			end++
		}
		m.always = append(m.always, m.expand(strings.TrimSuffix(after[:end], ")")))
		rest = after[end:]
	}
	if i := strings.Index(line, "!="); i > 0 {
		if _, value, ok := assignment(line); ok {
			m.always = append(m.always, m.expand(value))
		}
	}
}

// expand puts in the values of plain variables; "$$" is left for the shell. What is not known becomes a variable of the
// shell, so that nobody takes it for known.
func (m *makefile) expand(text string) string {
	for range maxNesting {
		var b strings.Builder
		changed := false
		for i := 0; i < len(text); i++ {
			if text[i] != '$' || i+1 >= len(text) {
				b.WriteByte(text[i])
				continue
			}
			i++
			switch c := text[i]; c {
			case '$':
				b.WriteString("$$")
			case '(', '{':
				end := strings.IndexAny(text[i:], ")}")
				if end < 0 {
					b.WriteString("${_make}")
					return b.String()
				}
				name := text[i+1 : i+end]
				i += end
				if v, ok := m.vars[name]; ok {
					b.WriteString(v)
					changed = true
				} else {
					b.WriteString("$${_make}")
				}
			default:
				b.WriteString("$${_make}") // automatic: $@, $<
			}
		}
		text = b.String()
		if !changed || len(text) > maxScript {
			break
		}
	}
	return text
}

// recipes gives the texts that making the targets runs.
func (m *makefile) recipes(targets []string) []string {
	var out []string
	seen := map[string]bool{}
	for len(targets) > 0 && len(seen) < maxCalls {
		t := targets[0]
		targets = targets[1:]
		r := m.rules[t]
		if r == nil || seen[t] {
			continue
		}
		seen[t] = true
		targets = append(slices.Clone(r.needs), targets...)
		for _, line := range r.lines {
			line = strings.TrimLeft(line, "@-+ \t")
			if text := strings.ReplaceAll(m.expand(line), "$$", "$"); text != "" && text[0] != '#' {
				out = append(out, text)
			}
		}
	}
	return out
}
