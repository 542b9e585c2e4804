package policy

import (
	"slices"
	"strings"
)

// curl looks at the command line of curl: where it goes, what it sends and where it writes.
func (g *grader) curl(args []arg) {
	var addresses []string
	sends, loose := false, false
	to := func(address string) {
		if globbed(address) {
			g.add(High, RiskUnresolved)
		}
		if address != "" {
			addresses = append(addresses, address)
		}
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.how == unknown && a.option() {
			loose = true
		}
		if !a.option() {
			g.address(a)
			to(a.text)
			continue
		}
		name, value, used := curlOption(a, args[i+1:])
		if used {
			i++
		}
		switch name {
		case 'o', 'c', 'D':
			if value.text != "-" {
				g.write(value)
			}
		case 'O', 'J':
			g.write(arg{text: "./download"})
			g.fetched = true
		case '^':
			g.add(High, RiskUnseen)
		case 'Q':
			sends = true
		case 'd', 'F', 'T':
			sends = true
			g.sent(value)
		case 'x': // what goes to the address goes there instead, or first
			g.address(value)
			to(value.text)
		case connectTo, resolveTo:
			if at := instead(name, value.text); at != "" || value.how == unknown {
				g.address(value)
				to(at)
			}
		case 'K', 'E', 'b', 'n', 'u', 'H', 'A', 'e':
			if name == 'K' {
				g.add(High, RiskUnseen)
			}
			if value.how == unknown && (name == 'H' || name == 'u' || value.output) {
				sends = true
			}
			g.sent(arg{text: "@" + strings.TrimPrefix(value.text, "@"), how: value.how})
		case 'w':
			if strings.Contains(value.text, "%output{") || value.how == unknown {
				g.add(High, RiskOutside)
			}
		case 'X':
			sends = sends || !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, strings.ToUpper(value.text))
		}
	}
	for _, address := range append(addresses, "")[:max(len(addresses), 1)] {
		kind := Fetch
		if sends && !local(address) {
			kind = Send
		}
		g.network(kind, address)
	}
	if loose {
		g.add(Medium, RiskUnresolved)
	}
}

// Names for options of curl that have no letter.
const (
	connectTo = 1 + iota
	resolveTo
)

// instead is where curl goes by --connect-to HOST:PORT:HOST:PORT or --resolve HOST:PORT:ADDRESS[,ADDRESS]; "": the same.
func instead(option byte, value string) string {
	var parts []string
	for rest := value; len(parts) < 2; {
		i := 0
		if strings.HasPrefix(rest, "[") {
			i = max(strings.IndexByte(rest, ']'), 0)
		}
		n := strings.IndexByte(rest[i:], ':')
		if n < 0 {
			return value // not as it should be
		}
		parts, rest = append(parts, rest[:i+n]), rest[i+n+1:]
		value = rest
	}
	if option == connectTo && (value == "" || value[0] == ':') {
		return ""
	}
	return value
}

// globbed tells whether curl makes several addresses of one, or another one, by a pattern in what stands before the path; or whether
// the host is written in letters of which many look alike.
func globbed(address string) bool {
	before := address
	if i := strings.Index(address, "://"); i >= 0 {
		before = address[i+3:]
		if strings.ContainsAny(address[:i], "{}[]") {
			return true
		}
	}
	before, _, _ = strings.Cut(before, "/")
	if strings.ContainsFunc(before, func(r rune) bool { return r > '~' }) {
		return true
	}
	if i := strings.LastIndexByte(before, '@'); i >= 0 && !strings.ContainsAny(before[:i], "{}[]") {
		before = before[i+1:]
	}
	if in, _, ok := strings.Cut(strings.TrimPrefix(before, "["), "]"); ok && before[0] == '[' {
		if ip, _, _ := strings.Cut(in, "%"); ip != "" && strings.Count(ip, ":") > 1 && strings.Trim(ip, "0123456789abcdefABCDEF:.") == "" {
			before = before[len(in)+2:]
		}
	}
	return strings.ContainsAny(before, "{}[]")
}

