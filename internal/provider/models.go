package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// modelsTimeout bounds how long a list of models is waited for, maxList how many bytes of it are read.
const (
	modelsTimeout = 5 * time.Second
	maxList       = 8 << 20
)

// maxModels bounds the models of a list, of which the longest known has some hundred.
const maxModels = 20_000

// List is what an endpoint says of its models.
type List struct {
	Server string   // the kind of server, such as [Ollama], "" where the list does not tell
	Models []Listed // the first 20,000 of them
}

// Models asks an endpoint for its models (GET models below the base URL), in its order. header is what goes with the request,
// see [Header]; c must not follow redirects, as that of [wire.Client.HTTP]. Errors are one line; no list in an answer is one, and so is a redirect.
func Models(ctx context.Context, c *http.Client, protocol, endpoint string, header http.Header) (List, error) {
	_, address, err := Addresses(protocol, endpoint)
	if err != nil {
		return List{}, err
	}
	address = WholeList(protocol, address)
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	status, body, err := fetch(ctx, c, http.MethodGet, address, header, "")
	if err != nil {
		return List{}, err
	}
	list, ok := readList(body)
	if status != http.StatusOK || !ok {
		return List{}, fmt.Errorf("HTTP %d, no list of models", status)
	}
	return list, nil
}

// WholeList gives the address of a list of models with what it takes to get all of it: Messages gives 20 a page.
func WholeList(protocol, address string) string {
	u, err := url.Parse(address)
	if protocol != Messages || err != nil {
		return address
	}
	q := u.Query()
	q.Set("limit", "1000")
	u.RawQuery = q.Encode()
	return u.String()
}

// fetch makes one request and gives the answer; one of more than maxList bytes is an error, and so is a redirect: what goes with the
// request is for this address.
func fetch(ctx context.Context, c *http.Client, method, address string, header http.Header, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("the base URL can't be used")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return 0, nil, u.Err // its text holds the whole URL, with what may be secret in it
	}
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if to, err := res.Location(); err == nil && res.StatusCode >= 300 && res.StatusCode < 400 {
		target := to.Scheme + "://" + to.Host + strings.TrimRight(to.Path, "/")
		if base, list := strings.CutSuffix(target, "/models"); list {
			return 0, nil, fmt.Errorf("the server redirects to %s; set that as the base URL if you trust it", base)
		}
		return 0, nil, fmt.Errorf("the server redirects to %s, a page to sign in at, perhaps", target)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxList+1))
	if len(text) > maxList {
		return 0, nil, fmt.Errorf("the list of models is larger than %d MB", maxList>>20)
	}
	return res.StatusCode, text, err
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
	list, ok := readList(text)
	return list.IDs(), ok
}

// ServerOf gives the kind of server that has sent a list of models, "" where the text does not tell.
func ServerOf(text []byte) string {
	list, _ := readList(text)
	return list.Server
}

// IDs gives the ids of the models.
func (l List) IDs() []string {
	ids := make([]string, 0, len(l.Models))
	for _, m := range l.Models {
		ids = append(ids, m.ID)
	}
	return ids
}
