package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"overt/internal/app"
	"overt/internal/i18n"
	"overt/internal/llm"
)

// modelsCommand lists what there is to choose from.
func (p *program) modelsCommand() *cobra.Command {
	var refresh, asJSON bool
	cmd := &cobra.Command{
		Use: "models [QUERY]", Short: "List the models of the endpoint, and what is known of them",
		Long: `List the models of the configured endpoint as it answers, with what it says of
them, and what a catalogue in this program knows of them and of others there.
QUERY selects those whose names contain all of its words.

Each value has the place that it is from: config (providers.NAME.models in the
person's file), probe (what overt probe measured), endpoint, or catalogue, in this
order. What none of them says is
unknown, and is never guessed. Prices are US dollars for a million tokens: in,
read from the cache, written to it, out.

Without an answer of the endpoint, what it said before is shown, and what the
catalogue knows. --refresh asks it and keeps the answer, so that later tasks know
the window, prices and limits from it; it fails if there is none.`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.ArbitraryArgs(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.models(cmd.Context(), strings.Fields(strings.ToLower(strings.Join(args, " "))), refresh, asJSON)
		},
	}
	p.addTaskFlags(cmd)
	cmd.Flags().BoolVar(&refresh, "refresh", false, "ask the endpoint, and keep what it says")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// shownModels is what overt models --json gives. Null is unknown.
type shownModels struct {
	Provider string       `json:"provider"`
	BaseURL  string       `json:"base_url"`
	Asked    *time.Time   `json:"asked"` // when the endpoint said what is here of its word; null: never
	Error    *string      `json:"error"` // why it could not be asked now
	Models   []shownModel `json:"models"`
}

// shownModel is one of them.
type shownModel struct {
	ID        string            `json:"model"`
	Listed    bool              `json:"listed"` // the endpoint has it
	Window    *int64            `json:"window"`
	MaxOutput *int64            `json:"max_output"`
	Images    *bool             `json:"images"`
	Efforts   []string          `json:"efforts"`
	Prices    *shownPrices      `json:"prices"`
	From      map[string]string `json:"from"` // by the name of a value: config, probe, endpoint, catalogue
}

// shownPrices are US dollars for a million tokens.
type shownPrices struct {
	Input      *json.Number `json:"input"`
	CacheRead  *json.Number `json:"cache_read"`
	CacheWrite *json.Number `json:"cache_write"`
	Output     *json.Number `json:"output"`
}

func (p *program) models(ctx context.Context, words []string, refresh, asJSON bool) error {
	root, state, err := p.workspace()
	if err != nil {
		return err
	}
	c, err := p.keyless(root)
	if err != nil {
		return err
	}
	list, err := app.Models(ctx, app.Options{Config: c, State: state, Env: p.Environ}, refresh)
	if err != nil {
		return err
	}
	list.Models = slices.DeleteFunc(list.Models, func(m app.Model) bool {
		id := strings.ToLower(m.ID)
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(id, w) })
	})
	if asJSON {
		err = p.writeJSON(shown(list))
	} else {
		err = p.writeModels(list)
	}
	if err != nil {
		return err
	}
	switch none := len(list.Models) == 0; {
	case none && list.Err != nil && len(words) > 0:
		err = p.noModels("models.unfit.unasked", list.Provider, list.Err, strings.Join(words, " "))
	case none && list.Err != nil:
		err = p.noModels("models.unasked", list.Provider, list.Err)
	case none && len(words) > 0:
		err = p.noModels("models.unfit", list.Provider, strings.Join(words, " "))
	case none:
		err = p.noModels("models.none", list.Provider)
	case list.Err != nil && refresh && asJSON:
		err = p.noModels("models.unasked", list.Provider, list.Err)
	case list.Err != nil && refresh: // it was said above the table
		err = exit(statusFailed)
	}
	return err
}

// noModels says why there is nothing, or not what was asked for.
func (p *program) noModels(code string, args ...any) error {
	fmt.Fprintf(p.Err, "overt: %s\n", visible(p.say.Say(code, args...)))
	return exit(statusFailed)
}

// writeModels writes a table.
func (p *program) writeModels(list *app.ModelList) error {
	if len(list.Models) == 0 {
		return nil
	}
	switch {
	case list.Err == nil:
	case list.Asked.IsZero():
		fmt.Fprintln(p.Err, visible(p.say.Say("models.catalogue", list.Provider, list.Err)))
	default:
		fmt.Fprintln(p.Err, visible(p.say.Say("models.before", list.Provider, list.Err, list.Asked.Local().Format(time.DateTime))))
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(p.say.Say("models.columns"), "|", "\t"))
	for _, m := range list.Models {
		fmt.Fprintln(w, strings.Join([]string{
			visible(m.ID), p.yes(&m.Listed), tokenCount(m.Window), tokenCount(m.MaxOutput), p.yes(m.Images), orDash(strings.Join(m.Efforts, ",")), priceList(m.Prices), p.from(m),
		}, "\t"))
	}
	return w.Flush()
}

// from says which values are from where.
func (p *program) from(m app.Model) string {
	var parts []string
	for _, place := range []string{app.FromConfig, app.FromProbe, app.FromEndpoint, app.FromCatalogue} {
		var names []string
		for _, name := range app.FactNames() {
			if m.From[name] == place {
				names = append(names, p.say.Say("models.fact."+name))
			}
		}
		if len(names) > 0 {
			parts = append(parts, place+": "+strings.Join(names, ", "))
		}
	}
	return orDash(strings.Join(parts, "; "))
}

func (p *program) yes(b *bool) string {
	switch {
	case b == nil:
		return "–"
	case *b:
		return p.say.Say("models.yes")
	}
	return p.say.Say("models.no")
}

func tokenCount(n int64) string {
	if n == 0 {
		return "–"
	}
	return i18n.Number(n)
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// priceList is "3 / 0.3 / 3.75 / 15", with "–" for what is not known.
func priceList(prices *llm.Prices) string {
	if prices == nil {
		return "–"
	}
	var parts []string
	for _, n := range []*int64{prices.Fresh, prices.CacheRead, prices.CacheWrite, prices.Output} {
		if n == nil {
			parts = append(parts, "–")
		} else {
			parts = append(parts, string(*dollarsOf(n)))
		}
	}
	return strings.Join(parts, " / ")
}

// dollarsOf is a price in dollars, exactly; nil stays nil.
func dollarsOf(nano *int64) *json.Number {
	if nano == nil {
		return nil
	}
	n := json.Number(strconv.FormatFloat(float64(*nano)/1e9, 'f', -1, 64))
	return &n
}

func shown(list *app.ModelList) shownModels {
	out := shownModels{Provider: list.Provider, BaseURL: list.Endpoint, Models: []shownModel{}}
	if !list.Asked.IsZero() {
		out.Asked = &list.Asked
	}
	if list.Err != nil {
		text := list.Err.Error()
		out.Error = &text
	}
	some := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	for _, m := range list.Models {
		s := shownModel{ID: m.ID, Listed: m.Listed, Window: some(m.Window), MaxOutput: some(m.MaxOutput), Images: m.Images, Efforts: m.Efforts, From: m.From}
		if m.Prices != nil {
			s.Prices = &shownPrices{dollarsOf(m.Prices.Fresh), dollarsOf(m.Prices.CacheRead), dollarsOf(m.Prices.CacheWrite), dollarsOf(m.Prices.Output)}
		}
		out.Models = append(out.Models, s)
	}
	return out
}
