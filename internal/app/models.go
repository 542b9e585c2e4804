package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"overt/internal/config"
	"overt/internal/llm"
	"overt/internal/provider"
	"overt/internal/redact"
	"overt/internal/wire"
)

// Model is what is known of a model of the endpoint, and from where.
type Model struct {
	ID     string
	Listed bool // the endpoint lists it, or did when it was asked last
	provider.Facts
	From map[string]string // by [FactNames]: config, probe, endpoint, catalogue; nothing where a value is unknown
}

// FactNames are the names of what may be known of a model.
func FactNames() []string { return []string{"window", "max_output", "images", "efforts", "prices"} }

// Places that facts of a model come from, the one that counts most first.
const (
	FromConfig    = "config"
	FromProbe     = "probe"
	FromEndpoint  = "endpoint"
	FromCatalogue = "catalogue"
)

// known is what an endpoint said of its models, as it is kept: one file for each endpoint, in the folder of the person's state.
type known struct {
	Endpoint string       `json:"endpoint"`
	Asked    time.Time    `json:"asked"`
	Server   string       `json:"server,omitempty"`
	Models   []knownModel `json:"models"`

	state string         // where it is kept, and what was measured too
	at    map[string]int // the place of a model by its id; nil: not made yet
}

// knownModel is one of them. Prices are in nano-dollars for a million tokens.
type knownModel struct {
	ID        string      `json:"id"`
	Unlisted  bool        `json:"unlisted,omitempty"` // the list does not have it, but the server said something of it when it was asked
	Window    int64       `json:"window,omitempty"`
	MaxOutput int64       `json:"max_output,omitempty"`
	Images    *bool       `json:"images,omitempty"`
	Efforts   []string    `json:"efforts,omitempty"`
	Prices    *llm.Prices `json:"prices,omitempty"`
}

// maxKnown bounds, in bytes, the file of an endpoint.
const maxKnown = 8 << 20

// knownFile is where it is kept what an endpoint said.
func knownFile(state, endpoint string) string {
	sum := sha256.Sum256([]byte(plainURL(endpoint)))
	return filepath.Join(state, "user", "models", fmt.Sprintf("%x.json", sum[:8]))
}

// plainURL is a base URL without what may be secret in it.
func plainURL(endpoint string) string {
	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return strings.TrimRight(u.String(), "/")
}

// readKnown reads what an endpoint said. Without a file, or with one that can't be read, nothing is known: it can be asked again.
func readKnown(state, endpoint string) (k known) {
	defer func() { k.state = state }()
	f, err := os.Open(knownFile(state, endpoint))
	if err != nil {
		return k
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxKnown {
		return k
	}
	if json.NewDecoder(f).Decode(&k) != nil || k.Endpoint != plainURL(endpoint) {
		return known{}
	}
	return k
}

// write keeps what the endpoint said, whole or not at all.
func (k known) write(state string) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return writeState(knownFile(state, k.Endpoint), text)
}

// find gives a model, or nil.
func (k *known) find(id string) *knownModel {
	if k.at == nil {
		k.at = make(map[string]int, len(k.Models))
		for i, m := range k.Models {
			k.at[m.ID] = i
		}
	}
	if i, ok := k.at[id]; ok {
		return &k.Models[i]
	}
	return nil
}

// of gives what is known of a model, and whether the endpoint lists it.
func (k *known) of(id string) (f provider.Facts, listed bool) {
	m := k.find(id)
	if m == nil {
		return f, false
	}
	return provider.Facts{Window: m.Window, MaxOutput: m.MaxOutput, Images: m.Images, Efforts: m.Efforts, Prices: m.Prices}, !m.Unlisted
}

// put puts what is known of a model in the place of what was.
func (k *known) put(id string, f provider.Facts, listed bool) {
	m := knownModel{id, !listed, f.Window, f.MaxOutput, f.Images, f.Efforts, f.Prices}
	if there := k.find(id); there != nil {
		*there = m
		return
	}
	k.at[id] = len(k.Models)
	k.Models = append(k.Models, m)
}

// ask asks the endpoint for its list of models, and a server that says more for what it has loaded of one ("": of none). What they say
// takes the place of what was known. The error is that of the list, whose last word stays then.
func (k *known) ask(ctx context.Context, c *config.Config, client *http.Client, model string) (provider.List, error) {
	list, err := provider.Models(ctx, client, c.Protocol.Value, c.BaseURL.Value, requestHeader(c, c.APIKey.Value))
	before, _ := k.of(model)
	k.Endpoint = plainURL(c.BaseURL.Value)
	if err == nil {
		k.Asked, k.Server, k.Models, k.at = time.Now().UTC(), serverKind(c, list.Server), nil, nil
		for _, m := range list.Models {
			k.put(m.ID, m.Facts, true)
		}
	}
	if server := serverKind(c, k.Server); server != "" && model != "" {
		now, listed := k.of(model)
		loaded, bad := loadedFacts(ctx, c, client, server, model)
		if bad != nil { // it is not loaded now; how it was loaded last is the best that is known
			loaded = now.Over(before)
		}
		if f := loaded.Over(now); listed || !reflect.ValueOf(f).IsZero() {
			k.put(model, f, listed)
		}
	}
	return list, err
}

