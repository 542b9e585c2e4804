package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"overt/internal/event"
	"overt/internal/llm"
)

// looking is a reply with one call, which reports u.
func looking(i int, u *llm.Usage) reply {
	r := calls(llm.ToolCalls, call(fmt.Sprint("a", i), "look", fmt.Sprintf(`{"path":"p%d"}`, i)))
	r.usage, r.silent = u, u == nil
	return r
}

func TestCosts(t *testing.T) {
	told, negative := 0.0125, -1.0
	s := &scene{
		info: llm.Info{Prices: &llm.Prices{Fresh: n(3e9), CacheRead: n(3e8), Output: n(15e9)}},
		model: &model{script: []reply{
			{err: &llm.Error{Class: llm.Network, Message: "refused"}, silent: true},   // used nothing
			looking(1, &llm.Usage{Fresh: n(1000), CacheRead: n(500), Output: n(100)}), // 3,000,000 + 150,000 + 1,500,000
			looking(2, &llm.Usage{Fresh: n(7), Output: n(7), Cost: &told}),            // as told
			looking(3, &llm.Usage{Fresh: n(1000), CacheWrite: n(1), Output: n(100)}),  // one price is not known
			looking(4, nil), // no usage
			{blocks: says("x").blocks, finish: llm.Stop, usage: &llm.Usage{Fresh: n(1), Output: n(0), Cost: &negative}}, // no cost: prices count
		}},
	}
	out := s.turn(t, context.Background())
	var prices, costs []string
	for _, f := range s.facts(t) {
		var c *event.Cost
		switch p := f.Data.(type) {
		case event.CallStarted:
			prices = append(prices, fmt.Sprint(*p.Prices.Fresh, *p.Prices.CacheRead, p.Prices.CacheWrite == nil, *p.Prices.Output))
			continue
		case event.CallCompleted:
			c = p.Cost
		case event.CallFailed:
			c = p.Cost
		default:
			continue
		}
		if c == nil {
			costs = append(costs, "?")
		} else {
			costs = append(costs, fmt.Sprint(c.Nano, c.Reported))
		}
	}
	if got := strings.Join(costs, ", "); got != "?, 4650000 false, 12500000 true, ?, ?, 3000 false" {
		t.Error(got)
	}
	if len(prices) != 6 || prices[5] != "3000000000 300000000 true 15000000000" {
		t.Errorf("%q", prices)
	}
	done, ok := out.Fact.Data.(event.RunCompleted)
	if !ok || done.Cost == nil || *done.Cost != (event.Cost{Nano: 4650000 + 12500000 + 3000, Unknown: 2}) {
		t.Errorf("%+v %+v", out.Fact.Data, done.Cost)
	}
}

// TestUnknownCost: without any price there is no sum, not one of 0.
func TestUnknownCost(t *testing.T) {
	s := &scene{model: &model{script: []reply{says("x")}}}
	if done := s.turn(t, context.Background()).Fact.Data.(event.RunCompleted); done.Cost != nil {
		t.Errorf("%+v", done.Cost)
	}
}

func TestUnread(t *testing.T) {
	used := func(fresh, read int64) *llm.Usage { return &llm.Usage{Fresh: &fresh, CacheRead: &read, Output: n(1)} }
	for _, c := range []struct {
		name string
		cuts bool
		used []*llm.Usage
		want string
	}{
		{"a server that says when it is full", false, []*llm.Usage{used(9000, 0), used(10, 0)}, "--"},
		{"less than before", true, []*llm.Usage{used(9000, 0), used(4096, 0), used(4096, 0)}, "-u-"},
		{"a little less", true, []*llm.Usage{used(9000, 0), used(5000, 0)}, "--"},
		{"less of little", true, []*llm.Usage{used(1500, 0), used(700, 0)}, "--"},
		{"the rest is cached", true, []*llm.Usage{used(9000, 0), used(100, 8990)}, "--"},
		{"not reported", true, []*llm.Usage{used(9000, 0), nil}, "--"},
		{"more", true, []*llm.Usage{used(100, 0), used(9000, 0)}, "--"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scene{info: llm.Info{MayCut: c.cuts}, model: &model{}}
			for i, u := range c.used {
				s.model.script = append(s.model.script, looking(i, u))
			}
			s.model.script = append(s.model.script, reply{blocks: says("x").blocks, finish: llm.Stop, silent: true})
			s.turn(t, context.Background())
			got := ""
			for _, f := range s.facts(t) {
				if p, ok := f.Data.(event.CallCompleted); ok {
					got += map[bool]string{true: "u", false: "-"}[p.Unread]
				}
			}
			if got != c.want+"-" {
				t.Errorf("%s, want %s-", got, c.want)
			}
		})
	}
	// Far below the estimate, at once.
	s := &scene{info: llm.Info{MayCut: true}, model: &model{script: []reply{{blocks: says("x").blocks, finish: llm.Stop, usage: used(4096, 0)}}}, input: strings.Repeat("word ", 10_000)}
	s.turn(t, context.Background())
	for _, f := range s.facts(t) {
		if p, ok := f.Data.(event.CallCompleted); ok && !p.Unread {
			t.Error("a request of about 12,500 tokens, of which 4,096 were read")
		}
	}
}
