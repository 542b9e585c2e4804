package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Recorded is one exchange of a recorded session, as far as it may be shown to anybody: see [Recorder].
type Recorded struct {
	Lane   string
	Method string
	Path   string // the end of that of the URL, see publicPath; with the names of its query and without their values
	Header http.Header
	Body   []Part

	Status  int // 0: no response
	Answers http.Header
	Reply   []byte
	Chunks  []Chunk // their Bytes add up to len(Reply)
	Err     *Error  // why it ended early; nil: complete
}

// Recorder is a [Sink] that keeps a session, to be written by [WriteRecording] and answered from by a [Replay]. The program itself has no
// use for recordings: they are for the tests of packages that speak with servers, which no _test file here could serve, and for
// benchmarks.
//
// It leaves out whatever could be private: the host, what stands before the version in the path (gateways put accounts there),
// the values of the query, and all fields of the header but those that say what the bodies are; of a failure it keeps the kind.
// What a Client does not hand to a sink, such as keys, never gets here. Mask, where it is set, goes over the bodies and the name
// of the lane; a body with a secret that spans its parts is kept as one part, without owners.
type Recorder struct {
	Next Sink                     // gets everything as well; nil: nobody does
	Mask func(text []byte) []byte // nil: bodies are kept as they are

	mu   sync.Mutex
	list []*Recorded
	open map[string]*Recorded // by the id of the exchange
}

// public are the fields that a recording keeps.
func public(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Accept", "Anthropic-Version", "Anthropic-Beta", "Content-Type", "Retry-After", "Retry-After-Ms"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = slices.Clone(v)
		}
	}
	return out
}

// publicPath is what a recording keeps of a URL: the last three segments of its path at most, and none before a version (v1).
func publicPath(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	segments := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	from := max(len(segments)-3, 0)
	for i := from; i < len(segments); i++ {
		if s := segments[i]; len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' {
			from = i
		}
	}
	path := "/" + strings.Join(segments[from:], "/")
	var names []string
	for name := range u.Query() {
		names = append(names, url.QueryEscape(name))
	}
	if len(names) == 0 {
		return path
	}
	slices.Sort(names)
	return path + "?" + strings.Join(names, "&")
}

func (r *Recorder) mask(b []byte) []byte {
	if r.Mask == nil {
		return b
	}
	return r.Mask(b)
}

// Sent implements [Sink].
func (r *Recorder) Sent(ctx context.Context, s Sent) (Kept, error) {
	x := &Recorded{Lane: string(r.mask([]byte(s.Lane))), Method: s.Method, Path: publicPath(s.URL), Header: public(s.Header)}
	var whole, parts []byte
	for _, p := range s.Body {
		masked := r.mask(p.Bytes)
		x.Body = append(x.Body, Part{Owner: p.Owner, Bytes: masked})
		whole, parts = append(whole, p.Bytes...), append(parts, masked...)
	}
	size := len(whole)
	if whole = r.mask(whole); !bytes.Equal(whole, parts) {
		x.Body = []Part{{Bytes: whole}}
	}
	kept := Kept{Bytes: int64(size)}
	if r.Next != nil {
		var err error
		if kept, err = r.Next.Sent(ctx, s); err != nil {
			return kept, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]*Recorded{}
	}
	r.open[s.ID] = x
	r.list = append(r.list, x)
	return kept, nil
}

// Received implements [Sink].
func (r *Recorder) Received(ctx context.Context, s Received) (Kept, error) {
	r.mu.Lock()
	x := r.open[s.ID]
	delete(r.open, s.ID)
	if x == nil {
		r.mu.Unlock()
		return Kept{}, errors.New("the end of an exchange that did not begin")
	}
	x.Status, x.Answers, x.Reply, x.Chunks = s.Status, public(s.Header), r.mask(s.Body), s.Chunks
	if len(x.Reply) != len(s.Body) { // what was masked has another length: when each byte came is not known any more
		x.Chunks = nil
		if len(x.Reply) > 0 {
			x.Chunks = []Chunk{{Bytes: len(x.Reply)}}
		}
	}
	if s.Err != nil {
		x.Err = recordedError(Network)
		if e, ok := errors.AsType[*Error](s.Err); ok {
			x.Err = recordedError(e.Kind)
		}
	}
	r.mu.Unlock()
	if r.Next != nil {
		return r.Next.Received(ctx, s)
	}
	return Kept{Bytes: int64(len(s.Body))}, nil
}

// recordedError is the end of an exchange that failed. What was said then names hosts and addresses, and is left out.
func recordedError(k Kind) *Error {
	return &Error{Kind: k, Message: "the recorded exchange ended early: " + string(k)}
}

