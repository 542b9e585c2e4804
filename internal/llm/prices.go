package llm

import "math/big"

// Prices are list prices of a model, in nano-dollars (a thousand-millionth of a US dollar) for a million tokens of each
// bucket of [Usage]; reasoning is paid as output. A nil price is not known.
type Prices struct {
	Fresh, CacheRead, CacheWrite, Output *int64
}

// PerMillion gives a price of so many US dollars for a million tokens in nano-dollars.
func PerMillion(dollars float64) *int64 {
	n := int64(dollars*nano + 0.5)
	return &n
}

// nano is the number of nano-dollars in a dollar.
const nano = 1e9

// Nano gives a sum in US dollars in nano-dollars, rounded to the nearest. What is less than nothing, or more than a million
// dollars, is no cost of a call: false.
func Nano(dollars float64) (int64, bool) {
	if !(dollars >= 0 && dollars <= 1e6) { // neither if it is no number
		return 0, false
	}
	return int64(dollars*nano + 0.5), true
}

// Cost gives what a call that used u costs at these prices, in nano-dollars, rounded once to the nearest. It is not known,
// and the result false, where input or output was not reported, or where tokens were used that have no known price.
func (p *Prices) Cost(u Usage) (int64, bool) {
	if p == nil || u.Fresh == nil || u.Output == nil {
		return 0, false
	}
	sum := new(big.Int)
	for _, b := range []struct{ tokens, price *int64 }{
		{u.Fresh, p.Fresh}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}, {u.Output, p.Output},
	} {
		switch {
		case b.tokens == nil || *b.tokens == 0: // what a server does not count, it does not charge apart
		case b.price == nil:
			return 0, false
		default:
			sum.Add(sum, new(big.Int).Mul(big.NewInt(*b.tokens), big.NewInt(*b.price)))
		}
	}
	const million = 1_000_000
	sum.Div(sum.Add(sum, big.NewInt(million/2)), big.NewInt(million))
	return sum.Int64(), sum.IsInt64()
}
