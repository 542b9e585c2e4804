package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// modelsTimeout bounds how long a list of models is waited for.
const modelsTimeout = 5 * time.Second

// Models lists the ids of the models that an endpoint offers (GET models below the base URL), in its order. Errors are
// one line; no list in an answer is one.
func Models(ctx context.Context, c *http.Client, endpoint, key string) ([]string, error) {
	chat, err := chatURL(endpoint)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(chat, "/chat/completions", "/models", 1), nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := c.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return nil, u.Err // its text holds the whole URL, with what may be secret in it
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if res.StatusCode != http.StatusOK || json.Unmarshal(body, &list) != nil || list.Data == nil {
		return nil, fmt.Errorf("HTTP %d, no list of models", res.StatusCode)
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return ids, nil
}
