package app

import (
	"context"
	"strings"
	"time"

	"overt/internal/config"
	"overt/internal/redact"
	"overt/internal/shell"
	"overt/internal/wire"
)

// LacksKey tells whether an endpoint that usually wants a key has none in force.
func LacksKey(c *config.Config) bool {
	return c.APIKey.Value == "" && len(c.KeyCommand.List) == 0 && !wire.Local(c.BaseURL.Value)
}

// keyTime is how long the command that gives a key may take: a person may have to unlock something.
const keyTime = time.Minute

// askKey asks the person's own program for the key, where one is configured, and makes the key known to the masker. The
// program gets the whole environment. The error is a *config.Error.
func askKey(ctx context.Context, c *config.Config, env []string, mask *redact.Masker) error {
	if len(c.KeyCommand.List) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	out, err := shell.Capture(ctx, c.KeyCommand.List, env)
	key, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	key = strings.TrimSpace(key)
	mask.AddShort("api key", key)
	bad := &config.Error{Code: "config.key_command", Args: []any{c.KeyCommand.List[0], "it printed nothing"}, Source: c.KeyCommand.Source}
	switch {
	case err != nil:
		bad.Args[1] = mask.String(err.Error())
		return bad
	case key == "":
		return bad
	}
	c.APIKey = config.Setting{Key: config.APIKey, Value: key, Source: c.KeyCommand.Source}
	if e := c.CheckKey(); e != nil {
		return e
	}
	return nil
}
