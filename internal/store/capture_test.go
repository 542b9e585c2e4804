package store_test

import (
	"net/http"
	"testing"
	"time"

	"overt/internal/store"
	"overt/internal/wire"
)

func sendAndReceive(t testing.TB, s *store.Store, call, body string) {
	t.Helper()
	sent := wire.Sent{ID: call, Lane: "run_A", Method: "POST", URL: "http://u:p@h/v1?key=" + body, At: time.UnixMilli(1000),
		Header: http.Header{"X-Note": {body}}, Body: []wire.Part{{Owner: "msg_A-1", Bytes: []byte(body)}}}
	if _, err := s.Captures().Sent(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Captures().Received(t.Context(), wire.Received{ID: call, Status: 200, Header: http.Header{"X-Echo": {body}}, Body: []byte(body),
		Chunks: []wire.Chunk{{Bytes: len(body), After: time.Millisecond}}, At: time.UnixMilli(2000)}); err != nil {
		t.Fatal(err)
	}
}
