package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"overt/internal/provider"
)

// probed gives options for a probe of a server whose answers are what reply makes of a request's body; a status that is not 0 refuses.
func probed(t *testing.T, reply func(body string) (status int, message string)) provider.ProbeOptions {
	t.Helper()
	var o provider.ProbeOptions
	w := world{provider.Chat, false}
	w.against(t, func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		rw.Header().Set("Content-Type", "application/json")
		status, message := reply(string(b))
		if status != 0 {
			rw.WriteHeader(status)
			fmt.Fprintf(rw, `{"error":{"message":%q}}`, message)
			return
		}
		fmt.Fprintf(rw, `{"choices":[{"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, message)
	}, func(m *provider.Options) { o.Options = *m })
	n := 0
	o.NewID = func() string { n++; return fmt.Sprint("cal_", n) }
	return o
}

func content(s string) string {
	b, _ := json.Marshal(map[string]string{"content": s})
	return string(b)
}

// TestProbeBlind: a model that does not see the picture does not name its colour by chance.
func TestProbeBlind(t *testing.T) {
	for said, want := range map[string]string{
		"Red": provider.Supported, "It is **red**.": provider.Supported, "The picture is red-coloured": provider.Supported,
		"No picture was shared.": provider.Unmeasured, "An image is required": provider.Unmeasured, "I am unable to see it; perhaps red?": provider.Unmeasured,
		"I can’t see pictures, red or not": provider.Unmeasured, "I cannot tell red from blue": provider.Unmeasured,
	} {
		o := probed(t, func(string) (int, string) { return 0, content(said) })
		found, err := provider.ProbeImages(ctxOf(t), o)
		if err != nil || found.Result("images") != want {
			t.Errorf("%q: %v, %s", said, err, found.Result("images"))
		}
	}
}

// TestProbeOnce: a probe says one thing of each check, also where two of its requests show something of it.
func TestProbeOnce(t *testing.T) {
	call := func(ids ...string) string {
		var list []string
		for i, id := range ids {
			list = append(list, fmt.Sprintf(`{"index":%d,"id":"`, i)+id+`","type":"function","function":{"name":"lookup_number","arguments":"{\"name\":\"alpha\"}"}}`)
		}
		return `{"content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	for _, c := range []struct {
		name, parallel, ids string
		limit               string
	}{
		{"each has its own", call("a", "b"), provider.Supported, ""},
		{"both have the same", call("a", "a"), provider.Not, ""},
		{"one at a time, and no limit is sent", call("a"), provider.Supported, provider.None},
	} {
		o := probed(t, func(body string) (int, string) {
			switch {
			case strings.Contains(body, `"role":"tool"`):
				return 0, content("4086")
			case strings.Contains(body, "Make both calls"):
				return 0, c.parallel
			case strings.Contains(body, "Call the tool"):
				return 0, call("a")
			}
			return 0, content("7391")
		})
		o.Profile.LimitField = c.limit
		found, err := provider.Probe(ctxOf(t), o)
		if err != nil || found.Result("call_ids") != c.ids || found.Result("length") == "" {
			t.Errorf("%s: %v, %s, %q", c.name, err, found.Result("call_ids"), found.Result("length"))
		}
		var seen []string
		for _, f := range found.Findings {
			if slices.Contains(seen, f.Check) {
				t.Errorf("%s: %s is told twice", c.name, f.Check)
			}
			seen = append(seen, f.Check)
			if f.Check == "call_ids" && len(f.Calls) == 0 {
				t.Errorf("%s: nothing shows it", c.name)
			}
		}
	}
}

// TestProbeReasoningField: reasoning goes back in a member that servers have for it, not in what it was found between.
func TestProbeReasoningField(t *testing.T) {
	for said, want := range map[string]string{
		`"content":"<think>hm</think>`: "reasoning_content", `"reasoning":"hm","content":"`: "reasoning", `"reasoning_content":"hm","content":"`: "reasoning_content",
	} {
		var tried []string
		o := probed(t, func(body string) (int, string) {
			if strings.Contains(body, `"role":"tool"`) {
				tried = append(tried, body)
				return http.StatusBadRequest, "no"
			}
			if strings.Contains(body, "Call the tool") {
				return 0, `{` + said + `","tool_calls":[{"id":"a","type":"function","function":{"name":"lookup_number","arguments":"{\"name\":\"alpha\"}"}}]}`
			}
			return 0, `{` + said + `7391"}`
		})
		if _, err := provider.Probe(ctxOf(t), o); err != nil || len(tried) < 2 || !strings.Contains(tried[1], `"`+want+`":`) {
			t.Errorf("%s: %v, %d tried: %s", said, err, len(tried), tried)
		}
	}
}
