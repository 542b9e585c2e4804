package provider_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"overt/internal/llm"
	"overt/internal/provider"
)

var catwalk = flag.String("catwalk", "", "write the snapshot anew from the `FOLDER` of a version of charm.land/catwalk")

const snapshotFile = "catalogue/models.tsv"

// catwalkModel is a model as catwalk has it, see its pkg/catwalk/provider.go.
type catwalkModel struct {
	ID       string   `json:"id"`
	In       float64  `json:"cost_per_1m_in"`
	Out      float64  `json:"cost_per_1m_out"`
	InCache  float64  `json:"cost_per_1m_in_cached"`
	OutCache float64  `json:"cost_per_1m_out_cached"`
	Window   int64    `json:"context_window"`
	Output   int64    `json:"default_max_tokens"`
	Levels   []string `json:"reasoning_levels"`
	Images   *bool    `json:"supports_attachments"`
}

// TestCatalogueSnapshot holds the snapshot to its form, and with -catwalk writes it.
func TestCatalogueSnapshot(t *testing.T) {
	if *catwalk != "" {
		if err := os.WriteFile(snapshotFile, makeSnapshot(t, *catwalk), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(snapshotFile)
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, ""
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		f := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			if len(f) != 2 || f[1] == "" || strings.Contains(f[1], "://") {
				t.Errorf("line %d: %q", i+1, line)
			}
			last = ""
		default:
			n++
			if len(f) != 9 || f[0] <= last {
				t.Fatalf("line %d: %q after %q", i+1, line, last)
			}
			last = f[0]
			for _, number := range f[1:7] {
				if x, err := strconv.ParseFloat(number, 64); number != "-" && (err != nil || x < 0) {
					t.Errorf("line %d: %q is no number", i+1, number)
				}
			}
			if (f[3] == "-") != (f[6] == "-") || f[7] != "yes" && f[7] != "no" && f[7] != "-" {
				t.Errorf("line %d: %q", i+1, line)
			}
		}
	}
	if n < 1000 || len(text) > 200<<10 {
		t.Errorf("%d models in %d bytes", n, len(text))
	}
}

// makeSnapshot reads catwalk's files.
func makeSnapshot(t *testing.T, dir string) []byte {
	files, err := filepath.Glob(filepath.Join(dir, "internal", "providers", "configs", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no providers in %s: %v", dir, err)
	}
	base := filepath.Base(dir)
	out := fmt.Appendf(nil, "# from charm.land/catwalk %s under the MIT licence, see LICENSE; written by scripts/catalogue\n", base[strings.IndexByte(base, '@')+1:])
	sections := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			ID       string         `json:"id"`
			Type     string         `json:"type"`
			Endpoint string         `json:"api_endpoint"`
			Models   []catwalkModel `json:"models"`
		}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		at := address(p.ID, p.Endpoint)
		if at == "" { // a protocol of its own
			continue
		}
		body := fmt.Appendf(nil, "@%s\t%s\n", p.ID, at)
		models := append(p.Models, added(p.ID)...)
		slices.SortStableFunc(models, func(a, b catwalkModel) int { return cmp.Compare(a.ID, b.ID) })
		for _, m := range slices.CompactFunc(models, func(a, b catwalkModel) bool { return a.ID == b.ID }) {
			body = append(body, lineOf(m)...)
		}
		sections[p.ID] = body
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		out = append(out, sections[name]...)
	}
	return out
}

// address is where a provider is, without the scheme; catwalk names the variables of some.
func address(id, endpoint string) string {
	own := map[string]string{"openai": "api.openai.com/v1", "anthropic": "api.anthropic.com", "gemini": "generativelanguage.googleapis.com", "azure": ".openai.azure.com"}
	if at := own[id]; at != "" {
		return at
	}
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		return u.Host + strings.TrimRight(u.Path, "/")
	}
	return ""
}

// added is what vendors document and catwalk lacks. api-docs.deepseek.com (pricing, October 2026): 1M of context, 384K of
// output, vision; its price has a peak and an off-peak half, and so is not known.
func added(id string) []catwalkModel {
	if id != "deepseek" {
		return nil
	}
	yes := true
	return []catwalkModel{{ID: "deepseek-flash", Window: 1_000_000, Output: 384_000, Levels: []string{"low", "high", "max"}, Images: &yes}}
}

