package config

import (
	"bytes"
	"encoding/json"
	"net/textproto"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// Entry is a provider that the person's file describes. With the name of a preset, it says only what differs.
type Entry struct {
	Name       string
	BaseURL    Setting
	Protocol   Setting
	Model      Setting
	APIKey     Setting
	KeyCommand Setting
	Headers    []Setting // sent with each request; Key ends in the field's name
	Quirks     Setting   // what the server does differently, a JSON object
	Models     []ModelFacts
	Disabled   bool               // it is not to be used
	other      map[string]Setting // of the keys of [entryOverrides]
	facts      Setting            // the models as they are written, a JSON object
	unset      []*Error           // variables that it names and that are not set; they matter where the entry is used
	astray     bool               // one of them is in the base URL, so that it is not known where the entry leads
}

// Setting is what the entry says in place of a setting of the file.
func (e Entry) Setting(key string) Setting { return e.other[key] }

// entries reads the section providers.
func (p *parser) entries(v hujson.Value, layer Layer) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v.StartOffset, "config.file.type", "providers", "an object of entries")
		return
	}
	seen := map[string]bool{}
	for i := range object.Members {
		m := &object.Members[i]
		name := text(m.Name)
		body, ok := m.Value.Value.(*hujson.Object)
		switch {
		case !entryName(name):
			p.fail(m.Name.StartOffset, "config.file.entry_name", name)
		case seen[name]:
			p.fail(m.Name.StartOffset, "config.file.twice", "providers."+name)
		case !ok:
			p.fail(m.Value.StartOffset, "config.file.type", "providers."+name, "an object")
		default:
			p.entry(name, m.Name.StartOffset, body, layer)
		}
		seen[name] = true
	}
}

// entryName tells whether a name can stand before the "/" of a model.
func entryName(name string) bool {
	return name != "" && len(name) <= 40 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// entryOverrides are the settings that an entry may have in place of those of the file.
func entryOverrides() []string {
	return []string{Thinking, Effort, RequestTimeout, IdleTimeout, Retries, Proxy, CAFile, HTTP1}
}

// Keys that entries of providers alone have.
const (
	headers = "headers"
	quirks  = "quirks"
	enabled = "enabled"
)

// entryKeys are all that an entry of providers has.
func entryKeys() []string {
	return slices.Concat([]string{BaseURL, Protocol, Model, APIKey, APIKeyCommand, headers, quirks, models, enabled}, entryOverrides())
}

func (p *parser) entry(name string, at int, o *hujson.Object, layer Layer) {
	e := Entry{Name: name, other: map[string]Setting{}}
	p.within = &e
	defer func() { p.within = nil }()
	into := map[string]*Setting{BaseURL: &e.BaseURL, Protocol: &e.Protocol, Model: &e.Model, APIKey: &e.APIKey, APIKeyCommand: &e.KeyCommand}
	seen := map[string]bool{}
	for i := range o.Members {
		m := &o.Members[i]
		field := text(m.Name)
		key, _ := lookup(field)
		switch full := "providers." + name + "." + field; {
		case seen[field]:
			p.fail(m.Name.StartOffset, "config.file.twice", full)
		case !slices.Contains(entryKeys(), field):
			p.fail(m.Name.StartOffset, "config.file.entry_key", field, strings.Join(entryKeys(), ", "))
		case field == headers:
			e.Headers = p.headers(full, m.Value, layer)
		case field == quirks:
			e.Quirks = p.object(full, m.Value, layer)
			if e.Quirks.Value != "" {
				p.each(full, m.Value, nil, func(string, hujson.Value) {})
			}
		case field == models:
			e.Models = p.models(full, m.Value)
			if _, ok := m.Value.Value.(*hujson.Object); ok {
				e.facts = p.object(full, m.Value, layer)
			}
		case field == enabled:
			on, ok := p.scalar(m.Value, Key{Kind: Bool})
			if !ok {
				p.fail(m.Value.StartOffset, "config.file.type", full, Form(Key{Kind: Bool}))
			}
			e.Disabled = on == "false"
		default:
			unset := len(e.unset)
			s, ok := p.value(m.Value, key, layer)
			if !ok {
				e.astray = e.astray || field == BaseURL && len(e.unset) > unset
				break
			}
			s.Key = full
			if at := into[field]; at != nil {
				*at = s
			} else {
				e.other[field] = s
			}
		}
		seen[field] = true
	}
	if _, known := preset(name); !known && e.BaseURL.Value == "" && !seen[BaseURL] {
		p.fail(at, "config.file.entry_url", name)
		return
	}
	if seen[APIKey] && seen[APIKeyCommand] {
		p.fail(at, "config.file.two_keys", "providers."+name)
	}
	p.out.providers = append(p.out.providers, e)
}

// headers reads the fields that an entry has sent with each request.
func (p *parser) headers(name string, v hujson.Value, layer Layer) (out []Setting) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v.StartOffset, "config.file.type", name, "an object of texts")
		return nil
	}
	seen := map[string]bool{}
	p.secret = true
	for i := range object.Members {
		m := &object.Members[i]
		field := textproto.CanonicalMIMEHeaderKey(text(m.Name))
		if seen[field] {
			p.fail(m.Name.StartOffset, "config.file.twice", name+"."+field)
			continue
		}
		seen[field] = true
		if !fieldName(field) || slices.Contains([]string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Accept", "Accept-Encoding"}, field) {
			p.fail(m.Name.StartOffset, "config.file.header", text(m.Name))
			continue
		}
		value, ok := p.scalar(m.Value, Key{Kind: Text})
		if ok && strings.ContainsFunc(value, unicode.IsControl) {
			p.fail(m.Value.StartOffset, "config.file.header_value", field)
			continue
		}
		if !ok {
			if l, literal := m.Value.Value.(hujson.Literal); !literal || l.Kind() != '"' { // else a variable, which has been told of
				p.fail(m.Value.StartOffset, "config.file.type", name+"."+field, Form(Key{Kind: Text}))
			}
			continue
		}
		out = append(out, Setting{Key: name + "." + field, Value: value, Source: p.at(m.Value, layer)})
	}
	return out
}

// fieldName tells whether a text can be the name of a field (RFC 9110, section 5.1).
func fieldName(s string) bool {
	return s != "" && strings.Trim(s, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// object reads a value that is an object, as standard JSON.
func (p *parser) object(name string, v hujson.Value, layer Layer) Setting {
	s := Setting{Key: name, Source: p.at(v, layer)}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v.StartOffset, "config.file.type", name, "an object")
		return s
	}
	s.members = map[string]Source{}
	for i := range object.Members {
		name := object.Members[i].Name
		s.members[text(name)] = p.at(name, layer)
	}
	v = v.Clone()
	v.Standardize()
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.Pack()); err != nil {
		p.fail(v.StartOffset, "config.file.type", name, "an object")
		return s
	}
	s.Value = compact.String()
	return s
}
