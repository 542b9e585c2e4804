package policy

import (
	"slices"
	"strings"
)

// program looks at a program by its name. What of its words is an address, or names a host that it goes through, is a place that
// it goes to, if it uses the network at all.
func (g *grader) program(name string, args []arg) {
	reached := g.reached
	g.known(name, args)
	if g.reached > reached || namesHosts(name, "") || name == "git" && g.remotes {
		g.hosts(name, args[1:])
	}
}

// hosts notes the addresses in the words of a command that uses the network.
func (g *grader) hosts(program string, args []arg) {
	next := false // the word is what the option before it names
	for _, a := range args {
		if next {
			g.reaches(a.text)
		}
		parts := strings.Split(a.text, "=")
		for i, value := range parts[1:] {
			if namesHost(parts[i]) {
				g.reaches(value)
			}
		}
		for _, at := range addresses(a.text) {
			g.reaches(at)
		}
		if !a.option() && namesHosts(program, a.text) {
			g.reaches(strings.TrimPrefix(a.text, "@"))
		}
		next = a.option() && namesHost(a.text)
	}
}

// namesHost tells whether what an option, a setting or a variable of that name holds is a host to go to or through.
func namesHost(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"proxy", "proxyjump", "registry", "hostname", "url"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// namesHosts tells whether an operand of a program is an address, though it does not look like one to others. Of some programs
// every operand is.
func namesHosts(program, text string) bool {
	switch program {
	case "git", "scp", "rsync", "sftp":
		return remote(text)
	case "go", "docker", "podman", "nerdctl":
		host, _, ok := strings.Cut(text, "/")
		return ok && strings.Contains(host, ".") && !strings.HasPrefix(host, ".")
	case "ftp", "lftp", "tftp", "telnet", "ssh", "sshpass", "mosh", "autossh", "http", "https", "xh", "lynx", "w3m", "links", "elinks", "aria2c", "axel":
		return true
	}
	return looksUp(program)
}

// looksUp names programs that ask other machines of what they are told.
func looksUp(program string) bool {
	return slices.Contains([]string{"ping", "traceroute", "tracepath", "mtr", "dig", "host", "nslookup", "drill", "whois"}, program)
}

// addresses gives what has the form SCHEME://… in a text.
func addresses(text string) (out []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n,|=;'\"<>()", r) }) {
		if i := strings.Index(part, "://"); i > 0 {
			out = append(out, part[strings.LastIndexAny(part[:i], "@ ")+1:])
		}
	}
	return out
}

// reaches notes an address, if it names another machine that no effect has yet.
func (g *grader) reaches(address string) {
	host := Host(address)
	if !strings.ContainsAny(host, ".:") || local(address) || slices.ContainsFunc(g.risk.Effects, func(t Touch) bool {
		return (t.Kind == Fetch || t.Kind == Send) && Host(t.Target) == host
	}) {
		return
	}
	g.network(Fetch, address)
}

// through notes the hosts that a variable has programs go to or through.
func (g *grader) through(name string, a arg) {
	lower := strings.ToLower(name)
	proxy := strings.HasSuffix(lower, "_proxy") && lower != "no_proxy"
	if !proxy && !special(name) {
		return
	}
	found := addresses(a.text)
	if proxy && len(found) == 0 {
		found = []string{a.text}
	}
	for _, at := range found {
		g.reaches(at)
	}
	if proxy {
		g.address(a)
	}
}
