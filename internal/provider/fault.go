package provider

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"overt/internal/llm"
	"overt/internal/wire"
)

// fault is what an error body says, in whichever of the many forms.
type fault struct {
	message, code, kind string
	param               string // the member of the request at fault
	status              int    // HTTP status that a code names
	native              bool   // code is MiniMax's, which has numbers of its own
	window, prompt      int64  // fields that hold the window, and what the request has
	search              string // all texts in it, lower case
	texts               int    // in search
}

// Bounds of what is taken of an error, which may be as large as a reply.
const (
	maxDepth   = 8        // of documents and strings within each other
	maxTexts   = 64       // that are looked at
	maxSearch  = 64 << 10 // bytes of all of them
	maxMessage = 4 << 10  // bytes of the message, before it is made a line
)

// readFault takes an error body apart.
func readFault(doc raw) fault {
	var f fault
	f.read(doc, 0)
	return f.closed()
}

// closed ends the search.
func (f fault) closed() fault {
	f.search = strings.ToLower(strings.Join([]string{f.search, f.code, f.kind}, " "))
	return f
}

// full tells whether no more is taken.
func (f *fault) full() bool { return f.texts >= maxTexts || len(f.search) >= maxSearch }

// find adds a text to those that words are looked for in.
func (f *fault) find(s string) {
	f.texts++
	f.search += " " + head(s, maxSearch-len(f.search))
}

// read takes a value. The inner texts come first: outer ones are often no more than "error from upstream".
func (f *fault) read(v raw, depth int) {
	if depth > maxDepth || f.full() {
		return
	}
	switch v.kind() {
	case '"':
		f.readText(v.text(), depth)
	case '[':
		for e := range v.elements() {
			if f.read(e, depth+1); f.full() {
				return
			}
		}
	case '{':
		names := [...]string{"error", "errors", "detail", "message", "error_msg", "msg", "status_msg", "base_resp", "response"}
		var inner [len(names)]raw
		for k, m := range v.members() {
			if i := slices.Index(names[:], k); i >= 0 {
				inner[i] = m
			}
		}
		for _, m := range inner {
			if !m.null() {
				f.read(m, depth+1)
			}
		}
		f.fields(v, depth)
	}
}

// readText takes a text, which may be a document once more.
func (f *fault) readText(s string, depth int) {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		if doc, ok := parse([]byte(t)); ok {
			f.read(doc, depth+1)
			return
		}
	}
	if s = joined(head(s, maxSearch)); s == "" || markup(s) {
		return
	}
	f.find(s)
	switch s = head(s, maxMessage-len(f.message)); {
	case f.message == "":
		f.message = s
	case s != "" && !strings.Contains(f.message, s):
		f.message += "; " + s
	}
}

// fields takes the members that are no texts for people. The outermost that has a value is the server's own.
func (f *fault) fields(v raw, depth int) {
	for k, m := range v.members() {
		switch k {
		case "code":
			f.setCode(m)
		case "param":
			f.param = short(m.text())
		case "loc": // pydantic's: ["body", "NAME"], and the text beside it does not have the name
			for e := range m.elements() {
				f.param = short(orElse(e.text(), f.param))
			}
			if f.param != "" && f.message != "" && len(f.message) < maxMessage && !strings.Contains(f.message, f.param) {
				f.message += " (" + f.param + ")"
			}
		case "status_code":
			f.setCode(m)
			f.native = true
		case "type", "status":
			if m.kind() == '"' && m.text() != "error" {
				f.kind = short(m.text())
			}
		case "metadata":
			f.read(m.get("raw"), depth+1)
			if !m.get("flagged_input").null() || !m.get("reasons").null() { // OpenRouter's, with status 403
				f.find("content_policy_violation")
			}
		case "innererror":
			f.find(m.get("code").text())
		case "n_ctx":
			f.window, _ = m.number()
		case "n_prompt_tokens":
			f.prompt, _ = m.number()
		}
	}
}

func (f *fault) setCode(m raw) {
	s := m.text()
	if s == "" && !m.null() && m.kind() != '{' && m.kind() != '[' {
		s = string(m)
	}
	if s = short(s); s == "" {
		return
	}
	f.code = s
	if n, err := strconv.Atoi(s); err == nil && n >= 400 && n <= 599 {
		f.status = n
	}
}

