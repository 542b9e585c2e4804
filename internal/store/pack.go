package store

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// How bytes are kept: the column enc.
const (
	encRaw  = 0
	encZstd = 1
)

const (
	packFrom = 256      // bytes from which compressing is tried
	maxValue = 64 << 20 // no larger value is compressed, so that a damaged length can't ask for more memory
)

// packer compresses values. Coders are made when they are first needed, one of each, with small windows: a program that
// makes one call shall not pay for them with memory that it never uses.
type packer struct {
	encoder sync.Once
	decoder sync.Once
	enc     *zstd.Encoder
	dec     *zstd.Decoder
	err     error // of making the decoder
}

// pack gives the form in which data is kept.
func (p *packer) pack(data []byte) (enc int, out []byte) {
	if len(data) < packFrom || len(data) > maxValue {
		return encRaw, nonNil(data)
	}
	out = p.zstd(data)
	if len(out) >= len(data) {
		return encRaw, data
	}
	return encZstd, out
}

func (p *packer) zstd(data []byte) []byte {
	p.encoder.Do(func() {
		// Errors come from bad options only.
		p.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	})
	return p.enc.EncodeAll(data, make([]byte, 0, len(data)/2+64))
}

// unpack gives the data back.
func (p *packer) unpack(enc int, data []byte) ([]byte, error) {
	switch enc {
	case encRaw:
		return data, nil
	case encZstd:
		p.decoder.Do(func() {
			p.dec, p.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(maxValue))
		})
		if p.err != nil {
			return nil, p.err
		}
		return p.dec.DecodeAll(data, nil)
	}
	return nil, fmt.Errorf("a value is kept in the unknown form %d", enc)
}

// nonNil makes an empty value one that SQLite does not take for NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
