package llm

import "slices"

// Mend says how a request that a server has refused may be changed so that it is taken. Each is worth one attempt.
type Mend string

// Ways to mend a request.
const (
	Resend  Mend = "resend"  // not at all: what the model itself wrote was at fault
	Unseal  Mend = "unseal"  // without what earlier answers have sealed: see [Request.Unsealed]
	Shorten Mend = "shorten" // with Error.MaxTokens as the limit of the answer
	Uncount Mend = "uncount" // without asking a stream for its usage
)

// Unsealed gives a request whose first n messages hold no reasoning and nothing that only its origin can read: servers refuse
// what another key or deployment has sealed. The messages of r stay as they are.
func (r *Request) Unsealed(n int) *Request {
	out := *r
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages[:min(n, len(out.Messages))] {
		m := &out.Messages[i]
		if !slices.ContainsFunc(m.Blocks, sealed) {
			continue
		}
		blocks := make([]Block, 0, len(m.Blocks))
		for _, b := range m.Blocks {
			if b.Type == Reasoning {
				continue
			}
			b.Opaque, b.Origin = nil, ""
			blocks = append(blocks, b)
		}
		if m.Blocks = blocks; m.Key != "" {
			m.Key += " unsealed" // it is another content
		}
	}
	return &out
}

func sealed(b Block) bool { return b.Type == Reasoning || len(b.Opaque) > 0 }
