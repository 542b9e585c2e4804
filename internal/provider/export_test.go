package provider

import (
	"io"
	"net/http"

	"overt/internal/llm"
	"overt/internal/wire"
)

// ChatURL is for tests of what is only used inside.
func ChatURL(base string) (string, error) { return below(base, chatPath) }

// Receive reads the body of a reply of status 200 in the pieces that its reader gives, which no connection promises.
func Receive(o Options, tools []llm.ToolSpec, body io.Reader, show func(llm.Delta)) (*llm.Response, *llm.Error) {
	m := New(o).(*model)
	a := newAnswer(tools, "", show)
	fail := m.receive(&wire.Response{Status: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, a)
	return a.response(fail != nil), fail
}

// PairedEscapes is for tests of what is only used inside.
func PairedEscapes(s string) string { return pairedEscapes(s) }
