package provider

import (
	_ "embed"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// snapshot is what charm.land/catwalk (MIT, see catalogue/LICENSE) knows of models, in lines of fields parted by tabs:
//
//	@NAME  HOST/PATH                                                                 the models of an endpoint follow
//	ID  WINDOW  OUTPUT  FRESH  CACHE-READ  CACHE-WRITE  OUTPUT-PRICE  IMAGES  EFFORTS
//
// Prices are US dollars for a million tokens, IMAGES is yes or no, and "-" is what is not known. scripts/catalogue writes it.
// Nothing of it is read before somebody asks, and then only lines that may fit: a table in memory would cost every start.
//
//go:embed catalogue/models.tsv
var snapshot string

// Facts is what is known of a model. Zero and nil are unknown.
type Facts struct {
	Window    int64 // tokens that it can see
	MaxOutput int64 // tokens that an answer may have for sure; the true limit may be higher
	Images    *bool // it can look at pictures
	Efforts   []string
	Prices    *llm.Prices
}

// Over gives what f knows, and what only below knows.
func (f Facts) Over(below Facts) Facts {
	if f.Window == 0 {
		f.Window = below.Window
	}
	if f.MaxOutput == 0 {
		f.MaxOutput = below.MaxOutput
	}
	if f.Images == nil {
		f.Images = below.Images
	}
	if f.Efforts == nil {
		f.Efforts = below.Efforts
	}
	if f.Prices == nil {
		f.Prices = below.Prices
	}
	return f
}

// Listed is a model of a list.
type Listed struct {
	ID string
	Facts
}

// makers are those sections of the snapshot whose models are their own. What resellers say of a model counts less.
func makers() []string {
	return []string{"alibaba-singapore", "anthropic", "deepseek", "gemini", "minimax", "moonshot", "openai", "xai", "zai", "zhipu"}
}

// Catalogue lists the models that the snapshot has for an endpoint, in the order of their ids; nil where it does not know it.
func Catalogue(endpoint string) []Listed {
	section, ok := sectionOf(endpoint)
	if !ok {
		return nil
	}
	var out []Listed
	for line := range section.lines() {
		out = append(out, listed(line))
	}
	return out
}

// Known gives what the snapshot knows of a model behind an endpoint: under its id there, else under the id that it has without
// tag, date, vendor and case, as far as all that go by that id agree. Behind an endpoint that the snapshot does not know, a model has
// the nature that its maker gave it, and an unknown price; on a server of one's own nothing is known, since whoever runs it decides.
func Known(endpoint, model string) Facts {
	section, ok := sectionOf(endpoint)
	if ok {
		for line := range section.lines() {
			if id, _, _ := strings.Cut(line, "\t"); id == model {
				return listed(line).Facts
			}
		}
		if f, found := section.alike(model); found {
			if strings.Contains(model, ":") { // a tag may well have a price of its own
				f.Prices = nil
			}
			return f
		}
	}
	if wire.Local(endpoint) {
		return Facts{}
	}
	var own, all []Facts
	for s := range sections() {
		if f, found := s.alike(model); found {
			all = append(all, f)
			if slices.Contains(makers(), s.name) {
				own = append(own, f)
			}
		}
	}
	if own == nil {
		own = all
	}
	f := agreed(own)
	f.Prices = nil
	return f
}

// section is the part of the snapshot that is about one endpoint.
type section struct{ name, host, path, body string }

// sections yields the parts of the snapshot.
func sections() iter.Seq[section] {
	return func(yield func(section) bool) {
		for part := range strings.SplitSeq(snapshot, "\n@") {
			if strings.HasPrefix(part, "#") { // what stands before the first
				continue
			}
			head, body, _ := strings.Cut(part, "\n")
			name, base, _ := strings.Cut(head, "\t")
			host, path, _ := strings.Cut(base, "/")
			if !yield(section{name, host, path, body}) {
				return
			}
		}
	}
}

func (s section) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(s.body, "\n") {
			if line != "" && !yield(line) {
				return
			}
		}
	}
}

// sectionOf finds the part that is about an endpoint, by its host, and of several there by the longest path that it is below.
func sectionOf(endpoint string) (best section, found bool) {
	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil {
		return best, false
	}
	host, path := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), strings.Trim(u.Path, "/")
	far := -1
	for s := range sections() {
		if host != s.host && !(strings.HasPrefix(s.host, ".") && strings.HasSuffix(host, s.host)) {
			continue
		}
		near := 0
		if path == s.path || strings.HasPrefix(path, s.path+"/") {
			near = len(s.path)
		}
		if near > far || near == 0 && far <= 0 && len(s.path) < len(best.path) {
			best, found, far = s, true, near
		}
	}
	return best, found
}

// alike gives what is said of the models that have the same id as another one but for tag, date, vendor and case.
func (s section) alike(model string) (Facts, bool) {
	want := plainID(model)
	var all []Facts
	for line := range s.lines() {
		if id, _, _ := strings.Cut(line, "\t"); strings.EqualFold(plainID(id), want) {
			all = append(all, listed(line).Facts)
		}
	}
	return agreed(all), len(all) > 0
}

// plainID is an id without what stands before its last slash, a tag behind a colon, and a date at its end.
func plainID(id string) string {
	id, _, _ = strings.Cut(id[strings.LastIndexByte(id, '/')+1:], ":")
	for _, form := range [...]string{"-dddddddd", "-dddd-dd-dd", "@dddddddd"} {
		if at := len(id) - len(form); at > 0 && has(id[at:], form) {
			return id[:at]
		}
	}
	return id
}

// has tells whether s has the form, in which d is any digit.
func has(s, form string) bool {
	for i := range len(form) {
		if s[i] != form[i] && !(form[i] == 'd' && s[i] >= '0' && s[i] <= '9') {
			return false
		}
	}
	return true
}

// agreed keeps of several descriptions what all say.
func agreed(all []Facts) Facts {
	if len(all) == 0 {
		return Facts{}
	}
	f := all[0]
	for _, g := range all[1:] {
		if f.Window != g.Window {
			f.Window = 0
		}
		if f.MaxOutput != g.MaxOutput {
			f.MaxOutput = 0
		}
		if f.Images != nil && (g.Images == nil || *f.Images != *g.Images) {
			f.Images = nil
		}
		if !slices.Equal(f.Efforts, g.Efforts) {
			f.Efforts = nil
		}
		if f.Prices != nil && (g.Prices == nil || !samePrices(*f.Prices, *g.Prices)) {
			f.Prices = nil
		}
	}
	return f
}

func samePrices(a, b llm.Prices) bool {
	same := func(x, y *int64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return same(a.Fresh, b.Fresh) && same(a.CacheRead, b.CacheRead) && same(a.CacheWrite, b.CacheWrite) && same(a.Output, b.Output)
}

// listed reads a line of the snapshot, whose form a test holds to.
func listed(line string) Listed {
	f := strings.Split(line, "\t")
	whole := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n }
	price := func(s string) *int64 {
		d, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil
		}
		return llm.PerMillion(d)
	}
	m := Listed{ID: f[0], Facts: Facts{Window: whole(f[1]), MaxOutput: whole(f[2])}}
	if p := (llm.Prices{Fresh: price(f[3]), CacheRead: price(f[4]), CacheWrite: price(f[5]), Output: price(f[6])}); p.Fresh != nil {
		m.Prices = &p
	}
	if f[7] != "-" {
		yes := f[7] == "yes"
		m.Images = &yes
	}
	if f[8] != "-" {
		m.Efforts = strings.Split(f[8], ",")
	}
	return m
}
