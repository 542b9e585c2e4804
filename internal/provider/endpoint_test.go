package provider_test

import (
	"strings"
	"testing"

	"overt/internal/provider"
)

// TestOrigin: what stands beside a block of an answer names its host and no more of the base URL, however that is written.
func TestOrigin(t *testing.T) {
	m, k := world{provider.Chat, false}.against(t, raw(200, nil, `{"choices":[{"message":{"reasoning":"r"},"finish_reason":"stop"}]}`), func(o *provider.Options) {
		o.Endpoint = "  " + strings.Replace(o.Endpoint, "http://", "http://user:secret@", 1) + "/v1?key=secret \n"
	})
	r, err := m.Stream(ctxOf(t), say("x"), nil)
	if err != nil || len(r.Blocks) != 1 || r.Blocks[0].Origin != provider.Chat+" "+hostOf(k)+" m" {
		t.Errorf("%v: %+v", err, r.Blocks)
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
