package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"overt/internal/config"
	"overt/internal/provider"
	"overt/internal/wire"
)

// answer says what the answer to the request for the list of models means.
func (j *journey) answer(ctx context.Context, s wire.Seen) {
	models, list := provider.ReadModels(s.Body)
	source := j.c.BaseURL.Source
	if before := len(j.f.checks); j.c.Model.Value == "" {
		defer func() { j.unnamed(before) }()
	}
	switch {
	case s.Status >= 300 && s.Status < 400 && s.Header.Get("Location") != "":
		j.moved(ctx, s.Status, s.Header.Get("Location"))
	case s.Status == http.StatusOK && list:
		j.f.ok("doctor.answer", s.Status, ms(s.HTTP.Took))
		j.posts(ctx)
		j.list(models)
		j.window(ctx, s.Body)
	case s.Status == http.StatusOK && page(s):
		j.misplaced(ctx, "doctor.answer.page", s.Status)
	case s.Status == http.StatusOK && !json.Valid(s.Body):
		j.misplaced(ctx, "doctor.answer.no_json", s.Status)
	case s.Status == http.StatusOK:
		j.f.unknown("doctor.answer.no_list")
	case s.Status == http.StatusUnauthorized || s.Status == http.StatusForbidden:
		j.refused(s.Status)
	case s.Status == http.StatusProxyAuthRequired:
		j.f.problem("doctor.tunnel.refused", s.Host, j.base.Hostname(), s.Status).next("doctor.proxy.password.next", j.proxyVariable())
	case s.Status == http.StatusNotFound || s.Status == http.StatusMethodNotAllowed:
		j.absent(ctx, s.Status)
	case s.Status == http.StatusBadRequest && j.base.Scheme == "http" && bytes.Contains(s.Body, []byte("HTTPS")):
		j.f.problem("doctor.answer.https", j.base.Hostname()).next("doctor.answer.set", j.mask.URL("https"+strings.TrimPrefix(j.base.String(), "http")), source)
	case s.Status >= 500 && s.Proxy != nil && j.base.Scheme == "http":
		j.f.problem("doctor.answer.status", s.Status).next("doctor.proxy.next", j.proxyVariable(), j.base.Hostname())
	case s.Status >= 500:
		j.f.problem("doctor.answer.status", s.Status).next("doctor.answer.status.next")
	case s.Status == http.StatusTooManyRequests || s.Status == http.StatusPaymentRequired:
		j.f.warn("doctor.answer.quota", s.Status).next("doctor.answer.quota.next", j.c.Provider)
	default:
		j.f.unknown("doctor.answer.status", s.Status)
	}
	// An answer of a cache is as old as it says.
	if at, err := http.ParseTime(s.Header.Get("Date")); err == nil && s.Header.Get("Age") == "" {
		if apart(s.At, at) > maxSkew {
			j.clock(s.At, at)
		} else {
			j.f.ok("doctor.clock")
		}
	}
}

// unnamed says that a task can't begin: no model is named, and none can be taken from what the server said. Where one could be, or
// something else is to be mended first, which the checks from a place on tell, it says nothing.
func (j *journey) unnamed(from int) {
	if !slices.ContainsFunc(j.f.checks[from:], func(c Check) bool { return c.Verdict == VerdictProblem || c.Code == "doctor.model.only" }) {
		j.f.problem("doctor.model.unnamed").next("config.no_model.hint")
	}
}

// page tells whether an answer is a web page.
func page(s wire.Seen) bool {
	return strings.HasPrefix(s.Header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(s.Body), []byte("<"))
}