// curlOption gives the letter of an option whose value matters, and the value; used: it is the next argument.
func curlOption(a arg, rest []arg) (name byte, value arg, used bool) {
	next := arg{}
	if len(rest) > 0 {
		next = rest[0]
	}
	if long, ok := strings.CutPrefix(a.text, "--"); ok {
		long, text, joined := strings.Cut(longCurl(long), "=")
		if joined {
			next = arg{text: text, how: a.how}
			defer func() { used = false }()
		}
		switch {
		case slices.Contains([]string{"proxy", "preproxy", "proxy1.0", "socks4", "socks4a", "socks5", "socks5-hostname", "doh-url", "url", "dns-servers", "ipfs-gateway"}, long):
			return 'x', next, true
		case long == "connect-to":
			return connectTo, next, true
		case long == "resolve":
			return resolveTo, next, true
		case long == "engine" || long == "unix-socket" || long == "abstract-unix-socket": // other programs' doors
			return '^', next, true
		case long == "quote" || long == "prequote" || long == "postquote" || long == "mail-from" || long == "mail-rcpt":
			return 'Q', next, true
		case long == "url-query" || long == "variable":
			return 'd', next, true
		case long == "user-agent" || long == "referer":
			return 'A', next, true
		case strings.HasPrefix(long, "data") || long == "json":
			return 'd', next, true
		case strings.HasPrefix(long, "form"):
			return 'F', next, true
		case long == "upload-file":
			return 'T', next, true
		case long == "output" || long == "output-dir" || long == "cookie-jar" || long == "dump-header" || strings.HasPrefix(long, "trace") || long == "stderr" || long == "libcurl" || long == "etag-save" || long == "hsts" || long == "alt-svc":
			return 'o', next, true
		case long == "remote-name" || long == "remote-name-all" || long == "remote-header-name":
			return 'O', arg{}, false
		case long == "config":
			return 'K', next, true
		case long == "write-out":
			return 'w', next, true
		case long == "request":
			return 'X', next, true
		case long == "header" || long == "user" || long == "cookie" || long == "cert" || long == "key" || long == "netrc-file" || long == "proxy-header" || long == "oauth2-bearer":
			return 'H', next, true
		case slices.Contains([]string{"max-time", "connect-timeout", "retry", "retry-delay", "range", "cacert", "capath", "limit-rate", "max-redirs", "retry-max-time", "speed-limit", "speed-time", "interface", "ciphers"}, long):
			return 0, next, true
		}
		return 0, arg{}, false
	}
	for i := 1; i < len(a.text); i++ {
		c := a.text[i]
		if strings.IndexByte("odFTKXxEbucDHAemwrCyYzZtQhPU", c) < 0 || c == 'Z' || c == 'h' {
			if c == 'O' || c == 'J' {
				name = c
			}
			continue
		}
		if i+1 < len(a.text) || a.how == unknown {
			return c, arg{text: a.text[i+1:], how: a.how}, false
		}
		return c, next, true
	}
	return name, arg{}, false
}

// longCurl gives the option that the beginning of a name may stand for; what is written or sent comes first.
func longCurl(name string) string {
	name = strings.TrimPrefix(name, "expand-")
	for _, o := range []string{"data", "upload-file", "output", "config", "request", "quote", "mail-from", "engine", "unix-socket", "variable", "form", "cookie-jar", "dump-header", "trace", "write-out", "proxy", "preproxy", "socks5", "socks4", "socks4a", "socks5-hostname", "connect-to", "resolve", "doh-url", "dns-servers", "ipfs-gateway"} {
		if len(name) > 2 && strings.HasPrefix(o, name) {
			return o
		}
	}
	return name
}

// sent looks at data that is sent: a file behind "@" or "=@".
func (g *grader) sent(a arg) {
	text := a.text
	if i := strings.IndexByte(text, '@'); i >= 0 && !strings.Contains(text[:i], " ") {
		file, _, _ := strings.Cut(text[i+1:], ";")
		g.secretOperand(arg{text: file, how: a.how})
	}
	g.suspect(a)
}

// address looks at an address: what stands in it is sent.
func (g *grader) address(a arg) {
	if a.output && a.text != "" {
		g.network(Send, a.text)
	}
	if a.how == unknown && a.text != "" && strings.Contains(a.text, "://") && strings.ContainsAny(strings.TrimPrefix(strings.SplitN(a.text, "://", 2)[1], "/"), "?#@&=") {
		g.network(Send, a.text)
	}
	if strings.HasPrefix(a.text, "file:") {
		g.read(arg{text: strings.TrimPrefix(strings.TrimPrefix(a.text, "file:"), "//"), how: a.how})
	}
}

// local tells whether an address is this machine's own.
func local(address string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, Host(address))
}

