package policy

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Host is the host that an address names, in the one form that all ways to write it have: a URL, HOST:PATH of scp and Git,
// HOST:PORT, or /dev/tcp/HOST/PORT. It has no upper case, no %65, no dot at its end, and IP addresses as netip writes them.
func Host(address string) string {
	s := strings.TrimSpace(address)
	for _, p := range []string{"/dev/tcp/", "/dev/udp/"} {
		s = strings.TrimPrefix(s, p)
	}
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = strings.TrimLeft(rest, "/")
	} else if scheme, rest, ok := strings.Cut(s, ":/"); ok && strings.Contains(" http https ftp ftps ", " "+strings.ToLower(scheme)+" ") {
		s = rest // curl takes it
	}
	if i := strings.IndexAny(s, `/?#\`); i >= 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if in, _, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && s[0] == '[' {
		s = in
	} else if _, err := netip.ParseAddr(s); err != nil {
		s, _, _ = strings.Cut(s, ":")
	}
	s = strings.TrimRight(strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(strings.ToLower(s)), ".")
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	if ip, ok := oldAddress(s); ok {
		return ip
	}
	return s
}

// oldAddress reads an IPv4 address as inet_aton(3) does: one to four numbers, decimal, octal or hexadecimal, the last of which
// takes all the bytes that are left.
func oldAddress(s string) (string, bool) {
	parts := strings.Split(s, ".")
	if s == "" || len(parts) > 4 {
		return "", false
	}
	var ip uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		left := 8 * (4 - i)
		if err != nil || strings.ContainsAny(p, "_ob") && !strings.HasPrefix(p, "0x") || i < len(parts)-1 && n > 255 || i == len(parts)-1 && n>>left != 0 {
			return "", false
		}
		if i < len(parts)-1 {
			n <<= left - 8
		}
		ip |= n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), true
}

// Hosts gives a host and the domains that it is in, down to those of two labels: who has one of them has the host.
func Hosts(host string) []string {
	out := []string{host}
	if _, err := netip.ParseAddr(host); err == nil {
		return out
	}
	for {
		_, rest, ok := strings.Cut(host, ".")
		if !ok || !strings.Contains(rest, ".") || shared(rest) {
			return out
		}
		host = rest
		out = append(out, host)
	}
}

// shared tells whether a domain of two labels is one below which anybody may have one, as co.uk.
func shared(domain string) bool {
	first, last, _ := strings.Cut(domain, ".")
	return len(last) == 2 && strings.Contains(" co com net org ac gov edu or ne go ", " "+first+" ")
}