// moved decides whether a server points elsewhere for all, or only for the list of models: to a page for people who have not signed in,
// say, which a task does not ask for.
func (j *journey) moved(ctx context.Context, status int, location string) {
	u, err := url.Parse(j.chat)
	if err == nil {
		u.User = nil
		var to *url.URL
		if to, err = u.Parse(location); err == nil && !j.endpointPath(to) {
			if s := j.prober.Look(ctx, http.MethodHead, u.String(), nil); s.Status != 0 && (s.Status < 300 || s.Status >= 400) {
				j.f.warn("doctor.redirect.models", status, (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()).next("doctor.redirect.models.next")
				return
			}
		}
	}
	j.redirect(status, location)
}

// littleWindow is what leaves hardly any room for an agent's work, in tokens.
const littleWindow = 16_384

// window says how much of a request a server of one's own reads, where it says so.
func (j *journey) window(ctx context.Context, list []byte) {
	name := j.c.Model.Value
	if name == "" || !wire.Local(j.c.BaseURL.Value) || j.withheld {
		return
	}
	server := serverKind(j.c, provider.ServerOf(list))
	link, bad := transport(j.c)
	if server == "" || bad != nil {
		return
	}
	w := wire.New(wire.Options{UserAgent: "overt", Transport: link})
	defer w.Close()
	facts, err := provider.Loaded(ctx, w.HTTP(), server, j.c.Protocol.Value, j.c.BaseURL.Value, name, j.auth)
	switch {
	case errors.Is(err, provider.ErrNotLoaded):
		j.f.ok("doctor.window.unloaded", name)
	case err != nil || facts.Window == 0:
		j.f.unknown("doctor.window.unknown", server)
	case facts.Window < littleWindow && provider.Cuts(server):
		j.f.warn("doctor.window.cuts", name, int(facts.Window)).next("doctor.window.next", server)
	case facts.Window < littleWindow:
		j.f.warn("doctor.window.little", name, int(facts.Window)).next("doctor.window.next", server)
	default:
		j.f.ok("doctor.window", name, int(facts.Window))
	}
}

// ends are what the addresses of a list of models and of a task's requests end in.
func (j *journey) ends() []string { return []string{"/models", j.post()} }

// post is what the address of a task's requests ends in.
func (j *journey) post() string {
	u, err := url.Parse(j.chat)
	models, bad := url.Parse(j.models)
	if err != nil || bad != nil {
		return "/chat/completions"
	}
	return strings.TrimPrefix(u.Path, strings.TrimSuffix(models.Path, "/models"))
}

// endpointPath tells whether an address is one that a task or a look at the models asks for.
func (j *journey) endpointPath(u *url.URL) bool {
	path := strings.TrimRight(u.Path, "/")
	return slices.ContainsFunc(j.ends(), func(end string) bool { return strings.HasSuffix(path, end) })
}

// redirect says what to set where a server points elsewhere.
func (j *journey) redirect(status int, location string) {
	from, err := url.Parse(j.models)
	if err == nil {
		from, err = from.Parse(location)
	}
	if err != nil {
		j.f.problem("doctor.redirect", status, "?").next("doctor.redirect.next")
		return
	}
	to := &url.URL{Scheme: from.Scheme, Host: from.Host, Path: from.Path}
	c := j.f.problem("doctor.redirect", status, to)
	path := strings.TrimRight(to.Path, "/")
	for _, end := range j.ends() {
		if base, ok := strings.CutSuffix(path, end); ok {
			c.next("doctor.answer.set", (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: base}).String(), j.c.BaseURL.Source)
			return
		}
	}
	c.next("doctor.redirect.next")
}

// posts looks for a redirect of what a task sends to, with a request that says nothing.
func (j *journey) posts(ctx context.Context) {
	u, err := url.Parse(j.chat)
	if err != nil {
		return
	}
	u.User = nil
	s := j.prober.Look(ctx, http.MethodHead, u.String(), nil)
	// Elsewhere on the way to a page for people who have not signed in, say, it tells nothing of a request with a key.
	to, err := u.Parse(s.Header.Get("Location"))
	if s.Status >= 300 && s.Status < 400 && err == nil && strings.HasSuffix(strings.TrimRight(to.Path, "/"), j.post()) {
		j.redirect(s.Status, to.String())
	}
}

// refused says why a server takes no key.
func (j *journey) refused(status int) {
	switch source := j.c.APIKey.Source; {
	case j.keyed && status == http.StatusForbidden: // a key may be for tasks alone
		j.f.warn("doctor.answer.forbidden", status).next("doctor.answer.refused.next", source)
	case j.keyed:
		j.f.problem("doctor.answer.refused", status).next("doctor.answer.refused.next", source)
	case j.withheld:
		j.f.unknown("doctor.answer.withheld", status)
	default:
		j.f.problem("doctor.answer.wants_key", status).next("doctor.key.missing.next")
	}
}

