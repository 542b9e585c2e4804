package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"overt/internal/redact"
	"overt/internal/store"
	"overt/internal/wire"
)

func sendAndReceive(t testing.TB, s *store.Store, call, body string) {
	t.Helper()
	sent := wire.Sent{
		ID: call, Lane: "run_A", Method: "POST", URL: "http://u:p@h/v1?key=" + body, At: time.UnixMilli(1000),
		Header: http.Header{"X-Note": {body}}, Body: []wire.Part{{Owner: "msg_A-1", Bytes: []byte(body)}},
	}
	if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Captures().Received(t.Context(), wire.Received{
		ID: call, Status: 200, Header: http.Header{"X-Echo": {body}}, Body: []byte(body),
		Chunks: []wire.Chunk{{Bytes: len(body), After: time.Millisecond}}, At: time.UnixMilli(2000),
	}); err != nil {
		t.Fatal(err)
	}
}

func capture(t testing.TB, s *store.Store, call string) *store.Capture {
	t.Helper()
	c, err := s.Captures().Capture(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func join(parts []wire.Part) (out []byte) {
	for _, p := range parts {
		out = append(out, p.Bytes...)
	}
	return out
}

// TestExchange: what comes back is what went in, byte for byte.
func TestExchange(t *testing.T) {
	s := open(t, t.TempDir())
	sent := wire.Sent{
		ID: "cal_A-1.1", Lane: "run_A", Method: "POST", URL: "https://h/v1/chat", At: time.UnixMilli(1_700_000_000_001).UTC(),
		Header: http.Header{"Content-Type": {"application/json"}, "X-A": {"1", "<2>"}},
		Body:   []wire.Part{{Owner: "head", Bytes: []byte(`{"m":[`)}, {Owner: "empty"}, {Owner: "msg_A-1", Bytes: []byte("\x00\xff bytes")}, {Bytes: []byte(`]}`)}},
	}
	if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	if c := capture(t, s, sent.ID); c.Ended != nil || c.Status != nil || c.Response != nil || c.Error != nil {
		t.Errorf("under way it is %+v", c)
	}
	got := wire.Received{
		ID: sent.ID, Status: 429, Header: http.Header{"Retry-After": {"2"}}, At: time.UnixMilli(1_700_000_000_999).UTC(),
		Body: bytes.Repeat([]byte("data: x\n\n"), 20_000), Err: errors.New("cut off"),
	}
	for rest := len(got.Body); rest > 0; rest -= min(rest, 4096) {
		got.Chunks = append(got.Chunks, wire.Chunk{Bytes: min(rest, 4096), After: time.Duration(len(got.Chunks)) * 1001 * time.Microsecond})
	}
	k, err := s.Captures().Received(t.Context(), got)
	if err != nil || k != (wire.Kept{Bytes: int64(len(got.Body)), SHA256: sha256.Sum256(got.Body)}) {
		t.Errorf("kept %+v, %v", k, err)
	}
	c := capture(t, s, sent.ID)
	if c.Lane != sent.Lane || c.Method != "POST" || c.URL != sent.URL || !c.Sent.Equal(sent.At) || !reflect.DeepEqual(c.RequestHeader, sent.Header) {
		t.Errorf("request %+v", c)
	}
	if !reflect.DeepEqual(owners(c.Request.Parts), owners(sent.Body)) || !bytes.Equal(c.Request.Join(), join(sent.Body)) ||
		c.Request.SHA256 != sha256.Sum256(join(sent.Body)) || c.Request.Bytes != int64(len(join(sent.Body))) || c.Request.Masked != 0 {
		t.Errorf("request body %+v", c.Request)
	}
	if *c.Status != 429 || !reflect.DeepEqual(c.ResponseHeader, got.Header) || !c.Ended.Equal(got.At) || *c.Error != "cut off" {
		t.Errorf("response %+v", c)
	}
	if !bytes.Equal(c.Response.Join(), got.Body) || !reflect.DeepEqual(c.Chunks, got.Chunks) || len(c.Response.Parts) != 3 {
		t.Errorf("response body of %d bytes in %d parts, %d chunks", c.Response.Bytes, len(c.Response.Parts), len(c.Chunks))
	}
}

func owners(parts []wire.Part) (out []string) {
	for _, p := range parts {
		out = append(out, p.Owner)
	}
	return out
}

func TestNoResponse(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.Captures().Sent(t.Context(), wire.Sent{ID: "c", Lane: "l", At: time.UnixMilli(1)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Captures().Received(ctx, wire.Received{ID: "c", At: time.UnixMilli(2), Err: errors.New("no route to " + secret)}); err != nil {
		t.Fatal(err)
	}
	cancel()
	c := capture(t, s, "c")
	if c.Status != nil || c.Response != nil || c.Ended == nil || *c.Error != "no route to [masked:KEY]" || c.Request.Bytes != 0 {
		t.Errorf("kept %+v", c)
	}
}

func TestCaptureMasking(t *testing.T) {
	s := open(t, t.TempDir())
	sent := wire.Sent{
		ID: "c", Lane: "l", Method: "POST", URL: "http://me:pw@h/v1?api_key=abc&q=" + secret, At: time.UnixMilli(1),
		Header: http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {"x"}, "Cookie": {"x"}, "X-Note": {"a " + secret}},
		Body:   []wire.Part{{Owner: "a", Bytes: []byte("x " + secret)}, {Owner: "b", Bytes: []byte(secret + secret)}},
	}
	k, err := s.Captures().Sent(t.Context(), sent)
	want := "x [masked:KEY][masked:KEY][masked:KEY]"
	if err != nil || k != (wire.Kept{Bytes: int64(len(want)), SHA256: sha256.Sum256([]byte(want)), Masked: 3}) {
		t.Errorf("kept %+v, %v", k, err)
	}
	// The secret spans the chunks in which it came.
	k, err = s.Captures().Received(t.Context(), wire.Received{
		ID: "c", Status: 400, Body: []byte("bad key " + secret), At: time.UnixMilli(2),
		Header: http.Header{
			"Set-Cookie": {"x"}, "X-Echo": {secret}, "X-Auth-Token": {"x"}, "X-Ratelimit-Remaining-Tokens": {"7"},
			"Location": {"https://me:pw@idp.example/in?state=1&token=x#id_token=x", "/there"},
		}, Chunks: []wire.Chunk{{Bytes: 12}, {Bytes: 15}},
	})
	if err != nil || k.Masked != 1 {
		t.Errorf("kept %+v, %v", k, err)
	}
	c := capture(t, s, "c")
	if c.URL != "http://h/v1?api_key=[masked:api_key]&q=[masked:KEY]" || !reflect.DeepEqual(c.RequestHeader, http.Header{"X-Note": {"a [masked:KEY]"}}) {
		t.Errorf("request %q %v", c.URL, c.RequestHeader)
	}
	if string(c.Request.Join()) != want || c.Request.Masked != 3 || len(c.Request.Parts) != 2 {
		t.Errorf("request body %+v", c.Request)
	}
	if string(c.Response.Join()) != "bad key [masked:KEY]" || c.Response.Masked != 1 || !reflect.DeepEqual(c.ResponseHeader, http.Header{
		"X-Echo": {"[masked:KEY]"}, "X-Ratelimit-Remaining-Tokens": {"7"}, "Location": {"https://idp.example/in?state=1&token=[masked:token]", "/there"},
	}) {
		t.Errorf("response %+v %v", c.Response, c.ResponseHeader)
	}
	sizes, err := s.Captures().Sizes(t.Context(), "c")
	if err != nil || sizes.Request != int64(len(want)) || *sizes.Response != c.Response.Bytes || sizes.Masked != 4 {
		t.Errorf("sizes %+v, %v", sizes, err)
	}
	if string(sent.Body[0].Bytes) != "x "+secret {
		t.Error("what is sent was changed")
	}
}

// TestShared: equal leading parts of a lane are counted, whether they are in the same memory or not, and kept once.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	r := newRequests(sourceText(t))
	copied := func(w wire.Sent) wire.Sent {
		w.Body = append([]wire.Part(nil), w.Body...)
		for i := range w.Body {
			w.Body[i].Bytes = bytes.Clone(w.Body[i].Bytes)
		}
		return w
	}
	var bodies [][]byte
	for i := 1; i <= 12; i++ {
		r.step()
		sent := r.sent(fmt.Sprintf("cal_R-%d.1", i))
		switch i {
		case 4, 5:
			sent = copied(sent)
		case 7: // a new process
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
		case 9: // another writer on the lane
			if _, err := open(t, dir).Captures().Sent(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, join(sent.Body))
			continue
		case 11: // something before the end is another
			r.body[5] = wire.Part{Owner: "msg_X", Bytes: []byte("{},")}
			sent = r.sent("cal_R-11.1")
		}
		k, err := s.Captures().Sent(t.Context(), sent)
		if err != nil || k.SHA256 != sha256.Sum256(join(sent.Body)) || k.Bytes != int64(len(join(sent.Body))) {
			t.Fatalf("request %d: kept %+v, %v", i, k, err)
		}
		bodies = append(bodies, join(sent.Body))
	}
	for i := 1; i <= 12; i++ {
		c := capture(t, s, fmt.Sprintf("cal_R-%d.1", i))
		wantPrev, wantShared := fmt.Sprintf("cal_R-%d.1", i-1), 2*i-1 // the head and two parts for each step before
		switch i {
		case 1:
			wantPrev, wantShared = "", 0
		case 11:
			wantShared = 5
		}
		if c.Prev != wantPrev || c.Shared != wantShared || (i != 11 && i > 1 && c.SharedBytes != int64(len(bodies[i-2])-len(r.tail.Bytes))) {
			t.Errorf("request %d: after %q, %d parts of %d bytes shared; want %q, %d", i, c.Prev, c.Shared, c.SharedBytes, wantPrev, wantShared)
		}
		sizes, err := s.Captures().Sizes(t.Context(), c.Call)
		if want := (store.Sizes{Request: c.Request.Bytes, Shared: c.SharedBytes}); err != nil || sizes != want {
			t.Errorf("request %d: sizes %+v, %v; want %+v", i, sizes, err, want)
		}
		if !bytes.Equal(c.Request.Join(), bodies[i-1]) {
			t.Errorf("request %d is not what was sent", i)
		}
	}
	if n := count(t, dir, `SELECT count(*) FROM chunk`); n != 1+24+1+1+2 { // head, steps, tail, the other part, URL and headers
		t.Errorf("%d chunks", n)
	}
}

// TestMoreSecrets: what was clean when it was first sent may not be any more.
func TestMoreSecrets(t *testing.T) {
	m := redact.New()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Mask: m})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	body := []wire.Part{{Owner: "a", Bytes: []byte("say " + secret)}, {Owner: "b", Bytes: []byte("more")}}
	if k, err := s.Captures().Sent(t.Context(), wire.Sent{ID: "1", Lane: "l", Body: body, At: time.UnixMilli(1)}); err != nil || k.Masked != 0 {
		t.Fatalf("kept %+v, %v", k, err)
	}
	m.Add("KEY", secret)
	if k, err := s.Captures().Sent(t.Context(), wire.Sent{ID: "2", Lane: "l", Body: body, At: time.UnixMilli(2)}); err != nil || k.Masked != 1 {
		t.Fatalf("kept %+v, %v", k, err)
	}
	if c := capture(t, s, "2"); string(c.Request.Join()) != "say [masked:KEY]more" || c.Shared != 0 || c.Prev != "1" {
		t.Errorf("kept %+v", c)
	}
}

