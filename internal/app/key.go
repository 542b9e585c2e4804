package app

import (
	"context"
	"strings"
	"time"

	"overt/internal/config"
	"overt/internal/shell"
)

// keyTime is how long the command that gives a key may take: a person may have to unlock something.
const keyTime = time.Minute

// runKeyCommand asks the person's own program for the key, where one is configured. It gets the whole environment.
func (a *App) runKeyCommand(ctx context.Context) error {
	c := a.o.Config
	if len(c.KeyCommand.List) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	out, err := shell.Capture(ctx, c.KeyCommand.List, a.o.Env)
	key, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	key = strings.TrimSpace(key)
	bad := &config.Error{Code: "config.key_command", Args: []any{c.KeyCommand.List[0], "it printed nothing"}, Source: c.KeyCommand.Source}
	switch {
	case err != nil:
		bad.Args[1] = err
	case key != "":
		c.APIKey = config.Setting{Key: config.APIKey, Value: key, Source: c.KeyCommand.Source}
		if e := c.CheckKey(); e != nil {
			return e
		}
		return nil
	}
	return bad
}
