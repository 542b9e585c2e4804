package scripted

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// dialect is one of the protocols.
type dialect interface {
	path() string
	prefix() string // of the ids of answers
	authorized(h http.Header, key string) bool
	parse(body []byte, h http.Header, known sealed) (Request, *problem)
	// whole is the answer to a request that does not stream, events to one that does.
	whole(r Reply, req Request, id string) []byte
	events(r Reply, req Request, id string) [][]byte
	refusal(p *problem) []byte // the body of an error
	models(names []string) []byte
}

// dialectOf gives the protocol that a request is of.
func dialectOf(r *http.Request) dialect {
	switch {
	case r.URL.Path == responses{}.path():
		return responses{}
	case r.URL.Path == anthropic{}.path() || r.Header.Get("Anthropic-Version") != "":
		return anthropic{}
	}
	return chat{}
}

type (
	openAI    struct{}
	chat      struct{ openAI }
	responses struct{ openAI }
	anthropic struct{}
)

func (chat) path() string        { return "/v1/chat/completions" }
func (responses) path() string   { return "/v1/responses" }
func (anthropic) path() string   { return "/v1/messages" }
func (chat) prefix() string      { return "chatcmpl-scripted-" }
func (responses) prefix() string { return "resp_scripted_" }
func (anthropic) prefix() string { return "msg_scripted_" }

func (openAI) authorized(h http.Header, key string) bool {
	return h.Get("Authorization") == "Bearer "+key
}

func (anthropic) authorized(h http.Header, key string) bool { return h.Get("X-Api-Key") == key }

// refusal implements [dialect].
func (openAI) refusal(p *problem) []byte {
	null := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	kind := p.kind
	switch {
	case kind != "":
	case p.status == 429:
		kind = "requests"
	case p.status >= 500 || p.status == 0:
		kind = "server_error"
	default:
		kind = "invalid_request_error"
	}
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	return encode(struct {
		Error body `json:"error"`
	}{body{p.message, kind, null(p.param), null(p.code)}})
}

// refusal implements [dialect].
func (anthropic) refusal(p *problem) []byte {
	kind := p.kind
	if kind == "" {
		kind = map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
			413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
		}[p.status]
	}
	if kind == "" {
		kind = "api_error"
	}
	return encode(obj{"type": "error", "error": obj{"type": kind, "message": p.message}, "request_id": "req_scripted"})
}

// obj is a JSON object; its members come in the order of their names.
type obj map[string]any

// event is one event of a stream that names its events.
func event(name string, data obj) []byte {
	data["type"] = name
	return []byte("event: " + name + "\ndata: " + string(encode(data)) + "\n\n")
}

// sealed is what replies have sealed: what of it must come back, and what can't be other than it was.
type sealed struct {
	byCall map[string]seal // that the call came with
	bySeal map[string]seal
}

type seal struct{ model, reasoning, seal, item string }

func (s *sealed) clone() sealed { return sealed{maps.Clone(s.byCall), maps.Clone(s.bySeal)} }

func (s *sealed) add(model, id string, r Reply) {
	if r.Seal == "" {
		return
	}
	if s.byCall == nil {
		s.byCall, s.bySeal = map[string]seal{}, map[string]seal{}
	}
	x := seal{model, r.Reasoning, r.Seal, "rs_" + id}
	s.bySeal[r.Seal] = x
	for _, c := range r.Calls {
		s.byCall[c.ID] = x
	}
}

// invented gives a member of an object that no vendor knows; "": there is none.
func invented(object json.RawMessage, known ...string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return "" // what it is in place of an object is said elsewhere
	}
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, k) {
			return k
		}
	}
	return ""
}

// pictureText stands for a picture in the content of a [Message].
const pictureText = "\uFFFC"

// checkDataURL says what is wrong with the URL of a picture; "": nothing.
func checkDataURL(url string) string {
	if strings.HasPrefix(url, "https://") {
		return ""
	}
	rest, ok := strings.CutPrefix(url, "data:")
	media, data, ok2 := strings.Cut(rest, ";base64,")
	if !ok || !ok2 {
		return "Invalid image URL: expected an https URL or base64 data."
	}
	return checkPicture(media, data)
}

// checkPicture says what is wrong with a picture in base64: it must be one, and of the type that it is said to be.
func checkPicture(media, data string) string {
	starts := map[string]string{"image/png": "\x89PNG", "image/jpeg": "\xff\xd8\xff", "image/gif": "GIF8", "image/webp": "RIFF"}
	start, ok := starts[media]
	if !ok {
		return fmt.Sprintf("Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp', not '%s'", media)
	}
	b, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil:
		return "Invalid base64 data"
	case !bytes.HasPrefix(b, []byte(start)):
		return "The image data you provided does not represent a valid image"
	}
	return ""
}