// TestClockThatGoesBack: the request before on a lane is the one that was sent before, whatever the clock said.
func TestClockThatGoesBack(t *testing.T) {
	s := open(t, t.TempDir())
	var body []wire.Part
	for i, at := range []int64{5000, 4000, 4500} {
		body = append(body, wire.Part{Bytes: fmt.Appendf(nil, "part %d", i)})
		id := fmt.Sprint(i)
		if _, err := s.Captures().Sent(t.Context(), wire.Sent{ID: id, Lane: "l", Body: body, At: time.UnixMilli(at)}); err != nil {
			t.Fatal(err)
		}
		if c := capture(t, s, id); c.Shared != i {
			t.Errorf("request %d shares %d parts", i, c.Shared)
		}
	}
}

func TestManyLanes(t *testing.T) {
	s := open(t, t.TempDir())
	part := wire.Part{Owner: "a", Bytes: []byte("the same everywhere")}
	for round := range 3 {
		for lane := range 7 {
			sent := wire.Sent{ID: fmt.Sprint(lane, ".", round), Lane: fmt.Sprint(lane), Body: []wire.Part{part}, At: time.UnixMilli(int64(round))}
			if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
				t.Fatal(err)
			}
		}
	}
	for lane := range 7 {
		if c := capture(t, s, fmt.Sprint(lane, ".2")); c.Prev != fmt.Sprint(lane, ".1") || c.Shared != 1 {
			t.Errorf("lane %d: after %q, %d shared", lane, c.Prev, c.Shared)
		}
	}
}

