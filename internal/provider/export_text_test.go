package provider

import (
	"io"
	"net/http"

	"overt/internal/llm"
	"overt/internal/wire"
)

// ReceiveText is [Receive] with what a profile says of calls in texts.
func ReceiveText(o Options, r *llm.Request, body io.Reader, show func(llm.Delta)) (*llm.Response, *llm.Error) {
	m := New(o).(*model)
	a := newAnswer(r.Tools, "", show)
	a.scan = newScan(&o.Profile, r)
	fail := m.receive(&wire.Response{Status: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, a)
	return a.response(fail != nil), fail
}

// TakeText takes the calls of one form that a text begins with.
func TakeText(form, text string, tools []llm.ToolSpec) (names []string, rest string, ok bool) {
	for _, f := range textForms() {
		if f.name != form {
			continue
		}
		calls, rest, ok := f.take(text, tools)
		if !ok {
			continue
		}
		for _, c := range calls {
			names = append(names, c.name)
		}
		return names, rest, true
	}
	return nil, text, false
}