// refused reads the body of a reply whose status is an error.
func (m *model) refused(h *wire.Response) *llm.Error {
	body, err := io.ReadAll(h.Body) // a body that is cut or too long still says something
	if err != nil {
		if e := wireError(err, h, true); e.Class == llm.Cancelled || e.Class == llm.Storage {
			return e
		}
	}
	doc, ok := parse(body)
	var f fault
	switch {
	case ok:
		f = readFault(doc)
	case markup(string(body)):
		return m.page(h)
	default:
		f.readText(string(body), 0)
		f = f.closed()
	}
	return m.judge(f, h, body)
}

// fault reads an error that came with status 200.
func (m *model) fault(doc raw, h *wire.Response) *llm.Error { return m.judge(readFault(doc), h, doc) }

// judge makes the error of a fault.
func (m *model) judge(f fault, h *wire.Response, body []byte) *llm.Error {
	status := h.Status
	if status < 400 && f.status != 0 {
		status = f.status
	}
	out := &llm.Error{HTTP: h.Status, Code: f.code, Message: oneLine(f.message)}
	if out.Code == "" || f.status != 0 && f.kind != "" {
		out.Code = f.kind
	}
	if out.Message == "" {
		out.Message = plain(status)
	}
	out.Class, out.Window = classify(status, f)
	mend(out, f)
	if out.Class == llm.Overflow {
		_, out.Tokens, _ = overflow(status, f)
	}
	switch h.Header.Get("X-Should-Retry") {
	case "true":
		if !out.Retryable() && out.Class == llm.Invalid {
			out.Class = llm.Overload
		}
	case "false":
		switch out.Class { // the classes next to these that are not sent again
		case llm.Overload:
			out.Class = llm.Invalid
		case llm.Rate:
			out.Class = llm.Quota
		}
	}
	if out.Class == llm.Rate || out.Class == llm.Overload || out.Class == llm.Quota {
		out.RetryAfter = retryAfter(h.Header, f.search, body[:min(len(body), maxSearch)])
	}
	return out
}

// plain words a status that came without a text.
func plain(status int) string {
	if s := http.StatusText(status); s != "" {
		return s
	}
	return "the server failed without saying why"
}

// page is the error for a reply that is HTML: its markup is never shown.
func (m *model) page(h *wire.Response) *llm.Error {
	contentType, _, _ := strings.Cut(h.Header.Get("Content-Type"), ";")
	out := &llm.Error{Class: llm.Malformed, HTTP: h.Status}
	switch {
	case h.Status < 300:
		if contentType == "" || contentType == "text/event-stream" {
			contentType = "HTML"
		}
		out.Message = m.host + " answered with a page (" + contentType + "), not with a model's reply: check the base URL, and whether a login or proxy page stands between"
	case h.Status == 401 || h.Status == 403 || h.Status == 407:
		out.Class = llm.Auth
		out.Message = "blocked by a gateway or proxy before " + m.host + " (it sent a page)"
	case h.Status == 404 || h.Status == 405:
		out.Class = llm.Invalid
		out.Message = "no model API at this address of " + m.host + " (it sent a page): check the base URL, most end in /v1"
	case h.Status == 413:
		out.Class = llm.Overflow
		out.Message = "a gateway before " + m.host + " refuses a request of this size"
	case h.Status == 429:
		out.Class = llm.Rate
		out.Message = "a gateway before " + m.host + " asks to slow down"
		out.RetryAfter = retryAfter(h.Header, "", nil)
	case h.Status >= 500:
		out.Class = llm.Overload
		out.Message = plain(h.Status) + " from a gateway before " + m.host
		out.RetryAfter = retryAfter(h.Header, "", nil)
	default:
		out.Class = llm.Invalid
		out.Message = plain(h.Status) + " (" + m.host + " sent a page)"
	}
	return out
}

// markup tells whether a text is an HTML page.
func markup(s string) bool {
	head := bytes.ToLower(bytes.TrimSpace([]byte(s[:min(len(s), 512)])))
	return bytes.Contains(head, []byte("<!doctype")) || bytes.Contains(head, []byte("<html")) || bytes.HasPrefix(head, []byte("<head"))
}
