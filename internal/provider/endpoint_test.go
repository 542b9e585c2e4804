package provider_test

import (
	"strings"
	"testing"

	"overt/internal/provider"
)

// TestOrigin: what stands beside a block of an answer tells servers apart, also those for which one host has paths, and says no
// more of a base URL than its host, however that is written.
func TestOrigin(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ name, before, after string }{
		{"plain", "", ""}, {"with a version", "", "/v1/"}, {"with secrets", "user:secret@", "/v1?key=secret \n"}, {"another path", "", "/team-secret/v1"},
	} {
		m, k := world{provider.Chat, false}.against(t, raw(200, nil, `{"choices":[{"message":{"reasoning":"r"},"finish_reason":"stop"}]}`), func(o *provider.Options) {
			o.Endpoint = "  " + strings.Replace(o.Endpoint, "http://", "http://"+c.before, 1) + c.after
		})
		r, err := m.Stream(ctxOf(t), say("x"), nil)
		if err != nil || len(r.Blocks) != 1 {
			t.Fatalf("%s: %v: %+v", c.name, err, r.Blocks)
		}
		o := r.Blocks[0].Origin
		if !strings.HasPrefix(o, provider.Chat+" "+hostOf(k)+" ") || !strings.HasSuffix(o, " m") || strings.Contains(o, "secret") {
			t.Errorf("%s: %s", c.name, o)
		}
		seen[c.name] = strings.ReplaceAll(o, hostOf(k), "HOST")
	}
	if seen["plain"] != seen["with a version"] || seen["plain"] != seen["with secrets"] || seen["plain"] == seen["another path"] {
		t.Errorf("%q", seen)
	}
}

// TestLimitField: the name of a member is written as JSON writes it.
func TestLimitField(t *testing.T) {
	m, k := world{provider.Chat, false}.against(t, raw(200, nil, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`), func(o *provider.Options) {
		o.Profile.LimitField = "limit.of-all"
	})
	q := say("x")
	q.Params.MaxTokens = 5
	if _, err := m.Stream(ctxOf(t), q, nil); err != nil || !strings.Contains(string(join(k.sent[0].Body)), `"limit.of-all":5`) {
		t.Errorf("%v: %+v", err, k.sent)
	}
}