// Recording gives what was kept so far, in the order in which it was sent. An exchange that has not ended is left out.
func (r *Recorder) Recording() (out []Recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pending := map[*Recorded]bool{}
	for _, x := range r.open {
		pending[x] = true
	}
	for _, x := range r.list {
		if !pending[x] {
			out = append(out, *x)
		}
	}
	return out
}

// The form of a recording: a line that says what it is, then two lines for each exchange, all of them JSON.
const (
	recordingForm    = "overt wire recording"
	recordingVersion = 1
)

type (
	headLine struct {
		Form    string `json:"form"`
		Version int    `json:"version"`
	}
	sentLine struct {
		Lane   string      `json:"lane,omitempty"`
		Method string      `json:"method"`
		Path   string      `json:"path"`
		Header http.Header `json:"header,omitempty"`
		Body   []partLine  `json:"body,omitempty"`
	}
	partLine struct {
		Owner string `json:"owner,omitempty"`
		Bytes text   `json:"text"`
	}
	receivedLine struct {
		Status int         `json:"status"`
		Header http.Header `json:"header,omitempty"`
		Body   text        `json:"body,omitzero"`
		Chunks [][2]int64  `json:"chunks,omitempty"` // bytes, and microseconds since the request was sent
		Kind   Kind        `json:"error,omitempty"`
	}
)

// text is bytes that are a JSON string where they are UTF-8, and {"base64":"…"} where they are not.
type text []byte

// MarshalJSON implements [json.Marshaler].
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) {
		return plainJSON(string(t))
	}
	return plainJSON(map[string]string{"base64": base64.StdEncoding.EncodeToString(t)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*t = text(s)
		return nil
	}
	var other struct{ Base64 []byte }
	if err := json.Unmarshal(b, &other); err != nil {
		return err
	}
	*t = other.Base64
	return nil
}

// plainJSON is JSON that people can read: < and & stand as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// WriteRecording writes a recording.
func WriteRecording(w io.Writer, list []Recorded) error {
	lines := []any{headLine{recordingForm, recordingVersion}}
	for _, x := range list {
		s := sentLine{Lane: x.Lane, Method: x.Method, Path: x.Path, Header: x.Header}
		for _, p := range x.Body {
			s.Body = append(s.Body, partLine{p.Owner, p.Bytes})
		}
		r := receivedLine{Status: x.Status, Header: x.Answers, Body: x.Reply}
		for _, c := range x.Chunks {
			r.Chunks = append(r.Chunks, [2]int64{int64(c.Bytes), c.After.Microseconds()})
		}
		if x.Err != nil {
			r.Kind = x.Err.Kind
		}
		lines = append(lines, s, r)
	}
	out := bufio.NewWriter(w)
	for _, line := range lines {
		b, err := plainJSON(line)
		if err != nil {
			return err
		}
		out.Write(append(b, '\n'))
	}
	return out.Flush()
}

// ReadRecording reads what [WriteRecording] has written. An error names the line.
func ReadRecording(r io.Reader) ([]Recorded, error) {
	d := json.NewDecoder(r)
	var head headLine
	if err := d.Decode(&head); err != nil || head.Form != recordingForm {
		return nil, errors.New("this is no recording of the wire")
	}
	if head.Version != recordingVersion {
		return nil, fmt.Errorf("the recording is of version %d; this program reads version %d", head.Version, recordingVersion)
	}
	var out []Recorded
	for line := 2; ; line += 2 {
		var s sentLine
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("line %d of the recording: %w", line, err)
		}
		var e receivedLine
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("line %d of the recording: %w", line+1, err)
		}
		x, err := recorded(s, e)
		if err != nil {
			return nil, fmt.Errorf("line %d of the recording: %w", line+1, err)
		}
		out = append(out, x)
	}
}

// recorded puts the two lines of an exchange together.
func recorded(s sentLine, e receivedLine) (Recorded, error) {
	x := Recorded{
		Lane: s.Lane, Method: s.Method, Path: s.Path, Header: s.Header,
		Status: e.Status, Answers: e.Header, Reply: e.Body,
	}
	for _, p := range s.Body {
		x.Body = append(x.Body, Part{p.Owner, p.Bytes})
	}
	left := int64(len(e.Body))
	for _, c := range e.Chunks {
		if c[0] < 0 || c[0] > left {
			return x, errors.New("the chunks are not those of the body")
		}
		left -= c[0]
		x.Chunks = append(x.Chunks, Chunk{Bytes: int(c[0]), After: time.Duration(c[1]) * time.Microsecond})
	}
	if left != 0 {
		return x, errors.New("the chunks are not those of the body")
	}
	if e.Kind != "" {
		x.Err = recordedError(e.Kind)
	}
	if x.Status == 0 && x.Err == nil {
		return x, errors.New("there is neither an answer nor a reason why not")
	}
	return x, nil
}
