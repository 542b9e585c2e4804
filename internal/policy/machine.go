package policy

import (
	"slices"
	"strings"
)

// machine looks at programs that show how the machine is set up, or change it for everybody.
func (g *grader) machine(name string, args []arg) {
	var options, operands []string
	for _, a := range args {
		switch {
		case a.how != exact:
			g.add(High, RiskSystem)
		case a.option():
			options = append(options, a.text)
		default:
			operands = append(operands, a.text)
		}
	}
	among := func(list []string, words ...string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(words, s) })
	}
	shows := true
	switch name {
	case "ip":
		shows = among(options, "-4", "-6", "-br", "-brief", "-c", "-color", "-j", "-json", "-s", "-stats", "-d", "-details", "-o", "-oneline", "-p", "-pretty", "-V") &&
			(len(operands) == 0 || among(operands[:1], "a", "addr", "address", "l", "link", "r", "ro", "route", "ru", "rule", "n", "neigh", "neighbour", "maddr", "netns")) &&
			(len(operands) < 2 || among(operands[1:2], "show", "list", "ls", "sh", "s", "get"))
	case "ifconfig":
		shows = among(options, "-a", "-s", "-v") && len(operands) < 2
	case "sysctl":
		shows = !slices.ContainsFunc(options, func(s string) bool { return strings.Trim(s, "-naeNqb") != "" && s != "--all" && s != "--values" }) &&
			!slices.ContainsFunc(operands, func(s string) bool { return strings.Contains(s, "=") })
	case "mount":
		shows = among(options, "-l", "-v") && len(operands) == 0 || len(operands) == 1 && among(options, "-t") && len(args) == 2 && args[0].text == "-t"
	case "dmesg":
		shows = !slices.ContainsFunc(options, func(s string) bool {
			return strings.HasPrefix(s, "--c") && s != "--color" || strings.HasPrefix(s, "--read") || !strings.HasPrefix(s, "--") && strings.ContainsAny(s, "cCnDE")
		})
		g.add(Medium, RiskReads)
	case "journalctl":
		shows = !slices.ContainsFunc(options, func(s string) bool {
			s, _, _ = strings.Cut(s, "=")
			return len(s) > 3 && slices.ContainsFunc([]string{"--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush", "--sync", "--relinquish-var", "--smart-relinquish-var", "--update-catalog", "--setup-keys", "--cursor-file"}, func(o string) bool {
				return strings.HasPrefix(o, s)
			})
		})
		g.add(Medium, RiskReads)
	case "resolvectl":
		shows = len(operands) > 0 && among(operands[:1], "query", "status", "statistics")
		g.network(Fetch, "")
	}
	if !shows {
		g.add(High, RiskSystem)
	}
}
