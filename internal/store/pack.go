package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// How bytes are kept: the column enc.
const (
	encRaw     = 0
	encDeflate = 1 // RFC 1951, with dictionary1 before it
)

const (
	packFrom = 64       // bytes from which compressing is tried
	packWarm = 24 << 10 // the first so many bytes of a process stay raw: a compressor costs a short run a tenth of its time
	maxValue = 64 << 20 // no larger value is compressed, so that a damaged one can't ask for more memory
)

// packer compresses values. It makes its coders when they are first needed.
//
// Of what was measured on a task of 400 steps (source text, raw streams, part lists; sizes in kB, time a step), DEFLATE of
// level 6 with a dictionary is the smallest, in 1 MB of memory: 1,740 in 200 µs; zstd needs 1,919 in 140 µs with the same
// dictionary at its fastest, 1,875 in 280 µs at the next level; the standard library's DEFLATE 1,741 in 420 µs.
type packer struct {
	mu      sync.Mutex // guards what follows, but for readers
	writer  *flate.Writer
	out     bytes.Buffer
	seen    int       // bytes that came before there was a writer
	readers sync.Pool // of io.ReadCloser that are flate.Resetter
}

// pack gives the form in which data is kept.
func (p *packer) pack(data []byte) (enc int, out []byte) {
	if len(data) < packFrom || len(data) > maxValue {
		return encRaw, nonNil(data)
	}
	if out = p.deflate(data); out == nil || len(out) >= len(data) {
		return encRaw, data
	}
	return encDeflate, out
}

// deflate compresses data, or gives nil where that is not worth its while yet.
func (p *packer) deflate(data []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen += len(data); p.writer == nil && p.seen < packWarm {
		return nil
	}
	// Errors come from a bad level or from the writer below, and a buffer has none.
	p.out.Reset()
	if p.writer == nil {
		p.writer, _ = flate.NewWriterDict(&p.out, 6, []byte(dictionary1))
	} else {
		p.writer.Reset(&p.out)
	}
	p.writer.Write(data)
	p.writer.Close()
	return bytes.Clone(p.out.Bytes())
}

// unpack gives the data back.
func (p *packer) unpack(enc int, data []byte) ([]byte, error) {
	switch enc {
	case encRaw:
		return data, nil
	case encDeflate:
		return p.inflate(data)
	}
	return nil, fmt.Errorf("a value is kept in the unknown form %d", enc)
}

func (p *packer) inflate(data []byte) ([]byte, error) {
	src := bytes.NewReader(data)
	r, ok := p.readers.Get().(io.ReadCloser)
	if !ok {
		r = flate.NewReaderDict(src, []byte(dictionary1))
	} else if err := r.(flate.Resetter).Reset(src, []byte(dictionary1)); err != nil {
		return nil, err
	}
	defer p.readers.Put(r)
	var out bytes.Buffer
	out.Grow(4 * len(data))
	n, err := io.Copy(&out, io.LimitReader(r, maxValue+1))
	if err == nil && n > maxValue {
		err = errors.New("a value is too large")
	}
	return out.Bytes(), err
}

// nonNil makes an empty value one that SQLite does not take for NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// dictionary1 stands before everything that is compressed: what facts, requests and streamed replies repeat. It must never
// change, since nothing can be read without it; a better one is another enc.
const dictionary1 = `{"type":"function","function":{"name":"tool_calls":[{"index":0,"id":"call_{"role":"tool","tool_call_id":"call_","content":"{"role":"user","content":"{"role":"assistant","content":"` +
	`"parameters":{"type":"object","properties":{"path":{"type":"string","description":"required":["additionalProperties":false` +
	`data: {"id":"chatcmpl-","object":"chat.completion.chunk","created":17,"model":"","choices":[{"index":0,"delta":{"reasoning_content":"delta":{"content":""},"finish_reason":null}]}` + "\n\n" + `data: [DONE]` + "\n\n" +
	`{"Content-Type":["text/event-stream; charset=utf-8"],"Date":["Mon, 01 Jan 2026 00:00:00 GMT"],"X-Request-Id":["` +
	`{"id":"question","about":"tool","tool_call":"tcl_","options":["yes","no"],"show":"{"name":"run_command","read_only":true,"dir":".","group":{"id":,"start":` +
	`{"path":"","op":"edit","by":"agent","before":"","after":"","diff":"--- a/` + "\n" + `+++ b/` + "\n" + `@@ -1,` +
	`{"name":"read_file","effects":[{"kind":"read","target":"}],"verdict":"allow","rule":"","reasons":["` +
	`{"lane":"run_","purpose":"chat","attempt":1,"provider":"","protocol":"openai-chat","model":"","head":,"leaf":,"estimate":` +
	`{"class":"","code":"","message":"","partial":true,"retry_in_ms":` +
	`{"http":200,"provider_id":"chatcmpl-","finish":"stop","raw_finish":"tool_calls","usage":{"fresh":,"cache_read":null,"cache_write":null,"output":,"reasoning":null,"coverage":"complete","raw":{"prompt_tokens":,"completion_tokens":,"total_tokens":}},"exchange":{"request":{"bytes":,"sha256":"0123456789abcdef"},"response":{"bytes":,"sha256":""},"first_byte_ms":,"duration_ms":}}` +
	`{"role":"assistant","origin":"model","blocks":[{"type":"text","text":""},{"type":"call","call":{"id":"tcl_","given":"call_","name":"read_file","args":"{\"path\":\""}"}}]}` +
	`{"name":"read_file","status":"ok","content":"","bytes":,"cut":true}`
