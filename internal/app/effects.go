package app

import (
	"overt/internal/config"
	"overt/internal/llm"
	"overt/internal/provider"
)

// effects are what becomes of the settings that steer the model, with what is known of the server and what was measured: see [provider.EffectOf].
func effects(c *config.Config, state, model string) (provider.Effect, bool) {
	profile, bad := profileOf(c, state, model)
	if bad != nil || c.BaseURL.Value == "" {
		return provider.Effect{}, false
	}
	return provider.EffectOf(c.Protocol.Value, model, profile, llm.Params{Temperature: c.Temperature, Thinking: c.Thinking, Effort: c.Effort}), true
}

// Dropped says which of thinking and effort, where they were said for this run, are not sent. What stands in a file is [Doctor]'s to tell.
func (a *App) Dropped() (out []config.Notice) {
	c := a.o.Config
	sent, ok := effects(c, a.o.State, a.Model)
	if !ok {
		return nil
	}
	say := func(code, key, value string, reaches bool) {
		if s := sourceOf(c, key); value != "" && !reaches && s.Layer >= config.Environment {
			out = append(out, config.Notice{Code: code, Args: []any{value, s}})
		}
	}
	say("config.dropped.thinking", config.Thinking, c.Thinking, sent.Thinking)
	say("config.dropped.effort", config.Effort, c.Effort, sent.Effort != "")
	return out
}
