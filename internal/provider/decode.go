package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"overt/internal/llm"
	"overt/internal/wire"
)

// maxLine bounds a line of a stream: images and encrypted reasoning come in lines of megabytes.
const maxLine = 32 << 20

// maxAnswer bounds the text and calls of an answer, as JSON. It is many times what models give out, and is held several
// times over on its way into the record.
const maxAnswer = 8 << 20

// bodyKind is what a reply of status 200 turns out to be. Its content type is no witness.
type bodyKind int

const (
	bodyEvents bodyKind = iota
	bodyJSON
	bodyHTML
	bodyEmpty
)

// sniff looks at the first byte that is not blank.
func sniff(body io.Reader) (*bufio.Reader, bodyKind, error) {
	in := bufio.NewReaderSize(body, 32<<10)
	if b, err := in.Peek(3); err == nil && string(b) == "\ufeff" {
		in.Discard(3)
	}
	for {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return in, bodyEmpty, nil
		case err != nil:
			return in, bodyEmpty, err
		case b == ' ' || b == '\n' || b == '\r' || b == '\t':
			continue
		}
		in.UnreadByte()
		switch b {
		case '{', '[':
			return in, bodyJSON, nil
		case '<':
			return in, bodyHTML, nil
		}
		return in, bodyEvents, nil
	}
}

// events reads a stream.
func (m *model) events(in io.Reader, h *wire.Response, a *answer, to reader) *llm.Error {
	events := wire.NewEvents(in, maxLine)
	for {
		e, err := events.Next()
		if err == io.EOF {
			if a.finished() {
				return nil
			}
			return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the stream before the answer was complete"}
		}
		if err != nil {
			return m.broken(err, h, a)
		}
		data := bytes.TrimSpace(e.Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) || bytes.HasPrefix(data, []byte(`"[DONE]`)) {
			a.done = true
			return nil
		}
		doc, ok := parse(data)
		if glued, found := bytes.CutSuffix(data, []byte("[DONE]")); !ok && found {
			doc, ok = parse(glued)
			a.done = ok
		}
		switch {
		case ok && string(e.Name) == "error":
			return m.fault(doc, h)
		case ok:
			if fail := to.event(string(e.Name), doc); fail != nil || a.done {
				return fail
			}
		case len(data) > 0 && data[0] == '{':
			return m.brokenChunk(events, h, a)
		}
		// anything else is a ping or garbage of a gateway
	}
}

// brokenChunk tells a chunk that the end of the stream has cut from one that is not JSON. Behind the finish only figures come.
func (m *model) brokenChunk(events *wire.Events, h *wire.Response, a *answer) *llm.Error {
	if _, err := events.Next(); err == io.EOF {
		if a.finished() {
			return nil
		}
		return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the stream in the middle of a chunk"}
	}
	return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent a chunk that is not JSON"}
}

// whole reads a reply that is one document.
func (m *model) whole(in io.Reader, h *wire.Response, a *answer, to reader) *llm.Error {
	data, err := io.ReadAll(in)
	if err != nil {
		return m.broken(err, h, a)
	}
	doc, ok := parse(data)
	if !ok {
		var v json.RawMessage
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(data, &v), &syntax) && syntax.Offset >= int64(len(data)) {
			return &llm.Error{Class: llm.Cut, HTTP: h.Status, Message: m.o.Name + " ended the reply in the middle"}
		}
		return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent a reply that is not JSON"}
	}
	if fail := to.whole(doc); fail != nil {
		return fail
	}
	if !a.begun {
		return &llm.Error{Class: llm.Malformed, HTTP: h.Status, Message: m.o.Name + " sent JSON that is not a model's reply; check the base URL"}
	}
	a.done = true
	return nil
}
