package trace

import (
	"strconv"
	"strings"

	"overt/internal/event"
)

// Cost is what calls cost, as far as it is known.
type Cost struct {
	USD      USD  `json:"usd"`
	Estimate bool `json:"estimate"`      // it is tokens times list prices, of some calls at least; else the servers said it
	Unknown  int  `json:"unknown_calls"` // calls that were answered, whose cost is not known and not in it
}

// USD is a sum in nano-dollars, a thousand-millionth of a US dollar each. In JSON it is the number of dollars.
type USD int64

// String gives the dollars, exactly.
func (u USD) String() string {
	sign := ""
	if u < 0 {
		sign, u = "-", -u
	}
	s := strconv.FormatInt(int64(u), 10)
	s = strings.Repeat("0", max(0, 10-len(s))) + s
	whole, part := s[:len(s)-9], strings.TrimRight(s[len(s)-9:], "0")
	if part == "" {
		return sign + whole
	}
	return sign + whole + "." + part
}

// MarshalJSON implements json.Marshaler.
func (u USD) MarshalJSON() ([]byte, error) { return []byte(u.String()), nil }

// NewCost gives the public form of a cost; nil stays nil.
func NewCost(c *event.Cost) *Cost {
	if c == nil {
		return nil
	}
	return &Cost{USD(c.Nano), !c.Reported, c.Unknown}
}
