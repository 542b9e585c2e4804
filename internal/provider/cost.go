package provider

import (
	"net/http"
	"strconv"

	"overt/internal/llm"
)

// costHeader is where LiteLLM says what a call has cost, in US dollars.
const costHeader = "X-Litellm-Response-Cost"

// reportedCost is what a server says that a call has cost, in US dollars: OpenRouter in the member cost of its usage, to which
// belongs what the person's own account elsewhere was charged, where that was used; nil: it says nothing. LiteLLM has only a header,
// and sends it before a stream, with nothing spent: so 0 says nothing there.
func reportedCost(u llm.Usage, h http.Header) *float64 {
	usage := raw(u.Raw)
	if cost, err := strconv.ParseFloat(string(usage.get("cost")), 64); err == nil && cost >= 0 {
		own, err := strconv.ParseFloat(string(usage.get("cost_details").get("upstream_inference_cost")), 64)
		if err == nil && own > 0 && string(usage.get("is_byok")) == "true" {
			cost += own
		}
		return &cost
	}
	if cost, err := strconv.ParseFloat(h.Get(costHeader), 64); err == nil && cost > 0 {
		return &cost
	}
	return nil
}
