package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/llm"
)

// TestCallsSurviveAnyCut: calls in OpenAI's form come out as they were, however their arguments are cut and mixed.
// covers L231
func TestCallsSurviveAnyCut(t *testing.T) {
	var body string
	m, _ := against(t, true, func(w http.ResponseWriter, r *http.Request) { raw(200, sse(), body)(w, r) })
	ctx := ctxOf(t)
	rapid.Check(t, func(rt *rapid.T) {
		var want []llm.ToolCall
		var rest []string
		var deltas []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
			args, _ := json.Marshal(rapid.MapOf(rapid.StringN(0, 5, -1), rapid.StringN(0, 9, -1)).Draw(rt, "args"))
			c := llm.ToolCall{ID: fmt.Sprint("id", i), Name: "read", Arguments: string(args)}
			want, rest = append(want, c), append(rest, c.Arguments)
			deltas = append(deltas, tc(fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":"read","arguments":""}}`, i, c.ID)))
		}
		for {
			var open []int
			for i, s := range rest {
				if s != "" {
					open = append(open, i)
				}
			}
			if len(open) == 0 {
				break
			}
			i := rapid.SampledFrom(open).Draw(rt, "which")
			r := []rune(rest[i])
			n := rapid.IntRange(1, len(r)).Draw(rt, "length")
			piece, _ := json.Marshal(string(r[:n]))
			rest[i] = string(r[n:])
			deltas = append(deltas, tc(fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, piece)))
		}
		body = stream("tool_calls", deltas...)
		r, err := m.Stream(ctx, say("x"), nil)
		if err != nil {
			rt.Fatal(err)
		}
		if got := callsOf(r); fmt.Sprint(got) != fmt.Sprint(want) || r.Dropped != 0 {
			rt.Fatalf("got  %q\nwant %q\nfrom %s", got, want, body)
		}
	})
}
