package policy

import (
	"path"
	"slices"
	"strings"
)

// find looks at the expression of find (GNU findutils 4.9): what it runs, deletes and writes.
func (g *grader) find(args []arg) {
	i := 0
	for i < len(args) && slices.Contains([]string{"-H", "-L", "-P"}, args[i].text) || i < len(args) && strings.HasPrefix(args[i].text, "-O") {
		i++
	}
	var starts []arg
	for i < len(args) && !strings.HasPrefix(args[i].text, "-") && args[i].text != "(" && args[i].text != "!" {
		starts = append(starts, args[i])
		i++
	}
	if len(starts) == 0 {
		starts = []arg{{text: "."}}
	}
	for _, s := range starts {
		g.look(s)
		if s.option() && s.how != exact {
			g.add(Medium, RiskUnresolved)
		}
	}
	found := g.foundBy(starts, args[i:])
	printed := found
	for i < len(args) {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-ls":
			g.names = nil
			i += g.findTest(args[i:], starts, found)
			printed = g.names
			continue
		case "-printf":
			if i+1 < len(args) {
				printed = formatted(args[i+1], found)
			}
		}
		i += g.findTest(args[i:], starts, found)
	}
	g.names = printed
}

// formatted says what -printf writes of what is found: whole paths, or names that may begin with anything.
func formatted(format arg, found []arg) []arg {
	text := strings.TrimSuffix(strings.TrimSuffix(format.text, `\n`), `\0`)
	if format.how == exact && !strings.Contains(text, `\`) && (strings.HasPrefix(text, "%p") || strings.HasPrefix(text, "%h/")) {
		return found
	}
	out := slices.Clone(found)
	for i := range out {
		out[i].text = "*"
	}
	return out
}

// foundBy says what find may find: what its names match, below where it starts.
func (g *grader) foundBy(starts, args []arg) []arg {
	var names []arg
	for i := 0; i+1 < len(args); i++ {
		switch args[i].text {
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			n := args[i+1]
			if n.how == exact && strings.ContainsAny(n.text, "*?[") {
				n.how = pattern
			}
			names = append(names, n)
		case "-regex", "-iregex":
			names = append(names, arg{text: strings.ReplaceAll(strings.ReplaceAll(args[i+1].text, `\.`, "."), ".*", "*"), how: pattern})
		}
	}
	if len(names) == 0 {
		names = []arg{{text: "*", how: pattern, every: true}}
	}
	var out []arg
	for _, s := range starts {
		for _, n := range names {
			out = append(out, arg{text: path.Join(s.text, path.Base(n.text)), how: max(s.how, n.how, pattern), every: n.every})
			if strings.HasPrefix(s.text, "./") || s.text == "." {
				out[len(out)-1].text = "./" + out[len(out)-1].text
			}
		}
	}
	return out
}

// findTest looks at one part of the expression and says how many arguments it takes.
func (g *grader) findTest(args, starts, found []arg) int {
	if args[0].how != exact {
		g.add(Medium, RiskUnresolved)
		return 1
	}
	if len(args) > 1 && args[1].many {
		g.add(Medium, RiskUnresolved)
	}
	switch args[0].text {
	case "(", ")", "!", ",", "-not", "-a", "-and", "-o", "-or", "-true", "-false", "-empty", "-print", "-print0", "-ls", "-prune", "-quit", "-depth", "-d", "-xdev", "-mount", "-follow",
		"-daystart", "-noleaf", "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-nowarn", "-warn", "-ignore_readdir_race", "-help", "-version", "--help", "--version", "-E", "-X":
		return 1
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-lname", "-ilname", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin",
		"-ctime", "-cmin", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-maxdepth", "-mindepth", "-fstype", "-used", "-printf", "-newermt", "-newerat", "-newerct", "-context", "-D":
		return 2
	case "-newer", "-anewer", "-cnewer", "-samefile", "-files0-from":
		if len(args) > 1 {
			g.look(args[1])
		}
		if args[0].text == "-files0-from" {
			g.add(Medium, RiskUnresolved)
		}
		return 2
	case "-delete":
		for _, s := range starts {
			g.remove(s, true)
		}
		return 1
	case "-fprint", "-fprint0", "-fls", "-fprintf":
		if len(args) > 1 {
			g.write(args[1])
		}
		if args[0].text == "-fprintf" {
			return 3
		}
		return 2
	case "-exec", "-execdir", "-ok", "-okdir":
		return g.findExec(args, found)
	}
	g.add(Medium, RiskOption)
	return 1
}

// findExec looks at the command that find runs, up to ";" or "{} +".
func (g *grader) findExec(args, found []arg) int {
	end := 1
	for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && args[end-1].text == "{}") {
		end++
	}
	if end > 1 {
		saved := g.at.clone()
		found = slices.Clone(found)
		for i := range found {
			found[i].single = end < len(args) && args[end].text == ";" && found[i].how == pattern
		}
		if strings.HasSuffix(args[0].text, "dir") {
			g.at.dirs = []string{"?"}
			for i := range found {
				found[i].text = "./" + path.Base(found[i].text)
			}
		}
		command := args[1:end]
		if strings.HasSuffix(args[0].text, "dir") {
			g.add(Medium, RiskUnresolved)
		}
		g.withFound(command, found, "{}")
		g.at = saved
	}
	return min(end+1, len(args))
}