// absent decides whether the path is wrong, or only the list of models is missing.
func (j *journey) absent(ctx context.Context, status int) {
	u, err := url.Parse(j.chat)
	answered := false
	if err == nil {
		u.User = nil
		s := j.prober.Look(ctx, http.MethodHead, u.String(), nil)
		if answered = s.Status != 0; answered && s.Status >= 300 && s.Status < 400 && s.Header.Get("Location") != "" {
			j.redirect(s.Status, s.Header.Get("Location"))
			return
		}
		if answered && s.Status != http.StatusNotFound {
			if s.Status == http.StatusNotImplemented { // which says nothing about the path
				j.f.warn("doctor.answer.no_models", status).next("doctor.answer.no_models.next", j.c.BaseURL.Source)
			} else {
				j.f.unknown("doctor.answer.no_models", status)
			}
			return
		}
	}
	// A gateway may know the path for tasks alone, and no HEAD.
	if base := j.elsewhere(ctx); base != "" || !answered {
		j.misplacedAt("doctor.answer.absent", status, base)
		return
	}
	j.f.warn("doctor.answer.absent.perhaps", status, j.mask.URL(j.models)).next("doctor.answer.no_models.next", j.c.BaseURL.Source)
}

// misplaced says where the models are instead, if they are anywhere near.
func (j *journey) misplaced(ctx context.Context, code string, status int) {
	j.misplacedAt(code, status, j.elsewhere(ctx))
}

// misplacedAt says so once that is known; base is "" where it is not.
func (j *journey) misplacedAt(code string, status int, base string) {
	c := j.f.problem(code, status, j.mask.URL(j.models))
	if base != "" {
		c.next("doctor.answer.set", base, j.c.BaseURL.Source)
	} else {
		c.next("doctor.answer.path", j.c.BaseURL.Source)
	}
}

// elsewhere tries the usual paths of the same server, without a key.
func (j *journey) elsewhere(ctx context.Context) string {
	origin := j.base.Scheme + "://" + j.base.Host
	given := origin + strings.TrimRight(j.base.Path, "/")
	tried := []string{j.models}
	for _, base := range []string{given + "/v1", origin + "/v1", origin + "/api/v1", origin + "/openai/v1"} {
		_, models, err := provider.Addresses(j.c.Protocol.Value, base)
		if err != nil || slices.Contains(tried, models) {
			continue
		}
		tried = append(tried, models)
		s := j.prober.Look(ctx, http.MethodGet, models, nil)
		_, list := provider.ReadModels(s.Body)
		wantsKey := s.Status == http.StatusUnauthorized && json.Valid(s.Body)
		if s.Status == http.StatusOK && list || wantsKey {
			return base
		}
	}
	return ""
}

// list says whether the model is one of those that the endpoint lists.
func (j *journey) list(models []string) {
	name, source := j.c.Model.Value, j.c.Model.Source
	some := strings.Join(models[:min(len(models), 5)], ", ")
	if len(models) > 5 {
		some += ", …"
	}
	switch {
	case name == "" && len(models) == 1:
		j.f.ok("doctor.model.only", models[0])
	case name == "" && len(models) == 0:
		j.f.unknown("doctor.model.empty")
	case name == "":
		j.f.problem("doctor.model.none", len(models), some).next("config.no_model.hint")
	case len(models) == 0:
		j.f.unknown("doctor.model.empty")
	case slices.ContainsFunc(models, func(m string) bool { return same(m, name) }):
		j.f.ok("doctor.model", name, len(models))
	default:
		c := j.f.problem("doctor.model.unknown", name, len(models))
		if like := config.Nearest(name, models, 3); len(like) > 0 {
			c.next("doctor.model.like", strings.Join(like, ", "), source)
		} else {
			c.next("doctor.model.some", some, source)
		}
	}
}

// same tells whether a model that is listed is the one that is meant: Ollama lists a tag that may be left out, OpenRouter
// leaves out what a name may end in, and Google lists names with a prefix.
func same(listed, name string) bool {
	listed = strings.TrimPrefix(listed, "models/")
	base, _, _ := strings.Cut(name, ":")
	return listed == name || listed == name+":latest" || strings.Contains(name, "/") && listed == base
}
