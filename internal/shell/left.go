package shell

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Sections of what a shell leaves, between two frames; NUL stands after each.
const (
	atOptions = iota
	atShopts
	atUmask
	atDir
	atArguments
	atVariables // of sh: exported ones, and all in the section after it
	atFunctions
	sections
)

const (
	// maxState bounds, in bytes, the variables that last, and the functions, and the arguments.
	maxState = 4 << 20
	// maxSheet bounds, in bytes, what a shell may write of its state; much more than what may last, so that it is known what is too large.
	maxSheet = 64 << 20
)

// loss is what a shell did not leave to its session.
type loss struct {
	all    bool     // anything that can be read
	large  bool     // what was too large: unkept, or all but the folder if that is empty
	unkept []string // names of variables; or what else, in words
}

// take makes what a shell left the state of the session. word frames it.
func (s *Session) take(left []byte, word string, bash bool) loss {
	frame := []byte(word + "\x00")
	i := bytes.Index(left, frame)
	if i < 0 {
		return loss{all: true}
	}
	part := strings.Split(string(left[i+len(frame):]), "\x00")
	if len(left) > maxSheet-maxState { // somewhere the shell could write no more, and may have gone on after that
		if len(part) <= atDir+1 || !strings.HasPrefix(part[atDir], "/") {
			return loss{all: true}
		}
		s.Move(strings.TrimSuffix(part[atDir], "\n"))
		return loss{large: true}
	}
	want := sections
	if !bash {
		want++
	}
	if len(part) != want+2 || part[want] != word { // the last one is empty
		return loss{all: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := remembered{dir: strings.TrimSuffix(part[atDir], "\n"), Known: Known{Vars: map[string]string{}}}
	b := builder{remembered: &next}
	b.bound(part, atArguments, "the arguments of set")
	b.line("umask " + strings.TrimSpace(part[atUmask]))
	if bash {
		b.set = `\builtin set `
		b.bound(part, atFunctions, "functions")
		b.bash(part)
	} else {
		b.set = `\set `
		b.sh(part)
	}
	b.environment(s.base)
	if !strings.HasPrefix(next.dir, "/") { // the folder is gone
		next.dir = cmp.Or(next.Vars["PWD"], s.at.dir)
	}
	next.restore = b.script.String()
	s.at = next
	s.turn++
	return loss{large: len(b.unkept) > 0, unkept: b.unkept}
}

// bound empties a section that is too large to last.
func (b *builder) bound(part []string, at int, what string) {
	if len(part[at]) > maxState {
		part[at] = ""
		b.unkept = append(b.unkept, what)
	}
}

// fitting leaves out the largest variables, as many as must be for the others to fit.
func (b *builder) fitting(all []declaration) []declaration {
	size := 0
	for _, d := range all {
		size += len(d.name) + len(d.value)
	}
	if size <= maxState {
		return all
	}
	largest := slices.SortedStableFunc(slices.Values(all), func(x, y declaration) int { return len(y.value) - len(x.value) })
	out := map[string]bool{}
	for _, d := range largest {
		if size <= maxState {
			break
		}
		size -= len(d.name) + len(d.value)
		out[d.name] = true
		if !dropped(d.name) {
			b.unkept = append(b.unkept, d.name)
		}
	}
	return slices.DeleteFunc(all, func(d declaration) bool { return out[d.name] })
}

// unlike stands among the options where some variable does not simply hold what it is given (declare -i, -l, -u, -c, -n).
const unlike = "attributes"

// builder makes a state of what a shell has printed.
type builder struct {
	*remembered
	script strings.Builder
	size   int    // of env
	set    string // the command of that name, as neither a function nor an alias stands before it
	unkept []string
}

func (b *builder) line(text string) { b.script.WriteString(text + "\n") }

// Bounds of the environment, in bytes; what is more is exported by the shell itself, and programs fail as they would
// in any shell. Linux takes no string over 128 KiB, and a quarter of the stack in all.
const (
	maxVariable    = 100 << 10
	maxEnvironment = 1 << 20
)

// variable adds a variable; exported says that it is that and nothing else.
func (b *builder) variable(d declaration, exported bool, line string) {
	value, plain := unquote(d.value)
	if d.set && plain {
		b.Vars[d.name] = value
	} else if d.set {
		b.Odd = append(b.Odd, d.name)
	}
	if kv := d.name + "=" + value; exported && d.set && plain && len(kv) <= maxVariable && b.size+len(kv) <= maxEnvironment && d.name != "BASH_ENV" && d.name != "ENV" {
		b.size += len(kv)
		b.env = append(b.env, kv)
		return
	}
	b.line(line)
}

func (b *builder) bash(part []string) {
	for _, d := range b.fitting(declarations(part[atVariables])) {
		if dropped(d.name) || ofBash(d) {
			continue
		}
		if strings.ContainsAny(d.flags, "niluc") && !slices.Contains(b.Options, unlike) {
			b.Options = append(b.Options, unlike)
		}
		if d.name == "BASH_ALIASES" {
			b.Aliases = aliases(d.value)
		}
		line := "declare -" + d.flags + " " + d.name
		if d.flags == "" {
			line = "declare -- " + d.name
		}
		if d.set {
			line += "=" + d.value
		}
		if d.name == "IFS" { // the gate itself reads words
			b.Vars["IFS"], _ = unquote(d.value)
			b.late += `\builtin ` + line + ";"
			continue
		}
		b.variable(d, d.flags == "x", line)
	}
	on := strings.Split(part[atShopts], ":")
	shopt := difference(on, "checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots hostcomplete interactive_comments patsub_replacement progcomp promptvars sourcepath", "-s ", "-u ")
	for _, o := range shopt {
		if o == "-s expand_aliases" {
			b.aliases = "shopt " + o + "\n"
			continue
		}
		b.line("shopt " + o)
	}
	set := difference(strings.Split(part[atOptions], ":"), "braceexpand hashall interactive-comments", "-o ", "+o ")
	b.options(shopt, set)
	if !slices.Contains(on, "expand_aliases") {
		b.Aliases = nil
	}
	b.late = b.set + "--" + part[atArguments] + ";" + b.late
	b.line("__overt_l=" + quote(b.late))
	b.Functions = part[atFunctions]
	b.script.WriteString(b.Functions)
}

// options takes over what is on in all, and makes what has to stand before the command: what would disturb the way there.
func (b *builder) options(shopt, set []string) {
	var last string
	for _, o := range set {
		switch name := o[3:]; name {
		case "noexec":
			continue
		case "xtrace", "verbose", "posix":
			last += b.set + o + ";"
		default:
			b.late += b.set + o + ";"
		}
	}
	b.late += last
	for _, o := range slices.Concat(shopt, set) {
		if name, on := strings.CutPrefix(strings.TrimPrefix(o, "-o "), "-s "); on || strings.HasPrefix(o, "-o ") {
			b.Options = append(b.Options, name)
		}
	}
}

// difference gives what makes those in on be on where the defaults are.
func difference(on []string, defaults, yes, no string) (out []string) {
	usual := strings.Fields(defaults)
	for _, o := range on {
		if o != "" && !slices.Contains(usual, o) {
			out = append(out, yes+o)
		}
	}
	for _, o := range usual {
		if !slices.Contains(on, o) {
			out = append(out, no+o)
		}
	}
	return out
}

func (b *builder) sh(part []string) {
	exported := map[string]bool{}
	for _, d := range assignments(part[atVariables], "export ") {
		exported[d.name] = true
		if !d.set && !dropped(d.name) {
			b.line("export " + d.name)
		}
	}
	for _, d := range b.fitting(assignments(part[atVariables+1], "")) {
		if dropped(d.name) || d.name == "IFS" && d.value == "' \t\n'" || (d.name == "PS1" || d.name == "PS2" || d.name == "PS4") && !exported[d.name] {
			continue
		}
		line := d.name + "=" + d.value
		if exported[d.name] {
			line = "export " + line
		}
		if d.name == "IFS" {
			b.Vars["IFS"], _ = unquote(d.value)
			b.late += line + ";"
			continue
		}
		b.variable(d, exported[d.name], line)
	}
	for _, d := range assignments(part[atVariables+2], "") {
		if value, ok := unquote(d.value); ok {
			if b.Aliases == nil {
				b.Aliases = map[string]string{}
			}
			b.Aliases[d.name] = value
			b.line("alias " + d.name + "=" + d.value)
		}
	}
	var on []string
	for line := range strings.Lines(part[atOptions]) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "set -o "); ok && name != "interactive" && name != "stdin" {
			on = append(on, name)
		}
	}
	b.options(nil, difference(on, "", "-o ", "+o "))
	b.late = b.set + "--;" + b.late
	b.line("__overt_l=" + quote(b.late))
}

