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
// one line; no list in an answer is one, and so is a redirect, which is never followed.
func Models(ctx context.Context, c *http.Client, endpoint, key string) ([]string, error) {
	_, address, err := Addresses(Chat, endpoint)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	once := *c
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the key is for this address
	res, err := once.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return nil, u.Err // its text holds the whole URL, with what may be secret in it
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if to, err := res.Location(); err == nil && res.StatusCode < 400 {
		target := to.Scheme + "://" + to.Host + strings.TrimRight(to.Path, "/")
		if base, list := strings.CutSuffix(target, "/models"); list {
			return nil, fmt.Errorf("the server redirects to %s; set that as the base URL if you trust it", base)
		}
		return nil, fmt.Errorf("the server redirects to %s, a page to sign in at, perhaps", target)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return nil, err
	}
	ids, ok := ReadModels(body)
	if res.StatusCode != http.StatusOK || !ok {
		return nil, fmt.Errorf("HTTP %d, no list of models", res.StatusCode)
	}
	return ids, nil
}

// Addresses gives the URLs of a protocol's requests and of the list of models below a base URL as people write it.
func Addresses(protocol, endpoint string) (post, models string, err error) {
	d := newDialect(Options{Protocol: protocol})
	if d == nil {
		return "", "", errProtocol(protocol)
	}
	post, err = below(endpoint, d.path())
	return post, strings.Replace(post, d.path(), "/models", 1), err
}

// ReadModels reads the ids of a list of models; false: the text is none.
func ReadModels(text []byte) ([]string, bool) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(text, &list) != nil || list.Data == nil {
		return nil, false
	}
	ids := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return ids, true
}
