package provider_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overt/internal/llm"
	"overt/internal/provider"
)

// TestCallsSurviveAnyCut: calls in the vendor's form come out as they were, however their arguments are cut and mixed.
// covers L231
func TestCallsSurviveAnyCut(t *testing.T) {
	for _, w := range streams() {
		t.Run(w.String(), func(t *testing.T) { rapid.Check(t, func(rt *rapid.T) { mixedCalls(t, rt, w) }) })
	}
}

func mixedCalls(t *testing.T, rt *rapid.T, w world) {
	var want []llm.ToolCall
	var rest, events []string
	add := func(chat, responses, messages string) { events = append(events, w.pick(chat, responses, messages)) }
	for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
		args, _ := json.Marshal(rapid.MapOf(rapid.StringN(0, 5, -1), rapid.StringN(0, 9, -1)).Draw(rt, "args"))
		c := llm.ToolCall{ID: fmt.Sprint("id", i), Name: "read", Arguments: string(args)}
		want, rest = append(want, c), append(rest, c.Arguments)
		add(tc(fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":"read","arguments":""}}`, i, c.ID)),
			item(i, fmt.Sprintf(`"type":"function_call","id":"fc%d","call_id":%q,"name":"read","arguments":""`, i, c.ID)),
			block(i, fmt.Sprintf(`"type":"tool_use","id":%q,"name":"read","input":{}`, c.ID)))
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
		inside := string(piece[1 : len(piece)-1])
		add(tc(fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, piece)),
			fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"item_id":"fc%d","delta":"%s"}`, i, i, inside),
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":"%s"}}`, i, inside))
	}
	body := ""
	switch w.protocol {
	case provider.Chat:
		body = stream("tool_calls", events...)
	case provider.Responses:
		body = named(append(events, completed)...)
	default:
		body = named(append(events, stopped("tool_use"))...)
	}
	o := provider.Options{Endpoint: "http://model.example/v1", Model: "m"}
	w.set(&o)
	borders := rapid.SliceOfN(rapid.IntRange(0, len(body)), 0, 9).Draw(rt, "borders")
	slices.Sort(borders)
	r, err := provider.Receive(o, toolSpecs(), &pieces{body: body, borders: borders}, func(llm.Delta) {})
	if err != nil {
		rt.Fatal(err)
	}
	if got := callsOf(r); fmt.Sprint(got) != fmt.Sprint(want) || r.Dropped != 0 {
		rt.Fatalf("got  %q\nwant %q\nfrom %s", got, want, body)
	}
}