// loadedFacts asks a server of a kind what it has loaded of a model.
func loadedFacts(ctx context.Context, c *config.Config, client *http.Client, server, model string) (provider.Facts, error) {
	return provider.Loaded(ctx, client, server, c.Protocol.Value, c.BaseURL.Value, model, requestHeader(c, c.APIKey.Value))
}

// modelOf puts together what is known of a model: the person's own word counts before what was measured, that before the endpoint's,
// and that before the catalogue's. What none of them says stays unknown.
func modelOf(c *config.Config, k *known, id string) Model {
	m := Model{ID: id, From: map[string]string{}}
	live, listed := k.of(id)
	m.Listed = listed
	m.take(FromConfig, said(c.Said(id)))
	if p, ok := readProbed(k.state, c, id); ok {
		m.take(FromProbe, provider.Facts{Images: p.Images})
	}
	m.take(FromEndpoint, live)
	m.take(FromCatalogue, provider.Known(c.BaseURL.Value, id))
	return m
}

// take takes what is not known yet.
func (m *Model) take(from string, f provider.Facts) {
	take := func(name string, have, is bool, set func()) {
		if !have && is {
			set()
			m.From[name] = from
		}
	}
	take("window", m.Window > 0, f.Window > 0, func() { m.Window = f.Window })
	take("max_output", m.MaxOutput > 0, f.MaxOutput > 0, func() { m.MaxOutput = f.MaxOutput })
	take("images", m.Images != nil, f.Images != nil, func() { m.Images = f.Images })
	take("efforts", m.Efforts != nil, f.Efforts != nil, func() { m.Efforts = f.Efforts })
	take("prices", m.Prices != nil, f.Prices != nil, func() { m.Prices = f.Prices })
}

// said is what the person's file says of a model.
func said(m config.ModelFacts) provider.Facts {
	f := provider.Facts{Window: m.Window, MaxOutput: m.MaxOutput, Images: m.Images}
	if m.Prices != nil {
		price := func(x *float64) *int64 {
			if x == nil {
				return nil
			}
			return llm.PerMillion(*x)
		}
		f.Prices = &llm.Prices{Fresh: price(m.Prices.Input), CacheRead: price(m.Prices.CacheRead), CacheWrite: price(m.Prices.CacheWrite), Output: price(m.Prices.Output)}
	}
	return f
}

// ModelList is what there is to choose from behind an endpoint.
type ModelList struct {
	Provider, Endpoint string    // its base URL, without what may be secret in it
	Asked              time.Time // when the endpoint said what is here of its word; zero: never
	Err                error     // why it could not be asked now, masked
	Models             []Model   // as the endpoint lists them, then what others know
}

// Models asks the endpoint for its models and joins its answer with what the person's file and the catalogue say. If it can't be asked, Err says
// why, and its last word is taken, if there is one. With keep, its answer is kept, so that later runs know windows and prices from it.
func Models(ctx context.Context, o Options, keep bool) (*ModelList, error) {
	c := o.Config
	mask := redact.New()
	learnSecrets(mask, c, o.Env)
	if err := askKey(ctx, c, o.Env, mask); err != nil {
		return nil, err
	}
	if _, bad := profileOf(c, "", c.Model.Value); bad != nil { // it says which field the key goes in
		return nil, bad
	}
	link, bad := transport(c)
	if bad != nil {
		return nil, bad
	}
	w := wire.New(wire.Options{UserAgent: "overt", Transport: link})
	defer w.Close()
	k := readKnown(o.State, c.BaseURL.Value)
	out := &ModelList{Provider: c.Provider, Endpoint: plainURL(c.BaseURL.Value)}
	if i := slices.IndexFunc(c.Problems, func(e *config.Error) bool { return e.Code == "config.preset_key" }); i >= 0 {
		out.Err = fmt.Errorf("it wants a key: set %v", c.Problems[i].Args[1])
	} else if _, err := k.ask(ctx, c, w.HTTP(), c.Model.Value); err != nil {
		out.Err = errors.New(mask.String(err.Error()))
	} else if keep {
		if err := k.write(o.State); err != nil {
			return nil, err
		}
	}
	out.Asked = k.Asked
	seen := map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			out.Models = append(out.Models, modelOf(c, &k, id))
		}
	}
	for _, m := range k.Models {
		add(m.ID)
	}
	for _, m := range c.Models {
		add(m.Name)
	}
	for _, m := range provider.Catalogue(c.BaseURL.Value) {
		add(m.ID)
	}
	return out, nil
}

// serverKind is the kind of server behind an endpoint, for those that say more than others: by the name of its preset, by the address that
// such a server usually has, or as its list of models says; "" where none of this tells.
func serverKind(c *config.Config, listed string) string {
	kinds := []string{provider.Ollama, provider.LlamaCpp, provider.LMStudio, provider.VLLM}
	if slices.Contains(kinds, c.Provider) {
		return c.Provider
	}
	if listed != "" || !wire.Local(c.BaseURL.Value) {
		return listed
	}
	u, err := url.Parse(c.BaseURL.Value)
	for _, p := range config.Presets() {
		if usual, bad := url.Parse(p.BaseURL); err == nil && bad == nil && p.Local() && u.Port() == usual.Port() {
			return p.Name
		}
	}
	return ""
}
