package policy

import (
	"slices"
	"strings"
)

// setting is a line of a configuration file of Git. Section and key are in lower case, the value without quotes.
type setting struct {
	section, sub, key, value string
	named, bare              bool // there is a sub, if only an empty one; there is no value
}

// gitSettings reads a configuration file as Git does (git-config(1), config.c); false: Git would not take it.
func gitSettings(text string) ([]setting, bool) {
	p := settingReader{text: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n") + "\n"}
	var out []setting
	for p.text != "" {
		c := p.text[0]
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			p.text = p.text[1:]
		case c == '#' || c == ';':
			_, p.text, _ = strings.Cut(p.text, "\n")
		case c == '[':
			if !p.header() {
				return nil, false
			}
		default:
			s, ok := p.setting()
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
	}
	return out, true
}

type settingReader struct {
	text, section, sub string
	named              bool
}

// header reads [section], [section.sub] or [section "sub"].
func (p *settingReader) header() bool {
	i := 1
	for keyByte(p.text[i]) || p.text[i] == '.' {
		i++
	}
	p.section, p.sub, p.named = strings.Cut(strings.ToLower(p.text[1:i]), ".")
	p.text = p.text[i:]
	if p.text[0] == ']' {
		p.text = p.text[1:]
		return true
	}
	rest := strings.TrimLeft(p.text, " \t\v\f\r")
	if rest == p.text || rest[0] != '"' {
		return false
	}
	var sub strings.Builder
	for rest = rest[1:]; rest[0] != '"'; rest = rest[1:] {
		if rest[0] == '\\' {
			rest = rest[1:]
		}
		if rest[0] == '\n' {
			return false
		}
		sub.WriteByte(rest[0])
	}
	p.sub, p.named = sub.String(), true
	p.text, _ = strings.CutPrefix(rest[1:], "]")
	return len(p.text) == len(rest)-2
}

// setting reads a key and, after "=", a value up to the end of its line, which a backslash carries on.
func (p *settingReader) setting() (setting, bool) {
	i := 0
	for keyByte(p.text[i]) {
		i++
	}
	s := setting{section: p.section, sub: p.sub, named: p.named, key: strings.ToLower(p.text[:i])}
	rest := strings.TrimLeft(p.text[i:], " \t")
	if i == 0 || rest[0] != '\n' && rest[0] != '=' {
		return s, false
	}
	if p.text = rest[1:]; rest[0] == '\n' {
		s.bare = true
		return s, true
	}
	var value []byte
	quoted, comment, kept := false, false, 0 // blanks at the end that are not quoted are not kept
	for p.text != "" {
		c := p.text[0]
		p.text = p.text[1:]
		switch {
		case c == '\n':
			s.value = string(value[:kept])
			return s, !quoted
		case comment:
			continue
		case !quoted && (c == ' ' || '\t' <= c && c <= '\r'):
			if len(value) > 0 {
				value = append(value, c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case c == '"':
			quoted = !quoted
		case c != '\\':
			value = append(value, c)
		case p.text == "":
			return s, false
		default:
			i := strings.IndexByte("\ntnb\\\"", p.text[0])
			if i < 0 {
				return s, false
			}
			if i > 0 {
				value = append(value, "\t\n\b\\\""[i-1])
			}
			p.text = p.text[1:]
		}
		kept = len(value)
	}
	return s, false
}

func keyByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// runs tells whether a setting may have a command that reads run a program, fetch what a clone has left out, or take settings
// from another file.
func (s setting) runs() bool {
	switch s.section {
	case "include", "includeif", "filter", "pager", "gpg", "trace2", "hook":
		return true
	case "core":
		switch s.key {
		case "hookspath":
			return true
		case "fsmonitor":
			return s.bare || s.value != "false" && s.value != ""
		case "pager", "sshcommand", "gitproxy", "askpass", "attributesfile", "alternaterefscommand":
			return s.value != ""
		}
	case "diff":
		return slices.Contains([]string{"external", "textconv", "command", "driver", "trustexitcode"}, s.key) || s.key == "submodule" && s.value == "diff"
	case "merge":
		return slices.Contains([]string{"driver", "command"}, s.key)
	case "log":
		return s.key == "showsignature"
	case "protocol":
		return s.key != "version"
	case "extensions":
		return s.key == "partialclone"
	case "remote":
		return slices.Contains([]string{"promisor", "uploadpack", "receivepack", "vcs"}, s.key)
	}
	return false
}
