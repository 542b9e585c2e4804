package app

import (
	"context"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"overt/internal/config"
	"overt/internal/provider"
	"overt/internal/wire"
)

// localTime is how long a local server may take to list its models.
const localTime = 200 * time.Millisecond

// Found is a model server on this machine.
type Found struct {
	Name    string // of the preset
	BaseURL string
	Models  []string
}

// LocalServers looks, where the presets of local servers have them and OLLAMA_HOST moves them, for servers that list models.
// It asks loopback addresses only, without a proxy and without a key, and is back after 200 ms.
func LocalServers(ctx context.Context, env func(string) (string, bool)) []Found {
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	w := wire.New(wire.Options{UserAgent: "overt"})
	defer w.Close()
	client := w.HTTP()
	list := config.LocalPresets(env)
	found := make([]*Found, len(list))
	var all sync.WaitGroup
	for i, p := range list {
		if !loopback(p.BaseURL) {
			continue
		}
		all.Go(func() {
			if models, err := provider.Models(ctx, client, provider.Chat, p.BaseURL, nil); err == nil {
				found[i] = &Found{p.Name, p.BaseURL, models.IDs()}
			}
		})
	}
	all.Wait()
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// loopback tells whether an address never leaves this machine.
func loopback(rawURL string) bool {
	u, err := url.Parse(rawURL)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback() || u.Hostname() == "localhost"
}