// environment keeps of the environment at the start what a shell can't hold, and sees what the session has changed.
func (b *builder) environment(base []string) {
	was := map[string]string{}
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		was[name] = value
		if !identifier(name) && !strings.HasPrefix(name, "BASH_FUNC_") {
			b.env = append(b.env, kv)
		}
	}
	b.Path = was["PATH"]
	for name, value := range b.Vars {
		if before, ok := was[name]; (!ok || before != value) && name != "PWD" && name != "OLDPWD" {
			b.Set = append(b.Set, name)
		}
	}
	slices.Sort(b.Set)
}

// dropped names what never lasts: what is ours, what holds keys by its name, and what every shell sets itself.
func dropped(name string) bool {
	switch name {
	case "TRACEPARENT", "POSIXLY_CORRECT", "_", "PPID", "SHLVL", "LINENO", "OPTIND", "OPTERR":
		return true
	}
	return strings.HasPrefix(name, "__overt_") || scrubbed(name)
}

// ofBash tells whether bash keeps a variable itself (Bash Reference Manual, Bash Variables), or it is as in a fresh one.
func ofBash(d declaration) bool {
	switch d.name {
	case "BASH", "BASHOPTS", "BASHPID", "BASH_ARGC", "BASH_ARGV", "BASH_ARGV0", "BASH_CMDS", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_LINENO",
		"BASH_MONOSECONDS", "BASH_REMATCH", "BASH_SOURCE", "BASH_SUBSHELL", "BASH_TRAPSIG", "BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "DIRSTACK",
		"EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "PIPESTATUS", "RANDOM", "SECONDS", "SHELLOPTS", "SRANDOM", "UID":
		return true
	case "BASH_ALIASES":
		return !d.set || d.value == "()"
	case "BASH_LOADABLES_PATH", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "SHELL", "TERM": // what bash sets where the environment has none
		return !strings.Contains(d.flags, "x")
	case "IFS":
		return d.value == `$' \t\n'` || d.value == "\" \t\n\""
	case "PS4":
		return d.value == `"+ "`
	}
	return false
}

// aliases reads the value of BASH_ALIASES: ([name]="text" …).
func aliases(value string) map[string]string {
	out := map[string]string{}
	for rest := strings.Trim(value, "() "); rest != ""; {
		rest = strings.TrimLeft(rest, " ")
		name, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]=")
		if !ok || after == "" {
			break
		}
		n := len(after)
		if after[0] == '"' || after[0] == '\'' || after[0] == '$' {
			n, _ = quoteEnd(after)
		}
		n = min(n, len(after))
		key, _ := unquote(name)
		out[key], _ = unquote(after[:n])
		rest = after[n:]
	}
	return out
}

// identifier tells whether a shell can have a variable of that name.
func identifier(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// quiet leaves out the variables that make a shell run a file before anything else: nothing runs before the word to go.
func quiet(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "BASH_ENV=") || strings.HasPrefix(kv, "ENV=") })
}

// snapshot gives what a command begins with.
func (s *Session) snapshot() remembered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}
