package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// ModelFacts is what the person's file says of a model. Zero and nil: nothing.
type ModelFacts struct {
	Name              string
	Window, MaxOutput int64 // tokens
	Images            *bool
	Prices            *Prices
}

// Prices are US dollars for a million tokens. Nil: not said.
type Prices struct {
	Input, CacheRead, CacheWrite, Output *float64
}

// Keys of what is said of a model.
const (
	models     = "models"
	window     = "window"
	maxOutput  = "max_output"
	images     = "images"
	prices     = "prices"
	input      = "input"
	cacheRead  = "cache_read"
	cacheWrite = "cache_write"
	output     = "output"
)

func modelKeys() []string { return []string{window, maxOutput, images, prices} }
func priceKeys() []string { return []string{input, cacheRead, cacheWrite, output} }

// mostPrice bounds a price, in US dollars: a sum of millions of tokens still fits 64 bits in nano-dollars.
const mostPrice = 1e6

// models reads what an entry says of models, by their names.
func (p *parser) models(name string, v hujson.Value) (out []ModelFacts) {
	p.each(name, v, nil, func(model string, v hujson.Value) {
		m, full := ModelFacts{Name: model}, name+"."+model
		p.each(full, v, modelKeys(), func(field string, v hujson.Value) {
			switch at := full + "." + field; field {
			case window:
				m.Window = p.tokens(at, v)
			case maxOutput:
				m.MaxOutput = p.tokens(at, v)
			case images:
				if yes, ok := p.scalar(v, Key{Kind: Bool}); ok {
					can := yes == "true"
					m.Images = &can
				} else {
					p.fail(v.StartOffset, "config.file.type", at, Form(Key{Kind: Bool}))
				}
			case prices:
				m.Prices = &Prices{}
				into := map[string]**float64{input: &m.Prices.Input, cacheRead: &m.Prices.CacheRead, cacheWrite: &m.Prices.CacheWrite, output: &m.Prices.Output}
				p.each(at, v, priceKeys(), func(field string, v hujson.Value) {
					text, ok := p.scalar(v, Key{Kind: Number})
					n, err := strconv.ParseFloat(text, 64)
					if !ok || err != nil || n < 0 || n > mostPrice {
						p.fail(v.StartOffset, "config.file.type", at+"."+field, "US dollars for a million tokens")
						return
					}
					*into[field] = &n
				})
			}
		})
		out = append(out, m)
	})
	return out
}

// each gives the members of an object that are among keys (nil: any) to f, and tells of others, and of doubles.
func (p *parser) each(name string, v hujson.Value, keys []string, f func(field string, v hujson.Value)) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		p.fail(v.StartOffset, "config.file.type", name, "an object")
		return
	}
	seen := map[string]bool{}
	for i := range object.Members {
		m := &object.Members[i]
		field := text(m.Name)
		switch {
		case seen[field]:
			p.fail(m.Name.StartOffset, "config.file.twice", name+"."+field)
		case keys != nil && !slices.Contains(keys, field):
			p.fail(m.Name.StartOffset, "config.file.member", name, field, strings.Join(keys, ", "))
		default:
			f(field, m.Value)
		}
		seen[field] = true
	}
}

// tokens reads a number of tokens above 0.
func (p *parser) tokens(name string, v hujson.Value) int64 {
	text, ok := p.scalar(v, Key{Kind: Count})
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || n < 1 || n > 1<<40 {
		p.fail(v.StartOffset, "config.file.type", name, "a whole number of tokens above 0")
		return 0
	}
	return n
}

// modelsSchema is the schema of what an entry says of models.
func modelsSchema() *schema {
	one, most, zero := 1, float64(mostPrice), 0
	price := object("US dollars for a million tokens")
	for _, name := range priceKeys() {
		price.Properties[name] = &schema{Type: "number", Minimum: &zero, Maximum: &most}
	}
	model := object("what is known of the model, over what its server and the catalogue say; overt models shows both")
	model.Properties[window] = &schema{Type: "integer", Minimum: &one, Description: "tokens that it can see"}
	model.Properties[maxOutput] = &schema{Type: "integer", Minimum: &one, Description: "tokens that one answer may have"}
	model.Properties[images] = &schema{Type: "boolean", Description: "it can look at pictures"}
	model.Properties[prices] = price
	return &schema{Type: "object", Description: "models by name", Additional: model}
}

// Said is what the person's file says of a model of the endpoint.
func (c *Config) Said(model string) ModelFacts {
	for _, m := range c.Models {
		if m.Name == model {
			return m
		}
	}
	return ModelFacts{Name: model}
}