func lineOf(m catwalkModel) string {
	unless0 := func(x float64) string {
		if x == 0 {
			return "-"
		}
		return strconv.FormatFloat(float64(int64(x*1e6+0.5))/1e6, 'f', -1, 64)
	}
	read, write := cachePrices(m)
	images := "-"
	if m.Images != nil {
		images = map[bool]string{true: "yes", false: "no"}[*m.Images]
	}
	if m.In == 0 || m.Out == 0 { // it is part of a plan, or was not looked up
		m.In, m.Out, read, write = 0, 0, 0, 0
	}
	return strings.Join([]string{
		m.ID, unless0(float64(m.Window)), unless0(float64(m.Output)), unless0(m.In), unless0(read), unless0(write), unless0(m.Out),
		images, cmp.Or(strings.Join(m.Levels, ","), "-"),
	}, "\t") + "\n"
}

// cachePrices tells which of the two prices of cached input is which. catwalk means cost_per_1m_in_cached for what is written and
// cost_per_1m_out_cached for what is read, and its own files hold them either way round, or the one for reading alone under the other's name.
// But nobody charges more for reading than for writing, nor than for input that is not cached.
func cachePrices(m catwalkModel) (read, write float64) {
	if m.InCache == m.In && m.OutCache == m.Out { // copied from the others
		return 0, 0
	}
	if m.OutCache == m.Out && m.Out > m.In { // the same
		m.OutCache = 0
	}
	for _, price := range []float64{m.InCache, m.OutCache} {
		if price > m.In {
			write = max(write, price)
		} else if price > 0 && (read == 0 || price < read) {
			read = price
		}
	}
	if both := max(m.InCache, m.OutCache); write == 0 && min(m.InCache, m.OutCache) > 0 && both != read {
		write = both
	}
	return read, write
}

func TestCachePrices(t *testing.T) {
	for _, c := range []struct {
		name                       string
		in, out, inCache, outCache float64
		read, write                float64
	}{
		{"as meant", 3, 15, 3.75, 0.3, 0.3, 3.75},
		{"the other way round", 0.3, 1.2, 0.06, 0.375, 0.06, 0.375},
		{"both below the input", 0.6, 2.4, 0.06, 0.375, 0.06, 0.375},
		{"reading under the name for writing", 0.14, 0.28, 0.0028, 0, 0.0028, 0},
		{"reading alone", 2, 8, 0, 0.5, 0.5, 0},
		{"one price under both names", 1.25, 10, 0.125, 0.125, 0.125, 0},
		{"writing alone", 0.4, 2.4, 0.5, 0, 0, 0.5},
		{"copies", 0.3, 1.2, 0.3, 1.2, 0, 0},
		{"a copy beside one", 0.3, 2.5, 0.03, 2.5, 0.03, 0},
		{"none", 1, 2, 0, 0, 0, 0},
	} {
		if read, write := cachePrices(catwalkModel{In: c.in, Out: c.out, InCache: c.inCache, OutCache: c.outCache}); read != c.read || write != c.write {
			t.Errorf("%s: read %v, write %v", c.name, read, write)
		}
	}
}

// show is a description in one line: window output images prices efforts.
func show(f provider.Facts) string {
	images := "?"
	if f.Images != nil {
		images = fmt.Sprint(*f.Images)
	}
	prices := "?"
	if f.Prices != nil {
		var p []string
		for _, n := range []*int64{f.Prices.Fresh, f.Prices.CacheRead, f.Prices.CacheWrite, f.Prices.Output} {
			if n == nil {
				p = append(p, "?")
			} else {
				p = append(p, strconv.FormatFloat(float64(*n)/1e9, 'f', -1, 64))
			}
		}
		prices = strings.Join(p, "/")
	}
	return fmt.Sprintf("%d %d %s %s %s", f.Window, f.MaxOutput, images, prices, strings.Join(f.Efforts, ","))
}