func TestCaptureErrors(t *testing.T) {
	s := open(t, t.TempDir())
	sendAndReceive(t, s, "c", "x")
	c := s.Captures()
	_, twiceSent := c.Sent(t.Context(), wire.Sent{ID: "c", Lane: "run_A"})
	_, twiceReceived := c.Received(t.Context(), wire.Received{ID: "c"})
	_, neverSent := c.Received(t.Context(), wire.Received{ID: "d"})
	_, missing := c.Capture(t.Context(), "d")
	_, noSizes := c.Sizes(t.Context(), "d")
	for _, tt := range []struct {
		err error
		msg string
	}{
		{twiceSent, "keep the request of c"},
		{twiceReceived, "keep the response of c: its response was kept before"},
		{neverSent, "keep the response of d: no such request was kept"},
		{missing, "call d: nothing is kept of it"},
		{noSizes, "call d: nothing is kept of it"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.msg) {
			t.Errorf("got %v, want %q", tt.err, tt.msg)
		}
	}
	if !errors.Is(missing, store.ErrNoCapture) || !errors.Is(noSizes, store.ErrNoCapture) {
		t.Error("what is missing is not ErrNoCapture")
	}
}

// TestSentWhenFull: a request that can't be kept is refused, and the next one does not build on it.
func TestSentWhenFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	r := newRequests(base64Text(t))
	send := func(call string) error {
		_, err := s.Captures().Sent(t.Context(), r.sent(call))
		return err
	}
	if err := send("1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Captures().LimitPages(count(t, dir, `SELECT page_count FROM pragma_page_count -- captures`)); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		r.step()
	}
	if err := send("2"); err == nil || !strings.Contains(err.Error(), "is full; free some space") {
		t.Fatalf("got %v", err)
	}
	if err := s.Captures().LimitPages(1 << 20); err != nil {
		t.Fatal(err)
	}
	if err := send("3"); err != nil {
		t.Fatal(err)
	}
	if c := capture(t, s, "3"); c.Prev != "1" || c.Shared != 1 || !bytes.Equal(c.Request.Join(), join(r.sent("3").Body)) {
		t.Errorf("after %q, %d shared", c.Prev, c.Shared)
	}
	if _, err := s.Captures().Capture(t.Context(), "2"); !errors.Is(err, store.ErrNoCapture) {
		t.Errorf("the refused request: %v", err)
	}
}