func (g *grader) wget(args []arg) {
	s := spec("-qvSNcrkKpHLEmxdbF46 -OoaiP> -tTwQUleADRIXBn# --output-document|output-file|append-output|directory-prefix|save-cookies> --quiet|verbose|no-verbose|show-progress|continue|timestamping|recursive|no-check-certificate|mirror|page-requisites|no-parent|convert-links|spider|server-response? --timeout|tries|wait|user-agent|level|header|limit-rate|accept|reject|domains# --post-data|post-file|body-data|body-file|method|load-cookies|input-file|config|execute|use-askpass|referer# @")
	p := s.takeApart(args)
	kind := Fetch
	named := false
	for _, o := range p.options {
		if o.value.output {
			kind = Send
		}
		switch o.name {
		case "--post-data", "--post-file", "--body-data", "--body-file", "--method":
			kind = Send
			g.suspect(o.value)
			g.secretOperand(o.value)
		case "-e", "--execute", "--config", "--use-askpass":
			g.add(High, RiskUnseen)
		case "-O", "--output-document":
			named = true
			if o.value.text != "-" {
				g.write(o.value)
			}
		default:
			if sign, ok := s.sign(o.name); ok {
				if o.name == "-i" || o.name == "--input-file" {
					g.read(o.value)
				} else {
					g.does(&p, sign, o)
				}
			} else {
				g.add(Medium, RiskOption)
			}
		}
	}
	if !named {
		g.write(arg{text: "./download"})
		g.fetched = true
	}
	for _, a := range p.operands {
		g.address(a)
		g.network(kind, a.text)
	}
	if len(p.operands) == 0 {
		g.network(kind, "")
	}
}

// copyAway looks at rsync, scp and sftp, which copy between machines, or within one.
func (g *grader) copyAway(name string, args []arg) {
	var operands []arg
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.option() {
			operands = append(operands, a)
			continue
		}
		g.suspect(a)
		option, value, joined := strings.Cut(a.text, "=")
		if slices.Contains([]string{"--log-file", "--backup-dir", "--partial-dir", "--temp-dir", "--write-batch", "--only-write-batch"}, option) {
			to := arg{text: value, how: a.how}
			if !joined && i+1 < len(args) {
				i++
				to = args[i]
			}
			g.write(to)
		}
		switch {
		case name == "rsync" && (a.text == "-e" || strings.HasPrefix(a.text, "--rsh") || strings.HasPrefix(a.text, "--rsync-path")),
			name == "rsync" && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "e"),
			name != "rsync" && (strings.HasPrefix(a.text, "-S") || strings.HasPrefix(a.text, "-o") || strings.HasPrefix(a.text, "-D") || strings.HasPrefix(a.text, "-F") || strings.HasPrefix(a.text, "-b")):
			g.add(High, RiskUnseen)
		case strings.HasPrefix(a.text, "--del"), a.text == "--remove-source-files":
			g.add(High, RiskDestroys)
		}
	}
	away := name == "sftp"
	for i, a := range operands {
		if remote(a.text) {
			away = true
			continue
		}
		if i == len(operands)-1 && i > 0 {
			g.write(a)
			continue
		}
		g.read(a)
	}
	if away || len(operands) < 2 {
		g.network(Send, hostOf(operands))
	}
}

func remote(text string) bool {
	host, _, ok := strings.Cut(text, ":")
	return ok && !strings.Contains(host, "/") || strings.Contains(text, "://")
}

// containers looks at docker and its like.
func (g *grader) containers(name string, args []arg) {
	i := 0
	for i < len(args) && args[i].option() {
		if name, _, joined := strings.Cut(args[i].text, "="); slices.Contains([]string{"-H", "--host", "--context", "-c", "--config", "-f", "-p", "--file"}, name) {
			g.network(Fetch, "") // another machine's, perhaps
			if !joined {
				i++
			}
		}
		i++
	}
	if i >= len(args) {
		return
	}
	if args[i].how != exact {
		g.add(Medium, RiskUnresolved)
	}
	sub, rest := args[i].text, args[i+1:]
	if slices.Contains([]string{"container", "image", "volume", "network", "compose", "system", "buildx", "builder"}, sub) && len(rest) > 0 {
		for len(rest) > 0 && rest[0].option() {
			if len(rest) > 1 && slices.Contains([]string{"-f", "-p", "--file", "--profile"}, rest[0].text) {
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		if len(rest) > 0 {
			sub, rest = rest[0].text, rest[1:]
		}
	}
	switch sub {
	case "ps", "images", "ls", "version", "info", "history", "top", "port", "df", "list", "stats", "events", "search", "help", "config":
		if sub == "config" || sub == "search" || sub == "events" {
			g.add(Medium, RiskUnknown)
		}
	case "logs", "inspect", "diff":
		g.add(Medium, RiskReads)
	case "build", "up", "start", "restart", "create", "pull", "stop", "pause", "unpause", "wait", "tag":
		g.effect(Run, name+" "+sub, false)
		g.add(Medium, RiskProject)
		g.network(Fetch, "")
	default: // run, exec, cp, rm, prune, push, login, …
		g.effect(Run, name+" "+sub, false)
		g.add(High, RiskUnseen)
		if sub == "push" || sub == "login" {
			g.network(Send, "")
		}
	}
	for _, a := range rest {
		g.suspect(a)
	}
}