func TestKnown(t *testing.T) {
	const sonnet = "200000 128000 true 3/0.3/3.75/15 low,medium,high,max"
	for _, c := range []struct{ endpoint, model, want string }{
		{"https://api.anthropic.com/v1", "claude-sonnet-4-6", sonnet},
		{"https://api.anthropic.com", "claude-sonnet-4-6", sonnet},
		{"https://api.deepseek.com/v1", "deepseek-v4-pro", "1000000 384000 false 0.435/0.003625/?/0.87 low,high,max"},
		{"https://api.deepseek.com/anthropic", "deepseek-flash", "1000000 384000 true ? low,high,max"},
		{"https://api.openai.com/v1/", "gpt-5.6-sol", "1050000 128000 true 5/0.5/6.25/30 none,low,medium,high,xhigh,max"},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "models/gemini-3.7-flash", show(provider.Known("https://generativelanguage.googleapis.com", "gemini-3.7-flash"))},
		{"https://x.openai.azure.com/openai/v1", "gpt-5", show(provider.Known("https://y.openai.azure.com", "gpt-5"))},
		// An id without its date, in other letters, with a tag.
		{"https://api.anthropic.com/v1", "Claude-Haiku-4-5", "200000 64000 true 1/0.1/1.25/5 "},
		{"https://api.anthropic.com/v1", "claude-haiku-4-5:fast", "200000 64000 true ? "},
		// A relay: the nature of the model is known, its price there is not.
		{"https://relay.example/v1", "anthropic/claude-sonnet-4-6", "200000 128000 true ? low,medium,high,max"},
		{"https://relay.example/v1", "no-such-model", "0 0 ? ? "},
		// Resellers disagree, or whoever runs the server decides.
		{"http://127.0.0.1:11434/v1", "gpt-5.6-sol", "0 0 ? ? "},
		{"http://192.168.1.5:8000/v1", "deepseek-v4-pro", "0 0 ? ? "},
		{"https://api.openai.com.evil.example/v1", "gpt-4o-mini", "128000 8192 true ? "},
		{"::", "x", "0 0 ? ? "},
	} {
		if got := show(provider.Known(c.endpoint, c.model)); got != c.want {
			t.Errorf("%s %s:\n%s, want\n%s", c.endpoint, c.model, got, c.want)
		}
	}
	// Two endpoints of one host.
	plan, open := provider.Catalogue("https://open.bigmodel.cn/api/coding/paas/v4"), provider.Catalogue("https://open.bigmodel.cn/api/paas/v4")
	if len(plan) != 12 || len(open) != 11 {
		t.Errorf("%d and %d models", len(plan), len(open))
	}
	// One endpoint below the folder of another, whose own path is shorter.
	below, above := provider.Catalogue("https://opencode.ai/zen/go/v1/"), provider.Catalogue("https://opencode.ai/zen/v1")
	if len(below) != 26 || len(above) != 62 {
		t.Errorf("%d and %d models", len(below), len(above))
	}
	if provider.Catalogue("https://relay.example/v1") != nil {
		t.Error("models of an unknown endpoint")
	}
}

func BenchmarkKnown(b *testing.B) {
	for _, at := range []string{"https://api.openai.com/v1", "https://relay.example/v1"} {
		b.Run(at, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				provider.Known(at, "gpt-5.6-sol")
			}
		})
	}
}

func n(v int64) *int64 { return &v }

// TestCost has usage as each style of server reports it, and the sum that its price list gives by hand, in nano-dollars.
func TestCost(t *testing.T) {
	p := &llm.Prices{Fresh: n(3e9), CacheRead: n(3e8), CacheWrite: n(375e7), Output: n(15e9)}
	for _, c := range []struct {
		name   string
		prices *llm.Prices
		u      llm.Usage
		want   int64 // -1: not known
	}{
		{"all buckets", p, llm.Usage{Fresh: n(1_000_000), CacheRead: n(2_000_000), CacheWrite: n(400_000), Output: n(100_000)}, 3e9 + 6e8 + 15e8 + 15e8},
		{"nothing cached", p, llm.Usage{Fresh: n(7), Output: n(0)}, 21_000},
		{"rounded once", &llm.Prices{Fresh: n(2_800_000), CacheRead: n(1), Output: n(280_000)}, llm.Usage{Fresh: n(1), CacheRead: n(500_000), Output: n(1)}, 4},
		{"no prices", nil, llm.Usage{Fresh: n(1), Output: n(1)}, -1},
		{"one price missing", &llm.Prices{Fresh: n(1), Output: n(1)}, llm.Usage{Fresh: n(1), CacheRead: n(1), Output: n(1)}, -1},
		{"a missing price that nothing needs", &llm.Prices{Fresh: n(1e6), Output: n(1e6)}, llm.Usage{Fresh: n(1), CacheRead: n(0), Output: n(1)}, 2},
		{"output not reported", p, llm.Usage{Fresh: n(1)}, -1},
		{"beyond all measure", &llm.Prices{Fresh: n(1 << 60), Output: n(1)}, llm.Usage{Fresh: n(1 << 53), Output: n(0)}, -1},
	} {
		got, ok := c.prices.Cost(c.u)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
