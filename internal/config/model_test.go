package config_test

import (
	"fmt"
	"strings"
	"testing"

	"overt/internal/config"
)

func TestModelFacts(t *testing.T) {
	const file = `{"providers": {"here": {"base_url": "http://127.0.0.1:9/v1", "model": "org/m", "models": {
		"org/m": {"window": 65536, "max_output": 8192, "images": false, "prices": {"input": 0.5, "output": 2, "cache_read": 0}}, // said
		"n": {},
	}}}}`
	c, err := resolve(file, nil, m{config.Model: "here/org/m"})
	if err != nil {
		t.Fatal(err)
	}
	f := c.Said("org/m")
	if f.Window != 65536 || f.MaxOutput != 8192 || f.Images == nil || *f.Images || *f.Prices.Input != 0.5 || *f.Prices.Output != 2 || *f.Prices.CacheRead != 0 || f.Prices.CacheWrite != nil {
		t.Errorf("%+v %+v", f, f.Prices)
	}
	for _, name := range []string{"n", "other", "m"} {
		if f := c.Said(name); f.Window != 0 || f.Prices != nil || f.Images != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestModelFactErrors(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                 `1:72: config.file.type [providers.here.models an object]`,
		`{"m": 1}`:                           `1:78: config.file.type [providers.here.models.m an object]`,
		`{"m": {"window": 0}}`:               `1:89: config.file.type [providers.here.models.m.window a whole number of tokens above 0]`,
		`{"m": {"window": 1.5}}`:             `config.file.type [providers.here.models.m.window a whole`,
		`{"m": {"max_output": "8k"}}`:        `config.file.type [providers.here.models.m.max_output a whole`,
		`{"m": {"images": "yes"}}`:           `config.file.type [providers.here.models.m.images true or false]`,
		`{"m": {"price": 1}}`:                `config.file.member [providers.here.models.m price window, max_output, images, prices]`,
		`{"m": {"prices": 3}}`:               `config.file.type [providers.here.models.m.prices an object]`,
		`{"m": {"prices": {"in": 3}}}`:       `config.file.member [providers.here.models.m.prices in input, cache_read, cache_write, output]`,
		`{"m": {"prices": {"input": -1}}}`:   `config.file.type [providers.here.models.m.prices.input US dollars`,
		`{"m": {"prices": {"output": 1e9}}}`: `config.file.type [providers.here.models.m.prices.output US dollars`,
		`{"m": {}, "m": {}}`:                 `config.file.twice [providers.here.models.m]`,
	} {
		_, err := resolve(`{"providers": {"here": {"base_url": "http://127.0.0.1:9/v1", "models": `+text+`}}}`, nil, m{config.Model: "here/m"})
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}
